// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/sizes.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {

absl::StatusOr<UOpRef> Unbind(const UOpRef& root, VariableValues* values) {
  std::map<std::string, const UOp*> known;
  std::vector<const UOp*> vars;
  uop::SubstitutionMap map;
  for (const UOp* n : uop::Toposort(root)) {
    if (n->op() == Op::kVar) {
      const auto& var = n->arg_as<VarArg>();
      const auto [it, fresh] = known.emplace(var.name, n);
      if (!fresh && it->second != n) {
        const auto& other = it->second->arg_as<VarArg>();
        return absl::InvalidArgumentError(absl::StrCat("variable ", var.name, " is [", other.min, ", ",
                                                       other.max, "] and [", var.min, ", ", var.max,
                                                       "] in one run, expected one range"));
      }
      vars.push_back(n);
    }
    if (n->op() != Op::kBind) continue;
    const std::string& name = n->src(0)->arg_as<VarArg>().name;
    const int64_t value = n->src(1)->const_int();
    const auto [it, fresh] = values->emplace(name, value);
    if (!fresh && it->second != value) {
      return absl::InvalidArgumentError(absl::StrCat("variable ", name, " is bound to ", it->second,
                                                     " and to ", value, " in one run, expected one value"));
    }
    map[UOpRef(n)] = UOpRef(n->src(0));
  }
  for (const UOp* var : vars) {
    const auto& v = var->arg_as<VarArg>();
    if (values->contains(v.name)) continue;
    return absl::FailedPreconditionError(absl::StrCat("variable ", v.name, " has no value, expected one of [",
                                                      v.min, ", ", v.max, "] by Bind"));
  }
  return map.empty() ? root : uop::Substitute(root, map);
}

absl::Status CheckSizes(const UOpRef& root) {
  for (const UOp* n : uop::Toposort(root)) {
    if (n->size_info() != nullptr && !n->size_info()->error.ok()) return n->size_info()->error;
  }
  return absl::OkStatus();
}

UOpRef AxisRange(const UOp& value, size_t axis, int64_t id, AxisKind kind) {
  const int64_t room = value.shape()[axis];
  const UOpRef length = uop::LengthOf(UOpRef(&value), axis);
  if (length->IsConst()) return room == 1 ? UOpRef() : uop::Range(room, id, kind);
  const bool fits = uop::LimitsOf(length).hi <= room;
  return uop::Range(fits ? length : uop::Min(length, uop::IndexConst(room)), id, kind);
}

std::vector<std::string> VariableNames(const UOpRef& root) {
  std::set<std::string> names;
  for (const UOpRef& v : uop::NodesOf(root, Op::kVar)) names.insert(v->arg_as<VarArg>().name);
  return {names.begin(), names.end()};
}

absl::StatusOr<std::vector<int64_t>> ValuesOf(const std::vector<std::string>& names,
                                              const VariableValues& values) {
  std::vector<int64_t> out;
  for (const std::string& name : names) {
    const auto it = values.find(name);
    if (it == values.end())
      return absl::FailedPreconditionError(absl::StrCat("variable ", name, " has no value in this run"));
    out.push_back(it->second);
  }
  return out;
}

}  // namespace understudy
