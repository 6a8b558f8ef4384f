// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/layout.h"

#include <algorithm>
#include <functional>

#include "src/base/bits.h"

namespace understudy::emu::ptx {
namespace {

void WalkOperands(const std::vector<Operand>& operands, const std::function<void(const Operand&)>& visit) {
  for (const Operand& operand : operands) {
    visit(operand);
    WalkOperands(operand.elements, visit);
  }
}

bool IsDynamic(const Variable& variable) {
  return variable.linkage == Linkage::kExtern || variable.size == 0;
}

}  // namespace

std::vector<int64_t> PlaceVariables(const std::vector<Variable>& variables, Space space, uint64_t* end) {
  std::vector<int64_t> offsets(variables.size(), -1);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].space != space) continue;
    *end = AlignUp(*end, std::max<uint64_t>(variables[i].alignment, 1));
    offsets[i] = static_cast<int64_t>(*end);
    *end += variables[i].size;
  }
  return offsets;
}

int ResolveAlias(const Module& module, int function) {
  for (int hops = 0; hops < 16; ++hops) {
    const std::string& name = module.functions[static_cast<size_t>(function)].alias_of;
    if (name.empty()) break;
    for (size_t i = 0; i < module.functions.size(); ++i)
      if (module.functions[i].name == name) function = static_cast<int>(i);
  }
  return function;
}

CallGraph::CallGraph(const Module& module) : nodes(module.functions.size()) {
  for (size_t f = 0; f < module.functions.size(); ++f) {
    const Function& function = module.functions[f];
    Node& node = nodes[f];
    for (const Instruction& inst : function.body) {
      if (inst.op == Op::kAlloca || inst.op == Op::kStackrestore) node.moves_stack = true;
      if (inst.op == Op::kCall) {
        bool direct = false;
        for (const Operand& operand : inst.operands) {
          if (operand.kind != Operand::Kind::kFunction) continue;
          direct = true;
          node.callees.insert(ResolveAlias(module, operand.index));
        }
        if (!direct) node.calls_indirectly = true;
      }
      WalkOperands(inst.operands, [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::kFunction && inst.op != Op::kCall)
          address_taken.insert(ResolveAlias(module, operand.index));
        const bool variable =
            operand.kind == Operand::Kind::kVariable ||
            (operand.kind == Operand::Kind::kAddress && operand.base_kind == Operand::Base::kVariable);
        if (!variable || operand.index < 0) return;
        if (operand.scope == Operand::Scope::kModule &&
            module.variables[static_cast<size_t>(operand.index)].space == Space::kShared)
          node.shared.insert({-1, operand.index});
        if (operand.scope == Operand::Scope::kFunctionLocal &&
            function.variables[static_cast<size_t>(operand.index)].space == Space::kShared)
          node.shared.insert({static_cast<int>(f), operand.index});
      });
    }
    for (const Prototype& prototype : function.prototypes)
      for (int target : prototype.targets) address_taken.insert(ResolveAlias(module, target));
  }
  for (const Variable& variable : module.variables)
    for (const Relocation& relocation : variable.relocations)
      for (size_t f = 0; f < module.functions.size(); ++f)
        if (module.functions[f].name == relocation.symbol)
          address_taken.insert(ResolveAlias(module, static_cast<int>(f)));
}

std::set<int> CallGraph::Reach(int function) const {
  std::set<int> seen{function};
  std::vector<int> todo{function};
  while (!todo.empty()) {
    const Node& node = nodes[static_cast<size_t>(todo.back())];
    todo.pop_back();
    const auto visit = [&](int callee) {
      if (seen.insert(callee).second) todo.push_back(callee);
    };
    for (int callee : node.callees) visit(callee);
    if (node.calls_indirectly)
      for (int callee : address_taken) visit(callee);
  }
  return seen;
}

SharedLayout LayOutShared(const Module& module, const CallGraph& graph) {
  SharedLayout layout;
  layout.kernel_bytes.assign(module.functions.size(), 0);
  layout.kernel_dynamic_alignment.assign(module.functions.size(), 1);
  const auto variable_of = [&](std::pair<int, int> key) -> const Variable& {
    return key.first < 0
               ? module.variables[static_cast<size_t>(key.second)]
               : module.functions[static_cast<size_t>(key.first)].variables[static_cast<size_t>(key.second)];
  };
  std::map<std::pair<int, int>, std::vector<size_t>> users;
  for (size_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].is_entry) continue;
    for (int reached : graph.Reach(static_cast<int>(f)))
      for (const auto& key : graph.nodes[static_cast<size_t>(reached)].shared) {
        const Variable& variable = variable_of(key);
        if (IsDynamic(variable))
          layout.kernel_dynamic_alignment[f] =
              std::max(layout.kernel_dynamic_alignment[f], std::max<uint64_t>(variable.alignment, 1));
        else
          users[key].push_back(f);
      }
  }
  // Those of most kernels first: fewer holes.
  std::vector<std::pair<int, int>> order;
  for (const auto& [key, kernels] : users) order.push_back(key);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return users[a].size() > users[b].size(); });
  for (const auto& key : order) {
    const Variable& variable = variable_of(key);
    uint64_t offset = 0;
    for (size_t kernel : users[key]) offset = std::max(offset, layout.kernel_bytes[kernel]);
    offset = AlignUp(offset, std::max<uint64_t>(variable.alignment, 1));
    layout.offsets[key] = offset;
    for (size_t kernel : users[key]) layout.kernel_bytes[kernel] = offset + variable.size;
  }
  return layout;
}

uint64_t StackBytes(const CallGraph& graph, int function, const std::vector<uint64_t>& frame_bytes) {
  std::vector<int> state(graph.nodes.size(), 0);  // 1: on the path
  std::vector<uint64_t> known(graph.nodes.size(), 0);
  constexpr uint64_t kOpen = ~uint64_t{0};
  std::function<uint64_t(int)> need = [&](int f) -> uint64_t {
    const size_t i = static_cast<size_t>(f);
    if (state[i] == 1) return kOpen;
    if (state[i] == 2) return known[i];
    const CallGraph::Node& node = graph.nodes[i];
    uint64_t below = 0;
    if (node.calls_indirectly || node.moves_stack) {
      below = kOpen;
    } else {
      state[i] = 1;
      for (int callee : node.callees) below = std::max(below, need(callee));
    }
    state[i] = 2;
    return known[i] = below == kOpen ? kOpen : below + frame_bytes[i];
  };
  return need(function);
}

}  // namespace understudy::emu::ptx
