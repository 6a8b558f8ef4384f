// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the operations' names in tests/data/tensor_families mean as calls. One table for all families: the
// tests of a family differ in their data only.

#include "tests/src/tensor/vectors.h"

namespace understudy::vectors {

const Calls& FamilyCalls();

}  // namespace understudy::vectors
