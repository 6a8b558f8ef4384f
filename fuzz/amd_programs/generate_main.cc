// SPDX-License-Identifier: Apache-2.0
// Prints random kernels as C text: generate_programs SEED COUNT. The kernels have the seeds SEED, SEED + 1,
// ...

#include <cstdio>
#include <cstdlib>

#include "fuzz/amd_programs/generate.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: generate_programs SEED COUNT\n");
    return 2;
  }
  const uint64_t seed = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
  std::printf("// SPDX-License-Identifier: Apache-2.0\n// Kernels %llu to %llu of the program generator.\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed + count - 1));
  for (uint64_t k = 0; k < count; ++k) {
    std::printf("%s\n", understudy::programs::Text(understudy::programs::Generate(seed + k)).c_str());
  }
  return 0;
}
