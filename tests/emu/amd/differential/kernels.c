// SPDX-License-Identifier: Apache-2.0
// The device half of the cases: a kernel of 64 work-items a workgroup for each.

typedef __attribute__((address_space(1))) const unsigned GlobalIn;
typedef __attribute__((address_space(1))) unsigned GlobalOut;

#define CASE(name)                                                                                  \
  static inline void name##Body(unsigned i, GlobalIn* in, GlobalOut* out);                          \
  __attribute__((amdgpu_kernel, visibility("protected"))) void name(GlobalIn* in, GlobalOut* out) { \
    const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64u + __builtin_amdgcn_workitem_id_x();  \
    name##Body(i, in, out + 8u * i);                                                                \
  }                                                                                                 \
  static inline void name##Body(unsigned i, GlobalIn* in, GlobalOut* out)

#include "case_support.h"
#include "cases.h"
#include "random_cases.h"
