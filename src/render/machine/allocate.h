// SPDX-License-Identifier: Apache-2.0
#pragma once
// Register allocation: linear scan over exact live ranges with holes. Moves are coalesced first where the two
// ranges are apart; where registers run out the value that is read least often goes to the frame, or is made
// again where it is a constant, and the scan is repeated. Knows a processor as machine::Processor only.

#include "absl/status/statusor.h"
#include "src/render/machine/ir.h"

namespace understudy::machine {

struct AllocateOptions {
  // At most so many registers of each class (0: all): what tests of spilling ask for.
  int most_general = 0, most_vector = 0;
};

struct Allocation {
  Function code;      // on real registers; deleted moves are still there, flagged
  int spilled = 0;    // values in the frame
  int remade = 0;     // constants made again instead
  int coalesced = 0;  // moves that are gone
  int rounds = 0;
};

// `live_in`: real registers that hold arguments at the start. ResourceExhausted when an instruction alone
// needs more registers than there are. The instructions of `f` are numbered in Inst::origin.
absl::StatusOr<Allocation> Allocate(Function& f, const Processor& processor, const std::vector<Reg>& live_in,
                                    const AllocateOptions& options = {});

}  // namespace understudy::machine
