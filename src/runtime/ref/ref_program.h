// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel graph flattened once into blocks of instructions on numbered registers, one block a loop, so that
// the interpreter's inner loop looks nothing up. Used by RefDevice only.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy {

class RefProgram : public Program {
 public:
  // InvalidArgument or Unimplemented names the node that a kernel graph may not hold.
  static absl::StatusOr<std::unique_ptr<Program>> Create(const UOpRef& kernel);

  const std::string& name() const override { return name_; }
  const std::string& text() const override { return text_; }
  absl::Status Run(absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars);

 private:
  friend class RefCompiler;

  // Integers, bool and index live in `i` (sign- or zero-extended as ConstValue), floats in `d`.
  union Register {
    int64_t i = 0;
    double d;
  };
  enum class Code : uint8_t {
    kAddF32,
    kMulF32,
    kAddIndex,
    kMulIndex,  // what inner loops are made of, without boxing the operands
    kAlu,
    kLoad,
    kStore,
    kCopy,
    kLoop,
  };
  struct Instruction {
    Code code = Code::kAlu;
    uint8_t num_src = 0;
    DType dtype;                // of the result; of the element for kLoad and kStore
    UOpRef node;                // kAlu: what EvalNode reads; else for messages
    int dst = -1;               // register
    int src[3] = {-1, -1, -1};  // registers; kLoad: index, valid; kStore: index, value, valid (-1: none)
    int param = -1;             // kLoad, kStore
    int block = -1;             // kLoop
  };
  struct Block {
    UOpRef range;
    int counter = -1, end = -1;  // registers
    std::vector<Instruction> code;
  };
  struct Frame {
    std::vector<Register> registers;
    absl::Span<const Allocation> buffers;
  };

  absl::Status RunBlock(const Block& block, Frame& frame) const;
  absl::Status Step(const Instruction& in, Frame& frame) const;
  absl::Status OutOfRange(const Instruction& in, int64_t index, int64_t size, const Frame& frame) const;

  std::string name_, text_;
  UOpRef kernel_;
  std::vector<Block> blocks_;  // block 0 is the kernel itself
  std::vector<Register> initial_;
  struct VarSlot {
    VarArg arg;
    int reg;
  };
  std::vector<VarSlot> vars_;  // by name
  int num_params_ = 0;
};

}  // namespace understudy
