// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/disk/disk_device.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/uop/build.h"

namespace understudy {

struct DiskDevice::File {
  File(int fd, std::string path, size_t bytes, bool writable)
      : fd(fd), path(std::move(path)), bytes(bytes), writable(writable) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(fd); }
  const int fd;
  const std::string path;
  const size_t bytes;  // when it was opened
  const bool writable;
};

namespace {

absl::Status FromErrno(const std::string& what, int error) {
  const std::string text = absl::StrCat("DISK: ", what, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case EEXIST:
      return absl::AlreadyExistsError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InternalError(text);
  }
}

constexpr size_t kPiece = size_t{1} << 20;
constexpr uint64_t kMostBytes = uint64_t{1} << 43;

absl::Status ReadAt(int fd, const std::string& path, uint64_t offset, uint8_t* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = pread(fd, to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("reading " + path, errno);
    if (n == 0)
      return absl::DataLossError(
          absl::StrCat("DISK: ", path, " ends at byte ", offset, ", expected ", bytes, " more"));
    to += n;
    offset += n;
    bytes -= n;
  }
  return absl::OkStatus();
}

absl::Status WriteAt(int fd, const std::string& path, uint64_t offset, const uint8_t* from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = pwrite(fd, from, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno("writing " + path, errno);
    from += n;
    offset += n;
    bytes -= n;
  }
  return absl::OkStatus();
}

}  // namespace

DiskDevice::~DiskDevice() = default;

absl::StatusOr<uint64_t> DiskDevice::Add(std::shared_ptr<File> file) {
  if (file->bytes > kMostBytes)
    return absl::ResourceExhaustedError(absl::StrCat("DISK: ", file->path, " has ", file->bytes, " bytes"));
  std::lock_guard lock(mutex_);
  const uint64_t address = next_;
  next_ += AlignUp(file->bytes, 4096) + 4096;
  files_[address] = std::move(file);
  return address;
}

absl::StatusOr<std::unique_ptr<Buffer>> DiskDevice::AsBuffer(std::shared_ptr<File> file) {
  const size_t bytes = file->bytes;
  if (bytes == 0) return std::make_unique<Buffer>(shared_from_this(), 0);
  US_ASSIGN_OR_RETURN(const uint64_t address, Add(std::move(file)));
  return Buffer::External(shared_from_this(), reinterpret_cast<void*>(address), bytes);
}

absl::StatusOr<std::unique_ptr<Buffer>> DiskDevice::OpenFile(const std::string& path, Mode mode) {
  const bool writable = mode == Mode::kReadWrite;
  // A pipe would wait for its other end.
  const int fd = open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno == EISDIR) return absl::InvalidArgumentError(absl::StrCat("DISK: ", path, " is a folder"));
    return FromErrno("opening " + path, errno);
  }
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat("DISK: ", path, " is not a regular file"));
  }
  return AsBuffer(std::make_shared<File>(fd, path, static_cast<size_t>(about.st_size), writable));
}

absl::StatusOr<std::unique_ptr<Buffer>> DiskDevice::CreateFile(const std::string& path, size_t bytes) {
  if (bytes > kMostBytes)
    return absl::ResourceExhaustedError(absl::StrCat("DISK: ", bytes, " bytes for ", path));
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return FromErrno("creating " + path, errno);
  auto file = std::make_shared<File>(fd, path, bytes, true);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    unlink(path.c_str());
    return FromErrno(absl::StrCat("giving ", path, " ", bytes, " bytes"), error);
  }
  return AsBuffer(std::move(file));
}

absl::StatusOr<Tensor> DiskDevice::OpenTensor(const std::string& path, DType dtype, const Shape& shape,
                                              uint64_t offset, Mode mode) {
  // The shape and type are checked as those of any tensor.
  const Tensor declared = Tensor::Empty(shape, {.dtype = dtype, .device = name_});
  US_RETURN_IF_ERROR(declared.status());
  int64_t bytes = 0;
  US_ASSIGN_OR_RETURN(const auto file, OpenFile(path, mode));
  if (__builtin_mul_overflow(declared.numel(), static_cast<int64_t>(dtype.ScalarBytes()), &bytes) ||
      offset > file->bytes() || static_cast<uint64_t>(bytes) > file->bytes() - offset) {
    return absl::OutOfRangeError(absl::StrCat("DISK: ", declared.numel(), " elements of ", dtype.Name(),
                                              " from byte ", offset, " of ", path, ", which has ",
                                              file->bytes(), " bytes"));
  }
  US_ASSIGN_OR_RETURN(auto view, file->View(offset, static_cast<size_t>(bytes)));
  const UOpRef buffer = uop::NewBuffer(dtype, declared.numel(), name_);
  buffer->arg_as<BufferArg>().slot->impl = std::move(view);
  return Tensor(uop::Reshape(buffer, shape), name_);
}

absl::StatusOr<Allocation> DiskDevice::Allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > kMostBytes) return absl::ResourceExhaustedError(absl::StrCat("DISK: ", bytes, " bytes"));
  std::string path = (std::filesystem::temp_directory_path() / "understudy-disk-XXXXXX").string();
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return FromErrno("creating " + path, errno);
  unlink(path.c_str());
  auto file = std::make_shared<File>(fd, path, bytes, true);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    return FromErrno(absl::StrCat("giving ", path, " ", bytes, " bytes"), errno);
  US_ASSIGN_OR_RETURN(const uint64_t address, Add(std::move(file)));
  return Allocation{address, bytes, address};
}

absl::Status DiskDevice::Close(const Allocation& range) {
  std::lock_guard lock(mutex_);
  if (range.address != range.base || files_.erase(range.base) == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("DISK: 0x", absl::Hex(range.address), " is not an allocation"));
  return absl::OkStatus();
}
absl::Status DiskDevice::Free(const Allocation& allocation) { return Close(allocation); }
absl::Status DiskDevice::Unwrap(const Allocation& range) { return Close(range); }

absl::StatusOr<Allocation> DiskDevice::Wrap(void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  std::lock_guard lock(mutex_);
  const auto it = files_.find(address);
  if (it == files_.end() || it->second->bytes != bytes)
    return absl::InvalidArgumentError("DISK: only files can be its memory (OpenFile)");
  return Allocation{address, bytes, address};
}

absl::StatusOr<DiskDevice::Place> DiskDevice::Find(const Allocation& range, size_t bytes) {
  if (bytes > range.bytes)
    return absl::OutOfRangeError(absl::StrCat("DISK: ", bytes, " bytes in a range of ", range.bytes));
  std::lock_guard lock(mutex_);
  const auto it = files_.find(range.base);
  const uint64_t offset = range.address - range.base;
  if (it == files_.end() || offset > it->second->bytes || range.bytes > it->second->bytes - offset)
    return absl::OutOfRangeError(absl::StrCat("DISK: [0x", absl::Hex(range.address), ", +", range.bytes,
                                              ") is not inside an open file"));
  return Place{it->second, offset};
}

absl::Status DiskDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_ASSIGN_OR_RETURN(const Place to, Find(dst, bytes));
  if (!to.file->writable)
    return absl::PermissionDeniedError(absl::StrCat("DISK: ", to.file->path, " is open for reading only"));
  return WriteAt(to.file->fd, to.file->path, to.offset, static_cast<const uint8_t*>(src), bytes);
}

absl::Status DiskDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_ASSIGN_OR_RETURN(const Place from, Find(src, bytes));
  return ReadAt(from.file->fd, from.file->path, from.offset, static_cast<uint8_t*>(dst), bytes);
}

absl::Status DiskDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(Find(dst, bytes).status());
  US_RETURN_IF_ERROR(Find(src, bytes).status());
  std::vector<uint8_t> piece(std::min(bytes, kPiece));
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t n = std::min(kPiece, bytes - at);
    US_RETURN_IF_ERROR(CopyOut(piece.data(), src.Slice(at, n), n));
    US_RETURN_IF_ERROR(CopyIn(dst.Slice(at, n), piece.data(), n));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> DiskDevice::Compile(const UOpRef& kernel, const ChoiceList*) {
  return absl::UnimplementedError(absl::StrCat("DISK runs no kernels (", OpName(kernel->op()),
                                               "): copy to a device that computes first"));
}

absl::Status DiskDevice::Launch(Program& program, absl::Span<const Allocation>, absl::Span<const int64_t>,
                                LaunchInfo*) {
  return absl::UnimplementedError(absl::StrCat("DISK runs no kernels (", program.name(), ")"));
}

}  // namespace understudy
