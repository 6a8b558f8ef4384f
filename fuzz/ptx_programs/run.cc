// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/run.h"

#include <algorithm>
#include <cstdio>
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

Program ReduceProgram(const Program& program, int tries, const std::function<bool(const Program&)>& holds) {
  Program candidate = program;
  candidate.nodes = programs::ReduceNodes(program.nodes, tries, [&](const std::vector<Node>& nodes) {
    candidate.nodes = nodes;
    return holds(candidate);
  });
  return candidate;
}

Program ReduceProgram(const Program& program, int tries, Backend& got, Backend& want) {
  return ReduceProgram(program, tries, [&](const Program& candidate) {
    const absl::StatusOr<ProgramData> a = RunProgram(candidate, got);
    // A candidate that is no program (a function that is called was dropped) says nothing.
    if (absl::IsInvalidArgument(a.status())) return false;
    const absl::StatusOr<ProgramData> b = RunProgram(candidate, want);
    return !absl::IsInvalidArgument(b.status()) && !Disagreement(candidate, a, b).empty();
  });
}

namespace {

void AddLines(const std::string& text, std::vector<Node>& out) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    Node node{text.substr(at, end + 1 - at), "", {}, false};
    const std::string& line = node.head;
    // Directives, labels and braces stay, and so does what a call or a return needs.
    const char first = line[std::min(line.find_first_not_of(' '), line.size() - 1)];
    node.removable = line.find(';') != std::string::npos && first != '.' && first != '{' && first != '}' &&
                     line.find(": .") == std::string::npos && line.find("param") == std::string::npos &&
                     line.find("call") == std::string::npos && line.compare(0, 3, "ret") != 0;
    out.push_back(std::move(node));
    at = end + 1;
  }
}

void AddNodes(const std::vector<Node>& nodes, std::vector<Node>& out) {
  for (const Node& node : nodes) {
    Node whole{"", "", {}, node.removable};
    AddLines(node.head, whole.children);
    AddNodes(node.children, whole.children);
    AddLines(node.tail, whole.children);
    out.push_back(std::move(whole));
  }
}

}  // namespace

absl::StatusOr<Program> ReadFinding(const std::string& text) {
  Program program;
  unsigned long long seed = 0;
  char kind[32] = {};
  if (std::sscanf(text.c_str(), "// seed %llu (%31[a-z]), grid %u, block %u %u %u, shared %u", &seed, kind,
                  &program.grid, &program.block[0], &program.block[1], &program.block[2],
                  &program.dynamic_shared) != 7)
    return absl::InvalidArgumentError(
        "the first line is not '// seed N (class), grid N, block N N N, shared N'");
  program.seed = seed;
  program.kind = static_cast<ProgramClass>(seed % kProgramClasses);
  const std::string end = ".address_size 64\n";
  const size_t header = text.find(end);
  program.nodes.push_back(
      {header == std::string::npos ? text : text.substr(header + end.size()), "", {}, false});
  return program;
}

Program OneNodePerLine(const Program& program) {
  Program lines = program;
  lines.nodes.clear();
  AddNodes(program.nodes, lines.nodes);
  return lines;
}

}  // namespace understudy::ptx_programs
