// SPDX-License-Identifier: Apache-2.0
#pragma once
// NVIDIA's assembler as a witness: which instructions of a module it takes. Runs the program where it is
// installed; tests say so where it is not.

#include <string>
#include <vector>

namespace understudy::emu::ptx {

// $UNDERSTUDY_PTXAS, or the one in CUDA's usual place; "" where there is none.
std::string PtxasPath();

// "13.0"; "" where it does not say.
std::string PtxasRelease(const std::string& ptxas);

// What ptxas says of each instruction in FormModule(instructions, version, target): "" where it takes it,
// "?" where it died without saying which line it was.
std::vector<std::string> AskPtxas(const std::string& ptxas, const std::string& version,
                                  const std::string& target, const std::vector<std::string>& instructions);

}  // namespace understudy::emu::ptx
