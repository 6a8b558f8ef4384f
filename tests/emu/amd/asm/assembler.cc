// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/asm/assembler.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace understudy::emu::amd {

namespace {

struct Diagnostics {
  std::string text;
  std::set<int> lines;  // from 1
};

absl::StatusOr<std::vector<uint8_t>> Run(const std::string& cpu, const std::string& source,
                                         const std::string& features, Diagnostics* found) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  static_cast<void>(initialised);
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::InternalError(error);
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  const llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCAsmInfo> info(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, cpu, features));
  if (!subtarget->isCPUStringValid(cpu)) return absl::InvalidArgumentError("LLVM does not know CPU " + cpu);

  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* out) {
        auto* into = static_cast<Diagnostics*>(out);
        llvm::raw_string_ostream stream(into->text);
        diagnostic.print("asm", stream, false);
        into->lines.insert(diagnostic.getLineNo());
      },
      found);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source), llvm::SMLoc());

  llvm::MCContext context(triple, info.get(), registers.get(), subtarget.get(), &sources);
  std::unique_ptr<llvm::MCObjectFileInfo> object_info(target->createMCObjectFileInfo(context, false));
  context.setObjectFileInfo(object_info.get());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::MCAsmBackend* backend = target->createMCAsmBackend(*subtarget, *registers, options);
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::unique_ptr<llvm::MCAsmBackend>(backend), backend->createObjectWriter(stream),
      std::unique_ptr<llvm::MCCodeEmitter>(target->createMCCodeEmitter(*instructions, context)), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *info));
  std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(/*NoInitialTextSection=*/false) || !found->text.empty()) {
    return absl::InvalidArgumentError(found->text);
  }
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "asm"));
  if (!file) return absl::InternalError(llvm::toString(file.takeError()));
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (!name || !contents) return absl::InternalError("an unreadable section");
    if (*name == ".text") return std::vector<uint8_t>(contents->bytes_begin(), contents->bytes_end());
  }
  return absl::InternalError("no .text");
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Assemble(const std::string& cpu, const std::string& source,
                                              const std::string& features) {
  Diagnostics found;
  return Run(cpu, source, features, &found);
}

absl::StatusOr<std::vector<std::vector<uint8_t>>> AssembleLines(const std::string& cpu,
                                                                const std::vector<std::string>& lines,
                                                                const std::string& features) {
  // Every instruction starts a slot of 32 bytes; a refused line leaves its slot empty in the second pass.
  constexpr size_t kSlot = 32;
  std::set<int> refused;
  for (int pass = 0; pass < 2; ++pass) {
    std::string source;
    for (size_t i = 0; i < lines.size(); ++i) {
      bool skip = refused.count(static_cast<int>(i) * 3 + 1) != 0;
      source += (skip ? ".long 0" : lines[i]) + "\n.byte 0xa5\n.balign 32, 0\n";
    }
    Diagnostics found;
    absl::StatusOr<std::vector<uint8_t>> code = Run(cpu, source, features, &found);
    if (!code.ok() && (pass == 1 || found.lines.empty())) return code.status();
    if (!code.ok()) {
      refused = found.lines;
      continue;
    }
    std::vector<std::vector<uint8_t>> out(lines.size());
    for (size_t i = 0; i < lines.size() && (i + 1) * kSlot <= code->size(); ++i) {
      if (refused.count(static_cast<int>(i) * 3 + 1) != 0) continue;
      auto begin = code->begin() + static_cast<int64_t>(i * kSlot);
      auto end = begin + kSlot;
      while (end != begin && *(end - 1) != 0xa5) --end;  // the mark behind the instruction
      if (end != begin) out[i].assign(begin, end - 1);
    }
    return out;
  }
  return absl::InternalError("unreachable");
}

}  // namespace understudy::emu::amd
