// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/mem_buffer_rsrc.h"

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

uint32_t Field(uint32_t word, int high, int low) { return static_cast<uint32_t>(Bits(word, high, low)); }

}  // namespace

const char* BufferDescriptor::Read(const Inst& inst, const WaveState& wave, BufferDescriptor* out) {
  const uint32_t* words = &wave.sgpr[inst.src[1].reg];
  if (Field(words[3], 31, 30) != 0) return "the descriptor is not a buffer's";
  BufferDescriptor& d = *out;
  d.base = words[0] | uint64_t{words[1] & 0xffffu} << 32;
  d.stride = Field(words[1], 29, 16);
  d.records = words[2];
  d.add_tid = Field(words[3], 23, 23) != 0;
  d.index_stride = 8u << Field(words[3], 22, 21);
  for (int i = 0; i < 4; ++i) d.select[i] = static_cast<uint8_t>(Field(words[3], 3 * i + 2, 3 * i));
  if (IsCdna(wave.isa)) {
    const uint32_t data = Field(words[3], 18, 15), number = Field(words[3], 14, 12);
    // Untyped instructions take the data format's bits for a wider stride when lanes are added to the index.
    const bool wide_stride = d.add_tid && inst.enc == Encoding::MUBUF;
    if (wide_stride) d.stride |= data << 14;
    d.format = wide_stride ? nullptr : Gfx9BufferFormat(data, number);
    d.bound = d.add_tid || data != 0;
    d.element_bytes = Field(words[1], 31, 31) != 0 ? 4 : 0;
    // What the number of records counts is decided by the instruction, not by a field.
    d.bounds = d.stride != 0 && inst.idxen ? BufferBounds::kIndex : BufferBounds::kRaw;
    return "";
  }
  const uint32_t format = Field(words[3], 17, 12);
  d.format = BufferFormat(format);
  d.bound = d.add_tid || format != 0;
  if (wave.isa == Isa::kRdna4) {
    constexpr uint32_t kScale[] = {1, 4, 8, 32};
    d.stride *= kScale[Field(words[3], 19, 18)];
  }
  constexpr uint32_t kElementBytes[] = {0, 4, 0, 16};
  const uint32_t swizzle = Field(words[1], 31, 30);
  if (swizzle == 2) return "SWIZZLE_ENABLE is 2, which is reserved";
  d.element_bytes = kElementBytes[swizzle];
  d.bounds = static_cast<BufferBounds>(Field(words[3], 29, 28));
  if (d.bounds == BufferBounds::kRaw && d.swizzled() && d.stride != 0) d.bounds = BufferBounds::kStructured;
  return "";
}

bool BufferDescriptor::InRange(uint64_t index, uint64_t offset, uint32_t scalar_offset,
                               uint32_t bytes) const {
  switch (bounds) {
    case BufferBounds::kStructured:
      return index < records && offset + bytes <= stride;
    case BufferBounds::kIndex:
      return index < records;
    case BufferBounds::kNotEmpty:
      return records != 0;
    case BufferBounds::kRaw:
      break;
  }
  return scalar_offset <= records && index * stride + offset + bytes <= records - scalar_offset;
}

uint64_t BufferDescriptor::Address(Isa isa, uint64_t index, uint64_t offset, uint32_t scalar_offset) const {
  if (!swizzled()) return base + scalar_offset + index * stride + offset;
  // RDNA4 swizzles the scalar offset along with the others; earlier it moves the whole buffer.
  uint64_t at = base;
  if (isa == Isa::kRdna4) {
    offset = (offset + scalar_offset) & 0xffffffffu;
  } else {
    at += scalar_offset;
  }
  const uint64_t rows = index / index_stride, columns = index % index_stride;
  return at + (rows * stride + offset / element_bytes * element_bytes) * index_stride +
         columns * element_bytes + offset % element_bytes;
}

ExecResult BufferLanes::Find(const Inst& inst, WaveState& wave, const BufferDescriptor& buffer,
                             uint32_t bytes, bool by_dword) {
  if (buffer.swizzled() && bytes > buffer.element_bytes) {
    return RaiseFault(wave, FaultKind::kUnsupported, -1,
                      absl::StrFormat("an access of %d bytes to a buffer swizzled in elements of %d", bytes,
                                      buffer.element_bytes));
  }
  const uint32_t scalar_offset = ReadScalar32(inst.src[2], wave);
  const uint32_t* vaddr = inst.src[0].kind == Operand::Kind::kNone ? nullptr : Row(wave, inst.src[0]);
  const uint32_t* vindex = inst.idxen ? vaddr : nullptr;
  const uint32_t* voffset = inst.offen ? (inst.idxen ? vaddr + wave.wave_size : vaddr) : nullptr;
  const uint64_t constant = static_cast<uint32_t>(inst.offset);
  const uint64_t exec = wave.exec();
  if (!buffer.bound) {
    partial = exec;
    ForEachLane(exec, [&](int lane) { in_range[lane] = 0, address[lane] = buffer.base; });
    return ExecResult::kNext;
  }
  ForEachLane(exec, [&](int lane) {
    uint64_t index = vindex == nullptr ? 0 : vindex[lane];
    if (buffer.add_tid) index += static_cast<uint64_t>(lane);
    uint64_t offset = constant + (voffset == nullptr ? 0 : voffset[lane]);
    // From GFX9 on a negative VGPR offset may become a place of private memory by the instruction's offset:
    // compilers fold an index such as n - 2 that way (LLVM, AMDGPUISelDAGToDAG, SelectMUBUFScratchOffen).
    if (buffer.swizzled()) offset &= 0xffffffffu;
    address[lane] = buffer.Address(wave.isa, index, offset, scalar_offset);
    if (buffer.InRange(index, offset, scalar_offset, bytes)) [[likely]] {
      if (buffer.swizzled() && by_dword) {
        const uint64_t swizzled = offset + (wave.isa == Isa::kRdna4 ? scalar_offset : 0);
        const uint32_t first = buffer.element_bytes - static_cast<uint32_t>(swizzled % buffer.element_bytes);
        if (first < bytes) {
          split |= uint64_t{1} << lane;
          split_at[lane] = static_cast<uint8_t>(first);
          next_element[lane] = buffer.Address(wave.isa, index, offset + first, scalar_offset);
          return;
        }
      }
      whole |= uint64_t{1} << lane;
      return;
    }
    uint32_t n = 0;
    if (by_dword) {
      while (n + 4 <= bytes && buffer.InRange(index, offset, scalar_offset, n + 4)) n += 4;
    }
    in_range[lane] = static_cast<uint8_t>(n);
    partial |= uint64_t{1} << lane;
  });
  return ExecResult::kNext;
}

ExecResult ReadBufferDescriptor(const Inst& inst, WaveState& wave, BufferDescriptor* buffer) {
  if (inst.src[1].reg == kNull)
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a buffer descriptor in NULL");
  const char* refusal = BufferDescriptor::Read(inst, wave, buffer);
  if (*refusal != '\0') return RaiseFault(wave, FaultKind::kUnsupported, -1, refusal);
  return ExecResult::kNext;
}

}  // namespace understudy::emu::amd
