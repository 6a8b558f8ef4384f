// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drops statements from a program while a property of it holds.

#include <functional>

#include "fuzz/amd_programs/program.h"

namespace understudy::programs {

// The smallest program found that `holds`; `program` itself does. Tries blocks before their contents, at most
// `most_tries` candidates.
Program Reduce(const Program& program, int most_tries, const std::function<bool(const Program&)>& holds);

}  // namespace understudy::programs
