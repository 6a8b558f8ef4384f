// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/fused_sum.h"

#include "emu/ptx/semantics/lane_rows.h"
#include "emu/ptx/semantics/special_functions.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kSignF64 = uint64_t{1} << 63, kInfinityF64 = 0x7ff0'0000'0000'0000;

Src At(Src scratch, uint32_t offset, uint8_t bytes) {
  scratch.offset += offset;
  scratch.bytes = bytes;
  return scratch;
}

// Of every lane, also those that do not execute: nobody reads them.
void CopyFlipped(Warp& w, Src from, uint64_t sign, Src to) {
  if (to.bytes == 8) {
    const Row64 row(w, from);
    // An f64 NaN keeps its sign through an operand's minus (recorded); those of other types have one form.
    for (int i = 0; i < kWarpSize; ++i)
      w.Dst64(to)[i] = row.row[i] ^ ((row.row[i] & ~kSignF64) > kInfinityF64 ? 0 : sign);
  } else {
    const Row32 row(w, from);
    for (int i = 0; i < kWarpSize; ++i) w.Dst32(to)[i] = row.row[i] ^ static_cast<uint32_t>(sign);
  }
}

const FusedSum& PlanOf(const Inst& inst) { return *reinterpret_cast<const FusedSum*>(inst.aux[0]); }

ExecResult RunProductSum(Warp& w, const Inst& inst) {
  const FusedSum& f = PlanOf(inst);
  if (f.negate_product) CopyFlipped(w, f.a, f.sign, f.fma.src(1));
  if (f.negate_addend) CopyFlipped(w, f.addend, f.sign, f.fma.src(3));
  return f.fma.exec(w, f.fma);
}

// The factors of a quotient or a reciprocal go to scratch rows.
template <class Fn>
ExecResult RunFactors(Warp& w, const FusedSum& f, Fn&& factors) {
  const Row32 a(w, f.a), b(w, f.b);
  uint32_t *const x = w.Dst32(f.fma.src(1)), *const y = w.Dst32(f.fma.src(2));
  const uint32_t sign = f.negate_product ? static_cast<uint32_t>(f.sign) : 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const Factors p = factors(a.row[i], b.row[i], f.ftz);
    x[i] = p.a ^ sign;
    y[i] = p.b;
  }
  if (f.negate_addend) CopyFlipped(w, f.addend, f.sign, f.fma.src(3));
  return f.fma.exec(w, f.fma);
}
ExecResult RunFullQuotientSum(Warp& w, const Inst& inst) {
  return RunFactors(w, PlanOf(inst), &DivFullFactors);
}
ExecResult RunQuotientSum(Warp& w, const Inst& inst) {
  return RunFactors(w, PlanOf(inst), &DivApproxFactors);
}
ExecResult RunReciprocalSum(Warp& w, const Inst& inst) {
  return RunFactors(w, PlanOf(inst), [](uint32_t x, uint32_t, bool ftz) { return RcpApproxFactors(x, ftz); });
}

uint64_t SignBits(Type type) {
  switch (type) {
    case Type::kF64:
      return kSignF64;
    case Type::kF32:
      return 0x80000000;
    case Type::kF16x2:
    case Type::kBf16x2:
      return 0x80008000;
    default:
      return 0x8000;
  }
}

}  // namespace

ExecResult KeepFactorsExec(Warp& w, const Inst& inst) {
  const auto& kept = *reinterpret_cast<const KeptFactors*>(inst.aux[0]);
  for (int i = 0; i < 2; ++i) CopyFlipped(w, kept.from[i], 0, kept.to[i]);
  return kept.product.exec(w, kept.product);
}

Exec MakeFusedSum(const Inst& sum, const Inst& product, const Src* factors, int addend, bool negate_product,
                  bool negate_addend, const ExecContext& context, Src scratch, FusedSum* fused) {
  // Of the fused instruction's text only the name counts.
  Instruction text = *sum.text;
  text.op = Op::kFma;
  text.modifiers.insert(text.modifiers.begin(), "rn");
  text.operands.resize(4, text.operands[1]);
  const Exec fma = FindExec(text, context);
  if (fma.fn == nullptr) return {};
  FusedSum& f = *fused;
  f.fma.exec = fma.fn;
  f.fma.aux[0] = fma.aux[0];
  f.fma.aux[1] = fma.aux[1];
  f.fma.text = sum.text;
  f.fma.num_operands = 4;
  f.fma.operands = f.operands;
  f.a = factors[0];
  f.b = factors[1];
  f.addend = sum.src(addend);
  f.sign = SignBits(sum.text->type());
  f.negate_product = negate_product;
  f.negate_addend = negate_addend;
  f.ftz = product.text->Has("ftz");
  const bool is_product = product.text->op == Op::kMul;
  const uint8_t bytes = TypeBits(sum.text->type()) == 64 ? 8 : 4;
  f.operands[0] = sum.op(0);
  f.operands[1].row = is_product && !negate_product ? f.a : At(scratch, 0, bytes);
  f.operands[2].row = is_product ? f.b : At(scratch, 128, bytes);
  f.operands[3].row = negate_addend ? At(scratch, 256, bytes) : f.addend;
  ExecFn run = &RunProductSum;
  if (product.text->op == Op::kRcp) run = &RunReciprocalSum;
  if (product.text->op == Op::kDiv) run = product.text->Has("full") ? &RunFullQuotientSum : &RunQuotientSum;
  Exec exec = Exact(run, reinterpret_cast<uint64_t>(fused));
  exec.state = fma.state;
  return exec;
}

}  // namespace understudy::emu::ptx
