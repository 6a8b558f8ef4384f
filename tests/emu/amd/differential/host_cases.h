/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
// What the host computes for the cases of cases.h.

#ifdef __cplusplus
extern "C" {
#endif
struct HostCase {
  const char* name;
  void (*run)(unsigned i, const unsigned* in, unsigned* out);
};
extern const struct HostCase kHostCases[];
extern const int kHostCaseCount;
#ifdef __cplusplus
}
#endif
