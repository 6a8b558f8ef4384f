// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of Python's pickle that torch.save writes, read as data: containers, numbers, text, names of
// globals, calls of a few of them. Nothing is imported and nothing is run: a call is kept as a node for the
// reader to judge. torch_file.cc reads nodes; nothing else should.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::state {

struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,
    kGlobal,
    kCall,
    kPersistent,
    kMark
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // kBool, kInt
  double number = 0;
  std::string text;                      // kText; kGlobal: "module.name"
  std::vector<const PickleNode*> items;  // kTuple, kList; kCall: arguments; kPersistent: its id
  std::vector<std::pair<const PickleNode*, const PickleNode*>> pairs;  // kDict
  size_t offset = 0;                                                   // of the opcode that made it
};
// Owns the nodes. A container may hold itself.
struct Pickle {
  std::vector<std::unique_ptr<PickleNode>> nodes;
  const PickleNode* root = nullptr;
};

// InvalidArgument (opcode and offset): a stack that is too short, numbers and text beyond the end, a missing
// STOP. Unimplemented: opcodes and protocols that torch.save does not write, globals that are not in the list
// of known ones.
absl::StatusOr<Pickle> ReadPickle(absl::Span<const uint8_t> bytes);

}  // namespace understudy::state
