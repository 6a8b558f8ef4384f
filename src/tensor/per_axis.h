// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of convolutions, pools and resizing that are one number for every spatial axis or one number an
// axis. Callers write 2 or {2, 1}; the operation that takes them checks how many it needs.

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy {

class PerAxis {
 public:
  PerAxis(int64_t v) : v_{v} {}                          // NOLINT: implicit by design
  PerAxis(std::initializer_list<int64_t> v) : v_(v) {}   // NOLINT
  PerAxis(std::vector<int64_t> v) : v_(std::move(v)) {}  // NOLINT
  const std::vector<int64_t>& values() const { return v_; }
  // One a spatial axis; `what` names the argument in the error. Each must be at least `least`.
  absl::StatusOr<std::vector<int64_t>> Resolve(const char* op, const char* what, int axes,
                                               int64_t least) const;

 private:
  std::vector<int64_t> v_;
};

// "valid": none; "same": as many as keep the size where the stride is 1 (an odd one goes after).
enum class PaddingMode { kValid, kSame };

// Zeros around the spatial axes: the same before and after (a PerAxis), {before, after} of each axis, or a
// mode.
class ConvPadding {
 public:
  ConvPadding(int64_t v) : both_(v) {}                                               // NOLINT
  ConvPadding(std::initializer_list<int64_t> v) : both_(v) {}                        // NOLINT
  ConvPadding(std::vector<int64_t> v) : both_(std::move(v)) {}                       // NOLINT
  ConvPadding(std::vector<std::pair<int64_t, int64_t>> v) : pairs_(std::move(v)) {}  // NOLINT
  ConvPadding(PaddingMode mode) : same_(mode == PaddingMode::kSame) {}               // NOLINT
  // {before, after} of each axis for a kernel that reaches over reach[i] elements.
  absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> Resolve(const char* op,
                                                                   const std::vector<int64_t>& reach,
                                                                   const std::vector<int64_t>& stride) const;

 private:
  PerAxis both_ = 0;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
  bool same_ = false;
};

}  // namespace understudy
