// SPDX-License-Identifier: Apache-2.0
#pragma once
// The registers that a compute queue's packets see: written by SET_*_REG and friends, read by
// DISPATCH_DIRECT. Each queue has its own, as each hardware queue descriptor does. A register that is not in
// registers.inc, or has no address there on this generation, does not exist here; the packet that names it is
// refused.

#include <array>
#include <cstdint>

#include "emu/amd/core/dispatch.h"
#include "mockgpu/amd/queue/generations.h"

namespace understudy::mockgpu::amd {

enum class RegisterKind : uint8_t { kState, kHint, kZero, kDone };

// Rows of registers.inc.
enum class Reg : uint8_t {
#define CP_REGISTER(name, gc9, gc11, gc12, kind) name,
#include "mockgpu/amd/cp/registers.inc"
  kCount,
};
constexpr Reg operator+(Reg reg, int n) { return static_cast<Reg>(static_cast<int>(reg) + n); }

struct RegisterInfo {
  const char* name;
  RegisterKind kind;
};
const RegisterInfo& InfoOf(Reg reg);

class RegisterFile {
 public:
  explicit RegisterFile(Gc gc) : gc_(gc) {}

  // The register at this dword address; kCount when packets may not touch it.
  Reg At(uint32_t address) const;

  void Set(Reg reg, uint32_t value) { values_[static_cast<size_t>(reg)] = value; }
  uint32_t Get(Reg reg) const;

  // What a dispatch of `dim` (groups or threads, as the initiator says) is started with.
  emu::amd::DispatchRegs ForDispatch(const uint32_t dim[3], uint32_t initiator) const;

 private:
  Gc gc_;
  std::array<uint32_t, static_cast<size_t>(Reg::kCount)> values_{};
};

}  // namespace understudy::mockgpu::amd
