// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/reduce.h"

#include "fuzz/program_tree/reduce.h"

namespace understudy::programs {

Program Reduce(const Program& program, int most_tries, const std::function<bool(const Program&)>& holds) {
  Program candidate = program;
  candidate.nodes = ReduceNodes(program.nodes, most_tries, [&](const std::vector<Node>& nodes) {
    candidate.nodes = nodes;
    return holds(candidate);
  });
  return candidate;
}

}  // namespace understudy::programs
