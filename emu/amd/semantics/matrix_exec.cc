// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/matrix_exec.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/semantics/fp_mode.h"
#include "emu/amd/semantics/matrix_formats.h"
#include "emu/amd/semantics/matrix_kernels.h"
#include "emu/amd/semantics/matrix_scalar.h"
#include "emu/amd/semantics/matrix_table.h"

namespace understudy::emu::amd {

const MatrixKernels& HostMatrixKernels() {
  static const MatrixKernels* const kernels = [] {
#if defined(__x86_64__)
    const char* choice = std::getenv("US_SEMANTICS_ARCH");
    const std::string limit = choice == nullptr ? "" : choice;
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (limit != "baseline" && limit != "avx2" && avx2 && avx512) return &matrix_avx512::kKernels;
    if (limit != "baseline" && avx2) return &matrix_avx2::kKernels;
#endif
    return &matrix_baseline::kKernels;
  }();
  return *kernels;
}

namespace {

constexpr int kMaxInput = 2048, kMaxOutput = 2048, kMaxF64 = 256, kMaxScales = 64;

bool Bit(uint8_t bits, int i) { return ((bits >> i) & 1) != 0; }

// A and B as the rule needs them, C and then D. Nothing here is cleared before use.
struct Buffers {
  struct Input {
    alignas(64) float value[kMaxInput];
    alignas(64) float significand[kMaxInput];
    alignas(64) int32_t exponent[kMaxInput];
    int32_t* integer() { return exponent; }
  };
  Input a, b;
  alignas(64) uint32_t cd[kMaxOutput];
  alignas(64) double a_f64[kMaxF64], b_f64[kMaxF64], cd_f64[kMaxF64];
  alignas(64) double a_scale[kMaxScales], b_scale[kMaxScales];
  uint8_t select[kMaxInput];
  alignas(64) uint32_t permuted[8 * 64];
};

uint32_t* Registers(const Operand& o, WaveState& wave) {
  return o.kind == Operand::Kind::kAgpr ? wave.Agpr(o.reg) : wave.Vgpr(o.reg);
}
bool IsVector(const Operand& o) { return o.kind == Operand::Kind::kVgpr || o.kind == Operand::Kind::kAgpr; }

bool IsF8f6f4(const MatrixOp& op) { return op.a == MatrixType::kF8f6f4; }
bool IsSixteen(MatrixType type) { return type == MatrixType::kF16 || type == MatrixType::kBf16; }
// Where BLGP negates A, B and C.
bool NegatesByBlgp(const MatrixOp& op) { return op.rule == MatrixRule::kFmaF64 && op.isa != Isa::kCdna2; }
bool PermutesByBlgp(const MatrixOp& op) {
  return op.form == MatrixForm::kDense && !IsF8f6f4(op) && op.rule != MatrixRule::kFmaF64 &&
         (op.isa == Isa::kCdna2 || op.blocks > 1 || op.rule == MatrixRule::kFmaF32);
}

// Sets coding, width, table and exponents of one input.
void SetCoding(const MatrixOp& op, MatrixType type, int format, bool is_signed, MatrixStage* s) {
  const bool fnuz = op.isa == Isa::kCdna3;
  const auto table = [&](const MatrixFloat& f) {
    s->coding = MatrixCoding::kTable;
    s->bits = f.bits;
    s->table = MatrixFloatTable(f);
    s->min_exponent = f.min_exponent();
  };
  switch (type) {
    case MatrixType::kF64:
      s->coding = MatrixCoding::kF64;
      break;
    case MatrixType::kF32:
      s->coding = MatrixCoding::kF32;
      s->min_exponent = -126;
      break;
    case MatrixType::kXf32:
      s->coding = MatrixCoding::kXf32;
      s->min_exponent = -126;
      break;
    case MatrixType::kF16:
      s->coding = MatrixCoding::kF16;
      s->min_exponent = -14;
      break;
    case MatrixType::kBf16:
      s->coding = MatrixCoding::kBf16;
      s->min_exponent = -126;
      break;
    case MatrixType::kFp8:
      table(fnuz ? kFnuzFp8 : kOcpFp8);
      break;
    case MatrixType::kBf8:
      table(fnuz ? kFnuzBf8 : kOcpBf8);
      break;
    case MatrixType::kF8f6f4: {
      static constexpr const MatrixFloat* kFormats[] = {&kOcpFp8, &kOcpBf8, &kFp6, &kBf6, &kFp4};
      table(*kFormats[format]);
      break;
    }
    case MatrixType::kI8:
      s->coding = MatrixCoding::kI8;
      break;
    case MatrixType::kIu8:
      s->coding = is_signed ? MatrixCoding::kI8 : MatrixCoding::kU8;
      break;
    default:
      s->coding = is_signed ? MatrixCoding::kI4 : MatrixCoding::kU4;
      break;
  }
}

void SetResults(const MatrixOp& op, Buffers::Input* input, double* f64, MatrixStage* s) {
  switch (op.rule) {
    case MatrixRule::kInteger:
      s->integer = input->integer();
      break;
    case MatrixRule::kFmaF64:
      s->f64 = f64;
      break;
    case MatrixRule::kFmaF32:
    case MatrixRule::kPairwise:
    case MatrixRule::kBlocks:
      s->value = input->value;
      break;
    default:
      s->value = input->value;
      s->significand = input->significand;
      s->exponent = input->exponent;
      break;
  }
}

// The lanes of B that BLGP puts in the place of lane `lane`.
int PermutedLane(int lane, int blgp) {
  switch (blgp) {
    case 1:
    case 2:
      return lane % 32 + 32 * (blgp - 1);
    case 3:
      return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7:
      return lane % 16 + 16 * (blgp - 4);
    default:
      return lane;
  }
}

// One matrix multiplication in progress.
class Multiplication {
 public:
  Multiplication(const MatrixOp& op, const Inst& inst, WaveState& wave, Buffers* buffers)
      : op_(op),
        inst_(inst),
        wave_(wave),
        plan_(op.PlanFor(wave.wave_size)),
        a_plan_(IsF8f6f4(op) ? op.PlanForBits(F8f6f4Bits(inst.cbsz)) : plan_),
        b_plan_(IsF8f6f4(op) ? op.PlanForBits(F8f6f4Bits(inst.blgp)) : plan_),
        buffers_(*buffers) {}

  void Run() {
    if (op_.form == MatrixForm::kSparse) ReadIndex();
    if (op_.rule == MatrixRule::kBlocks) ReadScales();
    const bool rdna3 = op_.isa == Isa::kRdna3 || op_.isa == Isa::kRdna35;
    if (rdna3 && !LaneGroupsAgree()) {
      MultiplyGroupByGroup();
    } else {
      StageInputs(0);
      ReadC();
      Multiply();
    }
    WriteD();
  }

 private:
  const Operand& COperand() const { return op_.form == MatrixForm::kSparse ? inst_.src[3] : inst_.src[2]; }

  // RDNA3: each group of 16 lanes of D is computed from its own copy of A and B.
  bool LaneGroupsAgree() const {
    for (int i = 0; i < 2; ++i) {
      const uint32_t* words = Registers(inst_.src[i], wave_);
      for (int reg = 0; reg < plan_.a_regs; ++reg, words += wave_.wave_size) {
        for (int lane = 16; lane < wave_.wave_size; lane += 16) {
          if (std::memcmp(words, words + lane, 16 * sizeof(uint32_t)) != 0) return false;
        }
      }
    }
    return true;
  }
  void MultiplyGroupByGroup() {
    const int groups = wave_.wave_size / 16;
    alignas(64) uint32_t result[16 * 16];
    for (int group = 0; group < groups; ++group) {
      StageInputs(16 * group);
      ReadC();
      Multiply();
      for (int row = group; row < 16; row += groups) {
        std::memcpy(result + 16 * row, buffers_.cd + 16 * row, 16 * sizeof(uint32_t));
      }
    }
    std::memcpy(buffers_.cd, result, sizeof(result));
  }

  void StageInputs(int first_lane) {
    special_ = StageInput(0, op_.a, a_plan_.a, op_.m, inst_.cbsz, first_lane, &buffers_.a, buffers_.a_f64);
    special_ |= StageInput(1, op_.b, b_plan_.b, op_.n, inst_.blgp, first_lane, &buffers_.b, buffers_.b_f64);
  }

  bool StageInput(int i, MatrixType type, const std::vector<MatrixSlice>& slices, int width, int format,
                  int first_lane, Buffers::Input* input, double* f64) {
    MatrixStage s = {};
    s.regs = Registers(inst_.src[i], wave_) + first_lane;
    s.lanes = wave_.wave_size;
    s.slices = slices.data();
    s.count = static_cast<int>(slices.size());
    s.width = width;
    s.blocks = op_.blocks;
    SetCoding(op_, type, format, Bit(inst_.neg, i), &s);
    SetResults(op_, input, f64, &s);
    if (IsRdna(op_.isa) && op_.rule != MatrixRule::kInteger) {
      s.flip_even = Bit(inst_.neg, i);
      s.flip_odd = Bit(inst_.neg_hi, i);
    }
    if (NegatesByBlgp(op_)) s.flip_even = Bit(inst_.blgp, i);
    // gfx11 reads denormals of bf16 as zeros, gfx90a those of f16 and bf16.
    s.flush =
        op_.rule == MatrixRule::kPairwise || (op_.rule == MatrixRule::kDot2 && type == MatrixType::kBf16);
    MatrixSlice moved[128];
    if (i == 0 && inst_.cbsz != 0 && op_.blocks > 1) {
      // CBSZ: each 2^CBSZ blocks read the one of them that ABID names.
      for (int at = 0; at < s.count; ++at) {
        const int block = at % op_.blocks, source = (block >> inst_.cbsz << inst_.cbsz) + inst_.abid;
        moved[at] = slices[static_cast<size_t>(at - block + source)];
      }
      s.slices = moved;
    }
    if (i == 1 && inst_.blgp != 0 && PermutesByBlgp(op_)) {
      for (int reg = 0; reg < plan_.b_regs; ++reg) {
        for (int lane = 0; lane < 64; ++lane) {
          buffers_.permuted[reg * 64 + lane] = s.regs[reg * 64 + PermutedLane(lane, inst_.blgp)];
        }
      }
      s.regs = buffers_.permuted;
    }
    return HostMatrixKernels().stage(s);
  }

  // Which rows of B the stored elements of each row of A multiply.
  void ReadIndex() {
    const uint32_t* words = Registers(inst_.src[2], wave_);
    const int set = IsCdna(op_.isa) ? (inst_.cbsz == 0 ? inst_.abid : 0) : inst_.index_key;
    for (size_t pair = 0; pair < plan_.index.size(); ++pair) {
      const MatrixSlice& s = plan_.index[pair];
      for (int row = 0; row < op_.m; ++row) {
        const uint32_t bits = words[s.lane + row] >> (s.shift + set * plan_.index_bits);
        uint8_t* const select = buffers_.select + static_cast<size_t>(row * plan_.stored_k) + 2 * pair;
        select[0] = static_cast<uint8_t>(4 * pair + (bits & 3));
        select[1] = static_cast<uint8_t>(4 * pair + ((bits >> 2) & 3));
      }
    }
  }

  // Lane b * M + row of the scale operand belongs to `row` and block b of 32 elements.
  void ReadScales() {
    const int blocks = op_.k / 32;
    for (int i = 0; i < 2; ++i) {
      double* const scales = i == 0 ? buffers_.a_scale : buffers_.b_scale;
      const Operand& o = inst_.src[3 + i];
      const int shift = 8 * ((Bit(inst_.op_sel, i) ? 1 : 0) + (Bit(inst_.op_sel_hi, i) ? 2 : 0));
      for (int at = 0; at < blocks * op_.m; ++at) {
        double scale = 1.0;
        if (op_.form == MatrixForm::kScaled) {
          uint32_t word = static_cast<uint32_t>(o.imm);
          if (IsVector(o)) word = Registers(o, wave_)[at];
          if (o.kind == Operand::Kind::kSgpr) word = wave_.sgpr[o.reg & 127];
          scale = ScaleValue((word >> shift) & 255);
        }
        scales[at] = scale;
      }
    }
  }

  // C in f32's bits, with its modifiers: |c| before -c.
  void ReadC() {
    const Operand& o = COperand();
    const bool from_register = IsVector(o);
    const int size = op_.n * static_cast<int>(plan_.d.size());
    if (op_.d == MatrixType::kF64) {
      for (size_t i = 0; i < plan_.d.size(); ++i) {
        const uint32_t* low =
            from_register ? Registers(o, wave_) + plan_.d[i].reg * 64 + plan_.d[i].lane : nullptr;
        for (int j = 0; j < op_.n; ++j) {
          uint64_t bits = from_register ? low[j] | static_cast<uint64_t>(low[j + 64]) << 32 : o.imm;
          if (Bit(inst_.blgp, 2) && NegatesByBlgp(op_)) bits ^= uint64_t{1} << 63;
          std::memcpy(&buffers_.cd_f64[i * static_cast<size_t>(op_.n) + static_cast<size_t>(j)], &bits,
                      sizeof(bits));
        }
      }
      return;
    }
    uint32_t* cd = buffers_.cd;
    if (from_register) {
      const uint32_t* words = Registers(o, wave_);
      for (const MatrixSlice& s : plan_.d) {
        std::memcpy(cd, words + s.reg * wave_.wave_size + s.lane,
                    sizeof(uint32_t) * static_cast<size_t>(op_.n));
        if (IsSixteen(op_.d)) {
          const int shift = ShiftOf(s);
          for (int j = 0; j < op_.n; ++j) cd[j] >>= shift;
        }
        cd += op_.n;
      }
    } else {
      for (int i = 0; i < size; ++i) cd[i] = static_cast<uint32_t>(o.imm);
    }
    cd = buffers_.cd;
    if (IsSixteen(op_.d)) {
      for (int i = 0; i < size; ++i) {
        cd[i] = op_.d == MatrixType::kF16 ? WidenHalf(cd[i] & 0xffffu) : cd[i] << 16;
      }
    }
    if (IsRdna(op_.isa) && op_.rule != MatrixRule::kInteger) {
      const uint32_t keep = Bit(inst_.neg_hi, 2) ? 0x7fffffffu : ~0u,
                     flip = Bit(inst_.neg, 2) ? 0x80000000u : 0u;
      if (keep != ~0u || flip != 0) {
        for (int i = 0; i < size; ++i) cd[i] = (cd[i] & keep) ^ flip;
      }
    }
  }

  // RDNA3 keeps 16-bit C and D in the half that OPSEL[2] names; other halves stay as they are.
  int ShiftOf(const MatrixSlice& s) const {
    return op_.isa == Isa::kRdna4 ? s.shift : Bit(inst_.op_sel, 2) ? 16 : 0;
  }

  void Multiply() {
    const MatrixKernels& kernels = HostMatrixKernels();
    MatrixProduct p = {};
    p.rows = op_.m;
    p.cols = op_.n;
    p.k = plan_.stored_k;
    p.group = op_.group;
    p.a_stride = op_.m * op_.blocks;
    p.b_stride = op_.n * op_.blocks;
    p.d = op_.d;
    p.in_range = op_.a == MatrixType::kF16;
    p.clamp = inst_.clamp;
    p.flush = op_.rule == MatrixRule::kPairwise;
    p.fp16_ovfl = FpMode::FromModeRegister(wave_.mode).fp16_ovfl;
    p.select = op_.form == MatrixForm::kSparse ? buffers_.select : nullptr;
    p.a_scale = buffers_.a_scale;
    p.b_scale = buffers_.b_scale;
    void (*product)(const MatrixProduct&) = nullptr;
    bool significands = true;
    switch (op_.rule) {
      case MatrixRule::kInteger:
        product = kernels.integer;
        break;
      case MatrixRule::kFmaF64:
        product = kernels.fma_f64;
        break;
      case MatrixRule::kFmaF32:
        product = kernels.fma_f32;
        significands = false;
        break;
      case MatrixRule::kPairwise:
        product = kernels.pairwise;
        significands = false;
        break;
      case MatrixRule::kBlocks:
        product = kernels.blocks;
        significands = false;
        break;
      case MatrixRule::kDot2:
        product = kernels.dot2;
        p.slow = Dot2Scalar;
        break;
      case MatrixRule::kDot4:
        product = kernels.dot4;
        p.slow = Dot4Scalar;
        break;
      case MatrixRule::kFused:
        product = kernels.fused;
        p.slow = FusedScalar;
        break;
      case MatrixRule::kFusedHalves:
        product = kernels.fused_halves;
        p.slow = FusedHalvesScalar;
        break;
    }
    const bool all_slow = p.slow != nullptr && (special_ || (p.fp16_ovfl && op_.d == MatrixType::kF16));
    for (int block = 0; block < op_.blocks; ++block) {
      const int a = block * op_.m, b = block * op_.n, cd = block * op_.m * op_.n;
      p.a_value = buffers_.a.value + a;
      p.b_value = buffers_.b.value + b;
      p.a = significands ? buffers_.a.significand + a : p.a_value;
      p.b = significands ? buffers_.b.significand + b : p.b_value;
      p.a_exponent = buffers_.a.exponent + a;
      p.b_exponent = buffers_.b.exponent + b;
      p.a_integer = buffers_.a.integer() + a;
      p.b_integer = buffers_.b.integer() + b;
      p.a_f64 = buffers_.a_f64 + (op_.d == MatrixType::kF64 ? a : 0);
      p.b_f64 = buffers_.b_f64 + (op_.d == MatrixType::kF64 ? b : 0);
      p.cd = buffers_.cd + cd;
      p.cd_f64 = buffers_.cd_f64 + (op_.d == MatrixType::kF64 ? cd : 0);
      if (all_slow) {
        for (int row = 0; row < p.rows; ++row) p.slow(p, row, 0, p.cols);
      } else {
        product(p);
      }
    }
  }

  void WriteD() {
    uint32_t* const words = Registers(inst_.dst[0], wave_);
    if (op_.d == MatrixType::kF64) {
      const double* d = buffers_.cd_f64;
      for (const MatrixSlice& s : plan_.d) {
        uint32_t* low = words + s.reg * 64 + s.lane;
        for (int j = 0; j < op_.n; ++j) {
          uint64_t bits;
          std::memcpy(&bits, d++, sizeof(bits));
          low[j] = static_cast<uint32_t>(bits);
          low[j + 64] = static_cast<uint32_t>(bits >> 32);
        }
      }
      return;
    }
    const uint32_t* d = buffers_.cd;
    for (const MatrixSlice& s : plan_.d) {
      uint32_t* to = words + s.reg * wave_.wave_size + s.lane;
      if (IsSixteen(op_.d)) {
        const int shift = ShiftOf(s);
        for (int j = 0; j < op_.n; ++j) {
          const uint32_t half = op_.d == MatrixType::kF16 ? NarrowHalf(d[j]) : d[j] >> 16;
          to[j] = (to[j] & ~(0xffffu << shift)) | half << shift;
        }
      } else {
        std::memcpy(to, d, sizeof(uint32_t) * static_cast<size_t>(op_.n));
      }
      d += op_.n;
    }
  }

  const MatrixOp& op_;
  const Inst& inst_;
  WaveState& wave_;
  const MatrixPlan& plan_;
  const MatrixPlan& a_plan_;
  const MatrixPlan& b_plan_;
  Buffers& buffers_;
  bool special_ = false;  // A or B has an infinity or a NaN
};

bool Fits(const Operand& o, int regs) { return !IsVector(o) || o.reg + regs <= 256; }

ExecResult Execute(const Inst& inst, WaveState& wave) {
  const MatrixOp& op = *MatrixOpOf(inst.isa, inst.op);
  const MatrixPlan& plan = op.PlanFor(wave.wave_size);
  // What RDNA's wave size decides was not known when the instruction was bound.
  if (IsRdna(op.isa)) {
    const bool sparse = op.form == MatrixForm::kSparse;
    if (!Fits(inst.src[0], plan.a_regs) || !Fits(inst.src[1], plan.b_regs) ||
        !Fits(inst.dst[0], plan.d_regs) || !Fits(sparse ? inst.src[3] : inst.src[2], plan.d_regs)) {
      return RaiseFault(
          wave, FaultKind::kIllegalInstruction, -1,
          absl::StrCat(OpcodeName(inst.op), ": a matrix reaches beyond register 255 in a wave of ",
                       wave.wave_size, " lanes"));
    }
    if (sparse && inst.index_key >= plan.index_sets) {
      return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                        absl::StrCat(OpcodeName(inst.op), ": index_key ", int{inst.index_key},
                                     " names no set of indices (0-", plan.index_sets - 1, ") in a wave of ",
                                     wave.wave_size, " lanes"));
    }
  } else if (wave.wave_size != 64) {
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                      absl::StrCat(OpcodeName(inst.op), ": a CDNA wave has 64 lanes, not ", wave.wave_size));
  }
  Buffers buffers;
  Multiplication(op, inst, wave, &buffers).Run();
  return ExecResult::kNext;
}

std::string FieldProblem(const MatrixOp& op, const Inst& inst) {
  if (IsF8f6f4(op)) {
    if (inst.cbsz > 4) return absl::StrCat("CBSZ ", int{inst.cbsz}, " names no format of A (0-4)");
    if (inst.blgp > 4) return absl::StrCat("BLGP ", int{inst.blgp}, " names no format of B (0-4)");
    return "";
  }
  if (op.form == MatrixForm::kSparse) {
    const MatrixPlan& plan = op.PlanFor(64);
    if (IsCdna(op.isa) && inst.cbsz == 0 && inst.abid >= plan.index_sets) {
      return absl::StrCat("ABID ", int{inst.abid}, " names no set of indices (0-", plan.index_sets - 1, ")");
    }
    return inst.blgp == 0 ? "" : absl::StrCat("BLGP ", int{inst.blgp}, " has no meaning");
  }
  if (inst.cbsz != 0 && (1 << inst.cbsz) > op.blocks) {
    return absl::StrCat("CBSZ ", int{inst.cbsz}, " broadcasts to more than its ", op.blocks, " blocks");
  }
  if (inst.abid != 0 && inst.abid >= 1 << inst.cbsz) {
    return absl::StrCat("ABID ", int{inst.abid}, " is not below 2^CBSZ");
  }
  if (inst.blgp != 0 && !NegatesByBlgp(op) && !PermutesByBlgp(op)) {
    return absl::StrCat("BLGP ", int{inst.blgp}, " has no meaning");
  }
  return "";
}

std::string OperandProblem(const Operand& o, int regs, bool constants, const char* which) {
  if (IsVector(o)) {
    if (Fits(o, regs)) return "";
    return absl::StrCat(which, " at register ", o.reg, " with ", regs,
                        " registers reaches beyond register 255");
  }
  if (constants && o.is_const()) return "";
  return absl::StrCat(which, " is not a vector register");
}

std::string Problem(const Inst& inst) {
  const MatrixStateRow state = MatrixState(inst.isa, inst.op);
  if (state.state == SemanticState::kRefused) return state.note;
  const MatrixOp& op = *MatrixOpOf(inst.isa, inst.op);
  if (inst.dpp.kind != DppInfo::Kind::kNone) return "DPP has no meaning on matrices";
  const bool sparse = op.form == MatrixForm::kSparse;
  const MatrixPlan& plan = op.PlanFor(64);
  std::string problem = FieldProblem(op, inst);
  if (!problem.empty()) return problem;
  const int a_regs = IsF8f6f4(op) ? op.PlanForBits(F8f6f4Bits(inst.cbsz)).a_regs : plan.a_regs;
  const int b_regs = IsF8f6f4(op) ? op.PlanForBits(F8f6f4Bits(inst.blgp)).b_regs : plan.b_regs;
  problem = OperandProblem(inst.src[0], a_regs, false, "A");
  if (problem.empty()) problem = OperandProblem(inst.src[1], b_regs, false, "B");
  if (problem.empty() && sparse) problem = OperandProblem(inst.src[2], 1, false, "the index");
  if (problem.empty()) {
    problem = OperandProblem(sparse ? inst.src[3] : inst.src[2], plan.d_regs, !sparse, "C");
  }
  if (problem.empty()) problem = OperandProblem(inst.dst[0], plan.d_regs, false, "D");
  if (op.form == MatrixForm::kScaled) {
    for (int i = 3; i < 5 && problem.empty(); ++i) {
      if (inst.src[i].kind != Operand::Kind::kSgpr) problem = OperandProblem(inst.src[i], 1, true, "a scale");
    }
  }
  return problem;
}

}  // namespace

ExecFn FindMatrixExec(const Inst& inst) { return Problem(inst).empty() ? &Execute : nullptr; }
std::string MatrixRefusal(const Inst& inst) { return Problem(inst); }

}  // namespace understudy::emu::amd
