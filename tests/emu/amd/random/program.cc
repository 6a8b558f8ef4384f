// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/random/program.h"

#include <bitset>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::emu::amd::random {
namespace {

constexpr int kFirstVector = 4, kFirstScalar = 8, kFirstCounter = 24, kFirstSaved = 32;
constexpr uint64_t kNanStandIn[] = {0x3555, 0x3eaaaaab, 0x3fd5555555555555};  // a third

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Program Make() {
    Program program;
    constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kNearestEven, Rounding::kUp,
                                       Rounding::kDown, Rounding::kToZero};
    program.mode.round32 = kRoundings[Below(5)];
    program.mode.round16_64 = kRoundings[Below(5)];
    program.mode.keep32 = Below(2) != 0;
    program.mode.keep16_64 = Below(2) != 0;
    Fill(&program.statements, 12 + Below(20), 0, false);
    return program;
  }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  template <class T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  }

  Source VectorRegister(Kind kind) {
    Source s;
    s.index =
        WordsOf(kind) == 2 ? 2 * static_cast<int>(Below(kVectors / 2)) : static_cast<int>(Below(kVectors));
    return s;
  }
  Source ScalarRegister(Kind kind) {
    Source s;
    s.from = Source::From::kScalar;
    s.index =
        WordsOf(kind) == 2 ? 2 * static_cast<int>(Below(kScalars / 2)) : static_cast<int>(Below(kScalars));
    return s;
  }
  Source Constant(Kind kind) {
    Source s;
    s.from = Source::From::kConstant;
    if (kind == Kind::kF32 || kind == Kind::kF64) {
      struct Float {
        const char* text;
        uint64_t f32, f64;
      };
      static constexpr Float kFloats[] = {{"1.0", 0x3f800000, 0x3ff0000000000000},
                                          {"-0.5", 0xbf000000, 0xbfe0000000000000},
                                          {"4.0", 0x40800000, 0x4010000000000000},
                                          {"-2.0", 0xc0000000, 0xc000000000000000}};
      const Float& f = kFloats[Below(4)];
      s.text = f.text;
      s.value = kind == Kind::kF32 ? f.f32 : f.f64;
      return s;
    }
    const int64_t v = static_cast<int64_t>(Below(81)) - 16;
    s.text = absl::StrCat(v);
    s.value = static_cast<uint64_t>(v);
    if (WordsOf(kind) == 1) s.value &= 0xffffffff;
    return s;
  }
  // At most one source is not a VGPR: the narrowest rule of the generations.
  std::vector<Source> VectorSources(const std::vector<Kind>& kinds, bool registers_only) {
    std::vector<Source> out;
    for (const Kind kind : kinds) out.push_back(VectorRegister(kind));
    const uint32_t other = Below(static_cast<uint32_t>(2 * kinds.size()));
    if (other < kinds.size() && !registers_only && kinds[other] != Kind::kF16) {
      out[other] = Below(2) != 0 ? ScalarRegister(kinds[other]) : Constant(kinds[other]);
    }
    return out;
  }

  void Fill(std::vector<Statement>* out, uint32_t n, int depth, bool divergent) {
    for (uint32_t i = 0; i < n; ++i) out->push_back(Make(depth, divergent));
  }

  const VectorOp& CommonVectorOp() {
    for (;;) {
      const VectorOp& op = Pick(VectorOps());
      if (op.rdna != nullptr && op.cdna != nullptr) return op;
    }
  }

  Statement Make(int depth, bool divergent) {
    Statement s;
    const uint32_t draw = Below(100);
    if (depth < 3 && draw < 8) {
      s.type = Statement::Type::kIf;
      s.compare = &Pick(VectorCompares());
      s.compared = VectorSources({s.compare->src, s.compare->src}, false);
      Fill(&s.body, 1 + Below(5), depth + 1, true);
      if (Below(2) != 0) Fill(&s.otherwise, 1 + Below(4), depth + 1, true);
    } else if (depth < 3 && draw < 12) {
      s.type = Statement::Type::kUniformIf;
      ScalarCompare(&s);
      Fill(&s.body, 1 + Below(5), depth + 1, divergent);
    } else if (depth < 2 && draw < 16) {
      s.type = Statement::Type::kLoop;
      s.amount = 1 + static_cast<int>(Below(5));
      Fill(&s.body, 1 + Below(5), depth + 1, divergent);
    } else if (!divergent && draw < 20) {
      s.type = Statement::Type::kExchange;
      s.amount = static_cast<int>(Below(kThreads));
      s.sources = {VectorRegister(Kind::kU32)};
      s.dst = static_cast<int>(Below(kVectors));
    } else if (!divergent && draw < 36) {
      s.type = Statement::Type::kScalar;
      s.scalar = &Pick(ScalarOps());
      ScalarCompare(&s);
      for (const Kind kind : s.scalar->src)
        s.sources.push_back(Below(4) != 0 ? ScalarRegister(kind) : Constant(kind));
      const bool pair = WordsOf(s.scalar->dst) == 2;
      s.dst = pair ? 2 * static_cast<int>(Below(kScalars / 2)) : static_cast<int>(Below(kScalars));
      do {
        s.dst2 = static_cast<int>(Below(kScalars));
      } while (s.dst2 == s.dst || (pair && s.dst2 == s.dst + 1));
    } else if (draw < 44) {
      s.type = Statement::Type::kSelect;
      s.compare = &Pick(VectorCompares());
      s.compared = VectorSources({s.compare->src, s.compare->src}, false);
      s.sources = {VectorRegister(Kind::kU32), VectorRegister(Kind::kU32)};
      s.dst = static_cast<int>(Below(kVectors));
    } else if (draw < 50) {
      s.type = Statement::Type::kCarry;
      s.sources = {VectorRegister(Kind::kU64), VectorRegister(Kind::kU64)};
      s.dst = 2 * static_cast<int>(Below(kVectors / 2));
    } else {
      s.type = Statement::Type::kVector;
      s.vector = &CommonVectorOp();
      const std::string name = s.vector->rdna;
      s.sources = VectorSources(s.vector->src, name.rfind("v_pk_", 0) == 0 || name.rfind("v_dot", 0) == 0);
      s.dst = VectorRegister(s.vector->dst).index;
    }
    return s;
  }

  void ScalarCompare(Statement* s) {
    s->compare = &Pick(ScalarCompares());
    s->compared = {ScalarRegister(s->compare->src),
                   Below(2) != 0 ? ScalarRegister(s->compare->src) : Constant(s->compare->src)};
  }

  std::mt19937_64 random_;
};

std::string Range(const char* file, int first, int words) {
  return words == 1 ? absl::StrCat(file, first) : absl::StrCat(file, "[", first, ":", first + words - 1, "]");
}

class Emitter {
 public:
  Emitter(Isa isa, int wave_size) : isa_(isa), wave_(wave_size) {}

  std::string Run(const Program& program) {
    const FloatMode& m = program.mode;
    const uint32_t mode =
        Field(m.round32) | Field(m.round16_64) << 2 | (m.keep32 ? 0x30 : 0) | (m.keep16_64 ? 0xc0 : 0);
    Line(absl::StrFormat("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x%x", mode));
    // v1 = 4 * thread (LDS slot), v2 = the thread's offset in buffers 0, v3 in buffer 2.
    Line("v_and_b32 v0, 0x3ff, v0");
    Line("v_lshlrev_b32 v1, 2, v0");
    Line(absl::StrCat("v_mul_u32_u24 v2, ", 4 * kVectors, ", v0"));
    Line(absl::StrCat("v_mul_u32_u24 v3, ", 4 * kScalars, ", v0"));
    for (int i = 0; i < kVectors; ++i) {
      Line(absl::StrCat(Cdna() ? "global_load_dword" : "global_load_b32", " v", kFirstVector + i,
                        ", v2, s[0:1] offset:", 4 * i));
    }
    Line(absl::StrCat(Cdna() ? "s_load_dwordx8" : "s_load_b256", " s[", kFirstScalar, ":", kFirstScalar + 7,
                      "], s[2:3], 0x0"));
    WaitAll();
    Body(program.statements, 0);
    for (int i = 0; i < kVectors; ++i) {
      Line(absl::StrCat(Cdna() ? "global_store_dword" : "global_store_b32", " v2, v", kFirstVector + i,
                        ", s[0:1] offset:", 4 * i));
    }
    for (int i = 0; i < kScalars; ++i) {
      Line(absl::StrCat("v_mov_b32 v20, s", kFirstScalar + i));
      Line(absl::StrCat(Cdna() ? "global_store_dword" : "global_store_b32",
                        " v3, v20, s[4:5] offset:", 4 * i));
    }
    Line("s_endpgm");
    return text_;
  }

 private:
  static uint32_t Field(Rounding r) {
    return r == Rounding::kNearestEven ? 0 : r == Rounding::kUp ? 1 : r == Rounding::kDown ? 2 : 3;
  }
  bool Cdna() const { return IsCdna(isa_); }
  void Line(const std::string& line) { absl::StrAppend(&text_, line, "\n"); }
  std::string Mask(int sgpr) const { return Range("s", sgpr, wave_ / 32); }
  const char* Vcc() const { return wave_ == 32 ? "vcc_lo" : "vcc"; }
  const char* Exec() const { return wave_ == 32 ? "exec_lo" : "exec"; }
  std::string Label() { return absl::StrCat("L", labels_++); }
  std::string B() const { return absl::StrCat("_b", wave_, " "); }

  void WaitAll() {
    if (isa_ == Isa::kRdna4) {
      Line("s_wait_loadcnt 0x0");
      Line("s_wait_kmcnt 0x0");
      Line("s_wait_dscnt 0x0");
    } else {
      Line("s_waitcnt vmcnt(0) lgkmcnt(0)");
    }
  }
  void Barrier() {
    if (isa_ == Isa::kRdna4) {
      Line("s_barrier_signal -1");
      Line("s_barrier_wait -1");
    } else {
      Line("s_barrier");
    }
  }

  std::string Vector(int index, Kind kind) const {
    const bool half = kind == Kind::kF16 || kind == Kind::kU16;
    return absl::StrCat(Range("v", kFirstVector + index, WordsOf(kind)),
                        half && isa_ != Isa::kRdna4 && !Cdna() ? ".l" : "");
  }
  std::string Text(const Source& s, Kind kind) const {
    switch (s.from) {
      case Source::From::kVector:
        return Vector(s.index, kind);
      case Source::From::kScalar:
        return Range("s", kFirstScalar + s.index, WordsOf(kind));
      default:
        return s.text;
    }
  }
  void Compare(const Statement& s) {
    Line(absl::StrCat("v_cmp_", s.compare->name, "_e64 ", Vcc(), ", ", Text(s.compared[0], s.compare->src),
                      ", ", Text(s.compared[1], s.compare->src)));
  }
  void ScalarCompare(const Statement& s) {
    Line(absl::StrCat("s_cmp_", s.compare->name, " ", Text(s.compared[0], s.compare->src), ", ",
                      Text(s.compared[1], s.compare->src)));
  }
  // The mask says which lanes hold NaN; they receive a third instead.
  void ReplaceNan(int dst, Kind kind) {
    const std::string v = Vector(dst, kind);
    const char* type = kind == Kind::kF16 ? "f16" : kind == Kind::kF32 ? "f32" : "f64";
    Line(absl::StrCat("v_cmp_u_", type, "_e64 ", Vcc(), ", ", v, ", ", v));
    const uint64_t stand_in = kNanStandIn[kind == Kind::kF16 ? 0 : kind == Kind::kF32 ? 1 : 2];
    for (int w = 0; w < WordsOf(kind); ++w) {
      Line(absl::StrFormat("v_mov_b32 v20, 0x%x", static_cast<uint32_t>(stand_in >> (32 * w))));
      const int reg = kFirstVector + dst + w;
      Line(absl::StrCat("v_cndmask_b32_e64 v", reg, ", v", reg, ", v20, ", Vcc()));
    }
  }

  void Body(const std::vector<Statement>& statements, int depth) {
    for (const Statement& s : statements) Emit(s, depth);
  }

  void Emit(const Statement& s, int depth) {
    switch (s.type) {
      case Statement::Type::kVector: {
        const VectorOp& op = *s.vector;
        const bool half = op.dst == Kind::kF16 || op.dst == Kind::kU16;
        std::string line = absl::StrCat(Cdna() ? op.cdna : op.rdna, " ", Vector(s.dst, op.dst));
        for (size_t i = 0; i < op.src.size(); ++i)
          absl::StrAppend(&line, ", ", Text(s.sources[i], op.src[i]));
        Line(line);
        // What a 16-bit result leaves above it differs between generations.
        if (half)
          Line(absl::StrCat("v_and_b32 v", kFirstVector + s.dst, ", 0xffff, v", kFirstVector + s.dst));
        if (op.dst >= Kind::kF16) ReplaceNan(s.dst, op.dst);
        return;
      }
      case Statement::Type::kSelect:
        Compare(s);
        Line(absl::StrCat("v_cndmask_b32_e64 ", Vector(s.dst, Kind::kU32), ", ",
                          Text(s.sources[0], Kind::kU32), ", ", Text(s.sources[1], Kind::kU32), ", ", Vcc()));
        return;
      case Statement::Type::kCarry: {
        // Through temporaries, for the destination may be a source of the high half.
        const int a = kFirstVector + s.sources[0].index, b = kFirstVector + s.sources[1].index;
        Line(absl::StrCat("v_add_co_u32 v20, ", Vcc(), ", v", a, ", v", b));
        Line(absl::StrCat(Cdna() ? "v_addc_co_u32" : "v_add_co_ci_u32", " v21, ", Vcc(), ", v", a + 1, ", v",
                          b + 1, ", ", Vcc()));
        Line(absl::StrCat("v_mov_b32 v", kFirstVector + s.dst, ", v20"));
        Line(absl::StrCat("v_mov_b32 v", kFirstVector + s.dst + 1, ", v21"));
        return;
      }
      case Statement::Type::kScalar: {
        ScalarCompare(s);
        const ScalarOp& op = *s.scalar;
        std::string line =
            absl::StrCat(Cdna() ? op.cdna : op.rdna, " ", Range("s", kFirstScalar + s.dst, WordsOf(op.dst)));
        for (size_t i = 0; i < op.src.size(); ++i)
          absl::StrAppend(&line, ", ", Text(s.sources[i], op.src[i]));
        Line(line);
        Line(absl::StrCat("s_cselect_b32 s", kFirstScalar + s.dst2, ", 1, 0"));
        return;
      }
      case Statement::Type::kIf: {
        const std::string saved = Mask(kFirstSaved + 2 * depth), skip = Label();
        Compare(s);
        Line(absl::StrCat("s_and_saveexec", B(), saved, ", ", Vcc()));
        Line(absl::StrCat("s_cbranch_execz ", skip));
        Body(s.body, depth + 1);
        Line(absl::StrCat(skip, ":"));
        if (!s.otherwise.empty()) {
          const std::string end = Label();
          Line(absl::StrCat("s_xor", B(), Exec(), ", ", Exec(), ", ", saved));
          Line(absl::StrCat("s_cbranch_execz ", end));
          Body(s.otherwise, depth + 1);
          Line(absl::StrCat(end, ":"));
        }
        Line(absl::StrCat("s_mov", B(), Exec(), ", ", saved));
        return;
      }
      case Statement::Type::kUniformIf: {
        const std::string skip = Label();
        ScalarCompare(s);
        Line(absl::StrCat("s_cbranch_scc0 ", skip));
        Body(s.body, depth + 1);
        Line(absl::StrCat(skip, ":"));
        return;
      }
      case Statement::Type::kLoop: {
        const std::string counter = absl::StrCat("s", kFirstCounter + depth), top = Label();
        Line(absl::StrCat("s_mov_b32 ", counter, ", ", s.amount));
        Line(absl::StrCat(top, ":"));
        Body(s.body, depth + 1);
        Line(absl::StrCat("s_sub_u32 ", counter, ", ", counter, ", 1"));
        Line(absl::StrCat("s_cmp_lg_u32 ", counter, ", 0"));
        Line(absl::StrCat("s_cbranch_scc1 ", top));
        return;
      }
      case Statement::Type::kExchange:
        Line(absl::StrCat(Cdna() ? "ds_write_b32" : "ds_store_b32", " v1, ", Text(s.sources[0], Kind::kU32)));
        WaitAll();
        Barrier();
        Line(absl::StrCat("v_xor_b32 v20, ", 4 * s.amount, ", v1"));
        Line(absl::StrCat(Cdna() ? "ds_read_b32" : "ds_load_b32", " ", Vector(s.dst, Kind::kU32), ", v20"));
        WaitAll();
        Barrier();
        return;
    }
  }

  const Isa isa_;
  const int wave_;
  std::string text_;
  int labels_ = 0;
};

class Evaluator {
 public:
  Evaluator(const FloatMode& mode, const State& initial) : mode_(mode), state(initial) {}

  using Threads = std::bitset<kThreads>;

  void Body(const std::vector<Statement>& statements, const Threads& active) {
    for (const Statement& s : statements) Execute(s, active);
  }

 private:
  uint64_t Read(const Source& s, Kind kind, int thread) const {
    if (s.from == Source::From::kConstant) return s.value;
    const uint32_t* words = s.from == Source::From::kVector
                                ? &state.vectors[static_cast<size_t>(thread)][static_cast<size_t>(s.index)]
                                : &state.scalars[static_cast<size_t>(s.index)];
    const uint64_t value = WordsOf(kind) == 2 ? words[0] | uint64_t{words[1]} << 32 : words[0];
    return kind == Kind::kF16 || kind == Kind::kU16 ? value & 0xffff : value;
  }
  void WriteVector(int thread, int index, Kind kind, uint64_t value) {
    uint32_t* words = &state.vectors[static_cast<size_t>(thread)][static_cast<size_t>(index)];
    words[0] = static_cast<uint32_t>(value);
    if (WordsOf(kind) == 2) words[1] = static_cast<uint32_t>(value >> 32);
  }
  bool Test(const Statement& s, int thread) const {
    return s.compare->value(Read(s.compared[0], s.compare->src, thread),
                            Read(s.compared[1], s.compare->src, thread), mode_);
  }

  void Execute(const Statement& s, const Threads& active) {
    switch (s.type) {
      case Statement::Type::kVector:
        for (int t = 0; t < kThreads; ++t) {
          if (!active[static_cast<size_t>(t)]) continue;
          uint64_t sources[3] = {};
          for (size_t i = 0; i < s.sources.size(); ++i) sources[i] = Read(s.sources[i], s.vector->src[i], t);
          uint64_t value = s.vector->value(sources, mode_);
          if (IsNan(s.vector->dst, value))
            value = kNanStandIn[static_cast<int>(s.vector->dst) - static_cast<int>(Kind::kF16)];
          WriteVector(t, s.dst, s.vector->dst, value);
        }
        return;
      case Statement::Type::kSelect:
        for (int t = 0; t < kThreads; ++t) {
          if (active[static_cast<size_t>(t)])
            WriteVector(t, s.dst, Kind::kU32, Read(s.sources[Test(s, t) ? 1 : 0], Kind::kU32, t));
        }
        return;
      case Statement::Type::kCarry:
        for (int t = 0; t < kThreads; ++t) {
          if (active[static_cast<size_t>(t)]) {
            WriteVector(t, s.dst, Kind::kU64,
                        Read(s.sources[0], Kind::kU64, t) + Read(s.sources[1], Kind::kU64, t));
          }
        }
        return;
      case Statement::Type::kScalar: {
        bool scc = Test(s, 0);
        uint64_t sources[2] = {};
        for (size_t i = 0; i < s.sources.size(); ++i) sources[i] = Read(s.sources[i], s.scalar->src[i], 0);
        const uint64_t value = s.scalar->value(sources, &scc);
        state.scalars[static_cast<size_t>(s.dst)] = static_cast<uint32_t>(value);
        if (WordsOf(s.scalar->dst) == 2)
          state.scalars[static_cast<size_t>(s.dst) + 1] = static_cast<uint32_t>(value >> 32);
        state.scalars[static_cast<size_t>(s.dst2)] = scc ? 1 : 0;
        return;
      }
      case Statement::Type::kIf: {
        Threads taken;
        for (int t = 0; t < kThreads; ++t)
          taken[static_cast<size_t>(t)] = active[static_cast<size_t>(t)] && Test(s, t);
        const Threads rest = active & ~taken;
        Body(s.body, taken);
        Body(s.otherwise, rest);
        return;
      }
      case Statement::Type::kUniformIf:
        if (Test(s, 0)) Body(s.body, active);
        return;
      case Statement::Type::kLoop:
        for (int i = 0; i < s.amount; ++i) Body(s.body, active);
        return;
      case Statement::Type::kExchange: {
        std::array<uint32_t, kThreads> slots;
        for (int t = 0; t < kThreads; ++t)
          slots[static_cast<size_t>(t)] = static_cast<uint32_t>(Read(s.sources[0], Kind::kU32, t));
        for (int t = 0; t < kThreads; ++t)
          WriteVector(t, s.dst, Kind::kU32, slots[static_cast<size_t>(t ^ s.amount)]);
        return;
      }
    }
  }

  const FloatMode& mode_;

 public:
  State state;
};

}  // namespace

Program Generate(uint64_t seed) { return Generator(seed).Make(); }

std::string AssemblyOf(const Program& program, Isa isa, int wave_size) {
  return Emitter(isa, wave_size).Run(program);
}

State Evaluate(const Program& program, const State& initial) {
  Evaluator evaluator(program.mode, initial);
  evaluator.Body(program.statements, Evaluator::Threads().set());
  return evaluator.state;
}

}  // namespace understudy::emu::amd::random
