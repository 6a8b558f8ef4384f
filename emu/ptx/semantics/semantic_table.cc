// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/semantic_table.h"

#include <cstdlib>

namespace understudy::emu::ptx {

HostArch ChosenArch() {
#if defined(__x86_64__)
  const char* choice = std::getenv("US_SEMANTICS_ARCH");
  const std::string wanted = choice == nullptr ? "" : choice;
  if (wanted == "baseline") return HostArch::kBaseline;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return HostArch::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 && wanted != "avx2" ? HostArch::kAvx512 : HostArch::kAvx2;
#else
  return HostArch::kBaseline;
#endif
}

SemanticTable::SemanticTable(const SemanticRow* const rows[3], int count)
    : rows_(rows[static_cast<int>(ChosenArch())]), count_(count) {
  for (const SemanticRow& row : *this) by_name_.emplace(row.name, &row);
}

}  // namespace understudy::emu::ptx
