// SPDX-License-Identifier: Apache-2.0
#pragma once
// The classes of bytes on which our CDNA decoder and LLVM MC disagree on purpose, each with its reason.

#include <vector>

#include "tests/emu/amd/decode/mc_exceptions.h"

namespace understudy::emu::amd {

std::vector<McException> CdnaExceptions();
// For instructions that both accept under one name and length, but write differently.
std::vector<McException> CdnaTextExceptions();

// The first row that covers the disagreement, or -1.
int FindCdnaException(const Disagreement& d);
int FindCdnaTextException(const Disagreement& d);

}  // namespace understudy::emu::amd
