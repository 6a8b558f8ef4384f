// SPDX-License-Identifier: Apache-2.0
// The `understudy` program: finds the command, parses its flags, runs it.

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/command.h"

namespace understudy::cli {
namespace {

constexpr Command kCommands[] = {
    {"demo", "run tensors, a training run, OpenCL kernels and a fault on an emulated GPU",
     R"(usage: understudy demo [--json]

Runs without a GPU and prints four tables:
  1. tensor programs on the CPU and on the mock AMD device (driver, queue, packets, emulator), compared with the
     reference evaluator: kernels, packets, wave instructions, milliseconds, largest error in ulp;
  2. a small network that learns the handwritten digits data set on the mock AMD device;
  3. OpenCL C kernels that another compiler made, through the same queue, compared with the same source on the host;
  4. a kernel with a wild pointer: the fault report, recovery in the same process, and a right result.

  --json           one JSON object instead of tables
  --epochs=N       training epochs of table 2 (default 12)
Exit code: 0 when every result is right, 1 when one is not, 2 on an error.
)",
     RunDemo},
    {"conform", "run instruction vectors and say which agree",
     R"(usage: understudy conform [--gfx=NAME] [--json] [--verbose] FILE...

Runs each vector (JSON lines in the format of tests/data/conformance/amd/state.jsonl) on the emulator and prints the
counts of passes, differences and refusals, then each difference with register, lane, expected and computed value and
the disassembly of the program.

  --gfx=NAME       only vectors of this ISA (default: all; an ISA that the emulator lacks counts as refused)
  --json           JSON instead of a table
  --verbose        also list the passes
Exit code: 0 when no vector differs, 1 when one does, 2 on an error.
)",
     RunConform},
    {"disasm", "disassemble a code object or raw machine code",
     R"(usage: understudy disasm [--gfx=NAME] [--json] FILE

Prints each instruction of a code object's kernels (or of a raw file) with its offset, bytes and text.

  --gfx=NAME       the ISA of a raw file (default gfx1100); a code object names its own
  --json           JSON instead of text
Exit code: 0, or 2 on an error. Bytes that are no instruction are listed as such, with the reason.
)",
     RunDisasm},
    {"trace", "print a kernel graph after each stage of lowering",
     R"(usage: understudy trace [--target=NAME] [--choices=LIST] [--stage=NAME] [FILE]

Lowers the kernel graph in FILE (as graphs print; without FILE a 64x64x64 matmul) and prints it after each stage:
kernel, choices, expand, simplify, group, reduce, coalesce, dimensions, index, decompose, linearize, llvm, result.

  --target=NAME    host (default) or gfx1100
  --choices=LIST   heuristic (default), none, or a list such as 'vectorize(1,4) upcast(0,4) unroll(0,8) local(0,8)'
  --stage=NAME     only this stage
  --list_choices   instead: the choices that are legal after those given
Exit code: 0, or 2 on an error.
)",
     RunTrace},
};

void PrintHelp(FILE* out) {
  std::fprintf(out,
               "usage: understudy COMMAND [ARGUMENT...]\n\nRuns, tests and breaks GPU programs on machines "
               "that have no GPU.\n\n");
  for (const Command& c : kCommands) std::fprintf(out, "  %-10s %s\n", c.name, c.summary);
  std::fprintf(out, "  %-10s %s\n", "help", "this page, or `understudy help COMMAND`");
  std::fprintf(out, "\n`tools/understudy test` (the script) builds and runs all tests.\n");
}

const Command* Find(const std::string& name) {
  for (const Command& c : kCommands) {
    if (name == c.name) return &c;
  }
  return nullptr;
}

bool IsHelp(const char* s) {
  return !std::strcmp(s, "--help") || !std::strcmp(s, "-h") || !std::strcmp(s, "-help");
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return 2;
  }
  const bool help = !std::strcmp(argv[1], "help");
  if (IsHelp(argv[1]) || (help && argc == 2)) {
    PrintHelp(stdout);
    return 0;
  }
  const char* name = argv[help ? 2 : 1];
  const Command* command = Find(name);
  if (command == nullptr) {
    std::fprintf(stderr, "understudy: no command '%s'; `understudy help` lists them\n", name);
    return 2;
  }
  bool wants_help = help;
  for (int i = 2; i < argc; ++i) wants_help |= IsHelp(argv[i]);
  if (wants_help) {
    std::fputs(command->help, stdout);
    return 0;
  }
  absl::SetProgramUsageMessage(command->help);
  argv[1] = argv[0];
  const std::vector<char*> positional = absl::ParseCommandLine(argc - 1, argv + 1);
  const absl::StatusOr<int> code = command->run({positional.begin() + 1, positional.end()});
  if (!code.ok()) {
    std::fflush(stdout);
    std::fprintf(stderr, "understudy %s: %s\n", command->name, std::string(code.status().message()).c_str());
    return 2;
  }
  return *code;
}

}  // namespace
}  // namespace understudy::cli

int main(int argc, char** argv) { return understudy::cli::Main(argc, argv); }
