// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/kernel_buffers.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/dtype/const_value.h"
#include "src/symbolic/bounds.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 32;
// Where a buffer begins within a cache line decides how many lines a kernel touches: always at the same
// place.
constexpr uint64_t kAlignment = 256;

// What a PARAM's buffer is filled with, element `i` of them.
ConstValue ValueAt(DType type, int64_t i) {
  if (type.IsBool()) return int64_t{i % 3 == 0};
  if (!type.IsFloat()) return int64_t{i * 7 % 4};
  return static_cast<double>(i * 37 % 129 - 64) / 64;
}

}  // namespace

absl::StatusOr<std::vector<size_t>> BufferBytesOf(const UOpRef& kernel) {
  std::vector<size_t> bytes;
  symbolic::BoundsCache bounds;
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() != Op::kIndex || n->src(0)->op() != Op::kParam) continue;
    const auto position = static_cast<size_t>(n->src(0)->arg_as<int64_t>());
    const uop::Interval at = bounds.BoundsOf(UOpRef(n->src(1)));
    if (!at.hi.has_value() || *at.hi >= kMostElements) {
      return absl::UnimplementedError(absl::StrCat(
          "the size of buffer ", position, " does not follow from the kernel: its index reaches ",
          at.hi.has_value() ? absl::StrCat(*at.hi) : "any value", ", expected less than 2^32"));
    }
    if (position >= 4096)
      return absl::InvalidArgumentError(absl::StrCat("PARAM ", position, ", expected less than 4096"));
    bytes.resize(std::max(bytes.size(), position + 1), 1);
    const auto elements = static_cast<size_t>(std::max<int64_t>(*at.hi, 0) + 1);
    bytes[position] =
        std::max(bytes[position], elements * static_cast<size_t>(n->src(0)->dtype().Element().ScalarBytes()));
  }
  return bytes;
}

absl::StatusOr<std::unique_ptr<KernelBuffers>> KernelBuffers::Create(Device& device, const UOpRef& kernel,
                                                                     absl::Span<const size_t> bytes) {
  std::unique_ptr<KernelBuffers> made(new KernelBuffers(device));
  std::map<std::string, int64_t> vars;
  made->types_.resize(bytes.size(), dtypes::kUInt8);
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() == Op::kVar) vars[n->arg_as<VarArg>().name] = n->arg_as<VarArg>().max;
    if (n->op() != Op::kParam) continue;
    const auto position = static_cast<size_t>(n->arg_as<int64_t>());
    if (position >= bytes.size())
      return absl::InvalidArgumentError(
          absl::StrCat("the kernel names buffer ", position, ", ", bytes.size(), " sizes were given"));
    made->types_[position] = n->dtype().Element();
  }
  for (const auto& [name, value] : vars) made->vars_.push_back(value);
  for (const size_t size : bytes) {
    const size_t wanted = std::max<size_t>(size, 1);
    US_ASSIGN_OR_RETURN(const Allocation a, device.Allocate(wanted + kAlignment - 1));
    made->allocations_.push_back(a);
    made->buffers_.push_back(a.Slice(AlignUp(a.address, kAlignment) - a.address, wanted));
  }
  US_RETURN_IF_ERROR(made->Reset());
  return made;
}

absl::Status KernelBuffers::Reset() {
  constexpr int64_t kPeriod = 129 * 4;  // after which values repeat
  for (size_t p = 0; p < buffers_.size(); ++p) {
    const size_t width = static_cast<size_t>(types_[p].ScalarBytes());
    std::vector<uint8_t> data(buffers_[p].bytes);
    for (size_t at = 0; at + width <= data.size(); at += width) {
      if (at >= kPeriod * width) {
        // What is there already, from the beginning.
        const size_t n = std::min(data.size() - at, at);
        std::memcpy(&data[at], data.data(), n / width * width);
        at += n / width * width - width;
        continue;
      }
      const uint64_t bits =
          ToBits(types_[p], Canonical(types_[p], ValueAt(types_[p], static_cast<int64_t>(at / width))));
      std::memcpy(&data[at], &bits, width);
    }
    US_RETURN_IF_ERROR(device_.CopyIn(buffers_[p], data.data(), data.size()));
  }
  return device_.Synchronize();
}

KernelBuffers::~KernelBuffers() {
  for (const Allocation& a : allocations_) device_.Free(a).IgnoreError();
}

}  // namespace understudy
