// SPDX-License-Identifier: Apache-2.0
#pragma once
// Error plumbing used by every module: macros that propagate absl::Status, and US_CHECK for invariants.
// Bad outside input never reaches US_CHECK: it is refused with a Status that says where.

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace understudy::internal {

// Collects a message and aborts the process with it when destroyed.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    stream_ << file << ":" << line << ": check failed: " << condition << " ";
  }
  [[noreturn]] ~CheckFailure() {
    std::cerr << stream_.str() << std::endl;
    std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

struct Voidify {
  void operator&(std::ostream&) const {}
};

inline const absl::Status& AsStatus(const absl::Status& s) { return s; }
template <class T>
const absl::Status& AsStatus(const absl::StatusOr<T>& s) {
  return s.status();
}

}  // namespace understudy::internal

// Aborts with file, line, the condition and the streamed message when `condition` is false. Always on.
#define US_CHECK(condition)                         \
  (condition) ? (void)0                             \
              : ::understudy::internal::Voidify() & \
                    ::understudy::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()

// Aborts with the status when it (or a StatusOr's status) is not OK.
#define US_CHECK_OK(expr)                                                       \
  do {                                                                          \
    const auto& us_check_value = (expr);                                        \
    US_CHECK(::understudy::internal::AsStatus(us_check_value).ok())             \
        << ::understudy::internal::AsStatus(us_check_value).ToString().c_str(); \
  } while (false)

// Returns the status from the enclosing function unless it is OK.
#define US_RETURN_IF_ERROR(expr)           \
  do {                                     \
    ::absl::Status us_status = (expr);     \
    if (!us_status.ok()) return us_status; \
  } while (false)

#define US_CONCAT_INNER(a, b) a##b
#define US_CONCAT(a, b) US_CONCAT_INNER(a, b)

// US_ASSIGN_OR_RETURN(auto x, F()): x is the value of the StatusOr, or the enclosing function returns its
// status.
#define US_ASSIGN_OR_RETURN(lhs, expr) US_ASSIGN_OR_RETURN_IMPL(US_CONCAT(us_or_, __LINE__), lhs, expr)
#define US_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
