// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the operations' names in the test vectors mean as calls, one table a family. The vector tests, the
// tests of element types and the table of docs/ops.md read them; an operation that is in none of them is in
// none of those.

#include <string>
#include <vector>

#include "tests/src/tensor/nn_args.h"
#include "tests/src/tensor/vectors.h"

namespace understudy::vectors {

const Calls& AttentionCalls();
const Calls& ConvCalls();
const Calls& CoreCalls();  // the other methods of Tensor, and Where
const Calls& DecompositionCalls();
const Calls& ElementwiseCalls();
const Calls& EmbeddingCalls();
const Calls& FamilyCalls();  // reductions, scans, gather and scatter, sorting, creation
const Calls& IndexingCalls();
const Calls& InterpolateCalls();
const Calls& LinalgCalls();
const Calls& LossCalls();
const Calls& MovementCalls();
const Calls& NormCalls();
const Calls& PoolCalls();
const Calls& RandomCalls();
const Calls& SpecialCalls();
const Calls& ViewCalls();  // movement as methods of Tensor, writing in place

// A file of vectors and the table that its names are found in.
struct Family {
  std::string title;  // for people
  std::string file;   // repository-relative
  const Calls* calls;
};
const std::vector<Family>& Families();

}  // namespace understudy::vectors
