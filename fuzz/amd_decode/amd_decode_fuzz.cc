// SPDX-License-Identifier: Apache-2.0
// Properties of the AMD decoder on any bytes: it reads only what it says the instruction occupies, refuses
// every truncation, names registers inside their files, and its text can always be made.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "emu/amd/decode/encode.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/disasm/disasm.h"

namespace {

using namespace understudy::emu::amd;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckOperand(const Operand& o) {
  if (o.kind == Operand::Kind::kVgpr || o.kind == Operand::Kind::kAgpr)
    Require(o.dwords >= 1 && o.reg + o.dwords <= 256);
  if (o.kind == Operand::Kind::kSgpr && o.reg != kRegNull) Require(o.dwords >= 1 && o.reg + o.dwords <= 128);
}

// Decodes from a heap block of exactly n bytes, so that ASAN sees a read past the end.
absl::Status DecodeExact(Isa isa, const uint8_t* bytes, size_t n, Inst* inst) {
  std::unique_ptr<uint8_t[]> copy(new uint8_t[n]);
  if (n != 0) std::memcpy(copy.get(), bytes, n);
  return DecodeInto(isa, copy.get(), n, inst);
}

void CheckOne(Isa isa, const uint8_t* data, size_t size) {
  Inst inst;
  absl::Status status = DecodeExact(isa, data, size, &inst);
  if (!status.ok()) {
    Require(!status.message().empty());
    return;
  }
  Require(inst.size >= 4 && inst.size <= size && inst.size % 4 == 0);
  Require(inst.op < Opcode::kCount && inst.n_dst <= 2 && inst.n_src <= 6);
  std::string text = Text(inst);
  Require(!text.empty());
  // What follows a load of scales decides whether it is an instruction of its own.
  if (inst.op == Opcode::V_MFMA_LD_SCALE_B32) return;
  Inst again;
  for (size_t n = 0; n < inst.size; ++n) Require(!DecodeExact(isa, data, n, &again).ok());
  Require(DecodeExact(isa, data, inst.size, &again).ok() && Text(again) == text);
  // Encoding gives bytes that mean the same and that encoding keeps. CDNA refuses what it has no rule for.
  uint8_t bytes[kMaxInstBytes], second[kMaxInstBytes];
  absl::StatusOr<int> n_bytes = Encode(inst, bytes);
  Require(n_bytes.ok() || IsCdna(isa));
  if (n_bytes.ok()) {
    Require(*n_bytes >= 4 && *n_bytes <= kMaxInstBytes);
    Require(DecodeExact(isa, bytes, static_cast<size_t>(*n_bytes), &again).ok());
    // (RDNA3 image lists of one register are written as that register.)
    Require(Text(again) == text || (inst.nsa && inst.n_nsa == 0));
    absl::StatusOr<int> m_bytes = Encode(again, second);
    Require(m_bytes.ok() && *m_bytes == *n_bytes &&
            std::memcmp(bytes, second, static_cast<size_t>(*n_bytes)) == 0);
  }
  for (int wave_size : {32, 64}) {
    Inst resolved = inst;
    if (!ResolveWaveSize(wave_size, &resolved).ok()) continue;
    for (const Operand& o : resolved.dst) CheckOperand(o);
    for (const Operand& o : resolved.src) CheckOperand(o);
    for (int i = 0; i < resolved.n_nsa; ++i) Require(resolved.nsa_vaddr[i] + resolved.nsa_dwords[i] <= 256);
    Require(!Text(resolved, {wave_size}).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (size_t at = 0; at <= size && at < 64; at += 4) {
    for (Isa isa : kAllIsas) CheckOne(isa, data + at, size - at);
  }
  for (Isa isa : kAllIsas) {
    size_t covered = 0;
    for (const Line& line : Disassemble(isa, data, size)) {
      Require(line.offset == covered && line.size > 0 && !line.text.empty());
      covered += line.size;
    }
    Require(covered == size);
  }
  return 0;
}
