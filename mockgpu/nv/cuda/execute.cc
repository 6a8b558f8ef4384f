// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/driver.h"
#include "mockgpu/nv/cuda/graph.h"
#include "mockgpu/nv/cuda/memory_calls.h"
#include "mockgpu/nv/cuda/module.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv {
namespace {

// What work costs on the virtual clock.
constexpr uint64_t kLaunchNs = 2000, kCopyNs = 1500, kHostNs = 1000, kRecordNs = 500;
constexpr uint64_t kHostGbps = 50;

CUresult ResultOf(emu::ptx::FaultKind kind) {
  using K = emu::ptx::FaultKind;
  switch (kind) {
    case K::kNone:
      return CUDA_SUCCESS;
    case K::kMemory:
    case K::kSharedOutOfRange:
    case K::kLocalOutOfRange:
    case K::kStackOverflow:
    case K::kHeap:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case K::kMisaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case K::kAddressSpace:
      return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case K::kIllegalInstruction:
    case K::kRefused:
    case K::kBarrier:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case K::kInvalidTarget:
      return CUDA_ERROR_INVALID_PC;
    case K::kTrap:
    case K::kBreakpoint:
    case K::kCheck:
      return CUDA_ERROR_LAUNCH_FAILED;
    case K::kAssert:
      return CUDA_ERROR_ASSERT;
    case K::kHang:
    case K::kBudget:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

bool Driver::Ready(const Command& command) {
  if (const auto* wait = std::get_if<WaitCommand>(&command))
    return wait->record == nullptr || wait->record->done;
  const auto* value = std::get_if<ValueCommand>(&command);
  if (value == nullptr) return true;
  const CUstreamBatchMemOpParams& op = value->op;
  const bool is64 = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  if (!is64 && op.operation != CU_STREAM_MEM_OP_WAIT_VALUE_32) return true;
  const uint8_t* const at = HostBytes(op.waitValue.address, is64 ? 8 : 4, false);
  if (at == nullptr) return true;  // the wait then fails
  uint64_t now = 0;
  if (is64) {
    now = __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_ACQUIRE);
  } else {
    now = __atomic_load_n(reinterpret_cast<const uint32_t*>(at), __ATOMIC_ACQUIRE);
  }
  const uint64_t want = is64 ? op.waitValue.value64 : op.waitValue.value;
  switch (op.waitValue.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic
      return is64 ? static_cast<int64_t>(now - want) >= 0 : static_cast<int32_t>(now - want) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == want;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & want) != 0;
    default:  // NOR
      return is64 ? ~(now | want) != 0 : static_cast<uint32_t>(~(now | want)) != 0;
  }
}

CUresult Driver::Execute(Stream* stream, const Command& command) {
  if (const auto* kernel = std::get_if<KernelCommand>(&command)) return LaunchNow(stream, *kernel);
  if (const auto* copy = std::get_if<CopyCommand>(&command)) return CopyNow(stream, *copy);
  if (const auto* set = std::get_if<MemsetCommand>(&command)) return MemsetNow(stream, *set);
  if (const auto* host = std::get_if<HostCommand>(&command)) {
    stream->time_ns += kHostNs;
    const HostCommand copy = *host;
    const CUresult status = stream->context->error;
    Unlocked([&] {
      if (copy.callback != nullptr)
        copy.callback(copy.callback_stream, status, copy.data);
      else
        copy.function(copy.data);
    });
    return CUDA_SUCCESS;
  }
  if (const auto* record = std::get_if<RecordCommand>(&command)) {
    stream->time_ns += kRecordNs;
    record->record->time_ns = stream->time_ns;
    record->record->done = true;
    return CUDA_SUCCESS;
  }
  if (const auto* wait = std::get_if<WaitCommand>(&command)) {
    if (wait->record != nullptr) stream->time_ns = std::max(stream->time_ns, wait->record->time_ns);
    return CUDA_SUCCESS;
  }
  if (const auto* value = std::get_if<ValueCommand>(&command)) {
    const CUstreamBatchMemOpParams& op = value->op;
    const bool is64 = op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    if (!is64 && op.operation != CU_STREAM_MEM_OP_WRITE_VALUE_32) return CUDA_SUCCESS;
    uint8_t* const at = HostBytes(op.writeValue.address, is64 ? 8 : 4, false);
    if (at == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (TracksMemory()) global_memory.Define(op.writeValue.address, is64 ? 8 : 4);
    if (is64)
      __atomic_store_n(reinterpret_cast<uint64_t*>(at), op.writeValue.value64, __ATOMIC_RELEASE);
    else
      __atomic_store_n(reinterpret_cast<uint32_t*>(at), op.writeValue.value, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
  }
  if (const auto* alloc = std::get_if<AllocCommand>(&command))
    return MaterializeGraphMemory(*this, stream->context, alloc->params);
  if (const auto* free_memory = std::get_if<FreeCommand>(&command)) {
    Range* const range = FindRange(free_memory->address);
    if (range == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return Release(range);
  }
  if (const auto* call = std::get_if<CallCommand>(&command)) call->call();
  return CUDA_SUCCESS;
}

CUresult Driver::LaunchNow(Stream* stream, const KernelCommand& command) {
  Context& context = *stream->context;
  const Device& device = *context.device;
  const Function& function = *command.function;
  const emu::ptx::Program& program = *function.module->program;
  emu::ptx::LaunchOptions options = launch_options;
  options.device.sm_count = static_cast<uint32_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  options.device.max_shared_per_block =
      static_cast<uint32_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  options.device.clock_khz = static_cast<uint32_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  options.device.compute_major =
      static_cast<uint32_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  options.device.compute_minor =
      static_cast<uint32_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  options.time_ns = stream->time_ns;
  options.grid_id = ++context.launches;
  if (TracksMemory()) options.global_memory = &global_memory;
  options.print = [&](const std::string& text) {
    context.printed += text;
    if (context.printed.size() > context.limits[CU_LIMIT_PRINTF_FIFO_SIZE]) ShowPrinted(&context);
  };
  if (function.module->uses_heap) {
    if (!context.heap) {
      Range* range = nullptr;
      const uint64_t bytes = context.limits[CU_LIMIT_MALLOC_HEAP_SIZE];
      if (Allocate(&context, bytes, RangeKind::kDevice, 0, &range) != CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
      context.heap = emu::ptx::DeviceHeap(range->va, bytes);
    }
    options.allocate = [&](uint64_t bytes) {
      const uint64_t va = context.heap.Allocate(bytes);
      if (va != 0 && TracksMemory()) global_memory.Undefine(va, bytes);
      return va;
    };
    options.release = [&](uint64_t va) { return context.heap.Free(va); };
  }
  emu::ptx::LaunchConfig config = command.config;
  const size_t stack = context.limits[CU_LIMIT_STACK_SIZE];
  config.local_bytes_per_thread = stack <= 1024 ? 0 : static_cast<uint32_t>(AlignUp(stack, size_t{16}));
  const absl::StatusOr<emu::ptx::LaunchResult> result =
      emu::ptx::RunLaunch(program, *function.bound, config, &context.space, options);
  if (!result.ok()) {
    Log(absl::StrCat("launch of ", function.name, ": ", std::string(result.status().message())));
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  for (const emu::ptx::CheckReport& report : result->reports)
    std::fprintf(stderr, "cuda: check: %s: %s (%llu times)\n",
                 report.severity == emu::ptx::CheckSeverity::kWarning ? "warning" : "error",
                 report.message.c_str(), static_cast<unsigned long long>(report.count));
  const uint64_t rate = uint64_t{4} * options.device.sm_count * options.device.clock_khz;
  stream->time_ns += kLaunchNs + result->stats.warp_instructions * 1000000 / std::max<uint64_t>(rate, 1);
  if (result->ok()) return CUDA_SUCCESS;
  if (result->fault.kind == emu::ptx::FaultKind::kAssert)
    std::fprintf(stderr, "%s\n", result->fault.message.c_str());
  CUresult error = ResultOf(result->fault.kind);
  // A window of another state space, reached as global memory.
  const uint64_t at = result->fault.memory.address;
  if (result->fault.kind == emu::ptx::FaultKind::kMemory && at >= emu::ptx::kSharedWindow &&
      at < emu::ptx::kParamWindow + emu::ptx::kParamWindowSize)
    error = CUDA_ERROR_INVALID_ADDRESS_SPACE;
  Poison(&context, error, result->fault.message);
  return context.error;
}

namespace {

// One side of a copy: where row (y, z) begins.
struct Side {
  uint64_t base = 0, pitch = 0, height = 0, x = 0, y = 0, z = 0;
  uint64_t Row(uint64_t row, uint64_t slice) const {
    return base + ((z + slice) * height + y + row) * pitch + x;
  }
};

}  // namespace

CUresult Driver::CopyNow(Stream* stream, const CopyCommand& command) {
  const CUDA_MEMCPY3D_PEER& c = command.copy;
  Side dst{CopyBase(c.dstMemoryType, c.dstHost, c.dstDevice),
           c.dstPitch,
           c.dstHeight,
           c.dstXInBytes,
           c.dstY,
           c.dstZ};
  Side src{CopyBase(c.srcMemoryType, c.srcHost, c.srcDevice),
           c.srcPitch,
           c.srcHeight,
           c.srcXInBytes,
           c.srcY,
           c.srcZ};
  if (!command.staged.empty())
    src = {reinterpret_cast<uint64_t>(command.staged.data()), c.srcPitch, c.srcHeight};
  const bool all_device = FindRange(dst.base) != nullptr && FindRange(src.base) != nullptr;
  for (uint64_t slice = 0; slice < c.Depth; ++slice) {
    for (uint64_t row = 0; row < c.Height; ++row) {
      uint64_t to = dst.Row(row, slice), from = src.Row(row, slice), left = c.WidthInBytes;
      while (left > 0) {
        // Virtual memory may change its backing in the middle of a row.
        uint64_t n = left;
        for (const uint64_t at : {to, from})
          if (const Range* range = FindRange(at))
            if (range->kind == RangeKind::kVirtual) n = std::min(n, range->bytes - (at - range->va));
        uint8_t* const t = HostBytes(to, n, false);
        const uint8_t* const f = HostBytes(from, n, false);
        if (t == nullptr || f == nullptr) {
          Log(absl::StrCat("copy of ", n, " bytes from 0x", absl::Hex(from), " to 0x", absl::Hex(to),
                           " leaves an allocation"));
          return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        std::memmove(t, f, n);
        if (TracksMemory()) global_memory.Copy(to, from, n);
        to += n, from += n, left -= n;
      }
    }
  }
  const uint64_t bytes = c.WidthInBytes * c.Height * c.Depth;
  const uint64_t gbps = all_device ? stream->context->device->profile->memory_gbps / 2 : kHostGbps;
  stream->time_ns += kCopyNs + bytes / std::max<uint64_t>(gbps, 1);
  return CUDA_SUCCESS;
}

CUresult Driver::MemsetNow(Stream* stream, const MemsetCommand& command) {
  const CUDA_MEMSET_NODE_PARAMS& s = command.set;
  for (size_t row = 0; row < s.height; ++row) {
    uint64_t at = s.dst + row * s.pitch, left = s.width * s.elementSize;
    while (left > 0) {
      uint64_t n = left;
      if (const Range* range = FindRange(at))
        if (range->kind == RangeKind::kVirtual) n = std::min(n, range->bytes - (at - range->va));
      uint8_t* const to = HostBytes(at, n, true);
      if (to == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
      if (TracksMemory()) global_memory.Define(at, n);
      if (s.elementSize == 1) {
        std::memset(to, static_cast<int>(s.value & 0xff), n);
      } else {
        for (uint64_t i = 0; i < n; i += s.elementSize) std::memcpy(to + i, &s.value, s.elementSize);
      }
      at += n, left -= n;
    }
  }
  stream->time_ns +=
      kCopyNs + s.width * s.elementSize * s.height / stream->context->device->profile->memory_gbps;
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv
