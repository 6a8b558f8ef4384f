// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a lowered kernel does, counted without compiling or running it, and the one formula that makes a cost
// of such counts, whoever counted. Used by searches: to prune, and where there is neither emulator nor clock.
// Never asks a device.

#include "src/codegen/codegen.h"
#include "src/codegen/search.h"

namespace understudy {

// Of one launch, over all its waves (on targets without work-items: over all threads).
struct KernelWork {
  double instructions = 0;  // a wave each; vectors on the host
  double lines = 0;  // cache lines of 128 bytes that global loads and stores touch, an instruction each
  double bytes = 0;  // that their lanes load and store
  double waves = 1;
};

// cost = (instructions + line * lines) / min(waves, slots)
//
// The numerator is what all waves issue: an instruction takes one slot, a cache line as much as `line` of
// them. The denominator is how many waves run side by side: as many as there are, at most the processor's
// `slots`. So work is weighed against occupancy: a tile that halves the instructions and quarters the waves
// pays only while enough waves are left.
struct CostWeights {
  double line = 4;
  double slots = 192;  // the SIMDs of a gfx1100: 96 compute units of two
};
double CostOfWork(const KernelWork& work, const CostWeights& weights);
std::string WeightsText(const CostWeights& weights);  // "line 4 slots 192"

// Ops of the linear list, as often as they run: loops by their trip counts, both sides of a branch, waves
// whole however few work-items they hold. Lines are those of the first wave's first trip through the loops;
// where an address hangs on memory contents, a line a lane.
KernelWork EstimateWork(const LinearKernel& kernel, const Target& target);

// The estimate as a cost: lowers each candidate, compiles none.
class StaticCost : public CostModel {
 public:
  explicit StaticCost(const CostWeights& weights = {}) : weights_(weights) {}
  std::string name() const override;
  std::vector<absl::StatusOr<double>> Costs(const UOpRef& kernel, const Target& target,
                                            absl::Span<const ChoiceList> candidates, double best) override;

 private:
  CostWeights weights_;
};

}  // namespace understudy
