// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clang's offload bundles (clang, "Clang Offload Bundler": the uncompressed binary format) and the host
// libraries that carry them in a section `.hip_fatbin`. Finds the device code objects inside, for tests and
// for runtimes that are handed a whole library; it copies nothing, loads nothing, and trusts none of the
// numbers it reads.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::amd {

// One code object of a bundle.
struct OffloadEntry {
  std::string id;                     // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"
  absl::Span<const uint8_t> content;  // inside the bytes that were given; empty for the host

  // "gfx90a" of the id above: the processor without its features; empty where the id names none.
  std::string processor() const;
};

// The entries of the bundle that begins at bytes[0]; *size, if not null, is where the last of them ends.
// InvalidArgument: not a bundle, or numbers that leave the bytes (which, with value and bound).
// Unimplemented: a compressed bundle.
absl::StatusOr<std::vector<OffloadEntry>> ReadOffloadBundle(absl::Span<const uint8_t> bytes,
                                                            size_t* size = nullptr);

// The contents of a section of a little-endian ELF64 file. NotFound: it has no such section.
absl::StatusOr<absl::Span<const uint8_t>> FindElfSection(absl::Span<const uint8_t> file,
                                                         const std::string& name);

// The entries of every bundle in `.hip_fatbin` of a host library: a library has one bundle for each source
// file that was compiled, at multiples of 4096 bytes.
absl::StatusOr<std::vector<OffloadEntry>> OffloadEntriesOfLibrary(absl::Span<const uint8_t> file);

}  // namespace understudy::amd
