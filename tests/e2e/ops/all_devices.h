// SPDX-License-Identifier: Apache-2.0
#pragma once
// The devices of docs/ops.md, opened where what they run on is installed.

#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/ops/support.h"
#include "tests/src/schedule/any_device.h"

namespace understudy {

class SupportDevices {
 public:
  static constexpr std::pair<const char*, char> kAll[] = {{"REF", 'R'}, {"CPU", 'C'}, {"X86", 'X'},
                                                          {"A64", 'M'}, {"C", 'T'},   {"OPENCL", 'O'},
                                                          {"AMD", 'A'}, {"CUDA", 'N'}};

  // Those whose letters are listed, REF always. What is not installed is left out; absent() has its letter.
  static absl::StatusOr<SupportDevices> Open(const std::string& letters) {
    SupportDevices out;
    for (const auto& [kind, letter] : kAll) {
      if (letter != 'R' && letters.find(letter) == std::string::npos) continue;
      auto device = test::OpenAnyDevice(kind);
      if (absl::IsNotFound(device.status())) {
        out.absent_ += letter;
        continue;
      }
      if (!device.ok()) return device.status();
      out.devices_.push_back(*std::move(device));
      SupportDevice row{letter, out.devices_.back().name, out.devices_.back().engine.get()};
      if (letter == 'T' || letter == 'O') row.vectors = 1;
      if (letter == 'O') row.types = {dtypes::kUInt8, dtypes::kInt32, dtypes::kFloat16, dtypes::kFloat32};
      out.table_.push_back(std::move(row));
    }
    return out;
  }
  SupportDevices(SupportDevices&&) = default;
  SupportDevices& operator=(SupportDevices&&) = delete;
  ~SupportDevices() {
    for (const test::AnyDevice& d : devices_) (void)d.close();
  }

  const std::vector<SupportDevice>& table() const { return table_; }
  const std::string& absent() const { return absent_; }

 private:
  SupportDevices() = default;

  std::vector<test::AnyDevice> devices_;
  std::vector<SupportDevice> table_;
  std::string absent_;
};

}  // namespace understudy
