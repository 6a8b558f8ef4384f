// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"

namespace understudy {

std::string MemoryUse::Text() const {
  std::string sizes;
  for (const auto& [bytes, count] : allocations)
    absl::StrAppend(&sizes, sizes.empty() ? "" : ", ", count, " x ", bytes);
  return absl::StrCat(in_use, " bytes in use", sizes.empty() ? "" : " (", sizes, sizes.empty() ? "" : ")",
                      ", ", cached, " cached");
}

absl::StatusOr<std::unique_ptr<Program>> Device::Load(CompiledKernel&&) {
  return absl::UnimplementedError(absl::StrCat(name(), " loads no compiled kernels"));
}

void Device::set_cache_limit(size_t bytes) {
  {
    std::lock_guard lock(cache_mutex_);
    cache_limit_ = bytes;
  }
  if (bytes == 0) FlushCache().IgnoreError();
}

MemoryUse Device::memory_use() const {
  std::lock_guard lock(cache_mutex_);
  return use_;
}

absl::StatusOr<Allocation> Device::AllocateCached(size_t bytes) {
  {
    std::lock_guard lock(cache_mutex_);
    // The most recently freed of that size: its pages are the warmest.
    for (size_t i = cache_.size(); i-- > 0;) {
      if (cache_[i].bytes != bytes) continue;
      const Allocation found = cache_[i];
      cache_.erase(cache_.begin() + static_cast<std::ptrdiff_t>(i));
      use_.cached -= bytes;
      use_.in_use += bytes;
      ++use_.allocations[bytes];
      return found;
    }
  }
  absl::StatusOr<Allocation> fresh = Allocate(bytes);
  if (!fresh.ok() && absl::IsResourceExhausted(fresh.status())) {
    // Memory that work in flight still uses comes back when it is done.
    US_RETURN_IF_ERROR(FlushCache());
    US_RETURN_IF_ERROR(Synchronize());
    fresh = Allocate(bytes);
    if (!fresh.ok()) {
      return absl::Status(fresh.status().code(),
                          absl::StrCat("allocating ", bytes, " bytes on ", name(), ": ",
                                       std::string(fresh.status().message()), "; ", memory_use().Text()));
    }
  }
  if (!fresh.ok()) return fresh.status();
  std::lock_guard lock(cache_mutex_);
  use_.in_use += fresh->bytes;
  ++use_.allocations[fresh->bytes];
  return fresh;
}

absl::Status Device::FreeCached(const Allocation& allocation) {
  std::vector<Allocation> out;
  {
    std::lock_guard lock(cache_mutex_);
    const auto it = use_.allocations.find(allocation.bytes);
    if (it == use_.allocations.end()) {
      return absl::InvalidArgumentError(absl::StrCat("freeing ", allocation.bytes, " bytes on ", name(),
                                                     ", which has no allocation of that size in use"));
    }
    if (--it->second == 0) use_.allocations.erase(it);
    use_.in_use -= allocation.bytes;
    if (allocation.bytes > cache_limit_) {
      out.push_back(allocation);
    } else {
      cache_.push_back(allocation);
      use_.cached += allocation.bytes;
      while (use_.cached > cache_limit_) {
        out.push_back(cache_.front());
        use_.cached -= cache_.front().bytes;
        cache_.erase(cache_.begin());
      }
    }
  }
  absl::Status status;
  for (const Allocation& a : out) status.Update(Free(a));
  return status;
}

absl::Status Device::FlushCache() {
  std::vector<Allocation> out;
  {
    std::lock_guard lock(cache_mutex_);
    out.swap(cache_);
    use_.cached = 0;
  }
  absl::Status status;
  for (const Allocation& a : out) status.Update(Free(a));
  return status;
}

absl::StatusOr<void*> Device::HostPointer(const Allocation&) {
  return absl::UnimplementedError(absl::StrCat(name(), ": the host has no pointer to the device's memory"));
}
absl::StatusOr<Allocation> Device::Wrap(void*, size_t bytes) {
  return absl::UnimplementedError(
      absl::StrCat(name(), ": takes no memory of the caller's (", bytes, " bytes)"));
}
absl::Status Device::Unwrap(const Allocation&) {
  return absl::UnimplementedError(absl::StrCat(name(), ": holds no memory of the caller's"));
}
absl::StatusOr<Allocation> Device::MapFrom(Device& owner, const Allocation&) {
  return absl::UnimplementedError(absl::StrCat(name(), ": does not see the memory of ", owner.name()));
}
absl::Status Device::Unmap(const Allocation&) {
  return absl::UnimplementedError(absl::StrCat(name(), ": has no mapping of another device's memory"));
}

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
