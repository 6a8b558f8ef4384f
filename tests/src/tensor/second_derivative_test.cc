// SPDX-License-Identifier: Apache-2.0
// Double backward of every operation that has vectors with gradients.
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

using vectors::Case;
using vectors::Family;

struct Job {
  const Family* family;
  Case c;
};
void PrintTo(const Job& j, std::ostream* out) { *out << j.family->file << ": " << j.c.name; }

std::vector<Job> Jobs() {
  std::vector<Job> jobs;
  for (const Family& f : vectors::Families()) {
    for (Case& c : vectors::Load(f.file)) {
      if (c.has_grads) jobs.push_back({&f, std::move(c)});
    }
  }
  return jobs;
}

class SecondDerivative : public testing::TestWithParam<Job> {};
TEST_P(SecondDerivative, IsTheDifferenceOfGradients) {
  // PyTorch bounds a small variance without telling the gradient.
  if (GetParam().c.name == "gaussian_nll_small_var") GTEST_SKIP() << "the gradient is not the slope";
  // What is detached moves with the input in a difference.
  if (GetParam().c.op == "detach_product") GTEST_SKIP() << "the gradient is not the slope";
  vectors::CheckSecondDerivative(GetParam().c, *GetParam().family->calls);
}
INSTANTIATE_TEST_SUITE_P(Operations, SecondDerivative, testing::ValuesIn(Jobs()),
                         [](const auto& info) { return vectors::TestName(info.param.c, info.index); });

}  // namespace
}  // namespace understudy
