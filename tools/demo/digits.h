// SPDX-License-Identifier: Apache-2.0
#pragma once
// The handwritten digits data set (1797 images of 8x8, 10 classes; UCI ML repository, E. Alpaydin and C.
// Kaynak) as Debian's python3-sklearn package ships it: gzipped text, 64 pixels of 0..16 and the class a
// line.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::demo {

struct Digits {
  int64_t count = 0;
  std::vector<float> pixels;    // count x 64, scaled to 0..1
  std::vector<int32_t> labels;  // count
};

inline constexpr char kDigitsPath[] = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";

// The whole set, in the file's order. Errors name file and line.
absl::StatusOr<Digits> LoadDigits(const std::string& path = kDigitsPath);

}  // namespace understudy::demo
