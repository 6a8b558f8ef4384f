// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX's approximate special functions on raw bits, as an NVIDIA H200 answers them; docs/special-functions.md
// states the rule of each. Used by the executors of rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh and div with
// .approx or .full. They read no state (no rounding mode of the host's matters) and never fail.

#include <cstdint>

namespace understudy::emu::ptx {

uint32_t RcpApproxF32(uint32_t x, bool ftz);
uint32_t RsqrtApproxF32(uint32_t x, bool ftz);
uint32_t SqrtApproxF32(uint32_t x, bool ftz);
// .ftz changes nothing in sine and cosine: an argument that small is zero to them.
uint32_t SinApproxF32(uint32_t x);
uint32_t CosApproxF32(uint32_t x);
uint32_t Lg2ApproxF32(uint32_t x, bool ftz);
uint32_t Ex2ApproxF32(uint32_t x, bool ftz);
uint32_t TanhApproxF32(uint32_t x);
uint32_t DivApproxF32(uint32_t a, uint32_t b, bool ftz);
uint32_t DivFullF32(uint32_t a, uint32_t b, bool ftz);

// The last step of rcp.approx, div.approx and div.full is a product: of what. (Of rcp with .ftz there is
// none: factor 1.)
struct Factors {
  uint32_t a = 0, b = 0;
};
Factors RcpApproxFactors(uint32_t x, bool ftz);
Factors DivApproxFactors(uint32_t a, uint32_t b, bool ftz);
Factors DivFullFactors(uint32_t a, uint32_t b, bool ftz);

uint64_t RcpApproxFtzF64(uint64_t x);
uint64_t RsqrtApproxF64(uint64_t x, bool ftz);

uint16_t Ex2ApproxF16(uint16_t x);
uint16_t Ex2ApproxFtzBf16(uint16_t x);
uint16_t TanhApproxF16(uint16_t x);
uint16_t TanhApproxBf16(uint16_t x);

}  // namespace understudy::emu::ptx
