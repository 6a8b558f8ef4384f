// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directory of a zip archive (PKWARE's APPNOTE 6.3) of untrusted bytes: names, and where stored entries
// lie. For torch's files, which never compress; nothing is inflated and no checksum is computed.

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::state {

// Entries by name, as parts of `file`; zip64 sizes and offsets are read. InvalidArgument with the offset:
// no archive, records beyond the end, a name twice. Unimplemented with the entry's name: compressed or
// encrypted entries, archives in several files.
absl::StatusOr<std::map<std::string, absl::Span<const uint8_t>>> ReadZip(absl::Span<const uint8_t> file);

}  // namespace understudy::state
