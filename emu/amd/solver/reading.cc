// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/solver/reading.h"

#include "absl/strings/str_cat.h"
#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/scalar_semantics.h"
#include "emu/amd/semantics/semantics.h"
#include "emu/amd/solver/terms.h"

namespace understudy::emu::amd::solver {
namespace {

class VectorBuilder : public TermMath {
 public:
  VectorBuilder(z3::context& context, const std::vector<z3::expr>& sources, const VectorModifiers& modifiers)
      : TermMath(context), sources_(sources), modifiers_(modifiers) {}

  VectorResult result;

  U32 SrcU32(int i) const { return {Source(i).extract(31, 0)}; }
  U16 SrcU16(int i) const { return Lo16(SrcU32(i)); }
  U64 SrcU64(int i) const { return {Source(i)}; }
  F16 SrcF16(int i) const { return {SrcU16(i)}; }
  BF16 SrcBF16(int i) const { return {SrcU16(i)}; }
  F32 SrcF32(int i) const { return {SrcU32(i)}; }
  F64 SrcF64(int i) const { return {SrcU64(i)}; }
  U16 SrcPkU16(int i, int half) const { return half == 0 ? Lo16(SrcU32(i)) : Hi16(SrcU32(i)); }
  F16 SrcPkF16(int i, int half) const { return {SrcPkU16(i, half)}; }
  BF16 SrcPkBF16(int i, int half) const { return {SrcPkU16(i, half)}; }
  F32 SrcPkF32(int i, int half) const { return {SrcWord(i, half)}; }
  U32 SrcByte(int i) const { return Byte<0>(SrcU32(i)); }
  Bool SelectsHigh(int i) const { return CBool((modifiers_.selects >> i & 1) != 0); }
  U32 TruthTable() const { return {c->bv_const("truth_table", 32)}; }
  U32 SrcWord(int i, int word) const {
    const unsigned at = 32 * static_cast<unsigned>(word);
    return {Source(i).extract(at + 31, at)};
  }
  Bool SrcMask(int i) const { return {Source(i)}; }
  Bool SrcIsSigned(int i) const { return CBool((modifiers_.signs >> i & 1) != 0); }
  U32 LaneId() const { return {c->bv_const("lane", 32)}; }
  template <class T>
  T Saturate(Bool overflow, T limit, T value) const {
    return modifiers_.clamp ? Select(overflow, limit, value) : value;
  }

  void DstU32(U32 v) { result.value = v.e; }
  void DstU16(U16 v) { DstU32(Zext32(v)); }
  void DstU64(U64 v) { result.value = v.e; }
  void DstF16(F16 v) { DstU16(v.bits); }
  void DstBF16(BF16 v) { DstU16(v.bits); }
  void DstF32(F32 v) { DstU32(v.bits); }
  void DstF64(F64 v) { DstU64(v.bits); }
  void DstPkU16(U16 lo, U16 hi) { DstU32(Pack16(lo, hi)); }
  void DstPkF16(F16 lo, F16 hi) { DstPkU16(lo.bits, hi.bits); }
  void DstPkF32(F32 lo, F32 hi) { DstU64(Pack32(lo.bits, hi.bits)); }
  void DstByte(U32 v) { DstU32(And(v, C32(0xff))); }
  void DstLoF16(F16 v) { DstU16(v.bits); }
  void DstHiF16(F16 v) { DstU16(v.bits); }
  // Words arrive lowest first.
  void DstWord(int word, U32 v) { result.value = word == 0 ? v.e : z3::concat(v.e, *result.value); }
  void DstMask(Bool v) { result.mask = v.e; }

 private:
  const z3::expr& Source(int i) const { return sources_[static_cast<size_t>(i)]; }

  const std::vector<z3::expr>& sources_;
  const VectorModifiers& modifiers_;
};

struct VectorRow {
  void (*run)(VectorBuilder&) = nullptr;
  Signature signature;
};

template <class Semantic>
VectorRow MakeRow() {
  constexpr Signature signature = SignatureOf<Semantic>();
  VectorRow row;
  row.signature = signature;
  if constexpr (!signature.uses_float && !signature.reads_lane_id) {
    row.run = [](VectorBuilder& b) { Semantic::Run(b); };
  }
  return row;
}

const VectorRow* RowOf(Opcode op) {
  switch (op) {
#define SEMANTIC(chapter, opcode, function, state, note)      \
  case Opcode::opcode: {                                      \
    static const VectorRow row = MakeRow<semantic::opcode>(); \
    return row.run != nullptr ? &row : nullptr;               \
  }
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note)
#define SAME(opcode, other) \
  case Opcode::opcode:      \
    return RowOf(Opcode::other);
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
    default:
      return nullptr;
  }
}

absl::Status CheckSource(Opcode op, int i, SrcKind kind, const std::vector<z3::expr>& sources) {
  if (kind == SrcKind::kNone) return absl::OkStatus();
  if (static_cast<size_t>(i) >= sources.size()) {
    return absl::InvalidArgumentError(absl::StrCat(OpcodeName(op), ": source ", i, " is missing"));
  }
  const z3::sort sort = sources[static_cast<size_t>(i)].get_sort();
  const int bits = kind == SrcKind::kMask ? 0 : 32 * SrcWords(kind);
  const bool fits = bits == 0 ? sort.is_bool() : sort.is_bv() && static_cast<int>(sort.bv_size()) == bits;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(OpcodeName(op), ": source ", i, " is ", sort.to_string(),
                                                 ", expected ",
                                                 bits == 0 ? "Bool" : absl::StrCat(bits, " bits")));
}

class ScalarBuilder : public TermMath {
 public:
  ScalarBuilder(z3::context& context, const std::vector<z3::expr>& sources, const ScalarState& state)
      : TermMath(context), sources_(sources), state_(state) {}

  ScalarResult result;

  U32 SrcU32(int i) const { return {Source(i, 32).extract(31, 0)}; }
  U64 SrcU64(int i) const { return {Source(i, 64)}; }
  U32 OldU32() const { return {state_.old.extract(31, 0)}; }
  U64 OldU64() const { return {state_.old}; }
  U32 SImm() const { return {state_.simm}; }
  U32 UImm() const { return {z3::zext(state_.simm.extract(15, 0), 16)}; }
  void DstU32(U32 v) { result.value = v.e; }
  void DstU64(U64 v) { result.value = v.e; }
  // Instructions set SCC from values they have already read.
  Bool Scc() const { return {result.scc ? *result.scc : state_.scc}; }
  void SetScc(Bool v) { result.scc = v.e; }
  U64 ExecU64() const { return {result.exec ? *result.exec : state_.exec}; }
  U32 ExecU32() const { return Lo32(ExecU64()); }
  void SetExecU64(U64 v) { result.exec = v.e; }
  void SetExecU32(U32 v) { result.exec = z3::concat(Hi32(ExecU64()).e, v.e); }

  // The first source that is missing or of another width.
  mutable std::string wrong;

 private:
  z3::expr Source(int i, unsigned bits) const {
    if (static_cast<size_t>(i) < sources_.size()) {
      const z3::expr& source = sources_[static_cast<size_t>(i)];
      if (source.is_bv() && source.get_sort().bv_size() == bits) return source;
    }
    wrong = absl::StrCat("source ", i, " must be a bit-vector of ", bits, " bits");
    return c->bv_val(0, bits);
  }

  const std::vector<z3::expr>& sources_;
  const ScalarState& state_;
};

using ScalarFn = void (*)(ScalarBuilder&);

// Rows read with MODE (Float) have no solver reading.
#define US_READING_Int(semantics) [](ScalarBuilder& b) { scalar::semantics(b); }
#define US_READING_Float(semantics) nullptr

ScalarFn ScalarRowOf(Opcode op) {
  switch (op) {
#define SCALAR_OP(op, semantics, reading) \
  case Opcode::op:                        \
    return US_READING_##reading(semantics);
#include "emu/amd/semantics/scalar_ops.inc"
#undef SCALAR_OP
    default:
      return nullptr;
  }
}

}  // namespace

bool ReadsVector(Opcode op) { return RowOf(op) != nullptr; }

absl::StatusOr<VectorResult> VectorTerms(Opcode op, const std::vector<z3::expr>& sources,
                                         const VectorModifiers& modifiers) {
  const VectorRow* row = RowOf(op);
  if (row == nullptr || sources.empty()) {
    return absl::UnimplementedError(absl::StrCat(OpcodeName(op), " has no solver reading"));
  }
  for (int i = 0; i < 4; ++i) {
    if (absl::Status s = CheckSource(op, i, row->signature.src[i], sources); !s.ok()) return s;
  }
  VectorBuilder b(sources[0].ctx(), sources, modifiers);
  row->run(b);
  return b.result;
}

bool ReadsScalar(Opcode op) { return ScalarRowOf(op) != nullptr; }

absl::StatusOr<ScalarResult> ScalarTerms(Opcode op, const std::vector<z3::expr>& sources,
                                         const ScalarState& state) {
  const ScalarFn run = ScalarRowOf(op);
  if (run == nullptr) return absl::UnimplementedError(absl::StrCat(OpcodeName(op), " has no solver reading"));
  ScalarBuilder b(state.scc.ctx(), sources, state);
  run(b);
  if (!b.wrong.empty()) return absl::InvalidArgumentError(absl::StrCat(OpcodeName(op), ": ", b.wrong));
  return b.result;
}

std::string Refutation(const z3::expr& claim, unsigned timeout_ms) {
  z3::context& context = claim.ctx();
  z3::solver solver(context);
  z3::params params(context);
  params.set("timeout", timeout_ms);
  solver.set(params);
  solver.add(!claim);
  switch (solver.check()) {
    case z3::unsat:
      return "";
    case z3::sat:
      return absl::StrCat("false for:\n", solver.get_model().to_string());
    default:
      return absl::StrCat("not decided: ", solver.reason_unknown());
  }
}

}  // namespace understudy::emu::amd::solver
