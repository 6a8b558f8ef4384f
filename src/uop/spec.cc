// SPDX-License-Identifier: Apache-2.0
#include "src/uop/spec.h"

#include <cstdlib>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "src/uop/sizes.h"

namespace understudy::uop {
namespace {

constexpr const char* kStageNames[] = {
#define STAGE(name, text) text,
    UNDERSTUDY_SPEC_STAGES(STAGE)
#undef STAGE
};

using Accept = std::function<bool(const UOp&)>;

bool IsScalarValue(const UOp& n) {
  return n.dtype().lanes == 1 && !n.dtype().IsPointer() && !n.dtype().IsVoid();
}
bool IsShaped(const UOp& n) {
  return n.op() == Op::kParam && std::holds_alternative<std::vector<int64_t>>(n.arg());
}
bool IsPointerParam(const UOp& n) {
  return n.op() == Op::kParam && n.dtype().space == AddrSpace::kGlobal && n.dtype().lanes == 1;
}
AxisKind KindOf(const UOp& range) { return range.arg_as<RangeArg>().kind; }
bool AllSources(const UOp& n, size_t from, const Accept& accept) {
  for (size_t i = from; i < n.num_src(); ++i) {
    if (!accept(*n.src(i))) return false;
  }
  return true;
}
bool IsRange(const UOp& n) { return n.op() == Op::kRange; }
bool IsRangeOf(const UOp& n, AxisKind kind) { return IsRange(n) && KindOf(n) == kind; }
// A pointer, or one that waits for something.
bool IsPlace(const UOp& n) {
  const UOp* p = &n;
  while (p->op() == Op::kAfter) p = p->src(0).get();
  return IsPointerParam(*p) || p->op() == Op::kDefineLocal || p->op() == Op::kDefineReg;
}

OpSet Alu() { return OpsWith(kFlagAlu); }
OpSet Without(OpSet set, std::initializer_list<Op> ops) { return set & ~OpSetOf(ops); }

// Rules that several stages share.
SpecRule ScalarConst() {
  return {"const", OpSetOf({Op::kConst}), "a scalar", [](const UOp& n) { return IsScalarValue(n); }};
}
SpecRule PointerParam() {
  return {"param", OpSetOf({Op::kParam}), "a pointer to global memory at a position", IsPointerParam};
}
SpecRule Variable() {
  return {"var", OpSetOf({Op::kVar}), "anywhere", [](const UOp&) { return true; }};
}

std::vector<SpecRule> TensorRules(bool call) {
  std::vector<SpecRule> rules = {
      ScalarConst(),
      Variable(),
      {"alu", Without(Alu(), {Op::kSub, Op::kRecip}),
       "elementwise on scalars' shapes, before decomposition (no SUB, no RECIP)",
       [](const UOp& n) { return IsScalarValue(n) && AllSources(n, 0, IsScalarValue); }},
      {"movement", OpsWith(kFlagMovement), "of a value", [](const UOp& n) { return IsScalarValue(n); }},
      {"reduce-axis", OpSetOf({Op::kReduceAxis}), "of a value",
       [](const UOp& n) { return IsScalarValue(n); }},
      {"iota", OpSetOf({Op::kIota}), "anywhere", [](const UOp&) { return true; }},
      {"copy", OpSetOf({Op::kCopy, Op::kContiguous}), "of a value",
       [](const UOp& n) { return IsScalarValue(n); }},
      {"slice", OpSetOf({Op::kSlice}), "of a value, by two values of dtype index",
       [](const UOp& n) { return IsScalarValue(n) && AllSources(n, 0, IsScalarValue); }},
      {"param-value", OpSetOf({Op::kParam}), "a value with a shape in its argument", IsShaped},
  };
  if (call) {
    rules.push_back({"store-param", OpSetOf({Op::kStore}), "(PARAM with a shape, value)", [](const UOp& n) {
                       return n.num_src() == 2 && IsShaped(*n.src(0)) && IsScalarValue(*n.src(1));
                     }});
    rules.push_back({"sink", OpSetOf({Op::kSink}), "of STOREs", [](const UOp& n) {
                       return AllSources(n, 0, [](const UOp& s) { return s.op() == Op::kStore; });
                     }});
    return rules;
  }
  rules.push_back({"buffer", OpSetOf({Op::kBuffer}), "anywhere", [](const UOp&) { return true; }});
  rules.push_back({"marker", OpSetOf({Op::kDetach, Op::kContiguousBackward, Op::kWithGradient, Op::kAssign}),
                   "of values", [](const UOp& n) { return AllSources(n, 0, IsScalarValue); }});
  rules.push_back({"multi", OpSetOf({Op::kMulti}), "of values, before they are spread over their devices",
                   [](const UOp& n) { return AllSources(n, 0, IsScalarValue); }});
  rules.push_back({"bind", OpSetOf({Op::kBind}), "a VAR to a CONST", [](const UOp&) { return true; }});
  rules.push_back({"call", OpSetOf({Op::kCall}), "a SINK of STOREs, then values", [](const UOp& n) {
                     return n.src(0)->op() == Op::kSink && AllSources(n, 1, IsScalarValue);
                   }});
  rules.push_back({"call-result", OpSetOf({Op::kAfter}), "(an argument of the CALL, CALL)", [](const UOp& n) {
                     if (n.num_src() != 2 || n.src(1)->op() != Op::kCall) return false;
                     const UOp& call = *n.src(1);
                     for (size_t i = 1; i < call.num_src(); ++i) {
                       if (call.src(i) == n.src(0)) return true;
                     }
                     return false;
                   }});
  rules.push_back({"store-buffer", OpSetOf({Op::kStore}), "(value, value)", [](const UOp& n) {
                     return n.num_src() == 2 && IsScalarValue(*n.src(0)) && IsScalarValue(*n.src(1));
                   }});
  rules.push_back({"sink", OpSetOf({Op::kSink}), "of values and STOREs", [](const UOp& n) {
                     return AllSources(n, 0,
                                       [](const UOp& s) { return IsScalarValue(s) || s.op() == Op::kStore; });
                   }});
  return rules;
}

std::vector<SpecRule> KernelRules() {
  return {
      ScalarConst(),
      PointerParam(),
      Variable(),
      {"alu", Without(Alu(), {Op::kSub, Op::kRecip}), "on scalars, before decomposition (no SUB, no RECIP)",
       [](const UOp& n) { return IsScalarValue(n) && AllSources(n, 0, IsScalarValue); }},
      {"range", OpSetOf({Op::kRange}),
       "of kind global or reduce, to arithmetic of VARs and CONSTs, of dtype index",
       [](const UOp& n) {
         return (KindOf(n) == AxisKind::kGlobal || KindOf(n) == AxisKind::kReduce) && IsSizeExpr(*n.src(0)) &&
                n.dtype() == dtypes::kIndex;
       }},
      {"index", OpSetOf({Op::kIndex}), "of a PARAM by dtype index",
       [](const UOp& n) { return IsPointerParam(*n.src(0)) && n.src(1)->dtype() == dtypes::kIndex; }},
      {"load", OpSetOf({Op::kLoad}), "a scalar, of one INDEX",
       [](const UOp& n) { return IsScalarValue(n) && n.num_src() == 1 && n.src(0)->op() == Op::kIndex; }},
      {"reduce", OpSetOf({Op::kReduce}), "a scalar, over RANGEs of kind reduce",
       [](const UOp& n) {
         return IsScalarValue(n) && IsScalarValue(*n.src(0)) &&
                AllSources(n, 1, [](const UOp& s) { return IsRangeOf(s, AxisKind::kReduce); });
       }},
      {"store", OpSetOf({Op::kStore}),
       "(INDEX, scalar, RANGEs of kind global, or of kind reduce: run through in order...)",
       [](const UOp& n) {
         return n.src(0)->op() == Op::kIndex && IsScalarValue(*n.src(1)) &&
                AllSources(n, 2, [](const UOp& s) {
                  return IsRangeOf(s, AxisKind::kGlobal) || IsRangeOf(s, AxisKind::kReduce);
                });
       }},
      {"kernel", OpSetOf({Op::kSink}), "a KernelArg, over STOREs",
       [](const UOp& n) {
         return std::holds_alternative<KernelArg>(n.arg()) &&
                AllSources(n, 0, [](const UOp& s) { return s.op() == Op::kStore; });
       }},
  };
}

bool IsVector(const UOp& n) { return !n.dtype().IsPointer() && !n.dtype().IsVoid(); }

// Memory, vectors and order: the same from expansion on.
std::vector<SpecRule> LoweredRules() {
  return {
      PointerParam(),
      Variable(),
      {"const", OpSetOf({Op::kConst}), "a scalar or the same in all lanes", IsVector},
      {"array", OpSetOf({Op::kDefineLocal, Op::kDefineReg}), "{id, size > 0}",
       [](const UOp& n) { return n.arg_as<std::vector<int64_t>>()[1] > 0; }},
      {"special", OpSetOf({Op::kSpecial}), "to a constant", [](const UOp& n) { return n.src(0)->IsConst(); }},
      {"index", OpSetOf({Op::kIndex}), "of a PARAM or array, by a scalar",
       [](const UOp& n) { return IsPlace(*n.src(0)) && n.src(1)->dtype().lanes == 1; }},
      {"load", OpSetOf({Op::kLoad}), "of an INDEX",
       [](const UOp& n) { return IsVector(n) && n.src(0)->op() == Op::kIndex; }},
      {"store", OpSetOf({Op::kStore}), "(INDEX, value, RANGEs...)",
       [](const UOp& n) {
         return n.src(0)->op() == Op::kIndex && IsVector(*n.src(1)) &&
                AllSources(n, 2, [](const UOp& s) { return IsRange(s) || s.op() == Op::kSpecial; });
       }},
      {"after", OpSetOf({Op::kAfter}), "of a place or value, after effects",
       [](const UOp& n) { return IsPlace(n) || IsVector(*n.src(0)); }},
      {"barrier", OpSetOf({Op::kBarrier}), "after effects",
       [](const UOp& n) {
         return AllSources(n, 0, [](const UOp& s) { return HasEffect(s.op()) || s.op() == Op::kAfter; });
       }},
      {"branch", OpSetOf({Op::kIf, Op::kEndIf}), "anywhere", [](const UOp&) { return true; }},
      {"end", OpSetOf({Op::kEnd}), "(effect, RANGEs...)",
       [](const UOp& n) {
         return n.num_src() > 0 && HasEffect(n.src(0)->op()) && AllSources(n, 1, IsRange);
       }},
      {"vectorize", OpSetOf({Op::kVectorize, Op::kGep}), "of values",
       [](const UOp& n) { return AllSources(n, 0, IsVector); }},
      {"wmma", OpSetOf({Op::kWmma}), "of fragments", [](const UOp& n) { return AllSources(n, 0, IsVector); }},
      {"sink", OpSetOf({Op::kSink}), "of effects",
       [](const UOp& n) { return AllSources(n, 0, [](const UOp& s) { return HasEffect(s.op()); }); }},
  };
}

std::vector<SpecRule> ExpandedRules() {
  std::vector<SpecRule> rules = LoweredRules();
  rules.push_back({"alu", Without(Alu(), {Op::kSub, Op::kRecip}),
                   "on values, before decomposition (no SUB, no RECIP)",
                   [](const UOp& n) { return IsVector(n) && AllSources(n, 0, IsVector); }});
  rules.push_back({"range", OpSetOf({Op::kRange}),
                   "to arithmetic of VARs and CONSTs; upcast and warp ranges are gone", [](const UOp& n) {
                     return IsSizeExpr(*n.src(0)) && KindOf(n) != AxisKind::kUpcast &&
                            KindOf(n) != AxisKind::kWarp;
                   }});
  rules.push_back({"reduce", OpSetOf({Op::kReduce}), "over RANGEs",
                   [](const UOp& n) { return IsVector(n) && AllSources(n, 1, IsRange); }});
  return rules;
}

std::vector<SpecRule> DecomposedRules() {
  std::vector<SpecRule> rules = LoweredRules();
  const auto no_index = [](const UOp& n) { return n.dtype().scalar != Scalar::kIndex; };
  // EXP2, LOG2 and SIN stay where the target has them.
  rules.push_back({"alu", Without(Alu(), {Op::kFloorDiv, Op::kFloorMod, Op::kRecip}),
                   "on values of a machine type (no index; no FLOORDIV, FLOORMOD, RECIP)", [=](const UOp& n) {
                     return IsVector(n) && no_index(n) &&
                            AllSources(n, 0, [&](const UOp& s) { return IsVector(s) && no_index(s); });
                   }});
  rules.push_back({"range", OpSetOf({Op::kRange}), "of a machine type, to arithmetic of VARs and CONSTs",
                   [=](const UOp& n) { return no_index(n) && IsSizeExpr(*n.src(0)); }});
  return rules;
}

std::vector<SpecRule> LinearRules() {
  std::vector<SpecRule> rules = DecomposedRules();
  // The list itself.
  rules.push_back({"list", OpSetOf({Op::kSink}), "over the list", [](const UOp&) { return true; }});
  return rules;
}

std::string NodeText(const UOp& n) {
  std::vector<std::string> src;
  for (const UOpRef& s : n.src()) src.push_back(absl::StrCat(OpName(s->op()), ":", s->dtype().Name()));
  const std::string arg = ArgText(n.arg());
  return absl::StrCat(OpName(n.op()), " ", n.dtype().Name(), " (", absl::StrJoin(src, ", "), ")",
                      arg.empty() ? "" : " : ", arg);
}

absl::Status Refuse(Stage stage, const UOp& n, const std::string& why) {
  return absl::InternalError(
      absl::StrCat("stage ", StageName(stage), ": ", NodeText(n), " is not legal: ", why));
}

// The list executes from first to last: a RANGE opens a loop, the END that names it closes the innermost one.
absl::Status CheckOrder(const UOpRef& root) {
  std::map<const UOp*, int> seen;  // executions so far
  std::vector<const UOp*> open;
  std::set<std::pair<const UOp*, const UOp*>> closed;  // (body, range)
  for (const UOpRef& ref : root->src()) {
    const UOp& n = *ref;
    const bool is_end = n.op() == Op::kEnd;
    for (size_t i = 0; i < n.num_src(); ++i) {
      const UOp* s = n.src(i).get();
      if (seen.count(s) != 0) continue;
      // An END around several STOREs names them through a SINK that is not executed.
      if (s->op() == Op::kSink && AllSources(*s, 0, [&](const UOp& e) { return seen.count(&e) != 0; }))
        continue;
      // An END of several loops is listed as one END a loop.
      if (s->op() == Op::kEnd &&
          AllSources(*s, 1, [&](const UOp& r) { return closed.count({s->src(0).get(), &r}) != 0; }))
        continue;
      return Refuse(Stage::kLinear, n, absl::StrCat("its source ", NodeText(*s), " does not come before it"));
    }
    if (n.op() == Op::kRange || n.op() == Op::kIf) open.push_back(&n);
    if (is_end || n.op() == Op::kEndIf) {
      for (size_t i = n.num_src(); i-- > (is_end ? 1 : 0);) {
        if (!is_end && i != 0) continue;
        if (open.empty() || open.back() != n.src(i).get()) {
          return Refuse(Stage::kLinear, n,
                        absl::StrCat("closes ", NodeText(*n.src(i)), ", but open is ",
                                     open.empty() ? "nothing" : NodeText(*open.back())));
        }
        open.pop_back();
        if (is_end) closed.emplace(n.src(0).get(), n.src(i).get());
      }
    }
    ++seen[&n];
  }
  if (!open.empty()) return Refuse(Stage::kLinear, *open.back(), "it is never closed");
  return absl::OkStatus();
}

// What looks at the graph as a whole.
absl::Status CheckWhole(const UOpRef& root, const std::vector<const UOp*>& order, Stage stage) {
  if (stage == Stage::kLinear) return CheckOrder(root);
  if (stage == Stage::kKernel && root->op() != Op::kSink)
    return Refuse(stage, *root, "the root of a kernel is a SINK");
  if (stage != Stage::kKernel) return absl::OkStatus();
  std::map<int64_t, const UOp*> ranges, params;
  for (const UOp* n : order) {
    if (n->op() == Op::kRange) {
      const auto [it, fresh] = ranges.emplace(n->arg_as<RangeArg>().id, n);
      if (!fresh && it->second != n)
        return Refuse(stage, *n, absl::StrCat("another RANGE has its id: ", NodeText(*it->second)));
    }
    if (n->op() == Op::kParam) {
      const auto [it, fresh] = params.emplace(n->arg_as<int64_t>(), n);
      if (!fresh && it->second != n)
        return Refuse(stage, *n, absl::StrCat("another PARAM has its position: ", NodeText(*it->second)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const char* StageName(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

const std::vector<SpecRule>& SpecRules(Stage stage) {
  static const auto* all =
      new std::vector<std::vector<SpecRule>>{TensorRules(false), TensorRules(true), KernelRules(),
                                             ExpandedRules(),    DecomposedRules(), LinearRules()};
  return (*all)[static_cast<int>(stage)];
}

std::string DescribeSpec(Stage stage) {
  std::string text;
  for (const SpecRule& r : SpecRules(stage)) {
    std::vector<std::string> ops;
    for (int i = 0; i < kNumOps; ++i) {
      if (r.ops.test(i)) ops.push_back(OpName(static_cast<Op>(i)));
    }
    absl::StrAppend(&text, r.name, ": ", absl::StrJoin(ops, "|"), "  ", r.says, "\n");
  }
  return text;
}

bool SpecEnabled() {
  const char* env = std::getenv("SPEC");
  return env == nullptr || std::string(env) != "0";
}

absl::Status CheckSpecAlways(const UOpRef& root, Stage stage) {
  const std::vector<const UOp*> order = Toposort(root);
  const std::vector<SpecRule>& rules = SpecRules(stage);
  for (const UOp* n : order) {
    bool accepted = false;
    std::vector<std::string> candidates;
    for (const SpecRule& r : rules) {
      if (!r.ops.test(static_cast<size_t>(n->op()))) continue;
      if (r.accepts(*n)) {
        accepted = true;
        break;
      }
      candidates.push_back(absl::StrCat(r.name, " (", r.says, ")"));
    }
    if (accepted) continue;
    if (candidates.empty()) return Refuse(stage, *n, absl::StrCat("no rule accepts ", OpName(n->op())));
    return Refuse(stage, *n, absl::StrCat("refused by ", absl::StrJoin(candidates, ", ")));
  }
  return CheckWhole(root, order, stage);
}

absl::Status CheckSpec(const UOpRef& root, Stage stage) {
  return SpecEnabled() ? CheckSpecAlways(root, stage) : absl::OkStatus();
}

}  // namespace understudy::uop
