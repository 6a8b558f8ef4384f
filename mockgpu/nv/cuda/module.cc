// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/module.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "emu/ptx/parse/parse.h"
#include "mockgpu/nv/cuda/fatbin.h"

namespace understudy::mockgpu::nv {
namespace {

using emu::ptx::Instruction;
using emu::ptx::Operand;
using emu::ptx::Space;
using emu::ptx::Variable;

// The newest PTX ISA that the parser knows.
constexpr int kPtxMajor = 9, kPtxMinor = 0;
constexpr size_t kElfHeaderBytes = 64;

void Touch(const Operand& o, int at, std::vector<std::pair<int, int>>* spans) {
  const auto mark = [&](int r) {
    if (r < 0 || static_cast<size_t>(r) >= spans->size()) return;
    auto& s = (*spans)[static_cast<size_t>(r)];
    if (s.first < 0) s.first = at;
    s.second = at;
  };
  if (o.kind == Operand::Kind::kRegister) mark(o.index);
  if (o.kind == Operand::Kind::kAddress && o.base_kind == Operand::Base::kRegister) mark(o.index);
  for (const Operand& e : o.elements) Touch(e, at, spans);
}

// Registers that ptxas would need: the most that are alive at once, between first and last mention, and what
// the ABI keeps. An estimate: loops may keep registers alive longer.
int EstimateRegisters(const emu::ptx::Function& f) {
  std::vector<std::pair<int, int>> spans(f.registers.size(), {-1, -1});
  for (size_t i = 0; i < f.body.size(); ++i) {
    for (const Operand& o : f.body[i].operands) Touch(o, static_cast<int>(i), &spans);
    if (f.body[i].has_guard && f.body[i].guard >= 0) {
      auto& s = spans[static_cast<size_t>(f.body[i].guard)];
      if (s.first < 0) s.first = static_cast<int>(i);
      s.second = static_cast<int>(i);
    }
  }
  std::vector<int> change(f.body.size() + 2, 0);
  for (size_t r = 0; r < spans.size(); ++r) {
    if (spans[r].first < 0) continue;
    const int bits = emu::ptx::TypeBits(f.registers[r].type);
    const int words = bits <= 1 ? 0 : std::max(1, bits / 32);
    change[static_cast<size_t>(spans[r].first)] += words;
    change[static_cast<size_t>(spans[r].second) + 1] -= words;
  }
  int now = 0, most = 0;
  for (const int c : change) most = std::max(most, now += c);
  int registers = std::clamp((most + 8 + 7) / 8 * 8, 16, 255);
  // A block of the size that .reqntid or .maxntid names fits the multiprocessor's 65,536: ptxas spills the
  // rest. Warps take registers in units of 256, from one of four parts.
  for (const auto& threads : {f.required_threads, f.max_threads}) {
    const uint32_t warps =
        (std::max(threads[0], 1u) * std::max(threads[1], 1u) * std::max(threads[2], 1u) + 31) / 32;
    if (threads[0] != 0)
      registers = std::min<int>(registers, static_cast<int>(65536 / 4 / ((warps + 3) / 4) / 256 * 256 / 32));
  }
  return f.max_registers != 0 ? std::min<int>(registers, static_cast<int>(f.max_registers)) : registers;
}

std::string LogLine(const char* level, const std::string& text) {
  return absl::StrCat("ptxas ", level, " : ", text, "\n");
}
// A complaint about a line of the text, in the form that programs look for.
std::string LogLine(int line, const char* level, const std::string& text) {
  return absl::StrCat("ptxas application ptx input, line ", line, "; ", level, " : ", text, "\n");
}

// The version that a text states, where it states one: it is looked at before the rest is read.
bool VersionOf(const std::string& ptx, int* major, int* minor, int* line) {
  const size_t at = ptx.find(".version");
  if (at == std::string::npos || std::sscanf(ptx.c_str() + at, ".version %d.%d", major, minor) != 2)
    return false;
  *line = 1 + static_cast<int>(std::count(ptx.begin(), ptx.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  return true;
}

}  // namespace

CUresult JitOptions::Read(unsigned count, const CUjit_option* options, void** option_values) {
  US_CUDA_REQUIRE(count == 0 || (options != nullptr && option_values != nullptr), CUDA_ERROR_INVALID_VALUE);
  out_ = option_values;
  int buffers = 0;
  for (unsigned i = 0; i < count; ++i) {
    US_CUDA_REQUIRE(options[i] >= 0 && options[i] <= CU_JIT_SPLIT_COMPILE, CUDA_ERROR_INVALID_VALUE);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER)
      buffers |= 1 << options[i];
    values[options[i]] = option_values[i];
    place_[options[i]] = i;
  }
  // A size without its buffer.
  for (const int buffer : {CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER})
    US_CUDA_REQUIRE(place_.count(buffer + 1) == 0 || (buffers >> buffer & 1) != 0, CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

void JitOptions::Write(const std::string& info, const std::string& error) const {
  const auto log = [&](int buffer, int size, const std::string& text) {
    const auto b = values.find(buffer);
    const auto s = values.find(size);
    if (s == values.end()) return;
    const size_t room = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(s->second));
    size_t written = 0;
    if (b != values.end() && b->second != nullptr && room > 0) {
      written = std::min(room - 1, text.size());
      std::memcpy(b->second, text.data(), written);
      static_cast<char*>(b->second)[written] = 0;
    }
    // The size's place receives how much was written.
    out_[place_.at(size)] = reinterpret_cast<void*>(static_cast<uintptr_t>(written));
  };
  log(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, info);
  log(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
  if (const auto t = place_.find(CU_JIT_WALL_TIME); t != place_.end()) {
    const float none = 0;
    std::memcpy(&out_[t->second], &none, sizeof none);
  }
}

CUresult PtxOfBytes(const void* image, size_t bytes, const Device& device, std::string* ptx,
                    std::string* log) {
  const auto* data = static_cast<const uint8_t*>(image);
  if (bytes >= 4 && std::memcmp(data,
                                "\x7f"
                                "ELF",
                                4) == 0) {
    // e_machine of a CUDA image; anything else is no image.
    constexpr uint16_t kMachineCuda = 190;
    if (bytes >= kElfHeaderBytes && (data[18] != kMachineCuda || data[19] != 0)) {
      *log += "the image is an ELF file, but not of CUDA\n";
      return CUDA_ERROR_INVALID_IMAGE;
    }
    *log += LogLine("fatal  ",
                    "the image is machine code (a cubin), which is not run here: give PTX "
                    "(-gencode arch=compute_NN,code=compute_NN)");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (bytes >= kFatbinHeaderBytes && FatbinBytes(data) != 0) {
    const auto entries = ReadFatbin({data, bytes});
    if (!entries.ok()) {
      *log += LogLine("fatal  ", std::string(entries.status().message()));
      return CUDA_ERROR_INVALID_IMAGE;
    }
    const FatbinEntry* best = ChoosePtx(*entries, device.profile->sm(), device.profile->target_suffix == 'a');
    if (best == nullptr) {
      *log += LogLine("fatal  ", absl::StrCat("the fatbinary has no PTX that sm_", device.profile->sm(),
                                              " runs, only ", ListEntries(*entries),
                                              "; machine code is not run here: build with "
                                              "-gencode arch=compute_NN,code=compute_NN"));
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *ptx = best->text;
    return CUDA_SUCCESS;
  }
  ptx->assign(reinterpret_cast<const char*>(data), bytes);
  ptx->resize(std::strlen(ptx->c_str()));
  // Text has a version line somewhere; anything else is no image at all.
  if (ptx->find(".version") == std::string::npos) {
    *log += "the image is neither PTX nor a fatbinary\n";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  return CUDA_SUCCESS;
}

CUresult PtxOfImage(const void* image, const Device& device, std::string* ptx, std::string* log) {
  US_CUDA_REQUIRE(image != nullptr, CUDA_ERROR_INVALID_VALUE);
  // Strings may be shorter than any header: look byte by byte.
  const auto* bytes = static_cast<const uint8_t*>(image);
  const auto begins = [&](uint32_t magic) {
    for (int i = 0; i < 4; ++i)
      if (bytes[i] != (magic >> 8 * i & 0xff)) return false;
    return true;
  };
  if (begins(kFatbinWrapperMagic)) {
    const void* inner = nullptr;
    std::memcpy(&inner, bytes + 8, sizeof inner);
    return PtxOfImage(inner, device, ptx, log);
  }
  if (begins(kFatbinMagic)) {
    const uint64_t size = FatbinBytes(bytes);
    US_CUDA_REQUIRE(size != 0, CUDA_ERROR_INVALID_IMAGE);
    return PtxOfBytes(image, size, device, ptx, log);
  }
  if (begins(0x464c457f)) return PtxOfBytes(image, 4, device, ptx, log);
  return PtxOfBytes(image, std::strlen(static_cast<const char*>(image)), device, ptx, log);
}

CUresult ParsePtx(const std::string& ptx, const std::string& name, const Device& device,
                  std::shared_ptr<const emu::ptx::Module>* out, std::string* log) {
  if (int major = 0, minor = 0, line = 0; VersionOf(ptx, &major, &minor, &line) &&
                                          (major > kPtxMajor || (major == kPtxMajor && minor > kPtxMinor))) {
    *log += LogLine(line, "fatal  ",
                    absl::StrCat("Unsupported .version ", major, ".", minor, "; current version is '",
                                 kPtxMajor, ".", kPtxMinor, "'"));
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  emu::ptx::ParseOptions options;
  options.name = name;
  const emu::ptx::ParseResult parsed = emu::ptx::Parse(ptx, options);
  if (parsed.module == nullptr) {
    for (const emu::ptx::Diagnostic& d : parsed.diagnostics)
      *log += LogLine(d.location.line, d.warning ? "warning" : "error  ", d.message);
    *log += LogLine("fatal  ", "Ptx assembly aborted due to errors");
    return CUDA_ERROR_INVALID_PTX;
  }
  const emu::ptx::Module& m = *parsed.module;
  if (m.address_size != 64) {
    *log += LogLine("fatal  ", "32-bit addresses are not supported");
    return CUDA_ERROR_INVALID_PTX;
  }
  const int sm = device.profile->sm();
  const bool fits = m.sm_suffix == 'a'   ? m.sm == sm && device.profile->target_suffix == 'a'
                    : m.sm_suffix == 'f' ? m.sm <= sm && m.sm / 10 == sm / 10
                                         : m.sm <= sm;
  if (!fits) {
    *log += LogLine("fatal  ", absl::StrCat("SM version specified by .target ", m.target,
                                            " does not run on the device, which is sm_", sm));
    return CUDA_ERROR_INVALID_PTX;
  }
  *out = parsed.module;
  return CUDA_SUCCESS;
}

namespace {

// The module's variables in memory: addresses by name.
class Loader {
 public:
  Loader(Driver& driver, Context* context, Module* module)
      : driver_(driver), context_(context), module_(module) {}

  CUresult Place(const Variable& v, const std::string& name, std::string* log) {
    if (v.space != Space::kGlobal && v.space != Space::kConst) return CUDA_SUCCESS;
    if (v.linkage == emu::ptx::Linkage::kExtern) {
      if (module_->text->FindVariable(v.name) == &v) {
        *log += LogLine("fatal  ", absl::StrCat("Unresolved extern variable '", v.name, "'"));
        return CUDA_ERROR_INVALID_PTX;
      }
      return CUDA_SUCCESS;
    }
    Range* range = nullptr;
    const uint64_t bytes = std::max<uint64_t>(v.size, 1);
    US_CUDA_TRY(v.managed
                    ? driver_.AllocateHost(context_, bytes, RangeKind::kManaged, CU_MEM_ATTACH_GLOBAL, &range)
                    : driver_.Allocate(context_, bytes, RangeKind::kModule, 0, &range));
    if (!v.init.empty())
      std::memcpy(range->host(range->va), v.init.data(), std::min<size_t>(v.init.size(), bytes));
    module_->globals[name] = {range->va, v.size, v.managed};
    addresses[name] = range->va;
    placed_.push_back({&v, range});
    return CUDA_SUCCESS;
  }

  // Initialisers that name addresses.
  CUresult Relocate(const emu::ptx::Program& program, std::string* log) {
    for (const auto& [variable, range] : placed_) {
      for (const emu::ptx::Relocation& r : variable->relocations) {
        uint64_t value = 0;
        if (const auto it = addresses.find(r.symbol); it != addresses.end()) {
          value = it->second;
        } else {
          const auto& functions = module_->text->functions;
          const auto f = std::find_if(functions.begin(), functions.end(),
                                      [&](const emu::ptx::Function& fn) { return fn.name == r.symbol; });
          if (f == functions.end()) {
            *log += LogLine("fatal  ", absl::StrCat("initialiser of '", variable->name, "' names '", r.symbol,
                                                    "', which has no address"));
            return CUDA_ERROR_INVALID_PTX;
          }
          value = program.function_address(static_cast<int>(f - functions.begin()));
        }
        value = (value + static_cast<uint64_t>(r.addend)) >> r.shift & r.mask;
        if (r.offset + static_cast<uint64_t>(r.bytes) > range->bytes || r.bytes > 8)
          return CUDA_ERROR_INVALID_PTX;
        std::memcpy(range->host(range->va + r.offset), &value, static_cast<size_t>(r.bytes));
      }
    }
    return CUDA_SUCCESS;
  }

  void Undo() {
    for (const auto& [variable, range] : placed_) driver_.RemoveRange(range);
  }

  emu::ptx::SymbolAddresses addresses;

 private:
  Driver& driver_;
  Context* context_;
  Module* module_;
  std::vector<std::pair<const Variable*, Range*>> placed_;
};

}  // namespace

CUresult LoadModule(Driver& driver, Context* context, const std::string& ptx, Module** out,
                    std::string* log) {
  std::shared_ptr<const emu::ptx::Module> text;
  US_CUDA_TRY(ParsePtx(ptx, "ptx", *context->device, &text, log));
  Module* const module = driver.modules.Make();
  module->context = context;
  module->text = text;
  Loader loader(driver, context, module);
  CUresult result = CUDA_SUCCESS;
  for (const Variable& v : text->variables)
    if (result == CUDA_SUCCESS) result = loader.Place(v, v.name, log);
  for (const emu::ptx::Function& f : text->functions)
    for (const Variable& v : f.variables)
      if (result == CUDA_SUCCESS) result = loader.Place(v, absl::StrCat(f.name, ".", v.name), log);
  if (result == CUDA_SUCCESS) {
    auto program = emu::ptx::Program::Build(text, loader.addresses);
    if (!program.ok()) {
      *log += LogLine("fatal  ", std::string(program.status().message()));
      result = absl::IsUnimplemented(program.status()) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_PTX;
    } else {
      module->program = *std::move(program);
      result = loader.Relocate(*module->program, log);
    }
  }
  if (result != CUDA_SUCCESS) {
    loader.Undo();
    driver.modules.Destroy(module);
    return result;
  }
  for (const char* name : {"malloc", "free"})
    if (const emu::ptx::Function* function = text->FindFunction(name))
      module->uses_heap = module->uses_heap || function->is_declaration;
  const int optin = context->device->Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  for (const emu::ptx::BoundFunction& bound : module->program->functions()) {
    if (bound.text == nullptr || !bound.text->is_entry) continue;
    Function* const f = driver.functions.Make();
    f->module = module;
    f->name = bound.text->name;
    f->bound = &bound;
    f->registers = EstimateRegisters(*bound.text);
    f->max_dynamic_shared = std::max(0, optin - static_cast<int>(f->static_shared()));
    for (int d = 0; d < 3; ++d) f->cluster[d] = static_cast<int>(bound.text->cluster[d]);
    f->cluster_must_be_set = bound.text->explicit_cluster && bound.text->cluster[0] == 0;
    module->functions[f->name] = f;
  }
  *out = module;
  return CUDA_SUCCESS;
}

void DestroyModule(Module* module) {
  Driver& driver = Driver::Get();
  for (const auto& [name, f] : module->functions) driver.functions.Destroy(f);
  for (const auto& [name, global] : module->globals) {
    Range* const range = driver.FindRange(global.va);
    if (range != nullptr) driver.RemoveRange(range);
  }
  if (module->library != nullptr) module->library->modules.erase(module->context);
  driver.modules.Destroy(module);
}

CUresult LibraryModule(Driver& driver, Library* library, Context* context, Module** out) {
  Module*& mine = library->modules[context];
  if (mine == nullptr) {
    std::string log;
    const CUresult result = LoadModule(driver, context, library->ptx, &mine, &log);
    if (result != CUDA_SUCCESS) {
      driver.Log(log);
      library->modules.erase(context);
      return result;
    }
    mine->library = library;
    for (const auto& [name, kernel] : library->kernels) {
      const auto f = mine->functions.find(name);
      if (f == mine->functions.end()) continue;
      for (const auto& [attribute, value] : kernel->attributes[context->device->index])
        US_CUDA_TRY(SetFunctionAttribute(f->second, *context->device, attribute, value));
    }
  }
  *out = mine;
  return CUDA_SUCCESS;
}

CUresult KernelFunction(Driver& driver, Kernel* kernel, Context* context, Function** out) {
  Module* module = nullptr;
  US_CUDA_TRY(LibraryModule(driver, kernel->library, context, &module));
  const auto it = module->functions.find(kernel->name);
  US_CUDA_REQUIRE(it != module->functions.end(), CUDA_ERROR_NOT_FOUND);
  *out = it->second;
  return CUDA_SUCCESS;
}

CUresult FindFunction(Driver& driver, CUfunction handle, Function** out) {
  if (driver.functions.Has(handle)) {
    *out = handle;
    return CUDA_SUCCESS;
  }
  auto* const kernel = reinterpret_cast<Kernel*>(handle);
  US_CUDA_REQUIRE(driver.kernels.Has(kernel), CUDA_ERROR_INVALID_HANDLE);
  Context* context = nullptr;
  US_CUDA_TRY(driver.Current(&context));
  return KernelFunction(driver, kernel, context, out);
}

CUresult ParamInfo(const Function& f, size_t index, size_t* offset, size_t* size) {
  const std::vector<uint32_t> offsets = f.module->program->param_offsets(*f.bound);
  US_CUDA_REQUIRE(index < offsets.size() && offset != nullptr, CUDA_ERROR_INVALID_VALUE);
  *offset = offsets[index];
  if (size != nullptr) *size = f.text().parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult FunctionAttribute(const Function& f, const Device& device, CUfunction_attribute attribute,
                           int* out) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = f.max_threads(device);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *out = static_cast<int>(f.static_shared());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      uint64_t bytes = 0;
      for (const emu::ptx::Variable& v : f.module->text->variables)
        if (v.space == Space::kConst) bytes += v.size;
      *out = static_cast<int>(bytes);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *out = static_cast<int>(f.bound->local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *out = f.registers;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *out = f.module->text->sm;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = device.profile->sm();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *out = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = f.max_dynamic_shared;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = f.carveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *out = f.cluster_must_be_set;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *out = f.cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *out = f.non_portable_cluster;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *out = f.cluster_policy;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult SetFunctionAttribute(Function* f, const Device& device, CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const int most = device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
      US_CUDA_REQUIRE(value >= 0 && value + static_cast<int64_t>(f->static_shared()) <= most,
                      CUDA_ERROR_INVALID_VALUE);
      f->max_dynamic_shared = value;
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      US_CUDA_REQUIRE(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
      f->carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      // What the code says stays.
      US_CUDA_REQUIRE(
          value >= 0 && (f->text().cluster[0] == 0 ||
                         value == f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]),
          CUDA_ERROR_INVALID_VALUE);
      f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      f->non_portable_cluster = value != 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      US_CUDA_REQUIRE(value >= 0 && value <= 2, CUDA_ERROR_INVALID_VALUE);
      f->cluster_policy = value;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace understudy::mockgpu::nv

int CUfunc_st::max_threads(const understudy::mockgpu::nv::Device& device) const {
  const understudy::emu::ptx::Function& f = text();
  const auto product = [](const uint32_t (&d)[3]) {
    return static_cast<int>(std::max(d[0], 1u) * std::max(d[1], 1u) * std::max(d[2], 1u));
  };
  int most = device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (f.max_threads[0] != 0) most = std::min(most, product(f.max_threads));
  // Registers are given to warps in units of 256, by each of the four parts of a multiprocessor.
  const int per_warp = (registers * 32 + 255) / 256 * 256;
  const int warps =
      device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) / 4 / std::max(per_warp, 256) * 4;
  return std::min(most, warps * 32);
}
