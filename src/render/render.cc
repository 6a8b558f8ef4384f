// SPDX-License-Identifier: Apache-2.0
#include "src/render/render.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "src/base/status.h"
#include "src/render/ir_builder.h"

LLD_HAS_DRIVER(elf)

namespace understudy {
namespace {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
}

// Without AVX512-VBMI: with its byte permutations LLVM 22.1 picked a wrong byte in a kernel of i8 tiles. The
// same IR is right without them, and without optimisation (tests/src/runtime/cpu/cpu_random_test.cc has the
// kernel).
std::string HostFeatures() {
  std::string text;
  for (const auto& [name, on] : llvm::sys::getHostCPUFeatures()) {
    const bool use = on && name != "avx512vbmi";
    absl::StrAppend(&text, text.empty() ? "" : ",", use ? "+" : "-", name.str());
  }
  return text;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MachineFor(const Target& target) {
  const bool host = target.isa == "host";
  const llvm::Triple triple(host ? llvm::sys::getProcessTriple() : "amdgcn-amd-amdhsa");
  const std::string cpu = host ? llvm::sys::getHostCPUName().str() : target.isa;
  std::string error;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
  if (t == nullptr)
    return absl::InternalError(absl::StrCat("LLVM has no target ", triple.str(), ": ", error));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // 16-bit values in whole registers. With halves of registers (real-true16, LLVM 22's default for gfx11)
  // eight bytes of which two are defined, `shufflevector <2 x i8> %x, poison, <8 x i32> <0, 1, poison...>`,
  // are selected as
  //   %v:vgpr_32 = REG_SEQUENCE %x:vgpr_16, lo16, undef, hi16, undef, sub1    (sub1 of one register)
  //   %w:vreg_64 = COPY %v
  // which loses x (`global_load_d16_b16 v1, ...`, then `v_mov_b32 v1, s0`); vectors of an odd number of
  // halves stopped the compiler.
  const std::string features = host                     ? HostFeatures()
                               : target.wave_size == 32 ? "+wavefrontsize32,-real-true16"
                                                        : "+wavefrontsize64";
  std::unique_ptr<llvm::TargetMachine> machine(t->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr)
    return absl::InternalError(absl::StrCat("LLVM makes no machine for ", triple.str()));
  // An unknown processor only warns, and gives code for another one.
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(cpu))
    return absl::UnimplementedError(absl::StrCat("LLVM does not know the processor '", cpu, "'"));
  return machine;
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = true;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, mam);
}

// LLVM 22's AMDGPU backend (performFNegCombine, case BITCAST, whatever the type) takes `fneg (bitcast
// (build_vector i32 x, y))` for the negation of an f64, whose sign is in the last word, and negates the last
// element alone: <2 x float> leaves one sign as it was, <4 x float> three. Negations of single floats are
// right, so every vector of them is taken apart, after the passes that could put it together again.
void SplitVectorNegations(llvm::Module& module) {
  std::vector<llvm::Instruction*> negations;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& i : llvm::instructions(function)) {
      if (i.getOpcode() == llvm::Instruction::FNeg && i.getType()->isVectorTy()) negations.push_back(&i);
    }
  }
  for (llvm::Instruction* negation : negations) {
    llvm::IRBuilder<> b(negation);
    b.setFastMathFlags(negation->getFastMathFlags());
    const unsigned count = llvm::cast<llvm::FixedVectorType>(negation->getType())->getNumElements();
    llvm::Value* out = llvm::PoisonValue::get(negation->getType());
    for (unsigned i = 0; i < count; ++i) {
      out = b.CreateInsertElement(out, b.CreateFNeg(b.CreateExtractElement(negation->getOperand(0), i)), i);
    }
    negation->replaceAllUsesWith(out);
    negation->eraseFromParent();
  }
}

// LLVM 22's AMDGPU selector crashes on `vector.reduce.add` of a product of <4 x i8>, which the optimiser
// makes of four unrolled products of bytes. The same sum element by element is selected; sums of i16 go the
// same way, as the shuffles between halves of a short vector gain nothing there.
void SplitNarrowSums(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* sum = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      if (sum == nullptr || sum->getIntrinsicID() != llvm::Intrinsic::vector_reduce_add) continue;
      llvm::Value* elements = sum->getArgOperand(0);
      if (sum->getType()->getIntegerBitWidth() >= 32) continue;
      llvm::IRBuilder<> b(sum);
      const unsigned count = llvm::cast<llvm::FixedVectorType>(elements->getType())->getNumElements();
      llvm::Value* out = b.CreateExtractElement(elements, uint64_t{0});
      for (unsigned k = 1; k < count; ++k) out = b.CreateAdd(out, b.CreateExtractElement(elements, k));
      sum->replaceAllUsesWith(out);
      sum->eraseFromParent();
    }
  }
}

// CodeGenPrepare makes `x + 1` and `x == -1` one addition with overflow, and LLVM 22's AMDGPU backend then
// turns `uaddo_carry (add y, z), 0, carry`, the high word of a 64-bit one, into `uaddo_carry y, z, carry`,
// whose overflow is another (`s_addc_u32 s17, s0, s13; s_cselect_b32 s41, -1, 0`: true whenever s0 + s13
// overflows). Comparisons of wide integers are therefore written so that CodeGenPrepare does not know them.
void HideOverflowTests(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&i);
      if (compare == nullptr || !compare->getOperand(0)->getType()->isIntegerTy()) continue;
      if (compare->getOperand(0)->getType()->getIntegerBitWidth() <= 32) continue;
      llvm::IRBuilder<> b(compare);
      if (compare->isEquality()) {
        // x == c is ~x == ~c.
        if (!llvm::isa<llvm::ConstantInt>(compare->getOperand(1))) continue;
        for (int operand : {0, 1}) compare->setOperand(operand, b.CreateNot(compare->getOperand(operand)));
      } else if (compare->isUnsigned()) {
        for (int operand : {0, 1}) {
          llvm::Value* v = compare->getOperand(operand);
          if (llvm::isa<llvm::BinaryOperator>(v)) compare->setOperand(operand, b.CreateFreeze(v));
        }
      }
    }
  }
}

absl::StatusOr<llvm::SmallVector<char, 0>> EmitObject(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError("LLVM cannot write objects for this target");
  }
  passes.run(module);
  return object;
}

// A file that goes when it is no longer needed.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Create(const char* suffix) {
    llvm::SmallString<128> path;
    if (const std::error_code e = llvm::sys::fs::createTemporaryFile("understudy", suffix, path)) {
      return absl::InternalError(absl::StrCat("cannot create a temporary file: ", e.message()));
    }
    return TemporaryFile(path.str().str());
  }
  TemporaryFile(TemporaryFile&& o) noexcept : path_(std::exchange(o.path_, {})) {}
  ~TemporaryFile() {
    if (!path_.empty()) llvm::sys::fs::remove(path_);
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

absl::StatusOr<std::vector<uint8_t>> Link(const llvm::SmallVector<char, 0>& object) {
  US_ASSIGN_OR_RETURN(const TemporaryFile in, TemporaryFile::Create("o"));
  US_ASSIGN_OR_RETURN(const TemporaryFile out, TemporaryFile::Create("co"));
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(in.path(), error);
    if (error) return absl::InternalError(absl::StrCat("cannot write ", in.path(), ": ", error.message()));
    stream.write(object.data(), object.size());
  }
  std::string stdout_text, stderr_text;
  llvm::raw_string_ostream stdout_stream(stdout_text), stderr_stream(stderr_text);
  static std::mutex* const lld_mutex = new std::mutex;  // lldMain keeps global state
  std::lock_guard lock(*lld_mutex);
  const char* args[] = {"ld.lld",          "-shared", "--no-undefined",  "--threads=1",
                        in.path().c_str(), "-o",      out.path().c_str()};
  const lld::Result result = lld::lldMain(args, stdout_stream, stderr_stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) return absl::InternalError(absl::StrCat("lld: ", stderr_text));
  auto buffer = llvm::MemoryBuffer::getFile(out.path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return absl::InternalError(absl::StrCat("cannot read ", out.path(), ": ", buffer.getError().message()));
  return std::vector<uint8_t>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

// A name that linkers and people can read.
std::string SymbolFor(const std::string& name) {
  std::string symbol;
  for (const char c : name) symbol += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  return symbol.empty() || std::isdigit(static_cast<unsigned char>(symbol[0])) ? "k_" + symbol : symbol;
}

}  // namespace

absl::StatusOr<CompiledKernel> RenderLlvm(const LinearKernel& kernel, const Target& target) {
  const bool host = target.isa == "host";
  if (!host && target.isa.rfind("gfx", 0) != 0)
    return absl::UnimplementedError(
        absl::StrCat("the LLVM renderer has no target '", target.isa, "'; expected host or gfx..."));
  InitializeLlvm();
  US_ASSIGN_OR_RETURN(const auto machine, MachineFor(target));
  llvm::LLVMContext context;
  std::string diagnostics;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* text) {
        if (info->getSeverity() != llvm::DS_Error) return;
        llvm::raw_string_ostream stream(*static_cast<std::string*>(text));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &diagnostics);
  CompiledKernel out;
  out.name = SymbolFor(kernel.name);
  US_ASSIGN_OR_RETURN(const auto module,
                      BuildModule(kernel, out.name, target.isa, machine->createDataLayout(), context));
  module->setTargetTriple(machine->getTargetTriple());
  if (host) {
    for (llvm::Function& f : *module) {
      if (f.isDeclaration()) continue;
      f.addFnAttr("target-cpu", machine->getTargetCPU());
      f.addFnAttr("target-features", machine->getTargetFeatureString());
      // LLVM's own taste is half of the register where the processor has the widest.
      f.addFnAttr("prefer-vector-width", absl::StrCat(8 * target.vector_bytes));
    }
  }
  llvm::raw_string_ostream(out.text) << *module;
  Optimize(*module, *machine);
  if (!host) {
    SplitVectorNegations(*module);
    SplitNarrowSums(*module);
    HideOverflowTests(*module);
  }
  US_ASSIGN_OR_RETURN(const auto object, EmitObject(*module, *machine));
  if (!diagnostics.empty())
    return absl::InternalError(absl::StrCat("kernel ", out.name, ": LLVM: ", diagnostics));
  if (host) {
    out.code.assign(object.begin(), object.end());
  } else {
    US_ASSIGN_OR_RETURN(out.code, Link(object));
  }
  out.global = kernel.global;
  out.local = kernel.local;
  out.local_bytes = kernel.local_bytes;
  out.params = kernel.params;
  out.vars = kernel.vars;
  return out;
}

Target HostTarget() {
  Target t;
  t.isa = "host";
  t.has_threads = true;
  t.threads = std::max(1u, std::thread::hardware_concurrency());
  t.max_vector_bytes = 64;
  t.maximum = {Scalar::kFloat32, Scalar::kFloat64};
  const auto features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](const char* name) {
    const auto it = features.find(name);
    return it != features.end() && it->second;
  };
  t.vector_bytes = has("avx512f") ? 64 : has("avx2") ? 32 : 16;
  t.vector_registers = has("avx512f") || has("neon") ? 32 : 16;
  // Half of the second cache: the other half is for what streams by.
  const int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  t.pack_bytes = std::clamp<int64_t>(cache / 2, 128 << 10, 1 << 20);
  // A store into the caches reads the line first and evicts another. Past 24 second caches (where they have
  // 2 MiB, a copy that is read again breaks even between 32 and 64 MiB) nobody finds the output there anyway.
  t.stream_bytes = 24 * std::max<int64_t>(cache, 1 << 20);
  if (has("f16c")) {
    t.arithmetic = {Scalar::kBool,    Scalar::kInt8,    Scalar::kUInt8, Scalar::kInt16,  Scalar::kUInt16,
                    Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64, Scalar::kUInt64, Scalar::kFloat16,
                    Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  }
  return t;
}

absl::StatusOr<Target> AmdTarget(const std::string& isa) {
  const bool rdna = isa.rfind("gfx11", 0) == 0 || isa.rfind("gfx12", 0) == 0;
  if (!rdna && isa != "gfx90a" && isa != "gfx942" && isa != "gfx950") {
    return absl::UnimplementedError(absl::StrCat("the compiler has no target '", isa,
                                                 "'; expected gfx11.., gfx12.., gfx90a, gfx942 or gfx950"));
  }
  Target t;
  t.isa = isa;
  t.wave_size = rdna ? 32 : 64;
  t.max_workgroup = 1024;
  t.local_bytes = 64 * 1024;
  t.has_local = true;
  t.max_vector_bytes = 16;
  t.maximum = {Scalar::kFloat32, Scalar::kFloat64};
  t.arithmetic = {Scalar::kBool,    Scalar::kInt8,    Scalar::kUInt8, Scalar::kInt16,  Scalar::kUInt16,
                  Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64, Scalar::kUInt64, Scalar::kFloat16,
                  Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  t.tensor_cores = AmdTensorCores(isa);
  return t;
}

Target Gfx1100Target() { return *AmdTarget("gfx1100"); }

}  // namespace understudy
