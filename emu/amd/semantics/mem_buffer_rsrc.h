// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buffer descriptors of all generations, and the addresses and range checks of a wave's lanes that follow
// from one (RDNA3 and RDNA4 ISA 9.4-9.6, CDNA3 ISA 9.1). Used by the untyped and the formatted buffer
// instructions.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/texel_format.h"

namespace understudy::emu::amd {

// What OOB_SELECT checks.
enum class BufferBounds : uint8_t {
  kStructured,  // index < records, and the bytes lie inside the stride
  kIndex,       // index < records
  kNotEmpty,    // records != 0
  kRaw,         // the bytes lie below records, from which the scalar offset is taken
};

struct BufferDescriptor {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  uint32_t element_bytes = 0;  // of swizzled addressing; 0 where addresses are linear
  uint32_t index_stride = 0;
  bool add_tid = false;
  bool bound = true;  // false: no data format, so loads give zero and stores do nothing
  BufferBounds bounds = BufferBounds::kRaw;
  uint8_t select[4] = {4, 5, 6, 7};  // DST_SEL: 0, 1, or 4-7 for a component
  const TexelFormat* format = nullptr;

  // Why the descriptor is refused, or "".
  static const char* Read(const Inst& inst, const WaveState& wave, BufferDescriptor* out);

  bool swizzled() const { return element_bytes != 0; }
  // Of `bytes` bytes of one lane, all or none.
  bool InRange(uint64_t index, uint64_t offset, uint32_t scalar_offset, uint32_t bytes) const;
  uint64_t Address(Isa isa, uint64_t index, uint64_t offset, uint32_t scalar_offset) const;
};

// The lanes of one buffer instruction: where each one's bytes are, and how many of them are in range.
struct BufferLanes {
  uint64_t address[64];
  uint64_t whole = 0;    // lanes with all bytes in range
  uint64_t partial = 0;  // lanes with some, of which in_range counts
  uint8_t in_range[64];
  // Lanes whose bytes cross an element of a swizzled buffer: the first split_at bytes are at `address`, the
  // others in the lane's next element. Compilers access private memory of gfx9 so, at any alignment.
  uint64_t split = 0;
  uint64_t next_element[64];
  uint8_t split_at[64];

  // kNext, or the fault of a descriptor that is refused. `bytes` of each lane are checked dword by dword if
  // `by_dword`, else all or nothing.
  ExecResult Find(const Inst& inst, WaveState& wave, const BufferDescriptor& buffer, uint32_t bytes,
                  bool by_dword);
};

// Reads the descriptor of `inst`, with a fault where it is refused.
ExecResult ReadBufferDescriptor(const Inst& inst, WaveState& wave, BufferDescriptor* buffer);

}  // namespace understudy::emu::amd
