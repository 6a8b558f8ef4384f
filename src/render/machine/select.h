// SPDX-License-Identifier: Apache-2.0
#pragma once
// Instruction selection: from the linear list of a kernel to a processor's instructions on virtual registers.
// The list's loops become blocks; vectors become registers where the processor has the operation and lanes
// elsewhere. Never allocates registers.

#include "absl/status/status.h"
#include "src/codegen/codegen.h"
#include "src/render/machine/emitter.h"

namespace understudy::machine {

// Where a value of the list lives: for checks that run a block and look at what it computed.
struct ValuePlace {
  const UOp* node = nullptr;
  int lane = 0;        // first lane in the register
  int lanes = 1;       // how many
  Reg reg = kNoReg;    // virtual
  int lane_bytes = 0;  // of vectors; 0: a scalar as emitter.h says
};

struct Selection {
  // By block: the first and the one past the last op of the list that it holds, and every value defined
  // there.
  struct BlockOps {
    int begin = 0, end = 0;
    std::vector<ValuePlace> values;
  };
  std::vector<BlockOps> blocks;
};

// Fills `function`, to which `emitter` appends. Unimplemented names an op or type that the processor lacks.
absl::StatusOr<Selection> Select(const LinearKernel& kernel, Function& function, Emitter& emitter);

}  // namespace understudy::machine
