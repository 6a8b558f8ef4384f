// SPDX-License-Identifier: Apache-2.0
// Undefined bits in memory: loads, stores, atomics, copies, matrix fragments, and what calls pass and return.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emu/ptx/check/defined.h"
#include "emu/ptx/check/global_memory.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/semantics/fragment_layout.h"

namespace understudy::emu::ptx {
namespace {

using Rule = DefinedFacts::Rule;

constexpr uint64_t kRowMajor = 1 << 8;  // of wmma.load and wmma.store's aux[0]

const BoundOperand& ElementOf(const BoundOperand& operand, int i) {
  return operand.num_elements != 0 ? operand.elements[i] : operand;
}
int CountOf(const BoundOperand& operand) { return operand.num_elements != 0 ? operand.num_elements : 1; }

bool Writes(const AccessLog::Entry& entry) { return entry.access != Access::kRead; }

template <class Fn>
void ForLanes(uint32_t mask, Fn&& fn) {
  for (; mask != 0; mask &= mask - 1) fn(std::countr_zero(mask));
}

}  // namespace

// Where the undefined bits of a byte are kept; of global memory a copy, in *spare.
uint8_t* DefinedChecker::MemoryByte(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset,
                                    uint8_t* spare) {
  const uint64_t at = entry.address + offset;
  *spare = 0;
  switch (entry.space) {
    case LoggedSpace::kShared: {
      std::vector<uint8_t>& bits = shared_[entry.cta];
      return at < bits.size() ? &bits[at] : spare;
    }
    case LoggedSpace::kLocal:
      return LocalByte(Of(warp), entry.lane, at);
    case LoggedSpace::kFrameParam: {
      std::vector<uint8_t>& params = Of(*warp.frame).params;
      const uint64_t index = static_cast<uint64_t>(entry.lane) * warp.frame->function->param_bytes + at;
      return index < params.size() ? &params[index] : spare;
    }
    case LoggedSpace::kGlobal:
      if (launch_.options.global_memory != nullptr && launch_.options.checks.uninit_global)
        *spare = launch_.options.global_memory->Undefined(at);
      return spare;
    case LoggedSpace::kEntryParam:
      return spare;
  }
  return spare;
}

uint64_t DefinedChecker::LoadBits(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset,
                                  uint32_t bytes) {
  uint64_t bits = 0;
  uint8_t spare = 0;
  for (uint32_t i = 0; i < bytes; ++i)
    bits |= uint64_t{*MemoryByte(warp, entry, offset + i, &spare)} << 8 * i;
  return bits;
}

void DefinedChecker::StoreBits(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset,
                               uint32_t bytes, uint64_t bits) {
  uint8_t spare = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bits >> 8 * std::min(i, 7u));
    if (entry.space == LoggedSpace::kGlobal) {
      if (launch_.options.global_memory != nullptr)
        launch_.options.global_memory->SetUndefined(entry.address + offset + i, byte);
    } else {
      *MemoryByte(warp, entry, offset + i, &spare) = byte;
    }
  }
}

void DefinedChecker::Load(WarpState& warp, const Inst& inst, const AccessLog& log) {
  FrameBits& bits = Of(*warp.frame);
  const BoundOperand& to = inst.op(0);
  const int count = CountOf(to);
  const Type type = inst.text->type();
  const uint32_t size = static_cast<uint32_t>(TypeBytes(type));
  const bool is_signed = IsSigned(type);
  bool undefined = false;
  for (const AccessLog::Entry& entry : log.entries)
    for (int i = 0; i < count; ++i) {
      const Src row = ElementOf(to, i).row;
      uint64_t low = LoadBits(warp, entry, static_cast<uint64_t>(i) * size, std::min(size, 8u));
      if (is_signed && size < 8 && (low >> (8 * size - 1) & 1) != 0) low |= ~uint64_t{0} << 8 * size;
      Set(bits, row, entry.lane, row.bytes == 0 ? low & 1 : low);
      uint64_t high = 0;
      if (row.bytes == 16) {
        high = size > 8 ? LoadBits(warp, entry, static_cast<uint64_t>(i) * size + 8, 8) : 0;
        Set(bits, row, entry.lane, high, 1);
      }
      undefined = undefined || (low | high) != 0;
    }
  if (!undefined) return;
  const bool parameter = !log.entries.empty() && log.entries[0].space == LoggedSpace::kFrameParam;
  for (int i = 0; i < count; ++i) bits.origin[ElementOf(to, i).row.offset] = parameter ? nullptr : &inst;
}

ExecResult DefinedChecker::Store(WarpState& warp, const Inst& inst, const AccessLog& log) {
  FrameBits& bits = Of(*warp.frame);
  const BoundOperand& from = inst.op(1);
  const int count = CountOf(from);
  const uint32_t size = static_cast<uint32_t>(TypeBytes(inst.text->type()));
  for (const AccessLog::Entry& entry : log.entries)
    for (int i = 0; i < count; ++i) {
      const Src row = ElementOf(from, i).row;
      uint64_t low = Get(bits, row, entry.lane);
      if (size < 8) low &= (uint64_t{1} << 8 * size) - 1;
      const uint64_t high = row.bytes == 16 ? Get(bits, row, entry.lane, 1) : 0;
      if (entry.space == LoggedSpace::kGlobal && (low | high) != 0) {
        if (Report(warp, inst, entry.lane, bits, row, 1, "the value stored to global memory") ==
            ExecResult::kFault)
          return ExecResult::kFault;
        // Once for the instruction; what is in memory counts as defined.
        for (int k = 0; k < count; ++k) SetAll(bits, ElementOf(from, k).row, warp.mask, 0);
        low = 0;
      }
      StoreBits(warp, entry, static_cast<uint64_t>(i) * size, std::min(size, 8u), low);
      if (size > 8) StoreBits(warp, entry, static_cast<uint64_t>(i) * size + 8, 8, high);
    }
  return ExecResult::kNext;
}

ExecResult DefinedChecker::Atomic(WarpState& warp, const Inst& inst, const AccessLog& log) {
  FrameBits& bits = Of(*warp.frame);
  const bool returns = inst.text->op == Op::kAtom;
  const BoundOperand& value = inst.op(returns ? 2 : 1);
  const int count = std::min(CountOf(value), 8);
  const uint32_t size = static_cast<uint32_t>(TypeBytes(inst.text->type())), low = std::min(size, 8u);
  const bool exchange = inst.text->Has("exch");
  for (const AccessLog::Entry& entry : log.entries)
    for (int i = 0; i < count; ++i) {
      uint64_t operand = operand_bits_[static_cast<size_t>(entry.lane * 8 + i)];
      const uint64_t at = static_cast<uint64_t>(i) * size;
      const uint64_t old = LoadBits(warp, entry, at, low);
      if (entry.space == LoggedSpace::kGlobal && operand != 0) {
        const Src row = ElementOf(value, i).row;
        FrameBits& own = bits;
        Set(own, row, entry.lane, Get(own, row, entry.lane) | operand);
        if (Report(warp, inst, entry.lane, own, row, 1, "the operand of an atomic on global memory") ==
            ExecResult::kFault)
          return ExecResult::kFault;
        Set(own, row, entry.lane, 0);
        operand_bits_.fill(0);
        operand = 0;
      }
      const uint64_t now = exchange ? operand : (old | operand) != 0 ? ~uint64_t{0} : 0;
      StoreBits(warp, entry, at, low, now);
      if (size > 8) StoreBits(warp, entry, at + 8, 8, now);
      if (!returns) continue;
      const Src to = ElementOf(inst.op(0), i).row;
      Set(bits, to, entry.lane, old);
      if (to.bytes == 16) Set(bits, to, entry.lane, old, 1);
      if (old != 0) bits.origin[to.offset] = &inst;
    }
  return ExecResult::kNext;
}

ExecResult DefinedChecker::Copy(WarpState& warp, const Inst& inst, const AccessLog& log) {
  const bool reduces = inst.text->Has("reduce") || inst.text->op == Op::kRed;
  const bool rows = inst.text->Has("tensor");  // pieces, which do not lie in memory as in the box
  if (inst.text->op != Op::kCp) {
    // st.async, red.async: values from registers. Of those with an mbarrier, that is the atomic access.
    const bool barrier = inst.num_operands > 2;
    FrameBits& bits = Of(*warp.frame);
    const BoundOperand& value = inst.op(1);
    const uint32_t size = static_cast<uint32_t>(TypeBytes(inst.text->type()));
    for (const AccessLog::Entry& entry : log.entries)
      for (int i = 0; i < CountOf(value) && (entry.access == Access::kWrite || !barrier); ++i) {
        uint64_t undefined = Get(bits, ElementOf(value, i).row, entry.lane);
        if (reduces) undefined |= LoadBits(warp, entry, static_cast<uint64_t>(i) * size, size);
        StoreBits(warp, entry, static_cast<uint64_t>(i) * size, size, undefined);
      }
    return ExecResult::kNext;
  }
  for (const AccessLog::Entry& to : log.entries) {
    if (!Writes(to)) continue;
    // The mbarrier of a copy.
    if (to.access == Access::kAtomic && !reduces) continue;
    const AccessLog::Entry* from = nullptr;
    for (const AccessLog::Entry& entry : log.entries)
      if (!Writes(entry) && entry.lane == to.lane) from = &entry;
    for (uint64_t i = 0; i < to.bytes; ++i) {
      uint64_t undefined = from != nullptr && !rows && i < from->bytes ? LoadBits(warp, *from, i, 1) : 0;
      if (to.space == LoggedSpace::kGlobal && undefined != 0) {
        if (sink_->Add(
                CheckKind::kUninit, CheckSeverity::kError, warp, inst, to.lane, "shared memory",
                "the value copied to global memory is uninitialised: nobody has written all of its source") ==
            ExecResult::kFault)
          return ExecResult::kFault;
        undefined = 0;
      }
      if (reduces) undefined |= LoadBits(warp, to, i, 1);
      StoreBits(warp, to, i, 1, undefined);
    }
  }
  return ExecResult::kNext;
}

ExecResult DefinedChecker::Fragments(WarpState& warp, const Inst& inst, const DefinedFacts& facts,
                                     const AccessLog& log) {
  FrameBits& bits = Of(*warp.frame);
  const bool store = facts.rule == Rule::kStoreMatrix;
  const BoundOperand& fragments = inst.op(store ? 1 : 0);
  const int count = CountOf(fragments);
  // As the executor has it in aux[1]: bits of an element in memory, RowMatrix.
  const auto matrix = static_cast<RowMatrix>(inst.aux[1] >> 8);
  const uint64_t in_memory = inst.aux[1] & 0xff;
  const int elements = RowMatrixElements(matrix), width = 32 / elements;
  if (log.entries.size() < static_cast<size_t>(8 * count)) return ExecResult::kNext;
  for (int i = 0; i < count; ++i) {
    const Src row = ElementOf(fragments, i).row;
    uint64_t any = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint64_t word = store ? Get(bits, row, lane) : 0;
      for (int e = 0; e < elements; ++e) {
        const ElementPlace place = RowMatrixPlace(matrix, i, lane, e);
        const AccessLog::Entry& entry = log.entries[place.row];
        const uint64_t bit = place.col * in_memory;
        const uint32_t bytes = static_cast<uint32_t>((bit % 8 + in_memory + 7) / 8);
        if (store)
          StoreBits(warp, entry, bit / 8, bytes, word >> width * e);
        else
          word |= (LoadBits(warp, entry, bit / 8, bytes) >> bit % 8 & ((1u << in_memory) - 1)) << width * e;
      }
      if (!store) Set(bits, row, lane, word);
      any |= word;
    }
    if (!store && any != 0) bits.origin[row.offset] = &inst;
  }
  return ExecResult::kNext;
}

ExecResult DefinedChecker::WmmaFragments(WarpState& warp, const Inst& inst, bool store,
                                         const AccessLog& log) {
  FrameBits& bits = Of(*warp.frame);
  const auto& layout = *reinterpret_cast<const FragmentLayout*>(inst.aux[1]);
  const bool row_major = (inst.aux[0] & kRowMajor) != 0;
  const BoundOperand& fragments = inst.op(store ? 1 : 0);
  for (int reg = 0; reg < layout.registers && reg < CountOf(fragments); ++reg) {
    const Src row = ElementOf(fragments, reg).row;
    uint64_t any = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint64_t word = store ? Get(bits, row, lane) : 0;
      for (int e = 0; e < layout.elements; ++e) {
        const ElementPlace place = layout.At(reg, lane, e);
        const size_t major = static_cast<size_t>(row_major ? place.row : place.col);
        const uint64_t bit =
            static_cast<uint64_t>(row_major ? place.col : place.row) * static_cast<uint64_t>(layout.bits);
        if (major >= log.entries.size()) continue;
        const AccessLog::Entry& entry = log.entries[major];
        const uint32_t bytes = static_cast<uint32_t>(layout.bits + 7) / 8;
        if (store) {
          const uint64_t part = word >> e * layout.bits;
          if (entry.space == LoggedSpace::kGlobal && word != 0) {
            if (Report(warp, inst, lane, bits, row, 1, "the value stored to global memory") ==
                ExecResult::kFault)
              return ExecResult::kFault;
            for (int k = 0; k < CountOf(fragments); ++k) SetAll(bits, ElementOf(fragments, k).row, ~0u, 0);
            word = 0;
          }
          StoreBits(warp, entry, bit / 8, bytes, word == 0 ? 0 : part);
        } else {
          uint64_t part = LoadBits(warp, entry, bit / 8, bytes);
          if (layout.bits < 8) part = part >> bit % 8 & ((1u << layout.bits) - 1);
          word |= part << e * layout.bits;
        }
      }
      if (store) continue;
      any |= word;
      Set(bits, row, lane, word);
    }
    if (any != 0) bits.origin[row.offset] = &inst;
  }
  return ExecResult::kNext;
}

// The lanes that have entered a function: its arguments.
void DefinedChecker::Enter(WarpState& warp, const Inst& inst, const Frame& caller) {
  const Group& group = warp.groups[static_cast<size_t>(warp.current)];
  const Frame& frame = *group.frame;
  const BoundFunction& callee = *frame.function;
  const CallPlan& plan = *reinterpret_cast<const CallPlan*>(inst.aux[0]);
  FrameBits &from = Of(caller), &to = Of(frame);
  const uint32_t from_bytes = caller.function->param_bytes, to_bytes = callee.param_bytes;
  for (size_t i = 0; i < plan.arguments.size() && i < callee.text->parameters.size(); ++i) {
    const CallPlan::Value& argument = plan.arguments[i];
    const uint64_t bytes = callee.text->parameters[i].size;
    const int reg = i < callee.text->parameter_registers.size() ? callee.text->parameter_registers[i] : -1;
    ForLanes(group.mask, [&](int lane) {
      const size_t source = static_cast<size_t>(lane) * from_bytes + argument.param_offset;
      const size_t target = static_cast<size_t>(lane) * to_bytes +
                            static_cast<size_t>(reg < 0 ? callee.parameter_offsets[i] : 0);
      uint64_t value = argument.in_param || argument.sink ? 0 : Get(from, argument.row, lane);
      for (uint64_t b = 0; b < bytes; ++b) {
        uint8_t byte = b < 8 ? static_cast<uint8_t>(value >> 8 * b) : 0;
        if (argument.in_param && b + argument.param_offset < from_bytes) byte = from.params[source + b];
        if (reg < 0)
          to.params[target + b] = byte;
        else if (b < 8)
          value = (value & ~(uint64_t{0xff} << 8 * b)) | uint64_t{byte} << 8 * b;
      }
      if (reg >= 0) Set(to, callee.registers[static_cast<size_t>(reg)], lane, value);
    });
  }
  for (const BoundFunction::SpilledParam& spilled : callee.spilled_params)
    ForLanes(group.mask, [&](int lane) {
      for (uint32_t b = 0; b < spilled.bytes; ++b)
        *LocalByte(Of(warp), lane, frame.local_base + spilled.local_offset + b) =
            to.params[static_cast<size_t>(lane) * to_bytes + spilled.param_offset + b];
    });
}

// Lanes return: results into the caller's registers and parameters.
void DefinedChecker::Leave(WarpState& warp, uint32_t mask) {
  const Frame& frame = *warp.frame;
  if (frame.caller == nullptr) return;
  const Frame& caller = *frame.caller;
  const BoundFunction& function = *frame.function;
  const CallPlan& plan =
      *reinterpret_cast<const CallPlan*>(caller.function->code[frame.return_pc - 1].aux[0]);
  FrameBits &from = Of(frame), &to = Of(caller);
  for (size_t i = 0; i < plan.returns.size() && i < function.text->returns.size(); ++i) {
    const CallPlan::Value& result = plan.returns[i];
    if (result.sink) continue;
    const int reg = i < function.text->return_registers.size() ? function.text->return_registers[i] : -1;
    const uint64_t bytes = function.text->returns[i].size;
    ForLanes(mask, [&](int lane) {
      const size_t source = static_cast<size_t>(lane) * function.param_bytes +
                            static_cast<size_t>(reg < 0 ? function.return_offsets[i] : 0);
      const uint64_t value = reg >= 0 ? Get(from, function.registers[static_cast<size_t>(reg)], lane) : 0;
      uint64_t taken = 0;
      for (uint64_t b = 0; b < bytes; ++b) {
        const uint8_t byte = reg < 0 ? from.params[source + b]
                             : b < 8 ? static_cast<uint8_t>(value >> 8 * b)
                                     : 0;
        if (b < 8) taken |= uint64_t{byte} << 8 * b;
        if (result.in_param && result.param_offset + b < caller.function->param_bytes)
          to.params[static_cast<size_t>(lane) * caller.function->param_bytes + result.param_offset + b] =
              byte;
      }
      if (!result.in_param) Set(to, result.row, lane, taken);
    });
    if (!result.in_param) to.origin[result.row.offset] = nullptr;
  }
}

ExecResult DefinedChecker::After(WarpState& warp, const Inst& inst, const AccessLog& log, uint32_t mask,
                                 ExecResult result) {
  const DefinedFacts& facts = FactsOf(inst);
  ExecResult found = ExecResult::kNext;
  const auto fragments = [&] { return Fragments(warp, inst, facts, log); };
  switch (facts.rule) {
    case Rule::kLoad:
      Load(warp, inst, log);
      break;
    case Rule::kStore:
      found = Store(warp, inst, log);
      break;
    case Rule::kAtomic:
      found = Atomic(warp, inst, log);
      break;
    case Rule::kLoadMatrix:
    case Rule::kStoreMatrix:
      found = fragments();
      break;
    case Rule::kLoadWmma:
    case Rule::kStoreWmma:
      found = WmmaFragments(warp, inst, facts.rule == Rule::kStoreWmma, log);
      break;
    case Rule::kCopy:
      found = Copy(warp, inst, log);
      break;
    case Rule::kWritten:
      for (const AccessLog::Entry& entry : log.entries)
        if (Writes(entry))
          for (uint64_t i = 0; i < entry.bytes; ++i) StoreBits(warp, entry, i, 1, 0);
      for (const Src& row : facts.dests) SetAll(Of(*warp.frame), row, mask, 0);
      break;
    case Rule::kCall: {
      const Frame& caller = *warp.frame;
      if (result == ExecResult::kControl) {
        const Group& group = warp.groups[static_cast<size_t>(warp.current)];
        if (group.frame != &caller && group.frame->caller == &caller && group.pc == 0)
          Enter(warp, inst, caller);
      } else if (result == ExecResult::kNext) {
        // A function of the device runtime.
        const CallPlan& plan = *reinterpret_cast<const CallPlan*>(inst.aux[0]);
        FrameBits& bits = Of(caller);
        for (const CallPlan::Value& value : plan.returns) {
          if (value.sink) continue;
          if (!value.in_param) {
            SetAll(bits, value.row, mask, 0);
            continue;
          }
          ForLanes(mask, [&](int lane) {
            const size_t at = static_cast<size_t>(lane) * caller.function->param_bytes + value.param_offset;
            for (size_t b = 0; b < 8 && value.param_offset + b < caller.function->param_bytes; ++b)
              bits.params[at + b] = 0;
          });
        }
      }
      break;
    }
    default:
      break;
  }
  if (inst.text != nullptr && inst.text->op == Op::kDiscard)
    for (const AccessLog::Entry& entry : log.entries)
      for (uint64_t i = 0; i < entry.bytes; ++i) StoreBits(warp, entry, i, 1, 0xff);
  if (inst.text != nullptr && inst.text->op == Op::kAlloca && result == ExecResult::kNext)
    ForLanes(mask, [&](int lane) {
      const uint64_t begin = warp.Lane(inst.src(0), lane);
      const uint64_t end = static_cast<FrameState*>(warp.frame)->stack_top[static_cast<size_t>(lane)];
      for (uint64_t at = begin; at < end && at < warp.local_bytes; ++at)
        *LocalByte(Of(warp), lane, at) = 0xff;
    });
  if (late_ != 0) {
    for (const Src& row : facts.dests) SetAll(Of(*warp.frame), row, late_, ~0u);
    late_ = 0;
  }
  return found;
}

}  // namespace understudy::emu::ptx
