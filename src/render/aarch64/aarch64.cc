// SPDX-License-Identifier: Apache-2.0
#include "src/render/aarch64/aarch64.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/render/aarch64/emitter.h"
#include "src/render/machine/check.h"

namespace understudy {
namespace {

using machine::Block;
using machine::Function;
using machine::Inst;
using machine::kVectorBase;
using machine::MachineDetails;
using machine::MachineKernel;
using machine::Operand;
using machine::Reg;
using machine::Role;
using namespace aarch64;  // NOLINT: the opcodes

// X19 to X28 and the low half of V8 to V15 (AAPCS64, section 6.1).
bool CalleeSaved(Reg r) { return (r >= 19 && r <= 28) || (r >= kVectorBase + 8 && r <= kVectorBase + 15); }

class Assembler {
 public:
  Assembler(const Function& f, MachineDetails* details) : f_(f), details_(details) {}

  absl::Status Run(MachineKernel* out) {
    US_RETURN_IF_ERROR(LayFrame());
    // Every instruction has four bytes, so the first pass finds where everything is.
    US_RETURN_IF_ERROR(Write());
    layout_.pool_offset = static_cast<int64_t>(AlignUp(code_.size(), 64));
    recording_ = true;
    US_RETURN_IF_ERROR(Write());
    code_.resize(layout_.pool_offset);
    code_.insert(code_.end(), f_.pool.begin(), f_.pool.end());
    out->code = std::move(code_);
    out->text = std::move(text_);
    out->frame_bytes = frame_;
    if (details_ != nullptr) details_->block_offsets = offsets_;
    return absl::OkStatus();
  }

 private:
  absl::Status LayFrame() {
    std::array<bool, 64> used{};
    for (const Block& b : f_.blocks) {
      for (const Inst& i : b.insts) {
        if (i.flags & Inst::kDeleted) continue;
        ForEachReg(i, [&](Reg r, Role role) {
          if (role != Role::kUse && machine::IsReal(r)) used[r] = true;
        });
      }
    }
    int64_t at = 0;
    for (const machine::FrameSlot& s : f_.slots) {
      at = static_cast<int64_t>(AlignUp(at, std::max(s.align, 1)));
      layout_.slot_offsets.push_back(at);
      at += s.bytes;
    }
    at = static_cast<int64_t>(AlignUp(at, 8));
    for (Reg r = 0; r < 64; ++r) {
      if (!used[r] || !CalleeSaved(r)) continue;
      saved_.emplace_back(r, at);
      at += 8;
    }
    frame_ = static_cast<int64_t>(AlignUp(at, 16));
    if (frame_ >= 1 << 24)
      return absl::ResourceExhaustedError(absl::StrCat(f_.name, ": a frame of ", frame_, " bytes"));
    return absl::OkStatus();
  }

  absl::Status Put(Inst i, int64_t target, int block) {
    const auto offset = static_cast<int64_t>(code_.size());
    // The address of a slot.
    if (i.op == kAddImmOp && i.ops[1].kind == Operand::Kind::kSlot) {
      const int64_t at = layout_.slot_offsets[i.ops[1].slot];
      if (at >= 4096)
        return absl::ResourceExhaustedError(absl::StrCat(f_.name, ": memory at byte ", at, " of the frame"));
      i.ops[1] = Operand::Use(kSp, 8);
      i.count = 2;
      i.Add(Operand::Imm(at));
    }
    US_ASSIGN_OR_RETURN(const uint32_t word, Encode(i, layout_, offset, target));
    code_.resize(code_.size() + 4);
    StoreLE<uint32_t>(&code_[offset], word);
    if (!recording_) return absl::OkStatus();
    const std::string text = Text(i, &layout_, offset);
    absl::StrAppend(&text_, "\t", text, "\n");
    if (details_ != nullptr) details_->lines.push_back({offset, 4, text, block});
    return absl::OkStatus();
  }
  absl::Status MoveStack(aarch64::Op op, int block) {
    for (const int64_t part : {frame_ & 4095, frame_ & ~int64_t{4095}}) {
      if (part == 0) continue;
      Inst i;
      i.op = op;
      i.bytes = 8;
      i.Add(Operand::UseDef(kSp, 8));
      i.Add(Operand::Use(kSp, 8));
      i.Add(Operand::Imm(part));
      US_RETURN_IF_ERROR(Put(i, 0, block));
    }
    return absl::OkStatus();
  }
  absl::Status Save(bool restore, int block) {
    for (const auto& [r, at] : saved_) {
      const bool general = r < kVectorBase;
      const Operand memory = Operand::Mem(kSp, machine::kNoReg, 1, at, 8);
      Inst i;
      i.bytes = 8;
      if (restore) {
        i.op = general ? kLdrXOp : kLdrDOp;
        i.Add(Operand::Def(r, 8));
        i.Add(memory);
      } else {
        i.op = general ? kStrXOp : kStrDOp;
        i.Add(memory);
        i.Add(Operand::Use(r, 8));
      }
      US_RETURN_IF_ERROR(Put(i, 0, block));
    }
    return absl::OkStatus();
  }

  absl::Status Write() {
    code_.clear();
    const std::vector<int64_t> known = offsets_;
    offsets_.assign(f_.blocks.size() + 1, 0);
    US_RETURN_IF_ERROR(MoveStack(kSubImmOp, -1));
    US_RETURN_IF_ERROR(Save(false, -1));
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      offsets_[b] = static_cast<int64_t>(code_.size());
      if (recording_ && b > 0) absl::StrAppend(&text_, ".L", b, ":\n");
      for (const Inst& i : f_.blocks[b].insts) {
        if (i.flags & Inst::kDeleted) continue;
        if (i.op == kRetOp) {
          US_RETURN_IF_ERROR(Save(true, static_cast<int>(b)));
          US_RETURN_IF_ERROR(MoveStack(kAddImmOp, static_cast<int>(b)));
        }
        int64_t target = static_cast<int64_t>(code_.size());
        if (i.op == kBOp || i.op == kBCondOp) {
          const auto to = static_cast<size_t>(i.ops[0].imm);
          US_CHECK(to < f_.blocks.size()) << "a jump to nowhere";
          if (!known.empty()) target = known[to];
        }
        US_RETURN_IF_ERROR(Put(i, target, static_cast<int>(b)));
      }
    }
    offsets_.back() = static_cast<int64_t>(code_.size());
    return absl::OkStatus();
  }

  const Function& f_;
  MachineDetails* const details_;
  Layout layout_;
  std::vector<std::pair<Reg, int64_t>> saved_;
  int64_t frame_ = 0;
  bool recording_ = false;
  std::vector<uint8_t> code_;
  std::string text_;
  std::vector<int64_t> offsets_;
};

}  // namespace

Target A64Target() {
  Target t;
  t.isa = "aarch64";
  t.max_vector_bytes = 16;
  t.arithmetic = {Scalar::kBool,    Scalar::kInt8,    Scalar::kUInt8, Scalar::kInt16,  Scalar::kUInt16,
                  Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64, Scalar::kUInt64, Scalar::kFloat16,
                  Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  t.maximum = {Scalar::kFloat32, Scalar::kFloat64};
  t.divides_by_constants = false;
  return t;
}

absl::StatusOr<MachineKernel> RenderA64(const LinearKernel& kernel, const machine::MachineOptions& options) {
  Function f;
  A64Emitter emitter(f);
  US_ASSIGN_OR_RETURN(machine::Selection selection, Select(kernel, f, emitter));
  const std::vector<Reg> live_in = {0, 1, 2};
  US_ASSIGN_OR_RETURN(machine::Allocation allocation,
                      Allocate(f, emitter.processor(), live_in, options.registers));
  if (options.check) US_RETURN_IF_ERROR(CheckAllocation(f, allocation.code, live_in, emitter.processor()));
  MachineKernel out;
  out.name = kernel.name;
  out.global = kernel.global;
  out.params = kernel.params;
  out.vars = kernel.vars;
  out.spilled = allocation.spilled;
  out.remade = allocation.remade;
  out.coalesced = allocation.coalesced;
  US_RETURN_IF_ERROR(Assembler(allocation.code, options.details).Run(&out));
  if (options.details != nullptr) {
    options.details->selection = std::move(selection);
    options.details->before = std::move(f);
    options.details->after = std::move(allocation.code);
    options.details->live_in = live_in;
  }
  return out;
}

}  // namespace understudy
