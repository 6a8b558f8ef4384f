// SPDX-License-Identifier: Apache-2.0
// Every work item walks its own Collatz sequence (loops of very different lengths side by side), then counts its
// length into a histogram: local atomics within the group, global atomics between groups.
#include "tools/demo/kernels/prelude.h"

#define BINS 64

kernel void collatz(global int* lengths, global int* histogram, global int* longest, int count) {
  local int bins[BINS];
  const int lane = get_local_id(0);
  for (int i = lane; i < BINS; i += get_local_size(0)) bins[i] = 0;
  local_barrier();
  const int id = get_global_id(0);
  if (id < count) {
    ulong value = (ulong)id * 7919u + 1u;
    int length = 0;
    while (value != 1) {
      if (value & 1) {
        value = 3 * value + 1;
      } else {
        do {
          value >>= 1;
          ++length;
        } while (!(value & 1));
        continue;
      }
      ++length;
    }
    lengths[id] = length;
    local_atomic_add(&bins[length % BINS], 1);
    global_atomic_max(longest, length);
  }
  local_barrier();
  for (int i = lane; i < BINS; i += get_local_size(0)) {
    if (bins[i] != 0) global_atomic_add(&histogram[i], bins[i]);
  }
}
