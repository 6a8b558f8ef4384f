// SPDX-License-Identifier: Apache-2.0
// The interpreter reading of scalar_semantics.h: one executor a mnemonic of scalar_ops.inc.

#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/scalar_control.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "emu/amd/semantics/scalar_semantics.h"

namespace understudy::emu::amd {
namespace {

// The scalar operand vocabulary over an arithmetic class.
template <class Math>
class ScalarReading : public Math {
 public:
  template <class... MathArgs>
  ScalarReading(const Inst& inst, WaveState& wave, MathArgs&&... args)
      : Math(static_cast<MathArgs&&>(args)...), inst_(inst), wave_(wave) {}

  uint32_t SrcU32(int i) const { return ReadScalar32(inst_.src[i], wave_); }
  uint64_t SrcU64(int i) const { return ReadScalar64(inst_.src[i], wave_); }
  uint32_t OldU32() const { return ReadScalar32(Destination(), wave_); }
  uint64_t OldU64() const { return ReadScalar64(Destination(), wave_); }
  uint32_t SImm() const { return static_cast<uint32_t>(inst_.simm); }
  uint32_t UImm() const { return static_cast<uint32_t>(inst_.simm) & 0xffffu; }
  void DstU32(uint32_t value) { WriteScalar32(inst_.dst[0], wave_, value); }
  void DstU64(uint64_t value) { WriteScalar64(inst_.dst[0], wave_, value); }

  auto SrcF32(int i) const { return Math::AsF32(SrcU32(i)); }
  auto SrcF16(int i) const { return Math::AsF16(static_cast<uint16_t>(SrcU32(i))); }
  auto OldF32() const { return Math::AsF32(OldU32()); }
  auto OldF16() const { return Math::AsF16(static_cast<uint16_t>(OldU32())); }
  // A 16-bit result clears the upper half of the register.
  template <class F>
  void DstF32(F value) {
    DstU32(Math::Bits(value));
  }
  template <class F>
  void DstF16(F value) {
    DstU32(Math::Bits(value));
  }

  bool Scc() const { return wave_.scc; }
  void SetScc(bool value) { wave_.scc = value; }
  uint32_t ExecU32() const { return wave_.sgpr[kExecLo]; }
  uint64_t ExecU64() const { return wave_.sgpr[kExecLo] | uint64_t{wave_.sgpr[kExecHi]} << 32; }
  void SetExecU32(uint32_t value) { wave_.sgpr[kExecLo] = value; }
  void SetExecU64(uint64_t value) {
    wave_.sgpr[kExecLo] = static_cast<uint32_t>(value);
    wave_.sgpr[kExecHi] = static_cast<uint32_t>(value >> 32);
  }

 private:
  // s_cmpk_* read the register field that other SOPK instructions write.
  const Operand& Destination() const {
    return inst_.dst[0].kind == Operand::Kind::kNone ? inst_.src[0] : inst_.dst[0];
  }

  const Inst& inst_;
  WaveState& wave_;
};

struct IntReading : ScalarReading<LaneInt> {
  IntReading(const Inst& inst, WaveState& wave) : ScalarReading(inst, wave) {}
};
struct FloatReading : ScalarReading<LaneMath<false>> {
  FloatReading(const Inst& inst, WaveState& wave)
      : ScalarReading(inst, wave, FpMode::FromModeRegister(wave.mode)) {}
};

#define SCALAR_OP(op, semantics, reading)                   \
  ExecResult Exec_##op(const Inst& inst, WaveState& wave) { \
    reading##Reading b(inst, wave);                         \
    scalar::semantics(b);                                   \
    return ExecResult::kNext;                               \
  }
#include "emu/amd/semantics/scalar_ops.inc"

}  // namespace

ExecFn FindScalarExec(const Inst& inst) {
  switch (inst.op) {
#define SCALAR_OP(op, semantics, reading) \
  case Opcode::op:                        \
    return &Exec_##op;
#include "emu/amd/semantics/scalar_ops.inc"
    default:
      return FindScalarControlExec(inst);
  }
}

}  // namespace understudy::emu::amd
