// SPDX-License-Identifier: Apache-2.0
// One file of vectors against the table of calls that it is listed with.
#include "src/base/status.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

const vectors::Calls& Calls() {
  for (const vectors::Family& f : vectors::Families()) {
    if (f.file == VECTORS) return *f.calls;
  }
  US_CHECK(false) << VECTORS << " is in no family";
}
UNDERSTUDY_VECTOR_TESTS(FileVectors, VECTORS, Calls);

}  // namespace
}  // namespace understudy
