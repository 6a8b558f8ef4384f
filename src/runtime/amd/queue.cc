// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/queue.h"

#include <sys/mman.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

// Offsets in the page of pointers: far apart, so that host and GPU do not share a cache line.
constexpr uint64_t kReadPointer = 0;
constexpr uint64_t kWritePointer = 128;
// SOC15 doorbells: two pages a process and device (kfd_doorbell.c).
constexpr uint64_t kDoorbellBytes = 8192;

}  // namespace

absl::StatusOr<std::unique_ptr<HwQueue>> HwQueue::Create(Kfd& kfd, GpuMemory& memory, const GpuNode& node,
                                                         const Generation& generation, QueueKind kind,
                                                         size_t ring_bytes) {
  if (!IsPow2(ring_bytes) || ring_bytes < GpuMemory::kPage || ring_bytes > (size_t{1} << 30)) {
    return absl::InvalidArgumentError(
        absl::StrCat("ring of ", ring_bytes, " bytes, expected a power of two from 4096 to 2^30"));
  }
  std::unique_ptr<HwQueue> queue(new HwQueue(kfd, memory, kind));
  if (absl::Status s = queue->Init(node, generation, ring_bytes); !s.ok()) {
    return absl::Status(s.code(),
                        absl::StrCat("creating the ", kind == QueueKind::kCompute ? "compute" : "SDMA",
                                     " queue: ", std::string(s.message())));
  }
  return queue;
}

absl::Status HwQueue::Init(const GpuNode& node, const Generation& generation, size_t ring_bytes) {
  const char* name = kind_ == QueueKind::kCompute ? "compute" : "SDMA";
  const auto label = [&](const char* what) { return absl::StrCat(name, " ", what); };
  // Executable: the command processor's fetches count as instruction fetches.
  US_ASSIGN_OR_RETURN(ring_, memory_.Allocate(ring_bytes, MemoryKind::kGtt, {true, true, label("ring")}));
  US_ASSIGN_OR_RETURN(pointers_,
                      memory_.Allocate(GpuMemory::kPage, MemoryKind::kGtt, {true, false, label("pointers")}));

  kfd_ioctl_create_queue_args args = {};
  args.ring_base_address = ring_.va;
  args.ring_size = static_cast<uint32_t>(ring_bytes);
  args.gpu_id = node.gpu_id;
  args.queue_percentage = KFD_MAX_QUEUE_PERCENTAGE;
  args.queue_priority = 7;  // the middle of 0..KFD_MAX_QUEUE_PRIORITY
  args.read_pointer_address = pointers_.va + kReadPointer;
  args.write_pointer_address = pointers_.va + kWritePointer;
  if (kind_ == QueueKind::kCompute) {
    args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE;
    const SaveArea save = SaveAreaOf(generation, node);
    US_ASSIGN_OR_RETURN(
        eop_, memory_.Allocate(GpuMemory::kPage, MemoryKind::kVram, {true, true, label("EOP buffer")}));
    US_ASSIGN_OR_RETURN(
        save_area_, memory_.Allocate(save.total, MemoryKind::kVram, {true, true, label("wave save area")}));
    args.eop_buffer_address = eop_.va;
    args.eop_buffer_size = GpuMemory::kPage;
    args.ctx_save_restore_address = save_area_.va;
    args.ctx_save_restore_size = save.save_restore;
    args.ctl_stack_size = save.control_stack;
  } else {
    args.queue_type = KFD_IOC_QUEUE_TYPE_SDMA;
  }
  US_RETURN_IF_ERROR(kfd_.CreateQueue(args));
  queue_id_ = args.queue_id;
  created_ = true;

  // The offset names the process's doorbell pages in its upper bits and the queue's doorbell in its lower.
  const uint64_t page = args.doorbell_offset & ~(kDoorbellBytes - 1);
  US_ASSIGN_OR_RETURN(void* mapped, kfd_.sys().Mmap(nullptr, kDoorbellBytes, PROT_READ | PROT_WRITE,
                                                    MAP_SHARED, kfd_.fd(), static_cast<int64_t>(page)));
  doorbell_page_ = static_cast<uint8_t*>(mapped);
  doorbell_ = reinterpret_cast<volatile uint64_t*>(doorbell_page_ + (args.doorbell_offset - page));
  return absl::OkStatus();
}

HwQueue::~HwQueue() { Close().IgnoreError(); }

absl::Status HwQueue::Close() {
  absl::Status status;
  if (created_) status.Update(kfd_.DestroyQueue(queue_id_));
  created_ = false;
  // A queue that the kernel did not take down may still read its ring: the memory stays until the device is
  // closed.
  const bool keep_memory = !status.ok();
  if (doorbell_page_ != nullptr) {
    if (const int rc = kfd_.sys().Munmap(doorbell_page_, kDoorbellBytes); rc < 0) {
      status.Update(os::ErrnoStatus(rc, "munmap doorbell"));
    }
  }
  doorbell_page_ = nullptr;
  doorbell_ = nullptr;
  for (GpuBuffer* b : {&ring_, &pointers_, &eop_, &save_area_}) {
    if (b->size != 0 && !keep_memory) status.Update(memory_.Free(*b));
    *b = {};
  }
  return status;
}

uint64_t HwQueue::consumed() {
  // The command processor reports its read pointer modulo the ring (compute: words, 32 bits; SDMA: bytes),
  // and fewer words than a ring are ever outstanding, so the difference is exact whether it wraps or not.
  const uint64_t raw = *reinterpret_cast<volatile uint64_t*>(pointers_.host + kReadPointer);
  const uint64_t words = kind_ == QueueKind::kCompute ? raw : raw / 4;
  consumed_ += (words - consumed_) & (ring_words() - 1);
  return consumed_;
}

std::string HwQueue::Describe() {
  const uint64_t read = consumed();
  return absl::StrFormat("%s queue: %d of %d words read", kind_ == QueueKind::kCompute ? "compute" : "SDMA",
                         read, written_);
}

absl::Status HwQueue::WaitForRoom(uint64_t words, const Idle& idle) {
  if (words >= ring_words()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a submission of ", words, " words into a ring of ", ring_words(), " words"));
  }
  // One word stays free: full and empty must differ.
  while (written_ - consumed() + words >= ring_words()) {
    kfd_.sys().Pause();
    US_RETURN_IF_ERROR(idle());
  }
  return absl::OkStatus();
}

void HwQueue::Put(uint32_t word) {
  const uint64_t at = written_ & (ring_words() - 1);
  reinterpret_cast<uint32_t*>(ring_.host)[at] = word;
  if (++written_, at + 1 == ring_words()) ++wraps_;
}

absl::Status HwQueue::Submit(absl::Span<const uint32_t> words, absl::Span<const uint32_t> packets,
                             const Idle& idle) {
  if (!created_) return absl::FailedPreconditionError("submitting to a queue that is closed");
  // Room for everything first, padding included: words beyond the write pointer are never waited for.
  const auto pad_before = [&](uint64_t at, uint32_t size) {
    const uint64_t tail = ring_words() - (at & (ring_words() - 1));
    return kind_ == QueueKind::kSdma && size > tail ? tail : 0;
  };
  uint64_t end = written_;
  if (kind_ == QueueKind::kCompute) end += words.size();
  for (const uint32_t size : packets) end += pad_before(end, size) + size;
  US_RETURN_IF_ERROR(WaitForRoom(end - written_, idle));

  size_t next = 0;
  if (kind_ == QueueKind::kCompute) {
    for (; next < words.size(); ++next) Put(words[next]);
  }
  for (const uint32_t size : packets) {
    for (uint64_t pad = pad_before(written_, size); pad > 0; --pad) Put(0);  // a zero word is a NOP packet
    for (uint32_t i = 0; i < size; ++i) Put(words[next++]);
  }
  US_CHECK(next == words.size() && written_ == end) << next << " of " << words.size() << " words";
  // The GPU must see the words before the pointer, and the pointer before the doorbell.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t pointer = kind_ == QueueKind::kCompute ? written_ : written_ * 4;
  *reinterpret_cast<volatile uint64_t*>(pointers_.host + kWritePointer) = pointer;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *doorbell_ = pointer;
  return absl::OkStatus();
}

}  // namespace understudy::amd
