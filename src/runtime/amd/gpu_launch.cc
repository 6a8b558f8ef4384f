// SPDX-License-Identifier: Apache-2.0
// From a kernel descriptor and a grid to PM4 (LLVM AMDGPUUsage, "Kernel Dispatch" and "Initial Kernel
// Execution State").
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/runtime/amd/gpu.h"

namespace understudy::amd {
namespace {

constexpr uint32_t kMaxWorkgroup = 1024;
constexpr uint64_t kClockNanosPerTick = 10;  // the reference clock of GFX9 to GFX12 runs at 100 MHz
// Where the signal page keeps a launch's timestamps.
constexpr uint64_t kBeginTicks = 128, kEndTicks = 136;

}  // namespace

// What get_local_size and friends read on code that asks for the dispatch pointer (HSA runtime
// specification 2.9.6).
void WriteDispatchPacket(uint8_t* p, const KernelSymbol& kernel, const LaunchShape& s, uint64_t kernarg_va) {
  std::fill(p, p + kDispatchPacketBytes, 0);
  StoreLE<uint16_t>(p, 2);      // header: type kernel dispatch
  StoreLE<uint16_t>(p + 2, 3);  // setup: three dimensions
  for (int i = 0; i < 3; ++i) {
    StoreLE<uint16_t>(p + 4 + 2 * i, static_cast<uint16_t>(s.block[i]));
    StoreLE<uint32_t>(p + 12 + 4 * i, s.grid[i] * s.block[i]);
  }
  StoreLE<uint32_t>(p + 24, kernel.descriptor.private_segment_fixed_size);
  StoreLE<uint32_t>(p + 28, kernel.descriptor.group_segment_fixed_size + s.dynamic_lds);
  StoreLE<uint64_t>(p + 40, kernarg_va);
}

absl::Status AmdGpu::CheckLaunch(const KernelSymbol& kernel, const LaunchShape& shape) const {
  const auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("launch of kernel '", kernel.name, "': ", what));
  };
  const KernelDescriptor& d = kernel.descriptor;
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0 || shape.block[i] == 0 || shape.block[i] > kMaxWorkgroup) {
      return bad(absl::StrFormat(
          "grid %d and workgroup size %d in dimension %d, expected at least 1, and at most %d "
          "work-items",
          shape.grid[i], shape.block[i], i, kMaxWorkgroup));
    }
    if (uint64_t{shape.grid[i]} * shape.block[i] > UINT32_MAX) {
      return bad(absl::StrFormat("%d x %d work-items in dimension %d, expected below 2^32", shape.grid[i],
                                 shape.block[i], i));
    }
    items *= shape.block[i];
  }
  if (items > std::min(kernel.max_flat_workgroup_size, kMaxWorkgroup)) {
    return bad(absl::StrCat("a workgroup of ", items, " work-items, the kernel allows ",
                            std::min(kernel.max_flat_workgroup_size, kMaxWorkgroup)));
  }
  if (kernel.reqd_workgroup_size && *kernel.reqd_workgroup_size != shape.block) {
    const auto& r = *kernel.reqd_workgroup_size;
    return bad(absl::StrFormat("workgroup size %dx%dx%d, the kernel requires %dx%dx%d", shape.block[0],
                               shape.block[1], shape.block[2], r[0], r[1], r[2]));
  }
  if (uint64_t{d.group_segment_fixed_size} + shape.dynamic_lds > lds_bytes()) {
    return bad(absl::StrCat(d.group_segment_fixed_size, " + ", shape.dynamic_lds,
                            " bytes of LDS, the device has ", lds_bytes()));
  }
  const struct {
    bool used;
    const char* what;
  } kUnsupported[] = {
      {d.private_segment_buffer() && generation_.scratch.architected,
       "a private segment buffer in SGPRs (architected flat scratch is used)"},
      {d.queue_ptr(), "a queue pointer in SGPRs"},
      {d.flat_scratch_init() && generation_.scratch.architected,
       "flat scratch initialisation in SGPRs (architected flat scratch is used)"},
      {d.wave32() && !generation_.has_wave32, "waves of 32 lanes, and this GPU has waves of 64"},
      {(d.kernarg_preload & 0x7f) != 0, "kernel arguments preloaded into SGPRs"},
      {d.uses_dynamic_stack(), "a stack of unknown size (recursion or calls through pointers)"},
  };
  for (const auto& u : kUnsupported) {
    if (u.used)
      return absl::UnimplementedError(
          absl::StrCat("launch of kernel '", kernel.name, "': it wants ", u.what));
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::EnsureScratch(uint32_t bytes_per_lane) {
  if (bytes_per_lane <= scratch_per_lane_) return absl::OkStatus();
  // Waves of 64 lanes, so that one ring serves both wave sizes.
  constexpr uint64_t kLanes = 64, kMaxWaves = 0xfff;
  const ScratchLayout& layout = generation_.scratch;
  const uint64_t wave_bytes = AlignUp(bytes_per_lane * kLanes, layout.unit);
  if (wave_bytes / layout.unit > layout.max_units) {
    return absl::ResourceExhaustedError(absl::StrCat(bytes_per_lane,
                                                     " bytes of scratch a lane, the hardware allows ",
                                                     uint64_t{layout.max_units} * layout.unit / kLanes));
  }
  const uint64_t engines = node_.shader_engines(), rings = layout.waves_per_engine ? engines : 1;
  uint64_t waves = uint64_t{node_.cu_count()} * node_.max_slots_scratch_cu / rings;
  waves = std::min({waves, kMaxWaves, options_.scratch_limit / wave_bytes / rings});
  // The hardware gives each engine the same number (ROCr, AqlQueue::FillComputeTmpRingSize).
  if (!layout.waves_per_engine) waves = waves / engines * engines;
  // A workgroup of 1024 work-items is 32 waves, all resident on one engine.
  const uint64_t per_engine = layout.waves_per_engine ? waves : waves / engines;
  if (per_engine < kMaxWorkgroup / 32) {
    return absl::ResourceExhaustedError(absl::StrCat(bytes_per_lane, " bytes of scratch a lane: ", per_engine,
                                                     " waves a shader engine fit in ", options_.scratch_limit,
                                                     " bytes, a workgroup may need ", kMaxWorkgroup / 32));
  }
  US_ASSIGN_OR_RETURN(
      const GpuBuffer scratch,
      memory_->Allocate(waves * rings * wave_bytes, MemoryKind::kVram, {true, false, "scratch"}));
  if (scratch_.size != 0) Defer(scratch_, {true, false, "scratch"}, false);
  scratch_ = scratch;
  scratch_per_lane_ = static_cast<uint32_t>(wave_bytes / kLanes);
  tmpring_size_ = static_cast<uint32_t>(waves | wave_bytes / layout.unit << 12);
  return absl::OkStatus();
}

// User SGPRs in the order of the kernel code properties. The code may declare more than it asks us to fill.
absl::StatusOr<std::vector<uint32_t>> AmdGpu::UserSgprs(const KernelSymbol& k, uint64_t args_va,
                                                        uint64_t packet_va) const {
  const KernelDescriptor& d = k.descriptor;
  std::vector<uint32_t> user;
  const auto push64 = [&](uint64_t v) {
    user.push_back(pm4::Lo(v));
    user.push_back(pm4::Hi(v));
  };
  if (d.private_segment_buffer()) {
    // A raw buffer over the scratch memory, lanes interleaved by dwords: SWIZZLE_ENABLE; INDEX_STRIDE 64 and
    // ADD_TID_ENABLE (LLVM, SIInstrInfo::getScratchRsrcWords23; the size as ROCr's AqlQueue has it).
    constexpr uint32_t kSwizzle = 1u << 31, kStride64AddTid = 3u << 21 | 1u << 23;
    user.insert(user.end(), {pm4::Lo(scratch_.va), (pm4::Hi(scratch_.va) & 0xffff) | kSwizzle,
                             static_cast<uint32_t>(scratch_.size), kStride64AddTid});
  }
  if (d.dispatch_ptr()) push64(packet_va);
  if (d.kernarg_ptr()) push64(args_va);
  if (d.dispatch_id()) push64(dispatches_);
  if (d.flat_scratch_init()) push64(scratch_.va);
  if (d.private_segment_size()) user.push_back(d.private_segment_fixed_size);
  if (user.size() > d.user_sgprs() || d.user_sgprs() > 16) {
    return absl::InvalidArgumentError(absl::StrCat("launch of kernel '", k.name, "': ", user.size(),
                                                   " user SGPRs by its properties, ", d.user_sgprs(),
                                                   " by its program resources, at most 16"));
  }
  user.resize(d.user_sgprs());
  return user;
}

void AmdGpu::AfterCopies(pm4::Builder& p) {
  const bool after_copy = compute_saw_sdma_ != sdma_timeline_.last;
  if (after_copy) {
    p.WaitMemGreaterEqual(sdma_timeline_.va, static_cast<uint32_t>(sdma_timeline_.last));
    compute_saw_sdma_ = sdma_timeline_.last;
  }
  p.AcquireMem(/*l2=*/after_copy);
}

void AmdGpu::Dispatch(pm4::Builder& p, const LoadedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const uint32_t> user) const {
  const KernelDescriptor& d = kernel.symbol->descriptor;
  const uint32_t lds = d.group_segment_fixed_size + shape.dynamic_lds;
  const uint32_t lds_units =
      static_cast<uint32_t>(AlignUp(lds, generation_.lds_granule)) / generation_.lds_granule;
  const uint32_t rsrc2 = (d.rsrc2 & ~(0x1ffu << 15)) | lds_units << 15;
  p.SetShReg(pm4::kComputePgmLo, {pm4::Lo(kernel.entry_va >> 8), pm4::Hi(kernel.entry_va >> 8)});
  p.SetShReg(pm4::kComputePgmRsrc1, {d.rsrc1 | generation_.rsrc1, rsrc2});
  p.SetPgmRsrc3(d.rsrc3);
  p.SetShReg(pm4::kComputeTmpringSize, {tmpring_size_});
  p.SetShReg(pm4::kComputeDispatchScratchBaseLo, {pm4::Lo(scratch_.va >> 8), pm4::Hi(scratch_.va >> 8)});
  p.SetShReg(pm4::kComputeRestartX, {0, 0, 0});
  if (!user.empty()) p.SetShReg(pm4::kComputeUserData0, user);
  p.SetShReg(pm4::kComputeResourceLimits, {0});
  p.SetShReg(pm4::kComputeStartX, {0, 0, 0, shape.block[0], shape.block[1], shape.block[2]});
  p.Dispatch(shape.grid[0], shape.grid[1], shape.grid[2],
             pm4::kComputeShaderEn | pm4::kForceStartAt000 | (d.wave32() ? pm4::kCsW32En : 0));
}

absl::Status AmdGpu::LaunchLocked(const LoadedKernel& kernel, const LaunchShape& shape,
                                  absl::Span<const uint8_t> kernarg, LaunchTimes* times) {
  US_RETURN_IF_ERROR(CheckUsable());
  const KernelSymbol& k = *kernel.symbol;
  const KernelDescriptor& d = k.descriptor;
  US_RETURN_IF_ERROR(CheckLaunch(k, shape));
  US_RETURN_IF_ERROR(EnsureScratch(d.private_segment_fixed_size));

  const uint64_t packet_at = DispatchPacketAt(d);
  const uint64_t bytes = packet_at + (d.dispatch_ptr() ? kDispatchPacketBytes : 0);
  const uint64_t align = std::max<uint64_t>(k.kernarg_align, 64);
  uint64_t args_va = 0;
  if (bytes != 0) {
    US_ASSIGN_OR_RETURN(const uint64_t offset,
                        AllocateRing(kernarg_ring_, QueueKind::kCompute, bytes, align));
    uint8_t* const host = kernarg_.host + offset;
    args_va = kernarg_.va + offset;
    US_RETURN_IF_ERROR(FillKernarg(k, kernarg, shape, apertures_, {host, d.kernarg_size}));
    if (d.dispatch_ptr()) WriteDispatchPacket(host + packet_at, k, shape, args_va);
  } else {
    US_RETURN_IF_ERROR(FillKernarg(k, kernarg, shape, apertures_, {}));
  }

  US_ASSIGN_OR_RETURN(const std::vector<uint32_t> user, UserSgprs(k, args_va, args_va + packet_at));
  US_ASSIGN_OR_RETURN(const uint64_t value, NextValue(QueueKind::kCompute));
  pm4::Builder p(generation_.pm4);
  AfterCopies(p);
  if (times != nullptr) p.ReleaseMemTimestamp(signals_.va + kBeginTicks);

  Dispatch(p, kernel, shape, user);
  p.CsPartialFlush();
  if (times != nullptr) p.ReleaseMemTimestamp(signals_.va + kEndTicks);
  US_RETURN_IF_ERROR(SubmitCompute(p, absl::StrCat("kernel '", k.name, "'"), value));
  kernarg_ring_.Retire(value);
  ++dispatches_;
  ++stats_.launches;

  if (times != nullptr) {
    US_RETURN_IF_ERROR(WaitFor(QueueKind::kCompute, value));
    times->begin_ticks = LoadLE<uint64_t>(signals_.host + kBeginTicks);
    times->end_ticks = LoadLE<uint64_t>(signals_.host + kEndTicks);
    times->begin_ns = times->begin_ticks * kClockNanosPerTick;
    times->device_ns = (times->end_ticks - times->begin_ticks) * kClockNanosPerTick;
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::LaunchRaw(const LoadedKernel& kernel, const LaunchShape& shape,
                               absl::Span<const uint8_t> kernarg, LaunchTimes* times) {
  std::lock_guard lock(mutex_);
  return LaunchLocked(kernel, shape, kernarg, times);
}

absl::Status AmdGpu::Launch(const LoadedKernel& kernel, const LaunchShape& shape,
                            const std::vector<ArgValue>& args, LaunchTimes* times) {
  US_ASSIGN_OR_RETURN(const PackedArgs packed, PackArgs(*kernel.symbol, args));
  LaunchShape whole = shape;
  if (packed.dynamic_lds > UINT32_MAX - whole.dynamic_lds) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.symbol->name, ": LDS sizes overflow"));
  }
  whole.dynamic_lds += packed.dynamic_lds;
  return LaunchRaw(kernel, whole, packed.kernarg, times);
}

}  // namespace understudy::amd
