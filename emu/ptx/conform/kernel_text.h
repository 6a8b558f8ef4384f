// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels around an instruction under test: they load its operands, execute it once a thread, and store
// what it gives. The only place that wraps an instruction; backends run the text.

#include <cstddef>
#include <cstdint>
#include <string>

namespace understudy::emu::ptx::conform {

// Bits of a register kind of a form: h 16, r 32, l 64; p (a predicate) counts as 32.
int RegisterBits(char kind);

// `op` is one instruction or a scope { ... }, with %d for the result and %a %b %c %e for operands whose kinds
// `s` lists. Entry `form(in, out)`: operand k of tuple i is the 64-bit word k * count + i of `in`, its result
// word i of `out`. Launched with 32 threads a block and ceil(count / 32) blocks; buffers are padded to full
// warps by the caller. An op that names %m has in it the address of kThreadMemoryBytes zeros of global memory
// of its thread's own, behind those of the thread before: a third parameter.
inline constexpr size_t kThreadMemoryBytes = 32;
bool UsesThreadMemory(const std::string& op);
// `first` and `last`, where given, are the text's lines that hold `op`, from 1.
std::string FormKernel(const std::string& op, char d, const std::string& s, size_t count,
                       int* first = nullptr, int* last = nullptr);

// A matrix instruction of one warp with vector operands d, a, b, c of `registers[4]` registers (names as in
// the instruction: "mma.sync.aligned.m16n8k8..."), and where `sparse` the metadata and `selector`. Entry
// `fragment(in, out)`: 64-bit words [register * 32 + lane] of a, b, c and the metadata one after the other;
// of d in `out`. Each block of 32 threads has its own, one after the other.
std::string FragmentKernel(const std::string& op, const size_t registers[4], bool sparse, int selector);

// A wgmma.mma_async of one warpgroup, a from shared memory where it has no registers. Entry `warpgroup(in,
// out)` with blocks of 128 threads and 2 * operand_bytes of dynamic shared memory; 32-bit words a block: what
// is put there, then [register * 128 + lane] of a and of d, and the metadata; of d in `out`.
struct WarpgroupText {
  std::string op, d_type, a_type;
  int d_registers = 0, a_registers = 0;
  size_t operand_bytes = 0;
  uint64_t descriptor_a = 0, descriptor_b = 0;
  int start_a = 0, start_b = 0;
  bool accumulate = true, sparse = false, transpose_a = false, transpose_b = false;
  int selector = 0, scale_a = 1, scale_b = 1;
};
std::string WarpgroupKernel(const WarpgroupText& text);

// A wmma.load (named without a state space) into registers of `type` (b32, f32, f64). Entry `load(in, out)`:
// a matrix of `matrix_bytes` a block of 32 threads, whose rows or columns lie `stride` elements apart;
// registers [register * 32 + lane] of their own size in `out`.
std::string WmmaLoadKernel(const std::string& op, const char* type, int registers, size_t matrix_bytes,
                           int stride);

}  // namespace understudy::emu::ptx::conform
