// SPDX-License-Identifier: Apache-2.0
#pragma once
// A PTX module as the parser leaves it: names resolved, constant expressions folded, every instruction
// checked against the forms of the ISA. Pure data, addresses unknown; core/program.h binds it to addresses
// and executors.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

struct Location {
  int line = 0, column = 0;  // from 1; 0: none
};

enum class Linkage : uint8_t { kNone, kExtern, kVisible, kWeak, kCommon };

// A reference from an initialiser to an address.
struct Relocation {
  uint64_t offset = 0;  // in the variable's bytes
  int bytes = 8;        // stored width
  std::string symbol;   // a variable or a function
  int64_t addend = 0;
  bool generic = false;  // generic(symbol): the generic address, else that in the symbol's own space
  int shift = 0;         // mask(...) operator: bits above it are kept: value = (address >> shift) & mask
  uint64_t mask = ~uint64_t{0};
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  int vector = 1;              // .v2, .v4, .v8
  std::vector<uint64_t> dims;  // array dimensions; a first dimension of 0 means [] (extern, dynamic shared)
  uint64_t size = 0;           // bytes in all
  uint64_t alignment = 1;
  Linkage linkage = Linkage::kNone;
  bool managed = false;  // .attribute(.managed)
  bool is_array = false;
  std::vector<uint8_t> init;  // empty, or `size` bytes
  std::vector<Relocation> relocations;
  // .param of a kernel: .ptr .space .align
  bool is_pointer = false;
  Space pointer_space = Space::kGeneric;
  Location location;
};

struct Register {
  std::string name;  // "%r5"; of a vector element "%v.x"
  Type type = Type::kB32;
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,       // index: Function::registers
    kSpecial,        // special: a special register's name without '%', element included: "tid.x", "laneid",
                     // "envreg3"
    kImmediate,      // bits: an integer (two's complement in 64 bits)
    kFloat,          // bits: an f64's bits (decimal or 0d literal), or with is_f32 an f32's (0f literal)
    kAddress,        // [base + offset], base by base_kind
    kVector,         // {elements}
    kLabel,          // index: instruction index in the function's body
    kVariable,       // a variable's address (mov.u64 %rd, var; call arguments): variable_scope/index, offset
    kFunction,       // index: Module::functions
    kPrototype,      // index: Function::prototypes (call through a register), or a .calltargets list
    kSink,           // _
    kPredicatePair,  // p|q : elements[0], elements[1]
    kGroup,          // (a, b, ...) of call: elements
    kTensor,  // [tensorMap, {c0, c1..}] or [a, {..}]: elements[0] an address-like operand, elements[1] a
              // vector
  };
  enum class Base : uint8_t { kNone, kRegister, kVariable };                    // of kAddress
  enum class Scope : uint8_t { kModule, kFunctionLocal, kParameter, kReturn };  // of variables

  Kind kind = Kind::kSink;
  bool negated = false;  // !p of a predicate, -r where a form allows it
  bool is_f32 = false;
  Base base_kind = Base::kNone;
  Scope scope = Scope::kModule;  // Module::variables, Function::variables, ::parameters, ::returns
  int index = -1;
  int64_t offset = 0;
  uint64_t bits = 0;
  std::string special;
  // What follows a scalar register of the video instructions: "b0" .. "b3", "h0", "h1", a mask "b320", a
  // selection "h31".
  std::string selector;
  std::vector<Operand> elements;
  Location location;
};

struct Instruction {
  Op op;
  // Everything after the first dot, in order, without dots and types and spaces included: "global", "v4",
  // "b32", "shared::cta".
  std::vector<std::string> modifiers;
  // Of these, the types and the spaces, in order.
  std::vector<Type> types;
  std::vector<Space> spaces;
  bool has_guard = false, guard_negated = false;
  int guard = -1;  // register index of @p
  std::vector<Operand> operands;
  int form = -1;  // row of forms.inc that it matched
  Location location;

  bool Has(const char* modifier) const {
    for (const std::string& m : modifiers)
      if (m == modifier) return true;
    return false;
  }
  Type type(size_t i = 0) const { return i < types.size() ? types[i] : Type::kNone; }
  Space space(size_t i = 0) const { return i < spaces.size() ? spaces[i] : Space::kGeneric; }
  std::string Name() const;  // "ld.global.v4.b32"
};

// .callprototype or .calltargets label.
struct Prototype {
  std::string label;
  std::vector<Variable> returns, parameters;
  std::vector<int> targets;  // .calltargets: functions
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // no body: .extern or a forward declaration without definition
  Linkage linkage = Linkage::kNone;
  std::string alias_of;                       // .alias
  std::vector<Variable> returns, parameters;  // .param or .reg space
  // For parameters and returns in .reg space (and every other register): index in registers, else -1.
  std::vector<int> return_registers, parameter_registers;
  std::vector<Register> registers;
  std::vector<Variable>
      variables;  // .local, .shared, .param, .global, .const declared inside (scopes flattened)
  std::vector<Instruction> body;
  std::vector<std::pair<std::string, int>> labels;  // name, instruction index (body.size() for the end)
  std::vector<std::vector<int>> branch_targets;     // of .branchtargets; brx.idx's label operand indexes it
  std::vector<Prototype> prototypes;
  // Performance directives; 0 where absent.
  uint32_t max_threads[3] = {}, required_threads[3] = {}, cluster[3] = {};
  uint32_t max_registers = 0, min_blocks_per_sm = 0, max_blocks_per_sm = 0, max_cluster_rank = 0;
  bool explicit_cluster = false, blocks_are_clusters = false, noreturn = false;
  Location location;
};

struct Module {
  std::string name;  // for messages: a file or "module"
  int version_major = 0, version_minor = 0;
  std::string target;  // "sm_90a"
  int sm = 0;          // 90
  char sm_suffix = 0;  // 'a', 'f' or 0
  bool debug = false, texmode_independent = false;
  int address_size = 64;
  std::vector<Variable> variables;  // .global, .const, .shared, .tex at module scope
  std::vector<Function> functions;
  std::vector<std::string> files;  // .file n
  // Instruction lines of `source`, for messages.
  std::string source;

  const Function* FindFunction(const std::string& name) const;
  const Variable* FindVariable(const std::string& name) const;
  std::string SourceLine(int line) const;  // trimmed
};

}  // namespace understudy::emu::ptx
