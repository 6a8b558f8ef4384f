// SPDX-License-Identifier: Apache-2.0
#pragma once
// The classes of bytes on which our RDNA3 decoder and LLVM MC disagree on purpose, each with its reason. A
// test uses them to accept a known disagreement, and checks that each is still needed.

#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"
#include "tests/emu/amd/decode/mc_oracle.h"

namespace understudy::emu::amd {

struct Disagreement {
  uint32_t words[4];
  const Inst* ours = nullptr;  // null: refused
  std::string refusal;         // our message, when refused
  McInst mc;
};

struct McException {
  const char* name;
  const char* reason;
  bool (*covers)(const Disagreement&);
};

const std::vector<McException>& McExceptions();

// The same for instructions that both accept under one name and length, but write differently.
const std::vector<McException>& McTextExceptions();

// The first row of McExceptions (McTextExceptions) that covers the disagreement, or -1.
int FindTextException(const Disagreement& d);

int FindException(const Disagreement& d);

}  // namespace understudy::emu::amd
