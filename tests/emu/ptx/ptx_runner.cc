// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/ptx_runner.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/ptx/parse/parse.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {

PtxRunner::PtxRunner(const std::string& ptx) {
  options.print = [this](const std::string& text) { printed += text; };
  status_ = Load(ptx);
}

absl::Status PtxRunner::Load(const std::string& ptx) {
  US_ASSIGN_OR_RETURN(std::shared_ptr<const Module> module, ParseModule(ptx));
  SymbolAddresses addresses;
  const auto place = [&](const std::string& name, const Variable& variable) {
    if (variable.space != Space::kGlobal && variable.space != Space::kConst) return;
    addresses[name] = variable.init.empty() ? Allocate(std::max<uint64_t>(variable.size, 1), name)
                                            : Upload(variable.init.data(), variable.init.size(), name);
  };
  for (const Variable& variable : module->variables) place(variable.name, variable);
  for (const Function& function : module->functions)
    for (const Variable& variable : function.variables) place(function.name + "." + variable.name, variable);
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
  const BoundFunction* kernel = program_->FindEntry(entry);
  if (kernel == nullptr) return absl::NotFoundError("no kernel '" + entry + "'");
  LaunchConfig launch = config;
  launch.grid = grid;
  launch.block = block;
  launch.params.assign(program_->param_block_bytes(*kernel), 0);
  const std::vector<uint32_t> offsets = program_->param_offsets(*kernel);
  for (size_t i = 0; i < params.size() && i < offsets.size(); ++i)
    std::memcpy(launch.params.data() + offsets[i], &params[i],
                std::min<uint64_t>(kernel->text->parameters[i].size, 8));
  return RunLaunch(*program_, *kernel, launch, &memory, options);
}

absl::StatusOr<std::vector<uint64_t>> RunForm(const std::string& op, char d, const std::string& s,
                                              const std::vector<std::vector<uint64_t>>& inputs) {
  const auto bits = [](char kind) { return kind == 'h' ? 16 : kind == 'l' ? 64 : 32; };
  std::string code = op, loads, moves;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = code.find(from, at)) != std::string::npos; at += to.size())
      code.replace(at, from.size(), to);
  };
  const char* const names[] = {"%a", "%b", "%c", "%e"};
  std::string declarations = ".reg .pred %pd, %p0, %p1, %p2, %p3;\n";
  replace("%d", d == 'p' ? "%pd" : "%rd_");
  if (d != 'p') declarations += absl::StrFormat(".reg .b%d %%rd_;\n", bits(d));
  const size_t count = inputs.empty() ? 32 : inputs[0].size();
  std::vector<uint64_t> flat;
  for (size_t i = 0; i < s.size(); ++i) {
    flat.insert(flat.end(), inputs[i].begin(), inputs[i].end());
    const std::string reg = s[i] == 'p' ? absl::StrFormat("%%p%d", i) : absl::StrFormat("%%in%d", i);
    replace(names[i], reg);
    loads += absl::StrFormat("ld.global.u64 %%w, [%%at+%d];\n", i * count * 8);
    if (s[i] == 'p') {
      loads += absl::StrFormat("setp.ne.u64 %s, %%w, 0;\n", reg);
    } else {
      declarations += absl::StrFormat(".reg .b%d %s;\n", bits(s[i]), reg);
      if (bits(s[i]) == 64)
        loads += absl::StrFormat("mov.b64 %s, %%w;\n", reg);
      else
        loads += absl::StrFormat("cvt.u%d.u64 %s, %%w;\n", bits(s[i]), reg);
    }
  }
  std::string result;
  if (d == 'p')
    result = "selp.u64 %w, 1, 0, %pd;\n";
  else if (bits(d) == 64)
    result = "mov.b64 %w, %rd_;\n";
  else
    result = absl::StrFormat("cvt.u64.u%d %%w, %%rd_;\n", bits(d));
  const std::string ptx =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry form(.param .u64 in, .param .u64 "
      "out)\n{\n"
      ".reg .b64 %at, %to, %w, %i;\n.reg .b32 %t, %ct, %nt;\n" +
      declarations +
      "ld.param.u64 %at, [in];\nld.param.u64 %to, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %ct, %ctaid.x;\n"
      "mov.u32 %nt, %ntid.x;\nmad.lo.u32 %t, %ct, %nt, %t;\nmul.wide.u32 %i, %t, 8;\nadd.u64 %at, %at, %i;\n"
      "add.u64 %to, %to, %i;\n" +
      loads + code + "\n" + result + "st.global.u64 [%to], %w;\nret;\n}\n";
  PtxRunner runner(ptx);
  if (!runner.status().ok()) return runner.status();
  const uint64_t in = runner.Upload(flat.data(), flat.size() * 8, "in");
  const uint64_t out = runner.Allocate(count * 8, "out");
  US_ASSIGN_OR_RETURN(LaunchResult launch, runner.Run("form", Dim3{static_cast<uint32_t>((count + 31) / 32)},
                                                      Dim3{32}, {in, out}));
  if (!launch.ok()) return absl::UnimplementedError(launch.fault.message);
  return runner.Values<uint64_t>(out, count);
}

}  // namespace understudy::emu::ptx
