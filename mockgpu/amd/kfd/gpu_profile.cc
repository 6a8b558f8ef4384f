// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/gpu_profile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/status.h"

namespace understudy::mockgpu::amd {

std::optional<Gc> GpuProfile::gc() const {
  for (const IpBlock& block : ip_blocks) {
    if (block.hw_id == kGcBlock) return GcOfVersion(block.major, block.minor);
  }
  return std::nullopt;
}

std::optional<Sdma> GpuProfile::sdma() const {
  for (const IpBlock& block : ip_blocks) {
    if (block.hw_id == kSdmaBlock) return SdmaOfVersion(block.major, block.minor);
  }
  return std::nullopt;
}

const std::vector<GpuProfile>& AllProfiles() {
  static const auto* const profiles = [] {
    auto* const all = new std::vector<GpuProfile>;
#define PROFILE_BEGIN(word) \
  {                         \
    GpuProfile p;           \
    p.name = #word;         \
    p.vendor_id = 0x1002;
#define PROFILE(member, value) p.member = value;
#define PROFILE_IP(hw_id, instances, major, minor, revision) \
  p.ip_blocks.push_back({hw_id, instances, major, minor, revision});
#define PROFILE_CACHE(count, level, size_kb, line_bytes, type, compute_units_each) \
  p.caches.push_back({count, level, size_kb, line_bytes, type, compute_units_each});
#define PROFILE_END             \
  all->push_back(std::move(p)); \
  }
#include "mockgpu/amd/kfd/profiles.inc"
    return all;
  }();
  return *profiles;
}

absl::StatusOr<std::vector<GpuProfile>> ParseProfiles(const std::string& words) {
  std::vector<GpuProfile> out;
  for (const absl::string_view part : absl::StrSplit(words.empty() ? "gfx1100" : words, ',')) {
    std::string known;
    const size_t before = out.size();
    for (const GpuProfile& profile : AllProfiles()) {
      if (profile.name == part) out.push_back(profile);
      absl::StrAppend(&known, known.empty() ? "" : ", ", profile.name);
    }
    if (out.size() == before) {
      return absl::NotFoundError(absl::StrCat("no AMD GPU '", part, "', expected of ", known));
    }
  }
  return out;
}

GpuProfile ProfileOf(const std::string& name) {
  const auto profiles = ParseProfiles(name);
  US_CHECK_OK(profiles);
  return profiles->front();
}

}  // namespace understudy::mockgpu::amd
