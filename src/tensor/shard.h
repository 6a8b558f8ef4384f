// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of several devices. A spread tensor is an ordinary Tensor of the whole shape whose device() names
// all of its devices ("CPU:0,CPU:1"): every operation, the gradient, assignment, modules and optimisers take
// it, and compute what they would compute on one device. A tensor made with such a device name (FromData,
// Zeros, To ...) is replicated. Operands of one operation are on one device or on one group of devices.
//
//   const std::vector<std::string> gpus = {"AMD:0", "AMD:1"};
//   Tensor x = Shard(batch, gpus, 0), w = Replicate(weights, gpus);
//   Tensor y = x.Matmul(w);                  // sharded along axis 0; no element moves
//   Tensor loss = (y * y).Mean();            // one all-reduce
//
// Which operations move elements, and how reductions add up, is written in src/schedule/multi.h and
// src/schedule/all_reduce.h.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

// Cut along `axis` into consecutive parts, part i on devices[i], with storage of its own. Any size is taken:
// parts are as equal as possible, the first ones are longer by one element; with fewer elements than devices
// the last parts are empty. Elements that the host has go to their device at once. `x` may be spread already.
Tensor Shard(const Tensor& x, const std::vector<std::string>& devices, int64_t axis);
// All of it on every device.
Tensor Replicate(const Tensor& x, const std::vector<std::string>& devices);
// As `like` is: sharded, replicated or on one device.
Tensor ShardLike(const Tensor& x, const Tensor& like);
// All of it on one device: x.To(device). By default the first of its devices.
Tensor Unshard(const Tensor& x, const std::string& device = "");

// What device i holds, as a tensor on that device: its part, or its copy of a replicated tensor. A view: it
// shows what `x` holds later, nothing is copied, and assigning to it writes that part of `x` (of a replicated
// tensor, all copies).
Tensor ShardOf(const Tensor& x, int64_t i);

bool IsSpread(const Tensor& x);
// In order; one for a tensor of one device.
std::vector<std::string> DevicesOf(const Tensor& x);
// None: the tensor is replicated, or on one device.
std::optional<int64_t> ShardAxis(const Tensor& x);
// {begin, end} along that axis of the part of each device; operations on the axis may make them uneven, and
// put them in another order.
std::vector<std::pair<int64_t, int64_t>> ShardBounds(const Tensor& x);

}  // namespace understudy
