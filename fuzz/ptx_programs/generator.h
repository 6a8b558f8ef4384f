// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generator's state and its kinds of statements, by file: statements.cc (arithmetic), memory.cc,
// control.cc, warp.cc, shared.cc. Used by generate.cc alone.
//
// What compilers are known to get wrong is kept out of programs: avoided.inc.
//
// Each function has the same registers with values from the start, which statements draw from: %r0-7, %l0-3,
// %h0-3, %f0-3, %d0-1, %p0-3. Temporaries live within a statement.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/program_tree/random.h"
#include "fuzz/ptx_programs/forms.h"
#include "fuzz/ptx_programs/program.h"

namespace understudy::ptx_programs {

// Text from pieces. With braces, so that pieces that draw random numbers do so from left to right (the
// arguments of a function come in an order of the compiler's choice).
struct Cat : std::string {
  template <class... Args>
  explicit Cat(const Args&... args) : std::string(absl::StrCat(args...)) {}
};

class Generator {
 public:
  explicit Generator(uint64_t seed);
  Program Make();

 private:
  // Who executes what is being written.
  struct Place {
    enum Level { kLanes, kWarp, kCta };  // some lanes; warps with all their lanes; all threads of the CTA
    Level level = kCta;
    std::string mask;  // the register with the lanes that are here; "": none, so no warp-wide operations
    int depth = 0;     // of blocks
    int loops = 0;     // that lie around
    bool in_function = false;
    std::string loop_end, loop_next;  // labels to break and continue to, if one may
    std::string loop_mask;            // set: a break must leave it
  };
  enum Statement {
    kForms,
    kFloatForms,
    kConvertForm,
    kCarry,
    kMove,
    kTwoPredicates,
    kLoadInput,
    kScratch,
    kLocalArray,
    kTable,
    kIf,
    kIfUniform,
    kIfWarp,
    kLoop,
    kSwitch,
    kJump,
    kCall,
    kIndirectCall,
    kEarlyExit,
    kExchange,
    kSharedAtomics,
    kSubsetBarrier,
    kProducer,
    kGlobalAtomic,
    kOwnAtomic,
    kShuffle,
    kVote,
    kMatch,
    kRedux,
    kWarpMisc,
    kMma,
    kStatements
  };

  // generate.cc
  Node Function(int index);
  std::vector<Node> Prologue();
  std::string Epilogue();
  std::string Declarations() const;
  void Weigh();
  std::vector<Node> Block(Place& place, int count);
  bool Allowed(Statement s, const Place& place) const;
  Node Write(Statement s, Place& place);
  std::string FullMask() const { return "%full"; }

  // statements.cc
  std::string R() { return Cat{"%r", random_.Below(8)}; }
  std::string L() { return Cat{"%l", random_.Below(4)}; }
  std::string H() { return Cat{"%h", random_.Below(4)}; }
  std::string F() { return Cat{"%f", random_.Below(4)}; }
  std::string D() { return Cat{"%d", random_.Below(2)}; }
  std::string P() { return Cat{"%p", random_.Below(4)}; }
  std::string Temp(char kind);  // a register of its own: r l h p
  std::string Label() { return Cat{"L", labels_++}; }
  // A register of a letter of Form::operands.
  std::string Register(char letter);
  std::string Source(const Form& form, char letter, std::string& before);
  std::string Instruction(const Form& form);
  std::string Settle(const std::string& reg);  // makes a double's NaN the one NaN
  std::string SettleSingle(const std::string& reg);
  std::string SettleHalf(const std::string& reg, const std::string& name);
  // A register's value in a temporary of which an assembler cannot know what the register held.
  std::string Opaque(int bits, const std::string& reg, std::string& before);
  // The register again, of which an assembler cannot know then what it holds.
  static std::string Hide(const std::string& reg);
  // Stores, which are never executed, of the registers that a statement has written: an assembler must have
  // computed them here.
  std::string Pins(const std::string& text);
  std::string Condition(const std::string& p);  // a comparison, or a predicate
  std::string Comparison(const std::string& p);
  Node FormStatement(FormGroup group);
  Node Carry();
  Node Move();
  Node TwoPredicates();

  // memory.cc
  std::string Offset(int bytes, int size,
                     std::string& before);  // a register with a random multiple of `size` below `bytes`
  struct Access {
    std::string type, reg_kind;  // "v4.b32", letters of the registers
    int bytes = 4;
  };
  Access AnyAccess(bool store, int most_bytes);
  std::string Registers(const Access& access, std::string& settle, std::string* before);
  // Any load from (store to) `bytes` bytes at a base, a 64-bit (or for shared memory 32-bit) register.
  std::string AnyLoad(const std::string& space, const std::string& base, bool wide, int bytes);
  std::string AnyStore(const std::string& space, const std::string& base, bool wide, int bytes);
  Node LoadInput();
  Node Scratch();
  Node LocalArray();
  Node Table();
  Node GlobalAtomic();
  Node OwnAtomic();
  std::string AtomicOnOwn(const std::string& space, const std::string& address);
  // A commutative operation of this name and type on the address.
  struct Commutative {
    std::string name, source;
    int bytes = 4;
  };
  Commutative AnyCommutative();
  std::string Reduction(const std::string& space, const Commutative& op, const std::string& address);

  // control.cc
  Node If(Place& place);
  Node IfUniform(Place& place);
  Node IfWarp(Place& place);
  Node Loop(Place& place);
  Node Switch(Place& place);
  Node Jump(Place& place);
  Node Call(Place& place);
  Node IndirectCall(Place& place);
  Node EarlyExit(Place& place);
  std::string CallText(const std::string& target, const std::string& prototype);
  bool MaskInside(const Place& place);

  // shared.cc
  Node Exchange(Place& place);
  Node SharedAtomics();
  Node SubsetBarrier();
  Node Producer();
  std::string Barrier();
  std::string SharedReads(bool matrix_moves);

  // warp.cc
  Node Shuffle(const Place& place);
  Node Vote(const Place& place);
  Node Match(const Place& place);
  Node Redux(const Place& place);
  Node WarpMisc(const Place& place);
  Node Mma();

  programs::Random random_;
  Program program_;
  int weight_[kStatements] = {};
  bool whole_warps_ = true;
  bool track_masks_ = false;  // in divergent code
  int functions_ = 0;         // that calls may name
  bool writes_function_ = false;
  bool pins_ = false;
  int comparisons_ = 0;  // in functions
  bool has_exit_ = false, dynamic_shared_ = false;
  int temps_[4] = {};  // r l h p, of the function being written
  int labels_ = 0, groups_ = 0, barriers_ = 1, mbarriers_ = 0;
  int statements_left_ = 0;
};

}  // namespace understudy::ptx_programs
