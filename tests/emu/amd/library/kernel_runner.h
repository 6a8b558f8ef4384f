// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one kernel of a gfx90a code object on the emulator with arguments placed as the code object's metadata
// says, for tests that compare other people's machine code with a computation on the host. Every buffer is
// mapped at exactly its size, so that an access outside of it is a fault. It knows nothing of any library.

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/amd/core/dispatch.h"
#include "src/runtime/amd/code_object.h"

namespace understudy::emu::amd {

enum class ElementType : uint8_t { kI8, kI32, kI64, kF32, kF64, kC32, kC64 };
using Number = std::complex<double>;  // holds every value of the tests exactly
using Numbers = std::vector<Number>;

// "int", "long", "float", "rocsparse_complex_num<double>"; false for another.
bool ParseElementType(const std::string& text, ElementType* type);
bool IsComplex(ElementType type);
size_t ElementBytes(ElementType type);
std::vector<uint8_t> Encode(ElementType type, const Numbers& values);
Numbers Decode(ElementType type, const std::vector<uint8_t>& bytes);

struct KernelArg {
  enum class Kind : uint8_t { kInteger, kScalar, kInput, kOutput };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;         // kInteger: as wide as the metadata says
  std::vector<uint8_t> bytes;  // kScalar: by value, or through a pointer where the kernel takes one
  std::vector<uint8_t>* buffer = nullptr;  // kInput, kOutput

  static KernelArg Integer(int64_t value);
  static KernelArg Scalar(ElementType type, Number value);
  static KernelArg Bytes(std::vector<uint8_t> value);
  static KernelArg Input(std::vector<uint8_t>* buffer);
  static KernelArg Output(std::vector<uint8_t>* buffer);
};

// A code object in memory.
class KernelRunner {
 public:
  static constexpr uint64_t kImageVa = uint64_t{1} << 32;
  explicit KernelRunner(const understudy::amd::CodeObject& object) : image_(object.Image(kImageVa)) {}

  // One dimension of `groups` workgroups of `group_size`. An error names a fault or an argument that does not
  // fit the metadata.
  absl::Status Run(const understudy::amd::KernelSymbol& kernel, const std::vector<KernelArg>& args,
                   uint32_t groups, uint32_t group_size);

 private:
  std::vector<uint8_t> image_;
};

}  // namespace understudy::emu::amd
