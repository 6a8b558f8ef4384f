// SPDX-License-Identifier: Apache-2.0
// Every op and every cast on every type, compiled for the CPU, as C by clang (US_OPS_ON_C), as OpenCL C
// (US_OPS_ON_OPENCL) or (US_OPS_ON_AMD) for the emulated gfx1100,
// against REF: all pairs of corner values, all values of types of 8 and 16 bits, and for wider sources the
// neighbourhoods of every rounding boundary (on gfx1100 a sample of them). On the CPU as scalars, as vectors,
// and as for processors without f16 conversions, maximum and minimum, or without 64-bit integers; bit for bit
// (any NaN equals any NaN).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#ifdef US_OPS_ON_AMD
#include "mockgpu/amd/mock_kernel.h"
#include "src/runtime/amd/amd_device.h"
#endif
#ifdef US_OPS_ON_C
#include "src/runtime/clang/clang_device.h"
#endif
#ifdef US_OPS_ON_OPENCL
#include "src/runtime/opencl/opencl_device.h"
#endif
#ifdef US_OPS_ON_CUDA
#include "tests/src/runtime/cuda/open_cuda.h"
#endif
#ifdef US_OPS_ON_X86
#include "src/runtime/machine/x86_device.h"
#endif
#include "src/codegen/choices.h"
#ifndef US_OPS_ON_CUDA  // which is carried to a card without LLVM
#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#endif
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

std::vector<DType> Types() {
  std::vector<DType> all;
  for (int s = static_cast<int>(Scalar::kBool); s < static_cast<int>(Scalar::kIndex); ++s)
    all.emplace_back(static_cast<Scalar>(s));
  return all;
}

// Zero, one, limits, powers of two and their neighbours, special floats.
std::vector<uint64_t> Corners(DType t) {
  std::set<uint64_t> bits;
  const uint64_t mask = t.BitWidth() == 64 ? ~uint64_t{0} : (uint64_t{1} << t.BitWidth()) - 1;
  if (t.IsBool()) return {0, 1};
  if (t.IsInt()) {
    for (int64_t v : {0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64})
      bits.insert({static_cast<uint64_t>(v) & mask, static_cast<uint64_t>(-v) & mask});
    const uint64_t sign = uint64_t{1} << (t.BitWidth() - 1);
    for (uint64_t v : {sign, sign - 1, sign + 1, mask, mask - 1, uint64_t{100}}) bits.insert(v & mask);
    return {bits.begin(), bits.end()};
  }
  const FloatFormat& f = FormatOf(t);
  for (double v : {0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.75, 100.0, 127.0, 128.0, 255.5, 32767.5,
                   2147483648.0, 9.3e18, 1.9e19}) {
    for (double s : {v, -v}) bits.insert(EncodeFloat(f, s));
  }
  for (uint64_t v : {uint64_t{1}, uint64_t{2}, f.man_mask(), f.man_mask() + 1, f.max_bits(), f.max_bits() - 1,
                     f.nan_bits()}) {
    bits.insert(v);
    if (f.nan != NanEncoding::kNegativeZero || v != f.nan_bits()) bits.insert(v | f.sign_mask());
  }
  if (f.has_inf) bits.insert({f.inf_bits(), f.inf_bits() | f.sign_mask()});
  return {bits.begin(), bits.end()};
}

std::vector<uint8_t> Pack(DType t, const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * t.SizeBytes());
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&bytes[i * t.SizeBytes()], &values[i], t.SizeBytes());
  return bytes;
}

#ifdef US_OPS_ON_AMD
struct Machine {
  Machine() {
    mockgpu::MockKernel::Options options;
    options.log_events = false;
    kernel = *mockgpu::MockKernel::Create(std::move(options));
    amd = *AmdDevice::Open(*kernel);
  }
  std::unique_ptr<mockgpu::MockKernel> kernel;
  std::shared_ptr<AmdDevice> amd;
};
constexpr size_t kMaxValues = 2048;
#elif defined(US_OPS_ON_CUDA)
CudaDevice& Cuda() {
  static auto* const device = new std::shared_ptr<CudaDevice>(*OpenCuda());
  return **device;
}
constexpr size_t kMaxValues = 1024;
#elif defined(US_OPS_ON_C) || defined(US_OPS_ON_OPENCL)
// Null where the tool is not installed.
Device* TextDevice() {
#ifdef US_OPS_ON_C
  // C_PROCESSOR=hexagon and the like runs the same on a guest.
  const char* const processor = std::getenv("C_PROCESSOR");
  static const auto* const device = new absl::StatusOr<std::shared_ptr<ClangDevice>>(
      ClangDevice::Open(processor == nullptr ? "" : processor));
#else
  if (const char* folder = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", folder, 0);
  static const auto* const device = new absl::StatusOr<std::shared_ptr<OpenClDevice>>(OpenClDevice::Open());
#endif
  return device->ok() ? (*device)->get() : nullptr;
}
constexpr size_t kMaxValues = SIZE_MAX;
#else
constexpr size_t kMaxValues = SIZE_MAX;
#endif

// out[i] = make(in0[i], in1[i], ...), on REF and three ways on the CPU.
void Check(const std::string& what, DType out, const std::vector<DType>& types,
           std::vector<std::vector<uint64_t>> in, UOpRef (*make)(const std::vector<UOpRef>&, DType),
           bool scalar_too = true) {
  // A sample where the device is slow: every so many-th, from both ends.
  if (in[0].size() > kMaxValues) {
    for (auto& column : in) {
      std::vector<uint64_t> sample;
      for (size_t i = 0; i < kMaxValues; ++i)
        sample.push_back(column[i * (column.size() - 1) / (kMaxValues - 1)]);
      column = std::move(sample);
    }
  }
  while (in[0].size() % 16 != 0) {
    for (auto& column : in) column.push_back(column[0]);
  }
  const auto n = static_cast<int64_t>(in[0].size());
  const UOpRef i = uop::Range(n, 0, AxisKind::kGlobal);
  RandomKernel k;
  k.dtypes.push_back(out);
  k.bytes.emplace_back(n * out.SizeBytes());
  std::vector<UOpRef> args;
  for (size_t a = 0; a < types.size(); ++a) {
    k.dtypes.push_back(types[a]);
    k.bytes.push_back(Pack(types[a], in[a]));
    args.push_back(uop::Load(uop::IndexOf(uop::Param(types[a], static_cast<int64_t>(a) + 1), i)));
  }
  k.kernel = uop::Sink({uop::Store(uop::IndexOf(uop::Param(out, 0), i), make(args, out), {i})}, "op");
  RefDevice ref;
  const auto expected = RunKernel(ref, k, nullptr);
  ASSERT_TRUE(expected.ok()) << what << ": " << expected.status().ToString();
  const auto compare = [&](Device& device, const ChoiceList& choices, const char* how) {
    const auto got = RunKernel(device, k, &choices);
    if (device.name() == "C:hexagon" && absl::IsUnimplemented(got.status())) return;
    ASSERT_TRUE(got.ok()) << what << " " << how << ": " << got.status().ToString();
    const std::string difference = Difference(out, *expected, *got);
    if (difference.empty()) return;
    // Name the operands of the first difference.
    const size_t at = std::stoul(difference.substr(8));
    std::string operands;
    for (size_t a = 0; a < types.size(); ++a)
      operands += " " + ConstText(types[a], FromBits(types[a], in[a][at]));
    ADD_FAILURE() << what << " " << how << ":" << operands << ": " << difference;
  };
#ifdef US_OPS_ON_AMD
  (void)scalar_too;
  static Machine* const machine = new Machine;
  compare(*machine->amd, {{ChoiceKind::kLocal, 0, 16}}, "on gfx1100");
#elif defined(US_OPS_ON_CUDA)
  (void)scalar_too;
  compare(Cuda(), {{ChoiceKind::kLocal, 0, 16}}, "as PTX");
#elif defined(US_OPS_ON_C) || defined(US_OPS_ON_OPENCL)
  (void)scalar_too;
  Device* const device = TextDevice();
  if (device == nullptr) GTEST_SKIP() << "the compiler is not installed";
#ifdef US_OPS_ON_C
  compare(*device, {{ChoiceKind::kVectorize, 0, 4}}, "as C");
#else
  compare(*device, {{ChoiceKind::kLocal, 0, 4}, {ChoiceKind::kVectorize, 0, 4}}, "as OpenCL C");
#endif
#elif defined(US_OPS_ON_X86)
  (void)scalar_too;
  for (const auto level : {X86Device::Level::kV2, X86Device::Level::kV3}) {
    const auto device = X86Device::Open(level);
    if (!device.ok()) continue;  // not this processor's
    const bool v2 = level == X86Device::Level::kV2;
    // Refused by name: there is no FMA.
    if (v2 && what == "MULACC f64") continue;
    compare(**device, {}, v2 ? "x86-64-v2" : "x86-64-v3");
    compare(**device, {{ChoiceKind::kVectorize, 0, 8}}, v2 ? "x86-64-v2 in vectors" : "x86-64-v3 in vectors");
  }
#else
  CpuDevice cpu;
  if (scalar_too) compare(cpu, {}, "plain");
  compare(cpu, {{ChoiceKind::kVectorize, 0, 16}}, "vector");
  bool wide = out.ScalarBytes() == 8 && !out.IsFloat();
  for (const DType t : types) wide |= t.ScalarBytes() == 8 && !t.IsFloat();
  if (wide) {
    CpuDevice narrow(WithoutWideInts(HostTarget()));
    compare(narrow, {}, "without 64-bit integers");
    compare(narrow, {{ChoiceKind::kVectorize, 0, 4}}, "without 64-bit integers, vector");
  }
  bool differs = k.kernel->src(0)->src(1)->op() == Op::kMax || k.kernel->src(0)->src(1)->op() == Op::kMin ||
                 out == dtypes::kFloat16;
  for (const DType t : types) differs |= t == dtypes::kFloat16;
  if (!differs) return;
  Target lesser = HostTarget();
  lesser.arithmetic = Target().arithmetic;
  lesser.maximum = {};
  CpuDevice old(lesser);
  compare(old, {}, "without f16, maximum and minimum");
#endif
}

bool Defined(Op op, DType t) {
  switch (op) {
    case Op::kFDiv:
      return t.IsFloat();
    case Op::kAdd:
    case Op::kMul:
      return !t.IsBool();
    case Op::kIDiv:
    case Op::kIMod:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kShl:
    case Op::kShr:
      return t.IsInt();
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return !t.IsFloat();
    default:
      return true;
  }
}

template <Op op>
UOpRef MakeBinary(const std::vector<UOpRef>& a, DType) {
  return uop::Binary(op, a[0], a[1]);
}

template <Op op>
void CheckBinary() {
  for (const DType t : Types()) {
    if (!Defined(op, t)) continue;
    const std::vector<uint64_t> c = Corners(t);
    std::vector<uint64_t> x, y;
    for (const uint64_t a : c) {
      for (const uint64_t b : c) {
        x.push_back(a);
        y.push_back(b);
      }
    }
    Check(std::string(OpName(op)) + " " + t.Name(), IsComparison(op) ? dtypes::kBool : t, {t, t}, {x, y},
          MakeBinary<op>, t.BitWidth() >= 32);
  }
}

TEST(Ops, Arithmetic) {
  CheckBinary<Op::kAdd>();
  CheckBinary<Op::kMul>();
  CheckBinary<Op::kFDiv>();
  CheckBinary<Op::kMax>();
  CheckBinary<Op::kMin>();
}
TEST(Ops, Division) {
  CheckBinary<Op::kIDiv>();
  CheckBinary<Op::kIMod>();
  CheckBinary<Op::kFloorDiv>();
  CheckBinary<Op::kFloorMod>();
}
TEST(Ops, Bits) {
  CheckBinary<Op::kAnd>();
  CheckBinary<Op::kOr>();
  CheckBinary<Op::kXor>();
  CheckBinary<Op::kShl>();
  CheckBinary<Op::kShr>();
}
TEST(Ops, Comparisons) {
  CheckBinary<Op::kCmpLt>();
  CheckBinary<Op::kCmpEq>();
  CheckBinary<Op::kCmpNe>();
}

TEST(Ops, UnaryAndMulAcc) {
  std::mt19937_64 random(7);
  for (const DType t : Types()) {
    if (t.IsBool()) continue;
    const std::vector<uint64_t> c = Corners(t);
    Check("NEG " + t.Name(), t, {t}, {c}, [](const std::vector<UOpRef>& a, DType) { return uop::Neg(a[0]); });
    std::vector<uint64_t> x, y, z;
    for (int i = 0; i < 20000; ++i) {
      const auto pick = [&] {
        return random() % 4 == 0 ? random() >> (64 - t.BitWidth()) : c[random() % c.size()];
      };
      x.push_back(pick());
      y.push_back(pick());
      z.push_back(pick());
    }
    Check(
        "MULACC " + t.Name(), t, {t, t, t}, {x, y, z},
        [](const std::vector<UOpRef>& a, DType) { return uop::MulAcc(a[0], a[1], a[2]); }, false);
    if (!t.IsFloat()) continue;
    Check("SQRT " + t.Name(), t, {t}, {x},
          [](const std::vector<UOpRef>& a, DType) { return uop::Sqrt(a[0]); });
    Check("TRUNC " + t.Name(), t, {t}, {x},
          [](const std::vector<UOpRef>& a, DType) { return uop::Trunc(a[0]); });
  }
}

// All values of narrow sources; for wide ones the corners, the neighbourhood of every representable value and
// of every midpoint of the narrow floats, and random bits.
std::vector<uint64_t> Sources(DType t) {
  std::vector<uint64_t> values = Corners(t);
  if (t.BitWidth() <= 16 && !t.IsBool()) {
    for (uint64_t b = 0; b < uint64_t{1} << t.BitWidth(); ++b) values.push_back(b);
    return values;
  }
  if (t.IsBool()) return values;
  std::mt19937_64 random(static_cast<uint64_t>(t.scalar));
  for (int i = 0; i < 20000; ++i)
    values.push_back((random() >> (64 - t.BitWidth())) >> (t.IsInt() ? random() % t.BitWidth() : 0));
  for (const DType narrow : {dtypes::kFloat8E4M3, dtypes::kFloat8E5M2, dtypes::kFloat8E4M3Fnuz,
                             dtypes::kFloat8E5M2Fnuz, dtypes::kFloat16, dtypes::kBFloat16}) {
    const FloatFormat& f = FormatOf(narrow);
    const uint64_t step = narrow.BitWidth() == 8 ? 1 : 37;
    for (uint64_t b = 0; b < f.max_bits(); b += step) {
      const double lo = DecodeFloat(f, b), hi = DecodeFloat(f, b + 1);
      for (const double v : {lo, (lo + hi) / 2}) {
        const uint64_t bits = ToBits(t, CastConst(dtypes::kFloat64, t, v));
        for (const uint64_t near : {bits - 1, bits, bits + 1})
          values.push_back(near & (t.BitWidth() == 64 ? ~uint64_t{0} : (uint64_t{1} << t.BitWidth()) - 1));
      }
    }
    // Past the largest value: where overflow begins.
    const double max = DecodeFloat(f, f.max_bits());
    for (const double v : {max * 1.01, max * 1.0625, max * 1.07, max * 2})
      values.push_back(ToBits(t, CastConst(dtypes::kFloat64, t, v)));
  }
  return values;
}

TEST(Ops, EveryCast) {
  for (const DType from : Types()) {
    const std::vector<uint64_t> values = Sources(from);
    for (const DType to : Types()) {
      if (from == to) continue;
#if defined(US_OPS_ON_C) || defined(US_OPS_ON_OPENCL)
      // A third of the pairs, each type on either side; EVERY_CAST in the environment takes all (minutes).
      if (std::getenv("EVERY_CAST") == nullptr &&
          (static_cast<int>(from.scalar) + static_cast<int>(to.scalar)) % 3 != 0)
        continue;
#endif
      Check(
          "CAST " + from.Name() + " to " + to.Name(), to, {from}, {values},
          [](const std::vector<UOpRef>& a, DType t) { return uop::Cast(a[0], t); }, false);
    }
  }
}

TEST(Ops, EveryBitcast) {
  for (const DType from : Types()) {
    const std::vector<uint64_t> values = Corners(from);
    for (const DType to : Types()) {
      if (from == to || from.BitWidth() != to.BitWidth() || from.IsBool() || to.IsBool()) continue;
      Check("BITCAST " + from.Name() + " to " + to.Name(), to, {from}, {values},
            [](const std::vector<UOpRef>& a, DType t) { return uop::Bitcast(a[0], t); });
    }
  }
}

}  // namespace
}  // namespace understudy::test
