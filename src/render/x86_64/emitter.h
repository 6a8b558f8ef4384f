// SPDX-License-Identifier: Apache-2.0
#pragma once
// x86-64 for instruction selection: SSE4.1 in two-operand form, or AVX2 with FMA and F16C in three-operand
// form. Each method appends the instructions of one operation; nothing here knows kernels or real registers
// but those that the processor itself fixes (RAX, RCX, RDX) and the three arguments.

#include "src/render/machine/emitter.h"
#include "src/render/x86_64/ops.h"

namespace understudy::x86_64 {

class X86Processor : public machine::Processor {
 public:
  explicit X86Processor(bool avx2) : avx2_(avx2) {}
  const std::vector<machine::Reg>& Allocatable(machine::RegClass c) const override;
  machine::Inst Move(machine::RegClass c, int bytes, machine::Reg to, machine::Reg from) const override;
  machine::Inst Reload(machine::RegClass c, int bytes, machine::Reg to,
                       const machine::Operand& from) const override;
  machine::Inst Spill(machine::RegClass c, int bytes, const machine::Operand& to,
                      machine::Reg from) const override;
  bool MayBeMemory(const machine::Inst& inst, int i) const override;
  std::string Text(const machine::Inst& inst) const override { return x86_64::Text(inst); }

 private:
  const bool avx2_;
};

class X86Emitter : public machine::Emitter {
 public:
  X86Emitter(machine::Function& f, bool avx2) : Emitter(f), avx2_(avx2), processor_(avx2) {}

  const char* name() const override { return "x86-64"; }
  int vector_bytes() const override { return avx2_ ? 32 : 16; }
  bool HasVector(DType element) const override;
  const machine::Processor& processor() const override { return processor_; }

  void Begin() override;
  machine::Reg Buffer(int64_t position) override;
  machine::Reg Variable(int64_t number) override;
  machine::Reg Workgroup() override { return workgroup_; }
  void Return() override;

  machine::Reg IntConst(int bits, int64_t value) override;
  machine::Reg IntBinary(understudy::Op op, bool is_signed, int bits, machine::Reg a,
                         machine::IntArg b) override;
  machine::Reg IntNeg(int bits, machine::Reg a) override;
  machine::Reg Extend(int from_bits, bool is_signed, machine::Reg a, int to_bits) override;
  machine::Reg Compare(const machine::Condition& c) override;
  machine::Reg Choose(const machine::Condition& c, int bits, machine::Reg then,
                      machine::Reg otherwise) override;
  void BranchIf(const machine::Condition& c, int block) override;
  void Jump(int block) override;

  machine::Reg AddressOf(const machine::Address& a) override;
  machine::Reg SlotAddress(int slot) override;
  machine::Reg PoolAddress(int64_t offset) override;
  machine::Reg Load(DType type, const machine::Address& a) override;
  void Store(DType type, const machine::Address& a, machine::Reg value) override;
  machine::Reg LoadVector(int bytes, const machine::Address& a) override;
  void StoreVector(int bytes, const machine::Address& a, machine::Reg value) override;

  machine::Reg FloatBinary(understudy::Op op, int bytes, machine::Reg a, machine::Reg b) override;
  machine::Reg FloatUnary(understudy::Op op, int bytes, machine::Reg a) override;
  machine::Reg FloatMulAcc(int bytes, machine::Reg a, machine::Reg b, machine::Reg c) override;
  machine::Reg FloatCompare(understudy::Op op, int bytes, machine::Reg a, machine::Reg b) override;
  machine::Reg FloatCast(int from_bytes, int to_bytes, machine::Reg a) override;
  machine::Reg HalfToFloat(machine::Reg a) override;
  machine::Reg FloatToHalf(machine::Reg a) override;
  machine::Reg IntToFloat(DType from, int to_bytes, machine::Reg a) override;
  machine::Reg FloatToInt(int from_bytes, DType to, machine::Reg a) override;
  machine::Reg BitsToFloat(int bytes, machine::Reg a) override;
  machine::Reg FloatToBits(int bytes, machine::Reg a) override;

  machine::Reg VectorBinary(understudy::Op op, DType element, int bytes, machine::Reg a,
                            machine::Reg b) override;
  machine::Reg VectorShift(understudy::Op op, DType element, int bytes, machine::Reg a,
                           int64_t amount) override;
  machine::Reg VectorUnary(understudy::Op op, DType element, int bytes, machine::Reg a) override;
  machine::Reg VectorMulAcc(DType element, int bytes, machine::Reg a, machine::Reg b,
                            machine::Reg c) override;
  machine::Reg VectorCompare(understudy::Op op, DType element, int bytes, machine::Reg a,
                             machine::Reg b) override;
  machine::Reg VectorChoose(int bytes, int lane_bytes, machine::Reg mask, machine::Reg then,
                            machine::Reg otherwise) override;
  machine::Reg VectorCast(DType from, DType to, int bytes, machine::Reg a) override;
  machine::Reg VectorBuild(int lane_bytes, bool is_float, int bytes,
                           const std::vector<machine::Reg>& lanes) override;
  machine::Reg VectorExtract(int lane_bytes, bool is_float, int bytes, machine::Reg a, int lane) override;

 private:
  machine::Reg MakeConstant(const uint8_t* data, int bytes) override;

  machine::Inst Make(Op op, int bytes) const;
  // dst = a op b. `lane` bytes of b matter, where it is memory.
  machine::Reg Three(Op op, int bytes, int lane, machine::Reg a, machine::Reg b);
  machine::Reg ThreeImm(Op op, int bytes, int lane, machine::Reg a, machine::Reg b, int64_t imm);
  machine::Reg Two(Op op, int bytes, int lane, machine::Reg a);
  machine::Reg TwoImm(Op op, int bytes, machine::Reg a, int64_t imm);
  machine::Reg One(Op op, int lane, machine::Reg a, int64_t imm = -1);  // kV3One, kV3OneImm
  // A general two-operand instruction on a copy of `a`.
  machine::Reg General2(Op op, int bits, machine::Reg a, machine::Reg b);
  machine::Reg General2Imm(Op op, int bits, machine::Reg a, int64_t imm);
  machine::Reg LeaOf(int bits, machine::Reg base, machine::Reg index, int scale, int64_t disp);
  machine::Reg Divide(bool is_signed, bool remainder, int bits, machine::Reg a, machine::IntArg b);
  void Flags(const machine::Condition& c);
  machine::Reg ToReg(int bits, machine::IntArg a) { return a.IsConst() ? IntConst(bits, a.value) : a.reg; }
  machine::Reg CompareFloats(int code, int bytes, machine::Reg a, machine::Reg b);
  machine::Reg FromInt64(int to_bytes, int from_bytes, machine::Reg a);  // cvtsi2ss, cvtsi2sd
  machine::Reg Truncate(int from_bytes, int to_bytes, machine::Reg a);   // cvttss2si, cvttsd2si
  // All ones in 64 bits where limit <= a.
  machine::Reg AtLeast(int bytes, double limit, machine::Reg a, machine::Reg* mask = nullptr);
  machine::Reg FloatConst(int bytes, double v);
  machine::Reg Half(machine::Reg a, int half);

  const bool avx2_;
  const X86Processor processor_;
  machine::Reg buffers_ = machine::kNoReg, vars_ = machine::kNoReg, workgroup_ = machine::kNoReg;
};

}  // namespace understudy::x86_64
