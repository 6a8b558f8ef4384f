// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/conform/conform.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/disasm/disasm.h"
#include "emu/memory/address_space.h"
#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/hex.h"
#include "src/base/status.h"

namespace understudy::emu::amd::conform {
namespace {

constexpr int kVgprs = 16, kSgprs = 16;
constexpr uint64_t kProgramVa = 0x100000, kKernargVa = 0x200000, kOutVa = 0x300000, kScratchVa = 0x10000000;
constexpr uint32_t kScratchBytesPerLane = 64 << 10;
constexpr uint32_t kLdsBytes = 64 << 10;
constexpr uint64_t kInstructionBudget = 1 << 20;

// A rounding that the recording leaves open where an instruction computes a transcendental function.
struct Tolerance {
  bool f32 = false, f16 = false, f64 = false;
};

bool IsTranscendental(const char* name) {
  for (const char* prefix :
       {"V_RCP_", "V_RSQ_", "V_SQRT_", "V_EXP_", "V_LOG_", "V_SIN_", "V_COS_", "V_RCP_IFLAG_"}) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  }
  return false;
}

std::vector<std::string> Disassemble(Isa isa, const std::vector<uint8_t>& code, Tolerance* tolerance) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < code.size();) {
    Inst inst;
    if (!DecodeInto(isa, code.data() + at, code.size() - at, &inst).ok()) {
      lines.push_back(absl::StrFormat("+0x%x: does not decode", at));
      break;
    }
    lines.push_back(Text(inst));
    const std::string name = OpcodeName(inst.op);
    if (tolerance != nullptr && IsTranscendental(name.c_str())) {
      tolerance->f32 |= absl::EndsWith(name.c_str(), "F32");
      tolerance->f16 |= absl::EndsWith(name.c_str(), "F16");
      tolerance->f64 |= absl::EndsWith(name.c_str(), "F64");
    }
    at += inst.size;
  }
  return lines;
}

// Neighbours on the number line of sign-magnitude patterns of `width` bits.
bool Adjacent(uint64_t a, uint64_t b, int width) {
  const auto ordered = [width](uint64_t v) {
    const int64_t magnitude = static_cast<int64_t>(v & LowMask(width - 1));
    return (v >> (width - 1) & 1) != 0 ? -magnitude : magnitude;
  };
  const int64_t distance = ordered(a) - ordered(b);
  return distance >= -1 && distance <= 1;
}

bool WithinBound(const Tolerance& tolerance, const Vector& vector, const std::vector<uint32_t>& got,
                 size_t word) {
  const uint32_t want = vector.expected[word];
  if (tolerance.f32 && Adjacent(want, got[word], 32)) return true;
  if (tolerance.f16 && Adjacent(want & 0xffff, got[word] & 0xffff, 16) &&
      Adjacent(want >> 16, got[word] >> 16, 16)) {
    return true;
  }
  if (!tolerance.f64 || !vector.is_state) return false;
  // The word may be either half of a register pair.
  const size_t lanes = vector.lanes;
  const auto pair_adjacent = [&](size_t low) {
    const size_t high = low + lanes;
    if (high >= kVgprs * lanes) return false;
    return Adjacent(vector.expected[low] | uint64_t{vector.expected[high]} << 32,
                    got[low] | uint64_t{got[high]} << 32, 64);
  };
  return pair_adjacent(word) || (word >= lanes && pair_adjacent(word - lanes));
}

std::string Place(const Vector& vector, size_t word) {
  if (!vector.is_state) return absl::StrFormat("word %d", word);
  const size_t lanes = vector.lanes;
  if (word < kVgprs * lanes) return absl::StrFormat("v%d lane %d", word / lanes, word % lanes);
  word -= kVgprs * lanes;
  if (word < kSgprs) return absl::StrFormat("s%d", word);
  constexpr const char* kRest[] = {"vcc", "scc", "exec"};
  return kRest[word - kSgprs];
}

const char* Exception([[maybe_unused]] const Vector& vector) {
#define CONFORM_TARGET(line_number, name, target, why)
#define CONFORM_PATCH(line_number, name, byte, word, why)
#define CONFORM_EXCEPTION(line_number, name, why) \
  if (vector.line == line_number && vector.id == name) return why;
#include "emu/amd/conform/exceptions.inc"
  return nullptr;
}

// The processor that a vector is for: its own, unless it was recorded for one that lacks the instruction.
const char* Target(const Vector& vector) {
#define CONFORM_EXCEPTION(line_number, name, why)
#define CONFORM_PATCH(line_number, name, byte, word, why)
#define CONFORM_TARGET(line_number, name, target, why) \
  if (vector.line == line_number && vector.id == name) return target;
#include "emu/amd/conform/exceptions.inc"
  return vector.gfx.c_str();
}

void Mend(const Vector& vector, std::vector<uint8_t>* program) {
#define CONFORM_EXCEPTION(line_number, name, why)
#define CONFORM_TARGET(line_number, name, target, why)
#define CONFORM_PATCH(line_number, name, byte, word, why)                                 \
  if (vector.line == line_number && vector.id == name && program->size() >= (byte) + 4) { \
    StoreLE<uint32_t>(program->data() + (byte), word);                                    \
  }
#include "emu/amd/conform/exceptions.inc"
}

absl::StatusOr<uint32_t> ParseWord(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<uint32_t>();
  if (!value.is_string()) return absl::InvalidArgumentError("expected a hexadecimal string");
  const std::string text = value.get<std::string>();
  char* end = nullptr;
  const unsigned long long parsed = std::strtoull(text.c_str(), &end, 16);
  if (text.empty() || *end != '\0' || parsed > 0xffffffffull) {
    return absl::InvalidArgumentError(absl::StrFormat("'%s' is not a 32-bit hexadecimal number", text));
  }
  return static_cast<uint32_t>(parsed);
}

absl::Status ParseState(const nlohmann::json& json, Vector* vector) {
  vector->is_state = true;
  vector->out_bytes = json.at("out_bytes").get<uint32_t>();
  US_ASSIGN_OR_RETURN(vector->body, HexToBytes(json.at("body").get<std::string>()));
  for (const auto& reg : json.at("vgpr")) {
    for (const auto& lane : reg) {
      US_ASSIGN_OR_RETURN(const uint32_t word, ParseWord(lane));
      vector->expected.push_back(word);
    }
  }
  for (const auto& reg : json.at("sgpr")) {
    US_ASSIGN_OR_RETURN(const uint32_t word, ParseWord(reg));
    vector->expected.push_back(word);
  }
  for (const char* key : {"vcc", "scc", "exec"}) {
    US_ASSIGN_OR_RETURN(const uint32_t word, ParseWord(json.at(key)));
    vector->expected.push_back(word);
  }
  const size_t words = static_cast<size_t>(kVgprs) * vector->lanes + kSgprs + 3;
  if (vector->expected.size() != words || vector->out_bytes < 4 * words) {
    return absl::InvalidArgumentError(absl::StrFormat("%d state words in a buffer of %d bytes, expected %d",
                                                      vector->expected.size(), vector->out_bytes, words));
  }
  return absl::OkStatus();
}

absl::StatusOr<Vector> ParseVector(int line, const nlohmann::json& json) {
  Vector vector;
  vector.line = line;
  vector.id = json.at("id").get<std::string>();
  vector.gfx = json.at("gfx").get<std::string>();
  vector.lanes = json.at("lanes").get<int>();
  if (vector.lanes < 1 || vector.lanes > 1024) {
    return absl::InvalidArgumentError(absl::StrFormat("%d lanes, expected 1 to 1024", vector.lanes));
  }
  US_ASSIGN_OR_RETURN(vector.program, HexToBytes(json.at("program").get<std::string>()));
  if (json.at("kind") == "state") {
    US_RETURN_IF_ERROR(ParseState(json, &vector));
    return vector;
  }
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> out, HexToBytes(json.at("out").get<std::string>()));
  vector.out_bytes = static_cast<uint32_t>(out.size());
  for (size_t i = 0; i + 4 <= out.size(); i += 4) vector.expected.push_back(LoadLE<uint32_t>(&out[i]));
  return vector;
}

}  // namespace

const char* VerdictName(Outcome::Verdict verdict) {
  switch (verdict) {
    case Outcome::Verdict::kPass:
      return "pass";
    case Outcome::Verdict::kWithinBound:
      return "within 1 ulp";
    case Outcome::Verdict::kException:
      return "exception";
    case Outcome::Verdict::kDifferent:
      return "different";
    case Outcome::Verdict::kRefused:
      return "refused";
    case Outcome::Verdict::kFaulted:
      return "faulted";
  }
  return "?";
}

absl::StatusOr<std::vector<Vector>> LoadVectors(const std::string& path) {
  std::vector<Vector> vectors;
  const absl::Status status =
      ForEachJsonLine(path, [&](int line, const nlohmann::json& json) -> absl::Status {
        for (const char* key : {"id", "gfx", "kind", "lanes", "program"}) {
          if (!json.contains(key)) return absl::InvalidArgumentError(absl::StrFormat("no field '%s'", key));
        }
        if (json["kind"] == "state" ? !(json.contains("out_bytes") && json.contains("body") &&
                                        json.contains("vgpr") && json.contains("sgpr") &&
                                        json.contains("vcc") && json.contains("scc") && json.contains("exec"))
                                    : !json.contains("out")) {
          return absl::InvalidArgumentError("fields of its kind are missing");
        }
        try {
          US_ASSIGN_OR_RETURN(Vector vector, ParseVector(line, json));
          vectors.push_back(std::move(vector));
        } catch (const nlohmann::json::exception& e) {
          return absl::InvalidArgumentError(e.what());
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return vectors;
}

Outcome Run(const Vector& vector, const CheckOptions& checks) {
  Outcome outcome;
  Isa isa = Isa::kRdna3;
  if (!IsaOfTarget(Target(vector), &isa)) {
    outcome.verdict = Outcome::Verdict::kRefused;
    outcome.reason = absl::StrFormat("no generation has the processor %s", vector.gfx);
    return outcome;
  }
  const int wave_size = IsCdna(isa) ? 64 : 32;
  // The last instruction may be prefetched past: pad as loaders do.
  std::vector<uint8_t> program = vector.program;
  Mend(vector, &program);
  program.resize(AlignUp(program.size(), 256));
  std::vector<uint8_t> out(vector.out_bytes);
  uint64_t kernarg = kOutVa;
  const uint32_t waves = (vector.lanes + wave_size - 1) / wave_size;
  const uint32_t scratch_wave_bytes = ScratchWaveBytes(isa, kScratchBytesPerLane, wave_size);
  std::unique_ptr<uint8_t, decltype(&std::free)> scratch(
      static_cast<uint8_t*>(std::calloc(waves, scratch_wave_bytes)), &std::free);

  AddressSpace memory;
  US_CHECK_OK(memory.Map(kProgramVa, program.size(), program.data(), Perm::kReadExec, "program"));
  US_CHECK_OK(
      memory.Map(kKernargVa, sizeof(kernarg), reinterpret_cast<uint8_t*>(&kernarg), Perm::kRead, "kernarg"));
  US_CHECK_OK(memory.Map(kOutVa, out.size(), out.data(), Perm::kReadWrite, "out"));
  US_CHECK_OK(memory.Map(kScratchVa, uint64_t{waves} * scratch_wave_bytes, scratch.get(), Perm::kReadWrite,
                         "scratch"));

  DispatchRegs regs;
  regs.pgm_addr = kProgramVa;
  // All VGPRs and SGPRs; f32 denormals flushed, f16 and f64 denormals kept; DX10_CLAMP and IEEE_MODE where
  // they exist, the assembler's defaults.
  regs.rsrc1 = 0xc0u << 12;
  if (isa != Isa::kRdna4) regs.rsrc1 |= 1u << 21 | 1u << 23;
  if (IsCdna(isa)) {
    regs.rsrc1 |= 63 | 13u << 6;
    regs.rsrc3 = 63;  // 256 VGPRs, 256 AGPRs
  } else {
    regs.rsrc1 |= 31;
  }
  // Scratch, two user SGPRs, workgroup ids x y z, 64 KiB of LDS.
  regs.rsrc2 = 1 | 2u << 1 | 7u << 7 | (kLdsBytes + LdsGranule(isa) - 1) / LdsGranule(isa) << 15;
  regs.user_data[0] = static_cast<uint32_t>(kKernargVa);
  regs.user_data[1] = static_cast<uint32_t>(kKernargVa >> 32);
  regs.num_thread[0] = static_cast<uint32_t>(vector.lanes);
  regs.initiator = wave_size == 32 ? kCsW32En : 0;
  regs.scratch_base = kScratchVa;
  regs.tmpring_size = TmpringSize(isa, waves, scratch_wave_bytes);
  Dispatch::Options options;
  options.instruction_budget = kInstructionBudget;
  options.exact_lds_bytes = kLdsBytes;
  options.checks = checks;
  Dispatch dispatch(isa, regs, &memory, options);
  dispatch.Step(kInstructionBudget + 1);
  outcome.reports = dispatch.reports();

  Tolerance tolerance;
  const std::vector<uint8_t>& tested = vector.body.empty() ? vector.program : vector.body;
  if (dispatch.state() != Dispatch::State::kDone) {
    const FaultKind kind = dispatch.fault().kind;
    outcome.verdict =
        kind == FaultKind::kUnsupported ? Outcome::Verdict::kRefused : Outcome::Verdict::kFaulted;
    outcome.reason = dispatch.fault().message;
    if (const char* why = Exception(vector)) {
      outcome.verdict = Outcome::Verdict::kException;
      outcome.reason = why;
    }
    outcome.disassembly = Disassemble(isa, tested, nullptr);
    return outcome;
  }
  std::vector<uint32_t> got(vector.expected.size());
  std::memcpy(got.data(), out.data(), 4 * got.size());
  if (got == vector.expected) return outcome;

  outcome.disassembly = Disassemble(isa, tested, &tolerance);
  outcome.verdict = Outcome::Verdict::kWithinBound;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == vector.expected[i]) continue;
    outcome.differences.push_back({Place(vector, i), vector.expected[i], got[i]});
    if (!WithinBound(tolerance, vector, got, i)) outcome.verdict = Outcome::Verdict::kDifferent;
  }
  if (outcome.verdict == Outcome::Verdict::kDifferent) {
    if (const char* why = Exception(vector)) {
      outcome.verdict = Outcome::Verdict::kException;
      outcome.reason = why;
    }
  }
  return outcome;
}

}  // namespace understudy::emu::amd::conform
