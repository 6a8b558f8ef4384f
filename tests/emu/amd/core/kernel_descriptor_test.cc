// SPDX-License-Identifier: Apache-2.0
// From a kernel descriptor to dispatch registers (LLVM AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel
// Execution State"): the order of user SGPRs, granules by generation, and what is refused.

#include "emu/amd/core/kernel_descriptor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace {

KernelDescriptor Kernel(uint16_t properties, uint32_t user_sgprs) {
  KernelDescriptor kernel;
  kernel.properties = properties;
  kernel.rsrc2 = user_sgprs << 1;
  return kernel;
}

TEST(KernelDescriptor, FieldsLieWhereTheAbiPutsThem) {
  std::vector<uint8_t> bytes(64);
  StoreLE<uint32_t>(&bytes[0], 1000);
  StoreLE<uint32_t>(&bytes[4], 2000);
  StoreLE<uint32_t>(&bytes[8], 3000);
  StoreLE<int64_t>(&bytes[16], -0x4000);
  StoreLE<uint32_t>(&bytes[44], 0x33);
  StoreLE<uint32_t>(&bytes[48], 0x11);
  StoreLE<uint32_t>(&bytes[52], 0x22);
  StoreLE<uint16_t>(&bytes[56], 1 << 3 | 1 << 10);
  StoreLE<uint16_t>(&bytes[58], 5 | 7 << 7);
  const auto kernel = ParseKernelDescriptor(bytes.data(), bytes.size());
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  EXPECT_EQ(kernel->group_segment_fixed_size, 1000u);
  EXPECT_EQ(kernel->private_segment_fixed_size, 2000u);
  EXPECT_EQ(kernel->kernarg_size, 3000u);
  EXPECT_EQ(kernel->entry_offset, -0x4000);
  EXPECT_EQ(kernel->rsrc1, 0x11u);
  EXPECT_EQ(kernel->rsrc2, 0x22u);
  EXPECT_EQ(kernel->rsrc3, 0x33u);
  EXPECT_TRUE(kernel->kernarg_ptr());
  EXPECT_TRUE(kernel->wave32());
  EXPECT_EQ(kernel->preload_dwords(), 5u);
  EXPECT_EQ(kernel->preload_offset(), 7u);
  EXPECT_FALSE(ParseKernelDescriptor(bytes.data(), 63).ok());
  bytes[12] = 1;
  EXPECT_EQ(ParseKernelDescriptor(bytes.data(), 64).status().message(),
            "kernel descriptor: reserved byte 12 is 0x01, expected 0");
}

// Every user SGPR that gfx90a knows, in the order of the ABI's table.
TEST(KernelDescriptor, UserSgprsAreInTheAbisOrder) {
  KernelLaunch launch;
  launch.scratch_va = 0x700000000100;
  launch.scratch_waves = 2;
  launch.dispatch_packet_va = 0x1111222233334444;
  launch.queue_va = 0x5555666677778888;
  launch.kernarg_va = 0x10000;
  launch.dispatch_id = 0x9999aaaabbbbcccc;
  KernelDescriptor kernel = Kernel(0x7f, 16);
  kernel.private_segment_fixed_size = 6;
  kernel.rsrc2 |= 1;
  const auto regs = MakeDispatchRegs(Isa::kCdna2, kernel, launch, nullptr);
  ASSERT_TRUE(regs.ok()) << regs.status().ToString();
  const uint32_t want[16] = {
      0x100,   0x80007000, 2048,       3u << 21 | 1u << 23, 0x33334444, 0x11112222, 0x77778888, 0x55556666,
      0x10000, 0,          0xbbbbcccc, 0x9999aaaa,          0x100,      0x7000,     8,          0};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(regs->user_data[i], want[i]) << "s" << i;
  EXPECT_EQ(regs->tmpring_size, 2u | 1u << 12) << "64 lanes of 8 bytes are one block of a KiB";
}

TEST(KernelDescriptor, PreloadedArgumentsFollowAndSkipTheFirst256Bytes) {
  std::vector<uint32_t> args = {10, 11, 12, 13, 14, 15, 16, 17};
  AddressSpace memory;
  US_CHECK_OK(memory.Map(0x10000, 32, reinterpret_cast<uint8_t*>(args.data()), Perm::kRead, "args"));
  KernelLaunch launch;
  launch.kernarg_va = 0x10000;
  launch.descriptor_va = 0x20000;
  KernelDescriptor kernel = Kernel(1 << 3, 5);
  kernel.entry_offset = 0x1000;
  kernel.kernarg_preload = 3 | 4 << 7;
  for (const Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    const auto regs = MakeDispatchRegs(isa, kernel, launch, &memory);
    ASSERT_TRUE(regs.ok()) << regs.status().ToString();
    EXPECT_EQ(regs->pgm_addr, 0x21100u);
    EXPECT_EQ(regs->user_data[0], 0x10000u);
    EXPECT_EQ(regs->user_data[2], 14u);
    EXPECT_EQ(regs->user_data[4], 16u);
  }
  kernel.kernarg_preload = 3 | 6 << 7;
  EXPECT_EQ(MakeDispatchRegs(Isa::kCdna3, kernel, launch, &memory).status().message(),
            "kernel launch: preloaded kernel argument at 0x10020 is not readable");
}

TEST(KernelDescriptor, LdsBlocksAreTheGenerations) {
  KernelDescriptor kernel = Kernel(0, 0);
  kernel.group_segment_fixed_size = 1000;
  KernelLaunch launch;
  launch.dynamic_lds = 500;
  for (const Isa isa : kAllIsas) {
    const auto regs = MakeDispatchRegs(isa, kernel, launch, nullptr);
    ASSERT_TRUE(regs.ok());
    EXPECT_EQ(regs->rsrc2 >> 15, isa == Isa::kCdna4 ? 2u : 3u) << IsaName(isa);
  }
  launch.dynamic_lds = 100000;
  EXPECT_FALSE(MakeDispatchRegs(Isa::kCdna3, kernel, launch, nullptr).ok());
  EXPECT_TRUE(MakeDispatchRegs(Isa::kCdna4, kernel, launch, nullptr).ok()) << "160 KiB";
}

TEST(KernelDescriptor, WhatAGenerationLacksIsRefusedByName) {
  const KernelLaunch launch;
  const auto message = [&](Isa isa, const KernelDescriptor& kernel) {
    return std::string(MakeDispatchRegs(isa, kernel, launch, nullptr).status().message());
  };
  EXPECT_EQ(
      message(Isa::kCdna3, Kernel(1, 4)),
      "kernel launch: the descriptor asks for a private segment buffer or flat scratch initialisation, and "
      "gfx942 has architected flat scratch");
  EXPECT_EQ(message(Isa::kCdna2, Kernel(1 << 10, 0)), "kernel launch: wave32 on gfx90a");
  KernelDescriptor preload = Kernel(1 << 3, 8);
  preload.kernarg_preload = 2;
  EXPECT_EQ(message(Isa::kRdna4, preload), "kernel launch: kernel arguments preloaded on gfx1200");
  EXPECT_EQ(message(Isa::kRdna3, Kernel(1 << 3, 1)),
            "kernel launch: 2 user SGPRs by the kernel's properties, 1 by its program resources, at most 16");
}

}  // namespace
}  // namespace understudy::emu::amd
