// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cuda/cuda_program.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

absl::StatusOr<std::unique_ptr<Program>> CudaProgram::Create(CudaDevice::State& state, PtxKernel kernel,
                                                             std::string plain) {
  for (int d = 0; d < 3; ++d) {
    if (kernel.global[d] < 1 || kernel.global[d] > UINT32_MAX || kernel.local[d] < 1 ||
        kernel.local[d] > UINT32_MAX)
      return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, ": grid ", kernel.global[d],
                                                     " x ", kernel.local[d], " in dimension ", d));
  }
  std::unique_ptr<CudaProgram> program(new CudaProgram(state, std::move(kernel), std::move(plain)));
  US_RETURN_IF_ERROR(program->Load(false).status());
  return program;
}

CudaProgram::~CudaProgram() {
  for (const Loaded& l : loaded_) {
    if (l.module == nullptr || l.generation != state_.generation) continue;
    state_.api->cuCtxSetCurrent(state_.context);
    state_.api->cuModuleUnload(l.module);
  }
}

bool CudaProgram::NeedsPlain(absl::Span<const Allocation> buffers) const {
  if (kernel_.alignment <= 1 || plain_.empty()) return false;
  for (const KernelParam& param : kernel_.params)
    if (static_cast<size_t>(param.position) < buffers.size() &&
        buffers[param.position].address % static_cast<uint64_t>(kernel_.alignment) != 0)
      return true;
  return false;
}

absl::StatusOr<cuda::Function> CudaProgram::Load(bool plain) {
  Loaded& l = loaded_[plain ? 1 : 0];
  if (l.module != nullptr && l.generation == state_.generation) return l.function;
  const cuda::Api& api = *state_.api;
  std::string log(4096, '\0');
  const int options[] = {cuda::kErrorLog, cuda::kErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const std::string& text = plain ? plain_ : kernel_.text;
  const absl::Status loaded =
      api.Check("cuModuleLoadDataEx", api.cuModuleLoadDataEx(&l.module, text.c_str(), 2, options, values));
  if (!loaded.ok()) {
    l.module = nullptr;
    log.resize(std::strlen(log.c_str()));
    return absl::Status(loaded.code(), absl::StrCat(std::string(loaded.message()), ": kernel ", kernel_.name,
                                                    log.empty() ? "" : ":\n", log));
  }
  US_RETURN_IF_ERROR(
      api.Check("cuModuleGetFunction", api.cuModuleGetFunction(&l.function, l.module, kernel_.name.c_str())));
  l.generation = state_.generation;
  return l.function;
}

absl::StatusOr<std::vector<uint64_t>> CudaProgram::Arguments(absl::Span<const Allocation> buffers,
                                                             absl::Span<const int64_t> vars) const {
  if (vars.size() != kernel_.vars.size())
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel_.name, " has ", kernel_.vars.size(),
                                                   " variables, ", vars.size(), " were given"));
  std::vector<uint64_t> out;
  for (const KernelParam& param : kernel_.params) {
    if (param.position < 0 || static_cast<size_t>(param.position) >= buffers.size())
      return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel_.name, " reads buffer ",
                                                     param.position, ", ", buffers.size(), " were given"));
    out.push_back(buffers[param.position].address);
  }
  for (size_t i = 0; i < vars.size(); ++i) {
    const VarArg& v = kernel_.vars[i];
    if (vars[i] < v.min || vars[i] > v.max)
      return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel_.name, ": variable ", v.name, " is ",
                                                     vars[i], ", expected ", v.min, " to ", v.max));
    out.push_back(static_cast<uint64_t>(vars[i]));
  }
  return out;
}

namespace {

// Kernel nodes in a chain that breaks where a launch need not wait; a replay changes the nodes whose
// arguments differ from those of the replay before.
class CudaGraph : public CommandGraph {
 public:
  CudaGraph(CudaDevice::State& state, GraphPlan plan) : state_(state), plan_(std::move(plan)) {}
  ~CudaGraph() override { Drop(); }

  absl::Status Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) override {
    US_CHECK(places.size() == plan_.places.size() && vars.size() == static_cast<size_t>(plan_.num_vars))
        << "a replay of another plan";
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].bytes < plan_.places[i].bytes)
        return absl::OutOfRangeError(absl::StrCat("graph: place ", i, " has ", places[i].bytes,
                                                  " bytes, expected ", plan_.places[i].bytes));
    const cuda::Api& api = *state_.api;
    US_RETURN_IF_ERROR(api.Check("cuCtxSetCurrent", api.cuCtxSetCurrent(state_.context)));
    std::vector<Step> steps(plan_.launches.size());
    for (size_t i = 0; i < plan_.launches.size(); ++i) US_RETURN_IF_ERROR(Fill(i, places, vars, &steps[i]));
    if (exec_ == nullptr || generation_ != state_.generation) {
      US_RETURN_IF_ERROR(Make(&steps));
    } else {
      for (size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].arguments == steps_[i].arguments && steps[i].function == steps_[i].function) continue;
        const cuda::KernelNode node = NodeOf(i, &steps[i]);
        US_RETURN_IF_ERROR(api.Check("cuGraphExecKernelNodeSetParams_v2",
                                     api.cuGraphExecKernelNodeSetParams_v2(exec_, nodes_[i], &node)));
      }
    }
    steps_ = std::move(steps);
    return api.Check("cuGraphLaunch", api.cuGraphLaunch(exec_, state_.stream));
  }

 private:
  struct Step {
    std::vector<uint64_t> arguments;
    std::vector<void*> pointers;
    cuda::Function function = nullptr;
  };

  absl::Status Fill(size_t i, absl::Span<const Allocation> places, absl::Span<const int64_t> vars,
                    Step* step) {
    const GraphLaunch& launch = plan_.launches[i];
    auto* const program = dynamic_cast<CudaProgram*>(launch.program.get());
    if (program == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("program ", launch.program->name(), " is not of device CUDA"));
    std::vector<Allocation> buffers;
    for (const int place : launch.places) buffers.push_back(places[static_cast<size_t>(place)]);
    std::vector<int64_t> values;
    for (const int v : launch.vars) values.push_back(vars[static_cast<size_t>(v)]);
    US_ASSIGN_OR_RETURN(step->arguments, program->Arguments(buffers, values));
    US_ASSIGN_OR_RETURN(step->function, program->Load(program->NeedsPlain(buffers)));
    return absl::OkStatus();
  }

  cuda::KernelNode NodeOf(size_t i, Step* step) const {
    const PtxKernel& k = static_cast<const CudaProgram*>(plan_.launches[i].program.get())->kernel();
    step->pointers.clear();
    for (uint64_t& a : step->arguments) step->pointers.push_back(&a);
    cuda::KernelNode node;
    node.function = step->function;
    for (int d = 0; d < 3; ++d) {
      node.grid[d] = static_cast<unsigned>(k.global[d]);
      node.block[d] = static_cast<unsigned>(k.local[d]);
    }
    node.params = step->pointers.data();
    return node;
  }

  absl::Status Make(std::vector<Step>* steps) {
    Drop();
    const cuda::Api& api = *state_.api;
    US_RETURN_IF_ERROR(api.Check("cuGraphCreate", api.cuGraphCreate(&graph_, 0)));
    generation_ = state_.generation;
    const std::vector<bool> waits = plan_.Waits();
    // A launch that waits does so for all since the last that did; the others for that one only.
    std::vector<cuda::Node> wave, before;
    for (size_t i = 0; i < steps->size(); ++i) {
      if (waits[i]) {
        before = std::move(wave);
        wave.clear();
      }
      const cuda::KernelNode node = NodeOf(i, &(*steps)[i]);
      cuda::Node made = nullptr;
      US_RETURN_IF_ERROR(
          api.Check("cuGraphAddKernelNode_v2",
                    api.cuGraphAddKernelNode_v2(&made, graph_, before.data(), before.size(), &node)));
      nodes_.push_back(made);
      wave.push_back(made);
    }
    return api.Check("cuGraphInstantiateWithFlags", api.cuGraphInstantiateWithFlags(&exec_, graph_, 0));
  }

  void Drop() {
    if (exec_ != nullptr) state_.api->cuGraphExecDestroy(exec_);
    if (graph_ != nullptr) state_.api->cuGraphDestroy(graph_);
    exec_ = nullptr;
    graph_ = nullptr;
    nodes_.clear();
  }

  CudaDevice::State& state_;
  const GraphPlan plan_;  // keeps the programs
  cuda::Graph graph_ = nullptr;
  cuda::GraphExec exec_ = nullptr;
  uint64_t generation_ = 0;
  std::vector<cuda::Node> nodes_;
  std::vector<Step> steps_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CommandGraph>> MakeCudaGraph(CudaDevice::State& state, GraphPlan plan) {
  return std::make_unique<CudaGraph>(state, std::move(plan));
}

}  // namespace understudy
