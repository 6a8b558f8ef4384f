// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cards that the mock driver can be: names, sizes and attributes as data. Used by the driver to make its
// devices; never changes at run time.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mockgpu/nv/cuda/cuda_api.h"

namespace understudy::mockgpu::nv {

struct Profile {
  const char* word;  // how UNDERSTUDY_CUDA_GPUS names it
  const char* name;
  uint64_t memory_bytes;
  bool nvlink;
  uint32_t memory_gbps;
  char target_suffix;     // 'a' where PTX of sm_NNa runs, 0 where it has none
  std::vector<int> gpcs;  // multiprocessors of each
  int column;             // in device_attributes.inc

  // -1 for a number that is no attribute.
  int Attribute(int attribute) const;
  bool HasAttribute(int attribute) const;
  // Clusters of `size` blocks that are resident at once, `per_sm` blocks of them a multiprocessor.
  int ActiveClusters(int size, int per_sm) const;
  int sm() const {
    return 10 * Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }
};

const std::vector<Profile>& Profiles();
// "h200,h200": one device a word; "" is one H200. NotFound lists the words.
absl::StatusOr<std::vector<const Profile*>> ParseProfiles(const std::string& words);

}  // namespace understudy::mockgpu::nv
