// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/codegen.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/decompose.h"
#include "src/codegen/stages.h"
#include "src/codegen/wide_int.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

absl::Status CheckKernel(const UOpRef& kernel) {
  US_RETURN_IF_ERROR(RangesOf(kernel).status());
  std::map<int64_t, const UOp*> params;
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->dtype().lanes != 1)
      return absl::UnimplementedError(
          absl::StrCat(OpName(n->op()), " of ", n->dtype().Name(), " in a kernel graph; expected scalars"));
    switch (n->op()) {
      case Op::kParam: {
        if (!std::holds_alternative<int64_t>(n->arg()))
          return absl::InvalidArgumentError("PARAM with a shape in a kernel");
        const auto [it, fresh] = params.emplace(n->arg_as<int64_t>(), n);
        if (!fresh && it->second != n)
          return absl::InvalidArgumentError(absl::StrCat("PARAM ", it->first, " has two types"));
        break;
      }
      case Op::kIndex:
        if (n->src(0)->op() != Op::kParam)
          return absl::InvalidArgumentError(
              absl::StrCat("INDEX of ", OpName(n->src(0)->op()), ", expected PARAM"));
        break;
      case Op::kLoad:
        if (n->num_src() != 1 || n->src(0)->op() != Op::kIndex)
          return absl::InvalidArgumentError("LOAD, expected of one INDEX");
        break;
      case Op::kConst:
      case Op::kVar:
      case Op::kRange:
      case Op::kStore:
      case Op::kReduce:
      case Op::kSink:
        break;
      default:
        if (!IsAlu(n->op()))
          return absl::InvalidArgumentError(absl::StrCat(OpName(n->op()), " has no place in a kernel graph"));
    }
  }
  return absl::OkStatus();
}

void Describe(const UOpRef& kernel, LinearKernel* out) {
  std::map<int64_t, KernelParam> params;
  std::map<std::string, VarArg> vars;
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() == Op::kParam)
      params[n->arg_as<int64_t>()] = {n->arg_as<int64_t>(), n->dtype().Element(), false, false};
    if (n->op() == Op::kVar) vars[n->arg_as<VarArg>().name] = n->arg_as<VarArg>();
  }
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() != Op::kLoad && n->op() != Op::kStore) continue;
    KernelParam& p = params[n->src(0)->src(0)->arg_as<int64_t>()];
    (n->op() == Op::kLoad ? p.read : p.written) = true;
  }
  for (const auto& [position, p] : params) out->params.push_back(p);
  for (const auto& [name, v] : vars) out->vars.push_back(v);
}

absl::StatusOr<LinearKernel> Lower(const UOpRef& kernel, const Target& target, const ChoiceList* choices,
                                   const StageObserver& observer) {
  US_RETURN_IF_ERROR(CheckKernel(kernel));
  US_RETURN_IF_ERROR(uop::CheckSpec(kernel, uop::Stage::kKernel));
  LinearKernel out;
  if (const auto* arg = std::get_if<KernelArg>(&kernel->arg())) out.name = arg->name;
  if (out.name.empty()) out.name = "kernel";
  Describe(kernel, &out);
  UOpRef graph = kernel;
  const auto stage = [&](const char* name, UOpRef next) {
    graph = std::move(next);
    if (observer) observer(name, graph);
  };
  stage("kernel", kernel);
  out.choices = choices == nullptr ? HeuristicChoices(kernel, target) : *choices;
  US_ASSIGN_OR_RETURN(UOpRef chosen, ApplyChoices(graph, target, out.choices));
  for (const Choice& c : out.choices) {
    if (c.kind != ChoiceKind::kStream) continue;
    for (KernelParam& p : out.params) p.streamed |= p.position == c.amount;
  }
  stage("choices", std::move(chosen));
  stage("expand", ExpandVector(ExpandUpcasts(graph)));
  stage("simplify", SimplifyIndices(graph));
  US_ASSIGN_OR_RETURN(UOpRef grouped, LowerGroups(graph, target));
  stage("group", std::move(grouped));
  US_RETURN_IF_ERROR(uop::CheckSpec(graph, uop::Stage::kExpanded));
  stage("reduce", LowerReduces(graph));
  stage("coalesce", CoalesceMemory(graph, target));
  Dimensions dims;
  US_ASSIGN_OR_RETURN(UOpRef placed, AssignDimensions(graph, target, &dims));
  stage("dimensions", std::move(placed));
  stage("index", LowerIndices(graph));
  if (LacksWideInts(target)) US_RETURN_IF_ERROR(CheckWideInts(graph));
  stage("decompose", Decompose(graph, target));
  US_RETURN_IF_ERROR(uop::CheckSpec(graph, uop::Stage::kDecomposed));
  US_ASSIGN_OR_RETURN(out.ops, Linearize(graph));
  stage("linearize", uop::Sink(out.ops, out.name));
  US_RETURN_IF_ERROR(uop::CheckSpec(graph, uop::Stage::kLinear));
  out.global = dims.global;
  out.local = dims.local;
  for (const UOpRef& n : out.ops) {
    if (n->op() == Op::kDefineLocal)
      out.local_bytes +=
          static_cast<int64_t>(AlignUp(n->arg_as<std::vector<int64_t>>()[1] * n->dtype().ScalarBytes(), 16));
  }
  return out;
}

}  // namespace

absl::StatusOr<LinearKernel> LowerKernel(const UOpRef& kernel, const Target& target,
                                         const ChoiceList* choices, const StageObserver& observer) {
  absl::StatusOr<LinearKernel> out = Lower(kernel, target, choices, observer);
  if (out.ok()) return out;
  std::string name = "kernel";
  if (const auto* arg = std::get_if<KernelArg>(&kernel->arg())) name = absl::StrCat("kernel ", arg->name);
  return absl::Status(out.status().code(), absl::StrCat(name, ": ", std::string(out.status().message())));
}

}  // namespace understudy
