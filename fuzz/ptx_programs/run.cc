// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/run.h"

#include <cstring>

#include "fuzz/program_tree/reduce.h"
#include "src/base/status.h"

namespace understudy::ptx_programs {

using emu::ptx::conform::Backend;
using emu::ptx::conform::Launch;
using emu::ptx::conform::Param;

absl::StatusOr<ProgramData> RunProgram(const Program& program, Backend& backend) {
  ProgramData data = MakeProgramData(program);
  Launch launch;
  launch.ptx = Text(program);
  launch.entry = "k";
  launch.grid = {program.grid, 1, 1};
  launch.block = {program.block[0], program.block[1], program.block[2]};
  launch.shared_bytes = program.dynamic_shared;
  std::vector<uint32_t>* const buffers[] = {&data.in, &data.out, &data.mem};
  for (const std::vector<uint32_t>* words : buffers) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(words->data());
    launch.params.push_back(Param::Buffer({bytes, bytes + words->size() * 4}));
  }
  US_RETURN_IF_ERROR(backend.Run(&launch));
  for (size_t k = 0; k < 3; ++k)
    std::memcpy(buffers[k]->data(), launch.params[k].bytes.data(), launch.params[k].bytes.size());
  return data;
}

std::string Disagreement(const Program& program, const absl::StatusOr<ProgramData>& got,
                         const absl::StatusOr<ProgramData>& want) {
  if (!got.ok()) return got.status().ToString();
  if (!want.ok()) return "the other side: " + want.status().ToString();
  return FirstDifference(program, *got, *want);
}

Program ReduceProgram(const Program& program, int tries, Backend& got, Backend& want) {
  Program candidate = program;
  candidate.nodes = programs::ReduceNodes(program.nodes, tries, [&](const std::vector<Node>& nodes) {
    candidate.nodes = nodes;
    const absl::StatusOr<ProgramData> a = RunProgram(candidate, got);
    // A candidate that is no program (a function that is called was dropped) says nothing.
    if (absl::IsInvalidArgument(a.status())) return false;
    const absl::StatusOr<ProgramData> b = RunProgram(candidate, want);
    return !absl::IsInvalidArgument(b.status()) && !Disagreement(candidate, a, b).empty();
  });
  return candidate;
}

}  // namespace understudy::ptx_programs
