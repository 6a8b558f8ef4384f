// SPDX-License-Identifier: Apache-2.0
// Elementwise operations and conversions in every element type against PyTorch's and NumPy's results.
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

UNDERSTUDY_VECTOR_TESTS(ElementTypes, "tests/data/ops/dtypes.json", vectors::CoreCalls);

}  // namespace
}  // namespace understudy
