// SPDX-License-Identifier: Apache-2.0
// A variable that holds addresses: the file carries relocations.
typedef unsigned int uint32;
__constant int first[2] = {10, 20};
__constant int second[2] = {30, 40};
__attribute__((used)) __global int counter = 7;
__attribute__((used)) __global int* __constant address_of_counter = &counter;

__kernel void read(__global int* out, int i) {
  out[0] = address_of_counter[0] + (i ? first : second)[i & 1];
}
