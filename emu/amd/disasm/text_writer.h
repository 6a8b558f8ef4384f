// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of each family of encodings, and the writer that they share. Internal to emu/amd/disasm.

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "emu/amd/disasm/disasm.h"
#include "emu/amd/disasm/operand_text.h"

namespace understudy::emu::amd::disasm {

inline std::string Lower(const char* name) {
  std::string out = name;
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

// Builds "mnemonic op, op mod mod".
class Writer {
 public:
  explicit Writer(std::string mnemonic) : text_(std::move(mnemonic)) {}
  void Operand(const std::string& text) {
    absl::StrAppend(&text_, first_ ? " " : ", ", text);
    first_ = false;
  }
  void Modifier(const std::string& text) { absl::StrAppend(&text_, " ", text); }
  void Append(const std::string& text) { text_ += text; }
  void Flag(bool on, const char* name) {
    if (on) Modifier(name);
  }
  // "op_sel:[0,1]"
  void BitList(const char* name, uint32_t bits, int n) {
    absl::StrAppend(&text_, " ", name, ":[");
    for (int i = 0; i < n; ++i) absl::StrAppend(&text_, i ? "," : "", bits >> i & 1);
    text_ += "]";
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

// Sources that the text names, in order.
int NamedSources(const Inst& inst);
// The K of FMAMK and FMAAK, which is a literal by definition.
bool IsFmaConstant(const Inst& inst, int i);

std::string ScalarText(const Inst& inst, const TextOptions& options);  // SOP1 SOP2 SOPC SOPK SOPP
std::string SmemText(const Inst& inst, const TextOptions& options);
std::string VectorText(const Inst& inst, const TextOptions& options);  // VOP1 VOP2 VOPC VOP3 VOP3SD
std::string PackedText(const Inst& inst, const TextOptions& options);  // VOP3P
std::string PairText(const Inst& inst, const TextOptions& options);    // VOPD
std::string InterpText(const Inst& inst, const TextOptions& options);
std::string LdsdirText(const Inst& inst, const TextOptions& options);  // LDSDIR, VDSDIR
std::string ExpText(const Inst& inst, const TextOptions& options);     // EXP, VEXPORT
std::string DsText(const Inst& inst, const TextOptions& options);
std::string FlatText(const Inst& inst, const TextOptions& options);    // FLAT.. and VFLAT..
std::string BufferText(const Inst& inst, const TextOptions& options);  // MUBUF MTBUF VBUFFER
std::string ImageText(const Inst& inst, const TextOptions& options);   // MIMG VIMAGE VSAMPLE

// " th:TH_LOAD_NT scope:SCOPE_DEV nv": RDNA4's cache policy.
std::string CachePolicyText(const Inst& inst);

// CDNA (cdna_text.cc).
std::string CdnaMnemonic(const Inst& inst);
std::string CdnaText(const Inst& inst, const TextOptions& options);

}  // namespace understudy::emu::amd::disasm
