// SPDX-License-Identifier: Apache-2.0
// The operations in the element types that their own vectors do not have (tests/data/ops/make_typed.py), on REF.
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

using vectors::Case;
using vectors::Family;

struct Job {
  const Family* family;
  Case c;
};
void PrintTo(const Job& j, std::ostream* out) { *out << j.family->title << ": " << j.c.name; }

std::vector<Job> Jobs() {
  std::vector<Job> jobs;
  for (const Family& f : vectors::Families()) {
    if (f.file.find("/typed/") == std::string::npos) continue;
    for (Case& c : vectors::Load(f.file)) jobs.push_back({&f, std::move(c)});
  }
  return jobs;
}

class Typed : public testing::TestWithParam<Job> {};
TEST_P(Typed, IsPyTorchs) { vectors::CheckOnRef(GetParam().c, *GetParam().family->calls); }
INSTANTIATE_TEST_SUITE_P(Operations, Typed, testing::ValuesIn(Jobs()),
                         [](const auto& info) { return vectors::TestName(info.param.c, info.index); });

}  // namespace
}  // namespace understudy
