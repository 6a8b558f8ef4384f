// SPDX-License-Identifier: Apache-2.0
#pragma once
// AArch64 with NEON for instruction selection (Armv8.0-A; f16 by conversion). Each method appends the
// instructions of one operation; nothing here knows kernels or real registers but the three arguments.

#include <map>
#include <tuple>

#include "src/render/aarch64/ops.h"
#include "src/render/machine/emitter.h"

namespace understudy::aarch64 {

class A64Processor : public machine::Processor {
 public:
  const std::vector<machine::Reg>& Allocatable(machine::RegClass c) const override;
  machine::Inst Move(machine::RegClass c, int bytes, machine::Reg to, machine::Reg from) const override;
  machine::Inst Reload(machine::RegClass c, int bytes, machine::Reg to,
                       const machine::Operand& from) const override;
  machine::Inst Spill(machine::RegClass c, int bytes, const machine::Operand& to,
                      machine::Reg from) const override;
  bool MayBeMemory(const machine::Inst&, int) const override { return false; }
  std::string Text(const machine::Inst& inst) const override { return aarch64::Text(inst); }
};

class A64Emitter : public machine::Emitter {
 public:
  explicit A64Emitter(machine::Function& f) : Emitter(f) {}

  const char* name() const override { return "AArch64"; }
  int vector_bytes() const override { return 16; }
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

  // General registers of `bits`.
  machine::Reg General3(Op op, int bits, machine::Reg a, machine::Reg b);
  machine::Reg General2Imm(Op op, int bits, machine::Reg a, int64_t imm);
  machine::Reg AddConst(int bits, machine::Reg a, int64_t v);
  // Vector registers, whose operands are named by `bytes` (4, 8: scalars).
  machine::Reg Vector3(Op op, int bytes, machine::Reg a, machine::Reg b);
  machine::Reg Vector2(Op op, int bytes, machine::Reg a);
  machine::Reg Not(machine::Reg a);
  void Flags(const machine::Condition& c);
  machine::Reg ToReg(int bits, machine::IntArg a) { return a.IsConst() ? IntConst(bits, a.value) : a.reg; }
  // The address in a form that an instruction of `bytes` takes.
  machine::Operand MemoryOf(const machine::Address& a, int bytes);
  machine::Reg Sum(const machine::Address& a);  // base + index * scale, once a block

  const A64Processor processor_;
  machine::Reg buffers_ = machine::kNoReg, vars_ = machine::kNoReg, workgroup_ = machine::kNoReg;
  std::map<std::tuple<int, machine::Reg, machine::Reg, int>, machine::Reg> sums_;
};

}  // namespace understudy::aarch64
