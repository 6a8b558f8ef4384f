// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/exact_memory/exact_machine.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "absl/strings/str_format.h"
#include "emu/amd/asm/assembler.h"
#include "emu/amd/semantics/memory_state.h"
#include "tests/emu/amd/asm/assembler.h"

namespace understudy::emu::amd {
namespace {

template <class T>
std::string FirstDifference(const char* what, const std::vector<T>& want, const std::vector<T>& got) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] != got[i])
      return absl::StrFormat("%s %d: 0x%x, expected 0x%x", what, i, uint64_t{got[i]}, uint64_t{want[i]});
  }
  return "";
}

// The bytes of one instruction, kept: rounds with other values use the same text.
std::vector<uint8_t> Encoded(Isa isa, int wave_size, const std::string& text, std::string* error) {
  static auto* const known = new std::map<std::string, std::vector<uint8_t>>;
  std::vector<uint8_t>& bytes =
      (*known)[absl::StrFormat("%s %d %s", IsaTarget(isa), wave_size, text.c_str())];
  if (!bytes.empty()) return bytes;
  const auto by_llvm =
      Assemble(IsaTarget(isa), text, IsRdna(isa) && wave_size == 64 ? "+wavefrontsize64" : "");
  if (by_llvm.ok() && !by_llvm->empty()) return bytes = *by_llvm;
  AsmOptions options;
  options.wave_size = wave_size;
  const auto ours = AssembleInstruction(isa, text, options);
  if (ours.ok()) return bytes = *ours;
  *error = std::string(by_llvm.status().message()) + "; " + std::string(ours.status().message());
  return {};
}

}  // namespace

std::string WaveImage::Difference(const WaveImage& got) const {
  for (size_t i = 0; i < vgpr.size(); ++i) {
    if (vgpr[i] != got.vgpr[i])
      return absl::StrFormat("v%d of lane %d: 0x%x, expected 0x%x", i / static_cast<size_t>(lanes),
                             i % static_cast<size_t>(lanes), got.vgpr[i], vgpr[i]);
  }
  for (const std::string& difference :
       {FirstDifference("scalar register", sgpr, got.sgpr),
        FirstDifference("buffer byte", buffer, got.buffer), FirstDifference("LDS byte", lds, got.lds),
        FirstDifference("private byte", scratch, got.scratch)}) {
    if (!difference.empty()) return difference;
  }
  return scc != got.scc ? "SCC" : mode != got.mode ? "MODE" : "";
}

uint64_t Get(const std::vector<uint8_t>& bytes, size_t at, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= uint64_t{bytes.at(at + static_cast<size_t>(i))} << (8 * i);
  return value;
}
void Put(std::vector<uint8_t>* bytes, size_t at, int size, uint64_t value) {
  for (int i = 0; i < size; ++i)
    bytes->at(at + static_cast<size_t>(i)) = static_cast<uint8_t>(value >> (8 * i));
}

ExactMachine::ExactMachine(Isa isa, int wave_size)
    : MemoryMachine(isa, wave_size, kBufferBytes, kLdsBytes, kScratchBytes) {}

uint32_t ExactMachine::Random() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<uint32_t>(state_ >> 16);
}

void ExactMachine::Randomize(uint32_t seed) {
  state_ = 0x9e3779b97f4a7c15u * (seed + 1);
  for (int i = 0; i < 102; ++i) wave.sgpr[i] = Random();
  for (int reg = 0; reg < 64; ++reg) {
    for (int lane = 0; lane < wave.wave_size; ++lane) Vgpr(reg, lane) = Random();
  }
  for (auto* bytes : {&buffer, &lds, &scratch}) {
    for (size_t i = 0; i + 4 <= bytes->size(); i += 4) Put(bytes, i, 4, Random());
  }
  Set64(4, kBufferVa);
  Set64(8, kBufferVa);
  wave.sgpr[10] = kBufferBytes;
  wave.sgpr[11] = IsCdna(wave.isa) ? 0x27000 : 0x30014000;
  if (wave.isa == Isa::kCdna2) Set64(kFlatScratchLo, kScratchVa);
  wave.sgpr[kM0] = 0;
  wave.set_exec(seed % 2 == 0 ? ~uint64_t{0} : uint64_t{Random()} << 32 | Random());
}

void ExactMachine::SetV(int reg, int lane, int bytes, uint64_t value) {
  Vgpr(reg, lane) = static_cast<uint32_t>(value);
  if (bytes == 8) Vgpr(reg + 1, lane) = static_cast<uint32_t>(value >> 32);
}

WaveImage ExactMachine::Save() const {
  WaveImage image;
  image.sgpr.assign(wave.sgpr, wave.sgpr + 128);
  image.vgpr.assign(wave.vgpr, wave.vgpr + kComparedVgprs * wave.wave_size);
  image.buffer = buffer;
  image.lds = lds;
  image.scratch = scratch;
  image.scc = wave.scc;
  image.mode = wave.mode;
  image.lanes = wave.wave_size;
  return image;
}

bool ExactMachine::Assembled(Opcode op, const std::string& text, Inst* inst) {
  std::string error;
  const std::vector<uint8_t> bytes = Encoded(wave.isa, wave.wave_size, text, &error);
  if (bytes.empty()) {
    ADD_FAILURE() << text << ": " << error;
    return false;
  }
  auto decoded = Decode(wave.isa, bytes.data(), bytes.size());
  if (!decoded.ok() || decoded->op != op) {
    ADD_FAILURE() << text << ": "
                  << (decoded.ok() ? OpcodeName(decoded->op) : decoded.status().ToString().c_str());
    return false;
  }
  *inst = *decoded;
  const absl::Status fits = ResolveWaveSize(wave.wave_size, inst);
  EXPECT_TRUE(fits.ok()) << text << ": " << fits.ToString();
  return fits.ok();
}

void ExactMachine::Expect(Opcode op, const std::string& text, const WaveImage& want) {
  Inst inst;
  if (!Assembled(op, text, &inst)) return;
  Run(inst);
  EXPECT_EQ(want.Difference(Save()), "") << IsaTarget(wave.isa) << " wave" << wave.wave_size << ": " << text;
}

std::string Registers(char file, int first, int count) {
  if (count == 1) return absl::StrFormat("%c%d", file, first);
  return absl::StrFormat("%c[%d:%d]", file, first, first + count - 1);
}

std::string LowerName(Opcode op) {
  std::string name = OpcodeName(op);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}
bool StartsWith(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }
bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<const decode::Row*> MemoryRows(Isa isa) {
  std::vector<const decode::Row*> rows;
  for (const decode::Row& row : decode::TableOf(isa).rows()) {
    if (row.rdna35 && isa == Isa::kRdna3) continue;
    if (!IsMemoryEncoding(row.enc)) continue;
    if (StateOf(isa, row.enc, row.op).state == SemanticState::kRefused) continue;
    rows.push_back(&row);
  }
  return rows;
}

const char* ReturnFlag(Isa isa) {
  return isa == Isa::kRdna4 ? " th:TH_ATOMIC_RETURN" : isa >= Isa::kCdna3 ? " sc0" : " glc";
}
const char* NoOffset(Isa isa) { return isa == Isa::kRdna4 ? "null" : "0"; }

std::vector<Generation> AllGenerations() {
  std::vector<Generation> all;
  for (const Isa isa : kAllIsas) {
    if (IsRdna(isa)) all.push_back({isa, 32});
    all.push_back({isa, 64});
  }
  return all;
}
std::string GenerationName(const testing::TestParamInfo<Generation>& info) {
  return absl::StrFormat("%s_wave%d", IsaTarget(info.param.isa), info.param.lanes);
}

}  // namespace understudy::emu::amd
