// SPDX-License-Identifier: Apache-2.0
// Records or checks PTX vectors on the GPU of this machine: what `understudy conform` does with them, in a
// binary without a compiler to carry to a machine that has the GPU.
//   ptx_record IN.jsonl OUT.jsonl [SAMPLES]   fills the vectors of IN
//   ptx_record --check FILE...                compares recorded vectors with what the GPU (USE_HW=1) or the
//   emulator
//                                             gives

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/record.h"

namespace understudy::emu::ptx::conform {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "ptx_record: %s\n", status.ToString().c_str());
  return 2;
}

int Check(Backend& backend, int files, char** paths) {
  bool all = true;
  for (int i = 0; i < files; ++i) {
    const auto vectors = LoadVectors(paths[i]);
    if (!vectors.ok()) return Fail(vectors.status());
    int counts[kVerdicts] = {};
    for (const Vector& vector : *vectors) {
      const Outcome outcome = RunVector(vector, backend);
      ++counts[static_cast<int>(outcome.verdict)];
      if (outcome.verdict == Outcome::Verdict::kPass) continue;
      all = false;
      std::printf("%s:%d: %s: %s %.300s\n", paths[i], vector.line, VerdictName(outcome.verdict),
                  vector.id.c_str(), outcome.reason.c_str());
      for (const Difference& d : outcome.first) std::printf("    %s\n", DifferenceText(d).c_str());
    }
    std::printf("%s:", paths[i]);
    for (int v = 0; v < kVerdicts; ++v)
      if (counts[v] != 0) std::printf(" %d %s", counts[v], VerdictName(static_cast<Outcome::Verdict>(v)));
    std::printf("\n");
  }
  return all ? 0 : 1;
}

int Main(int argc, char** argv) {
  const bool check = argc > 2 && std::strcmp(argv[1], "--check") == 0;
  if (argc < 3 || (!check && argc > 4)) {
    std::fprintf(stderr,
                 "usage: ptx_record IN.jsonl OUT.jsonl [SAMPLES]\n       ptx_record --check FILE...\n");
    return 2;
  }
  const auto backend = check ? ChosenBackend() : OpenDriver();
  if (!backend.ok()) return Fail(backend.status());
  std::printf("%s\n", (*backend)->name().c_str());
  if (check) return Check(**backend, argc - 2, argv + 2);
  RecordOptions options;
  if (argc == 4) options.samples = std::strtoul(argv[3], nullptr, 10);
  const auto counts = RecordFile(argv[1], argv[2], **backend, options);
  if (!counts.ok()) return Fail(counts.status());
  std::printf("%zu recorded, %zu not\n", counts->recorded, counts->errors);
  return 0;
}

}  // namespace
}  // namespace understudy::emu::ptx::conform

int main(int argc, char** argv) { return understudy::emu::ptx::conform::Main(argc, argv); }
