// SPDX-License-Identifier: Apache-2.0
// `understudy trace`: a kernel graph after each stage of lowering, and the code that it becomes.

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/aarch64/aarch64.h"
#include "src/render/c_text.h"
#include "src/render/ptx.h"
#include "src/render/render.h"
#include "src/render/x86_64/x86_64.h"
#include "src/runtime/null/kernel_cost.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/fusion_trace.h"

ABSL_FLAG(std::string, target, "host",
          "trace: the target: host, gfx1100 or a compute capability (sm_90), the languages c, opencl, hip or "
          "cuda, or "
          "our own assembly of x86-64 (AVX2), x86-64-v2 (SSE4.1) or aarch64");
ABSL_FLAG(std::string, choices, "heuristic",
          "trace: 'heuristic', 'none', or a list as in 'upcast(0,4) local(1,8)'");
ABSL_FLAG(std::string, stage, "", "trace: print this stage only");
ABSL_FLAG(bool, fusion, false, "trace: what the scheduler stores and fuses of a call, and why");
ABSL_FLAG(bool, list_choices, false, "trace: list the legal next choices instead");

namespace understudy::cli {
namespace {

using namespace uop::expr;  // NOLINT

// What is traced when no file is named: C = A B of 64x64.
UOpRef ExampleKernel() {
  constexpr int64_t n = 64;
  const auto at = [](int64_t param, const UOpRef& index) {
    return uop::IndexOf(uop::Param(dtypes::kFloat32, param), index);
  };
  const UOpRef i = uop::Range(n, 0, AxisKind::kGlobal), j = uop::Range(n, 1, AxisKind::kGlobal),
               k = uop::Range(n, 2, AxisKind::kReduce);
  const UOpRef sum = uop::Reduce(Op::kAdd, uop::Load(at(1, i * n + k)) * uop::Load(at(2, k * n + j)), {k});
  return uop::Sink({uop::Store(at(0, i * n + j), sum, {i, j})}, "matmul");
}

}  // namespace

absl::StatusOr<int> RunTrace(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1)
    return absl::InvalidArgumentError(absl::StrCat(arguments.size(), " files given, expected at most one"));
  if (absl::GetFlag(FLAGS_fusion))
    return PrintFusion(arguments.empty() ? "" : arguments[0], absl::GetFlag(FLAGS_json));
  UOpRef kernel = ExampleKernel();
  if (!arguments.empty()) {
    US_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments[0]));
    const absl::StatusOr<UOpRef> parsed = uop::Parse(text);
    if (!parsed.ok())
      return absl::Status(parsed.status().code(),
                          absl::StrCat(arguments[0], ": ", std::string(parsed.status().message())));
    kernel = *parsed;
  }
  const std::string name = absl::GetFlag(FLAGS_target), how = absl::GetFlag(FLAGS_choices),
                    only = absl::GetFlag(FLAGS_stage);
  std::optional<CDialect> language;
  if (name == "c") language = CDialect::kC;
  if (name == "opencl") language = CDialect::kOpenCl;
  if (name == "hip") language = CDialect::kHip;
  if (name == "cuda") language = CDialect::kCuda;
  const bool x86 = name == "x86-64" || name == "x86-64-v2" || name == "x86-64-v3", a64 = name == "aarch64";
  const bool ptx = name.rfind("sm_", 0) == 0;
  if (name != "host" && name != "gfx1100" && !ptx && !language.has_value() && !x86 && !a64)
    return absl::InvalidArgumentError(
        absl::StrCat("--target=", name,
                     ": expected host, gfx1100, sm_90, c, opencl, hip, cuda, x86-64, x86-64-v2 or aarch64"));
  if (ptx) US_RETURN_IF_ERROR(NvidiaTarget(name).status());
  const Target target = language.has_value() ? CTextTarget(*language)
                        : ptx                ? *NvidiaTarget(name)
                        : x86                ? X86Target(name != "x86-64-v2")
                        : a64                ? A64Target()
                        : name == "host"     ? HostTarget()
                                             : Gfx1100Target();
  ChoiceList given;
  if (how != "heuristic" && how != "none") {
    US_ASSIGN_OR_RETURN(given, ParseChoices(how));
  }
  if (absl::GetFlag(FLAGS_list_choices)) {
    for (const Choice& c : ListChoices(kernel, target, given)) std::printf("%s\n", c.Text().c_str());
    return 0;
  }
  std::vector<std::string> stages;
  const auto show = [&](const std::string& stage, const std::string& text) {
    stages.push_back(stage);
    if (only.empty() || only == stage) std::printf("== %s ==\n%s\n", stage.c_str(), text.c_str());
  };
  US_ASSIGN_OR_RETURN(
      const LinearKernel linear,
      LowerKernel(kernel, target, how == "heuristic" ? nullptr : &given,
                  [&](const std::string& stage, const UOpRef& graph) { show(stage, uop::Print(graph)); }));
  std::string code;
  if (language.has_value()) {
    US_ASSIGN_OR_RETURN(const RenderedText rendered, RenderC(linear, *language));
    show(name, rendered.text);
    code = absl::StrCat("compiler's flags: ", rendered.flags);
  } else if (ptx) {
    US_ASSIGN_OR_RETURN(const PtxKernel rendered, RenderPtx(linear, target));
    show("ptx", rendered.text);
    code = absl::StrCat("buffers aligned to: ", rendered.alignment, " bytes");
  } else if (x86 || a64) {
    US_ASSIGN_OR_RETURN(const machine::MachineKernel compiled,
                        x86 ? RenderX86(linear, target) : RenderA64(linear));
    show("assembly", compiled.text);
    code = absl::StrCat("code: ", compiled.code.size(), " bytes\nframe: ", compiled.frame_bytes,
                        " bytes\nregisters: ", compiled.spilled, " values spilled, ", compiled.remade,
                        " constants made again, ", compiled.coalesced, " moves coalesced");
  } else {
    US_ASSIGN_OR_RETURN(const CompiledKernel compiled, RenderLlvm(linear, target));
    show("llvm", compiled.text);
    code = absl::StrCat("code: ", compiled.code.size(), " bytes");
  }
  const KernelCost cost = CostOf(kernel);
  const auto total = [](const std::map<int64_t, int64_t>& accesses) {
    int64_t sum = 0;
    for (const auto& [position, bytes] : accesses) sum += bytes;
    return sum;
  };
  show("result",
       absl::StrCat("choices: ", ChoicesText(linear.choices), "\nworkgroups: ", linear.global[0], " x ",
                    linear.global[1], " x ", linear.global[2], "\nwork-items: ", linear.local[0], " x ",
                    linear.local[1], " x ", linear.local[2], "\nlocal memory: ", linear.local_bytes,
                    " bytes\n", code, "\nflops: ", cost.flops, "\naccesses: ", total(cost.read),
                    " bytes read, ", total(cost.written), " bytes written\n"));
  if (!only.empty() && std::find(stages.begin(), stages.end(), only) == stages.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--stage=", only, ": expected one of ", absl::StrJoin(stages, ", ")));
  }
  return 0;
}

}  // namespace understudy::cli
