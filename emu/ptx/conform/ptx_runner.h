// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs PTX text on the emulator: parses, places the module's variables, launches, and gives memory back. Used
// by conformance, tests and benchmarks. Never looks at a GPU.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/memory/address_space.h"
#include "emu/ptx/core/device_heap.h"
#include "emu/ptx/core/launch.h"
#include "emu/ptx/core/program.h"

namespace understudy::emu::ptx {

class PtxRunner {
 public:
  // Parses and binds; status() says what is wrong.
  explicit PtxRunner(const std::string& ptx);
  const absl::Status& status() const { return status_; }
  const Program& program() const { return *program_; }

  // A buffer of device memory; its generic address.
  uint64_t Allocate(uint64_t bytes, const std::string& label = "buffer");
  uint64_t Upload(const void* data, uint64_t bytes, const std::string& label = "buffer");
  std::vector<uint8_t> Download(uint64_t address, uint64_t bytes) const;
  template <class T>
  std::vector<T> Values(uint64_t address, uint64_t count) const {
    std::vector<T> values(count);
    const std::vector<uint8_t> bytes = Download(address, count * sizeof(T));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(values.data()));
    return values;
  }

  // `params`: one value a parameter, cut to its size.
  absl::StatusOr<LaunchResult> Run(const std::string& entry, Dim3 grid, Dim3 block,
                                   const std::vector<uint64_t>& params);
  // `params`: the bytes of each.
  absl::StatusOr<LaunchResult> RunWithBytes(const std::string& entry, Dim3 grid, Dim3 block,
                                            const std::vector<std::vector<uint8_t>>& params);

  // Unless replaced, print collects into `printed`, and allocate and release serve a device heap of 8 MiB
  // that lives as long as the runner.
  LaunchOptions options;
  LaunchConfig config;  // what Run does not set: cluster, dynamic shared memory, cooperative
  std::string printed;
  AddressSpace memory;

 private:
  absl::Status Load(const std::string& ptx);

  absl::Status status_;
  std::shared_ptr<const Program> program_;
  std::deque<std::vector<uint64_t>> storage_;
  DeviceHeap heap_;
  uint64_t next_ = 0x7f00'0000'0000;
};

}  // namespace understudy::emu::ptx
