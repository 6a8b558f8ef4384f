// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/program.h"

#include <iterator>

#include "absl/strings/str_format.h"
#include "fuzz/program_tree/random.h"

namespace understudy::ptx_programs {
namespace {

constexpr uint32_t kEdges[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
    0x7f800001, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x3effffff, 0x4b000000, 0x4f000000,
    0x5f000000, 0xcf000000, 0x7fffffff, 0xffffffff, 0x00000002, 0x0000001f, 0x00000020, 0x000000ff,
    0x0000ffff, 0x00010000, 0x80008000, 0x7c00fc00, 0x7e00fe01, 0x000183ff, 0x04007bff, 0x3c00bc00,
    0x7f80ff80, 0x7fc0ffc1, 0x00018001, 0x3f80bf80, 0x55555555, 0x12345678, 0xfffffffe, 0x80000001,
    0x40490fdb, 0xc2c80000, 0x42fe0000, 0xc3150000};
// High halves of 64-bit values.
constexpr uint32_t kHighEdges[] = {0x7ff00000, 0xfff00000, 0x7ff80000, 0x3ff00000, 0xbff00000, 0x80000000,
                                   0x00000000, 0x00100000, 0x000fffff, 0x7fefffff, 0x43e00000, 0x41dfffff,
                                   0xffffffff, 0x7fffffff, 0x36a00000, 0x47efffff, 0x3e500000, 0x40e00000};

uint32_t Word(programs::Random& random) {
  if (random.Chance(25)) return kEdges[random.Below(static_cast<int>(std::size(kEdges)))];
  const uint32_t any = static_cast<uint32_t>(random.Next());
  switch (random.Below(6)) {
    case 0:  // a float near 1
      return (any & 0x80ffffff) | 0x3e000000;
    case 1:  // two halves near 1
      return (any & 0x8fff8fff) | 0x30003000;
    case 2:
      return any & 0xff;
    default:
      return any;
  }
}

}  // namespace

const char* ProgramClassName(ProgramClass c) {
  static constexpr const char* kNames[kProgramClasses] = {
      "straight", "floats", "divergent", "calls", "shared", "atomics", "warp", "matrix", "mixed"};
  return kNames[static_cast<int>(c)];
}

std::string Text(const Program& program) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + programs::Text(program.nodes);
}

ProgramData MakeProgramData(const Program& program) {
  programs::Random random(program.seed ^ 0x5eedda7a);
  ProgramData data;
  data.in.resize(kInWords), data.out.resize(program.out_words()), data.mem.resize(kMemWords);
  for (uint32_t& word : data.in) word = Word(random);
  for (size_t k = 1; k < data.in.size(); k += 2) {
    if (!random.Chance(15)) continue;
    data.in[k] = kHighEdges[random.Below(static_cast<int>(std::size(kHighEdges)))];
    if (random.Chance(60)) data.in[k - 1] = 0;
  }
  for (uint32_t& word : data.out) word = Word(random);
  for (uint32_t& word : data.mem) word = Word(random);
  return data;
}

namespace {
class Fnv1a {
 public:
  void Add(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};
}  // namespace

uint64_t Digest(const std::string& text) {
  Fnv1a fnv;
  for (const char c : text) fnv.Add(static_cast<uint8_t>(c));
  return fnv.hash();
}

uint64_t Digest(const ProgramData& data) {
  Fnv1a fnv;
  for (const auto* words : {&data.out, &data.mem})
    for (const uint32_t word : *words)
      for (int k = 0; k < 32; k += 8) fnv.Add(static_cast<uint8_t>(word >> k));
  return fnv.hash();
}

std::string FirstDifference(const Program& program, const ProgramData& got, const ProgramData& want) {
  for (size_t k = 0; k < want.out.size(); ++k) {
    if (got.out[k] == want.out[k]) continue;
    const size_t thread = k / kOutWords;
    return absl::StrFormat("out: CTA %d, thread %d, word %d: 0x%08x instead of 0x%08x",
                           thread / program.threads(), thread % program.threads(), k % kOutWords, got.out[k],
                           want.out[k]);
  }
  for (size_t k = 0; k < want.mem.size(); ++k) {
    if (got.mem[k] != want.mem[k])
      return absl::StrFormat("mem: word %d: 0x%08x instead of 0x%08x", k, got.mem[k], want.mem[k]);
  }
  return "";
}

}  // namespace understudy::ptx_programs
