// SPDX-License-Identifier: Apache-2.0
// One family of operations against PyTorch's vectors: values, shapes, types and gradients.
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

const vectors::Calls& Calls() { return vectors::FamilyCalls(); }
UNDERSTUDY_VECTOR_TESTS(FamilyTest, FAMILY_DATA, Calls);

}  // namespace
}  // namespace understudy
