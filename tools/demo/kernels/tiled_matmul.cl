// SPDX-License-Identifier: Apache-2.0
// c[m][n] = sum over k of a[m][k] * b[k][n], through 16x16 tiles in local memory. Work groups of 16x16; m, n and k
// need not be multiples of 16.
#include "tools/demo/kernels/prelude.h"

#define TILE 16

kernel void tiled_matmul(global const float* a, global const float* b, global float* c, int m, int n, int k) {
  local float tile_a[TILE][TILE + 1];
  local float tile_b[TILE][TILE + 1];
  const int col = get_local_id(0), row = get_local_id(1);
  const int global_col = get_group_id(0) * TILE + col, global_row = get_group_id(1) * TILE + row;
  float sum = 0.0f;
  for (int base = 0; base < k; base += TILE) {
    tile_a[row][col] = global_row < m && base + col < k ? a[global_row * k + base + col] : 0.0f;
    tile_b[row][col] = base + row < k && global_col < n ? b[(base + row) * n + global_col] : 0.0f;
    local_barrier();
    for (int i = 0; i < TILE; ++i) sum += tile_a[row][i] * tile_b[i][col];
    local_barrier();
  }
  if (global_row < m && global_col < n) c[global_row * n + global_col] = sum;
}
