// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/code_object.h"

#include <elf.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

constexpr uint16_t kMachineAmdGpu = 224;
constexpr uint8_t kOsAbiHsa = 64;
constexpr uint32_t kNoteMetadata = 32;  // NT_AMDGPU_METADATA
constexpr uint64_t kDescriptorBytes = 64;

// e_flags & 0xff (EF_AMDGPU_MACH_*, LLVM BinaryFormat/ELF.h).
constexpr struct {
  uint32_t mach;
  const char* isa;
} kMachines[] = {
    {0x2c, "gfx900"},  {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x31, "gfx909"},  {0x3f, "gfx90a"},
    {0x4c, "gfx942"},  {0x4f, "gfx950"},  {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"},
    {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"}, {0x3e, "gfx1034"},
    {0x3d, "gfx1035"}, {0x45, "gfx1036"}, {0x41, "gfx1100"}, {0x46, "gfx1101"}, {0x47, "gfx1102"},
    {0x44, "gfx1103"}, {0x43, "gfx1150"}, {0x4a, "gfx1151"}, {0x48, "gfx1200"}, {0x4e, "gfx1201"},
};

absl::Status Bad(uint64_t offset, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrFormat("code object, offset 0x%x: %s", offset, what));
}

}  // namespace

// Walks the file once, front to back: header, segments, dynamic table, symbols, relocations, descriptors,
// metadata. All reads go through At or through image addresses checked by Loaded.
class CodeObjectParser {
 public:
  explicit CodeObjectParser(absl::Span<const uint8_t> file) : file_(file) {}

  absl::StatusOr<CodeObject> Run() {
    US_RETURN_IF_ERROR(ReadHeader());
    US_RETURN_IF_ERROR(ReadSegments());
    US_RETURN_IF_ERROR(ReadDynamic());
    US_RETURN_IF_ERROR(ReadSymbols());
    US_RETURN_IF_ERROR(ReadRelocations());
    US_RETURN_IF_ERROR(ReadKernels());
    US_RETURN_IF_ERROR(ReadMetadata());
    return std::move(out_);
  }

 private:
  // `n` bytes of the file.
  absl::StatusOr<const uint8_t*> At(uint64_t offset, uint64_t n, const std::string& what) const {
    if (offset > file_.size() || n > file_.size() - offset) {
      return Bad(offset, absl::StrCat(what, " needs ", n, " bytes, the file has ", file_.size()));
    }
    return file_.data() + offset;
  }

  // `n` bytes at an image address that a segment's file part covers, or nullptr.
  const uint8_t* Loaded(uint64_t address, uint64_t n) const {
    for (const CodeObject::Segment& s : out_.segments_) {
      if (address >= s.address && address - s.address <= s.bytes.size() &&
          n <= s.bytes.size() - (address - s.address)) {
        return s.bytes.data() + (address - s.address);
      }
    }
    return nullptr;
  }
  absl::StatusOr<const uint8_t*> NeedLoaded(uint64_t address, uint64_t n, const std::string& what) const {
    if (const uint8_t* p = Loaded(address, n)) return p;
    return absl::InvalidArgumentError(absl::StrFormat(
        "code object: %s at address 0x%x needs %d bytes that no segment loads", what, address, n));
  }

  absl::Status ReadHeader() {
    US_ASSIGN_OR_RETURN(const uint8_t* p, At(0, sizeof(Elf64_Ehdr), "the ELF header"));
    header_ = LoadLE<Elf64_Ehdr>(p);
    const unsigned char* id = header_.e_ident;
    if (std::memcmp(id, ELFMAG, SELFMAG) != 0) return Bad(0, "not an ELF file (magic)");
    const struct {
      uint64_t offset, value, expected;
      const char* name;
    } kFields[] = {
        {EI_CLASS, id[EI_CLASS], ELFCLASS64, "class (2: 64 bits)"},
        {EI_DATA, id[EI_DATA], ELFDATA2LSB, "data (1: little-endian)"},
        {EI_VERSION, id[EI_VERSION], EV_CURRENT, "identification version"},
        {EI_OSABI, id[EI_OSABI], kOsAbiHsa, "OS ABI (64: AMDGPU HSA)"},
        {offsetof(Elf64_Ehdr, e_type), header_.e_type, ET_DYN, "type (3: shared object)"},
        {offsetof(Elf64_Ehdr, e_machine), header_.e_machine, kMachineAmdGpu, "machine (224: AMDGPU)"},
        {offsetof(Elf64_Ehdr, e_version), header_.e_version, EV_CURRENT, "version"},
        {offsetof(Elf64_Ehdr, e_ehsize), header_.e_ehsize, sizeof(Elf64_Ehdr), "size of this header"},
        {offsetof(Elf64_Ehdr, e_phentsize), header_.e_phentsize, sizeof(Elf64_Phdr),
         "size of a program header"},
    };
    for (const auto& f : kFields) {
      if (f.value != f.expected)
        return Bad(f.offset, absl::StrCat(f.name, " is ", f.value, ", expected ", f.expected));
    }
    const int abi = id[EI_ABIVERSION];
    if (abi < 2 || abi > 4) {
      return absl::UnimplementedError(absl::StrFormat(
          "code object, offset 0x%x: ABI version is %d, expected 2 to 4 (code object version 4 to 6)",
          EI_ABIVERSION, abi));
    }
    out_.version_ = abi + 2;
    const uint32_t mach = header_.e_flags & 0xff;
    for (const auto& m : kMachines) {
      if (m.mach == mach) out_.isa_ = m.isa;
    }
    if (out_.isa_.empty()) {
      return absl::UnimplementedError(absl::StrFormat(
          "code object, offset 0x%x: processor 0x%02x is not known", offsetof(Elf64_Ehdr, e_flags), mach));
    }
    out_.xnack_ = static_cast<CodeObject::Feature>(header_.e_flags >> 8 & 3);
    out_.sramecc_ = static_cast<CodeObject::Feature>(header_.e_flags >> 10 & 3);
    return absl::OkStatus();
  }

  absl::Status ReadSegments() {
    if (header_.e_phnum == 0 || header_.e_phnum > 256) {
      return Bad(offsetof(Elf64_Ehdr, e_phnum),
                 absl::StrCat(header_.e_phnum, " program headers, expected 1 to 256"));
    }
    US_ASSIGN_OR_RETURN(
        const uint8_t* table,
        At(header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr), "the program header table"));
    uint64_t end = 0;
    for (int i = 0; i < header_.e_phnum; ++i) {
      const auto ph = LoadLE<Elf64_Phdr>(table + i * sizeof(Elf64_Phdr));
      const uint64_t where = header_.e_phoff + i * sizeof(Elf64_Phdr);
      switch (ph.p_type) {
        case PT_LOAD: {
          US_ASSIGN_OR_RETURN(const uint8_t* bytes,
                              At(ph.p_offset, ph.p_filesz, absl::StrCat("loaded segment ", i)));
          if (ph.p_filesz > ph.p_memsz) {
            return Bad(where, absl::StrCat("segment ", i, ": file size ", ph.p_filesz,
                                           " exceeds memory size ", ph.p_memsz));
          }
          if (ph.p_memsz > CodeObject::kMaxImage || ph.p_vaddr > CodeObject::kMaxImage - ph.p_memsz) {
            return Bad(where, absl::StrFormat(
                                  "segment %d: address 0x%x and memory size 0x%x exceed an image of 0x%x", i,
                                  ph.p_vaddr, ph.p_memsz, CodeObject::kMaxImage));
          }
          // The ELF specification: loaded segments ascend. Overlap would make the image depend on our order.
          if (ph.p_vaddr < end) {
            return Bad(where,
                       absl::StrFormat("segment %d: address 0x%x overlaps or precedes the one before, which "
                                       "ends at 0x%x",
                                       i, ph.p_vaddr, end));
          }
          end = ph.p_vaddr + ph.p_memsz;
          if (ph.p_memsz != 0) out_.segments_.push_back({ph.p_vaddr, {bytes, bytes + ph.p_filesz}});
          break;
        }
        case PT_DYNAMIC:
          if (dynamic_size_ != 0) return Bad(where, "a second dynamic table");
          dynamic_address_ = ph.p_vaddr;
          dynamic_size_ = ph.p_filesz;
          break;
        case PT_NOTE:
          notes_.push_back({ph.p_offset, ph.p_filesz});
          break;
        case PT_INTERP:
        case PT_TLS:
          return absl::UnimplementedError(absl::StrFormat(
              "code object, offset 0x%x: program header %d of type %d (interpreter or thread-local storage)",
              where, i, ph.p_type));
        default:
          break;  // PHDR, GNU_RELRO, GNU_STACK: nothing to do on a GPU
      }
    }
    if (out_.segments_.empty()) return Bad(header_.e_phoff, "no segment to load");
    out_.image_size_ = end;
    return absl::OkStatus();
  }

  absl::Status ReadDynamic() {
    if (dynamic_size_ == 0) return Bad(header_.e_phoff, "no dynamic table");
    US_ASSIGN_OR_RETURN(const uint8_t* p, NeedLoaded(dynamic_address_, dynamic_size_, "the dynamic table"));
    bool ended = false;
    for (uint64_t i = 0; !ended && i + sizeof(Elf64_Dyn) <= dynamic_size_; i += sizeof(Elf64_Dyn)) {
      const auto d = LoadLE<Elf64_Dyn>(p + i);
      if (d.d_tag == DT_NULL)
        ended = true;
      else
        dynamic_[d.d_tag] = d.d_un.d_val;
    }
    if (!ended) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "code object: the dynamic table at address 0x%x has no end mark", dynamic_address_));
    }
    for (const int64_t tag : {DT_SYMTAB, DT_STRTAB, DT_STRSZ, DT_HASH}) {
      if (!dynamic_.contains(tag)) {
        return absl::InvalidArgumentError(
            absl::StrCat("code object: the dynamic table has no entry of tag ", tag,
                         " (symbol table, strings, their size and hash are needed)"));
      }
    }
    for (const int64_t tag : {DT_NEEDED, DT_REL, DT_JMPREL, DT_INIT, DT_INIT_ARRAY}) {
      if (dynamic_.contains(tag)) {
        return absl::UnimplementedError(absl::StrCat("code object: dynamic table entry of tag ", tag,
                                                     " (libraries, REL or PLT relocations, initialisers)"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> String(uint64_t offset) const {
    const uint64_t size = dynamic_.at(DT_STRSZ);
    US_ASSIGN_OR_RETURN(const uint8_t* table, NeedLoaded(dynamic_.at(DT_STRTAB), size, "the string table"));
    if (offset >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("code object: string ", offset, " of a table of ", size, " bytes"));
    }
    const auto* begin = reinterpret_cast<const char*>(table + offset);
    const void* zero = std::memchr(begin, 0, size - offset);
    if (zero == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("code object: string ", offset, " has no end"));
    }
    return std::string(begin, static_cast<const char*>(zero));
  }

  absl::StatusOr<Elf64_Sym> SymbolAt(uint64_t index) const {
    if (index >= num_symbols_) {
      return absl::InvalidArgumentError(absl::StrCat("code object: symbol ", index, " of ", num_symbols_));
    }
    US_ASSIGN_OR_RETURN(const uint8_t* p, NeedLoaded(dynamic_.at(DT_SYMTAB) + index * sizeof(Elf64_Sym),
                                                     sizeof(Elf64_Sym), absl::StrCat("symbol ", index)));
    return LoadLE<Elf64_Sym>(p);
  }

  absl::Status ReadSymbols() {
    // The number of chains of the System V hash table is the number of symbols.
    US_ASSIGN_OR_RETURN(const uint8_t* hash, NeedLoaded(dynamic_.at(DT_HASH), 8, "the hash table"));
    num_symbols_ = LoadLE<uint32_t>(hash + 4);
    US_RETURN_IF_ERROR(NeedLoaded(dynamic_.at(DT_SYMTAB), num_symbols_ * sizeof(Elf64_Sym),
                                  absl::StrCat("a symbol table of ", num_symbols_))
                           .status());
    for (uint64_t i = 1; i < num_symbols_; ++i) {
      US_ASSIGN_OR_RETURN(const Elf64_Sym sym, SymbolAt(i));
      US_ASSIGN_OR_RETURN(const std::string name, String(sym.st_name));
      // Older compilers leave the names of LDS variables undefined; a relocation that needs one is refused.
      if (sym.st_shndx == SHN_UNDEF) continue;
      if (!out_.symbols_.emplace(name, Symbol{name, sym.st_value, sym.st_size}).second) {
        return absl::InvalidArgumentError(absl::StrCat("code object: symbol '", name, "' appears twice"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations() {
    if (!dynamic_.contains(DT_RELA)) return absl::OkStatus();
    const uint64_t size = dynamic_.contains(DT_RELASZ) ? dynamic_.at(DT_RELASZ) : 0;
    const uint64_t entry = dynamic_.contains(DT_RELAENT) ? dynamic_.at(DT_RELAENT) : 0;
    if (entry != sizeof(Elf64_Rela) || size % entry != 0) {
      return absl::InvalidArgumentError(absl::StrCat("code object: relocations of ", size, " bytes, ", entry,
                                                     " each, expected a multiple of ", sizeof(Elf64_Rela)));
    }
    US_ASSIGN_OR_RETURN(const uint8_t* table, NeedLoaded(dynamic_.at(DT_RELA), size, "the relocation table"));
    using Form = CodeObject::RelocationForm;
    // R_AMDGPU_*, LLVM AMDGPUUsage "Relocation Records". Relative forms leave out the base, which cancels.
    const struct {
      uint32_t type;
      Form form;
      uint64_t width;
      bool symbol;
    } kForms[] = {
        {1, Form::kAbs32Lo, 4, true},  {2, Form::kAbs32Hi, 4, true},  {3, Form::kAbs64, 8, true},
        {4, Form::kRel32, 4, true},    {5, Form::kRel64, 8, true},    {6, Form::kAbs32, 4, true},
        {10, Form::kRel32Lo, 4, true}, {11, Form::kRel32Hi, 4, true}, {13, Form::kAbs64, 8, false},
    };
    for (uint64_t i = 0; i < size; i += entry) {
      const auto r = LoadLE<Elf64_Rela>(table + i);
      const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(r.r_info));
      if (type == 0) continue;  // R_AMDGPU_NONE
      const auto* form =
          std::find_if(std::begin(kForms), std::end(kForms), [&](const auto& f) { return f.type == type; });
      if (form == std::end(kForms)) {
        return absl::UnimplementedError(
            absl::StrFormat("code object: relocation type %d at address 0x%x", type, r.r_offset));
      }
      if (r.r_offset > out_.image_size_ || form->width > out_.image_size_ - r.r_offset) {
        return absl::InvalidArgumentError(
            absl::StrFormat("code object: relocation %d patches address 0x%x outside the image of 0x%x bytes",
                            i / entry, r.r_offset, out_.image_size_));
      }
      uint64_t value = static_cast<uint64_t>(r.r_addend);
      if (form->symbol) {
        const uint64_t index = ELF64_R_SYM(r.r_info);
        US_ASSIGN_OR_RETURN(const Elf64_Sym sym, SymbolAt(index));
        if (index != 0 && sym.st_shndx == SHN_UNDEF) {
          US_ASSIGN_OR_RETURN(const std::string name, String(sym.st_name));
          return absl::InvalidArgumentError(absl::StrCat("code object: symbol '", name, "' is not defined"));
        }
        value += sym.st_value;
      }
      out_.relocations_.push_back({r.r_offset, form->form, value});
    }
    return absl::OkStatus();
  }

  absl::Status ReadKernels() {
    for (const auto& [name, symbol] : out_.symbols_) {
      if (name.size() <= 3 || name.compare(name.size() - 3, 3, ".kd") != 0) continue;
      KernelSymbol kernel;
      kernel.name = name.substr(0, name.size() - 3);
      kernel.descriptor_address = symbol.address;
      US_ASSIGN_OR_RETURN(const uint8_t* p, NeedLoaded(symbol.address, kDescriptorBytes,
                                                       absl::StrCat("kernel descriptor ", name)));
      KernelDescriptor& d = kernel.descriptor;
      d.group_segment_fixed_size = LoadLE<uint32_t>(p);
      d.private_segment_fixed_size = LoadLE<uint32_t>(p + 4);
      d.kernarg_size = LoadLE<uint32_t>(p + 8);
      d.entry_offset = LoadLE<int64_t>(p + 16);
      d.rsrc3 = LoadLE<uint32_t>(p + 44);
      d.rsrc1 = LoadLE<uint32_t>(p + 48);
      d.rsrc2 = LoadLE<uint32_t>(p + 52);
      d.properties = LoadLE<uint16_t>(p + 56);
      d.kernarg_preload = LoadLE<uint16_t>(p + 58);
      // Reserved fields must be zero: a file that uses them means something that we do not know.
      for (const auto& [begin, end] : {std::pair{12, 16}, std::pair{24, 44}, std::pair{60, 64}}) {
        for (int i = begin; i < end; ++i) {
          if (p[i] != 0) {
            return absl::InvalidArgumentError(absl::StrFormat(
                "code object: kernel descriptor %s: reserved byte %d is 0x%02x, expected 0", name, i, p[i]));
          }
        }
      }
      // Unsigned arithmetic: a hostile offset wraps instead of overflowing, and is then out of the image.
      kernel.entry_address = symbol.address + static_cast<uint64_t>(d.entry_offset);
      if (kernel.entry_address % 256 != 0) {
        return absl::InvalidArgumentError(
            absl::StrFormat("code object: kernel %s: code at address 0x%x, expected a multiple of 256",
                            kernel.name, kernel.entry_address));
      }
      US_RETURN_IF_ERROR(
          NeedLoaded(kernel.entry_address, 4, absl::StrCat("code of kernel ", kernel.name)).status());
      out_.kernels_.push_back(std::move(kernel));
    }
    return absl::OkStatus();
  }

  absl::Status ReadMetadata() {
    bool found = false;
    for (const auto& [offset, size] : notes_) {
      US_ASSIGN_OR_RETURN(const uint8_t* p, At(offset, size, "the notes"));
      uint64_t at = 0;
      while (size - at >= sizeof(Elf64_Nhdr)) {
        const auto note = LoadLE<Elf64_Nhdr>(p + at);
        const uint64_t name_at = at + sizeof(Elf64_Nhdr);
        const uint64_t desc_at = name_at + AlignUp(note.n_namesz, 4);
        const uint64_t next = desc_at + AlignUp(note.n_descsz, 4);
        // The last note may leave out its padding.
        if (desc_at > size || note.n_descsz > size - desc_at) {
          return Bad(offset + at, absl::StrCat("a note of ", note.n_namesz, " + ", note.n_descsz,
                                               " bytes does not fit in ", size));
        }
        const bool ours =
            note.n_type == kNoteMetadata && note.n_namesz == 7 && std::memcmp(p + name_at, "AMDGPU", 7) == 0;
        if (ours) {
          if (found) return Bad(offset + at, "a second metadata note");
          found = true;
          if (absl::Status s = ApplyMetadata({p + desc_at, note.n_descsz}, &out_.kernels_); !s.ok()) {
            return absl::Status(s.code(), absl::StrFormat("code object, metadata at offset 0x%x: %s",
                                                          offset + desc_at, std::string(s.message())));
          }
        }
        at = std::min<uint64_t>(next, size);
      }
    }
    if (!found && !out_.kernels_.empty())
      return Bad(header_.e_phoff, "kernels but no metadata note (AMDGPU, type 32)");
    return absl::OkStatus();
  }

  absl::Span<const uint8_t> file_;
  Elf64_Ehdr header_ = {};
  uint64_t dynamic_address_ = 0, dynamic_size_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> notes_;
  std::map<int64_t, uint64_t> dynamic_;
  uint64_t num_symbols_ = 0;
  CodeObject out_;
};

absl::StatusOr<CodeObject> CodeObject::Parse(absl::Span<const uint8_t> file) {
  return CodeObjectParser(file).Run();
}

absl::StatusOr<const KernelSymbol*> CodeObject::FindKernel(const std::string& name) const {
  std::vector<std::string> names;
  for (const KernelSymbol& k : kernels_) {
    if (k.name == name) return &k;
    names.push_back(k.name);
  }
  return absl::NotFoundError(
      absl::StrCat("no kernel '", name, "' in the code object; there are: ", absl::StrJoin(names, ", ")));
}

std::vector<uint8_t> CodeObject::Image(uint64_t base) const {
  std::vector<uint8_t> image(image_size_);
  for (const Segment& s : segments_) std::copy(s.bytes.begin(), s.bytes.end(), image.begin() + s.address);
  for (const Relocation& r : relocations_) {
    uint8_t* p = image.data() + r.address;
    const uint64_t absolute = base + r.value;
    const uint64_t relative = r.value - r.address;
    switch (r.form) {
      case RelocationForm::kAbs64:
        StoreLE<uint64_t>(p, absolute);
        break;
      case RelocationForm::kAbs32:
      case RelocationForm::kAbs32Lo:
        StoreLE<uint32_t>(p, static_cast<uint32_t>(absolute));
        break;
      case RelocationForm::kAbs32Hi:
        StoreLE<uint32_t>(p, static_cast<uint32_t>(absolute >> 32));
        break;
      case RelocationForm::kRel64:
        StoreLE<uint64_t>(p, relative);
        break;
      case RelocationForm::kRel32:
      case RelocationForm::kRel32Lo:
        StoreLE<uint32_t>(p, static_cast<uint32_t>(relative));
        break;
      case RelocationForm::kRel32Hi:
        StoreLE<uint32_t>(p, static_cast<uint32_t>(relative >> 32));
        break;
    }
  }
  return image;
}

}  // namespace understudy::amd
