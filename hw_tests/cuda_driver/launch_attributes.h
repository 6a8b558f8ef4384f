// SPDX-License-Identifier: Apache-2.0
#pragma once
// A list of launch attributes in the making, for the probe's sections. Asks nothing.

#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {

struct Attributes {
  CUlaunchAttribute list[4] = {};
  unsigned count = 0;
  CUlaunchAttribute& Add(int id) {
    list[count].id = id;
    return list[count++];
  }
  void Cluster(unsigned x, unsigned y, unsigned z) {
    Add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value.clusterDim = {x, y, z};
  }
};

}  // namespace understudy::probe
