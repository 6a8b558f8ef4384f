// SPDX-License-Identifier: Apache-2.0
// The indirect buffer of a graph: registers once and then what differs, a wait where a kernel needs what an
// earlier one wrote, a mark after each kernel.
#include "src/runtime/amd/gpu_graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {

std::string GraphProgress::Current() const {
  const size_t at = std::min<size_t>(*done, kernels.size() - 1);
  return absl::StrFormat("kernel '%s' (%d of %d)", kernels[at], at + 1, kernels.size());
}

absl::StatusOr<std::unique_ptr<GpuGraph>> GpuGraph::Create(AmdGpu& gpu, std::vector<GraphKernel> kernels) {
  if (kernels.empty()) return absl::InvalidArgumentError("a graph without kernels");
  std::unique_ptr<GpuGraph> graph(new GpuGraph(gpu, std::move(kernels)));
  std::lock_guard lock(gpu.mutex_);
  absl::Status s = graph->Init();
  if (!s.ok()) {
    if (graph->memory_.size != 0) s.Update(gpu.memory_->Free(graph->memory_));
    graph->memory_ = {};
    return s;
  }
  ++gpu.stats_.graphs;
  return graph;
}

GpuGraph::~GpuGraph() {
  if (memory_.size == 0) return;
  std::lock_guard lock(gpu_.mutex_);
  if (gpu_.memory_ == nullptr) return;  // went with the device
  gpu_.Defer(memory_, {true, true, "graph"}, false);
  gpu_.ReapFreed(gpu_.options_.cache_limit).IgnoreError();
}

absl::Status GpuGraph::Init() {
  US_RETURN_IF_ERROR(gpu_.CheckUsable());
  uint64_t args_bytes = 0;
  progress_ = std::make_shared<GraphProgress>();
  for (const GraphKernel& k : kernels_) {
    const KernelSymbol& symbol = *k.kernel.symbol;
    const KernelDescriptor& d = symbol.descriptor;
    US_RETURN_IF_ERROR(gpu_.CheckLaunch(symbol, k.shape));
    if (d.dispatch_id()) {
      return absl::UnimplementedError(absl::StrCat("graph with kernel '", symbol.name,
                                                   "': it wants a dispatch number, which every run changes"));
    }
    if (k.args_bytes % 8 != 0 || k.args_bytes > d.kernarg_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("graph with kernel '", symbol.name, "': ", k.args_bytes,
                       " bytes of arguments, expected words of 8 bytes, at most ", d.kernarg_size));
    }
    US_RETURN_IF_ERROR(gpu_.EnsureScratch(d.private_segment_fixed_size));
    args_bytes = AlignUp(args_bytes, std::max<uint64_t>(symbol.kernarg_align, 64));
    args_at_.push_back(args_bytes);
    first_arg_.push_back(values_.size());
    for (size_t i = 0; i < k.args_bytes; i += 8) value_at_.push_back(args_bytes + i), values_.push_back(0);
    args_bytes += DispatchPacketAt(d) + (d.dispatch_ptr() ? kDispatchPacketBytes : 0);
    progress_->kernels.push_back(symbol.name);
    waits_ += k.waits && &k != &kernels_[0];
  }
  args_bytes = AlignUp(args_bytes, 64);
  // How many words they take does not depend on where they lie.
  US_ASSIGN_OR_RETURN(const pm4::Builder packets, Encode(copies_[0]));
  if (packets.size() > pm4::kMaxIndirectWords) {
    return absl::UnimplementedError(absl::StrCat("graph of ", kernels_.size(), " kernels: ", packets.size(),
                                                 " words, expected at most ", pm4::kMaxIndirectWords));
  }
  constexpr uint64_t kProgressBytes = 64;
  const uint64_t commands_bytes = AlignUp(packets.size() * 4, 64);
  US_ASSIGN_OR_RETURN(memory_, gpu_.memory_->Allocate(kProgressBytes + 2 * (args_bytes + commands_bytes),
                                                      MemoryKind::kGtt, {true, true, "graph"}));
  std::fill(memory_.host, memory_.host + memory_.size, 0);
  progress_->done = reinterpret_cast<const volatile uint32_t*>(memory_.host);
  uint64_t at = kProgressBytes;
  for (Copy& copy : copies_) {
    copy.args = at;
    copy.commands = at + args_bytes;
    at = copy.commands + commands_bytes;
    US_RETURN_IF_ERROR(Write(copy));
  }
  return absl::OkStatus();
}

absl::StatusOr<pm4::Builder> GpuGraph::Encode(const Copy& copy) const {
  pm4::Builder p(gpu_.generation_.pm4);
  p.RememberRegisters();
  p.ReleaseMem32(memory_.va, 0);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const GraphKernel& k = kernels_[i];
    if (i > 0 && k.waits) {
      p.CsPartialFlush();
      p.AcquireMem(/*l2=*/false);
    }
    const uint64_t args_va = memory_.va + copy.args + args_at_[i];
    US_ASSIGN_OR_RETURN(
        const std::vector<uint32_t> user,
        gpu_.UserSgprs(*k.kernel.symbol, args_va, args_va + DispatchPacketAt(k.kernel.symbol->descriptor)));
    gpu_.Dispatch(p, k.kernel, k.shape, user);
    p.ReleaseMem32(memory_.va, static_cast<uint32_t>(i + 1));
  }
  p.CsPartialFlush();
  return p;
}

absl::Status GpuGraph::Write(Copy& copy) {
  US_ASSIGN_OR_RETURN(const pm4::Builder packets, Encode(copy));
  copy.words = packets.size();
  std::copy(packets.words().begin(), packets.words().end(),
            reinterpret_cast<uint32_t*>(memory_.host + copy.commands));
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const GraphKernel& k = kernels_[i];
    const KernelDescriptor& d = k.kernel.symbol->descriptor;
    uint8_t* const args = memory_.host + copy.args + args_at_[i];
    const auto* values = reinterpret_cast<const uint8_t*>(values_.data() + first_arg_[i]);
    US_RETURN_IF_ERROR(FillKernarg(*k.kernel.symbol, {values, k.args_bytes}, k.shape, gpu_.apertures_,
                                   {args, d.kernarg_size}));
    if (d.dispatch_ptr()) {
      WriteDispatchPacket(args + DispatchPacketAt(d), *k.kernel.symbol, k.shape,
                          memory_.va + copy.args + args_at_[i]);
    }
  }
  copy.stale.clear();
  copy.is_stale.assign(values_.size(), false);
  scratch_va_ = gpu_.scratch_.va;
  recoveries_ = gpu_.stats_.recoveries;
  return absl::OkStatus();
}

void GpuGraph::Set(size_t kernel, size_t offset, uint64_t value) {
  US_CHECK(kernel < kernels_.size() && offset % 8 == 0 && offset + 8 <= kernels_[kernel].args_bytes)
      << "argument at " << offset << " of kernel " << kernel;
  const size_t i = first_arg_[kernel] + offset / 8;
  if (values_[i] == value) return;
  values_[i] = value;
  for (Copy& copy : copies_) {
    if (!copy.is_stale[i]) copy.stale.push_back(static_cast<uint32_t>(i));
    copy.is_stale[i] = true;
  }
}

// A copy whose arguments are those of now.
absl::StatusOr<GpuGraph::Copy*> GpuGraph::Ready() {
  const auto running = [&](const Copy& c) { return gpu_.compute_timeline_.Read() < c.last; };
  if (scratch_va_ != gpu_.scratch_.va || recoveries_ != gpu_.stats_.recoveries) {
    // A later kernel needed more scratch, and the packets name the old one; or what is in memory may be lost.
    for (Copy& copy : copies_) {
      US_RETURN_IF_ERROR(gpu_.WaitFor(QueueKind::kCompute, copy.last));
      US_RETURN_IF_ERROR(Write(copy));
    }
  }
  Copy* copy = &copies_[current_];
  if (copy->stale.empty()) return copy;
  if (running(*copy)) {
    current_ ^= 1;
    copy = &copies_[current_];
    if (running(*copy)) US_RETURN_IF_ERROR(gpu_.WaitFor(QueueKind::kCompute, copy->last));
  }
  for (const uint32_t i : copy->stale) {
    StoreLE<uint64_t>(memory_.host + copy->args + value_at_[i], values_[i]);
    copy->is_stale[i] = false;
  }
  gpu_.stats_.graph_patches += static_cast<int64_t>(copy->stale.size());
  copy->stale.clear();
  return copy;
}

absl::Status GpuGraph::Run() {
  std::lock_guard lock(gpu_.mutex_);
  US_RETURN_IF_ERROR(gpu_.CheckUsable());
  US_ASSIGN_OR_RETURN(Copy* const copy, Ready());
  US_ASSIGN_OR_RETURN(const uint64_t value, gpu_.NextValue(QueueKind::kCompute));
  pm4::Builder p(gpu_.generation_.pm4);
  gpu_.AfterCopies(p);
  p.IndirectBuffer(memory_.va + copy->commands, static_cast<uint32_t>(copy->words));
  copy->last = value;
  US_RETURN_IF_ERROR(gpu_.SubmitCompute(p, "a graph", value, progress_));
  gpu_.stats_.launches += static_cast<int64_t>(kernels_.size());
  ++gpu_.stats_.graph_launches;
  return absl::OkStatus();
}

}  // namespace understudy::amd
