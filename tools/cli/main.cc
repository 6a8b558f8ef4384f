// SPDX-License-Identifier: Apache-2.0
// The `understudy` program: finds the command, parses its flags, runs it.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/command.h"

namespace understudy::cli {
namespace {

const Command kCommands[] = {
    {"demo",
     "run tensors, a training run, OpenCL kernels and a fault on an emulated GPU",
     R"(usage: understudy demo [--gpu=NAME] [--json]

Runs without a GPU and prints four tables:
  1. tensor programs on the CPU and on the mock AMD device (driver, queue, packets, emulator), compared with the
     reference evaluator: kernels, packets, wave instructions, milliseconds, largest error in ulp;
  2. a small network that learns the handwritten digits data set on the mock AMD device;
  3. OpenCL C kernels that another compiler made, through the same queue, compared with the same source on the host;
  4. a kernel with a wild pointer: the fault report, recovery in the same process, and a right result.

  --gpu=NAME       the mock AMD GPU: gfx1100, gfx1150, gfx1201, gfx90a, gfx942 or gfx950 (default: what UNDERSTUDY_AMD_GPU
                   says, else gfx1100)
  --json           one JSON object instead of tables
  --epochs=N       training epochs of table 2 (default 12)
Exit code: 0 when every result is right, 1 when one is not, 2 on an error.
)",
     {"json", "epochs", "gpu"},
     RunDemo},
    {"conform",
     "run instruction vectors and say which agree",
     R"(usage: understudy conform [--gfx=NAME] [--check=NAME:MODE,...] [--json] [--verbose] FILE...
       understudy conform --record [--samples=N] [--emulated] -o OUT.jsonl IN.jsonl
       understudy conform --list [--gfx=NAME|ptx] [--json] [--verbose] [--markdown]

Runs each vector of the files and prints the counts of passes, differences and refusals, and each difference with its
place, expected and computed value. What a file holds is seen by its first line:

AMD vectors (JSON lines as in tests/data/conformance/amd/state.jsonl) run on the emulator; a difference comes with register,
lane and the disassembly of the program.

  --gfx=NAME       only vectors of this ISA (default: all; an ISA that the emulator lacks counts as refused)
  --check=LIST     strict checks on: waits, hazards, uninit, races or all, each with :warn (reported) or :fail (faults)

PTX vectors (JSON lines as in tests/data/conformance/ptx: instruction forms, fragments of matrix instructions, samples of
them that come from a seed, places of fragments, whole kernels and modules; also compressed by zstd) run on the emulator, or with USE_HW=1 on the first NVIDIA GPU through libcuda.so.1 (or the
library that UNDERSTUDY_LIBCUDA names); a difference comes with lane, inputs and the distance in ulp.

  --record         fills the vectors of IN with what the GPU gives (USE_HW=1): "in" where there is none, drawn by the types
                   in "st" with their edge values, and "out" (docs/recording.md)
  -o FILE          where they are written (--o=FILE)
  --samples=N      input tuples of a form that brings none (default 64)
  --emulated       from the emulator instead: the vectors are marked as no recorded truth

  --json           JSON instead of a table
  --verbose        also list the passes

With --list it runs nothing and prints what is known of every AMD opcode (per ISA and encoding), or with --gfx=ptx of every
PTX form (per family): how many are exact, approximate (with a bound) or refused, and which oracles stand behind them (LLVM MC,
recorded vectors, exact arithmetic, solver, programs).

  --verbose        also a line an opcode or form
  --markdown       the page docs/fidelity.md
Exit code: 0 when no vector differs, 1 when one does, 2 on an error.
)",
     {"gfx", "check", "json", "verbose", "list", "markdown", "record", "o", "samples", "emulated"},
     RunConform},
    {"disasm",
     "disassemble a code object or raw machine code",
     R"(usage: understudy disasm [--gfx=NAME] [--json] FILE

Prints each instruction of a code object's kernels (or of a raw file) with its offset, bytes and text, and a label
where a branch goes.

  --gfx=NAME       the ISA of a raw file (default gfx1100; gfx1150, gfx1200, gfx1201, gfx90a, gfx942, gfx950...); a code
                   object names its own
  --json           JSON instead of text
Exit code: 0, or 2 on an error. Bytes that are no instruction are listed as such, with the reason.
)",
     {"gfx", "json"},
     RunDisasm},
    {"fuzz",
     "try random programs until one goes wrong",
     R"(usage: understudy fuzz [PROPERTY...] [--time=SECONDS] [--runs=N] [--seed=S] [--jobs=N] [--json]

Properties (default: all):
  programs   random C kernels, compiled by clang-22 for every target and for the host, run on the emulator, give the
             same result bit for bit

  --time=SECONDS   end after this time (default 0: no bound)
  --runs=N         end after this many executions, kernel x target x level (default 0: no bound)
  --seed=S         the first kernel's seed (default 1); kernels are the same for the same seed
  --jobs=N         threads (default 1)
  --targets=LIST   such as gfx1100,gfx942 (default: all that the emulator runs)
  --levels=LIST    optimisation levels (default 0,1,3)
  --waves=LIST     wave sizes of RDNA targets (default 32,64)
  --keep=FOLDER    where kernels that fail are kept, reduced (default: the current folder)
  --json           JSON instead of text
clang-22 is looked for in PATH, or is what UNDERSTUDY_CLANG names. Ends at ten findings.
Exit code: 0 when nothing differs, 1 when something does, 2 on an error.
)",
     {"seed", "runs", "time", "jobs", "targets", "levels", "waves", "keep", "json"},
     RunFuzz},
    {"asm",
     "assemble machine code from text",
     R"(usage: understudy asm [--gfx=NAME] [--wave_size=N] [--output=FILE] [--json] FILE

Assembles AMD instructions in LLVM's syntax (what `understudy disasm` prints; `-` reads standard input): labels, comments
and .byte, .short, .long, .quad, .p2align. Prints each line's offset and bytes, or writes the bytes with --output.

  --gfx=NAME       the ISA: gfx1100 (default), gfx1150, gfx1200, gfx90a, gfx942, gfx950 and their kin
  --wave_size=N    lane masks are one SGPR (32, the default) or a pair (64; always on CDNA)
  --output=FILE    write raw machine code there
  --json           JSON: offsets, lines, bytes, labels; on errors line, column and message of each
Exit code: 0, 1 when lines do not assemble (all of them are listed, with the place in the line), 2 on an error.
)",
     {"gfx", "wave_size", "output", "json"},
     RunAsm},
    {"onnx",
     "print what an ONNX model consists of, and run it",
     R"(usage: understudy onnx [--inputs=random|zeros|FILE.npz] [--device=NAME] [--sizes=NAME=N,...] [--json] MODEL.onnx

Prints the inputs, outputs and operators of the model, runs it and prints the first elements of its outputs.

  --inputs=WHAT    random (default: normal floats, integers 0 and 1; always the same), zeros, or arrays by name from numpy.savez
  --device=NAME    CPU (default), REF, AMD (the mock machine) or NULL (schedules and counts only)
  --sizes=LIST     sizes of the named dimensions of made-up inputs (default 1), such as batch=2,length=16
  --json           JSON, with all elements of the outputs
Exit code: 0, or 2 on an error: a file or an operator that is refused, by name.
)",
     {"inputs", "device", "sizes", "json"},
     RunOnnx},
    {"ptx",
     "run a kernel of a PTX file, with checks for races and the like",
     R"(usage: understudy ptx [--grid=X] [--block=X] [--args=LIST] [--check=NAME:MODE,...] [--schedule=N] [--json] FILE.ptx

Runs the kernel on the emulator and prints what the checks found, the fault if there is one, and the first elements of
each buffer (docs/checks.md).

  --entry=NAME     the kernel (default: the only one of the file)
  --grid=DIM       blocks, --block=DIM threads of a block (default 32), --cluster=DIM blocks of a cluster: X, XxY, XxYxZ
  --args=LIST      parameters in order: numbers, and buffers as TYPE[N] (zeros), TYPE[N]=iota, TYPE[N]=fresh (never
                   written, as device memory is); types u8 to u64, s8 to s64, f32, f64
  --shared=N       bytes of dynamic shared memory
  --check=LIST     uninit, global (uninit with fresh buffers too), races, barriers or all, each with :warn (reported) or :fail
  --schedule=N     not 0: blocks, warps and diverged lanes take turns drawn from this seed
  --budget=N       warp instructions after which the launch counts as hung
  --json           JSON, with all elements
Exit code: 0, 1 when the launch faulted (a finding of :fail is a fault), 2 on an error.
)",
     {"entry", "grid", "block", "cluster", "args", "shared", "check", "schedule", "budget", "json"},
     RunPtx},
    {"trace",
     "print a kernel graph after each stage of lowering",
     R"(usage: understudy trace [--target=NAME] [--choices=LIST] [--stage=NAME] [FILE]
       understudy trace --fusion [--json] [FILE]

Lowers the kernel graph in FILE (as graphs print; without FILE a 64x64x64 matmul) and prints it after each stage:
kernel, choices, expand, simplify, group, reduce, coalesce, dimensions, index, decompose, linearize, llvm, result.

  --target=NAME    host (default), gfx1100, a compute capability such as sm_90; the languages c, opencl, hip or cuda;
                   x86-64, x86-64-v2 or aarch64 for our own assembly
  --choices=LIST   heuristic (default), none, or a list such as 'vectorize(1,4) upcast(0,4) unroll(0,8) local(0,8)'
  --stage=NAME     only this stage
  --list_choices   instead: the choices that are legal after those given
  --fusion         instead: schedules the call in FILE (a SINK of STOREs to PARAMs with shapes; without FILE a small
                   network) and says of every value whether it is stored, fused or kept inside of one kernel, and why,
                   with the costs that were compared (simple operations); --json for programs
Exit code: 0, or 2 on an error.
)",
     {"target", "choices", "stage", "list_choices", "fusion", "json"},
     RunTrace},
    {"tune",
     "search the optimisation choices of kernels",
     R"(usage: understudy tune [--target=NAME] [--cost=KIND] [--beam=N] [--candidates=N] [--cache=FILE] [--json] [KERNEL...]

Beam search over the legal choices (docs/search.md). A KERNEL is matmul (the default), matmul_f16, matmul_odd, conv,
softmax, reduce, elementwise or transpose, or a file with a kernel graph as graphs print (a name with a dot or a slash).
Prints cost, gain and choices without choices, with the heuristic's and with those found, and whether the values agree.

  --target=NAME         host (default), or an AMD processor, emulated: gfx1100, gfx1200, gfx942...
  --cost=KIND           measured (time), counted (an emulated GPU's instructions and cache lines; the same in every run) or
                        static (an estimate: nothing runs); by default counted on an AMD processor, else measured
  --beam=N              candidates that each step extends (default 4)
  --keep_best=N         of a step's candidates only so many run, by the static estimate (default 16; 0: all)
  --candidates=N        candidates in all (default 200)
  --depth=N             choices of a candidate (default 10)
  --time=SECONDS        of a kernel's search (default 0: no bound)
  --seed=S              1 (default): candidates in the table's order; else in an order drawn from the seed
  --jobs=N              processes that compile (default 1)
  --compile_seconds=N   of one compile (default 30), and its memory: --compile_megabytes=N (default 4096)
  --cache=FILE          where results are kept; 'off', or by default what UNDERSTUDY_CACHE says or
                        ~/.cache/understudy/search.sqlite
  --verbose             every candidate with its cost
  --json                JSON instead of a table
Exit code: 0, 1 when a kernel's values changed, 2 on an error. A compile that crashes or hangs is a failed candidate.
)",
     {"target", "cost", "beam", "keep_best", "candidates", "depth", "time", "seed", "jobs", "compile_seconds",
      "compile_megabytes", "cache", "verbose", "json"},
     RunTune},
    {"compile-worker",
     "what `tune` starts to compile its candidates in",
     R"(usage: understudy compile-worker

Takes compile jobs from descriptor 3. Started by `understudy tune` and by programs that search kernels, not by hand.
)",
     {},
     RunCompileWorkerCommand},
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

// Sets the command's flags from `words` and returns the other words. Accepts --name=value, --name value, and
// --name or
// --noname for booleans; everything after "--" is no flag. absl::ParseCommandLine would also take the flags
// of every other command, and exit with 1 on an error.
absl::StatusOr<std::vector<std::string>> ParseFlags(const Command& command,
                                                    const std::vector<std::string>& words) {
  std::vector<std::string> positional;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      positional.insert(positional.end(), words.begin() + static_cast<int64_t>(i) + 1, words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      positional.push_back(word);
      continue;
    }
    const size_t start = word[1] == '-' ? 2 : 1, equals = word.find('=');
    std::string name = word.substr(start, equals == std::string::npos ? std::string::npos : equals - start);
    const auto takes = [&command](const std::string& n) {
      return std::find(command.flags.begin(), command.flags.end(), n) != command.flags.end();
    };
    const bool negated = !takes(name) && name.rfind("no", 0) == 0 && takes(name.substr(2));
    if (negated) name = name.substr(2);
    absl::CommandLineFlag* flag = takes(name) ? absl::FindCommandLineFlag(name) : nullptr;
    const bool is_bool = flag != nullptr && flag->IsOfType<bool>();
    if (flag == nullptr || (negated && (!is_bool || equals != std::string::npos))) {
      return absl::InvalidArgumentError(
          absl::StrCat("no flag '", word, "'; see `understudy ", command.name, " --help`"));
    }
    std::string value = negated ? "false" : "true";
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (!is_bool) {
      if (i + 1 == words.size())
        return absl::InvalidArgumentError(absl::StrCat("--", name, " needs a value"));
      value = words[++i];
    }
    std::string error;
    if (!flag->ParseFrom(value, &error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=", value, " is not accepted", error.empty() ? "" : ": ", error));
    }
  }
  return positional;
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
  const absl::StatusOr<std::vector<std::string>> positional = ParseFlags(*command, {argv + 2, argv + argc});
  const absl::StatusOr<int> code =
      positional.ok() ? command->run(*positional) : absl::StatusOr<int>(positional.status());
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
