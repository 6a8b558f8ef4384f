// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/cp/register_file.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr RegisterInfo kInfos[] = {
#define CP_REGISTER(name, gc9, gc11, gc12, kind) {#name, RegisterKind::kind},
#include "mockgpu/amd/cp/registers.inc"
};

constexpr uint32_t kAddresses[][3] = {
#define CP_REGISTER(name, gc9, gc11, gc12, kind) {gc9, gc11, gc12},
#include "mockgpu/amd/cp/registers.inc"
};

// Index by dword address for the compute block, which packets write all the time; the rest is searched.
constexpr uint32_t kFirst = 0x2e00, kLast = 0x2e7f;
using ComputeIndex = std::array<Reg, kLast - kFirst + 1>;
constexpr std::array<ComputeIndex, 3> kComputeIndex = [] {
  std::array<ComputeIndex, 3> index{};
  for (size_t gc = 0; gc < index.size(); ++gc) {
    index[gc].fill(Reg::kCount);
    for (size_t i = 0; i < std::size(kAddresses); ++i) {
      const uint32_t address = kAddresses[i][gc];
      if (address >= kFirst && address <= kLast) index[gc][address - kFirst] = static_cast<Reg>(i);
    }
  }
  return index;
}();

}  // namespace

const RegisterInfo& InfoOf(Reg reg) { return kInfos[static_cast<size_t>(reg)]; }

Reg RegisterFile::At(uint32_t address) const {
  const auto gc = static_cast<size_t>(gc_);
  if (address >= kFirst && address <= kLast) return kComputeIndex[gc][address - kFirst];
  for (size_t i = 0; i < std::size(kAddresses); ++i) {
    if (kAddresses[i][gc] == address && address != 0) return static_cast<Reg>(i);
  }
  return Reg::kCount;
}

uint32_t RegisterFile::Get(Reg reg) const {
  return InfoOf(reg).kind == RegisterKind::kDone ? 0xffffffffu : values_[static_cast<size_t>(reg)];
}

emu::amd::DispatchRegs RegisterFile::ForDispatch(const uint32_t dim[3], uint32_t initiator) const {
  emu::amd::DispatchRegs regs;
  // The program address counts 256-byte blocks; HI has 8 bits (address bits 47:40).
  regs.pgm_addr = (uint64_t{Get(Reg::COMPUTE_PGM_LO)} | uint64_t{Get(Reg::COMPUTE_PGM_HI) & 0xff} << 32) << 8;
  regs.rsrc1 = Get(Reg::COMPUTE_PGM_RSRC1);
  regs.rsrc2 = Get(Reg::COMPUTE_PGM_RSRC2);
  regs.rsrc3 = Get(Reg::COMPUTE_PGM_RSRC3);
  for (int i = 0; i < 16; ++i) regs.user_data[i] = Get(Reg::COMPUTE_USER_DATA_0 + i);
  for (int i = 0; i < 3; ++i) {
    regs.num_thread[i] = Get(Reg::COMPUTE_NUM_THREAD_X + i);
    regs.start[i] = Get(Reg::COMPUTE_START_X + i);
    regs.dim[i] = dim[i];
  }
  regs.initiator = initiator;
  regs.scratch_base = (uint64_t{Get(Reg::COMPUTE_DISPATCH_SCRATCH_BASE_LO)} |
                       uint64_t{Get(Reg::COMPUTE_DISPATCH_SCRATCH_BASE_HI) & 0xff} << 32)
                      << 8;
  regs.tmpring_size = Get(Reg::COMPUTE_TMPRING_SIZE);
  return regs;
}

}  // namespace understudy::mockgpu::amd
