// SPDX-License-Identifier: Apache-2.0
// `understudy disasm`: the instructions of a code object's kernels, or of a raw file.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/file.h"
#include "src/base/hex.h"
#include "src/base/status.h"
#include "src/runtime/amd/code_object.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"

namespace understudy::cli {
namespace {

using nlohmann::json;

struct Section {
  std::string name;
  uint64_t address = 0;
  std::vector<uint8_t> code;
  int wave_size = 32;
};

absl::StatusOr<emu::amd::Isa> IsaOf(const std::string& gfx) {
  emu::amd::Isa isa;
  if (emu::amd::IsaOfTarget(gfx.c_str(), &isa)) return isa;
  std::string known;
  for (emu::amd::Isa each : emu::amd::kAllIsas)
    absl::StrAppend(&known, known.empty() ? "" : ", ", emu::amd::IsaTarget(each));
  return absl::UnimplementedError(
      absl::StrCat("ISA '", gfx, "' has no decoder yet; those of ", known, " and their kin have"));
}

bool IsElf(const std::string& file) {
  return file.size() >= 4 && file.compare(0, 4,
                                          "\x7f"
                                          "ELF") == 0;
}

absl::StatusOr<std::vector<Section>> KernelsOf(const amd::CodeObject& object) {
  const std::vector<uint8_t> image = object.Image(0);
  std::vector<Section> sections;
  for (const amd::KernelSymbol& kernel : object.kernels()) {
    const auto symbol = object.symbols().find(kernel.name);
    const uint64_t size = symbol == object.symbols().end() ? 0 : symbol->second.size;
    if (kernel.entry_address > image.size() || size > image.size() - kernel.entry_address) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel '", kernel.name, "': its code lies outside the image"));
    }
    const auto begin = image.begin() + static_cast<int64_t>(kernel.entry_address);
    sections.push_back({kernel.name,
                        kernel.entry_address,
                        {begin, begin + static_cast<int64_t>(size)},
                        kernel.descriptor.wave32() ? 32 : 64});
  }
  return sections;
}

}  // namespace

absl::StatusOr<int> RunDisasm(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.size(), " files given, expected one; see `understudy disasm --help`"));
  }
  US_ASSIGN_OR_RETURN(const std::string file, ReadFile(arguments[0]));
  std::string gfx = absl::GetFlag(FLAGS_gfx);
  std::vector<Section> sections;
  if (IsElf(file)) {
    US_ASSIGN_OR_RETURN(const amd::CodeObject object,
                        amd::CodeObject::Parse({reinterpret_cast<const uint8_t*>(file.data()), file.size()}));
    if (!gfx.empty() && gfx != object.isa()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--gfx=", gfx, ", but the code object is for ", object.isa()));
    }
    gfx = object.isa();
    US_ASSIGN_OR_RETURN(sections, KernelsOf(object));
  } else {
    if (gfx.empty()) gfx = "gfx1100";
    sections.push_back({"", 0, {file.begin(), file.end()}});
  }
  US_ASSIGN_OR_RETURN(const emu::amd::Isa isa, IsaOf(gfx));
  if (emu::amd::IsCdna(isa)) {
    for (Section& s : sections) s.wave_size = 64;
  }

  json rows = json::array();
  for (const Section& s : sections) {
    const emu::amd::TextOptions options{s.wave_size};
    if (!absl::GetFlag(FLAGS_json)) {
      if (!s.name.empty()) std::printf("%s:\n", s.name.c_str());
      std::printf("%s",
                  emu::amd::DisassembleToText(isa, s.code.data(), s.code.size(), s.address, options).c_str());
      continue;
    }
    for (const emu::amd::Line& line : emu::amd::Disassemble(isa, s.code.data(), s.code.size(), options)) {
      rows.push_back({{"kernel", s.name},
                      {"offset", s.address + line.offset},
                      {"bytes", BytesToHex(s.code.data() + line.offset, line.size)},
                      {"valid", line.valid},
                      {"text", line.text}});
      if (line.branch) rows.back()["target"] = static_cast<int64_t>(s.address) + line.target;
    }
  }
  if (absl::GetFlag(FLAGS_json))
    std::printf("%s\n", json{{"gfx", gfx}, {"instructions", rows}}.dump(2).c_str());
  return 0;
}

}  // namespace understudy::cli
