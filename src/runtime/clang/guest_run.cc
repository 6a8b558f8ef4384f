// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/clang/guest_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/runtime/clang/guest.h"
#include "src/runtime/process/process.h"

namespace understudy::clang_guest {
namespace {

// Memory that this process and a guest share: an unnamed file.
class SharedFile {
 public:
  explicit SharedFile(size_t bytes) : bytes_(bytes) {
    fd_ = memfd_create("understudy-launch", MFD_CLOEXEC);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (p != MAP_FAILED) data_ = static_cast<uint8_t*>(p);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    if (data_ != nullptr) munmap(data_, bytes_);
    if (fd_ >= 0) close(fd_);
  }
  uint8_t* data() const { return data_; }
  int fd() const { return fd_; }

 private:
  const size_t bytes_;
  int fd_ = -1;
  uint8_t* data_ = nullptr;
};

// Where a launch's buffers lie in the shared file: ranges that overlap stay together.
struct Interval {
  uint64_t begin = 0, end = 0, offset = 0;
  bool written = false;
};
std::vector<Interval> Intervals(const GuestJob& job, absl::Span<const Allocation> buffers) {
  std::vector<Interval> all, merged;
  for (const KernelParam& p : job.params) {
    const Allocation& a = buffers[p.position];
    all.push_back({a.address, a.address + a.bytes, 0, p.written});
  }
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& i : all) {
    if (merged.empty() || i.begin >= merged.back().end) {
      merged.push_back(i);
      continue;
    }
    merged.back().end = std::max(merged.back().end, i.end);
    merged.back().written |= i.written;
  }
  return merged;
}

}  // namespace

absl::Status RunGuest(const GuestJob& k, absl::Span<const Allocation> buffers,
                      absl::Span<const int64_t> vars) {
  const size_t count = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (count > kMostBuffers)
    return absl::UnimplementedError(
        absl::StrCat("kernel ", k.name, ": ", count, " buffers, a guest takes ", kMostBuffers));
  std::vector<Interval> intervals = Intervals(k, buffers);
  constexpr uint64_t kAlign = 64;
  uint64_t bytes = AlignUp((kHeaderWords + vars.size() + count) * 8, kAlign);
  for (Interval& i : intervals) {
    i.offset = bytes + i.begin % kAlign;
    bytes = AlignUp(i.offset + (i.end - i.begin), kAlign);
  }
  bytes = std::max<uint64_t>(AlignUp(bytes, 4096), 4096);
  if (bytes > k.most_bytes)
    return absl::ResourceExhaustedError(absl::StrCat("kernel ", k.name, ": ", bytes, " bytes of buffers, ",
                                                     k.processor, " takes ", k.most_bytes));
  const SharedFile file(bytes);
  if (file.data() == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("no shared memory of ", bytes, " bytes"));
  const auto word = [&](size_t i, uint64_t value) { StoreLE<uint64_t>(file.data() + 8 * i, value); };
  word(kMagicWord, kMagic);
  word(kBytes, bytes);
  word(kBuffers, count);
  word(kVars, vars.size());
  word(kWorkgroups, static_cast<uint64_t>(k.workgroups));
  for (size_t i = 0; i < vars.size(); ++i) word(kHeaderWords + i, static_cast<uint64_t>(vars[i]));
  for (const KernelParam& p : k.params) {
    const uint64_t at = buffers[p.position].address;
    const auto i = std::find_if(intervals.begin(), intervals.end(), [&](const Interval& interval) {
      return interval.begin <= at && at < std::max(interval.end, interval.begin + 1);
    });
    US_CHECK(i != intervals.end()) << "a buffer without a place";
    word(kHeaderWords + vars.size() + p.position, i->offset + (at - i->begin));
  }
  for (const Interval& i : intervals)
    std::memcpy(file.data() + i.offset, reinterpret_cast<const void*>(i.begin), i.end - i.begin);

  US_RETURN_IF_ERROR(RunCommand({.argv = {k.emulator, k.file}, .seconds = k.seconds, .pass_fd = file.fd()}));
  if (LoadLE<uint64_t>(file.data() + 8 * kDone) != 1)
    return absl::AbortedError(absl::StrCat("kernel ", k.name, " ended before it was done"));
  for (const Interval& i : intervals) {
    if (i.written) std::memcpy(reinterpret_cast<void*>(i.begin), file.data() + i.offset, i.end - i.begin);
  }
  return absl::OkStatus();
}

}  // namespace understudy::clang_guest
