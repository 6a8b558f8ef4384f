// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/gpu.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "emu/amd/isa/opcode.h"
#include "src/base/status.h"

namespace understudy::mockgpu::amd {
namespace {

// Virtual cost of handling one interrupt in the kernel driver.
constexpr uint64_t kInterruptNs = 500;

emu::amd::Isa IsaOf(const GpuProfile& profile) {
  emu::amd::Isa isa;
  US_CHECK(emu::amd::IsaOfTarget(profile.name.c_str(), &isa)) << profile.name;
  return isa;
}

}  // namespace

absl::Status Gpu::CheckProfile(const GpuProfile& profile) {
  const auto refuse = [&](const std::string& what) {
    return absl::UnimplementedError(absl::StrCat("mock machine: profile ", profile.name,
                                                 " (gfx_target_version ", profile.gfx_target_version,
                                                 "): ", what));
  };
  emu::amd::Isa isa;
  if (!emu::amd::IsaOfTarget(profile.name.c_str(), &isa))
    return refuse("no such instruction set is modelled");
  if (!profile.gc()) return refuse("no command processor of its GC version is modelled");
  if (!profile.sdma()) return refuse("no copy engine of its SDMA version is modelled");
  if (profile.num_xcc != 1) return refuse(absl::StrCat(profile.num_xcc, " XCCs, expected 1"));
  return absl::OkStatus();
}

Gpu::Gpu(GpuProfile profile, uint32_t gpu_id, Machine* machine, DeviceFile render_file,
         const Settings& settings)
    : profile_(std::move(profile)),
      gpu_id_(gpu_id),
      machine_(machine),
      render_file_(std::move(render_file)),
      settings_(settings),
      programs_(IsaOf(profile_)) {
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
  // TMPRING_SIZE.WAVES: of one shader engine from GFX11 on, of all before.
  options.shader_engines = gc() == Gc::kGc9 ? 1 : profile_.shader_engines();
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
