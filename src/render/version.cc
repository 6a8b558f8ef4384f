// SPDX-License-Identifier: Apache-2.0
#include "src/render/version.h"

#include "llvm/Config/llvm-config.h"

namespace understudy {

std::string CompilerVersion() {
  return "understudy code " + std::to_string(kCodeVersion) + ", LLVM " LLVM_VERSION_STRING;
}

}  // namespace understudy
