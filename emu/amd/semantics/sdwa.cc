// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/sdwa.h"

namespace understudy::emu::amd {
namespace {

constexpr int kDword = 6;
constexpr int kPad = 0, kSext = 1;  // DST_UNUSED; 2 keeps

int FieldBits(int select) { return select < 4 ? 8 : select < kDword ? 16 : 32; }
int FieldShift(int select) { return select < 4 ? 8 * select : select < kDword ? 16 * (select - 4) : 0; }

}  // namespace

bool SdwaSelects(const SdwaInfo& sdwa, int i) { return sdwa.src_sel[i] < kDword; }

void SelectSdwaSource(const SdwaInfo& sdwa, int i, int lanes, uint32_t* words) {
  const int bits = FieldBits(sdwa.src_sel[i]), shift = FieldShift(sdwa.src_sel[i]);
  const int to_top = 32 - bits - shift, down = 32 - bits;
  if (sdwa.sext[i]) {
    for (int lane = 0; lane < lanes; ++lane) {
      words[lane] = static_cast<uint32_t>(static_cast<int32_t>(words[lane] << to_top) >> down);
    }
  } else {
    for (int lane = 0; lane < lanes; ++lane) words[lane] = words[lane] << to_top >> down;
  }
}

void WriteSdwaResult(const SdwaInfo& sdwa, bool half, uint64_t exec, int lanes, const KernelSet& kernels,
                     const uint32_t* result, uint32_t* out) {
  const int bits = FieldBits(sdwa.dst_sel), shift = FieldShift(sdwa.dst_sel);
  const uint32_t field = (bits == 32 ? ~0u : (1u << bits) - 1) << shift;
  const uint32_t above = bits + shift == 32 ? 0 : ~0u << (bits + shift);
  alignas(64) uint32_t merged[64];
  for (int lane = 0; lane < lanes; ++lane) {
    const uint32_t v = (half ? result[lane] & 0xffffu : result[lane]) << shift & field;
    uint32_t rest = 0;
    if (sdwa.dst_unused == kSext) {
      rest = (v >> (bits + shift - 1) & 1) != 0 ? above : 0;
    } else if (sdwa.dst_unused != kPad) {
      rest = out[lane] & ~field;
    }
    merged[lane] = v | rest;
  }
  kernels.store_masked(out, merged, exec, lanes);
}

}  // namespace understudy::emu::amd
