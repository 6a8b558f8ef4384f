// SPDX-License-Identifier: Apache-2.0
// Kernels around matrix instructions.
#include <algorithm>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/ptx/conform/kernel_text.h"
#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx::conform {
namespace {

// Registers %at and %to: the addresses of this thread's first word of its block's part of `in` and of `out`,
// %base of the block's part of `in`.
std::string Head(const char* entry, size_t in_bytes, size_t out_bytes, int word_bytes,
                 const std::string& declarations) {
  return absl::StrFormat(
      ".version 8.7\n.target sm_90a\n.address_size 64\n%s.visible .entry %s(.param .u64 in, .param .u64 "
      "out)\n{\n"
      ".reg .b64 %%at, %%to, %%base, %%i;\n.reg .b32 %%t, %%ct;\n%s"
      "ld.param.u64 %%base, [in];\nld.param.u64 %%to, [out];\nmov.u32 %%t, %%tid.x;\nmov.u32 %%ct, "
      "%%ctaid.x;\n"
      "mul.wide.u32 %%i, %%ct, %d;\nadd.u64 %%base, %%base, %%i;\nmul.wide.u32 %%i, %%ct, %d;\n"
      "add.u64 %%to, %%to, %%i;\nmul.wide.u32 %%i, %%t, %d;\nadd.u64 %%at, %%base, %%i;\nadd.u64 %%to, %%to, "
      "%%i;\n",
      entry == std::string("warpgroup") ? ".extern .shared .align 1024 .b8 operands[];\n" : "", entry,
      declarations, in_bytes, out_bytes, word_bytes);
}

// Types of the operands of a matrix instruction, in the order d, a, b, c: the last four that its name holds.
std::vector<Type> MatrixTypes(const std::string& op) {
  std::vector<Type> types;
  std::istringstream parts(op);
  for (std::string part; std::getline(parts, part, '.');) {
    Type type;
    if (FindType(part, &type)) types.push_back(type);
  }
  // wmma.mma of f16 names d and c alone.
  if (types.size() == 2) return {types[0], Type::kB32, Type::kB32, types[1]};
  while (types.size() < 4) types.insert(types.begin(), Type::kB32);
  return {types.end() - 4, types.end()};
}

std::string VectorOperand(char name, size_t registers) {
  std::string text = "{";
  for (size_t i = 0; i < registers; ++i)
    absl::StrAppendFormat(&text, "%s%%%c%d", i == 0 ? "" : ", ", name, i);
  return text + "}";
}

}  // namespace

std::string FragmentKernel(const std::string& op, const size_t registers[4], bool sparse, int selector) {
  const std::vector<Type> types = MatrixTypes(op);
  const char names[] = {'d', 'a', 'b', 'c'};
  std::string declarations, loads, stores, operands;
  size_t word = 0;
  for (int i = 0; i < 4; ++i) {
    const bool is_64 = types[i] == Type::kF64;
    const char* const type = is_64 ? "f64" : types[i] == Type::kF32 ? "f32" : "b32";
    if (registers[i] != 0)
      absl::StrAppendFormat(&declarations, ".reg .%s %%%c<%d>;\n", type, names[i], registers[i]);
    absl::StrAppend(&operands, i == 0 ? " " : ", ", VectorOperand(names[i], registers[i]));
    // A word is as wide as the register or has it in its low half.
    for (size_t r = 0; r < registers[i]; ++r)
      if (i == 0)
        absl::StrAppendFormat(&stores, "st.global.%s [%%to+%d], %%d%d;\n", type, r * 256, r);
      else
        absl::StrAppendFormat(&loads, "ld.global.%s %%%c%d, [%%at+%d];\n", type, names[i], r, word++ * 256);
  }
  if (sparse) {
    absl::StrAppend(&declarations, ".reg .b32 %e0;\n");
    absl::StrAppendFormat(&loads, "ld.global.b32 %%e0, [%%at+%d];\n", word * 256);
    absl::StrAppend(&operands, ", %e0, ", selector);
  }
  const size_t in_bytes = (word + sparse) * 256, out_bytes = registers[0] * 256;
  return absl::StrCat(Head("fragment", in_bytes, out_bytes, 8, declarations), loads, op, operands, ";\n",
                      stores, "ret;\n}\n");
}

std::string WarpgroupKernel(const WarpgroupText& text) {
  const char* const d_type = text.d_type == "f32" ? "f32" : "b32";
  const std::string declarations = absl::StrFormat(
      ".reg .%s %%d<%d>;\n.reg .b32 %%a<%d>;\n.reg .b32 %%e0, %%s, %%sa, %%v, %%n;\n.reg .b64 %%da, %%db, "
      "%%from;\n"
      ".reg .pred %%p, %%more;\n",
      d_type, text.d_registers, std::max(text.a_registers, 1));
  // The operands, a word a thread and turn.
  std::string code = absl::StrFormat(
      "mov.u32 %%s, operands;\nshl.b32 %%sa, %%t, 2;\nadd.u32 %%sa, %%sa, %%s;\nmov.b64 %%from, %%at;\n"
      "mov.u32 %%n, 0;\nCOPY:\nld.global.b32 %%v, [%%from];\nst.shared.b32 [%%sa], %%v;\n"
      "add.u64 %%from, %%from, 512;\nadd.u32 %%sa, %%sa, 512;\nadd.u32 %%n, %%n, 512;\n"
      "setp.lt.u32 %%more, %%n, %d;\n@%%more bra COPY;\nfence.proxy.async;\nbar.sync 0;\n",
      2 * text.operand_bytes);
  size_t offset = 2 * text.operand_bytes;
  const auto load = [&](const char* type, char name, int count) {
    for (int i = 0; i < count; ++i, offset += 512)
      absl::StrAppendFormat(&code, "ld.global.%s %%%c%d, [%%at+%d];\n", type, name, i, offset);
  };
  load("b32", 'a', text.a_registers);
  load(d_type, 'd', text.d_registers);
  load("b32", 'e', text.sparse);
  const auto descriptor = [&](const char* name, size_t at, uint64_t fields) {
    absl::StrAppendFormat(&code,
                          "add.u32 %%v, %%s, %d;\nshr.u32 %%v, %%v, 4;\nand.b32 %%v, %%v, 16383;\n"
                          "cvt.u64.u32 %%%s, %%v;\nor.b64 %%%s, %%%s, 0x%x;\n",
                          at, name, name, name, fields);
  };
  descriptor("da", 16 * static_cast<size_t>(text.start_a), text.descriptor_a);
  descriptor("db", text.operand_bytes + 16 * static_cast<size_t>(text.start_b), text.descriptor_b);
  absl::StrAppend(&code, "setp.ne.u32 %p, ", text.accumulate ? 1 : 0, ", 0;\nwgmma.fence.sync.aligned;\n",
                  text.op, " ", VectorOperand('d', static_cast<size_t>(text.d_registers)), ", ",
                  text.a_registers != 0 ? VectorOperand('a', static_cast<size_t>(text.a_registers)) : "%da",
                  ", %db");
  if (text.sparse) absl::StrAppend(&code, ", %e0, ", text.selector);
  absl::StrAppend(&code, ", %p");
  if (text.d_type == "f16" || text.d_type == "f32") {
    absl::StrAppend(&code, ", ", text.scale_a, ", ", text.scale_b);
    if (text.a_type == "f16" || text.a_type == "bf16")
      absl::StrAppend(&code, text.a_registers != 0 ? "" : absl::StrCat(", ", text.transpose_a ? 1 : 0), ", ",
                      text.transpose_b ? 1 : 0);
  }
  absl::StrAppend(&code, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
  for (int i = 0; i < text.d_registers; ++i)
    absl::StrAppendFormat(&code, "st.global.%s [%%to+%d], %%d%d;\n", d_type, i * 512, i);
  return absl::StrCat(Head("warpgroup", offset, static_cast<size_t>(text.d_registers) * 512, 4, declarations),
                      code, "ret;\n}\n");
}

std::string WmmaLoadKernel(const std::string& op, const char* type, int registers, size_t matrix_bytes,
                           int stride) {
  const int bytes = std::string(type) == "f64" ? 8 : 4;
  std::string text =
      absl::StrCat(Head("load", matrix_bytes, static_cast<size_t>(registers * 32 * bytes), bytes,
                        absl::StrFormat(".reg .%s %%d<%d>;\n", type, registers)),
                   op, " ", VectorOperand('d', static_cast<size_t>(registers)), ", [%base], ", stride, ";\n");
  for (int i = 0; i < registers; ++i)
    absl::StrAppendFormat(&text, "st.global.%s [%%to+%d], %%d%d;\n", type, i * 32 * bytes, i);
  return text + "ret;\n}\n";
}

}  // namespace understudy::emu::ptx::conform
