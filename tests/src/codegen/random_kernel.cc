// SPDX-License-Identifier: Apache-2.0
#include "tests/src/codegen/random_kernel.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

constexpr DType kTypes[] = {
    dtypes::kBool,       dtypes::kInt8,           dtypes::kUInt8,         dtypes::kInt16,
    dtypes::kUInt16,     dtypes::kInt32,          dtypes::kUInt32,        dtypes::kInt64,
    dtypes::kUInt64,     dtypes::kFloat16,        dtypes::kBFloat16,      dtypes::kFloat32,
    dtypes::kFloat32,    dtypes::kFloat32,        dtypes::kFloat64,       dtypes::kFloat8E4M3,
    dtypes::kFloat8E5M2, dtypes::kFloat8E4M3Fnuz, dtypes::kFloat8E5M2Fnuz};

class Generator {
 public:
  Generator(uint64_t seed, const KernelOptions& options) : random_(seed), options_(options) {}

  RandomKernel Run() {
    const int rank = Pick(1, 3), reduces = options_.reduce ? Pick(0, 2) : 0;
    int64_t id = 0;
    std::vector<UOpRef> outputs;
    for (int i = 0; i < rank; ++i) outputs.push_back(uop::Range(Extent(), id++, AxisKind::kGlobal));
    for (int i = 0; i < reduces; ++i) reduces_.push_back(uop::Range(Extent(), id++, AxisKind::kReduce));
    const DType type = AnyType();
    out_.dtypes.push_back(type);
    out_.bytes.emplace_back();
    const UOpRef value = Expression(type, outputs, 4);
    // The output is dense, sometimes transposed.
    std::vector<UOpRef> order = outputs;
    if (Chance(4)) std::shuffle(order.begin(), order.end(), random_);
    UOpRef index = uop::IndexConst(0);
    int64_t size = 1;
    for (const UOpRef& r : order) {
      index = index * End(r) + r;
      size *= End(r);
    }
    out_.bytes[0].assign(size * type.SizeBytes(), 0xa5);
    const UOpRef valid =
        Chance(8) ? uop::CmpLt(outputs[0], uop::IndexConst(Pick(1, static_cast<int>(End(outputs[0])))))
                  : nullptr;
    out_.kernel =
        uop::Sink({uop::Store(uop::IndexOf(uop::Param(type, 0), index, valid), value, outputs)}, "random");
    return std::move(out_);
  }

 private:
  int Pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool Chance(int n) { return Pick(1, n) == 1; }
  static int64_t End(const UOpRef& r) { return r->src(0)->const_int(); }
  int64_t Extent() {
    constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 7, 8, 8, 12, 16};
    return kExtents[Pick(0, std::size(kExtents) - 1)];
  }
  DType AnyType() { return kTypes[Pick(0, std::size(kTypes) - 1)]; }

  // Where a fresh buffer is read: some of the ranges, row-major in random order, perhaps flipped, merged and
  // split again, shifted behind a guard.
  UOpRef LoadOf(DType type, const std::vector<UOpRef>& ranges) {
    std::vector<UOpRef> used;
    for (const UOpRef& r : ranges) {
      if (!Chance(4)) used.push_back(r);
    }
    if (Chance(3)) std::shuffle(used.begin(), used.end(), random_);
    UOpRef index = uop::IndexConst(0);
    int64_t size = 1;
    for (const UOpRef& r : used) {
      const UOpRef step = Chance(6) ? uop::IndexConst(End(r) - 1) - r : r;
      index = index * End(r) + step;
      size *= End(r);
    }
    if (size > 1 && Chance(5)) {
      // Read as a transposed matrix of `n` columns.
      const int64_t n = size % 4 == 0 ? 4 : size % 3 == 0 ? 3 : 1;
      index = (index % n) * (size / n) + index / n;
    }
    UOpRef valid;
    if (Chance(4)) {
      const int64_t shift = Pick(0, 3), stop = std::max<int64_t>(1, size - Pick(0, 2));
      valid =
          uop::CmpLt(uop::IndexConst(shift - 1), index) & uop::CmpLt(index, uop::IndexConst(stop + shift));
      index = index - shift;
      size = stop;
    }
    if (Chance(6)) {
      index = index + 2;
      size += 2;
    }
    const auto position = static_cast<int64_t>(out_.dtypes.size());
    out_.dtypes.push_back(type);
    out_.bytes.push_back(Contents(type, size));
    return uop::Load(uop::IndexOf(uop::Param(type, position), index, valid));
  }

  std::vector<uint8_t> Contents(DType type, int64_t size) {
    std::vector<uint8_t> bytes(size * type.SizeBytes());
    for (int64_t i = 0; i < size; ++i) {
      uint64_t bits = random_();
      if (type.IsFloat() && !Chance(12)) {
        bits = ToBits(type, ConstValue(std::ldexp(Pick(-1000, 1000) / 256.0, Pick(-3, 3))));
      } else if (type.IsInt() && !Chance(4)) {
        bits = static_cast<uint64_t>(static_cast<int64_t>(Pick(-9, 9)));
      } else if (type.IsBool()) {
        bits &= 1;
      }
      std::memcpy(&bytes[i * type.SizeBytes()], &bits, type.SizeBytes());
    }
    return bytes;
  }

  UOpRef Constant(DType type) {
    if (type.IsFloat()) return uop::Const(type, ConstValue(Pick(-64, 64) / 16.0));
    if (type.IsBool()) return uop::BoolConst(Chance(2));
    return uop::Const(type, ConstValue(int64_t{Pick(-70, 70)}));
  }

  // A value of `type` that varies with `ranges` and with nothing else.
  UOpRef Expression(DType type, const std::vector<UOpRef>& ranges, int depth) {
    if (depth == 0 || Chance(8)) {
      const int leaf = Pick(1, 8);
      if (leaf == 1) return Constant(type);
      if (leaf == 2 && !ranges.empty())
        return uop::Cast(ranges[Pick(0, static_cast<int>(ranges.size()) - 1)], type);
      return LoadOf(type, ranges);
    }
    const auto sub = [&](DType t) { return Expression(t, ranges, depth - 1); };
    if (!reduces_.empty() && !type.IsBool() && Chance(3)) {
      // Runs over one or both reduce ranges, unless they are open here already.
      std::vector<UOpRef> over, inner = ranges;
      for (const UOpRef& r : reduces_) {
        if (std::find(ranges.begin(), ranges.end(), r) == ranges.end() && !Chance(4)) over.push_back(r);
      }
      if (!over.empty()) {
        inner.insert(inner.end(), over.begin(), over.end());
        constexpr Op kReduceOps[] = {Op::kAdd, Op::kAdd, Op::kMul, Op::kMax, Op::kMin};
        return uop::Reduce(kReduceOps[Pick(0, 4)], Expression(type, inner, depth - 1), over);
      }
    }
    switch (Pick(0, 9)) {
      case 0:
        return uop::Cast(sub(AnyType()), type);
      case 1:
        return uop::Where(sub(dtypes::kBool), sub(type), sub(type));
      case 2:
        if (type.IsBool()) {
          const DType t = AnyType();
          constexpr Op kCompares[] = {Op::kCmpLt, Op::kCmpEq, Op::kCmpNe};
          return uop::Binary(kCompares[Pick(0, 2)], sub(t), sub(t));
        }
        return uop::Neg(sub(type));
      case 3:
        if (type.IsFloat() || type.IsInt()) return uop::MulAcc(sub(type), sub(type), sub(type));
        return uop::Not(sub(type));
      default:
        break;
    }
    if (type.IsFloat()) {
      constexpr Op kUnary[] = {Op::kSqrt, Op::kTrunc, Op::kExp2, Op::kLog2, Op::kSin, Op::kCos};
      if (Chance(4)) return uop::Unary(kUnary[Pick(0, options_.transcendental ? 4 : 1)], sub(type));
      constexpr Op kBinary[] = {Op::kAdd, Op::kMul, Op::kFDiv, Op::kMax, Op::kMin};
      return uop::Binary(kBinary[Pick(0, 4)], sub(type), sub(type));
    }
    if (type.IsBool()) {
      constexpr Op kBinary[] = {Op::kAnd, Op::kOr, Op::kXor, Op::kMax, Op::kMin};
      return uop::Binary(kBinary[Pick(0, 4)], sub(type), sub(type));
    }
    constexpr Op kBinary[] = {Op::kAdd,      Op::kMul, Op::kIDiv, Op::kIMod, Op::kFloorDiv,
                              Op::kFloorMod, Op::kMax, Op::kMin,  Op::kAnd,  Op::kOr,
                              Op::kXor,      Op::kShl, Op::kShr};
    return uop::Binary(kBinary[Pick(0, std::size(kBinary) - 1)], sub(type), sub(type));
  }

  std::mt19937_64 random_;
  KernelOptions options_;
  std::vector<UOpRef> reduces_;
  RandomKernel out_;
};

}  // namespace

RandomKernel MakeRandomKernel(uint64_t seed, const KernelOptions& options) {
  return Generator(seed, options).Run();
}

std::pair<uint64_t, uint64_t> RandomSeeds(uint64_t count) {
  unsigned long first = 1, n = count;
  if (const char* text = std::getenv("RANDOM_KERNELS")) std::sscanf(text, "%lu,%lu", &first, &n);
  return {first, first + n};
}

bool OrderMatters(const UOpRef& kernel) {
  for (const UOpRef& n : uop::NodesOf(kernel, Op::kReduce)) {
    const Op op = n->arg_as<Op>();
    if (n->dtype().IsFloat() && (op == Op::kAdd || op == Op::kMul)) return true;
  }
  return false;
}

ChoiceList RandomChoices(const UOpRef& kernel, const Target& target, uint64_t seed, int count,
                         bool allow_group) {
  std::mt19937_64 random(seed);
  ChoiceList choices;
  for (int i = 0; i < count; ++i) {
    ChoiceList legal;
    for (const Choice& c : ListChoices(kernel, target, choices)) {
      const bool reorders = c.kind == ChoiceKind::kGroup || c.kind == ChoiceKind::kTensorCore;
      if (allow_group || !reorders) legal.push_back(c);
    }
    if (legal.empty()) break;
    choices.push_back(legal[random() % legal.size()]);
  }
  return choices;
}

absl::StatusOr<std::vector<uint8_t>> RunKernel(Device& device, const RandomKernel& k,
                                               const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const auto program, device.Compile(k.kernel, choices));
  std::vector<Allocation> buffers;
  for (const auto& bytes : k.bytes) {
    US_ASSIGN_OR_RETURN(const Allocation a, device.Allocate(bytes.size()));
    US_RETURN_IF_ERROR(device.CopyIn(a, bytes.data(), bytes.size()));
    buffers.push_back(a);
  }
  US_RETURN_IF_ERROR(device.Launch(*program, buffers));
  std::vector<uint8_t> out(k.bytes[0].size());
  US_RETURN_IF_ERROR(device.CopyOut(out.data(), buffers[0], out.size()));
  for (const Allocation& a : buffers) US_RETURN_IF_ERROR(device.Free(a));
  return out;
}

std::string Difference(DType type, const std::vector<uint8_t>& expected, const std::vector<uint8_t>& got) {
  const int n = type.SizeBytes();
  for (size_t i = 0; i * n < expected.size(); ++i) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, &expected[i * n], n);
    std::memcpy(&b, &got[i * n], n);
    if (a == b) continue;
    if (type.IsFloat() && FormatOf(type).IsNan(a) && FormatOf(type).IsNan(b)) continue;
    return absl::StrCat("element ", i, " of ", type.Name(), ": expected ", ConstText(type, FromBits(type, a)),
                        " (0x", absl::Hex(a), "), got ", ConstText(type, FromBits(type, b)), " (0x",
                        absl::Hex(b), ")");
  }
  return "";
}

}  // namespace understudy::test
