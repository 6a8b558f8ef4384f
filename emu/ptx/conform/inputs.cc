// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/inputs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "emu/ptx/isa/isa.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

// splitmix64.
class Stream {
 public:
  explicit Stream(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

uint64_t Mask(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// Exponent field `e` and fraction `m` of a format.
uint64_t Pack(const FloatFormat& f, uint64_t e, uint64_t m) { return e << f.man_bits | (m & f.man_mask()); }

std::vector<uint64_t> FloatEdges(const FloatFormat& f) {
  const uint64_t bias = static_cast<uint64_t>(f.bias), top = (uint64_t{1} << f.exp_bits) - 1;
  const uint64_t one = Pack(f, bias, 0);
  std::vector<uint64_t> v = {0, 1, f.man_mask(), Pack(f, 1, 0), one, one + 1, one - 1};
  v.push_back(Pack(f, bias - 1, 0));                                                          // 0.5
  v.push_back(Pack(f, bias, uint64_t{1} << (f.man_bits - 1)));                                // 1.5
  v.push_back(Pack(f, bias + 1, 0));                                                          // 2
  v.push_back(Pack(f, bias + 1, uint64_t{1} << (f.man_bits - 2 >= 0 ? f.man_bits - 2 : 0)));  // 2.5
  v.push_back(f.max_bits());
  v.push_back(f.max_bits() - 1);
  if (f.has_inf) v.push_back(f.inf_bits());
  v.push_back(f.nan_bits());
  if (f.nan == NanEncoding::kIeee) {
    v.push_back(Pack(f, top, 1));                  // signalling
    v.push_back(Pack(f, top, f.man_mask()));       // quiet, payload of ones
    v.push_back(Pack(f, top, f.man_mask() >> 1));  // signalling, payload of ones
  }
  // Limits of integers, where the format reaches them, and the fractions around them.
  for (const int power : {7, 8, 15, 16, 23, 24, 31, 32, 63, 64})
    if (bias + static_cast<uint64_t>(power) < top) {
      const uint64_t limit = Pack(f, bias + static_cast<uint64_t>(power), 0);
      v.insert(v.end(), {limit, limit - 1, limit + 1});
    }
  const size_t positive = v.size();
  for (size_t i = 0; i < positive; ++i) v.push_back(v[i] | f.sign_mask());
  return v;
}

std::vector<uint64_t> IntegerEdges(int bits) {
  std::vector<uint64_t> v;
  for (const uint64_t value : {0, 1, 2, 3, 7, 8, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256})
    v.insert(v.end(), {value, ~value});
  for (int width : {8, 16, 32, 64}) {
    if (width > bits) continue;
    const uint64_t top = uint64_t{1} << (width - 1);
    v.insert(v.end(), {top, top - 1, top + 1, Mask(width), Mask(width) - 1});
  }
  v.insert(v.end(), {0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, 0x00FF00FF00FF00FF});
  std::vector<uint64_t> unique;
  for (uint64_t value : v) {
    value &= Mask(bits);
    if (std::find(unique.begin(), unique.end(), value) == unique.end()) unique.push_back(value);
  }
  return unique;
}

// One element: any pattern, a float near one, or an integer of few bits.
uint64_t RandomElement(const ElementFormat& e, Stream* stream) {
  const uint64_t r = stream->Next(), bits = stream->Next();
  if (r % 3 == 0) return bits & Mask(e.bits);
  if (e.format == nullptr) {
    const uint64_t small = bits >> (r >> 8) % 64;
    return (r % 3 == 1 ? small : ~small) & Mask(e.bits);
  }
  const FloatFormat& f = *e.format;
  const int spread = r % 3 == 1 ? 3 : std::min(f.bias - 1, 20);
  const int exponent = f.bias - spread + static_cast<int>((r >> 8) % static_cast<uint64_t>(2 * spread + 1));
  const uint64_t value = (bits & f.sign_mask()) | Pack(f, static_cast<uint64_t>(std::max(exponent, 0)), bits);
  return value & Mask(e.bits);
}

}  // namespace

ElementFormat FormatOfType(const std::string& type) {
  ElementFormat e;
  std::string name = type;
  if (const size_t x = name.rfind('x'); x != std::string::npos && x + 2 == name.size()) {
    e.count = name[x + 1] - '0';
    name.resize(x);
  }
  // A tf32 value lies in an f32's register; the narrow formats are named by their fields alone.
  if (name == "tf32") name = "f32";
  for (const char* prefix : {"", "fp8_", "fp6_", "fp4_"})
    if (e.format == nullptr) e.format = FindFloatFormat(prefix + name);
  Type ptx;
  if (e.format != nullptr)
    e.bits = e.format->bits();
  else if (FindType(name, &ptx))
    e.bits = TypeBits(ptx);
  return e;
}

absl::StatusOr<std::vector<uint64_t>> EdgeValues(const std::string& type) {
  if (type == "pred") return std::vector<uint64_t>{0, 1};
  std::vector<uint64_t> small;
  for (uint64_t i = 0; i < 32; ++i) small.push_back(i);
  if (type == "lane") return small;
  if (type == "sh") {
    small.insert(small.end(),
                 {32, 33, 47, 48, 63, 64, 65, 127, 128, 255, 256, 0x1f00, 0x80000000, 0xffffffff});
    return small;
  }
  const ElementFormat e = FormatOfType(type);
  if (e.bits == 0 || e.bits * e.count > 64)
    return absl::InvalidArgumentError(absl::StrCat("no inputs for type '", type, "'"));
  const std::vector<uint64_t> one = e.format != nullptr ? FloatEdges(*e.format) : IntegerEdges(e.bits);
  if (e.count == 1) return one;
  // Every edge in the low element, with others above it.
  std::vector<uint64_t> packed;
  for (size_t i = 0; i < one.size(); ++i) {
    uint64_t value = 0;
    for (int k = 0; k < e.count; ++k)
      value |= one[(i + static_cast<size_t>(k) * 17) % one.size()] << (k * e.bits);
    packed.push_back(value);
  }
  return packed;
}

absl::StatusOr<std::vector<uint64_t>> DrawInputs(const std::string& type, int operand, size_t count,
                                                 uint64_t seed) {
  US_ASSIGN_OR_RETURN(const std::vector<uint64_t> edges, EdgeValues(type));
  ElementFormat e = FormatOfType(type);
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : type) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  Stream stream(seed * 0xD1342543DE82EF95 + hash + static_cast<uint64_t>(operand));
  std::vector<uint64_t> values;
  // Half of the first operand's tuples at most are the edges in their order.
  if (operand == 0)
    for (size_t i = 0;
         i < edges.size() && i < std::max<size_t>(count / 2, edges.size() <= count ? edges.size() : 0); ++i)
      values.push_back(edges[i]);
  while (values.size() < count) {
    const bool edge = stream.Below(2) == 0 || e.bits == 0;
    uint64_t value = edges[stream.Below(edges.size())];
    if (!edge) {
      value = 0;
      for (int k = 0; k < e.count; ++k) value |= RandomElement(e, &stream) << (k * e.bits);
    }
    values.push_back(value);
  }
  values.resize(count);
  return values;
}

}  // namespace understudy::emu::ptx::conform
