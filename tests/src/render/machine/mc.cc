// SPDX-License-Identifier: Apache-2.0
#include "tests/src/render/machine/mc.h"

#include <llvm-c/Disassembler.h>
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
#include <llvm/Support/raw_ostream.h>

#include "src/base/status.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmParser();
void LLVMInitializeX86Disassembler();
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64AsmParser();
void LLVMInitializeAArch64Disassembler();
}

namespace understudy::test {
namespace {

constexpr const char* kX86Triple = "x86_64-unknown-linux-gnu";
constexpr const char* kA64Triple = "aarch64-unknown-linux-gnu";

}  // namespace

Mc::Mc(bool x86) : x86_(x86) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmParser();
  LLVMInitializeX86Disassembler();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmParser();
  LLVMInitializeAArch64Disassembler();
  disassembler_ = LLVMCreateDisasmCPU(x86 ? kX86Triple : kA64Triple, x86 ? "x86-64-v3" : "generic", nullptr,
                                      0, nullptr, nullptr);
  US_CHECK(disassembler_ != nullptr) << "LLVM has no disassembler";
  if (x86) LLVMSetDisasmOptions(disassembler_, LLVMDisassembler_Option_AsmPrinterVariant);
}
Mc::~Mc() { LLVMDisasmDispose(disassembler_); }

std::string Mc::Disassemble(const uint8_t* code, size_t size, size_t* length) const {
  char text[256];
  std::vector<uint8_t> copy(code, code + size);
  *length = LLVMDisasmInstruction(disassembler_, copy.data(), size, 0, text, sizeof text);
  if (*length == 0) return "";
  std::string s = text;
  if (const size_t comment = s.find(x86_ ? " #" : " //"); comment != std::string::npos) s.resize(comment);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.pop_back();
  return s.substr(s.find_first_not_of(" \t"));
}

std::vector<uint8_t> Mc::Assemble(const std::string& text, std::string* message) const {
  const llvm::Triple triple(x86_ ? kX86Triple : kA64Triple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  US_CHECK(target != nullptr) << error;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  const llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCAsmInfo> info(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, x86_ ? "x86-64-v3" : "generic", ""));
  llvm::SourceMgr sources;
  sources.setDiagHandler([](const llvm::SMDiagnostic& diagnostic,
                            void* out) { *static_cast<std::string*>(out) += diagnostic.getMessage().str(); },
                         message);
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy((x86_ ? ".intel_syntax noprefix\n" : "") + text + "\n"),
      llvm::SMLoc());
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
  if (parser->Run(/*NoInitialTextSection=*/false)) return {};
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "asm"));
  US_CHECK(static_cast<bool>(file)) << "an unreadable object";
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (name && contents && *name == ".text") return {contents->bytes_begin(), contents->bytes_end()};
  }
  return {};
}

}  // namespace understudy::test
