// SPDX-License-Identifier: Apache-2.0
#pragma once
// What graphs may hold at each stage of the compiler: a list of rules a stage, each of which accepts some
// nodes; a node that no rule accepts is a fault of the pass before. Stages call CheckSpec on what they hand
// on; what is wrong with a single node whatever the stage (arity, dtypes, shapes) is refused earlier, by
// UOp::Make.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/uop/pattern.h"

namespace understudy::uop {

// SPEC_STAGE(name, text)
#define UNDERSTUDY_SPEC_STAGES(X)                                                                        \
  X(Tensor, "tensor") /* what the Tensor API builds: shapes, no index arithmetic */                      \
  X(Call, "call")     /* SINK(STORE(PARAM, value)...): storage is declared */                            \
  X(Kernel, "kernel") /* one SINK[KernelArg] of STOREs with explicit indices, scalar values, REDUCEs */  \
  X(Expanded,                                                                                            \
    "expanded") /* choices applied: vectors, workgroup arrays and barriers; no range left to unroll */   \
  X(Decomposed,                                                                                          \
    "decomposed")     /* only ops that every target has: no REDUCE, no index dtype, no transcendental */ \
  X(Linear, "linear") /* SINK over the list in execution order: sources first, loops and IFs nested */
enum class Stage : uint8_t {
#define STAGE(name, text) k##name,
  UNDERSTUDY_SPEC_STAGES(STAGE)
#undef STAGE
};
const char* StageName(Stage stage);

struct SpecRule {
  std::string name;
  OpSet ops;
  std::string says;  // what it asks of the node, for the message
  std::function<bool(const UOp& node)> accepts;
};
const std::vector<SpecRule>& SpecRules(Stage stage);
// One line a rule: "load: LOAD  of one INDEX".
std::string DescribeSpec(Stage stage);

// False when the environment has SPEC=0.
bool SpecEnabled();

// OK, or Internal naming stage, node and the rules that might have accepted it. Always OK when SPEC=0.
absl::Status CheckSpec(const UOpRef& root, Stage stage);
// The same whatever SPEC says.
absl::Status CheckSpecAlways(const UOpRef& root, Stage stage);

}  // namespace understudy::uop
