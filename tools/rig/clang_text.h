// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels as text (src/render/c_text.h) through clang-22's driver, which needs neither ROCm's nor CUDA's
// headers and libraries for them. For devices that run what other tools compile.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/render/c_text.h"

namespace understudy {

// What `clang-22 FLAGS -w -o OUT TEXT` writes. NotFound without clang; Aborted with its words.
absl::StatusOr<std::string> CompileWithClang(const std::string& text, const std::vector<std::string>& flags);

// A compiled kernel's name, grid, parameters and variables, from those of its text.
template <class Kernel>
void CopyInterface(const RenderedText& from, Kernel* to) {
  to->name = from.name;
  to->global = from.global;
  to->local = from.local;
  to->params = from.params;
  to->vars = from.vars;
}

}  // namespace understudy
