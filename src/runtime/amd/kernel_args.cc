// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/kernel_args.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

uint32_t ExplicitEnd(const KernelSymbol& kernel) {
  uint32_t end = 0;
  for (const KernelArgument& a : kernel.args) {
    if (!a.hidden()) end = std::max(end, a.offset + a.size);
  }
  return end;
}

// Arguments that any launch can fill: name, value.
absl::StatusOr<uint64_t> HiddenValue(const std::string& kind, const LaunchShape& s,
                                     const Apertures& apertures) {
  const auto dims = [&] { return s.grid[2] * s.block[2] > 1 ? 3 : s.grid[1] * s.block[1] > 1 ? 2 : 1; };
  const struct {
    const char* kind;
    uint64_t value;
  } kValues[] = {
      {"hidden_block_count_x", s.grid[0]},
      {"hidden_block_count_y", s.grid[1]},
      {"hidden_block_count_z", s.grid[2]},
      {"hidden_group_size_x", s.block[0]},
      {"hidden_group_size_y", s.block[1]},
      {"hidden_group_size_z", s.block[2]},
      // Grids are whole workgroups here, so nothing remains.
      {"hidden_remainder_x", 0},
      {"hidden_remainder_y", 0},
      {"hidden_remainder_z", 0},
      {"hidden_global_offset_x", 0},
      {"hidden_global_offset_y", 0},
      {"hidden_global_offset_z", 0},
      {"hidden_grid_dims", static_cast<uint64_t>(dims())},
      {"hidden_dynamic_lds_size", s.dynamic_lds},
      {"hidden_private_base", apertures.private_hi},
      {"hidden_shared_base", apertures.shared_hi},
      {"hidden_none", 0},
  };
  for (const auto& v : kValues) {
    if (kind == v.kind) return v.value;
  }
  return absl::UnimplementedError(absl::StrCat("argument kind ", kind, " (no such service on this device)"));
}

}  // namespace

absl::StatusOr<PackedArgs> PackArgs(const KernelSymbol& kernel, absl::Span<const ArgValue> values) {
  PackedArgs out;
  out.kernarg.resize(ExplicitEnd(kernel));
  uint32_t lds = kernel.descriptor.group_segment_fixed_size;
  size_t next = 0;
  const auto wrong = [&](const KernelArgument& a, const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, ", argument ", next,
                                                   a.name.empty() ? "" : absl::StrCat(" '", a.name, "'"),
                                                   " (", a.value_kind, ", ", a.size, " bytes): ", what));
  };
  for (const KernelArgument& a : kernel.args) {
    if (a.hidden()) continue;
    if (next >= values.size()) return wrong(a, absl::StrCat("missing, ", values.size(), " were given"));
    const ArgValue& value = values[next];
    uint8_t* const at = out.kernarg.data() + a.offset;
    if (a.value_kind == "global_buffer") {
      const auto* p = std::get_if<GlobalPointer>(&value);
      if (p == nullptr || a.size != 8) return wrong(a, "expected a GlobalPointer of 8 bytes");
      StoreLE<uint64_t>(at, p->va);
    } else if (a.value_kind == "dynamic_shared_pointer") {
      const auto* l = std::get_if<LocalBytes>(&value);
      if (l == nullptr || a.size != 4) return wrong(a, "expected LocalBytes");
      lds = static_cast<uint32_t>(AlignUp(lds, std::max(a.pointee_align, 1u)));
      StoreLE<uint32_t>(at, lds);
      if (l->bytes > UINT32_MAX - lds) return wrong(a, absl::StrCat(l->bytes, " bytes of LDS"));
      lds += l->bytes;
    } else if (a.value_kind == "by_value") {
      const auto* b = std::get_if<std::vector<uint8_t>>(&value);
      if (b == nullptr || b->size() != a.size) {
        return wrong(a, absl::StrCat("expected a value of ", a.size, " bytes, got ",
                                     b ? absl::StrCat(b->size(), " bytes") : "a pointer"));
      }
      std::memcpy(at, b->data(), b->size());
    } else {
      return absl::UnimplementedError(absl::StrCat("kernel ", kernel.name, ": argument kind ", a.value_kind));
    }
    ++next;
  }
  if (next != values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", kernel.name, " takes ", next, " arguments, ", values.size(), " were given"));
  }
  out.dynamic_lds = lds - kernel.descriptor.group_segment_fixed_size;
  return out;
}

absl::Status FillKernarg(const KernelSymbol& kernel, absl::Span<const uint8_t> explicit_args,
                         const LaunchShape& shape, const Apertures& apertures, absl::Span<uint8_t> out) {
  US_CHECK(out.size() == kernel.descriptor.kernarg_size) << out.size();
  const uint32_t end = ExplicitEnd(kernel);
  if (explicit_args.size() < end || explicit_args.size() > out.size()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, ": ", explicit_args.size(),
                                                   " bytes of arguments, expected ", end, " to ",
                                                   out.size()));
  }
  std::fill(out.begin(), out.end(), 0);
  std::copy(explicit_args.begin(), explicit_args.end(), out.begin());
  for (const KernelArgument& a : kernel.args) {
    if (!a.hidden()) continue;
    absl::StatusOr<uint64_t> value = HiddenValue(a.value_kind, shape, apertures);
    if (!value.ok()) {
      return absl::Status(value.status().code(),
                          absl::StrCat("kernel ", kernel.name, ": ", std::string(value.status().message())));
    }
    if (a.value_kind == "hidden_none") continue;
    if (a.size > 8 || (a.size < 8 && *value >> (8 * a.size) != 0)) {
      return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.name, ": ", a.value_kind, " is ",
                                                     *value, ", which does not fit in ", a.size, " bytes"));
    }
    std::memcpy(out.data() + a.offset, &*value, a.size);  // little-endian
  }
  return absl::OkStatus();
}

}  // namespace understudy::amd
