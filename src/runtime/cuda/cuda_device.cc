// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cuda/cuda_device.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/ptx.h"
#include "src/runtime/cuda/cuda_program.h"

namespace understudy {

CudaDevice::CudaDevice() : state_(std::make_unique<State>()) {}

CudaDevice::~CudaDevice() {
  // The context takes stream, memory and modules with it.
  if (state_->context != nullptr) state_->api->cuCtxDestroy_v2(state_->context);
}

absl::StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::Open(int index, const CudaOptions& options) {
  US_ASSIGN_OR_RETURN(const cuda::Api* const api, cuda::Api::Load(options.library));
  int count = 0;
  US_RETURN_IF_ERROR(api->Check("cuDeviceGetCount", api->cuDeviceGetCount(&count)));
  if (index < 0 || index >= count)
    return absl::NotFoundError(absl::StrCat("CUDA: no device ", index, ", there are ", count));
  std::shared_ptr<CudaDevice> device(new CudaDevice);
  State& s = *device->state_;
  s.api = api;
  device->name_ = options.name;
  US_RETURN_IF_ERROR(api->Check("cuDeviceGet", api->cuDeviceGet(&s.device, index)));
  char words[256] = {};
  US_RETURN_IF_ERROR(api->Check("cuDeviceGetName", api->cuDeviceGetName(words, sizeof words - 1, s.device)));
  device->description_ = words;
  int major = 0, minor = 0, threads = 0, shared = 0;
  for (const auto& [attribute, value] :
       {std::pair{cuda::kMajor, &major}, std::pair{cuda::kMinor, &minor},
        std::pair{cuda::kMaxThreads, &threads}, std::pair{cuda::kMaxSharedPerBlock, &shared}}) {
    US_RETURN_IF_ERROR(
        api->Check("cuDeviceGetAttribute", api->cuDeviceGetAttribute(value, attribute, s.device)));
  }
  US_ASSIGN_OR_RETURN(device->target_, NvidiaTarget(absl::StrCat("sm_", major, minor)));
  device->target_.max_workgroup = std::min<int64_t>(device->target_.max_workgroup, threads);
  device->target_.local_bytes = std::min<int64_t>(device->target_.local_bytes, shared);
  US_RETURN_IF_ERROR(s.MakeContext());
  return device;
}

absl::Status CudaDevice::State::MakeContext() {
  US_RETURN_IF_ERROR(api->Check("cuCtxCreate_v2", api->cuCtxCreate_v2(&context, 0, device)));
  return api->Check("cuStreamCreate", api->cuStreamCreate(&stream, cuda::kNonBlocking));
}

// The context is of the thread that calls.
absl::Status CudaDevice::Use() {
  return state_->api->Check("cuCtxSetCurrent", state_->api->cuCtxSetCurrent(state_->context));
}

absl::StatusOr<Allocation> CudaDevice::Allocate(size_t bytes) {
  US_RETURN_IF_ERROR(Use());
  cuda::Address address = 0;
  US_RETURN_IF_ERROR(
      state_->api->Check("cuMemAlloc_v2", state_->api->cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1))));
  std::lock_guard lock(state_->mutex);
  state_->live[address] = state_->generation;
  return Allocation{address, bytes, address};
}

absl::Status CudaDevice::Free(const Allocation& allocation) {
  {
    std::lock_guard lock(state_->mutex);
    const auto it = state_->live.find(allocation.base);
    if (it == state_->live.end() || allocation.address != allocation.base)
      return absl::InvalidArgumentError(
          absl::StrCat("freeing 0x", absl::Hex(allocation.address), " on ", name_, ": not allocated"));
    const bool lost = it->second != state_->generation;
    state_->live.erase(it);
    // It went with its context.
    if (lost) return absl::OkStatus();
  }
  US_RETURN_IF_ERROR(Use());
  // cuMemFree waits for work that may use the memory.
  return state_->api->Check("cuMemFree_v2", state_->api->cuMemFree_v2(allocation.base));
}

absl::StatusOr<Allocation> CudaDevice::MapFrom(Device& owner, const Allocation& allocation) {
  auto* const other = dynamic_cast<CudaDevice*>(&owner);
  if (other == nullptr || other->state_->api != state_->api) return Device::MapFrom(owner, allocation);
  int can = 0;
  US_RETURN_IF_ERROR(
      state_->api->Check("cuDeviceCanAccessPeer",
                         state_->api->cuDeviceCanAccessPeer(&can, state_->device, other->state_->device)));
  if (can == 0)
    return absl::UnimplementedError(absl::StrCat(name_, " does not reach the memory of ", other->name_));
  // The peer's kernels may still write what ours will read.
  US_RETURN_IF_ERROR(other->Synchronize());
  US_RETURN_IF_ERROR(Use());
  const int error = state_->api->cuCtxEnablePeerAccess(other->state_->context, 0);
  if (error != cuda::kPeerAlreadyEnabled)
    US_RETURN_IF_ERROR(state_->api->Check("cuCtxEnablePeerAccess", error));
  return allocation;
}

absl::Status CudaDevice::Unmap(const Allocation&) { return absl::OkStatus(); }

namespace {

absl::Status CheckBytes(const Allocation& a, size_t bytes) {
  if (bytes <= a.bytes) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("copy of ", bytes, " bytes in a range of ", a.bytes));
}

}  // namespace

absl::Status CudaDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  if (bytes == 0) return absl::OkStatus();
  US_RETURN_IF_ERROR(Use());
  US_RETURN_IF_ERROR(state_->api->Check(
      "cuMemcpyHtoDAsync_v2", state_->api->cuMemcpyHtoDAsync_v2(dst.address, src, bytes, state_->stream)));
  // `src` may be pinned: then the copy is still to come.
  return Synchronize();
}

absl::Status CudaDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  if (bytes == 0) return Synchronize();
  US_RETURN_IF_ERROR(Use());
  US_RETURN_IF_ERROR(state_->api->Check(
      "cuMemcpyDtoHAsync_v2", state_->api->cuMemcpyDtoHAsync_v2(dst, src.address, bytes, state_->stream)));
  return Synchronize();
}

absl::Status CudaDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  if (bytes == 0) return absl::OkStatus();
  US_RETURN_IF_ERROR(Use());
  return state_->api->Check("cuMemcpyDtoDAsync_v2", state_->api->cuMemcpyDtoDAsync_v2(
                                                        dst.address, src.address, bytes, state_->stream));
}

absl::StatusOr<std::unique_ptr<Program>> CudaDevice::Compile(const UOpRef& kernel,
                                                             const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(PtxKernel rendered, RenderPtx(linear, target_));
  std::string unaligned;
  if (rendered.alignment > 1) {
    PtxOptions any_address;
    any_address.alignment = 1;
    US_ASSIGN_OR_RETURN(const PtxKernel plain, RenderPtx(linear, target_, any_address));
    unaligned = plain.text;
  }
  US_RETURN_IF_ERROR(Use());
  return CudaProgram::Create(*state_, std::move(rendered), std::move(unaligned));
}

absl::StatusOr<std::unique_ptr<Program>> CudaDevice::CompileText(const std::string& name,
                                                                 const std::string& ptx, int buffers,
                                                                 std::array<int64_t, 3> global,
                                                                 std::array<int64_t, 3> local) {
  PtxKernel kernel;
  kernel.name = name;
  kernel.text = ptx;
  kernel.global = global;
  kernel.local = local;
  for (int i = 0; i < buffers; ++i) kernel.params.push_back({i, dtypes::kUInt8, true, true});
  US_RETURN_IF_ERROR(Use());
  return CudaProgram::Create(*state_, std::move(kernel), "");
}

absl::Status CudaDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                                absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<CudaProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("program ", program.name(), " is not of device ", name_));
  US_RETURN_IF_ERROR(Use());
  US_ASSIGN_OR_RETURN(std::vector<uint64_t> arguments, p->Arguments(buffers, vars));
  US_ASSIGN_OR_RETURN(const cuda::Function function, p->Load(p->NeedsPlain(buffers)));
  std::vector<void*> pointers;
  for (uint64_t& a : arguments) pointers.push_back(&a);
  const cuda::Api& api = *state_->api;
  const PtxKernel& k = p->kernel();
  cuda::Event begin = nullptr, end = nullptr;
  if (info != nullptr) {
    US_ASSIGN_OR_RETURN(begin, state_->TimingEvent(0));
    US_ASSIGN_OR_RETURN(end, state_->TimingEvent(1));
    US_RETURN_IF_ERROR(api.Check("cuEventRecord", api.cuEventRecord(begin, state_->stream)));
  }
  const auto n = [](int64_t v) { return static_cast<unsigned>(v); };
  US_RETURN_IF_ERROR(api.Check(
      "cuLaunchKernel",
      api.cuLaunchKernel(function, n(k.global[0]), n(k.global[1]), n(k.global[2]), n(k.local[0]),
                         n(k.local[1]), n(k.local[2]), 0, state_->stream, pointers.data(), nullptr)));
  if (info == nullptr) return absl::OkStatus();
  US_RETURN_IF_ERROR(api.Check("cuEventRecord", api.cuEventRecord(end, state_->stream)));
  US_RETURN_IF_ERROR(api.Check("cuEventSynchronize", api.cuEventSynchronize(end)));
  float ms = 0;
  US_RETURN_IF_ERROR(api.Check("cuEventElapsedTime", api.cuEventElapsedTime(&ms, begin, end)));
  *info = {static_cast<uint64_t>(static_cast<double>(ms) * 1e6), 0, k.global, k.local};
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CommandGraph>> CudaDevice::MakeGraph(GraphPlan plan) {
  US_RETURN_IF_ERROR(plan.Check());
  US_RETURN_IF_ERROR(Use());
  return MakeCudaGraph(*state_, std::move(plan));
}

absl::Status CudaDevice::Synchronize() {
  US_RETURN_IF_ERROR(Use());
  return state_->api->Check("cuStreamSynchronize", state_->api->cuStreamSynchronize(state_->stream));
}

absl::Status CudaDevice::Recover() {
  if (Synchronize().ok()) return absl::OkStatus();
  std::lock_guard lock(state_->mutex);
  state_->api->cuCtxDestroy_v2(state_->context);
  state_->context = nullptr;
  state_->stream = nullptr;
  state_->timing[0] = state_->timing[1] = nullptr;
  ++state_->generation;
  const absl::Status made = state_->MakeContext();
  // NVIDIA's driver (580, on an H200) keeps the error for the process: every later context has it too.
  if (absl::IsAborted(made))
    return absl::AbortedError(
        absl::StrCat("CUDA: this process cannot use the device again after the fault, start another: ",
                     std::string(made.message())));
  return made;
}

absl::StatusOr<cuda::Event> CudaDevice::State::TimingEvent(int which) {
  if (timing[which] == nullptr)
    US_RETURN_IF_ERROR(api->Check("cuEventCreate", api->cuEventCreate(&timing[which], 0)));
  return timing[which];
}

}  // namespace understudy
