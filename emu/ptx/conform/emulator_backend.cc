// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/backend.h"
#include "emu/ptx/conform/ptx_runner.h"
#include "emu/ptx/semantics/find_exec.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

class Emulator : public Backend {
 public:
  explicit Emulator(const LaunchOptions& options) : options_(options) {}
  std::string name() const override { return "emulator"; }
  bool is_hardware() const override { return false; }

  absl::Status Load(const std::string& ptx) override {
    const PtxRunner runner(ptx);
    US_RETURN_IF_ERROR(runner.status());
    const Module& module = runner.program().module();
    for (const Function& function : module.functions)
      for (const Instruction& inst : function.body)
        if (const Exec exec = FindExec(inst, {&module, &function}); exec.fn == nullptr)
          return absl::UnimplementedError(absl::StrCat(function.name, ": ", inst.Name(), ": ", exec.note));
    return absl::OkStatus();
  }

  absl::Status Run(Launch* launch) override {
    PtxRunner runner(launch->ptx);
    US_RETURN_IF_ERROR(runner.status());
    auto print = runner.options.print;
    runner.options = options_;
    if (!runner.options.print) runner.options.print = print;
    runner.config.dynamic_shared_bytes = launch->shared_bytes;
    std::vector<uint64_t> params;
    for (const Param& param : launch->params) {
      uint64_t value = 0;
      if (param.is_buffer)
        value = runner.Upload(param.bytes.data(), param.bytes.size());
      else
        std::memcpy(&value, param.bytes.data(), std::min<size_t>(param.bytes.size(), 8));
      params.push_back(value);
    }
    US_ASSIGN_OR_RETURN(const LaunchResult result,
                        runner.Run(launch->entry, launch->grid, launch->block, params));
    if (result.fault.kind == FaultKind::kRefused) return absl::UnimplementedError(result.fault.message);
    if (!result.ok()) return absl::AbortedError(result.fault.message);
    for (size_t i = 0; i < params.size(); ++i) {
      Param& param = launch->params[i];
      if (param.is_buffer) param.bytes = runner.Download(params[i], param.bytes.size());
    }
    return absl::OkStatus();
  }

 private:
  LaunchOptions options_;
};

}  // namespace

std::unique_ptr<Backend> MakeEmulator(const LaunchOptions& options) {
  return std::make_unique<Emulator>(options);
}

}  // namespace understudy::emu::ptx::conform
