// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel as machine code of one processor, made without LLVM: what render/x86_64 and render/aarch64 answer
// and the devices load. Holds bytes and descriptions, never runs anything.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/codegen/codegen.h"
#include "src/render/machine/allocate.h"
#include "src/render/machine/select.h"

namespace understudy::machine {

// `code` begins with the function
//   void name(void* const* buffers, const int64_t* vars, int64_t workgroup)
// in the platform's C calling convention (System V, AAPCS64), which runs one of the global[0] workgroups, and
// ends with its constants. It may lie anywhere at a multiple of 64, calls nothing and writes only to its
// buffers and its frame.
struct MachineKernel {
  std::string name;
  std::vector<uint8_t> code;
  std::string text;  // assembly, as LLVM MC prints it
  std::array<int64_t, 3> global = {1, 1, 1};
  std::vector<KernelParam> params;
  std::vector<VarArg> vars;
  int spilled = 0, remade = 0, coalesced = 0;  // as Allocation
  int64_t frame_bytes = 0;
};

// What a check of one instruction, block or value needs besides.
struct MachineDetails {
  Selection selection;
  Function before;  // with virtual registers
  Function after;   // with real ones
  std::vector<Reg> live_in;
  struct Line {
    int64_t offset = 0, bytes = 0;  // in the code
    std::string text;  // with a jump's distance from the instruction's end or start, as MC writes it
    int block = -1;    // -1: before the first or behind the last
  };
  std::vector<Line> lines;
  std::vector<int64_t> block_offsets;  // and one past the last block
};

struct MachineOptions {
  AllocateOptions registers;
  bool check = false;                 // CheckAllocation
  MachineDetails* details = nullptr;  // filled if not null
};

}  // namespace understudy::machine
