// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/divide.h"

#include "src/base/status.h"
#include "src/codegen/math_builder.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT

UOpRef Constant(const UOpRef& like, uint64_t bits) {
  return uop::Const(like->dtype(), ConstValue(static_cast<int64_t>(bits)));
}

// x / 2^k: a negative x is moved up by 2^k - 1 first, as the shift rounds down.
UOpRef DivideByPowerOfTwo(const UOpRef& x, int k) {
  if (k == 0) return x;
  if (!x->dtype().IsSigned()) return x >> Constant(x, k);
  const UOpRef sign = x >> Constant(x, x->dtype().BitWidth() - 1);
  return (x + (sign & Constant(x, (uint64_t{1} << k) - 1))) >> Constant(x, k);
}

UOpRef DivideUnsigned(const UOpRef& x, uint64_t d) {
  const int width = x->dtype().BitWidth();
  const uint64_t limit = (uint64_t{1} << width) - 1;
  const DType own = x->dtype().Element();
  for (const DType product : {dtypes::kUInt32, dtypes::kUInt64}) {
    if (product.BitWidth() <= width) continue;
    const auto r = ReciprocalOf(d, limit, product.BitWidth());
    if (!r) continue;
    const UOpRef wide = To(x, product);
    return To((wide * Constant(wide, r->multiplier)) >> Constant(wide, r->shift), own);
  }
  // The multiplier is 2^32 + m: with t = x m / 2^32, (x + t) / 2 = (x - t) / 2 + t does not overflow.
  const auto r = ReciprocalOf(d, limit, 2 * width + 1);
  US_CHECK(r && width == 32 && r->shift > 32) << "no reciprocal of " << d;
  const UOpRef wide = To(x, dtypes::kUInt64);
  const UOpRef t = To((wide * Constant(wide, r->multiplier & limit)) >> Constant(wide, 32), own);
  return (((x - t) >> 1) + t) >> Constant(x, r->shift - 33);
}

UOpRef DivideSigned(const UOpRef& x, uint64_t d) {
  const int width = x->dtype().BitWidth();
  const uint64_t limit = uint64_t{1} << (width - 1);
  for (const DType product : {dtypes::kInt32, dtypes::kInt64}) {
    if (product.BitWidth() <= width) continue;
    const auto r = ReciprocalOf(d, limit, product.BitWidth() - 1);
    if (!r) continue;
    const UOpRef wide = To(x, product);
    const UOpRef down =
        To((wide * Constant(wide, r->multiplier)) >> Constant(wide, r->shift), x->dtype().Element());
    return down - (x >> Constant(x, width - 1));
  }
  US_CHECK(false) << "no reciprocal of " << d;
  return nullptr;
}

}  // namespace

std::optional<Reciprocal> ReciprocalOf(uint64_t d, uint64_t limit, int product_bits) {
  US_CHECK(d >= 2 && d <= limit && limit < uint64_t{1} << 32) << d << " up to " << limit;
  const uint64_t last = (limit + 1) / d * d - 1;  // the greatest x of remainder d - 1
  for (int k = 0; k <= 64; ++k) {
    const auto power = static_cast<unsigned __int128>(1) << k;
    const auto m = power / d + 1;
    const auto excess = m * d - power;
    if (m * limit >> product_bits != 0) return std::nullopt;  // it only grows
    if (excess * last < power) return Reciprocal{static_cast<uint64_t>(m), k};
  }
  return std::nullopt;
}

UOpRef DivideByConstant(const UOpRef& x, const UOpRef& d) {
  const DType t = x->dtype();
  const int64_t value = d->const_int();
  if (value == 0) return nullptr;
  const bool negative = t.IsSigned() && value < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  UOpRef q;
  if ((magnitude & (magnitude - 1)) == 0) {
    q = DivideByPowerOfTwo(x, __builtin_ctzll(magnitude));
  } else if (t.BitWidth() > 32) {
    return nullptr;
  } else {
    q = t.IsSigned() ? DivideSigned(x, magnitude) : DivideUnsigned(x, magnitude);
  }
  return negative ? -q : q;
}

UOpRef DivisionsByConstants(const UOpRef& kernel) {
  return uop::Rebuild(kernel, [](const UOpRef& n) {
    if ((n->op() != Op::kIDiv && n->op() != Op::kIMod) || !n->src(1)->IsConst()) return n;
    const UOpRef q = DivideByConstant(n->src(0), n->src(1));
    if (q == nullptr) return n;
    return n->op() == Op::kIDiv ? q : n->src(0) - q * n->src(1);
  });
}

}  // namespace understudy
