// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in their modes, and the tensormap instructions.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/async_bulk.h"
#include "emu/ptx/semantics/tensor_walk.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint32_t kSharedAlignment = 128;
constexpr const char* kModeNames[] = {"tiled", ".im2col", ".im2col::w", ".im2col::w::128"};
const char* ModeName(TensorMode mode) { return kModeNames[static_cast<size_t>(mode)]; }

// Decodes the map at the operand's generic address and compares it with the instruction. False after Fail().
bool ReadMap(Warp& w, const Inst& inst, const BoundOperand& tensor, const BulkMode& mode, int lane,
             TensorMap* map) {
  const uint64_t address = GetAddress(w, tensor.elements[0], lane);
  const uint8_t* bytes =
      ResolveLane(w, inst, address, MemSpace::kGeneric, kTensorMapBytes, 64, Access::kRead, lane);
  if (bytes == nullptr) return false;
  absl::StatusOr<TensorMap> decoded = DecodeTensorMap(bytes);
  std::string error;
  FaultKind kind = FaultKind::kIllegalInstruction;
  if (!decoded.ok()) {
    error = std::string(decoded.status().message());
    if (decoded.status().code() == absl::StatusCode::kUnimplemented) kind = FaultKind::kRefused;
  } else if (decoded->rank != mode.rank) {
    error = absl::StrFormat("the tensor map has rank %d, the instruction %d", decoded->rank, mode.rank);
  } else if (decoded->mode != mode.mode) {
    error = absl::StrFormat("the tensor map is %s, the instruction %s", ModeName(decoded->mode),
                            ModeName(mode.mode));
  } else if (mode.to == MemSpace::kGlobal && decoded->type == TensorDataType::k16U4Align16) {
    error = "padded elements of 4 bits are loaded only";
  } else if (mode.to != MemSpace::kGlobal && IsPadded(decoded->type) &&
             decoded->swizzle == TensorSwizzle::k128BAtom64B) {
    // cuda.h says "store only", the PTX manual allows it.
    kind = FaultKind::kRefused;
    error = "loads of padded elements with the swizzle 128B_ATOM_64B, of which NVIDIA's texts differ";
  } else if (mode.op != AtomicOp::kNone && !IsAtomicCombination(mode.op, TensorElementType(decoded->type))) {
    error = "the tensor map's data type has no such reduction";
  }
  if (!error.empty()) {
    w.Fail(kind, lane, absl::StrFormat("%s: tensor map at 0x%x: %s", InstName(inst), address, error));
    return false;
  }
  *map = *std::move(decoded);
  return true;
}

void SetConversion(const TensorMap& map, PendingBulk* bulk) {
  bulk->round_tf32 = LoadsTf32(map.type);
  if (map.fill != TensorFill::kNan) return;
  for (uint32_t i = 0; i < bulk->fill.size(); ++i)
    bulk->fill[i] = static_cast<uint8_t>(kTensorNan >> (i % 2 * 8));
}

// The moves between a box of the tensor and shared memory at `shared` (offset `address`, which swizzles go
// by).
bool AddMoves(Warp& w, const Inst& inst, const TensorMap& map, const TensorBox& box, uint8_t* shared,
              uint32_t address, bool load, Access access, int lane, std::vector<BulkMove>* moves) {
  bool ok = true;
  const uint32_t chunk = SwizzleChunk(map.swizzle);
  WalkTensor(map, box, [&](const TensorRun& run) {
    if (!ok) return;
    if (!load && run.below) {
      w.Fail(FaultKind::kIllegalInstruction, lane,
             absl::StrFormat("%s: stores at a negative coordinate of the tensor", InstName(inst)));
      ok = false;
      return;
    }
    if (run.outside && !load) return;
    uint8_t* global = nullptr;
    if (!run.outside) {
      global = ResolveLane(w, inst, run.address, MemSpace::kGlobal, run.bytes, 1, access, lane);
      if (global == nullptr) {
        ok = false;
        return;
      }
    }
    for (uint32_t done = 0; done < run.bytes;) {
      const uint32_t at = address + run.offset + done;
      const uint32_t piece =
          map.swizzle == TensorSwizzle::kNone ? run.bytes : std::min(run.bytes - done, chunk - at % chunk);
      uint8_t* place = shared + (static_cast<int64_t>(SwizzleAddress(map.swizzle, at)) - address);
      uint8_t* element = global != nullptr ? global + done : nullptr;
      moves->push_back(load ? BulkMove{place, element, piece} : BulkMove{element, place, piece});
      done += piece;
    }
  });
  return ok;
}

// `info`: im2col's offsets, or halo and offset of the wide modes; may be null.
TensorBox BoxOf(const Warp& w, const BulkMode& mode, const BoundOperand& tensor, const BoundOperand* info,
                int lane) {
  TensorBox box;
  box.four_rows = mode.four_rows;
  const BoundOperand& at = tensor.elements[1];
  for (int i = 0; i < at.num_elements; ++i)
    box.at[static_cast<size_t>(i)] = static_cast<int32_t>(w.Lane(at.elements[i].row, lane));
  if (info == nullptr) return box;
  const auto number = [&](int i) { return static_cast<uint16_t>(w.Lane(info->elements[i].row, lane)); };
  if (IsWide(mode.mode)) {
    box.halo = number(0);
    box.offsets[0] = number(1);
  } else {
    for (int i = 0; i < info->num_elements; ++i) box.offsets[static_cast<size_t>(i)] = number(i);
  }
  return box;
}

ExecResult CopyTensor(Warp& w, const Inst& inst) {
  BulkMode mode = BulkMode::Unpack(inst.aux[0]);
  const bool load = mode.to != MemSpace::kGlobal;
  const BoundOperand& tensor = inst.op(load ? 1 : 0);
  int next = load ? 3 : 2;
  const int offsets_operand = mode.mode != TensorMode::kTiled && load ? next++ : -1;
  const int mask_operand = mode.multicast ? next++ : -1;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    TensorMap map;
    if (!ReadMap(w, inst, tensor, mode, lane, &map)) return ExecResult::kFault;
    const TensorBox box =
        BoxOf(w, mode, tensor, offsets_operand >= 0 ? &inst.op(offsets_operand) : nullptr, lane);
    if (const std::string error = TensorBoxError(map, box); !error.empty())
      return w.Fail(FaultKind::kIllegalInstruction, lane, absl::StrFormat("%s: %s", InstName(inst), error));
    const uint64_t bytes = TensorCopyBytes(map, box), room = TensorSharedBytes(map, box);
    if (load) {
      BulkTargets targets;
      if (!ResolveTargets(w, inst, mode, GetAddress(w, inst.op(0), lane), room, kSharedAlignment, &inst.op(2),
                          mask_operand >= 0 ? static_cast<uint32_t>(w.Lane(inst.src(mask_operand), lane)) : 0,
                          lane, &targets))
        return ExecResult::kFault;
      for (const BulkTarget& target : targets) {
        PendingBulk bulk = NewBulk(w, lane, mode, target, bytes);
        SetConversion(map, &bulk);
        if (!AddMoves(w, inst, map, box, target.to, target.address, true, Access::kRead, lane, &bulk.moves))
          return ExecResult::kFault;
        AsyncOf(w).Bulk(std::move(bulk));
      }
    } else {
      const uint64_t from = GetAddress(w, inst.op(1), lane);
      uint8_t* shared =
          ResolveLane(w, inst, from, MemSpace::kShared, room, kSharedAlignment, Access::kRead, lane);
      if (shared == nullptr) return ExecResult::kFault;
      mode.type = TensorElementType(map.type);
      PendingBulk bulk = NewBulk(w, lane, mode, BulkTarget{}, bytes);
      bulk.flush = AddsFlush(map.type);
      bulk.pack_six = map.type == TensorDataType::k16U6Align16;
      const Access access = mode.op == AtomicOp::kNone ? Access::kWrite : Access::kAtomic;
      if (!AddMoves(w, inst, map, box, shared, static_cast<uint32_t>(from) & ((1u << kClusterRankShift) - 1),
                    false, access, lane, &bulk.moves))
        return ExecResult::kFault;
      AsyncOf(w).Bulk(std::move(bulk));
    }
  }
  return ExecResult::kNext;
}

ExecResult PrefetchTensor(Warp& w, const Inst& inst) {
  const BulkMode mode = BulkMode::Unpack(inst.aux[0]);
  TensorMap map;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
    if (!ReadMap(w, inst, inst.op(0), mode, __builtin_ctz(rest), &map)) return ExecResult::kFault;
  return ExecResult::kNext;
}

// --- tensormap ---

enum class MapField : uint8_t {
  kAddress,
  kRank,
  kBox,
  kDim,
  kStride,
  kElementStride,
  kType,
  kInterleave,
  kSwizzle,
  kSwizzleAtomicity,
  kFill
};
struct FieldName {
  const char* name;
  MapField field;
};
constexpr FieldName kFields[] = {{"global_address", MapField::kAddress},
                                 {"rank", MapField::kRank},
                                 {"box_dim", MapField::kBox},
                                 {"global_dim", MapField::kDim},
                                 {"global_stride", MapField::kStride},
                                 {"element_stride", MapField::kElementStride},
                                 {"elemtype", MapField::kType},
                                 {"interleave_layout", MapField::kInterleave},
                                 {"swizzle_mode", MapField::kSwizzle},
                                 {"swizzle_atomicity", MapField::kSwizzleAtomicity},
                                 {"fill_mode", MapField::kFill}};
bool HasOrdinal(MapField field) {
  return field == MapField::kBox || field == MapField::kDim || field == MapField::kStride ||
         field == MapField::kElementStride;
}

// Swizzle modes of PTX (none, 32B, 64B, 128B) and atomicities within 128B (16B, 32B, 32B and flip, 64B).
std::string SetSwizzle(TensorMap* map, bool atomicity, uint64_t value) {
  if (value > 3) return absl::StrFormat("value %d, expected 0..3", value);
  if (!atomicity) {
    map->swizzle = static_cast<TensorSwizzle>(value);
  } else if (map->swizzle >= TensorSwizzle::k128B) {
    map->swizzle = static_cast<TensorSwizzle>(static_cast<uint64_t>(TensorSwizzle::k128B) + value);
  } else if (value != 0) {
    return absl::StrFormat("atomicity %d without the 128B swizzle", value);
  }
  return "";
}

std::string SetField(TensorMap* map, MapField field, uint64_t ordinal, uint64_t value) {
  if (ordinal >= static_cast<uint64_t>(kMaxTensorRank - (field == MapField::kStride)))
    return absl::StrFormat("ordinal %d is beyond the rank", ordinal);
  switch (field) {
    case MapField::kAddress:
      map->address = value;
      break;
    case MapField::kRank:
      map->rank = static_cast<int>(value & 0xff) + 1;
      break;
    case MapField::kBox:
      if (value > 256) return absl::StrFormat("box %d, expected 1..256", value);
      map->box[ordinal] = static_cast<uint32_t>(value);
      break;
    case MapField::kDim:
      map->dim[ordinal] = value;
      break;
    case MapField::kStride:
      // Ordinal 0 is the stride of dimension 1: that of dimension 0 is the element.
      map->stride[ordinal + 1] = value;
      break;
    case MapField::kElementStride:
      if (value > 8) return absl::StrFormat("element stride %d, expected 1..8", value);
      map->element_stride[ordinal] = static_cast<uint32_t>(value);
      break;
    case MapField::kType:
      if (value > 15) return absl::StrFormat("element type %d, expected 0..15", value);
      // PTX and CUDA number the types alike but for f32.ftz, f64 and bf16.
      map->type = value == 8    ? TensorDataType::kF32Ftz
                  : value == 9  ? TensorDataType::kF64
                  : value == 10 ? TensorDataType::kBf16
                                : static_cast<TensorDataType>(value);
      break;
    case MapField::kInterleave:
      map->interleave = static_cast<TensorInterleave>(value & 0xff);
      break;
    case MapField::kSwizzle:
      return SetSwizzle(map, false, value);
    case MapField::kSwizzleAtomicity:
      return SetSwizzle(map, true, value);
    case MapField::kFill:
      map->fill = static_cast<TensorFill>(value & 0xff);
      break;
  }
  return "";
}

// aux[0]: space; aux[1]: field.
ExecResult ReplaceField(Warp& w, const Inst& inst) {
  const MapField field = static_cast<MapField>(inst.aux[1]);
  const bool has_ordinal = HasOrdinal(field);
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const uint64_t address = GetAddress(w, inst.op(0), lane);
    uint8_t* bytes = ResolveLane(w, inst, address, static_cast<MemSpace>(inst.aux[0]), kTensorMapBytes, 64,
                                 Access::kAtomic, lane);
    if (bytes == nullptr) return ExecResult::kFault;
    absl::StatusOr<TensorMap> map = ReadTensorMapFields(bytes);
    std::string error;
    if (!map.ok())
      error = std::string(map.status().message());
    else
      error = SetField(&*map, field, has_ordinal ? w.Lane(inst.src(1), lane) : 0,
                       w.Lane(inst.src(has_ordinal ? 2 : 1), lane));
    if (!error.empty())
      return w.Fail(FaultKind::kIllegalInstruction, lane,
                    absl::StrFormat("%s: tensor map at 0x%x: %s", InstName(inst), address, error));
    WriteTensorMapFields(*map, bytes);
  }
  return ExecResult::kNext;
}

// tensormap.cp_fenceproxy: 128 bytes from shared to global memory, once for the warp.
ExecResult CopyMap(Warp& w, const Inst& inst) {
  if (w.mask == 0) return ExecResult::kNext;
  const int lane = __builtin_ctz(w.mask);
  const uint64_t size = w.Lane(inst.src(2), lane);
  if (size != kTensorMapBytes)
    return w.Fail(FaultKind::kIllegalInstruction, lane,
                  absl::StrFormat("%s: size %d, expected 128", InstName(inst), size));
  uint8_t* to = ResolveLane(w, inst, GetAddress(w, inst.op(0), lane), MemSpace::kGlobal, kTensorMapBytes, 128,
                            Access::kWrite, lane);
  if (to == nullptr) return ExecResult::kFault;
  const uint8_t* from = ResolveLane(w, inst, GetAddress(w, inst.op(1), lane), MemSpace::kShared,
                                    kTensorMapBytes, 128, Access::kRead, lane);
  if (from == nullptr) return ExecResult::kFault;
  std::memcpy(to, from, kTensorMapBytes);
  return ExecResult::kNext;
}

bool IsTensor(const Operand& operand, size_t rank) {
  return operand.kind == Operand::Kind::kTensor && operand.elements.size() == 2 &&
         operand.elements[1].elements.size() == rank;
}

}  // namespace

Exec FindAsyncTensor(const Instruction& inst, const ExecContext&) {
  BulkMode mode = FindBulkMode(inst);
  for (int rank = 1; rank <= kMaxTensorRank; ++rank)
    if (inst.Has(absl::StrFormat("%dd", rank).c_str())) mode.rank = static_cast<uint8_t>(rank);
  mode.mode = inst.Has("im2col") || inst.Has("im2col_no_offs") ? TensorMode::kIm2col
              : inst.Has("im2col::w")                          ? TensorMode::kIm2colW
              : inst.Has("im2col::w::128")                     ? TensorMode::kIm2colW128
                                                               : TensorMode::kTiled;
  const bool im2col = mode.mode != TensorMode::kTiled;
  mode.four_rows = inst.Has("tile::gather4") || inst.Has("tile::scatter4");
  if (mode.rank == 0) return Refused(inst, "needs a dimension .1d to .5d");
  if (im2col && mode.rank < 3) return Refused(inst, ".im2col needs at least 3 dimensions");
  if (mode.four_rows && mode.rank != 2) return Refused(inst, "four rows need 2 dimensions");
  const size_t coordinates = mode.four_rows ? 5 : mode.rank;
  const size_t tensor = mode.to != MemSpace::kGlobal && !inst.Has("prefetch") ? 1 : 0;
  if (inst.operands.size() <= tensor || !IsTensor(inst.operands[tensor], coordinates))
    return Refused(inst, absl::StrFormat("needs a tensor map and %d coordinates", coordinates));
  const auto answer = [&](ExecFn fn) {
    const Exec exec = Exact(fn, mode.Pack());
    if (!mode.four_rows && !IsWide(mode.mode) && !inst.Has("cta_group::1") && !mode.cta_pair) return exec;
    return Approximate(exec, "copies of sm_100, by the manual; not compared with hardware");
  };
  if (inst.Has("prefetch")) return answer(PrefetchTensor);
  if (inst.spaces.size() < 2) return Refused(inst, "needs two spaces");
  const bool load = mode.to != MemSpace::kGlobal;
  const bool offsets = im2col && load;
  const size_t needed = (load ? 3 : 2) + offsets + mode.multicast + mode.cache_hint;
  if (inst.operands.size() != needed)
    return Refused(inst, absl::StrFormat("%d operands, expected %d", inst.operands.size(), needed));
  const size_t numbers = IsWide(mode.mode) ? 2 : static_cast<size_t>(mode.rank) - 2;
  if (offsets && inst.operands[3].elements.size() != numbers)
    return Refused(inst, absl::StrFormat("needs %d im2col offsets", numbers));
  if (inst.Has("reduce") && mode.op == AtomicOp::kNone) return Refused(inst, "no such reduction");
  return answer(CopyTensor);
}

Exec FindTensorMap(const Instruction& inst, const ExecContext& context) {
  if (inst.Has("cp_fenceproxy")) {
    if (inst.operands.size() != 3) return Refused(inst, "needs two addresses and a size");
    return Exact(CopyMap);
  }
  if (!inst.Has("replace") || inst.operands.empty()) return Refused(inst, "no such tensormap operation");
  for (const FieldName& row : kFields) {
    if (!inst.Has(row.name)) continue;
    if (inst.operands.size() != (HasOrdinal(row.field) ? 3u : 2u))
      return Refused(inst, "wrong number of operands");
    return Exact(ReplaceField, static_cast<uint64_t>(SpaceOfOperand(inst, inst.operands[0], context)),
                 static_cast<uint64_t>(row.field));
  }
  return Refused(inst, "no such field");
}

}  // namespace understudy::emu::ptx
