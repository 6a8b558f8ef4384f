// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random expressions for property tests and fuzzers: always type-correct, decoded from a list of choices so
// that a shorter list or smaller numbers give a smaller expression (RapidCheck shrinks lists well). An
// exhausted list gives leaves.

#include <cstdint>
#include <random>
#include <vector>

#include "src/symbolic/bounds.h"
#include "src/symbolic/simplify.h"
#include "src/uop/uop.h"

namespace understudy::symbolic {

class Choices {
 public:
  explicit Choices(std::vector<uint16_t> data) : data_(std::move(data)) {}
  bool Empty() const { return at_ >= data_.size(); }
  // 0 <= result < n; 0 when the list is used up.
  uint32_t Pick(uint32_t n) { return n <= 1 ? 0 : Next() % n; }
  uint32_t Next() { return Empty() ? 0 : data_[at_++]; }

 private:
  std::vector<uint16_t> data_;
  size_t at_ = 0;
};

std::vector<uint16_t> RandomChoices(std::mt19937_64& rng, size_t n);

// A constant of the type: small numbers and the type's edges come up most.
UOpRef AnyConst(Choices& c, DType type);
// A leaf: a constant, a RANGE (index), or a VAR of the type, of small or full range.
UOpRef AnyLeaf(Choices& c, DType type);
// An integer, bool or (with `floats`) float expression of the type.
UOpRef AnyExpression(Choices& c, DType type, int depth, bool floats = false);
// Index arithmetic as the compiler builds it: sums, products, divisions of RANGEs by constants.
UOpRef AnyIndexExpression(Choices& c, int depth);
DType AnyIntType(Choices& c);

// Leaves (VAR, RANGE) under the roots.
std::vector<UOpRef> LeavesOf(const std::vector<UOpRef>& roots);
// All assignments of the leaves when there are at most `most`, else `most` assignments with edges and random
// values.
std::vector<Bindings> Points(const std::vector<UOpRef>& leaves, size_t most, uint64_t seed);

}  // namespace understudy::symbolic
