// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/ptx_runner.h"

#include <algorithm>
#include <cstring>

#include "emu/ptx/check/global_memory.h"
#include "emu/ptx/parse/parse.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {
namespace {

bool UsesHeap(const Program& program) {
  using Builtin = BoundFunction::Builtin;
  return std::any_of(program.functions().begin(), program.functions().end(), [](const BoundFunction& f) {
    return f.builtin == Builtin::kMalloc || f.builtin == Builtin::kFree;
  });
}

}  // namespace

PtxRunner::PtxRunner(const std::string& ptx) {
  options.print = [this](const std::string& text) { printed += text; };
  status_ = Load(ptx);
}

absl::Status PtxRunner::Load(const std::string& ptx) {
  US_ASSIGN_OR_RETURN(std::shared_ptr<const Module> module, ParseModule(ptx));
  SymbolAddresses addresses;
  // Constant variables lie one behind the other, as on a card.
  struct Constant {
    std::string name;
    const Variable* variable;
    uint64_t offset;
  };
  std::vector<Constant> constants;
  uint64_t constant_bytes = 0;
  const auto place = [&](const std::string& name, const Variable& variable) {
    if (variable.space == Space::kConst) {
      const uint64_t alignment = std::max<uint64_t>(variable.alignment, 1);
      constant_bytes = (constant_bytes + alignment - 1) / alignment * alignment;
      constants.push_back({name, &variable, constant_bytes});
      constant_bytes += std::max<uint64_t>(variable.size, 1);
    }
    if (variable.space != Space::kGlobal) return;
    addresses[name] = variable.init.empty() ? Allocate(std::max<uint64_t>(variable.size, 1), name)
                                            : Upload(variable.init.data(), variable.init.size(), name);
  };
  for (const Variable& variable : module->variables) place(variable.name, variable);
  for (const Function& function : module->functions)
    for (const Variable& variable : function.variables) place(function.name + "." + variable.name, variable);
  if (!constants.empty()) {
    const uint64_t bank = Allocate(constant_bytes, "constant memory");
    for (const Constant& constant : constants) {
      addresses[constant.name] = bank + constant.offset;
      memory.Write(bank + constant.offset, constant.variable->init.data(), constant.variable->init.size());
    }
  }
  US_ASSIGN_OR_RETURN(program_, Program::Build(module, addresses));
  for (const Variable& variable : module->variables)
    for (const Relocation& relocation : variable.relocations) {
      uint64_t address = 0;
      const auto it = addresses.find(relocation.symbol);
      if (it != addresses.end()) address = it->second;
      for (size_t i = 0; i < module->functions.size(); ++i)
        if (module->functions[i].name == relocation.symbol)
          address = program_->function_address(static_cast<int>(i));
      address = ((address + static_cast<uint64_t>(relocation.addend)) >> relocation.shift) & relocation.mask;
      memory.Write(addresses[variable.name] + relocation.offset, &address,
                   static_cast<uint64_t>(relocation.bytes));
    }
  return absl::OkStatus();
}

uint64_t PtxRunner::Allocate(uint64_t bytes, const std::string& label) {
  storage_.emplace_back(bytes / 8 + 1, 0);
  const uint64_t address = next_;
  next_ += (bytes + 0xffff) / 0x10000 * 0x10000 + 0x10000;
  US_CHECK_OK(memory.Map(address, std::max<uint64_t>(bytes, 1),
                         reinterpret_cast<uint8_t*>(storage_.back().data()), Perm::kReadWrite, label));
  return address;
}

uint64_t PtxRunner::Upload(const void* data, uint64_t bytes, const std::string& label) {
  const uint64_t address = Allocate(bytes, label);
  std::memcpy(storage_.back().data(), data, bytes);
  return address;
}

std::vector<uint8_t> PtxRunner::Download(uint64_t address, uint64_t bytes) const {
  std::vector<uint8_t> out(bytes);
  US_CHECK(memory.Read(address, out.data(), bytes)) << "no memory at " << address;
  return out;
}

absl::StatusOr<LaunchResult> PtxRunner::Run(const std::string& entry, Dim3 grid, Dim3 block,
                                            const std::vector<uint64_t>& params) {
  std::vector<std::vector<uint8_t>> bytes(params.size(), std::vector<uint8_t>(8));
  for (size_t i = 0; i < params.size(); ++i) std::memcpy(bytes[i].data(), &params[i], 8);
  return RunWithBytes(entry, grid, block, bytes);
}

absl::StatusOr<LaunchResult> PtxRunner::RunWithBytes(const std::string& entry, Dim3 grid, Dim3 block,
                                                     const std::vector<std::vector<uint8_t>>& params) {
  const BoundFunction* kernel = program_->FindEntry(entry);
  if (kernel == nullptr) return absl::NotFoundError("no kernel '" + entry + "'");
  LaunchConfig launch = config;
  launch.grid = grid;
  launch.block = block;
  launch.params.assign(program_->param_block_bytes(*kernel), 0);
  const std::vector<uint32_t> offsets = program_->param_offsets(*kernel);
  for (size_t i = 0; i < params.size() && i < offsets.size(); ++i)
    std::copy_n(params[i].data(), std::min<size_t>(kernel->text->parameters[i].size, params[i].size()),
                launch.params.data() + offsets[i]);
  LaunchOptions with_heap = options;
  if (!options.allocate && UsesHeap(*program_)) {
    if (!heap_) {
      const uint64_t base = Allocate(kDeviceHeapBytes, "the device heap");
      if (options.global_memory != nullptr) options.global_memory->Track(base, kDeviceHeapBytes);
      heap_ = DeviceHeap(base, kDeviceHeapBytes);
    }
    with_heap.allocate = [this](uint64_t bytes) {
      const uint64_t address = heap_.Allocate(bytes);
      if (address != 0 && options.global_memory != nullptr) options.global_memory->Undefine(address, bytes);
      return address;
    };
    with_heap.release = [this](uint64_t address) { return heap_.Free(address); };
  }
  ++options.grid_id;
  return RunLaunch(*program_, *kernel, launch, &memory, with_heap);
}

}  // namespace understudy::emu::ptx
