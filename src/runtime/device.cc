// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"

namespace understudy {

absl::Status Device::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  std::vector<uint8_t> host(bytes);
  US_RETURN_IF_ERROR(CopyOut(host.data(), src, bytes));
  return CopyIn(dst, host.data(), bytes);
}

void DeviceRegistry::Register(std::shared_ptr<Device> device) {
  US_CHECK(device != nullptr) << "registering no device";
  const std::string name = device->name();
  devices_[name] = std::move(device);
}

absl::StatusOr<std::shared_ptr<Device>> DeviceRegistry::Find(const std::string& name) const {
  const auto it = devices_.find(name);
  if (it == devices_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no device '", name, "'; there are: ", absl::StrJoin(Names(), ", ")));
  }
  return it->second;
}

std::vector<std::string> DeviceRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, device] : devices_) names.push_back(name);
  return names;
}

}  // namespace understudy
