// SPDX-License-Identifier: Apache-2.0
// Doubles a buffer; when `bad` is not negative, the work item with that id stores far outside it.
#include "tools/demo/kernels/prelude.h"

kernel void wild_pointer(global const int* in, global int* out, int bad) {
  const uint id = get_global_id(0);
  const ulong offset = id == (uint)bad ? (ulong)1 << 38 : 0;
  out[id + offset] = in[id] * 2;
}
