// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/avoided.h"

namespace understudy::ptx_programs {

const std::vector<Avoided>& AvoidedConstructs() {
  static const std::vector<Avoided> rows = {
#define AVOIDED(fault, instead) {fault, instead},
#include "fuzz/ptx_programs/avoided.inc"
#undef AVOIDED
  };
  return rows;
}

}  // namespace understudy::ptx_programs
