// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/gpu.h"

#include <utility>

#include "emu/amd/isa/opcode.h"

namespace understudy::mockgpu::amd {

Gpu::Gpu(GpuProfile profile, uint32_t gpu_id, Machine* machine, DeviceFile render_file,
         const Settings& settings)
    : profile_(std::move(profile)),
      gpu_id_(gpu_id),
      machine_(machine),
      render_file_(std::move(render_file)),
      settings_(settings),
      // MockKernel::Create refuses profiles of other generations.
      programs_(emu::amd::Isa::kRdna3) {}

Gpu::~Gpu() = default;

int Gpu::TakeDoorbell() {
  for (size_t i = 0; i < std::size(doorbell_taken_); ++i) {
    if (doorbell_taken_[i]) continue;
    doorbell_taken_[i] = true;
    __atomic_store_n(Doorbell(static_cast<int>(i)), uint64_t{0}, __ATOMIC_RELEASE);
    return static_cast<int>(i);
  }
  return -1;
}

emu::amd::Isa Gpu::isa() { return programs_.isa(); }

emu::amd::Dispatch::Options Gpu::DispatchOptions() {
  emu::amd::Dispatch::Options options;
  options.max_lds_bytes = profile_.lds_size_kb * 1024;
  options.vgpr_fill = settings_.vgpr_fill;
  options.instruction_budget = settings_.instruction_budget;
  options.program_cache = &programs_;
  return options;
}

uint64_t Gpu::WaveInstructionsPerMicrosecond() {
  // One instruction a clock and SIMD: an upper bound that keeps virtual durations in proportion.
  return uint64_t{profile_.simd_count} * profile_.max_engine_clk_mhz;
}

void Gpu::Interrupt(uint32_t queue_id, uint32_t context, int valid_bits) {
  ++counters_.interrupts;
  machine_->Log(EventKind::kInterrupt, queue_id, context);
  machine_->HostVisible();
  on_interrupt(context, valid_bits);
}

void Gpu::QueueFaulted(FaultReport report) { on_fault(std::move(report)); }

}  // namespace understudy::mockgpu::amd
