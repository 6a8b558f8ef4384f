// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMD code objects (LLVM, "User Guide for AMDGPU Backend": ELF code object, kernel descriptor, code object V4
// to V6 metadata) as a value: segments, relocations, kernels with their descriptors and arguments. Parsed
// from bytes that nobody has checked: every malformed file is refused with reason and offset. Loads nothing;
// AmdGpu does.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace understudy::amd {

// The 64 bytes at `name.kd`.
struct KernelDescriptor {
  uint32_t group_segment_fixed_size = 0;
  uint32_t private_segment_fixed_size = 0;
  uint32_t kernarg_size = 0;
  int64_t entry_offset = 0;  // of the code, from the descriptor
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernarg_preload = 0;

  bool wave32() const { return properties >> 10 & 1; }
  bool uses_dynamic_stack() const { return properties >> 11 & 1; }
  // Which user SGPRs the code expects, in this order.
  bool private_segment_buffer() const { return properties & 1; }
  bool dispatch_ptr() const { return properties >> 1 & 1; }
  bool queue_ptr() const { return properties >> 2 & 1; }
  bool kernarg_ptr() const { return properties >> 3 & 1; }
  bool dispatch_id() const { return properties >> 4 & 1; }
  bool flat_scratch_init() const { return properties >> 5 & 1; }
  bool private_segment_size() const { return properties >> 6 & 1; }
  uint32_t user_sgprs() const { return rsrc2 >> 1 & 0x1f; }
};

// One entry of `.args`.
struct KernelArgument {
  std::string name;  // may be empty
  std::string
      value_kind;  // "global_buffer", "by_value", "dynamic_shared_pointer", "hidden_block_count_x", ...
  uint32_t offset = 0, size = 0;
  uint32_t pointee_align = 0;  // dynamic_shared_pointer

  bool hidden() const { return value_kind.rfind("hidden_", 0) == 0; }
};

struct KernelSymbol {
  std::string name;
  uint64_t descriptor_address = 0;  // in the image
  uint64_t entry_address = 0;
  KernelDescriptor descriptor;
  std::vector<KernelArgument> args;
  uint32_t kernarg_align = 16;
  uint32_t max_flat_workgroup_size = 1024;
  std::optional<std::array<uint32_t, 3>> reqd_workgroup_size;
};

struct Symbol {
  std::string name;
  uint64_t address = 0, size = 0;
};

class CodeObject {
 public:
  // The largest memory image accepted; a driver does not hand a GPU's memory to a file's say-so.
  static constexpr uint64_t kMaxImage = uint64_t{256} << 20;

  // InvalidArgument: not well formed (what, where, expected). Unimplemented: well formed, but of a kind that
  // is not loaded (relocation type, ABI version).
  static absl::StatusOr<CodeObject> Parse(absl::Span<const uint8_t> file);

  const std::string& isa() const { return isa_; }  // "gfx1100", from the ELF flags
  // What the code was compiled for (EF_AMDGPU_FEATURE_*_V4): kAny runs either way.
  enum class Feature : uint8_t { kUnsupported, kAny, kOff, kOn };
  Feature xnack() const { return xnack_; }
  Feature sramecc() const { return sramecc_; }
  int version() const { return version_; }  // code object version 4, 5 or 6
  const std::vector<KernelSymbol>& kernels() const { return kernels_; }
  // NotFound lists the kernels that exist.
  absl::StatusOr<const KernelSymbol*> FindKernel(const std::string& name) const;
  const std::map<std::string, Symbol>& symbols() const { return symbols_; }
  uint64_t image_size() const { return image_size_; }

  // The memory image relocated to `base`: image_size() bytes.
  std::vector<uint8_t> Image(uint64_t base) const;

 private:
  friend class CodeObjectParser;
  struct Segment {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;  // the rest of the segment is zero
  };
  enum class RelocationForm : uint8_t {
    kAbs64,
    kAbs32,
    kAbs32Lo,
    kAbs32Hi,
    kRel64,
    kRel32,
    kRel32Lo,
    kRel32Hi
  };
  struct Relocation {
    uint64_t address = 0;
    RelocationForm form = RelocationForm::kAbs64;
    uint64_t value = 0;  // S + A before the base is added
  };

  std::string isa_;
  Feature xnack_ = Feature::kUnsupported, sramecc_ = Feature::kUnsupported;
  int version_ = 0;
  uint64_t image_size_ = 0;
  std::vector<Segment> segments_;
  std::vector<Relocation> relocations_;
  std::map<std::string, Symbol> symbols_;
  std::vector<KernelSymbol> kernels_;
};

// Fills args and limits of `kernels` from the metadata note. Exposed for tests.
absl::Status ApplyMetadata(absl::Span<const uint8_t> msgpack, std::vector<KernelSymbol>* kernels);

}  // namespace understudy::amd
