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

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace understudy::emu::amd {

absl::StatusOr<std::vector<uint8_t>> Assemble(const std::string& cpu, const std::string& source,
                                              const std::string& features) {
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

  std::string diagnostics;
  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* out) {
        llvm::raw_string_ostream stream(*static_cast<std::string*>(out));
        diagnostic.print("asm", stream, false);
      },
      &diagnostics);
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
  if (parser->Run(/*NoInitialTextSection=*/false) || !diagnostics.empty()) {
    return absl::InvalidArgumentError(diagnostics);
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

}  // namespace understudy::emu::amd
