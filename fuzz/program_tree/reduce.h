// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drops statements from a program while a property of it holds.

#include <functional>
#include <vector>

#include "fuzz/program_tree/node.h"

namespace understudy::programs {

// The smallest program found that `holds`; `nodes` itself does. Tries runs of neighbours before single
// statements and blocks before their contents, at most `most_tries` candidates.
std::vector<Node> ReduceNodes(const std::vector<Node>& nodes, int most_tries,
                              const std::function<bool(const std::vector<Node>&)>& holds);

}  // namespace understudy::programs
