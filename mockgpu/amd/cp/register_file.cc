// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/cp/register_file.h"

#include <algorithm>

#include "src/base/status.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr RegisterInfo kRegisters[] = {
#define CP_REGISTER(name, address, kind) {#name, address, RegisterKind::kind},
#include "mockgpu/amd/cp/registers.inc"
};

// Index by dword address for the compute block, which packets write all the time; the rest is searched.
constexpr uint32_t kFirst = 0x2e00, kLast = 0x2e7f;
constexpr auto kComputeIndex = [] {
  std::array<int16_t, kLast - kFirst + 1> index{};
  for (auto& i : index) i = -1;
  for (int16_t i = 0; i < static_cast<int16_t>(std::size(kRegisters)); ++i) {
    const uint32_t address = kRegisters[i].address;
    if (address >= kFirst && address <= kLast) index[address - kFirst] = i;
  }
  return index;
}();

int IndexOf(uint32_t address) {
  if (address >= kFirst && address <= kLast) return kComputeIndex[address - kFirst];
  for (size_t i = 0; i < std::size(kRegisters); ++i) {
    if (kRegisters[i].address == address) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

const RegisterInfo* FindRegister(uint32_t address) {
  const int index = IndexOf(address);
  return index < 0 ? nullptr : &kRegisters[index];
}

void RegisterFile::Set(uint32_t address, uint32_t value) {
  const int index = IndexOf(address);
  US_CHECK(index >= 0) << "register " << address;
  values_[index] = value;
}

uint32_t RegisterFile::Get(uint32_t address) const {
  const int index = IndexOf(address);
  US_CHECK(index >= 0) << "register " << address;
  return kRegisters[index].kind == RegisterKind::kDone ? 0xffffffffu : values_[index];
}

emu::amd::DispatchRegs RegisterFile::ForDispatch(const uint32_t dim[3], uint32_t initiator) const {
  emu::amd::DispatchRegs regs;
  // The program address counts 256-byte blocks; HI has 8 bits (address bits 47:40).
  regs.pgm_addr = (uint64_t{Get(reg::COMPUTE_PGM_LO)} | uint64_t{Get(reg::COMPUTE_PGM_HI) & 0xff} << 32) << 8;
  regs.rsrc1 = Get(reg::COMPUTE_PGM_RSRC1);
  regs.rsrc2 = Get(reg::COMPUTE_PGM_RSRC2);
  regs.rsrc3 = Get(reg::COMPUTE_PGM_RSRC3);
  for (uint32_t i = 0; i < 16; ++i) regs.user_data[i] = Get(reg::COMPUTE_USER_DATA_0 + i);
  for (uint32_t i = 0; i < 3; ++i) {
    regs.num_thread[i] = Get(reg::COMPUTE_NUM_THREAD_X + i);
    regs.start[i] = Get(reg::COMPUTE_START_X + i);
    regs.dim[i] = dim[i];
  }
  regs.initiator = initiator;
  regs.scratch_base = (uint64_t{Get(reg::COMPUTE_DISPATCH_SCRATCH_BASE_LO)} |
                       uint64_t{Get(reg::COMPUTE_DISPATCH_SCRATCH_BASE_HI) & 0xff} << 32)
                      << 8;
  regs.tmpring_size = Get(reg::COMPUTE_TMPRING_SIZE);
  return regs;
}

}  // namespace understudy::mockgpu::amd
