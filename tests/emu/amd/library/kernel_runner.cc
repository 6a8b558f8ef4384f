// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/library/kernel_runner.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "emu/amd/core/program_cache.h"
#include "emu/memory/address_space.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kKernargVa = uint64_t{2} << 32, kPacketVa = uint64_t{3} << 32,
                   kScratchVa = uint64_t{4} << 32, kBufferVa = uint64_t{5} << 32;
constexpr uint32_t kScratchWaves = 128;
constexpr uint64_t kBudget = 50'000'000;  // wave instructions; the largest kernel here needs far fewer

template <class T>
void Append(std::vector<uint8_t>* out, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out->insert(out->end(), bytes, bytes + sizeof value);
}

template <class T>
double Load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void Put(std::vector<uint8_t>* out, size_t offset, T value) {
  if (offset + sizeof value <= out->size()) std::memcpy(out->data() + offset, &value, sizeof value);
}

// The hidden arguments that a runtime fills in (LLVM AMDGPUUsage, code object V4 and V5 metadata); the others
// concern printf, host calls and the like and stay null.
void PutHidden(const understudy::amd::KernelArgument& arg, uint32_t groups, uint32_t group_size,
               std::vector<uint8_t>* kernarg) {
  const std::string& kind = arg.value_kind;
  if (kind == "hidden_block_count_x") Put<uint32_t>(kernarg, arg.offset, groups);
  if (kind == "hidden_block_count_y" || kind == "hidden_block_count_z") Put<uint32_t>(kernarg, arg.offset, 1);
  if (kind == "hidden_group_size_x") Put<uint16_t>(kernarg, arg.offset, static_cast<uint16_t>(group_size));
  if (kind == "hidden_group_size_y" || kind == "hidden_group_size_z") Put<uint16_t>(kernarg, arg.offset, 1);
  if (kind == "hidden_grid_dims") Put<uint16_t>(kernarg, arg.offset, 1);
}

// The fields of an AQL kernel dispatch packet (HSA Platform System Architecture, "AQL kernel dispatch
// packet") that kernels read.
std::vector<uint8_t> Packet(uint32_t groups, uint32_t group_size) {
  std::vector<uint8_t> packet(64);
  Put<uint16_t>(&packet, 0, 2);  // kernel dispatch
  Put<uint16_t>(&packet, 2, 1);  // dimensions
  Put<uint16_t>(&packet, 4, static_cast<uint16_t>(group_size));
  Put<uint16_t>(&packet, 6, 1);
  Put<uint16_t>(&packet, 8, 1);
  Put<uint32_t>(&packet, 12, groups * group_size);
  Put<uint32_t>(&packet, 16, 1);
  Put<uint32_t>(&packet, 20, 1);
  Put<uint64_t>(&packet, 40, kKernargVa);
  return packet;
}

}  // namespace

bool ParseElementType(const std::string& text, ElementType* type) {
  static const struct {
    const char* text;
    ElementType type;
  } kNames[] = {{"signed char", ElementType::kI8},
                {"int", ElementType::kI32},
                {"long", ElementType::kI64},
                {"float", ElementType::kF32},
                {"double", ElementType::kF64},
                {"rocsparse_complex_num<float>", ElementType::kC32},
                {"rocsparse_complex_num<double>", ElementType::kC64}};
  for (const auto& name : kNames) {
    if (text != name.text) continue;
    *type = name.type;
    return true;
  }
  return false;
}

bool IsComplex(ElementType type) { return type == ElementType::kC32 || type == ElementType::kC64; }

size_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kI8:
      return 1;
    case ElementType::kI32:
    case ElementType::kF32:
      return 4;
    case ElementType::kI64:
    case ElementType::kF64:
    case ElementType::kC32:
      return 8;
    case ElementType::kC64:
      return 16;
  }
  return 0;
}

std::vector<uint8_t> Encode(ElementType type, const Numbers& values) {
  std::vector<uint8_t> out;
  for (const Number& value : values) {
    switch (type) {
      case ElementType::kI8:
        Append(&out, static_cast<int8_t>(value.real()));
        break;
      case ElementType::kI32:
        Append(&out, static_cast<int32_t>(value.real()));
        break;
      case ElementType::kI64:
        Append(&out, static_cast<int64_t>(value.real()));
        break;
      case ElementType::kF32:
        Append(&out, static_cast<float>(value.real()));
        break;
      case ElementType::kF64:
        Append(&out, value.real());
        break;
      case ElementType::kC32:
        Append(&out, static_cast<float>(value.real()));
        Append(&out, static_cast<float>(value.imag()));
        break;
      case ElementType::kC64:
        Append(&out, value.real());
        Append(&out, value.imag());
        break;
    }
  }
  return out;
}

Numbers Decode(ElementType type, const std::vector<uint8_t>& bytes) {
  Numbers out;
  for (size_t at = 0; at + ElementBytes(type) <= bytes.size(); at += ElementBytes(type)) {
    const uint8_t* from = bytes.data() + at;
    switch (type) {
      case ElementType::kI8:
        out.emplace_back(Load<int8_t>(from));
        break;
      case ElementType::kI32:
        out.emplace_back(Load<int32_t>(from));
        break;
      case ElementType::kI64:
        out.emplace_back(Load<int64_t>(from));
        break;
      case ElementType::kF32:
        out.emplace_back(Load<float>(from));
        break;
      case ElementType::kF64:
        out.emplace_back(Load<double>(from));
        break;
      case ElementType::kC32:
        out.emplace_back(Load<float>(from), Load<float>(from + 4));
        break;
      case ElementType::kC64:
        out.emplace_back(Load<double>(from), Load<double>(from + 8));
        break;
    }
  }
  return out;
}

KernelArg KernelArg::Integer(int64_t value) {
  KernelArg arg;
  arg.integer = value;
  return arg;
}
KernelArg KernelArg::Bytes(std::vector<uint8_t> value) {
  KernelArg arg;
  arg.kind = Kind::kScalar;
  arg.bytes = std::move(value);
  return arg;
}
KernelArg KernelArg::Scalar(ElementType type, Number value) { return Bytes(Encode(type, {value})); }
KernelArg KernelArg::Input(std::vector<uint8_t>* buffer) {
  KernelArg arg;
  arg.kind = Kind::kInput;
  arg.buffer = buffer;
  return arg;
}
KernelArg KernelArg::Output(std::vector<uint8_t>* buffer) {
  KernelArg arg = Input(buffer);
  arg.kind = Kind::kOutput;
  return arg;
}

absl::Status KernelRunner::Run(const understudy::amd::KernelSymbol& kernel,
                               const std::vector<KernelArg>& args, uint32_t groups, uint32_t group_size) {
  AddressSpace memory;
  absl::Status status =
      memory.Map(kImageVa, image_.size(), image_.data(), Perm::kRead | Perm::kExec, "code object");
  if (!status.ok()) return status;
  // Whole units of the segment's alignment: compilers load four words where the last arguments have three.
  const uint64_t unit = std::max<uint32_t>(kernel.kernarg_align, 16);
  std::vector<uint8_t> kernarg((std::max<uint64_t>(kernel.descriptor.kernarg_size, 1) + unit - 1) / unit *
                               unit);
  std::vector<uint8_t> packet = Packet(groups, group_size);
  std::vector<KernelArg> held = args;  // scalars that are passed through a pointer live here
  uint64_t next_va = kBufferVa;
  size_t used = 0;
  for (const understudy::amd::KernelArgument& slot : kernel.args) {
    if (slot.hidden()) {
      PutHidden(slot, groups, group_size, &kernarg);
      continue;
    }
    if (used == held.size()) {
      return absl::InvalidArgumentError(absl::StrCat("the kernel has more than ", used, " arguments"));
    }
    KernelArg& arg = held[used++];
    const bool pointer = slot.value_kind == "global_buffer";
    const bool wants_pointer = arg.buffer != nullptr || (arg.kind == KernelArg::Kind::kScalar && pointer);
    const size_t size = arg.kind == KernelArg::Kind::kScalar ? arg.bytes.size() : slot.size;
    if (pointer != wants_pointer || (!pointer && size != slot.size) ||
        uint64_t{slot.offset} + slot.size > kernarg.size()) {
      return absl::InvalidArgumentError(absl::StrCat("argument ", used - 1, " is ", slot.value_kind, " of ",
                                                     slot.size, " bytes at ", slot.offset));
    }
    if (!pointer) {
      const uint8_t* from = arg.kind == KernelArg::Kind::kScalar
                                ? arg.bytes.data()
                                : reinterpret_cast<const uint8_t*>(&arg.integer);
      if (arg.kind == KernelArg::Kind::kInteger && slot.size > sizeof arg.integer) {
        return absl::InvalidArgumentError(absl::StrCat("argument ", used - 1, " is no integer"));
      }
      std::memcpy(kernarg.data() + slot.offset, from, slot.size);
      continue;
    }
    std::vector<uint8_t>* buffer = arg.buffer != nullptr ? arg.buffer : &arg.bytes;
    status = memory.Map(next_va, buffer->size(), buffer->data(),
                        arg.kind == KernelArg::Kind::kOutput ? Perm::kReadWrite : Perm::kRead,
                        absl::StrCat("argument ", used - 1));
    if (!status.ok()) return status;
    Put<uint64_t>(&kernarg, slot.offset, next_va);
    next_va += (buffer->size() / 4096 + 2) * 4096;
  }
  if (used != held.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the kernel has only ", used, " arguments"));
  }
  status = memory.Map(kKernargVa, kernarg.size(), kernarg.data(), Perm::kRead, "kernel arguments");
  if (status.ok()) status = memory.Map(kPacketVa, packet.size(), packet.data(), Perm::kRead, "packet");
  if (!status.ok()) return status;

  const uint64_t offset = kernel.descriptor_address;
  if (offset > image_.size()) return absl::InvalidArgumentError("the descriptor is outside of the image");
  auto descriptor = ParseKernelDescriptor(image_.data() + offset, image_.size() - offset);
  if (!descriptor.ok()) return descriptor.status();
  KernelLaunch launch;
  launch.descriptor_va = kImageVa + offset;
  launch.grid[0] = groups * group_size;
  launch.workgroup[0] = group_size;
  launch.kernarg_va = kKernargVa;
  launch.dispatch_packet_va = kPacketVa;
  launch.scratch_va = kScratchVa;
  launch.scratch_waves = kScratchWaves;
  std::vector<uint8_t> scratch(ScratchBytes(Isa::kCdna2, *descriptor, launch));
  if (!scratch.empty()) {
    status = memory.Map(kScratchVa, scratch.size(), scratch.data(), Perm::kReadWrite, "scratch");
    if (!status.ok()) return status;
  }
  auto regs = MakeDispatchRegs(Isa::kCdna2, *descriptor, launch, &memory);
  if (!regs.ok()) return regs.status();
  ProgramCache cache(Isa::kCdna2);
  Dispatch::Options options;
  options.program_cache = &cache;
  options.vgpr_fill = 0xdeadbeef;  // a kernel that read what nobody wrote would be noticed
  Dispatch dispatch(Isa::kCdna2, *regs, &memory, options);
  const Dispatch::State state = dispatch.Step(kBudget);
  if (state == Dispatch::State::kFault) return absl::InternalError(dispatch.fault().message);
  if (state != Dispatch::State::kDone) return absl::DeadlineExceededError("the kernel does not end");
  RecordExecuted(cache);
  return absl::OkStatus();
}

}  // namespace understudy::emu::amd
