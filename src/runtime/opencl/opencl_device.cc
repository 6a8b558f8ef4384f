// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/opencl/opencl_device.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/c_text.h"
#include "src/runtime/opencl/opencl_api.h"

namespace understudy {
namespace {

using opencl::Api;
using opencl::ErrorText;

absl::Status Check(const char* function, int32_t error) {
  switch (error) {
    case opencl::kSuccess:
      return absl::OkStatus();
    case opencl::kMemoryFailure:
    case opencl::kOutOfResources:
    case opencl::kOutOfHostMemory:
    case opencl::kBadBufferSize:
      return absl::ResourceExhaustedError(ErrorText(function, error));
    default:
      return absl::InternalError(ErrorText(function, error));
  }
}

// A handle and the function that lets it go.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(T value, int32_t (*release)(T)) : value_(value), release_(release) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)), release_(other.release_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Handle() {
    if (value_ != nullptr) release_(value_);
  }
  T get() const { return value_; }

 private:
  T value_ = nullptr;
  int32_t (*release_)(T) = nullptr;
};

class OpenClProgram : public Program {
 public:
  OpenClProgram(RenderedText rendered, Handle<opencl::Code> code, Handle<opencl::Kernel> kernel)
      : rendered_(std::move(rendered)), code_(std::move(code)), kernel_(std::move(kernel)) {}
  const std::string& name() const override { return rendered_.name; }
  const std::string& text() const override { return rendered_.text; }
  const RenderedText& rendered() const { return rendered_; }
  opencl::Kernel kernel() const { return kernel_.get(); }

 private:
  RenderedText rendered_;
  Handle<opencl::Code> code_;
  Handle<opencl::Kernel> kernel_;
};

constexpr uint64_t kFirstAddress = uint64_t{1} << 44;
constexpr uint64_t kAddressAlign = 4096;

}  // namespace

struct OpenClDevice::State {
  const Api* api = nullptr;
  opencl::DeviceId device = nullptr;
  Handle<opencl::Context> context;
  Handle<opencl::Queue> queue;
  size_t base_align = 1;  // bytes
  std::mutex mutex, launching;
  struct Block {
    opencl::Memory memory;
    size_t bytes;
  };
  std::map<uint64_t, Block> live;  // base -> block; guarded by mutex
  uint64_t next = kFirstAddress;

  absl::StatusOr<opencl::Memory> Find(const Allocation& range, size_t bytes) {
    if (bytes > range.bytes)
      return absl::OutOfRangeError(absl::StrCat("OPENCL: ", bytes, " bytes in a range of ", range.bytes));
    std::lock_guard lock(mutex);
    const auto it = live.find(range.base);
    const uint64_t offset = range.address - range.base;
    if (it == live.end() || offset > it->second.bytes || range.bytes > it->second.bytes - offset)
      return absl::OutOfRangeError(absl::StrCat("OPENCL: [0x", absl::Hex(range.address), ", +", range.bytes,
                                                ") is not inside a live allocation"));
    return it->second.memory;
  }
  absl::StatusOr<opencl::Memory> Create(size_t bytes) {
    int32_t error = 0;
    const opencl::Memory memory =
        api->clCreateBuffer(context.get(), opencl::kMemReadWrite, bytes, nullptr, &error);
    US_RETURN_IF_ERROR(Check("clCreateBuffer", error));
    return memory;
  }
};

OpenClDevice::OpenClDevice() : state_(std::make_unique<State>()) {}

OpenClDevice::~OpenClDevice() {
  if (state_->queue.get() == nullptr) return;
  state_->api->clFinish(state_->queue.get());
  for (const auto& [base, block] : state_->live) state_->api->clReleaseMemObject(block.memory);
}

absl::StatusOr<std::shared_ptr<OpenClDevice>> OpenClDevice::Open(int index) {
  US_ASSIGN_OR_RETURN(const Api* const api, Api::Load());
  opencl::Platform platforms[16];
  uint32_t count = 0;
  if (api->clGetPlatformIDs(16, platforms, &count) != opencl::kSuccess || count == 0)
    return absl::NotFoundError("OpenCL: no platform is installed");
  std::vector<opencl::DeviceId> all;
  for (uint32_t p = 0; p < std::min(count, 16u); ++p) {
    opencl::DeviceId devices[16];
    uint32_t n = 0;
    if (api->clGetDeviceIDs(platforms[p], opencl::kAllDevices, 16, devices, &n) != opencl::kSuccess) continue;
    all.insert(all.end(), devices, devices + std::min(n, 16u));
  }
  if (index < 0 || static_cast<size_t>(index) >= all.size())
    return absl::NotFoundError(absl::StrCat("OpenCL: no device ", index, ", there are ", all.size()));
  std::shared_ptr<OpenClDevice> device(new OpenClDevice);
  State& s = *device->state_;
  s.api = api;
  s.device = all[index];
  US_RETURN_IF_ERROR(device->Query());
  int32_t error = 0;
  s.context = {api->clCreateContext(nullptr, 1, &s.device, nullptr, nullptr, &error), api->clReleaseContext};
  US_RETURN_IF_ERROR(Check("clCreateContext", error));
  s.queue = {api->clCreateCommandQueue(s.context.get(), s.device, opencl::kQueueProfiling, &error),
             api->clReleaseCommandQueue};
  US_RETURN_IF_ERROR(Check("clCreateCommandQueue", error));
  return device;
}

absl::Status OpenClDevice::Query() {
  State& s = *state_;
  const auto read = [&](uint32_t what, auto* value, size_t n = 1) {
    return Check("clGetDeviceInfo",
                 s.api->clGetDeviceInfo(s.device, what, n * sizeof *value, value, nullptr));
  };
  char words[256] = {};
  US_RETURN_IF_ERROR(read(opencl::kDeviceName, words, sizeof words - 1));
  description_ = words;
  uint64_t single = 0, fp64 = 0, local = 0;
  size_t workgroup = 0, sizes[3] = {};
  uint32_t align_bits = 0;
  US_RETURN_IF_ERROR(read(opencl::kSingleConfig, &single));
  US_RETURN_IF_ERROR(read(opencl::kLocalMemory, &local));
  US_RETURN_IF_ERROR(read(opencl::kMaxWorkGroup, &workgroup));
  US_RETURN_IF_ERROR(read(opencl::kMaxWorkItemSizes, sizes, 3));
  US_RETURN_IF_ERROR(read(opencl::kBaseAlign, &align_bits));
  // Devices before OpenCL 1.2 do not know the question.
  if (!read(opencl::kDoubleConfig, &fp64).ok()) fp64 = 0;
  std::vector<std::string> lacks;
  static constexpr std::pair<uint64_t, const char*> kNeeds[] = {
      {opencl::kFpDenorm, "denormals"},
      {opencl::kFpInfNan, "infinities and NaN"},
      {opencl::kFpRoundToNearest, "rounding to nearest"},
      {opencl::kFpFma, "fused multiply-add"},
      {opencl::kFpDivideSqrt, "correctly rounded division and square root"}};
  for (const auto& [bit, what] : kNeeds) {
    if ((single & bit) == 0) lacks.emplace_back(what);
  }
  if (!lacks.empty())
    return absl::FailedPreconditionError(
        absl::StrCat("OpenCL: f32 of ", description_, " lacks ", absl::StrJoin(lacks, ", ")));
  s.base_align = std::max<size_t>(1, align_bits / 8);
  target_ = CTextTarget(CDialect::kOpenCl);
  // The smallest of the dimensions: the choices look at the product only.
  target_.max_workgroup = static_cast<int64_t>(
      std::min({static_cast<size_t>(target_.max_workgroup), workgroup, sizes[0], sizes[1], sizes[2]}));
  target_.local_bytes = std::min(target_.local_bytes, static_cast<int64_t>(local));
  if (fp64 == 0) {
    target_.arithmetic = {Scalar::kBool,   Scalar::kInt8,    Scalar::kUInt8,  Scalar::kInt16,
                          Scalar::kUInt16, Scalar::kInt32,   Scalar::kUInt32, Scalar::kInt64,
                          Scalar::kUInt64, Scalar::kFloat32, Scalar::kIndex};
    target_.sqrt = target_.fma = {Scalar::kFloat32};
  }
  return absl::OkStatus();
}

absl::StatusOr<Allocation> OpenClDevice::Allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > uint64_t{1} << 43)
    return absl::ResourceExhaustedError(absl::StrCat("OPENCL: ", bytes, " bytes do not fit in memory"));
  US_ASSIGN_OR_RETURN(const opencl::Memory memory, state_->Create(bytes));
  std::lock_guard lock(state_->mutex);
  const uint64_t base = state_->next;
  state_->next += AlignUp(bytes, kAddressAlign) + kAddressAlign;
  state_->live[base] = {memory, bytes};
  return Allocation{base, bytes, base};
}

absl::Status OpenClDevice::Free(const Allocation& allocation) {
  std::lock_guard lock(state_->mutex);
  const auto it = state_->live.find(allocation.base);
  if (it == state_->live.end() || allocation.address != allocation.base)
    return absl::InvalidArgumentError(
        absl::StrCat("OPENCL: 0x", absl::Hex(allocation.address), " is not an allocation"));
  // OpenCL keeps the memory until commands that name it are done.
  const int32_t error = state_->api->clReleaseMemObject(it->second.memory);
  state_->live.erase(it);
  return Check("clReleaseMemObject", error);
}

absl::Status OpenClDevice::CopyIn(const Allocation& dst, const void* src, size_t bytes) {
  US_ASSIGN_OR_RETURN(const opencl::Memory memory, state_->Find(dst, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Check("clEnqueueWriteBuffer",
               state_->api->clEnqueueWriteBuffer(state_->queue.get(), memory, 1, dst.address - dst.base,
                                                 bytes, src, 0, nullptr, nullptr));
}

absl::Status OpenClDevice::CopyOut(void* dst, const Allocation& src, size_t bytes) {
  US_ASSIGN_OR_RETURN(const opencl::Memory memory, state_->Find(src, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Check("clEnqueueReadBuffer",
               state_->api->clEnqueueReadBuffer(state_->queue.get(), memory, 1, src.address - src.base, bytes,
                                                dst, 0, nullptr, nullptr));
}

absl::Status OpenClDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_ASSIGN_OR_RETURN(const opencl::Memory to, state_->Find(dst, bytes));
  US_ASSIGN_OR_RETURN(const opencl::Memory from, state_->Find(src, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Check("clEnqueueCopyBuffer",
               state_->api->clEnqueueCopyBuffer(state_->queue.get(), from, to, src.address - src.base,
                                                dst.address - dst.base, bytes, 0, nullptr, nullptr));
}

absl::StatusOr<std::unique_ptr<Program>> OpenClDevice::Compile(const UOpRef& kernel,
                                                               const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  if (!target_.arithmetic.Has(Scalar::kFloat64)) {
    for (const UOpRef& n : linear.ops) {
      if (n->dtype().scalar == Scalar::kFloat64)
        return absl::UnimplementedError(
            absl::StrCat("kernel ", linear.name, ": ", description_, " has no f64 (", OpName(n->op()), ")"));
    }
  }
  US_ASSIGN_OR_RETURN(RenderedText rendered, RenderC(linear, CDialect::kOpenCl));
  return Build(std::move(rendered));
}

absl::StatusOr<std::unique_ptr<Program>> OpenClDevice::CompileText(const std::string& name,
                                                                   const std::string& text) {
  RenderedText rendered;
  rendered.name = name;
  rendered.text = text;
  rendered.flags = "-cl-std=CL1.2";
  rendered.params.push_back({0, dtypes::kUInt8, true, true});
  return Build(std::move(rendered));
}

absl::StatusOr<std::unique_ptr<Program>> OpenClDevice::Build(RenderedText rendered) {
  const Api& api = *state_->api;
  const char* text = rendered.text.c_str();
  const size_t length = rendered.text.size();
  int32_t error = 0;
  Handle<opencl::Code> code(api.clCreateProgramWithSource(state_->context.get(), 1, &text, &length, &error),
                            api.clReleaseProgram);
  US_RETURN_IF_ERROR(Check("clCreateProgramWithSource", error));
  error = api.clBuildProgram(code.get(), 1, &state_->device, rendered.flags.c_str(), nullptr, nullptr);
  if (error != opencl::kSuccess) {
    size_t size = 0;
    std::string log;
    if (api.clGetProgramBuildInfo(code.get(), state_->device, opencl::kBuildLog, 0, nullptr, &size) == 0) {
      log.resize(size);
      api.clGetProgramBuildInfo(code.get(), state_->device, opencl::kBuildLog, size, log.data(), nullptr);
    }
    if (log.size() > 4000) log.resize(4000);
    return absl::InternalError(
        absl::StrCat("OPENCL: building ", rendered.name, ": error ", error, ":\n", log));
  }
  Handle<opencl::Kernel> kernel(api.clCreateKernel(code.get(), rendered.name.c_str(), &error),
                                api.clReleaseKernel);
  US_RETURN_IF_ERROR(Check("clCreateKernel", error));
  // Registers may leave room for fewer work-items than the device's limit says.
  size_t most = 0;
  US_RETURN_IF_ERROR(
      Check("clGetKernelWorkGroupInfo",
            api.clGetKernelWorkGroupInfo(kernel.get(), state_->device, opencl::kKernelWorkGroup, sizeof most,
                                         &most, nullptr)));
  const int64_t items = rendered.local[0] * rendered.local[1] * rendered.local[2];
  if (items > static_cast<int64_t>(most))
    return absl::ResourceExhaustedError(absl::StrCat("OPENCL: kernel ", rendered.name, " has ", items,
                                                     " work-items a workgroup, the device takes ", most));
  return std::make_unique<OpenClProgram>(std::move(rendered), std::move(code), std::move(kernel));
}

absl::Status OpenClDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                                  absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<OpenClProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("OPENCL: program ", program.name(), " is another device's"));
  const RenderedText& k = p->rendered();
  const size_t needed = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (buffers.size() < needed || vars.size() != k.vars.size())
    return absl::InvalidArgumentError(absl::StrCat("kernel ", k.name, ": ", buffers.size(), " buffers and ",
                                                   vars.size(), " variables, expected ", needed, " and ",
                                                   k.vars.size()));
  for (size_t i = 0; i < vars.size(); ++i) {
    if (vars[i] < k.vars[i].min || vars[i] > k.vars[i].max)
      return absl::OutOfRangeError(absl::StrCat("kernel ", k.name, ": variable ", k.vars[i].name, " = ",
                                                vars[i], ", expected [", k.vars[i].min, ", ", k.vars[i].max,
                                                "]"));
  }
  const Api& api = *state_->api;
  // Arguments belong to the kernel until it is enqueued.
  std::lock_guard one(state_->launching);
  std::vector<Handle<opencl::Memory>> parts;
  struct Bounce {
    opencl::Memory memory, whole;
    size_t offset, bytes;
  };
  std::vector<Bounce> write_back;
  std::vector<Allocation> through_copies;
  uint32_t position = 0;
  const auto copy = [&](opencl::Memory from, opencl::Memory to, size_t at, size_t into, size_t bytes) {
    return Check("clEnqueueCopyBuffer", api.clEnqueueCopyBuffer(state_->queue.get(), from, to, at, into,
                                                                bytes, 0, nullptr, nullptr));
  };
  for (const KernelParam& param : k.params) {
    const Allocation& a = buffers[param.position];
    US_ASSIGN_OR_RETURN(const opencl::Memory whole, state_->Find(a, a.bytes));
    opencl::Memory memory = whole;
    const size_t offset = a.address - a.base;
    int32_t error = 0;
    if (offset != 0 && offset % state_->base_align == 0 && a.bytes > 0) {
      const opencl::Region region{offset, a.bytes};
      memory = api.clCreateSubBuffer(whole, opencl::kMemReadWrite, opencl::kBufferRegion, &region, &error);
      US_RETURN_IF_ERROR(Check("clCreateSubBuffer", error));
      parts.emplace_back(memory, api.clReleaseMemObject);
    } else if (offset != 0 && a.bytes > 0) {
      US_ASSIGN_OR_RETURN(memory, state_->Create(a.bytes));
      parts.emplace_back(memory, api.clReleaseMemObject);
      US_RETURN_IF_ERROR(copy(whole, memory, offset, 0, a.bytes));
      if (param.written) write_back.push_back({memory, whole, offset, a.bytes});
      through_copies.push_back(a);
    }
    US_RETURN_IF_ERROR(
        Check("clSetKernelArg", api.clSetKernelArg(p->kernel(), position++, sizeof memory, &memory)));
  }
  // A copy does not see what the kernel writes to the same bytes elsewhere.
  for (const Allocation& c : through_copies) {
    int overlaps = 0;
    bool written = false;
    for (const KernelParam& param : k.params) {
      const Allocation& a = buffers[param.position];
      if (a.base != c.base || a.address >= c.address + c.bytes || c.address >= a.address + a.bytes) continue;
      ++overlaps;
      written |= param.written;
    }
    if (overlaps > 1 && written)
      return absl::UnimplementedError(
          absl::StrCat("OPENCL: kernel ", k.name, ": written buffers overlap at an offset of ",
                       c.address - c.base, " bytes, the device aligns to ", state_->base_align));
  }
  for (const int64_t v : vars)
    US_RETURN_IF_ERROR(Check("clSetKernelArg", api.clSetKernelArg(p->kernel(), position++, sizeof v, &v)));
  size_t global[3], local[3];
  for (int d = 0; d < 3; ++d) {
    local[d] = static_cast<size_t>(k.local[d]);
    global[d] = static_cast<size_t>(k.global[d]) * local[d];
  }
  opencl::Event event = nullptr;
  US_RETURN_IF_ERROR(
      Check("clEnqueueNDRangeKernel",
            api.clEnqueueNDRangeKernel(state_->queue.get(), p->kernel(), 3, nullptr, global, local, 0,
                                       nullptr, info == nullptr ? nullptr : &event)));
  const Handle<opencl::Event> keep(event, api.clReleaseEvent);
  for (const Bounce& b : write_back) US_RETURN_IF_ERROR(copy(b.memory, b.whole, 0, b.offset, b.bytes));
  if (info == nullptr) return absl::OkStatus();
  US_RETURN_IF_ERROR(Synchronize());
  uint64_t begin = 0, end = 0;
  for (const auto& [what, value] : {std::pair{opencl::kStart, &begin}, std::pair{opencl::kEnd, &end}})
    US_RETURN_IF_ERROR(Check("clGetEventProfilingInfo",
                             api.clGetEventProfilingInfo(event, what, sizeof *value, value, nullptr)));
  *info = {end - begin, begin, k.global, k.local};
  return absl::OkStatus();
}

absl::Status OpenClDevice::Synchronize() {
  return Check("clFinish", state_->api->clFinish(state_->queue.get()));
}

}  // namespace understudy
