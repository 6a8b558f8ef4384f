// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recorded PTX vectors: what an instruction, a matrix instruction or a whole kernel was given and what it
// gave. Reads the formats of tests/data/conformance/ptx (h200.jsonl, mma.jsonl, programs.jsonl), plain or
// compressed by zstd; executes nothing.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"

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

// programs.jsonl.
struct WholeKernel {
  Launch launch;
  std::vector<std::vector<uint8_t>> after;  // by parameter; empty of scalars
};

struct Vector {
  int line = 0;    // in the file, from 1
  std::string id;  // the instruction or the kernel's name
  std::variant<Form, Fragment, WholeKernel> what;
  bool emulated = false;     // "source": "emulator": no recorded truth
  std::string not_accepted;  // "error": what the recording GPU's compiler said of it
};

// The bytes of a file, decompressed where it is zstd's.
absl::StatusOr<std::string> ReadVectorFile(const std::string& path);
// Whether the first line is one of these formats. (AMD's have "gfx".)
bool LooksLikePtxVectors(const std::string& text);
// `path` is for messages. InvalidArgument names the line and the field.
absl::StatusOr<std::vector<Vector>> ParseVectors(const std::string& text, const std::string& path);
absl::StatusOr<Vector> ParseVector(const nlohmann::ordered_json& line);
absl::StatusOr<std::vector<Vector>> LoadVectors(const std::string& path);

std::vector<uint8_t> DecodeBase64(const std::string& text);
std::string EncodeBase64(const std::vector<uint8_t>& bytes);

}  // namespace understudy::emu::ptx::conform
