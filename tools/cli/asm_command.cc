// SPDX-License-Identifier: Apache-2.0
// `understudy asm`: machine code from assembly text.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "emu/amd/asm/assembler.h"
#include "src/base/file.h"
#include "src/base/hex.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"

ABSL_FLAG(std::string, output, "", "where the machine code goes");
ABSL_FLAG(int, wave_size, 0, "lanes of a wave: 32 or 64");

namespace understudy::cli {
namespace {

using nlohmann::json;

absl::StatusOr<std::string> ReadSource(const std::string& path) {
  if (path != "-") return ReadFile(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace

absl::StatusOr<int> RunAsm(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.size(), " files given, expected one; see `understudy asm --help`"));
  }
  std::string gfx = absl::GetFlag(FLAGS_gfx);
  if (gfx.empty()) gfx = "gfx1100";
  emu::amd::Isa isa;
  if (!emu::amd::IsaOfTarget(gfx.c_str(), &isa)) {
    return absl::InvalidArgumentError(absl::StrCat("--gfx=", gfx, ": no assembler for this ISA"));
  }
  const int wave_size = absl::GetFlag(FLAGS_wave_size);
  if (wave_size != 0 && wave_size != 32 && wave_size != 64) {
    return absl::InvalidArgumentError(absl::StrCat("--wave_size=", wave_size, ", expected 32 or 64"));
  }
  US_ASSIGN_OR_RETURN(const std::string text, ReadSource(arguments[0]));
  std::vector<emu::amd::AsmError> errors;
  const emu::amd::AsmOptions options{wave_size == 0 ? 32 : wave_size};
  const auto assembly = emu::amd::AssembleText(isa, text, options, &errors);
  const std::vector<std::string> source = Lines(text);
  const bool as_json = absl::GetFlag(FLAGS_json);
  if (!assembly.ok()) {
    json rows = json::array();
    for (const emu::amd::AsmError& e : errors) {
      if (as_json) {
        rows.push_back({{"line", e.line}, {"column", e.column}, {"message", e.message}});
        continue;
      }
      const std::string& line = source[static_cast<size_t>(e.line - 1)];
      std::fprintf(stderr, "%s:%d:%d: %s\n  %s\n  %*s\n", arguments[0].c_str(), e.line, e.column,
                   e.message.c_str(), line.c_str(), e.column, "^");
    }
    if (as_json) std::printf("%s\n", json{{"gfx", gfx}, {"errors", rows}}.dump(2).c_str());
    return 1;
  }
  const std::string output = absl::GetFlag(FLAGS_output);
  if (!output.empty()) {
    std::ofstream file(output, std::ios::binary);
    file.write(reinterpret_cast<const char*>(assembly->code.data()),
               static_cast<std::streamsize>(assembly->code.size()));
    if (!file.flush()) return absl::InvalidArgumentError(absl::StrCat(output, ": cannot be written"));
  }
  json rows = json::array();
  for (const auto& l : assembly->lines) {
    const std::string bytes = BytesToHex(assembly->code.data() + l.offset, l.size);
    if (as_json) {
      rows.push_back({{"offset", l.offset}, {"line", l.line}, {"bytes", bytes}});
    } else if (output.empty()) {
      std::printf("%06llx: %-40s %s\n", static_cast<unsigned long long>(l.offset), bytes.c_str(),
                  source[static_cast<size_t>(l.line - 1)].c_str());
    }
  }
  if (as_json) {
    std::printf(
        "%s\n",
        json{{"gfx", gfx}, {"bytes", assembly->code.size()}, {"labels", assembly->labels}, {"lines", rows}}
            .dump(2)
            .c_str());
  }
  return 0;
}

}  // namespace understudy::cli
