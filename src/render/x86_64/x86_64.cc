// SPDX-License-Identifier: Apache-2.0
#include "src/render/x86_64/x86_64.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/render/machine/check.h"
#include "src/render/x86_64/emitter.h"

namespace understudy {
namespace {

using machine::Block;
using machine::Function;
using machine::Inst;
using machine::MachineDetails;
using machine::MachineKernel;
using machine::Operand;
using machine::Reg;
using machine::Role;
using namespace x86_64;  // NOLINT: the opcodes

// RBX, RBP and R12 to R15 (System V psABI, figure 3.4).
bool CalleeSaved(Reg r) { return r == kRbx || r == kRbp || (r >= 12 && r <= 15); }

class Assembler {
 public:
  Assembler(const Function& f, bool avx2, MachineDetails* details) : f_(f), avx2_(avx2), details_(details) {}

  void Run(MachineKernel* out) {
    LayFrame();
    // Two passes: the pool lies behind the code.
    layout_.pool_offset = 0;
    Write();
    layout_.pool_offset = static_cast<int64_t>(AlignUp(code_.size(), 64));
    text_.clear();
    if (details_ != nullptr) details_->lines.clear();
    recording_ = true;
    Write();
    code_.resize(layout_.pool_offset);
    code_.insert(code_.end(), f_.pool.begin(), f_.pool.end());
    out->code = std::move(code_);
    out->text = std::move(text_);
    out->frame_bytes = frame_ + 8 * static_cast<int64_t>(saved_.size());
  }

 private:
  void LayFrame() {
    std::array<bool, 16> used{};
    for (const Block& b : f_.blocks) {
      for (const Inst& i : b.insts) {
        if (i.flags & Inst::kDeleted) continue;
        ForEachReg(i, [&](Reg r, Role role) {
          if (role != Role::kUse && r < 16) used[r] = true;
        });
        wide_ |= (i.flags & Inst::kVex) && i.bytes == 32;
      }
    }
    for (Reg r = 0; r < 16; ++r) {
      if (used[r] && CalleeSaved(r)) saved_.push_back(r);
    }
    int64_t at = 0;
    for (const machine::FrameSlot& s : f_.slots) {
      at = static_cast<int64_t>(AlignUp(at, std::max(s.align, 1)));
      layout_.slot_offsets.push_back(static_cast<int>(at));
      at += s.bytes;
    }
    // The return address and what is pushed lie above.
    const int64_t above = 8 + 8 * static_cast<int64_t>(saved_.size());
    frame_ = at == 0 ? 0 : static_cast<int64_t>(AlignUp(at + above, 16)) - above;
  }

  void Put(const Inst& i, int64_t target, int block) {
    const int64_t begin = static_cast<int64_t>(code_.size());
    Encode(i, layout_, target, &code_);
    if (!recording_) return;
    const int64_t end = static_cast<int64_t>(code_.size());
    absl::StrAppend(&text_, "\t", Text(i, &layout_, end), "\n");
    if (details_ != nullptr) details_->lines.push_back({begin, end - begin, Text(i, &layout_, end), block});
  }
  void PushPop(x86_64::Op op, Reg r, int block) {
    Inst i;
    i.op = op;
    i.Add(Operand::Use(r, 8));
    Put(i, -1, block);
  }
  void MoveStack(x86_64::Op op, int block) {
    if (frame_ == 0) return;
    Inst i;
    i.op = op;
    i.bytes = 8;
    i.Add(Operand::UseDef(kRsp, 8));
    i.Add(Operand::Imm(frame_));
    Put(i, -1, block);
  }

  void Write() {
    code_.clear();
    offsets_.assign(f_.blocks.size() + 1, -1);
    std::vector<std::pair<int64_t, int>> open;  // where four bytes of distance to a later block are missing
    for (const Reg r : saved_) PushPop(kPush, r, -1);
    MoveStack(kSubImm, -1);
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      offsets_[b] = static_cast<int64_t>(code_.size());
      if (recording_ && b > 0) absl::StrAppend(&text_, ".L", b, ":\n");
      for (const Inst& i : f_.blocks[b].insts) {
        if (i.flags & Inst::kDeleted) continue;
        if (i.op == kRet) {
          MoveStack(kAddImm, static_cast<int>(b));
          for (size_t k = saved_.size(); k-- > 0;) PushPop(kPop, saved_[k], static_cast<int>(b));
          // Code that knows no AVX runs on.
          if (avx2_ && wide_) {
            Inst zero;
            zero.op = kVzeroupper;
            zero.flags = Inst::kVex;
            Put(zero, -1, static_cast<int>(b));
          }
          Put(i, -1, static_cast<int>(b));
          continue;
        }
        int64_t target = -1;
        int to = -1;
        if (i.op == kJcc || i.op == kJmp) {
          to = static_cast<int>(i.ops[0].imm);
          US_CHECK(to >= 0 && to < static_cast<int>(f_.blocks.size())) << "a jump to nowhere";
          target = to <= static_cast<int>(b) ? offsets_[to] : -1;
        }
        Put(i, target, static_cast<int>(b));
        if (to > static_cast<int>(b)) open.emplace_back(code_.size() - 4, to);
      }
    }
    offsets_.back() = static_cast<int64_t>(code_.size());
    for (const auto& [at, to] : open)
      StoreLE<int32_t>(&code_[at], static_cast<int32_t>(offsets_[to] - (at + 4)));
    if (details_ != nullptr) details_->block_offsets = offsets_;
  }

  const Function& f_;
  const bool avx2_;
  MachineDetails* const details_;
  Layout layout_;
  std::vector<Reg> saved_;
  int64_t frame_ = 0;
  bool wide_ = false, recording_ = false;
  std::vector<uint8_t> code_;
  std::string text_;
  std::vector<int64_t> offsets_;
};

}  // namespace

Target X86Target(bool avx2) {
  Target t;
  t.isa = avx2 ? "x86-64-v3" : "x86-64-v2";
  t.max_vector_bytes = avx2 ? 32 : 16;
  t.max_buffers = 30;
  if (!avx2) t.fma = {};
  t.divides_by_constants = false;
  if (avx2)
    t.arithmetic = {Scalar::kBool,    Scalar::kInt8,    Scalar::kUInt8, Scalar::kInt16,  Scalar::kUInt16,
                    Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64, Scalar::kUInt64, Scalar::kFloat16,
                    Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  return t;
}

absl::StatusOr<MachineKernel> RenderX86(const LinearKernel& kernel, const Target& target,
                                        const machine::MachineOptions& options) {
  const bool avx2 = target.isa == "x86-64-v3";
  if (!avx2 && target.isa != "x86-64-v2")
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", kernel.name, ": target ", target.isa, ", expected x86-64-v2 or x86-64-v3"));
  Function f;
  X86Emitter emitter(f, avx2);
  US_ASSIGN_OR_RETURN(machine::Selection selection, Select(kernel, f, emitter));
  const std::vector<Reg> live_in = {kRdi, kRsi, kRdx};
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
  Assembler(allocation.code, avx2, options.details).Run(&out);
  if (options.details != nullptr) {
    options.details->selection = std::move(selection);
    options.details->before = std::move(f);
    options.details->after = std::move(allocation.code);
    options.details->live_in = live_in;
  }
  return out;
}

}  // namespace understudy
