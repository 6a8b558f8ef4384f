// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/emulate.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::programs {
namespace {

using emu::Perm;
using emu::amd::Dispatch;
using emu::amd::DispatchRegs;

constexpr uint64_t kImageVa = 0x7f0000100000, kKernargVa = 0x7f0040000000, kPacketVa = 0x7f0041000000,
                   kScratchVa = 0x7f0050000000;
constexpr uint64_t kInVa = 0x7e0000000000, kOutVa = 0x7e0001000000, kMemVa = 0x7e0002000000;
constexpr uint32_t kKernargBytes = 8192, kPacketBytes = 64, kScratchWaves = 64;
// Beyond what the compiler knows of, where it does not know how deep the stack gets.
constexpr uint32_t kStackBytes = 8 << 10;

// LLVM AMDGPUUsage, "Code Object V5 Metadata": hidden arguments.
void FillHidden(const amd::KernelSymbol& kernel, const LaunchGrid& grid, uint8_t* out) {
  for (const amd::KernelArgument& a : kernel.args) {
    if (!a.hidden() || a.offset + a.size > kKernargBytes) continue;
    const auto store = [&](uint64_t v) { std::memcpy(out + a.offset, &v, std::min(a.size, 8u)); };
    for (int k = 0; k < 3; ++k) {
      const std::string axis(1, static_cast<char>('x' + k));
      if (a.value_kind == "hidden_block_count_" + axis) store(grid.groups[k]);
      if (a.value_kind == "hidden_group_size_" + axis) store(grid.group[k]);
    }
    if (a.value_kind == "hidden_grid_dims") store(3);
    if (a.value_kind == "hidden_dynamic_lds_size") store(grid.dynamic_lds);
    if (a.value_kind == "hidden_shared_base") store(1u << 16);
    if (a.value_kind == "hidden_private_base") store(2u << 16);
  }
}

}  // namespace

EmulatedObject::EmulatedObject(amd::CodeObject code, emu::amd::Isa isa)
    : code_(std::move(code)),
      isa_(isa),
      cache_(isa),
      image_(code_.Image(kImageVa)),
      kernarg_(kKernargBytes),
      packet_(kPacketBytes) {
  const auto map = [this](uint64_t va, std::vector<uint8_t>& bytes, Perm perm, const char* label) {
    US_CHECK_OK(memory_.Map(va, bytes.size(), bytes.data(), perm, label));
  };
  map(kImageVa, image_, Perm::kAll, "code object");
  map(kKernargVa, kernarg_, Perm::kRead, "kernel arguments");
  map(kPacketVa, packet_, Perm::kRead, "dispatch packet");
}

absl::StatusOr<std::unique_ptr<EmulatedObject>> EmulatedObject::Load(absl::Span<const uint8_t> file) {
  US_ASSIGN_OR_RETURN(amd::CodeObject code, amd::CodeObject::Parse(file));
  emu::amd::Isa isa;
  if (!emu::amd::IsaOfTarget(code.isa().c_str(), &isa)) {
    return absl::UnimplementedError(absl::StrCat("processor ", code.isa(), " is none that the emulator has"));
  }
  return std::unique_ptr<EmulatedObject>(new EmulatedObject(std::move(code), isa));
}

absl::StatusOr<int> EmulatedObject::WaveSize(const std::string& kernel) const {
  US_ASSIGN_OR_RETURN(const amd::KernelSymbol* k, code_.FindKernel(kernel));
  return emu::amd::IsCdna(isa_) || !k->descriptor.wave32() ? 64 : 32;
}

absl::Status EmulatedObject::Launch(const std::string& kernel, const LaunchGrid& grid,
                                    const std::vector<uint8_t>& arguments, Dispatch::Stats* stats) {
  US_ASSIGN_OR_RETURN(const amd::KernelSymbol* k, code_.FindKernel(kernel));
  const amd::KernelDescriptor& d = k->descriptor;
  if (arguments.size() > kKernargBytes || d.kernarg_size > kKernargBytes) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel, ": ", arguments.size(),
                                                   " bytes of arguments, ", d.kernarg_size,
                                                   " wanted, at most ", kKernargBytes));
  }
  std::fill(kernarg_.begin(), kernarg_.end(), 0);
  std::copy(arguments.begin(), arguments.end(), kernarg_.begin());
  FillHidden(*k, grid, kernarg_.data());

  // hsa_kernel_dispatch_packet_t: code that was given no hidden arguments reads sizes from it.
  std::fill(packet_.begin(), packet_.end(), 0);
  const uint32_t lds = d.group_segment_fixed_size + grid.dynamic_lds;
  for (int i = 0; i < 3; ++i) {
    StoreLE<uint16_t>(packet_.data() + 4 + 2 * i, static_cast<uint16_t>(grid.group[i]));
    StoreLE<uint32_t>(packet_.data() + 12 + 4 * i, grid.groups[i] * grid.group[i]);
  }
  StoreLE<uint32_t>(packet_.data() + 24, d.private_segment_fixed_size);
  StoreLE<uint32_t>(packet_.data() + 28, lds);
  StoreLE<uint64_t>(packet_.data() + 40, kKernargVa);

  emu::amd::KernelLaunch launch;
  launch.descriptor_va = kImageVa + k->descriptor_address;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid.groups[i] * grid.group[i];
    launch.workgroup[i] = grid.group[i];
  }
  launch.kernarg_va = kKernargVa;
  launch.dispatch_packet_va = kPacketVa;
  launch.queue_va = kPacketVa;
  launch.dispatch_id = 1;
  launch.dynamic_lds = grid.dynamic_lds;
  launch.scratch_va = kScratchVa;
  launch.scratch_waves = kScratchWaves;
  launch.stack_per_lane = kStackBytes;
  US_ASSIGN_OR_RETURN(const emu::amd::KernelDescriptor descriptor,
                      emu::amd::ParseKernelDescriptor(image_.data() + k->descriptor_address,
                                                      image_.size() - k->descriptor_address));
  const uint64_t scratch_bytes = emu::amd::ScratchBytes(isa_, descriptor, launch);
  if (scratch_.size() < scratch_bytes) {
    if (!scratch_.empty()) US_CHECK_OK(memory_.Unmap(kScratchVa, scratch_.size()));
    scratch_.assign(scratch_bytes, 0xa5);
    US_CHECK_OK(memory_.Map(kScratchVa, scratch_.size(), scratch_.data(), Perm::kReadWrite, "scratch"));
  }
  US_ASSIGN_OR_RETURN(const DispatchRegs regs,
                      emu::amd::MakeDispatchRegs(isa_, descriptor, launch, &memory_));

  Dispatch::Options options;
  options.instruction_budget = instruction_budget;
  options.vgpr_fill = 0xdead0000;
  options.program_cache = &cache_;
  options.checks = checks;
  Dispatch dispatch(isa_, regs, &memory_, options);
  const Dispatch::State state = dispatch.Step(instruction_budget + 1);
  if (stats != nullptr) *stats = dispatch.stats();
  reports.insert(reports.end(), dispatch.reports().begin(), dispatch.reports().end());
  if (state != Dispatch::State::kDone) {
    return absl::AbortedError(absl::StrCat("kernel ", kernel, ": ", dispatch.fault().message));
  }
  return absl::OkStatus();
}

absl::Status EmulatedObject::RunProgram(const std::string& kernel, const uint32_t group[3], ProgramData* data,
                                        Dispatch::Stats* stats) {
  const struct {
    uint64_t va;
    std::vector<uint32_t>& words;
    Perm perm;
    const char* label;
  } kBuffers[] = {{kInVa, data->in, Perm::kRead, "in"},
                  {kOutVa, data->out, Perm::kReadWrite, "out"},
                  {kMemVa, data->mem, Perm::kReadWrite, "mem"}};
  std::vector<uint8_t> arguments(24);
  for (size_t i = 0; i < std::size(kBuffers); ++i) {
    US_RETURN_IF_ERROR(memory_.Map(kBuffers[i].va, kBuffers[i].words.size() * 4,
                                   reinterpret_cast<uint8_t*>(kBuffers[i].words.data()), kBuffers[i].perm,
                                   kBuffers[i].label));
    StoreLE<uint64_t>(arguments.data() + 8 * i, kBuffers[i].va);
  }
  LaunchGrid grid;
  std::copy(group, group + 3, grid.group);
  grid.groups[0] = kProgramItems / kProgramGroup;
  const absl::Status status = Launch(kernel, grid, arguments, stats);
  for (const auto& b : kBuffers) US_CHECK_OK(memory_.Unmap(b.va, b.words.size() * 4));
  return status;
}

}  // namespace understudy::programs
