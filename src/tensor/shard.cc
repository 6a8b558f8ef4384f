// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/shard.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/host_data.h"
#include "src/tensor/internal.h"
#include "src/uop/sharding.h"

namespace understudy {
namespace {

using tensor_internal::Bad;

absl::Status CheckDevices(const char* op, const std::vector<std::string>& devices) {
  if (devices.empty()) return Bad(op, "no devices, expected at least one");
  for (const std::string& d : devices) {
    if (d.empty() || IsGroupName(d)) return Bad(op, "device '", d, "', expected the name of one device");
    if (std::count(devices.begin(), devices.end(), d) > 1) return Bad(op, "device ", d, " appears twice");
  }
  return absl::OkStatus();
}

// The elements, when the host has them and no device does yet.
const HostData* HostOf(const UOpRef& x) {
  const UOp* u = x.get();
  while (u->op() == Op::kReshape) u = u->src(0).get();
  if (u->op() != Op::kBuffer || u->numel() == 0) return nullptr;
  const auto& slot = u->arg_as<BufferArg>().slot;
  return slot == nullptr ? nullptr : dynamic_cast<const HostData*>(slot->impl.get());
}

std::vector<uint8_t> CutBytes(const std::vector<uint8_t>& bytes, const Shape& shape, int width,
                              const Sharding& s, size_t part) {
  if (s.replicated()) return bytes;
  size_t rows = 1, step = static_cast<size_t>(width);
  for (int64_t i = 0; i < s.axis; ++i) rows *= static_cast<size_t>(shape[i]);
  for (size_t i = static_cast<size_t>(s.axis) + 1; i < shape.size(); ++i)
    step *= static_cast<size_t>(shape[i]);
  const size_t stride = step * static_cast<size_t>(shape[s.axis]);
  const size_t begin = step * static_cast<size_t>(s.parts[part].begin);
  const size_t row = step * static_cast<size_t>(s.parts[part].size());
  std::vector<uint8_t> out;
  out.reserve(rows * row);
  for (size_t r = 0; r < rows; ++r) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(r * stride + begin);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(row));
  }
  return out;
}

// With storage of its own on every device.
Tensor Spread(const Tensor& x, const Sharding& s) {
  const HostData* host = HostOf(x.uop());
  std::vector<UOpRef> parts;
  for (size_t i = 0; i < s.devices.size(); ++i) {
    const Shape local = s.PartShape(x.shape(), i);
    const int64_t n = tensor_internal::Product(local);
    if (n == 0) {
      parts.push_back(tensor_internal::Constant(x.dtype(), tensor_internal::ZeroOf(x.dtype()), local));
    } else if (host != nullptr) {
      const UOpRef buffer = uop::NewBuffer(x.dtype(), n, s.devices[i]);
      buffer->arg_as<BufferArg>().slot->impl =
          std::make_unique<HostData>(CutBytes(host->bytes(), x.shape(), x.dtype().ScalarBytes(), s, i));
      parts.push_back(uop::Reshape(buffer, local));
    } else {
      parts.push_back(tensor_internal::Transfer(tensor_internal::CutAxis(x.uop(), s, i), s.devices[i]));
    }
  }
  Tensor out(uop::Multi(std::move(parts), MultiArgOf(s)), GroupName(s.devices));
  out.set_requires_grad(x.requires_grad());
  return out;
}

std::optional<Sharding> Of(const Tensor& x) {
  if (!x.ok() || !IsGroupName(x.device())) return std::nullopt;
  std::optional<Sharding> s = ShardingOf(x.uop());
  if (!s) s = Replicated(GroupDevices(x.device()));  // a constant
  return s;
}

}  // namespace

Tensor Shard(const Tensor& x, const std::vector<std::string>& devices, int64_t axis) {
  if (!x.ok()) return x;
  if (absl::Status s = CheckDevices("Shard", devices); !s.ok()) return Tensor(s);
  const auto a = tensor_internal::Axis("Shard", axis, x.ndim());
  if (!a.ok()) return Tensor(a.status());
  if (devices.size() == 1) return x.To(devices[0]);
  if (x.numel() == 0) return Spread(x, Replicated(devices));
  return Spread(x, EvenSharding(devices, *a, x.shape()[*a]));
}

Tensor Replicate(const Tensor& x, const std::vector<std::string>& devices) {
  if (!x.ok()) return x;
  if (absl::Status s = CheckDevices("Replicate", devices); !s.ok()) return Tensor(s);
  if (devices.size() == 1) return x.To(devices[0]);
  return Spread(x, Replicated(devices));
}

Tensor ShardLike(const Tensor& x, const Tensor& like) {
  if (!x.ok()) return x;
  if (!like.ok()) return like;
  const std::optional<Sharding> s = Of(like);
  if (!s) return x.device() == like.device() ? x : x.To(like.device());
  if (x.shape() != like.shape()) {
    return Tensor(Bad("ShardLike", "shape ", tensor_internal::Text(x.shape()), ", expected ",
                      tensor_internal::Text(like.shape())));
  }
  return Spread(x, *s);
}

Tensor Unshard(const Tensor& x, const std::string& device) {
  if (!x.ok()) return x;
  return x.To(device.empty() ? DevicesOf(x)[0] : device);
}

Tensor ShardOf(const Tensor& x, int64_t i) {
  if (!x.ok()) return x;
  const std::vector<std::string> devices = DevicesOf(x);
  if (i < 0 || i >= static_cast<int64_t>(devices.size()))
    return Tensor(Bad("ShardOf", "part ", i, " of a tensor on ", devices.size(), " devices"));
  const std::optional<Sharding> s = Of(x);
  if (!s) return x;
  const auto part = static_cast<size_t>(i);
  Tensor out(uop::Copy(tensor_internal::CutAxis(x.uop(), *s, part), devices[part]), devices[part]);
  out.set_requires_grad(x.requires_grad());
  tensor_internal::LinkView(out, x);
  return out;
}

bool IsSpread(const Tensor& x) { return Of(x).has_value(); }

std::vector<std::string> DevicesOf(const Tensor& x) { return GroupDevices(x.device()); }

std::optional<int64_t> ShardAxis(const Tensor& x) {
  const std::optional<Sharding> s = Of(x);
  if (!s || s->replicated()) return std::nullopt;
  return s->axis;
}

std::vector<std::pair<int64_t, int64_t>> ShardBounds(const Tensor& x) {
  std::vector<std::pair<int64_t, int64_t>> out;
  if (const std::optional<Sharding> s = Of(x)) {
    for (const Sharding::Part& p : s->parts) out.emplace_back(p.begin, p.end);
  }
  return out;
}

}  // namespace understudy
