// SPDX-License-Identifier: Apache-2.0
#pragma once
// The registers that a compute queue's packets see: written by SET_*_REG and friends, read by
// DISPATCH_DIRECT. Each queue has its own, as each hardware queue descriptor does. A register that is not in
// registers.inc does not exist here; the packet that names it is refused.

#include <array>
#include <cstdint>

#include "emu/amd/core/dispatch.h"

namespace understudy::mockgpu::amd {

enum class RegisterKind : uint8_t { kState, kHint, kZero, kDone };

struct RegisterInfo {
  const char* name;
  uint32_t address;  // dword address
  RegisterKind kind;
};

// nullptr when packets may not touch this address.
const RegisterInfo* FindRegister(uint32_t address);

namespace reg {
enum : uint32_t {
#define CP_REGISTER(name, address, kind) name = address,
#include "mockgpu/amd/cp/registers.inc"
};
}  // namespace reg

class RegisterFile {
 public:
  // `address` must be a known register.
  void Set(uint32_t address, uint32_t value);
  uint32_t Get(uint32_t address) const;

  // What a dispatch of `dim` (groups or threads, as the initiator says) is started with.
  emu::amd::DispatchRegs ForDispatch(const uint32_t dim[3], uint32_t initiator) const;

 private:
#define CP_REGISTER(name, address, kind) +1
  static constexpr int kCount = 0
#include "mockgpu/amd/cp/registers.inc"
      ;
  std::array<uint32_t, kCount> values_{};
};

}  // namespace understudy::mockgpu::amd
