// SPDX-License-Identifier: Apache-2.0
#pragma once
// The linear list as an LLVM module. Used by render.cc only; the rest of the compiler never sees LLVM.

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "src/codegen/codegen.h"

namespace understudy {

// A module with the function `symbol` for `isa` ("host", or amdgcn's processor), verified. Triple and data
// layout are the caller's.
absl::StatusOr<std::unique_ptr<llvm::Module>> BuildModule(const LinearKernel& kernel,
                                                          const std::string& symbol, const std::string& isa,
                                                          const llvm::DataLayout& layout,
                                                          llvm::LLVMContext& context);

}  // namespace understudy
