// SPDX-License-Identifier: Apache-2.0
#pragma once
// All-reduce as graphs: from one partial value a device to the whole result on every device, by copies and
// elementwise ops. src/schedule/multi.h uses it where a reduction crosses the axis that a value is sharded
// along; nothing here touches a device.
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

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace understudy
