// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/program_cache.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "emu/amd/semantics/find_exec.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kMaxInstBytes = 16;

// Bytes of [va, va + size) that can be fetched; the rest of `out` is zero.
uint64_t FetchPrefix(AddressSpace& memory, uint64_t va, uint8_t* out, uint64_t size) {
  if (memory.Read(va, out, size, Access::kExecute)) return size;
  uint64_t n = 0;
  while (n + 4 <= size && memory.Read(va + n, out + n, 4, Access::kExecute)) n += 4;
  std::fill(out + n, out + size, 0);
  return n;
}

bool IsScalar(Encoding enc) {
  return enc == Encoding::SOP1 || enc == Encoding::SOP2 || enc == Encoding::SOPC || enc == Encoding::SOPK ||
         enc == Encoding::SOPP || enc == Encoding::SMEM;
}

uint64_t NamedRegisters(const Inst& inst) {
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  const int general = IsCdna(inst.isa) ? kFlatScratchLo : kSgprCount;
  const auto count = [&](const Operand& operand) {
    const uint32_t end = operand.reg + std::max<uint32_t>(operand.dwords, 1);
    if (operand.is_vgpr()) vgprs = std::max(vgprs, end);
    if (operand.kind == Operand::Kind::kAgpr) agprs = std::max(agprs, end);
    if (operand.is_sgpr() && operand.reg < general) sgprs = std::max(sgprs, end);
  };
  for (const Operand& operand : inst.dst) count(operand);
  for (const Operand& operand : inst.src) count(operand);
  return PackRegisters(vgprs, agprs, sgprs, !IsScalar(inst.enc));
}

// Executors index WaveState::sgpr without checks.
bool ScalarOperandsFit(const Inst& inst) {
  const auto fits = [](const Operand& operand) {
    return !operand.is_sgpr() || operand.type == DataType::M64 ||
           operand.reg + std::max<int>(operand.dwords, 1) <= 128;
  };
  return std::all_of(std::begin(inst.dst), std::end(inst.dst), fits) &&
         std::all_of(std::begin(inst.src), std::end(inst.src), fits);
}

}  // namespace

ProgramCache::Page* ProgramCache::FindPage(uint64_t pc, int wave_size, AddressSpace& memory) {
  const uint64_t base = pc & ~(kPageBytes - 1);
  std::unique_ptr<Page>& page = pages_[base | (wave_size == 64 ? 1 : 0)];
  if (page != nullptr && page->epoch == epoch_) return page.get();
  decltype(Page::bytes) now;
  // Code before the mapped part of a page reads as zero; such words are never decoded.
  uint64_t done = 0;
  while (done < now.size()) {
    const uint64_t got = FetchPrefix(memory, base + done, now.data() + done, now.size() - done);
    done += got == 0 ? 4 : got;
    if (got == 0 && done > kPageBytes) break;
  }
  if (page == nullptr || page->bytes != now) {
    page = std::make_unique<Page>();
    page->bytes = now;
    page->wave_size = wave_size;
  }
  page->epoch = epoch_;
  return page.get();
}

const ProgramEntry* ProgramCache::Fill(Page& page, uint64_t pc, AddressSpace& memory, FaultKind* kind,
                                       std::string* message) {
  uint8_t bytes[kMaxInstBytes];
  const uint64_t available = FetchPrefix(memory, pc, bytes, sizeof(bytes));
  if (available == 0) {
    *kind = FaultKind::kMemory;
    *message = memory.Explain(pc, 4, Access::kExecute).Message();
    return nullptr;
  }
  ProgramEntry entry;
  absl::Status status = DecodeInto(isa_, bytes, available, &entry.inst);
  if (status.ok()) status = ResolveWaveSize(page.wave_size, &entry.inst);
  if (!status.ok()) {
    *kind = absl::IsUnimplemented(status) ? FaultKind::kUnsupported : FaultKind::kIllegalInstruction;
    *message = std::string(status.message());
    return nullptr;
  }
  if (!ScalarOperandsFit(entry.inst)) {
    *kind = FaultKind::kIllegalInstruction;
    *message = "a scalar operand reaches past EXEC_HI, the last scalar register";
    return nullptr;
  }
  entry.size = entry.inst.size;
  entry.registers = NamedRegisters(entry.inst);
  entry.fn = FindExec(entry.inst, message);
  if (entry.fn == nullptr) {
    *kind = FaultKind::kUnsupported;
    return nullptr;
  }
  page.entries.push_back(entry);
  page.slot[(pc & (kPageBytes - 1)) / 4] = &page.entries.back();
  return &page.entries.back();
}

}  // namespace understudy::emu::amd
