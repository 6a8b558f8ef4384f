// SPDX-License-Identifier: Apache-2.0
// Kernels that clang compiled for gfx1100, at every optimisation level and both wave sizes, against the same
// C text compiled for the host: decoding, control flow, calls, private memory, apertures and arithmetic
// together.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/memory/address_space.h"
#include "src/base/status.h"
#include "src/runtime/amd/code_object.h"
#include "tests/emu/amd/differential/host_cases.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kItems = 256, kGroup = 64, kInWords = 1024, kOutWords = 8;
constexpr uint64_t kImageVa = 0x100000, kInVa = 0x1000000, kOutVa = 0x2000000, kArgsVa = 0x3000000,
                   kPacketVa = 0x4000000, kScratchVa = 0x5000000;
constexpr uint32_t kPrivateBytes = 4096;  // a lane; the unoptimised kernels have a dynamic stack

std::vector<uint32_t> Inputs() {
  constexpr uint32_t kSpecial[] = {0,          0x80000000, 1,          0x80000001, 0x3f800000,
                                   0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00800000,
                                   0x007fffff, 0x7f7fffff, 0xffffffff, 0x7fffffff, 0x4b800001,
                                   0x3f000000, 0x00010000, 0x7ff00000, 0xfff00000, 0x00100000};
  std::vector<uint32_t> words;
  std::mt19937 random(7);
  while (words.size() < kInWords) {
    words.push_back(random() % 4 == 0 ? kSpecial[random() % std::size(kSpecial)]
                                      : static_cast<uint32_t>(random()));
  }
  return words;
}

std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

struct Build {
  int level, wave_size;
};

class Differential : public testing::TestWithParam<Build> {};

TEST_P(Differential, AgreesWithTheHost) {
  const std::string path = "tests/emu/amd/differential/kernels_O" + std::to_string(GetParam().level) + "_w" +
                           std::to_string(GetParam().wave_size) + ".hsaco";
  const std::vector<uint8_t> file = ReadBytes(path);
  const auto code = understudy::amd::CodeObject::Parse(file);
  ASSERT_TRUE(code.ok()) << path << ": " << code.status().ToString();
  std::vector<uint8_t> image = code->Image(kImageVa);
  std::vector<uint32_t> in = Inputs(), out(kItems * kOutWords);
  std::vector<uint8_t> args(4096), packet(64);
  std::memcpy(args.data(), &kInVa, 8);
  std::memcpy(args.data() + 8, &kOutVa, 8);
  // hsa_kernel_dispatch_packet_t: workgroup and grid sizes, from which private arrays in LDS are addressed.
  const uint16_t group[3] = {kGroup, 1, 1};
  const uint32_t grid[3] = {kItems, 1, 1};
  std::memcpy(packet.data() + 4, group, sizeof(group));
  std::memcpy(packet.data() + 12, grid, sizeof(grid));
  const uint32_t wave_size = static_cast<uint32_t>(GetParam().wave_size), waves = kGroup / wave_size;
  std::vector<uint8_t> scratch(uint64_t{kPrivateBytes} * kGroup);

  AddressSpace memory;
  const auto map = [&memory](uint64_t va, auto& backing, Perm perm, const char* label) {
    US_CHECK_OK(memory.Map(va, backing.size() * sizeof(backing[0]),
                           reinterpret_cast<uint8_t*>(backing.data()), perm, label));
  };
  map(kImageVa, image, Perm::kReadExec, "image");
  map(kInVa, in, Perm::kRead, "in");
  map(kOutVa, out, Perm::kReadWrite, "out");
  map(kArgsVa, args, Perm::kRead, "kernel arguments");
  map(kPacketVa, packet, Perm::kRead, "dispatch packet");
  map(kScratchVa, scratch, Perm::kReadWrite, "scratch");

  for (int c = 0; c < kHostCaseCount; ++c) {
    const HostCase& host = kHostCases[c];
    const auto kernel = code->FindKernel(host.name);
    ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
    const understudy::amd::KernelDescriptor& d = (*kernel)->descriptor;
    ASSERT_EQ(d.wave32(), wave_size == 32);
    DispatchRegs regs;
    regs.pgm_addr = kImageVa + (*kernel)->entry_address;
    regs.rsrc1 = d.rsrc1;
    // The command processor adds the LDS size (clang turns some private arrays into LDS).
    regs.rsrc2 = d.rsrc2 | (d.group_segment_fixed_size + 511) / 512 << 15;
    regs.rsrc3 = d.rsrc3;
    uint32_t next = 0;
    const auto user = [&](bool wanted, uint64_t value) {
      if (!wanted) return;
      regs.user_data[next++] = static_cast<uint32_t>(value);
      regs.user_data[next++] = static_cast<uint32_t>(value >> 32);
    };
    ASSERT_FALSE(d.private_segment_buffer());
    user(d.dispatch_ptr(), kPacketVa);
    user(d.queue_ptr(), kPacketVa);
    user(d.kernarg_ptr(), kArgsVa);
    user(d.dispatch_id(), 1);
    regs.num_thread[0] = kGroup;
    regs.dim[0] = kItems / kGroup;
    regs.initiator = wave_size == 32 ? kCsW32En : 0;
    regs.scratch_base = kScratchVa;
    regs.tmpring_size = waves | (kPrivateBytes * wave_size / 256) << 12;
    std::fill(out.begin(), out.end(), 0xcdcdcdcd);
    Dispatch::Options options;
    options.instruction_budget = 10'000'000;
    options.vgpr_fill = 0xdead0000;
    Dispatch dispatch(Isa::kRdna3, regs, &memory, options);
    ASSERT_EQ(dispatch.Step(options.instruction_budget + 1), Dispatch::State::kDone)
        << host.name << ": " << dispatch.fault().message;
    for (uint32_t i = 0; i < kItems; ++i) {
      uint32_t want[kOutWords];
      host.run(i, in.data(), want);
      for (uint32_t k = 0; k < kOutWords; ++k) {
        ASSERT_EQ(out[i * kOutWords + k], want[k])
            << host.name << " item " << i << " word " << k << std::hex << ": got " << out[i * kOutWords + k]
            << ", host " << want[k];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, Differential,
                         testing::Values(Build{0, 32}, Build{0, 64}, Build{1, 32}, Build{1, 64}, Build{2, 32},
                                         Build{2, 64}, Build{3, 32}, Build{3, 64}),
                         [](const auto& info) {
                           return "O" + std::to_string(info.param.level) + "Wave" +
                                  std::to_string(info.param.wave_size);
                         });

}  // namespace
}  // namespace understudy::emu::amd
