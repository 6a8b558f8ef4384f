// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/amd_device.h"

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/amd/gpu_graph.h"
#include "src/runtime/graph.h"

namespace understudy {
namespace {

class AmdProgram : public Program {
 public:
  AmdProgram(amd::AmdGpu& gpu, const amd::LoadedCode* code, amd::LoadedKernel kernel, CompiledKernel compiled)
      : gpu_(gpu), code_(code), kernel_(kernel), compiled_(std::move(compiled)) {}
  ~AmdProgram() override { gpu_.Unload(code_).IgnoreError(); }

  const std::string& name() const override { return compiled_.name; }
  const std::string& text() const override { return compiled_.text; }
  absl::Span<const uint8_t> code() const override { return compiled_.code; }
  const CompiledKernel& compiled() const { return compiled_; }
  const amd::LoadedKernel& kernel() const { return kernel_; }

 private:
  amd::AmdGpu& gpu_;
  const amd::LoadedCode* code_;
  amd::LoadedKernel kernel_;
  CompiledKernel compiled_;
};

absl::Status CheckBytes(const Allocation& a, size_t bytes) {
  if (bytes <= a.bytes) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("copy of ", bytes, " bytes in a range of ", a.bytes));
}

absl::StatusOr<amd::LaunchShape> ShapeOf(const CompiledKernel& c) {
  amd::LaunchShape shape;
  for (int i = 0; i < 3; ++i) {
    if (c.global[i] < 1 || c.global[i] > UINT32_MAX || c.local[i] < 1 || c.local[i] > UINT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", c.name, ": grid ", c.global[i], " x ", c.local[i], " in dimension ", i));
    }
    shape.grid[i] = static_cast<uint32_t>(c.global[i]);
    shape.block[i] = static_cast<uint32_t>(c.local[i]);
  }
  return shape;
}

absl::Status CheckVariable(const CompiledKernel& c, size_t i, int64_t value) {
  if (value >= c.vars[i].min && value <= c.vars[i].max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, ": variable ", c.vars[i].name, " is ",
                                                 value, ", expected ", c.vars[i].min, " to ", c.vars[i].max));
}

// Writes into the graph's arguments what differs from the replay before.
class AmdGraph : public CommandGraph {
 public:
  static absl::StatusOr<std::unique_ptr<CommandGraph>> Create(amd::AmdGpu& gpu, GraphPlan plan) {
    std::unique_ptr<AmdGraph> out(new AmdGraph);
    out->places_.resize(plan.places.size());
    out->vars_.resize(static_cast<size_t>(plan.num_vars));
    const std::vector<bool> waits = plan.Waits();
    std::vector<amd::GraphKernel> kernels;
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const GraphLaunch& launch = plan.launches[i];
      auto* p = dynamic_cast<AmdProgram*>(launch.program.get());
      if (p == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("program ", launch.program->name(), " is not of device AMD"));
      }
      const CompiledKernel& c = p->compiled();
      if (launch.vars.size() != c.vars.size()) {
        return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, " has ", c.vars.size(),
                                                       " variables, ", launch.vars.size(), " were given"));
      }
      // The renderer's ABI: addresses by position, then variables by name.
      size_t at = 0;
      for (const KernelParam& param : c.params) {
        if (param.position < 0 || static_cast<size_t>(param.position) >= launch.places.size()) {
          return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, " reads buffer ", param.position,
                                                         ", ", launch.places.size(), " were given"));
        }
        out->places_[static_cast<size_t>(launch.places[param.position])].uses.push_back({i, at});
        at += 8;
      }
      for (size_t v = 0; v < launch.vars.size(); ++v, at += 8) {
        Variable& variable = out->vars_[static_cast<size_t>(launch.vars[v])];
        variable.uses.push_back({i, at});
        variable.checks.push_back({&c, v});
      }
      US_ASSIGN_OR_RETURN(const amd::LaunchShape shape, ShapeOf(c));
      kernels.push_back({p->kernel(), shape, at, waits[i]});
    }
    US_ASSIGN_OR_RETURN(out->graph_, amd::GpuGraph::Create(gpu, std::move(kernels)));
    out->plan_ = std::move(plan);
    return out;
  }

  absl::Status Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) override {
    US_CHECK(places.size() == places_.size() && vars.size() == vars_.size()) << "a replay of another plan";
    for (size_t i = 0; i < vars.size(); ++i) {
      Variable& v = vars_[i];
      if (v.set && v.value == vars[i]) continue;
      for (const auto& [kernel, number] : v.checks)
        US_RETURN_IF_ERROR(CheckVariable(*kernel, number, vars[i]));
      for (const Use& use : v.uses) graph_->Set(use.kernel, use.offset, static_cast<uint64_t>(vars[i]));
      v.value = vars[i];
      v.set = true;
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].bytes < plan_.places[i].bytes) {
        return absl::OutOfRangeError(absl::StrCat("graph: place ", i, " has ", places[i].bytes,
                                                  " bytes, expected ", plan_.places[i].bytes));
      }
      if (places_[i].address == places[i].address) continue;
      for (const Use& use : places_[i].uses) graph_->Set(use.kernel, use.offset, places[i].address);
      places_[i].address = places[i].address;
    }
    return graph_->Run();
  }

 private:
  struct Use {
    size_t kernel, offset;
  };
  struct Place {
    uint64_t address = 0;
    std::vector<Use> uses;
  };
  struct Variable {
    bool set = false;
    int64_t value = 0;
    std::vector<Use> uses;
    std::vector<std::pair<const CompiledKernel*, size_t>> checks;
  };

  AmdGraph() = default;
  GraphPlan plan_;  // keeps the programs
  std::vector<Place> places_;
  std::vector<Variable> vars_;
  std::unique_ptr<amd::GpuGraph> graph_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CommandGraph>> AmdDevice::MakeGraph(GraphPlan plan) {
  US_RETURN_IF_ERROR(plan.Check());
  auto graph = AmdGraph::Create(*gpu_, plan);
  if (absl::IsUnimplemented(graph.status())) return Device::MakeGraph(std::move(plan));
  return graph;
}

absl::StatusOr<std::shared_ptr<AmdDevice>> AmdDevice::Open(os::Syscalls& sys, int index,
                                                           const amd::GpuOptions& options, std::string name) {
  US_ASSIGN_OR_RETURN(auto gpu, amd::AmdGpu::Open(sys, index, options));
  US_ASSIGN_OR_RETURN(Target target, AmdTarget(gpu->isa()));
  return std::shared_ptr<AmdDevice>(new AmdDevice(std::move(gpu), std::move(target), std::move(name)));
}

absl::StatusOr<Allocation> AmdDevice::Allocate(size_t bytes) {
  US_ASSIGN_OR_RETURN(const amd::GpuBuffer buffer,
                      gpu_->Allocate(bytes, amd::MemoryKind::kVram, {true, false, "buffer"}));
  std::lock_guard lock(mutex_);
  buffers_[buffer.va] = buffer;
  return Allocation{buffer.va, bytes, buffer.va};
}

absl::Status AmdDevice::Free(const Allocation& allocation) {
  amd::GpuBuffer buffer;
  {
    std::lock_guard lock(mutex_);
    const auto it = buffers_.find(allocation.base);
    if (it == buffers_.end())
      return absl::InvalidArgumentError(
          absl::StrCat("freeing ", allocation.base, " on ", name_, ": not allocated"));
    buffer = it->second;
    buffers_.erase(it);
  }
  return gpu_->Free(buffer);
}

absl::Status AmdDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  return gpu_->CopyIn(dst.address, src, bytes);
}

absl::Status AmdDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  return gpu_->CopyOut(dst, src.address, bytes);
}

absl::Status AmdDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  return gpu_->CopyWithin(dst.address, src.address, bytes);
}

absl::StatusOr<std::unique_ptr<Program>> AmdDevice::Compile(const UOpRef& kernel, const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled, RenderLlvm(linear, target_));
  return Load(std::move(compiled));
}

absl::StatusOr<std::unique_ptr<Program>> AmdDevice::Load(CompiledKernel&& compiled) {
  US_ASSIGN_OR_RETURN(const amd::LoadedCode* code, gpu_->Load(compiled.code));
  auto loaded = code->Kernel(compiled.name);
  if (!loaded.ok()) {
    gpu_->Unload(code).IgnoreError();
    return loaded.status();
  }
  return std::make_unique<AmdProgram>(*gpu_, code, *loaded, std::move(compiled));
}

absl::Status AmdDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<AmdProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("program ", program.name(), " is not of device ", name_));
  const CompiledKernel& c = p->compiled();
  if (vars.size() != c.vars.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", c.name, " has ", c.vars.size(), " variables, ", vars.size(), " were given"));
  }
  // The renderer's ABI: addresses by position, then variables by name.
  std::vector<uint8_t> kernarg((c.params.size() + vars.size()) * 8);
  uint8_t* at = kernarg.data();
  for (const KernelParam& param : c.params) {
    if (param.position < 0 || static_cast<size_t>(param.position) >= buffers.size()) {
      return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, " reads buffer ", param.position,
                                                     ", ", buffers.size(), " were given"));
    }
    StoreLE<uint64_t>(at, buffers[param.position].address);
    at += 8;
  }
  for (size_t i = 0; i < vars.size(); ++i, at += 8) {
    US_RETURN_IF_ERROR(CheckVariable(c, i, vars[i]));
    StoreLE<int64_t>(at, vars[i]);
  }
  US_ASSIGN_OR_RETURN(const amd::LaunchShape shape, ShapeOf(c));
  amd::LaunchTimes times;
  // What came before is not this launch's.
  const bool counts = info != nullptr && counter_ != nullptr;
  if (counts) US_RETURN_IF_ERROR(gpu_->Synchronize());
  const Executed before = counts ? counter_() : Executed{};
  US_RETURN_IF_ERROR(gpu_->LaunchRaw(p->kernel(), shape, kernarg, info == nullptr ? nullptr : &times));
  if (info != nullptr) *info = {times.device_ns, times.begin_ns, c.global, c.local};
  if (counts) {
    const Executed after = counter_();
    info->instructions = after.instructions - before.instructions;
    info->memory_bytes = after.memory_bytes - before.memory_bytes;
    info->memory_lines = after.memory_lines - before.memory_lines;
  }
  return absl::OkStatus();
}

}  // namespace understudy
