// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inputs for recording: edge values of a type and seeded random ones, the same on every machine. Used by the
// recorder; draws nothing from the host.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/float_format.h"

namespace understudy::emu::ptx::conform {

// The format of a PTX float type, of one element of a packed one ("f16x2": f16, count 2); null: no floats.
struct ElementFormat {
  const FloatFormat* format = nullptr;
  int bits = 0, count = 1;  // of an element's field, and elements a register
};
ElementFormat FormatOfType(const std::string& type);

// Values where instructions of this type change what they do: zeros, denormals, infinities, NaNs with
// payloads, limits, powers of two. InvalidArgument: no type by that name. Types are PTX's, and sh (a shift
// amount), lane (0 to 31).
absl::StatusOr<std::vector<uint64_t>> EdgeValues(const std::string& type);

// `count` values for operand `operand`: for the first operand each edge value once, as far as they fit; then,
// like other operands from the start, edges and random values in turns drawn from `seed`.
absl::StatusOr<std::vector<uint64_t>> DrawInputs(const std::string& type, int operand, size_t count,
                                                 uint64_t seed);

}  // namespace understudy::emu::ptx::conform
