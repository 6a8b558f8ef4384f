// SPDX-License-Identifier: Apache-2.0
// Permutations whose lanes come from a vector register (RDNA4), swaps of rows and halves (CDNA4), loads of
// one LDS word into every lane, and the byte conversion that keeps its destination's other bytes (gfx9).

#include <cstring>

#include "emu/amd/semantics/lane_math.h"
#include "emu/amd/semantics/operands.h"
#include "emu/amd/semantics/vector_table.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

// Each lane's 32-bit value of a source, in `buffer` or where it lies.
const uint32_t* Words(const Operand& operand, const WaveState& wave, uint32_t (*buffer)[kMaxLanes]) {
  const uint32_t* words[4];
  StagePlain(operand, SrcKind::kU32, wave, HostKernels(), buffer, words);
  return words[0];
}

// OPSEL[0] is fetch-inactive, OPSEL[1] bound control, as for V_PERMLANE16.
struct Fetch {
  uint64_t exec;
  bool inactive, zero_fill;
  // True where a lane gets a value; *valid says whether from its source lane or zero.
  bool Gets(int from, bool* valid) const {
    *valid = inactive || ((exec >> from) & 1) != 0;
    return *valid || zero_fill;
  }
};
Fetch FetchOf(const Inst& inst, const WaveState& wave) {
  return {wave.exec(), (inst.op_sel & 1) != 0, (inst.op_sel & 2) != 0};
}

ExecResult PermuteVar(const Inst& inst, WaveState& wave, int row_flip) {
  alignas(64) uint32_t buffers[2][4][kMaxLanes];
  const uint32_t* const values = Words(inst.src[0], wave, buffers[0]);
  const uint32_t* const select = Words(inst.src[1], wave, buffers[1]);
  const Fetch fetch = FetchOf(inst, wave);
  alignas(64) uint32_t result[kMaxLanes];
  uint64_t written = fetch.exec;
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    const int from = ((lane & ~15) ^ row_flip) + static_cast<int>(select[lane] & 15);
    bool valid;
    if (!fetch.Gets(from, &valid)) written &= ~(uint64_t{1} << lane);
    result[lane] = valid ? values[from] : 0;
  }
  HostKernels().store_masked(wave.Vgpr(StorageIndex(inst.dst[0])), result, written, wave.wave_size);
  return ExecResult::kNext;
}

// Lane l of the destination with bit `distance` set exchanges with lane l - distance of the source.
ExecResult SwapAcross(const Inst& inst, WaveState& wave, int distance) {
  uint32_t* const d = wave.Vgpr(StorageIndex(inst.dst[0]));
  uint32_t* const s = wave.Vgpr(StorageIndex(inst.src[0]));
  const Fetch fetch = FetchOf(inst, wave);
  alignas(64) uint32_t old_d[kMaxLanes], old_s[kMaxLanes];
  std::memcpy(old_d, d, sizeof(uint32_t) * wave.wave_size);
  std::memcpy(old_s, s, sizeof(uint32_t) * wave.wave_size);
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    if (((fetch.exec >> lane) & 1) == 0) continue;
    bool valid;
    if (!fetch.Gets(lane ^ distance, &valid)) continue;
    if ((lane & distance) != 0) {
      d[lane] = valid ? old_s[lane - distance] : 0;
    } else {
      s[lane] = valid ? old_d[lane + distance] : 0;
    }
  }
  return ExecResult::kNext;
}

}  // namespace

ExecResult PermLane16Var(const Inst& inst, WaveState& wave) { return PermuteVar(inst, wave, 0); }
ExecResult PermLaneX16Var(const Inst& inst, WaveState& wave) { return PermuteVar(inst, wave, 16); }
ExecResult PermLane16Swap(const Inst& inst, WaveState& wave) { return SwapAcross(inst, wave, 16); }
ExecResult PermLane32Swap(const Inst& inst, WaveState& wave) { return SwapAcross(inst, wave, 32); }

// Every lane of a quad with an active lane is written (RDNA3.5 and RDNA4 ISA, "LDS Direct Load").
ExecResult LdsDirectLoad(const Inst& inst, WaveState& wave) {
  alignas(64) uint32_t result[kMaxLanes];
  const uint32_t value = LdsDirectValue(wave);
  const uint64_t exec = wave.exec(), pairs = exec | exec >> 1;
  const uint64_t quads = ((pairs | pairs >> 2) & 0x1111111111111111u) * 0xf;
  for (int lane = 0; lane < wave.wave_size; ++lane) result[lane] = value;
  HostKernels().store_masked(wave.Vgpr(inst.dst[0].reg), result, quads, wave.wave_size);
  return ExecResult::kNext;
}

ExecResult CvtPkAccumU8(const Inst& inst, WaveState& wave) {
  LaneBuffers buffers;
  const uint32_t* words[4];
  uint64_t written = wave.exec();
  StageModified(inst, 0, SrcKind::kF32, wave, HostKernels(), buffers.src[0], words, &written);
  const uint32_t* const values = words[0];
  const uint32_t* const places = Words(inst.src[1], wave, buffers.src[1]);
  uint32_t* const out = wave.Vgpr(StorageIndex(inst.dst[0]));
  const LaneMath<true> math(ModeOf(wave));
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    const uint32_t byte = math.UMin(math.U32FromF32(FloatOf(values[lane])), 255u),
                   shift = 8 * (places[lane] & 3);
    buffers.dst[0][lane] = (out[lane] & ~(0xffu << shift)) | byte << shift;
  }
  HostKernels().store_masked(out, buffers.dst[0], written, wave.wave_size);
  return ExecResult::kNext;
}

}  // namespace understudy::emu::amd
