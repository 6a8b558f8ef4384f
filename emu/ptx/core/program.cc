// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/ptx/core/bind.h"

namespace understudy::emu::ptx {

Src ConstantPool::Row(uint8_t bytes, uint64_t value) {
  Src row;
  row.base = Src::kConstant;
  row.bytes = bytes;
  const auto [it, fresh] = rows_.try_emplace({bytes, value}, used_);
  if (fresh) {
    values_.emplace_back(bytes, value);
    used_ += bytes == 0 ? 64 : bytes <= 4 ? 128 : bytes == 8 ? 256 : 512;
  }
  row.offset = it->second;
  return row;
}

const uint8_t* ConstantPool::Finish() {
  storage_.assign(used_ / 8 + 8, 0);
  uint8_t* base = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(storage_.data()) + 63) / 64 * 64);
  uint8_t* row = base;
  for (const auto& [bytes, value] : values_) {
    if (bytes == 0) {
      *reinterpret_cast<uint32_t*>(row) = static_cast<uint32_t>(value);
    } else if (bytes <= 4) {
      std::fill_n(reinterpret_cast<uint32_t*>(row), kWarpSize, static_cast<uint32_t>(value));
    } else {
      std::fill_n(reinterpret_cast<uint64_t*>(row), kWarpSize, value);
    }
    row += bytes == 0 ? 64 : bytes <= 4 ? 128 : bytes == 8 ? 256 : 512;
  }
  return base;
}

Src Program::Impl::SpecialRowOf(uint16_t special, uint8_t bytes, int64_t addend) {
  Src src;
  src.base = Src::kSpecialRow;
  src.bytes = bytes;
  for (const SpecialRow& row : special_rows) {
    if (row.special != special || row.bytes != bytes || row.addend != addend) continue;
    src.offset = row.offset;
    return src;
  }
  SpecialRow row;
  row.special = special;
  row.bytes = bytes;
  row.offset = src.offset = special_bytes;
  row.addend = addend;
  special_rows.push_back(row);
  special_bytes += bytes == 0 ? 64 : bytes <= 4 ? 128 : 256;
  return src;
}

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::~Program() = default;

const Module& Program::module() const { return *impl_->module; }
const std::vector<BoundFunction>& Program::functions() const { return impl_->functions; }
const uint8_t* Program::constant_rows() const { return impl_->constant_rows; }
const std::vector<SpecialRow>& Program::special_rows() const { return impl_->special_rows; }
uint32_t Program::special_bytes() const { return impl_->special_bytes; }

const BoundFunction* Program::FindEntry(const std::string& name) const {
  for (const BoundFunction& function : impl_->functions)
    if (function.text->is_entry && function.text->name == name) return &function;
  return nullptr;
}

bool Program::IsConstant(uint64_t address) const {
  auto after = impl_->constant_variables.upper_bound(address);
  return after != impl_->constant_variables.begin() && address < (--after)->second;
}
uint64_t Program::constant_base() const {
  return impl_->constant_variables.empty() ? 0 : impl_->constant_variables.begin()->first;
}

uint32_t Program::static_shared_bytes(const BoundFunction& kernel) const {
  return static_cast<uint32_t>(impl_->shared.kernel_bytes[static_cast<size_t>(kernel.index)]);
}

uint32_t Program::dynamic_shared_alignment(const BoundFunction& kernel) const {
  return static_cast<uint32_t>(impl_->shared.kernel_dynamic_alignment[static_cast<size_t>(kernel.index)]);
}

uint32_t Program::module_local_bytes() const { return static_cast<uint32_t>(impl_->module_local_bytes); }

uint32_t Program::param_block_bytes(const BoundFunction& kernel) const {
  uint64_t end = 0;
  PlaceVariables(kernel.text->parameters, Space::kParam, &end);
  return static_cast<uint32_t>(end);
}

std::vector<uint32_t> Program::param_offsets(const BoundFunction& kernel) const {
  uint64_t end = 0;
  std::vector<uint32_t> offsets;
  for (int64_t offset : PlaceVariables(kernel.text->parameters, Space::kParam, &end))
    offsets.push_back(static_cast<uint32_t>(offset));
  return offsets;
}

uint64_t Program::function_address(int index) const {
  return kCodeWindow + 16 * (static_cast<uint64_t>(index) + 1);
}

const BoundFunction* Program::FunctionAt(uint64_t address) const {
  if (address < kCodeWindow + 16 || address % 16 != 0) return nullptr;
  const uint64_t index = (address - kCodeWindow) / 16 - 1;
  return index < impl_->functions.size() ? &impl_->functions[index] : nullptr;
}

}  // namespace understudy::emu::ptx
