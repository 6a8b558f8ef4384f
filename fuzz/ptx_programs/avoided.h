// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the generator keeps out of programs since a compiler gets it wrong, by name. Used by tests, which hold
// the reduced programs to the list. The generator itself does not read it.

#include <vector>

namespace understudy::ptx_programs {

struct Avoided {
  const char* fault;    // a file's name in tests/data/ptx_programs/ptxas_faults
  const char* instead;  // what programs have
};
const std::vector<Avoided>& AvoidedConstructs();

}  // namespace understudy::ptx_programs
