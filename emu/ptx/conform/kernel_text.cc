// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/kernel_text.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::emu::ptx::conform {
namespace {

// Registers %at and %to: the addresses of this thread's first word of `in` and of `out`.
std::string Head(const char* entry, const std::string& declarations, bool memory = false) {
  return absl::StrCat(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry ", entry,
      "(.param .u64 in, .param .u64 out", memory ? ", .param .u64 mem" : "",
      ")\n{\n.reg .b64 %at, %to, %w, %i;\n.reg .b32 %t, %ct, %nt;\n", declarations,
      "ld.param.u64 %at, [in];\nld.param.u64 %to, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %ct, %ctaid.x;\n"
      "mov.u32 %nt, %ntid.x;\nmad.lo.u32 %t, %ct, %nt, %t;\nmul.wide.u32 %i, %t, 8;\nadd.u64 %at, %at, %i;\n"
      "add.u64 %to, %to, %i;\n",
      memory ? absl::StrFormat(".reg .b64 %%m;\nld.param.u64 %%m, [mem];\nmul.wide.u32 %%i, %%t, %d;\n"
                               "add.u64 %%m, %%m, %%i;\n",
                               kThreadMemoryBytes)
             : "");
}

// Whole words only: %c is not the start of %ctaid.
size_t FindWord(const std::string& text, const char* word, size_t from) {
  for (size_t at = from; (at = text.find(word, at)) != std::string::npos; ++at) {
    const size_t end = at + std::strlen(word);
    if (end == text.size() || (!absl::ascii_isalnum(text[end]) && text[end] != '_')) return at;
  }
  return std::string::npos;
}

}  // namespace

int RegisterBits(char kind) { return kind == 'h' ? 16 : kind == 'l' ? 64 : 32; }

bool UsesThreadMemory(const std::string& op) { return FindWord(op, "%m", 0) != std::string::npos; }

std::string FormKernel(const std::string& op, char d, const std::string& s, size_t count, int* first,
                       int* last) {
  std::string code = op, loads;
  const auto replace = [&](const char* from, const std::string& to) {
    for (size_t at = 0; (at = FindWord(code, from, at)) != std::string::npos; at += to.size())
      code.replace(at, std::strlen(from), to);
  };
  const char* const names[] = {"%a", "%b", "%c", "%e"};
  std::string declarations = ".reg .pred %pd, %p0, %p1, %p2, %p3;\n";
  replace("%d", d == 'p' ? "%pd" : "%rd_");
  if (d != 'p') absl::StrAppendFormat(&declarations, ".reg .b%d %%rd_;\n", RegisterBits(d));
  for (size_t i = 0; i < s.size() && i < 4; ++i) {
    const std::string reg = s[i] == 'p' ? absl::StrFormat("%%p%d", i) : absl::StrFormat("%%in%d", i);
    replace(names[i], reg);
    absl::StrAppendFormat(&loads, "ld.global.u64 %%w, [%%at+%d];\n", i * count * 8);
    if (s[i] == 'p') {
      absl::StrAppendFormat(&loads, "setp.ne.u64 %s, %%w, 0;\n", reg);
      continue;
    }
    absl::StrAppendFormat(&declarations, ".reg .b%d %s;\n", RegisterBits(s[i]), reg);
    if (RegisterBits(s[i]) == 64)
      absl::StrAppendFormat(&loads, "mov.b64 %s, %%w;\n", reg);
    else
      absl::StrAppendFormat(&loads, "cvt.u%d.u64 %s, %%w;\n", RegisterBits(s[i]), reg);
  }
  const std::string result = d == 'p' ? "selp.u64 %w, 1, 0, %pd;\n"
                             : RegisterBits(d) == 64
                                 ? "mov.b64 %w, %rd_;\n"
                                 : absl::StrFormat("cvt.u64.u%d %%w, %%rd_;\n", RegisterBits(d));
  const std::string before = Head("form", declarations, UsesThreadMemory(op)) + loads;
  const auto lines = [](const std::string& text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  };
  if (first != nullptr) *first = lines(before) + 1;
  if (last != nullptr) *last = lines(before) + lines(code) + 1;
  return absl::StrCat(before, code, "\n", result, "st.global.u64 [%to], %w;\nret;\n}\n");
}

}  // namespace understudy::emu::ptx::conform
