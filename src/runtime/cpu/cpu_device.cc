// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cpu/cpu_device.h"

#include <chrono>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/graph.h"

namespace understudy {
namespace {

using KernelFunction = void (*)(void* const* buffers, const int64_t* vars, int64_t workgroup);

absl::Status FromLlvm(llvm::Error error, const std::string& what) {
  return absl::InternalError(absl::StrCat("CPU: ", what, ": ", llvm::toString(std::move(error))));
}

// The code lives as long as the program.
class CpuProgram : public Program {
 public:
  static absl::StatusOr<std::unique_ptr<Program>> Create(CompiledKernel kernel) {
    // Code may come from another process, before this one has compiled anything.
    [[maybe_unused]] static const bool kReady =
        !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
    auto program = std::make_unique<CpuProgram>();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return FromLlvm(jit.takeError(), "creating the JIT");
    program->jit_ = std::move(*jit);
    const llvm::StringRef bytes(reinterpret_cast<const char*>(kernel.code.data()), kernel.code.size());
    if (llvm::Error e =
            program->jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, kernel.name)))
      return FromLlvm(std::move(e), "loading " + kernel.name);
    auto symbol = program->jit_->lookup(kernel.name);
    if (!symbol) return FromLlvm(symbol.takeError(), "linking " + kernel.name);
    program->function_ = symbol->toPtr<KernelFunction>();
    program->kernel_ = std::move(kernel);
    program->kernel_.code.clear();
    return std::unique_ptr<Program>(std::move(program));
  }

  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  const CompiledKernel& kernel() const { return kernel_; }
  KernelFunction function() const { return function_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  KernelFunction function_ = nullptr;
  CompiledKernel kernel_;
};

absl::Status CheckCounts(const CompiledKernel& k, size_t buffers, size_t vars) {
  const size_t needed = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (buffers < needed) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", buffers, " buffers, expected ", needed));
  }
  if (vars != k.vars.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", vars, " variables, expected ", k.vars.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckVariable(const CompiledKernel& k, size_t i, int64_t value) {
  const VarArg& v = k.vars[i];
  if (value >= v.min && value <= v.max) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("kernel ", k.name, ": variable ", v.name, " = ", value,
                                            ", expected [", v.min, ", ", v.max, "]"));
}

}  // namespace

// Pointers and values of all launches, written where they change.
class CpuGraph : public CommandGraph {
 public:
  static absl::StatusOr<std::unique_ptr<CommandGraph>> Create(CpuDevice& device, GraphPlan plan) {
    std::unique_ptr<CpuGraph> out(new CpuGraph(device));
    out->addresses_.resize(plan.places.size());
    out->pointers_of_.resize(plan.places.size());
    out->values_.resize(static_cast<size_t>(plan.num_vars));
    out->uses_.resize(static_cast<size_t>(plan.num_vars));
    out->launches_.resize(plan.launches.size());
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const GraphLaunch& launch = plan.launches[i];
      auto* cpu = dynamic_cast<CpuProgram*>(launch.program.get());
      if (cpu == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("CPU: program ", launch.program->name(), " is another device's"));
      }
      const CompiledKernel& k = cpu->kernel();
      US_RETURN_IF_ERROR(CheckCounts(k, launch.places.size(), launch.vars.size()));
      Launch& to = out->launches_[i];
      to.function = cpu->function();
      to.workgroups = k.global[0];
      to.pointers.resize(launch.places.size());
      to.vars.resize(launch.vars.size());
      for (size_t p = 0; p < launch.places.size(); ++p)
        out->pointers_of_[static_cast<size_t>(launch.places[p])].push_back(&to.pointers[p]);
      for (size_t v = 0; v < launch.vars.size(); ++v)
        out->uses_[static_cast<size_t>(launch.vars[v])].push_back({&k, v, &to.vars[v]});
      to.run = [&to](int64_t workgroup) { to.function(to.pointers.data(), to.vars.data(), workgroup); };
    }
    out->plan_ = std::move(plan);
    return out;
  }

  absl::Status Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) override {
    US_CHECK(places.size() == addresses_.size() && vars.size() == values_.size())
        << "a replay of another plan";
    for (size_t i = 0; i < vars.size(); ++i) {
      if (seen_ && values_[i] == vars[i]) continue;
      for (const Use& use : uses_[i]) US_RETURN_IF_ERROR(CheckVariable(*use.kernel, use.number, vars[i]));
      for (const Use& use : uses_[i]) *use.value = vars[i];
      values_[i] = vars[i];
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (seen_ && addresses_[i] == places[i].address) continue;
      US_RETURN_IF_ERROR(device_.CheckRange(places[i], plan_.places[i].bytes));
      for (void** pointer : pointers_of_[i]) *pointer = reinterpret_cast<void*>(places[i].address);
      addresses_[i] = places[i].address;
    }
    seen_ = true;
    for (Launch& launch : launches_) {
      if (launch.workgroups == 1)
        launch.function(launch.pointers.data(), launch.vars.data(), 0);
      else
        device_.pool().For(launch.workgroups, launch.run);
    }
    return absl::OkStatus();
  }

 private:
  struct Launch {
    KernelFunction function = nullptr;
    int64_t workgroups = 1;
    std::vector<void*> pointers;
    std::vector<int64_t> vars;
    std::function<void(int64_t)> run;
  };
  struct Use {
    const CompiledKernel* kernel;
    size_t number;
    int64_t* value;
  };

  explicit CpuGraph(CpuDevice& device) : device_(device) {}
  CpuDevice& device_;
  GraphPlan plan_;  // keeps the programs
  bool seen_ = false;
  std::vector<uint64_t> addresses_;
  std::vector<int64_t> values_;
  std::vector<std::vector<void**>> pointers_of_;
  std::vector<std::vector<Use>> uses_;
  std::vector<Launch> launches_;
};

absl::StatusOr<std::unique_ptr<CommandGraph>> CpuDevice::MakeGraph(GraphPlan plan) {
  US_RETURN_IF_ERROR(plan.Check());
  return CpuGraph::Create(*this, std::move(plan));
}

WorkerPool& CpuDevice::pool() {
  std::call_once(make_pool_, [&] { pool_ = std::make_unique<WorkerPool>(target_.threads); });
  return *pool_;
}

// Freed memory that is kept: a large allocation costs the host a page fault a page.
constexpr size_t kCacheLimit = size_t{256} << 20;

CpuDevice::CpuDevice(std::string name) : name_(std::move(name)), target_(HostTarget()) {
  set_cache_limit(kCacheLimit);
}

absl::StatusOr<std::unique_ptr<Program>> CpuDevice::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled, RenderLlvm(linear, target_));
  return Load(std::move(compiled));
}

absl::StatusOr<std::unique_ptr<Program>> CpuDevice::Load(CompiledKernel&& compiled) {
  return CpuProgram::Create(std::move(compiled));
}

absl::Status CpuDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* cpu = dynamic_cast<CpuProgram*>(&program);
  if (cpu == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("CPU: program ", program.name(), " is another device's"));
  const CompiledKernel& k = cpu->kernel();
  US_RETURN_IF_ERROR(CheckCounts(k, buffers.size(), vars.size()));
  for (size_t i = 0; i < vars.size(); ++i) US_RETURN_IF_ERROR(CheckVariable(k, i, vars[i]));
  std::vector<void*> pointers;
  for (const Allocation& a : buffers) {
    US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
    pointers.push_back(reinterpret_cast<void*>(a.address));
  }
  const auto start = std::chrono::steady_clock::now();
  if (k.global[0] == 1) {
    cpu->function()(pointers.data(), vars.data(), 0);
  } else {
    pool().For(k.global[0],
               [&](int64_t workgroup) { cpu->function()(pointers.data(), vars.data(), workgroup); });
  }
  RecordLaunch(start, info);
  if (info != nullptr) info->grid = k.global;
  return absl::OkStatus();
}

}  // namespace understudy
