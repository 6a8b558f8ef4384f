// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which compiler made some code, for the keys of caches on disk.

#include <string>

namespace understudy {

// Raise it when the same kernel, target and choices come to give other code: results of searches that are
// kept on disk are found again only under the same number.
inline constexpr int kCodeVersion = 3;

// kCodeVersion and LLVM's version: "understudy code 2, LLVM 22.1.0".
std::string CompilerVersion();

}  // namespace understudy
