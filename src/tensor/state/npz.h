// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays that numpy.savez writes: a zip archive of stored .npy entries (NumPy's NEP 1). For inputs of models;
// compressed archives (savez_compressed) are refused.

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/state/named_tensor.h"

namespace understudy {

// The arrays by name, without ".npy". InvalidArgument: bytes that are no such archive, counts that do not
// fit; Unimplemented: big-endian and structured elements, Fortran order of matrices.
absl::StatusOr<StateDict> ParseNpz(absl::Span<const uint8_t> file, const std::string& device = "CPU");
absl::StatusOr<StateDict> LoadNpz(const std::string& path, const std::string& device = "CPU");

}  // namespace understudy
