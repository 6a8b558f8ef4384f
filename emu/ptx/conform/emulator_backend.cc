// SPDX-License-Identifier: Apache-2.0
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
    std::vector<uint64_t> addresses(launch->params.size());
    std::vector<std::vector<uint8_t>> params(launch->params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      const Param& param = launch->params[i];
      if (param.is_tensor_map) continue;  // of a buffer that may come later
      params[i] = param.bytes;
      if (!param.is_buffer) continue;
      addresses[i] = runner.Upload(param.bytes.data(), param.bytes.size());
      params[i].resize(8);
      std::memcpy(params[i].data(), &addresses[i], 8);
    }
    for (size_t i = 0; i < params.size(); ++i) {
      const Param& param = launch->params[i];
      if (!param.is_tensor_map) continue;
      TensorMap map = param.map;
      map.address += addresses[param.of];
      params[i].resize(kTensorMapBytes);
      US_RETURN_IF_ERROR(EncodeTensorMap(map, params[i].data()));
    }
    US_ASSIGN_OR_RETURN(const LaunchResult result,
                        runner.RunWithBytes(launch->entry, launch->grid, launch->block, params));
    if (result.fault.kind == FaultKind::kRefused) return absl::UnimplementedError(result.fault.message);
    if (!result.ok()) return absl::AbortedError(result.fault.message);
    for (size_t i = 0; i < params.size(); ++i) {
      Param& param = launch->params[i];
      if (param.is_buffer) param.bytes = runner.Download(addresses[i], param.bytes.size());
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
