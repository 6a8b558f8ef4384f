// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a processor can do, as instruction selection asks for it: each call appends instructions to the
// current block and answers the register of the result. Implemented once a processor; used by select.cc only.
//
// Values: an integer of at most 32 bits is extended by its own sign to 32 bits and above that by zeros, in a
// general register; bool is 0 or 1; f16 is its 16 bits in a general register; f32 and f64 are the low part of
// a vector register. A mask is a vector register of all ones or all zeros a lane. Vectors are 16 or 32 bytes.

#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "src/dtype/dtype.h"
#include "src/render/machine/ir.h"
#include "src/uop/uop.h"

namespace understudy::machine {

// A general register or a constant.
struct IntArg {
  Reg reg = kNoReg;
  int64_t value = 0;
  static IntArg Of(Reg r) { return {r, 0}; }
  static IntArg Const(int64_t v) { return {kNoReg, v}; }
  bool IsConst() const { return reg == kNoReg; }
};

// a `cond` b on integers of `bits`.
struct Condition {
  Cond cond = Cond::kNe;
  int bits = 32;
  Reg a = kNoReg;
  IntArg b;
};

struct Address {
  Reg base = kNoReg, index = kNoReg;
  int scale = 1;
  int64_t disp = 0;
};

class Emitter {
 public:
  explicit Emitter(Function& function) : f_(function) {}
  virtual ~Emitter() = default;

  // Blocks: block 0 is the entry, which loads arguments and constants; others are made by NewBlock.
  void set_block(int block) { block_ = block; }
  int block() const { return block_; }

  // --- what there is
  virtual const char* name() const = 0;
  virtual int vector_bytes() const = 0;  // of the widest vector
  virtual bool HasVector(DType element) const = 0;

  // --- the frame: arguments (buffers, vars, workgroup) as they arrive
  virtual void Begin() = 0;
  virtual Reg Buffer(int64_t position) = 0;  // these three append to the entry
  virtual Reg Variable(int64_t number) = 0;
  virtual Reg Workgroup() = 0;
  virtual void Return() = 0;

  // --- integers of 32 or 64 bits
  virtual Reg IntConst(int bits, int64_t value) = 0;
  // ADD, SUB, MUL, IDIV, IMOD, AND, OR, XOR, SHL, SHR, MIN, MAX. Divisors are not 0 (nor -1 of a variable),
  // shift amounts below `bits`.
  virtual Reg IntBinary(Op op, bool is_signed, int bits, Reg a, IntArg b) = 0;
  virtual Reg IntNeg(int bits, Reg a) = 0;
  // The low from_bits (8, 16 or 32) of `a` as a value of to_bits (32 or 64).
  virtual Reg Extend(int from_bits, bool is_signed, Reg a, int to_bits) = 0;
  virtual Reg Compare(const Condition& c) = 0;
  virtual Reg Choose(const Condition& c, int bits, Reg then, Reg otherwise) = 0;
  virtual void BranchIf(const Condition& c, int block) = 0;
  virtual void Jump(int block) = 0;

  // --- memory. Types: integers, bool and f16 by width to general registers; f32, f64.
  virtual Reg AddressOf(const Address& a) = 0;
  virtual Reg SlotAddress(int slot) = 0;
  virtual Reg PoolAddress(int64_t offset) = 0;
  virtual Reg Load(DType type, const Address& a) = 0;
  virtual void Store(DType type, const Address& a, Reg value) = 0;
  virtual Reg LoadVector(int bytes, const Address& a) = 0;
  virtual void StoreVector(int bytes, const Address& a, Reg value) = 0;

  // --- f32 and f64 (`bytes` 4 or 8)
  virtual Reg FloatBinary(Op op, int bytes, Reg a, Reg b) = 0;  // kNoReg: no such operation
  virtual Reg FloatUnary(Op op, int bytes, Reg a) = 0;
  virtual Reg FloatMulAcc(int bytes, Reg a, Reg b, Reg c) = 0;
  virtual Reg FloatCompare(Op op, int bytes, Reg a, Reg b) = 0;  // a mask
  virtual Reg FloatCast(int from_bytes, int to_bytes, Reg a) = 0;
  virtual Reg HalfToFloat(Reg a) = 0;  // kNoReg: not on this processor
  virtual Reg FloatToHalf(Reg a) = 0;
  virtual Reg IntToFloat(DType from, int to_bytes, Reg a) = 0;
  virtual Reg FloatToInt(int from_bytes, DType to, Reg a) = 0;  // saturating, NaN gives 0
  virtual Reg BitsToFloat(int bytes, Reg a) = 0;
  virtual Reg FloatToBits(int bytes, Reg a) = 0;

  // --- constants in vector registers, made once, in the entry
  Reg Constant(const void* data, int bytes) {
    Reg& r = constants_.try_emplace(std::string(static_cast<const char*>(data), bytes), kNoReg).first->second;
    if (r == kNoReg) r = MakeConstant(static_cast<const uint8_t*>(data), bytes);
    return r;
  }
  // The same bits in every lane.
  Reg Splat(int lane_bytes, uint64_t bits, int vector_bytes) {
    std::array<uint8_t, 32> data{};
    for (int i = 0; i < vector_bytes; i += lane_bytes) std::memcpy(&data[i], &bits, lane_bytes);
    return Constant(data.data(), vector_bytes);
  }

  // --- vectors; kNoReg: no such operation, do it lane by lane
  virtual Reg VectorBinary(Op op, DType element, int bytes, Reg a, Reg b) = 0;
  virtual Reg VectorShift(Op op, DType element, int bytes, Reg a, int64_t amount) = 0;
  virtual Reg VectorUnary(Op op, DType element, int bytes, Reg a) = 0;
  virtual Reg VectorMulAcc(DType element, int bytes, Reg a, Reg b, Reg c) = 0;
  virtual Reg VectorCompare(Op op, DType element, int bytes, Reg a, Reg b) = 0;
  virtual Reg VectorChoose(int bytes, int lane_bytes, Reg mask, Reg then, Reg otherwise) = 0;
  virtual Reg VectorCast(DType from, DType to, int bytes, Reg a) = 0;
  // Lanes are values as above: in vector registers if `is_float`, else in general ones.
  virtual Reg VectorBuild(int lane_bytes, bool is_float, int bytes, const std::vector<Reg>& lanes) = 0;
  virtual Reg VectorExtract(int lane_bytes, bool is_float, int bytes, Reg a, int lane) = 0;

  Reg Copy(Reg from) {
    const VirtualReg info = f_.InfoOf(from);
    const Reg to = f_.NewReg(info.reg_class, info.bytes);
    Append(processor().Move(info.reg_class, info.bytes, to, from));
    return to;
  }
  void CopyTo(Reg to, Reg from) {
    const VirtualReg info = f_.InfoOf(to);
    Append(processor().Move(info.reg_class, info.bytes, to, from));
  }
  virtual const Processor& processor() const = 0;

  // A constant of `size` bytes at an offset aligned to its size.
  int64_t PoolConstant(const void* data, size_t size) {
    const std::string key(static_cast<const char*>(data), size);
    const auto [it, fresh] = pool_.emplace(key, 0);
    if (fresh) {
      size_t align = 4;
      while (align < size && align < 32) align *= 2;
      f_.pool.resize((f_.pool.size() + align - 1) / align * align);
      it->second = static_cast<int64_t>(f_.pool.size());
      f_.pool.insert(f_.pool.end(), key.begin(), key.end());
    }
    return it->second;
  }

 protected:
  Reg General() { return f_.NewReg(RegClass::kGeneral, 8); }
  Reg Vector(int bytes) { return f_.NewReg(RegClass::kVector, bytes); }
  Inst& Append(const Inst& inst) {
    f_.blocks[block_].insts.push_back(inst);
    return f_.blocks[block_].insts.back();
  }
  Inst& AppendToEntry(const Inst& inst) {
    f_.blocks[0].insts.push_back(inst);
    return f_.blocks[0].insts.back();
  }

  virtual Reg MakeConstant(const uint8_t* data, int bytes) = 0;  // appends to the entry

  Function& f_;
  int block_ = 0;

 private:
  std::map<std::string, Reg> constants_;
  std::map<std::string, int64_t> pool_;
};

}  // namespace understudy::machine
