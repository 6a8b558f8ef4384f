// SPDX-License-Identifier: Apache-2.0
#pragma once
// All-reduce, reduce-scatter and all-gather as graphs: from one partial value a device to the whole result on
// every device, or to a part of it on each; from parts to the whole. By copies and elementwise ops.
// src/schedule/multi.h uses them where a reduction crosses the axis that a value is sharded along, and where
// a sharded value is wanted everywhere; nothing here touches a device.
//
// With n devices and results of B bytes:
//   naive  every device fetches all partial values and combines them in device order: one round of copies,
//          n (n-1) B bytes in all.
//   tree   pairs combine, then pairs of pairs ..., and the result goes back down: 2 ceil(log2 n) rounds,
//          2 (n-1) B bytes, through the first device.
//   ring   the value is cut in n chunks; each goes round once to be combined and once to be spread:
//          2 (n-1) rounds, 2 (n-1)/n B bytes out of every device.
// All are deterministic, and all devices get the same bits. Integers and extrema do not depend on the order.
// Floats are added in these orders (a left fold): naive p0 + p1 + p2 + ...; tree (p0 + p1) + (p2 + p3) ...;
// ring, chunk c, p_c + p_{c+1} + ... + p_{c-1}.
//
// Reduce-scatter is half of that: naive, every device fetches its part of every partial value, one round of
// copies, (n-1) B bytes in all, added in device order as above; ring, the part of device c goes round once
// and ends there, n-1 rounds, (n-1)/n B bytes out of every device to its neighbour, added as p_{c+1} +
// p_{c+2} + ... + p_c. All-gather is the other half, with the same numbers of bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "src/uop/sharding.h"
#include "src/uop/uop.h"

namespace understudy {

enum class AllReduceKind { kAuto, kNaive, kTree, kRing };
const char* AllReduceName(AllReduceKind kind);

struct AllReduceOptions {
  AllReduceKind kind = AllReduceKind::kAuto;
  // What kAuto takes: naive for two devices (a ring of two moves no less in more rounds) and for results of
  // at most this many bytes, tree up to `tree_bytes`, ring above.
  int64_t naive_bytes = 1024;
  int64_t tree_bytes = 65536;
};
// What kAuto stands for.
AllReduceKind ChooseAllReduce(const AllReduceOptions& options, int64_t bytes, size_t devices);

// partials[i] is on devices[i], or null where the device has nothing to add; at least one is not. Gives the
// result on every device.
std::vector<UOpRef> AllReduce(Op op, const std::vector<UOpRef>& partials,
                              const std::vector<std::string>& devices, const AllReduceOptions& options);

// Reduce-scatter: part i of `parts` (along its axis) on device i, null where it is empty. All partial values
// have the shape of the whole; `partials` as above.
std::vector<UOpRef> ReduceScatter(Op op, const std::vector<UOpRef>& partials, const Sharding& parts,
                                  const AllReduceOptions& options);

// All-gather: from part i on device i (empty parts are not looked at) the whole of `shape` on every device.
std::vector<UOpRef> AllGather(const std::vector<UOpRef>& values, const Sharding& parts, const Shape& shape,
                              const AllReduceOptions& options);

}  // namespace understudy
