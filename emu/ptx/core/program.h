// SPDX-License-Identifier: Apache-2.0
#pragma once
// A module bound for execution: each instruction has its executor and its operands are rows, each symbol has
// its address. Made once per loaded module, immutable afterwards, and shared by any number of launches and
// threads.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

// An operand at run time, in the order of Instruction::operands (a pair p|q and a group stay one operand).
struct BoundOperand {
  Operand::Kind kind = Operand::Kind::kSink;
  Src row;  // kRegister, kImmediate, kFloat, kSpecial, kVariable (its address), and kAddress's base
            // (a register's row, 4 or 8 bytes wide, or a constant row)
  int64_t offset = 0;                      // kAddress: added to the base
  const BoundOperand* elements = nullptr;  // kVector, kPredicatePair, kGroup, kTensor
  uint16_t num_elements = 0;
  Operand::Scope scope = Operand::Scope::kModule;  // of a variable base
  Space space = Space::kGeneric;                   // of a variable base: where the variable lives
  int index = -1;                                  // kLabel: pc; kFunction: Program::functions; kPrototype
};

struct Inst {
  ExecFn exec = nullptr;
  Src guard;  // a predicate row, negation included
  bool has_guard = false;
  bool reads_clock = false;  // an operand is a special register that is read at each use
  uint16_t num_operands = 0;
  const BoundOperand* operands = nullptr;
  uint64_t aux[2] = {};  // the executor's own: packed modifiers, table indices (from Exec::aux)
  const Instruction* text = nullptr;
  uint32_t reconverge = ~0u;  // branches: pc of the immediate post-dominator; ~0: at function exit
  // Instructions that `exec` wraps (warp-synchronous ones, readers of clocks): the family's executor, and for
  // warp-synchronous ones the operand with the member mask (-1: every lane of the warp).
  ExecFn wrapped = nullptr;
  int16_t member_mask = -1;
  bool has_destination = false;  // operand 0 is written (of warp-synchronous ones)

  const BoundOperand& op(int i) const { return operands[i]; }
  Src src(int i) const { return operands[i].row; }
};

struct BoundFunction {
  const Function* text = nullptr;
  std::vector<Inst> code;  // one more than the body: the end, an implicit ret/exit
  uint32_t frame_bytes = 0;
  uint32_t param_bytes = 0;  // .param space per lane
  uint32_t local_bytes = 0;  // .local variables per lane
  // Byte offsets of Function::{parameters, returns, variables} in .param space, .local or .shared, -1 where
  // elsewhere.
  std::vector<int64_t> parameter_offsets, return_offsets, variable_offsets;
  int index = -1;  // in Program::functions
  // Rows that hold addresses in local memory, which depend on the call: filled when a frame is made.
  struct LocalRow {
    uint32_t row = 0;
    uint8_t bytes = 8;
    int64_t offset = 0;  // from Frame::local_base; of module-scope variables from 0
    bool module_scope = false;
  };
  std::vector<LocalRow> local_rows;
  // Parameters whose address is taken are copied into local memory, where the address then points.
  struct SpilledParam {
    uint32_t param_offset = 0, local_offset = 0, bytes = 0;
  };
  std::vector<SpilledParam> spilled_params;
  std::vector<Src> registers;  // rows of Function::registers
  // What the CUDA device runtime defines and modules only declare.
  enum class Builtin : uint8_t { kNone, kVprintf, kMalloc, kFree, kAssertFail };
  Builtin builtin = Builtin::kNone;
  // Entries: what calls can need of local memory in all, or ~0 when recursion, indirect calls or alloca leave
  // it open.
  uint64_t stack_bytes = 0;
};

// Local memory that a call takes from its lanes' stacks: at least what a return address needs.
inline uint32_t StackFrameBytes(const BoundFunction& function) {
  return function.local_bytes > 16 ? function.local_bytes : 16;
}

// A call, bound: what goes where.
struct CallPlan {
  struct Value {
    bool in_param = false;
    uint32_t param_offset = 0;  // in .param space of the caller
    Src row;                    // else a register or constant
    bool sink = false;
  };
  int callee = -1;  // Program::functions; -1: the address is in `target`
  Src target;
  std::vector<Value> arguments, returns;
  int prototype = -1;  // Function::prototypes
};

// A special register (or the address of dynamic shared memory) that the module names, as a row that is filled
// when a warp starts or, clocks and counters, when it is read.
struct SpecialRow {
  uint16_t special = 0;  // Special of special_registers.h
  uint8_t bytes = 4;     // 4 or 8
  uint32_t offset = 0;   // Src::offset with base kSpecialRow
  int64_t addend = 0;
};

// Where the loader has put the module's .global and .const variables (and extern ones it resolved): generic
// addresses by name. A function-local .global/.const variable is named "function.variable".
using SymbolAddresses = std::map<std::string, uint64_t>;

struct BuildOptions {
  // Fuses sums with the products that feed them where ptxas does (contract.h). Off: each instruction rounds,
  // as with ptxas --fmad=false.
  bool contract = true;
};

class Program {
 public:
  // InvalidArgument naming the symbol that has no address. Instructions that the emulator refuses do not fail
  // the build: executing one is a kRefused fault with the reason.
  static absl::StatusOr<std::shared_ptr<const Program>> Build(std::shared_ptr<const Module> module,
                                                              const SymbolAddresses& addresses,
                                                              const BuildOptions& options = {});
  ~Program();

  const Module& module() const;
  const std::vector<BoundFunction>& functions() const;  // parallel to Module::functions
  // An entry by name, or nullptr.
  const BoundFunction* FindEntry(const std::string& name) const;
  // Static shared memory of a kernel: module-scope .shared and those of the functions it can reach, laid out
  // from offset 0.
  uint32_t static_shared_bytes(const BoundFunction& kernel) const;
  // Alignment of dynamic shared memory behind it.
  uint32_t dynamic_shared_alignment(const BoundFunction& kernel) const;
  // Module-scope .local variables, at the bottom of each lane's local memory.
  uint32_t module_local_bytes() const;
  // Kernel parameters: size of the block and offset of parameter i (PTX's alignment rules).
  uint32_t param_block_bytes(const BoundFunction& kernel) const;
  std::vector<uint32_t> param_offsets(const BoundFunction& kernel) const;
  // A function's address as mov.u64 %rd, f gives it, and back (nullptr: not a function).
  uint64_t function_address(int index) const;
  const BoundFunction* FunctionAt(uint64_t address) const;
  // Whether a generic address lies in one of the module's constant variables; and the lowest of these, where
  // their memory begins (0: none).
  bool IsConstant(uint64_t address) const;
  uint64_t constant_base() const;
  const uint8_t* constant_rows() const;
  // Special registers in use, and the bytes of their rows.
  const std::vector<SpecialRow>& special_rows() const;
  uint32_t special_bytes() const;

  struct Impl;

 private:
  Program();
  std::unique_ptr<Impl> impl_;
};

}  // namespace understudy::emu::ptx
