// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds PM4 packets for compute queues (opcodes and fields: Linux amdgpu nvd.h, soc15d.h on GFX9; registers:
// gc_*_offset.h). One function a packet; what generations spell differently comes from a Layout. Words go to
// a vector that HwQueue copies into the ring. Knows no device and no memory.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "absl/types/span.h"

namespace understudy::amd::pm4 {

enum Opcode : uint32_t {
  kDispatchDirect = 0x15,
  kWaitRegMem = 0x3c,
  kIndirectBuffer = 0x3f,
  kEventWrite = 0x46,
  kReleaseMem = 0x49,
  kAcquireMem = 0x58,
  kSetShReg = 0x76,
};

// Dword offsets from the start of the SH register space (0x2c00), as SET_SH_REG wants them; the same on all
// generations (COMPUTE_PGM_RSRC3 is not: Layout::pgm_rsrc3).
enum ShReg : uint32_t {
  kComputeStartX = 0x204,  // X Y Z, then NUM_THREAD X Y Z
  kComputePgmLo = 0x20c,   // LO HI
  kComputeDispatchScratchBaseLo = 0x210,
  kComputePgmRsrc1 = 0x212,  // RSRC1 RSRC2
  kComputeResourceLimits = 0x215,
  kComputeTmpringSize = 0x218,
  kComputeRestartX = 0x21b,   // X Y Z
  kComputeUserData0 = 0x240,  // 16 registers
};

// COMPUTE_DISPATCH_INITIATOR
inline constexpr uint32_t kComputeShaderEn = 1u << 0;
inline constexpr uint32_t kForceStartAt000 = 1u << 2;
inline constexpr uint32_t kCsW32En = 1u << 15;

inline uint32_t Lo(uint64_t v) { return static_cast<uint32_t>(v); }
inline uint32_t Hi(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

// INDIRECT_BUFFER has 20 bits for the size.
inline constexpr uint32_t kMaxIndirectWords = 0xfffff;

// What the packets of a generation look like, where they differ.
struct Layout {
  // ACQUIRE_MEM: caches in the first of six words (GFX9), or in the last of seven (GFX10 and later).
  enum class Acquire : uint8_t { kCoherCntl, kGcrCntl };
  Acquire acquire;
  uint32_t acquire_shader;  // what the shader may have cached
  uint32_t acquire_l2;      // GL2 written back and invalidated, and the instruction cache
  uint32_t release_caches;  // RELEASE_MEM: all written back
  uint32_t pgm_rsrc3;       // where COMPUTE_PGM_RSRC3 is
};

class Builder {
 public:
  // `layout` outlives the builder.
  explicit Builder(const Layout& layout) : layout_(&layout) {}

  absl::Span<const uint32_t> words() const { return words_; }
  size_t size() const { return words_.size(); }

  // From here on SetShReg leaves out what the registers hold already: for packets that run as a whole.
  void RememberRegisters() { remember_ = true; }
  void SetShReg(uint32_t first, absl::Span<const uint32_t> values);
  void SetShReg(uint32_t first, std::initializer_list<uint32_t> values) {
    SetShReg(first, absl::MakeConstSpan(values.begin(), values.size()));
  }
  void SetPgmRsrc3(uint32_t value) { SetShReg(layout_->pgm_rsrc3, {value}); }
  // Until the low 32 bits at `va` are >= those of `value`. The compare is 32 bits wide: Timeline keeps both
  // sides in one 4-billion span.
  void WaitMemGreaterEqual(uint64_t va, uint32_t value);
  // Invalidates what the shader may have cached. `l2` also writes back and invalidates GL2 and the
  // instruction cache: wanted after another engine wrote memory.
  void AcquireMem(bool l2);
  // After all earlier work: caches written back, then 64 bits to `va`.
  void ReleaseMem64(uint64_t va, uint64_t value);
  // After all earlier work: the GPU clock counter to `va`.
  void ReleaseMemTimestamp(uint64_t va);
  // After all earlier work has ended, whatever the caches hold: 32 bits to `va`.
  void ReleaseMem32(uint64_t va, uint32_t value);
  // Writes `event_id` to the event's mailbox and interrupts the host: wakes WAIT_EVENTS.
  void ReleaseMemInterrupt(uint64_t mailbox_va, uint32_t event_id);
  void Dispatch(uint32_t x, uint32_t y, uint32_t z, uint32_t initiator);
  // The packets at `va`, as if they stood here. At most kMaxIndirectWords.
  void IndirectBuffer(uint64_t va, uint32_t words);
  // Later packets wait until all waves of earlier dispatches have ended.
  void CsPartialFlush();

 private:
  void Packet(Opcode op, std::initializer_list<uint32_t> payload);
  void Header(Opcode op, size_t payload_words);
  void Release(uint32_t event_flags, uint32_t data_sel, uint32_t int_sel, uint64_t va, uint64_t value,
               uint32_t ctxid);

  const Layout* layout_;
  std::vector<uint32_t> words_;
  bool remember_ = false;
  std::map<uint32_t, uint32_t> registers_;
};

}  // namespace understudy::amd::pm4
