// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where variables lie: shared memory of each kernel, .param and .local space of each function, the parameter
// block of a kernel. Computed when a program is bound.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

// Offsets of variables one after the other, each aligned; *end is moved behind the last.
std::vector<int64_t> PlaceVariables(const std::vector<Variable>& variables, Space space, uint64_t* end);

// Who calls whom and which shared variables are named where.
struct CallGraph {
  struct Node {
    std::set<int> callees;
    bool calls_indirectly = false, moves_stack = false;
    std::set<std::pair<int, int>> shared;  // function (-1: the module), variable
  };
  std::vector<Node> nodes;  // by function
  std::set<int> address_taken;

  explicit CallGraph(const Module& module);
  // Functions that `function` can reach, itself included.
  std::set<int> Reach(int function) const;
};

// The function that an alias stands for, else the function itself.
int ResolveAlias(const Module& module, int function);

// Shared memory. A variable has one address in all kernels that use it; variables that no kernel uses
// together may share theirs.
struct SharedLayout {
  std::map<std::pair<int, int>, uint64_t> offsets;
  std::vector<uint64_t> kernel_bytes;              // by function; 0 of others
  std::vector<uint64_t> kernel_dynamic_alignment;  // of the extern variables that the kernel can name
};
SharedLayout LayOutShared(const Module& module, const CallGraph& graph);

// Bytes of local memory that calls from each entry can need (`frame_bytes` by function), ~0 where open.
uint64_t StackBytes(const CallGraph& graph, int function, const std::vector<uint64_t>& frame_bytes);

}  // namespace understudy::emu::ptx
