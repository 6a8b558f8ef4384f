// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random kernel graphs with their inputs, and two ways to run them; used by the differential tests of codegen
// and of the devices. One seed gives one kernel.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/codegen/choices.h"
#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy::test {

struct KernelOptions {
  bool transcendental = false;  // EXP2, LOG2 and SIN may occur
  bool reduce = true;
};

struct RandomKernel {
  UOpRef kernel;
  std::vector<DType> dtypes;                // by PARAM position; 0 is the output
  std::vector<std::vector<uint8_t>> bytes;  // initial contents
};
RandomKernel MakeRandomKernel(uint64_t seed, const KernelOptions& options = {});

// The first seed and the one past the last: 1 to `count`, or what RANDOM_KERNELS=first,count in the
// environment says.
std::pair<uint64_t, uint64_t> RandomSeeds(uint64_t count);

// Sums and products of floats depend on their order.
bool OrderMatters(const UOpRef& kernel);

// The target, as if its arithmetic had no 64-bit integers.
inline Target WithoutWideInts(Target target) {
  const ScalarSet all = target.arithmetic;
  target.arithmetic = {};
  for (int i = 0; i < kNumScalars; ++i) {
    const auto s = static_cast<Scalar>(i);
    if (s != Scalar::kInt64 && s != Scalar::kUInt64 && all.Has(s)) target.arithmetic.Add(s);
  }
  return target;
}

// Up to `count` choices, each drawn among those that are legal after the ones before.
ChoiceList RandomChoices(const UOpRef& kernel, const Target& target, uint64_t seed, int count,
                         bool allow_group);

// The output buffer's bytes after a run on `device`.
absl::StatusOr<std::vector<uint8_t>> RunKernel(Device& device, const RandomKernel& kernel,
                                               const ChoiceList* choices);

// Empty when equal; every NaN equals every NaN. Otherwise names the first element that differs.
std::string Difference(DType type, const std::vector<uint8_t>& expected, const std::vector<uint8_t>& got);

}  // namespace understudy::test
