// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inputs of recorded matrix samples, made again from their seed: the same stream as
// tools/hw/record_mma.py. For tests only.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

enum class InputStream : uint8_t { kA, kB, kC, kMetadata, kShared };
enum class InputClass : uint8_t { kBits, kNarrow, kWide, kEdge };
InputClass InputClassOf(const std::string& name);

// Registers [reg * lanes + lane] of `count` registers, filled with elements of `type`.
std::vector<uint64_t> SeededRegisters(Type type, int count, InputClass cls, uint64_t seed, InputStream stream,
                                      int sample, int lanes);
// One word of valid ordered metadata a lane.
std::vector<uint32_t> SeededMetadata(Type type, uint64_t seed, int sample, int lanes);

// FNV-1a, a word at a time.
uint64_t HashWords(const std::vector<uint32_t>& words);

}  // namespace understudy::emu::ptx
