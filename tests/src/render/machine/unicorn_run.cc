// SPDX-License-Identifier: Apache-2.0
#include "tests/src/render/machine/unicorn_run.h"

#include <unicorn/unicorn.h>

#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::test {
namespace {

constexpr uint64_t kCode = 0x100000000, kStack = 0x200000000, kStackBytes = 1 << 20, kArguments = 0x300000000,
                   kBuffers = 0x400000000, kPage = 4096;

class Engine {
 public:
  explicit Engine(Isa isa) {
    const uc_err e =
        isa == Isa::kX86 ? uc_open(UC_ARCH_X86, UC_MODE_64, &uc_) : uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &uc_);
    US_CHECK(e == UC_ERR_OK) << uc_strerror(e);
  }
  ~Engine() { uc_close(uc_); }
  uc_engine* get() { return uc_; }
  absl::Status Map(uint64_t at, uint64_t bytes, uint32_t permissions, const void* data, size_t size) {
    uc_err e = uc_mem_map(uc_, at, AlignUp(std::max<uint64_t>(bytes, 1), kPage), permissions);
    if (e == UC_ERR_OK && size > 0) e = uc_mem_write(uc_, at, data, size);
    return e == UC_ERR_OK ? absl::OkStatus() : absl::InternalError(uc_strerror(e));
  }

 private:
  uc_engine* uc_ = nullptr;
};

struct Registers {
  int program_counter, stack;
  std::vector<int> arguments, kept;
};
const Registers& RegistersOf(Isa isa) {
  static const Registers kX86 = {
      UC_X86_REG_RIP,
      UC_X86_REG_RSP,
      {UC_X86_REG_RDI, UC_X86_REG_RSI, UC_X86_REG_RDX},
      {UC_X86_REG_RBX, UC_X86_REG_RBP, UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15}};
  static const Registers kA64 = {
      UC_ARM64_REG_PC,
      UC_ARM64_REG_SP,
      {UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2},
      {UC_ARM64_REG_X18, UC_ARM64_REG_X19, UC_ARM64_REG_X20, UC_ARM64_REG_X21, UC_ARM64_REG_X22,
       UC_ARM64_REG_X23, UC_ARM64_REG_X24, UC_ARM64_REG_X25, UC_ARM64_REG_X26, UC_ARM64_REG_X27,
       UC_ARM64_REG_X28, UC_ARM64_REG_X29, UC_ARM64_REG_D8,  UC_ARM64_REG_D9,  UC_ARM64_REG_D10,
       UC_ARM64_REG_D11, UC_ARM64_REG_D12, UC_ARM64_REG_D13, UC_ARM64_REG_D14, UC_ARM64_REG_D15}};
  return isa == Isa::kX86 ? kX86 : kA64;
}

// Unicorn's number of a real register.
int UnicornRegister(Isa isa, machine::Reg reg) {
  static constexpr int kX86[] = {UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX,
                                 UC_X86_REG_RSP, UC_X86_REG_RBP, UC_X86_REG_RSI, UC_X86_REG_RDI,
                                 UC_X86_REG_R8,  UC_X86_REG_R9,  UC_X86_REG_R10, UC_X86_REG_R11,
                                 UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15};
  const bool vector = reg >= machine::kVectorBase;
  const int number = static_cast<int>(vector ? reg - machine::kVectorBase : reg);
  if (isa == Isa::kX86) return vector ? UC_X86_REG_XMM0 + number : kX86[number];
  if (vector) return UC_ARM64_REG_Q0 + number;
  return number == 29 ? UC_ARM64_REG_X29 : number == 30 ? UC_ARM64_REG_X30 : UC_ARM64_REG_X0 + number;
}

struct Watch {
  uc_engine* uc;
  Isa isa;
  const Watcher* watch;
  void Call(uint64_t address) const {
    (*watch)(static_cast<int64_t>(address - kCode),
             [&](machine::Reg reg, uint8_t* out) { uc_reg_read(uc, UnicornRegister(isa, reg), out); });
  }
};
void OnInstruction(uc_engine*, uint64_t address, uint32_t, void* data) {
  static_cast<const Watch*>(data)->Call(address);
}

}  // namespace

absl::Status RunUnderUnicorn(Isa isa, const machine::MachineKernel& k,
                             std::vector<std::vector<uint8_t>>* buffers, const std::vector<int64_t>& vars,
                             const Watcher& watch) {
  Engine engine(isa);
  uc_engine* uc = engine.get();
  const Registers& r = RegistersOf(isa);
  US_RETURN_IF_ERROR(
      engine.Map(kCode, k.code.size(), UC_PROT_READ | UC_PROT_EXEC, k.code.data(), k.code.size()));
  US_RETURN_IF_ERROR(engine.Map(kStack, kStackBytes, UC_PROT_READ | UC_PROT_WRITE, nullptr, 0));
  std::vector<uint64_t> pointers, places;
  uint64_t at = kBuffers;
  for (const auto& b : *buffers) {
    // Up to the end of a page: what lies behind is not there.
    const uint64_t pages = AlignUp(std::max<uint64_t>(b.size(), 1), kPage);
    US_RETURN_IF_ERROR(engine.Map(at, pages, UC_PROT_READ | UC_PROT_WRITE, nullptr, 0));
    const uint64_t begin = at + pages - b.size();
    if (!b.empty()) uc_mem_write(uc, begin, b.data(), b.size());
    pointers.push_back(begin);
    at += pages + 16 * kPage;
  }
  std::vector<uint64_t> arguments = pointers;
  arguments.resize(64);
  for (const int64_t v : vars) arguments.push_back(static_cast<uint64_t>(v));
  US_RETURN_IF_ERROR(
      engine.Map(kArguments, arguments.size() * 8, UC_PROT_READ, arguments.data(), arguments.size() * 8));
  if (isa == Isa::kA64) {
    uint32_t fpen = 3u << 20;
    uc_reg_write(uc, UC_ARM64_REG_CPACR_EL1, &fpen);
  }
  Watch watching{uc, isa, &watch};
  uc_hook hook = 0;
  if (watch != nullptr) {
    const uc_err e = uc_hook_add(uc, &hook, UC_HOOK_CODE, reinterpret_cast<void*>(&OnInstruction), &watching,
                                 uint64_t{1}, uint64_t{0});
    if (e != UC_ERR_OK) return absl::InternalError(uc_strerror(e));
  }
  std::mt19937_64 random(k.code.size());
  for (int64_t g = 0; g < k.global[0]; ++g) {
    // A code address that is never run ends the call.
    const uint64_t end = kCode + AlignUp(k.code.size(), kPage);
    uint64_t stack = kStack + kStackBytes - 256;
    if (isa == Isa::kX86) {
      stack -= 8;
      uc_mem_write(uc, stack, &end, 8);
    } else {
      uc_reg_write(uc, UC_ARM64_REG_LR, &end);
    }
    const uint64_t before = stack;
    uc_reg_write(uc, r.stack, &stack);
    const uint64_t values[] = {kArguments, kArguments + 64 * 8, static_cast<uint64_t>(g)};
    for (int i = 0; i < 3; ++i) uc_reg_write(uc, r.arguments[i], &values[i]);
    std::vector<uint64_t> kept;
    for (const int reg : r.kept) {
      kept.push_back(random());
      uc_reg_write(uc, reg, &kept.back());
    }
    const uc_err e = uc_emu_start(uc, kCode, end, 0, 0);
    if (e != UC_ERR_OK) {
      uint64_t pc = 0;
      uc_reg_read(uc, r.program_counter, &pc);
      return absl::AbortedError(absl::StrCat(k.name, ": ", uc_strerror(e), " at offset ", pc - kCode));
    }
    uc_reg_read(uc, r.stack, &stack);
    if (stack != before + (isa == Isa::kX86 ? 8 : 0))
      return absl::AbortedError(k.name + ": the stack pointer has moved");
    for (size_t i = 0; i < kept.size(); ++i) {
      uint64_t now = 0;
      uc_reg_read(uc, r.kept[i], &now);
      if (now != kept[i])
        return absl::AbortedError(absl::StrCat(k.name, ": callee-saved register ", i, " is not kept"));
    }
  }
  for (size_t i = 0; i < buffers->size(); ++i) {
    if (!(*buffers)[i].empty()) uc_mem_read(uc, pointers[i], (*buffers)[i].data(), (*buffers)[i].size());
  }
  return absl::OkStatus();
}

}  // namespace understudy::test
