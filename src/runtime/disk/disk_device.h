// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "DISK": files as memory. A file is opened as a Buffer or a Tensor and copied to a device that
// computes, piece by piece and straight into its memory where the host sees it, so that a file larger than
// memory is no obstacle. Runs no kernels. Thread safe.
//
// Files are read and written, not mapped: a file that someone shortens is then an error of the copy, where a
// mapping would end the process with a signal.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "src/runtime/buffer.h"
#include "src/runtime/device.h"
#include "src/schedule/target.h"
#include "src/tensor/tensor.h"

namespace understudy {

class DiskDevice : public Device {
 public:
  enum class Mode { kRead, kReadWrite };

  DiskDevice() = default;
  ~DiskDevice() override;
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }

  // A regular file, whole; it is closed with the buffer's last view. NotFound or PermissionDenied with the
  // path, InvalidArgument for what is no regular file.
  absl::StatusOr<std::unique_ptr<Buffer>> OpenFile(const std::string& path, Mode mode = Mode::kRead);
  // A new file of `bytes` zeros, read and written. AlreadyExists when there is one.
  absl::StatusOr<std::unique_ptr<Buffer>> CreateFile(const std::string& path, size_t bytes);
  // The elements of `dtype` from byte `offset` on. OutOfRange when the file has fewer.
  absl::StatusOr<Tensor> OpenTensor(const std::string& path, DType dtype, const Shape& shape,
                                    uint64_t offset = 0, Mode mode = Mode::kRead);

  // A file without a name in the folder for temporary files. ResourceExhausted when the disk is full.
  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  absl::Status Free(const Allocation& allocation) override;
  // DataLoss when a file has become shorter; PermissionDenied when it was opened for reading.
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  // Unimplemented: copy to another device first.
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  // For Buffer::External over an open file: `pointer` is the number that stands for it here.
  absl::StatusOr<Allocation> Wrap(void* pointer, size_t bytes) override;
  absl::Status Unwrap(const Allocation& range) override;

 private:
  struct File;
  struct Place {
    std::shared_ptr<File> file;
    uint64_t offset = 0;
  };
  absl::StatusOr<uint64_t> Add(std::shared_ptr<File> file);
  absl::StatusOr<std::unique_ptr<Buffer>> AsBuffer(std::shared_ptr<File> file);
  absl::StatusOr<Place> Find(const Allocation& range, size_t bytes);
  absl::Status Close(const Allocation& range);

  std::string name_ = "DISK";
  Target target_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<File>> files_;  // by address; guarded by mutex_, as is next_
  uint64_t next_ = uint64_t{1} << 45;                // never a host address that anybody would follow
};

}  // namespace understudy
