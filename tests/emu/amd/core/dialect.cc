// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/core/dialect.h"

#include <map>

namespace understudy::emu::amd {
namespace {

const std::map<std::string, std::string>& CdnaNames() {
  static const auto* names = new std::map<std::string, std::string>{
      {"s_load_b32", "s_load_dword"},
      {"s_load_b64", "s_load_dwordx2"},
      {"s_load_b128", "s_load_dwordx4"},
      {"s_load_b256", "s_load_dwordx8"},
      {"s_load_b512", "s_load_dwordx16"},
      {"s_buffer_load_b128", "s_buffer_load_dwordx4"},
      {"global_load_b32", "global_load_dword"},
      {"global_load_b64", "global_load_dwordx2"},
      {"global_load_b128", "global_load_dwordx4"},
      {"global_store_b32", "global_store_dword"},
      {"global_store_b64", "global_store_dwordx2"},
      {"global_store_b128", "global_store_dwordx4"},
      {"global_atomic_add_u32", "global_atomic_add"},
      {"scratch_store_b32", "scratch_store_dword"},
      {"scratch_load_b32", "scratch_load_dword"},
      {"ds_store_b32", "ds_write_b32"},
      {"ds_load_b32", "ds_read_b32"},
      {"v_add_nc_u32", "v_add_u32"},
      {"v_sub_nc_u32", "v_sub_u32"},
      {"s_and_not1_b32", "s_andn2_b32"},
      {"s_and_not1_b64", "s_andn2_b64"},
      {"s_or_not1_b32", "s_orn2_b32"},
      {"s_or_not1_b64", "s_orn2_b64"},
      {"s_ctz_i32_b32", "s_ff1_i32_b32"},
      {"s_ctz_i32_b64", "s_ff1_i32_b64"},
      {"s_clz_i32_u32", "s_flbit_i32_b32"},
      {"s_clz_i32_u64", "s_flbit_i32_b64"},
      {"s_cls_i32", "s_flbit_i32"},
      {"s_cls_i32_i64", "s_flbit_i32_i64"},
      {"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
      {"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
      {"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
      {"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
      {"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
      {"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
  };
  return *names;
}

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

}  // namespace

std::string Respell(Isa isa, int wave_size, int user_sgprs, const std::string& text) {
  const auto sgpr = [&](int i) { return "s" + std::to_string(user_sgprs + i); };
  std::string prologue;
  std::map<std::string, std::string> names;
  if (IsCdna(isa)) names = CdnaNames();
  for (int i = 0; i < 3; ++i) names[std::string("$wg") + "xyz"[i]] = sgpr(i);
  names["$exec"] = wave_size == 64 ? "exec" : "exec_lo";
  names["$vcc"] = wave_size == 64 ? "vcc" : "vcc_lo";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!IsWord(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsWord(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    const auto found = names.find(word);
    out += found == names.end() ? word : found->second;
    i = end;
  }
  if (isa == Isa::kRdna4) {
    ReplaceAll(&out, "s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0\ns_wait_dscnt 0");
    ReplaceAll(&out, "s_waitcnt vmcnt(0)", "s_wait_loadcnt 0");
    ReplaceAll(&out, "s_waitcnt_vscnt null, 0", "s_wait_storecnt 0");
    ReplaceAll(&out, "s_barrier\n", "s_barrier_signal -1\ns_barrier_wait -1\n");
    prologue = "s_mov_b32 " + sgpr(0) + ", ttmp9\ns_and_b32 " + sgpr(1) + ", ttmp7, 0xffff\ns_lshr_b32 " +
               sgpr(2) + ", ttmp7, 16\n";
    if (text.find("$wg") == std::string::npos) prologue.clear();
  } else if (IsCdna(isa)) {
    ReplaceAll(&out, "s_waitcnt_vscnt null, 0", "s_waitcnt vmcnt(0)");
  }
  return prologue + out;
}

}  // namespace understudy::emu::amd
