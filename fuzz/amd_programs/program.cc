// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/program.h"

#include <algorithm>

namespace understudy::programs {

std::string Text(const Program& program) { return Text(program.nodes); }

int CountLines(const Program& program) {
  const std::string text = Text(program);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace understudy::programs
