// SPDX-License-Identifier: Apache-2.0
// The code object reader against llvm-nm on files that clang made, and against files that nobody should make:
// cut short, bits flipped, fields forged. Property: a file is either read as LLVM reads it or refused with a
// reason.
#include "src/runtime/amd/code_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/runtime/amd/msgpack.h"

namespace understudy::amd {
namespace {

const std::string kDir = "tests/src/runtime/amd/kernels/";

std::vector<uint8_t> Load(const std::string& name) {
  const auto text = ReadFile(kDir + name);
  US_CHECK_OK(text);
  return {text->begin(), text->end()};
}

// name -> address, as llvm-nm prints them: "0000000000001080 R add.kd".
std::map<std::string, uint64_t> Nm(const std::string& name) {
  const auto text = ReadFile(kDir + name);
  US_CHECK_OK(text);
  std::istringstream in(*text);
  std::map<std::string, uint64_t> out;
  std::string address, kind, symbol;
  while (in >> address >> kind >> symbol) out[symbol] = std::stoull(address, nullptr, 16);
  return out;
}

const KernelArgument* Arg(const KernelSymbol& k, const std::string& kind) {
  for (const KernelArgument& a : k.args) {
    if (a.value_kind == kind) return &a;
  }
  return nullptr;
}

class EachVersion : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, EachVersion, testing::Values(4, 5, 6));

TEST_P(EachVersion, KernelsLieWhereLlvmSaysTheyLie) {
  const std::string base = "basic_v" + std::to_string(GetParam());
  const auto object = CodeObject::Parse(Load(base + ".hsaco"));
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(object->version(), GetParam());
  EXPECT_EQ(object->isa(), "gfx1100");
  const auto nm = Nm(base + ".nm");
  const std::vector<std::string> expected = {"add",     "atomic_at", "forever", "illegal", "increment",
                                             "load_at", "reverse",   "scratch", "shape",   "store_at"};
  ASSERT_EQ(object->kernels().size(), expected.size());
  for (const std::string& name : expected) {
    const auto kernel = object->FindKernel(name);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_EQ((*kernel)->descriptor_address, nm.at(name + ".kd")) << name;
    EXPECT_EQ((*kernel)->entry_address, nm.at(name)) << name;
    EXPECT_TRUE((*kernel)->descriptor.wave32()) << name;
    EXPECT_TRUE((*kernel)->descriptor.kernarg_ptr() || name == "none") << name;
  }
}

TEST_P(EachVersion, ArgumentsAreThoseOfTheSource) {
  const auto object = CodeObject::Parse(Load("basic_v" + std::to_string(GetParam()) + ".hsaco"));
  ASSERT_TRUE(object.ok()) << object.status();
  const KernelSymbol& add = **object->FindKernel("add");
  ASSERT_GE(add.args.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(add.args[i].value_kind, "global_buffer");
    EXPECT_EQ(add.args[i].offset, 8u * i);
    EXPECT_EQ(add.args[i].size, 8u);
  }
  EXPECT_EQ(add.args[3].value_kind, "by_value");
  EXPECT_EQ(add.args[3].offset, 24u);
  EXPECT_EQ(add.args[3].size, 4u);

  const KernelSymbol& reverse = **object->FindKernel("reverse");
  ASSERT_GE(reverse.args.size(), 3u);
  EXPECT_EQ(reverse.args[2].value_kind, "dynamic_shared_pointer");
  EXPECT_EQ(reverse.args[2].pointee_align, 4u);
  EXPECT_EQ(reverse.args[2].size, 4u);
  // 64 words of scratch and what the frame needs besides.
  EXPECT_GE((*object->FindKernel("scratch"))->descriptor.private_segment_fixed_size, 256u);
  EXPECT_EQ((*object->FindKernel("scratch"))->descriptor.rsrc2 & 1, 1u) << "ENABLE_PRIVATE_SEGMENT";

  if (GetParam() >= 5) {
    // AMDGPUUsage, code object V5 hidden arguments: offsets from the implicit argument pointer, which follows
    // the explicit arguments 8-aligned.
    const KernelSymbol& shape = **object->FindKernel("shape");
    const struct {
      const char* kind;
      uint32_t offset, size;
    } kHidden[] = {{"hidden_block_count_x", 0, 4}, {"hidden_block_count_y", 4, 4},
                   {"hidden_block_count_z", 8, 4}, {"hidden_group_size_x", 12, 2},
                   {"hidden_group_size_y", 14, 2}, {"hidden_group_size_z", 16, 2},
                   {"hidden_remainder_x", 18, 2},  {"hidden_grid_dims", 64, 2}};
    for (const auto& h : kHidden) {
      const KernelArgument* a = Arg(shape, h.kind);
      ASSERT_NE(a, nullptr) << h.kind;
      EXPECT_EQ(a->offset, 8 + h.offset) << h.kind;
      EXPECT_EQ(a->size, h.size) << h.kind;
    }
  }
}

TEST_P(EachVersion, RelocationsFollowTheLoadAddress) {
  const std::string base = "table_v" + std::to_string(GetParam());
  const auto object = CodeObject::Parse(Load(base + ".hsaco"));
  ASSERT_TRUE(object.ok()) << object.status();
  const auto nm = Nm(base + ".nm");
  for (const uint64_t load : {uint64_t{0}, uint64_t{0x7f12'3456'7000}}) {
    const std::vector<uint8_t> image = object->Image(load);
    EXPECT_EQ(LoadLE<uint64_t>(image.data() + nm.at("address_of_counter")), load + nm.at("counter"));
    EXPECT_EQ(LoadLE<uint32_t>(image.data() + nm.at("counter")), 7u);
  }
}

TEST(CodeObject, MissingKernelListsThoseThatExist) {
  const auto object = CodeObject::Parse(Load("table_v5.hsaco"));
  ASSERT_TRUE(object.ok()) << object.status();
  const auto kernel = object->FindKernel("write");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.status().message(), "no kernel 'write' in the code object; there are: read");
}

TEST(CodeObject, EveryTruncationIsRefusedOrHarmless) {
  const std::vector<uint8_t> whole = Load("table_v6.hsaco");
  // What the loader needs ends with the last loaded byte; behind it are section headers that nobody reads.
  uint64_t needed = 0;
  const uint64_t phoff = LoadLE<uint64_t>(&whole[32]);
  for (int i = 0; i < LoadLE<uint16_t>(&whole[56]); ++i) {
    const uint8_t* ph = &whole[phoff + 56 * i];
    if (LoadLE<uint32_t>(ph) == 1)
      needed = std::max(needed, LoadLE<uint64_t>(ph + 8) + LoadLE<uint64_t>(ph + 32));
  }
  ASSERT_GT(needed, 64u);
  int refused = 0;
  for (size_t n = 0; n < whole.size(); ++n) {
    // A copy of exactly n bytes: the sanitizers see a read of one more.
    const auto cut = std::make_unique<uint8_t[]>(n);
    std::memcpy(cut.get(), whole.data(), n);
    const auto object = CodeObject::Parse({cut.get(), n});
    if (n < needed) {
      ASSERT_FALSE(object.ok()) << n << " of " << needed << " bytes were accepted";
      ASSERT_NE(std::string(object.status().message()).find("code object"), std::string::npos)
          << object.status();
      ++refused;
    }
  }
  EXPECT_EQ(refused, static_cast<int>(needed));
}

TEST(CodeObject, NoSingleBitCanHurt) {
  std::vector<uint8_t> file = Load("table_v5.hsaco");
  int accepted = 0, refused = 0;
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    file[bit / 8] ^= 1 << bit % 8;
    const auto object = CodeObject::Parse(file);
    if (object.ok()) {
      ++accepted;
      for (const KernelSymbol& k : object->kernels())
        ASSERT_LE(k.entry_address + 4, object->image_size()) << bit;
      if (object->image_size() <= (1 << 20)) {
        ASSERT_EQ(object->Image(4096).size(), object->image_size());
      }
    } else {
      ++refused;
      ASSERT_FALSE(object.status().message().empty());
    }
    file[bit / 8] ^= 1 << bit % 8;
  }
  // Code and padding bits cannot be checked; header, tables, descriptors and metadata are.
  EXPECT_GT(refused, 2000);
  EXPECT_GT(accepted, 2000);
}

TEST(CodeObject, ForgedFieldsAreNamed) {
  const std::vector<uint8_t> good = Load("basic_v5.hsaco");
  const auto nm = Nm("basic_v5.nm");
  const auto with = [&](size_t at, std::vector<uint8_t> bytes) {
    std::vector<uint8_t> file = good;
    std::copy(bytes.begin(), bytes.end(), file.begin() + at);
    return CodeObject::Parse(file).status();
  };
  const auto expect = [](const absl::Status& s, absl::StatusCode code, const std::string& text) {
    EXPECT_EQ(s.code(), code) << s;
    EXPECT_NE(std::string(s.message()).find(text), std::string::npos) << s << "\nexpected: " << text;
  };
  using C = absl::StatusCode;
  expect(with(0, {'M', 'Z'}), C::kInvalidArgument, "offset 0x0: not an ELF file");
  expect(with(4, {1}), C::kInvalidArgument, "offset 0x4: class (2: 64 bits) is 1, expected 2");
  expect(with(7, {0}), C::kInvalidArgument, "OS ABI (64: AMDGPU HSA) is 0, expected 64");
  expect(with(8, {9}), C::kUnimplemented, "ABI version is 9, expected 2 to 4");
  expect(with(18, {62, 0}), C::kInvalidArgument, "machine (224: AMDGPU) is 62, expected 224");
  expect(with(48, {0xee}), C::kUnimplemented, "processor 0xee is not known");
  expect(with(56, {0, 0}), C::kInvalidArgument, "0 program headers");
  expect(with(32, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), C::kInvalidArgument,
         "the program header table");
  // Descriptors lie in the first segment, whose addresses are file offsets.
  expect(with(nm.at("add.kd") + 12, {1}), C::kInvalidArgument,
         "kernel descriptor add.kd: reserved byte 12 is 0x01");
  expect(with(nm.at("add.kd") + 16, {1}), C::kInvalidArgument, "expected a multiple of 256");
  expect(with(nm.at("add.kd") + 8, {4}), C::kInvalidArgument, "the kernel descriptor says");
  expect(with(nm.at("add.kd") + 57, {0}), C::kInvalidArgument,
         ".wavefront_size is 32, the kernel descriptor says 64");
}

// Older compilers leave the names of LDS variables undefined. Nothing refers to them; where something does,
// the file is refused.
TEST(CodeObject, UndefinedSymbolsAreRefusedWhereARelocationNeedsThem) {
  std::vector<uint8_t> file = Load("table_v5.hsaco");
  const auto word = [&](size_t at) {
    uint64_t v;
    std::memcpy(&v, file.data() + at, 8);
    return v;
  };
  const char* name = "__clang_ocl_kern_imp_read";
  const uint64_t address = Nm("table_v5.nm").at(name);
  constexpr uint64_t kRelative64 = 13, kAbs64 = 3;
  size_t symbol = 0, relocation = 0;
  for (size_t at = 8; at + 8 <= file.size(); at += 8) {
    if (word(at) == address && symbol == 0) symbol = at - 8;  // st_value is the second word
    if (word(at) == kRelative64) relocation = at;             // r_info of the only one
  }
  ASSERT_NE(symbol, 0u);
  ASSERT_NE(relocation, 0u);
  file[symbol + 6] = file[symbol + 7] = 0;  // st_shndx
  const auto unused = CodeObject::Parse(file);
  ASSERT_TRUE(unused.ok()) << unused.status();
  EXPECT_EQ(unused->symbols().count(name), 0u);
  EXPECT_EQ(unused->kernels().size(), 1u);
  const uint64_t needs_it = uint64_t{3} << 32 | kAbs64;  // it is the third symbol
  std::memcpy(file.data() + relocation, &needs_it, 8);
  EXPECT_EQ(CodeObject::Parse(file).status().ToString(),
            "INVALID_ARGUMENT: code object: symbol '__clang_ocl_kern_imp_read' is not defined");
}

TEST(MsgPack, ReadsTheExamplesOfTheSpecification) {
  // {"compact": true, "schema": 0}, the example on msgpack.org.
  const auto v = ParseMsgPack(std::vector<uint8_t>{0x82, 0xa7, 'c', 'o', 'm', 'p', 'a', 'c', 't', 0xc3, 0xa6,
                                                   's', 'c', 'h', 'e', 'm', 'a', 0x00});
  ASSERT_TRUE(v.ok()) << v.status();
  ASSERT_NE(v->map(), nullptr);
  EXPECT_EQ(std::get<bool>(v->map()->at("compact").v), true);
  EXPECT_EQ(std::get<int64_t>(v->map()->at("schema").v), 0);
}

TEST(MsgPack, NumbersOfEveryWidth) {
  const struct {
    std::vector<uint8_t> bytes;
    int64_t value;
  } kCases[] = {
      {{0x7f}, 127},
      {{0xff}, -1},
      {{0xe0}, -32},
      {{0xcc, 0xff}, 255},
      {{0xcd, 0x12, 0x34}, 0x1234},
      {{0xce, 0xff, 0xff, 0xff, 0xff}, 0xffffffff},
      {{0xd0, 0x80}, -128},
      {{0xd1, 0x80, 0x00}, -32768},
      {{0xd2, 0x80, 0, 0, 0}, INT32_MIN},
      {{0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0}, INT64_MIN},
      {{0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, INT64_MAX},
  };
  for (const auto& c : kCases) {
    const auto v = ParseMsgPack(c.bytes);
    ASSERT_TRUE(v.ok()) << v.status();
    EXPECT_EQ(std::get<int64_t>(v->v), c.value);
  }
  const auto big = ParseMsgPack(std::vector<uint8_t>(9, 0xff));
  ASSERT_FALSE(big.ok());  // -1, then eight bytes too many
  EXPECT_EQ(big.status().message(), "MessagePack offset 1: 8 bytes follow the value");
  const auto u = ParseMsgPack(std::vector<uint8_t>{0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  ASSERT_TRUE(u.ok());
  EXPECT_EQ(std::get<uint64_t>(u->v), UINT64_MAX);
}

TEST(MsgPack, RefusesWithAnOffset) {
  const struct {
    std::vector<uint8_t> bytes;
    const char* message;
  } kCases[] = {
      {{}, "MessagePack offset 0: truncated, 1 bytes wanted, 0 left"},
      {{0xc1}, "MessagePack offset 0: type byte 0xc1 is reserved"},
      {{0x92, 0x01}, "MessagePack offset 1: 2 elements announced, 1 bytes left"},
      {{0xdd, 0xff, 0xff, 0xff, 0xff}, "MessagePack offset 5: 4294967295 elements announced, 0 bytes left"},
      {{0x81, 0x01, 0x02}, "MessagePack offset 1: a map key is an integer, expected a string"},
      {{0x82, 0xa1, 'a', 0x01, 0xa1, 'a', 0x02}, "MessagePack offset 4: map key 'a' appears twice"},
      {{0xa5, 'a'}, "MessagePack offset 1: truncated, 5 bytes wanted, 1 left"},
  };
  for (const auto& c : kCases) {
    const auto v = ParseMsgPack(c.bytes);
    ASSERT_FALSE(v.ok()) << c.message;
    EXPECT_EQ(v.status().message(), c.message);
  }
  const auto deep = ParseMsgPack(std::vector<uint8_t>(100, 0x91));
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(std::string(deep.status().message()).find("deeper than 32 levels"), std::string::npos);
}

}  // namespace
}  // namespace understudy::amd
