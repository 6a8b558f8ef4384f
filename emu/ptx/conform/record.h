// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fills vectors with what a backend gives: `understudy conform --record` and the recorder that is carried to
// a GPU. What the emulator fills is marked, since it is no truth to test the emulator with.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"

namespace understudy::emu::ptx::conform {

struct RecordOptions {
  size_t samples = 64;  // tuples of a form that brings neither "in" nor "step", nor its own "samples"
  uint64_t seed = 1;
};

// One line of a vector file. A form without "in" and "step" gets inputs by the types in "st"; one with "step"
// gets "digest", others "out"; fragments get "d", seeded samples "hash" (of "samples" samples, where none is
// there), places "elements" (empty lists say how many registers there are), kernels each buffer's "after". A
// text that the backend does not accept, refuses or faults on keeps its inputs out and gets "error".
// InvalidArgument: the line is wrong.
absl::StatusOr<nlohmann::ordered_json> RecordLine(nlohmann::ordered_json line, Backend& backend,
                                                  const RecordOptions& options = {});

struct RecordCounts {
  size_t recorded = 0, errors = 0;
};
// All lines of a file's text, written to `out` as they are done. Errors name the line.
absl::StatusOr<RecordCounts> RecordFile(const std::string& in_path, const std::string& out_path,
                                        Backend& backend, const RecordOptions& options = {});

}  // namespace understudy::emu::ptx::conform
