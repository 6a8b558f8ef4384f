// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recorded PTX vectors: what an instruction, a matrix instruction or a whole kernel was given and what it
// gave. Reads the formats of tests/data/conformance/ptx (h200.jsonl, mma.jsonl, mma_seeded.jsonl,
// wmma_fragments.jsonl, programs.jsonl, corpus.jsonl), plain or compressed by zstd; executes nothing.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"
#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx::conform {

// h200.jsonl. Inputs are listed, or generated: operand k of tuple i is i * step[k] + start[k], cut to its
// register, for `count` tuples; results are then listed, or a digest of every kDigestBlock of them.
struct Form {
  std::string op, s, dt;
  char d = 'r';
  std::vector<std::string> st;
  std::vector<std::vector<uint64_t>> in;  // filled from the generator too
  std::vector<uint64_t> out, digests;     // both empty: not recorded
  size_t count() const { return in.empty() ? 32 : in[0].size(); }
};
inline constexpr size_t kDigestBlock = 256;
// FNV-1a over 64-bit results, of each block of kDigestBlock.
std::vector<uint64_t> Digests(const std::vector<uint64_t>& results);

// mma.jsonl: registers of 32 lanes each.
struct Fragment {
  using Registers = std::vector<std::vector<uint64_t>>;
  std::string op, input_class;
  Registers a, b, c, d;  // d's lanes are empty where nothing is recorded
  std::vector<uint64_t> e;
  bool sparse = false;
  int selector = 0;
};

// mma_seeded.jsonl: a matrix instruction whose inputs come from a seed (seeded_inputs.h), a hash of the
// result for each of several samples.
struct Seeded {
  std::string op, input_class;
  Type types[4] = {};     // of d, a, b, c
  int registers[4] = {};  // a thread, of d, a, b, c; 0: a warpgroup's operand in shared memory
  uint64_t seed = 0;
  int first = 0, samples = 0;  // their numbers in the stream that the seed begins
  bool sparse = false;
  int selector = 0;
  std::vector<uint64_t> hashes;  // HashRegisters, a sample; empty: not recorded

  // wgmma: 128 threads, a (but where it has registers) and b in shared memory.
  bool warpgroup = false;
  uint64_t descriptor_a = 0, descriptor_b = 0;  // all fields but the address
  int start_a = 0, start_b = 0;                 // of the address in a's and b's half, in 16 bytes
  bool accumulate = true;
  int scale_a = 1, scale_b = 1;
  bool transpose_a = false, transpose_b = false;
  int lanes() const { return warpgroup ? 128 : 32; }
};
// Each half of a warpgroup's shared memory holds one operand.
inline constexpr size_t kOperandBytes = 32768;
// FNV-1a over registers [register * lanes + lane] as 32-bit words, low halves first.
uint64_t HashRegisters(const uint64_t* values, size_t count, bool is_64);

// wmma_fragments.jsonl: which element of a matrix wmma.load puts where.
struct FragmentPlaces {
  std::string op;
  Type type = Type::kNone;
  int rows = 0, cols = 0;
  bool by_rows = true;
  int registers = 0;
  int per_register() const;        // elements told apart in a register; of one-bit elements the first alone
  std::vector<uint64_t> elements;  // row * cols + col of [(register * 32 + lane) * per_register() + i]
};

// programs.jsonl.
struct WholeKernel {
  Launch launch;
  std::vector<std::vector<uint8_t>> after;  // by parameter; empty of scalars
};

// corpus.jsonl: a module that is loaded, none of whose instructions may be refused.
struct ModuleText {
  std::string ptx;
};

struct Vector {
  int line = 0;    // in the file, from 1
  std::string id;  // the instruction or the kernel's name
  std::variant<Form, Fragment, Seeded, FragmentPlaces, WholeKernel, ModuleText> what;
  bool emulated = false;     // "source": "emulator": no recorded truth
  std::string not_accepted;  // "error": the verdict of the recording GPU and its driver, and their words
};

// The bytes of a file, decompressed where it is zstd's.
absl::StatusOr<std::string> ReadVectorFile(const std::string& path);
// Whether the first line is one of these formats. (AMD's have "gfx".)
bool LooksLikePtxVectors(const std::string& text);
// `path` is for messages. InvalidArgument names the line and the field.
absl::StatusOr<std::vector<Vector>> ParseVectors(const std::string& text, const std::string& path);
absl::StatusOr<Vector> ParseVector(const nlohmann::ordered_json& line);
absl::StatusOr<Seeded> ParseSeeded(const nlohmann::ordered_json& line);
absl::StatusOr<FragmentPlaces> ParseFragmentPlaces(const nlohmann::ordered_json& line);
// A kernel's parameter of kind "tensormap".
absl::StatusOr<Param> ParseTensorMap(const nlohmann::ordered_json& line);
absl::StatusOr<std::vector<Vector>> LoadVectors(const std::string& path);

std::vector<uint8_t> DecodeBase64(const std::string& text);
std::string EncodeBase64(const std::vector<uint8_t>& bytes);

}  // namespace understudy::emu::ptx::conform
