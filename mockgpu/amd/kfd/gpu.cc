// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/gpu.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "emu/amd/isa/opcode.h"

namespace understudy::mockgpu::amd {
namespace {

// Virtual cost of handling one interrupt in the kernel driver.
constexpr uint64_t kInterruptNs = 500;

}  // namespace

Gpu::Gpu(GpuProfile profile, uint32_t gpu_id, Machine* machine, DeviceFile render_file,
         const Settings& settings)
    : profile_(std::move(profile)),
      gpu_id_(gpu_id),
      machine_(machine),
      render_file_(std::move(render_file)),
      settings_(settings),
      // MockKernel::Create refuses profiles of other generations.
      programs_(emu::amd::Isa::kRdna3) {
  interrupts_.deliver = [this](const InterruptRing::Entry& entry) {
    on_interrupt(entry.context, entry.valid_bits);
  };
  interrupts_actor_ =
      machine_->AddActor(&interrupts_, absl::StrCat("interrupts of gpu 0x", absl::Hex(gpu_id_)));
}

Gpu::~Gpu() { machine_->RemoveActor(interrupts_actor_); }

uint64_t InterruptRing::Step() {
  const Entry entry = entries_.front();
  entries_.pop_front();
  deliver(entry);
  return kInterruptNs;
}

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
  interrupts_.Push({context, valid_bits});
}

void Gpu::QueueFaulted(FaultReport report) { on_fault(std::move(report)); }

}  // namespace understudy::mockgpu::amd
