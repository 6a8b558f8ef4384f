// SPDX-License-Identifier: Apache-2.0
// Part 4 of the demo: a wild store, what is reported of it, and the same process going on.

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "tools/demo/demo.h"
#include "tools/demo/device_vector.h"

extern "C" {
const unsigned char* wild_pointer_co(const char* gpu, size_t* size);
}

namespace understudy::demo {

using amd::GlobalPointer;
using amd::Scalar;

absl::StatusOr<nlohmann::json> RunWildPointer(Rig& rig) {
  constexpr int kCount = 256, kBad = 77;
  amd::AmdGpu& gpu = rig.gpu();
  size_t size = 0;
  const unsigned char* const file = wild_pointer_co(gpu.isa().c_str(), &size);
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("the demo has no kernels for ", gpu.isa()));
  US_ASSIGN_OR_RETURN(const amd::LoadedCode* code, gpu.Load({file, size}));
  US_ASSIGN_OR_RETURN(const amd::LoadedKernel kernel, code->Kernel("wild_pointer"));
  std::vector<int> in(kCount), out(kCount, -1);
  std::iota(in.begin(), in.end(), 1);
  US_ASSIGN_OR_RETURN(const auto device_in, DeviceVector<int>::From(gpu, in));
  US_ASSIGN_OR_RETURN(const auto device_out, DeviceVector<int>::From(gpu, out));
  US_RETURN_IF_ERROR(rig.kernel().NameAllocation(device_out.va(), "out"));
  const auto launch = [&](int bad) -> absl::Status {
    US_RETURN_IF_ERROR(
        gpu.Launch(kernel, {{kCount / 64, 1, 1}, {64, 1, 1}},
                   {GlobalPointer{device_in.va()}, GlobalPointer{device_out.va()}, Scalar(bad)}));
    return gpu.Synchronize();
  };

  const absl::Status status = launch(kBad);
  if (status.ok()) return absl::InternalError("the wild store was not reported");
  const auto report = rig.kernel().LastFault();
  if (!report.has_value() || !report->has_wave || !report->has_access) {
    return absl::InternalError(
        absl::StrCat("no report of a wave's memory fault; the driver said: ", std::string(status.message())));
  }
  US_RETURN_IF_ERROR(gpu.Recover());
  US_RETURN_IF_ERROR(launch(-1));
  US_RETURN_IF_ERROR(device_out.Read(&out));
  uint64_t differences = 0;
  for (int i = 0; i < kCount; ++i)
    differences += out[static_cast<size_t>(i)] != 2 * in[static_cast<size_t>(i)];
  const uint64_t want_address = device_out.va() + (uint64_t{kBad} + (uint64_t{1} << 38)) * sizeof(int);
  const int lane = report->lane, wave_size = kernel.symbol->descriptor.wave32() ? 32 : 64;
  const bool right_place = report->access.address == want_address && report->workgroup[0] == kBad / 64 &&
                           report->wave * wave_size + lane == kBad % 64;
  return nlohmann::json{{"kernel", kernel.symbol->name},
                        {"driver_status", std::string(status.message())},
                        {"report",
                         {{"message", report->message},
                          {"packet", report->packet},
                          {"pc", absl::StrCat("0x", absl::Hex(report->pc))},
                          {"offset", absl::StrCat("0x", absl::Hex(report->pc - report->kernel_va))},
                          {"instruction", report->instruction},
                          {"workgroup", report->workgroup},
                          {"wave", report->wave},
                          {"lane", lane},
                          {"address", absl::StrCat("0x", absl::Hex(report->access.address))},
                          {"expected_address", absl::StrCat("0x", absl::Hex(want_address))}}},
                        {"recovered", true},
                        {"differences_after", differences},
                        {"ok", right_place && differences == 0}};
}

}  // namespace understudy::demo
