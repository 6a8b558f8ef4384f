// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device that passes everything on to another and compares, for every program that it compiles, our decoder
// with LLVM MC: instruction boundaries and mnemonics of all code. Tests run their tensors on it and then
// assert that nothing differed.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/device.h"

namespace understudy {

// The differences between our decoder and LLVM MC in one code object, each with kernel and offset;
// `instructions` grows by what was compared. A file that does not parse is a difference.
std::vector<std::string> CompareCodeObjectWithMc(absl::Span<const uint8_t> file, int64_t* instructions);

class McCheckedDevice : public Device {
 public:
  explicit McCheckedDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  int64_t code_objects() const { return code_objects_; }
  int64_t instructions() const { return instructions_; }
  const std::vector<std::string>& differences() const { return differences_; }

  const std::string& name() const override { return device_->name(); }
  const Target& target() const override { return device_->target(); }
  absl::StatusOr<Allocation> Allocate(size_t bytes) override { return device_->Allocate(bytes); }
  absl::Status Free(const Allocation& a) override { return device_->Free(a); }
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t n) override {
    return device_->CopyIn(dst, src, n);
  }
  absl::Status CopyOut(void* dst, const Allocation& src, size_t n) override {
    return device_->CopyOut(dst, src, n);
  }
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t n) override {
    return device_->CopyWithin(dst, src, n);
  }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override {
    return device_->Launch(program, buffers, vars, info);
  }
  absl::Status Synchronize() override { return device_->Synchronize(); }
  absl::Status Recover() override { return device_->Recover(); }

 private:
  std::shared_ptr<Device> device_;
  int64_t code_objects_ = 0, instructions_ = 0;
  std::vector<std::string> differences_;
};

}  // namespace understudy
