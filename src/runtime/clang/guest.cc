// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/clang/guest.h"

#include "absl/strings/str_cat.h"

namespace understudy::clang_guest {
namespace {

// The system calls' numbers are those of Linux's include/uapi/asm-generic/unistd.h, which all three follow:
// mmap 222 (on 32-bit Hexagon the offset is in pages, and 0 here), exit_group 94.
constexpr const char* kAArch64 = R"c(
static long call(long n, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
)c";
constexpr const char* kRiscV = R"c(
static long call(long n, long a, long b, long c, long d, long e, long f) {
  register long a7 __asm__("a7") = n;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a3 __asm__("a3") = d;
  register long a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
}
)c";
constexpr const char* kHexagon = R"c(
static long call(long n, long a, long b, long c, long d, long e, long f) {
  register long r6 __asm__("r6") = n;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
return r0;
}

// Division bit by bit, and the square root and truncation of f32: what the compiler calls for want of
// instructions (HexagonISelLowering.cpp's library calls).
static u64 divide(u64 a, u64 b, u64* rest) {
  u64 q = 0, r = 0;
  for (int i = 63; i >= 0; --i) {
    const int carry = (int)(r >> 63);
    r = r << 1 | (a >> i & 1);
    if (carry || r >= b) {
      r -= b;
      q |= (u64)1 << i;
    }
  }
  *rest = r;
  return q;
}
u64 __hexagon_udivdi3(u64 a, u64 b) {
  u64 r;
  return divide(a, b, &r);
}
u64 __hexagon_umoddi3(u64 a, u64 b) {
  u64 r;
  divide(a, b, &r);
  return r;
}
u32 __hexagon_udivsi3(u32 a, u32 b) {
  u64 r;
  return (u32)divide(a, b, &r);
}
u32 __hexagon_umodsi3(u32 a, u32 b) {
  u64 r;
  divide(a, b, &r);
  return (u32)r;
}
static u64 absolute(i64 x) { return x < 0 ? 0 - (u64)x : (u64)x; }
i64 __hexagon_divdi3(i64 a, i64 b) {
  u64 r;
  const u64 q = divide(absolute(a), absolute(b), &r);
  return (i64)((a < 0) != (b < 0) ? 0 - q : q);
}
i64 __hexagon_moddi3(i64 a, i64 b) {
  u64 r;
  divide(absolute(a), absolute(b), &r);
  return (i64)(a < 0 ? 0 - r : r);
}
i32 __hexagon_divsi3(i32 a, i32 b) { return (i32)__hexagon_divdi3(a, b); }
i32 __hexagon_modsi3(i32 a, i32 b) { return (i32)__hexagon_moddi3(a, b); }

static u32 bits_of(f32 x) {
  u32 b;
  __builtin_memcpy(&b, &x, 4);
  return b;
}
static f32 of_bits(u32 b) {
  f32 x;
  __builtin_memcpy(&x, &b, 4);
  return x;
}
// Correctly rounded: 25 bits of the root, of which the last is the rounding bit; a tie cannot be.
f32 __hexagon_sqrtf(f32 x) {
  const u32 b = bits_of(x);
  if (x != x || x == 0 || b == 0x7f800000u) return x;
  if (b >> 31) return of_bits(0x7fc00000u);
  int e = (int)(b >> 23);
  u64 m = b & 0x7fffffu;
  if (e == 0) {
    e = 1;
    while (!(m & 0x800000u)) {
      m <<= 1;
      --e;
    }
  } else {
    m |= 0x800000u;
  }
  e -= 127;
  if (e & 1) {
    m <<= 1;
    --e;
  }
  const u64 square = m << 25;
  u64 root = 0;
  for (u64 bit = (u64)1 << 24; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= square) root |= bit;
  }
  return of_bits(((u32)(e / 2 + 127) << 23) + ((u32)(root >> 1) - 0x800000u) + (u32)(root & 1));
}
f32 sqrtf(f32 x) { return __hexagon_sqrtf(x); }
f32 truncf(f32 x) {
  const u32 b = bits_of(x);
  const int e = (int)(b >> 23 & 255) - 127;
  if (e < 0) return of_bits(b & 0x80000000u);
  return e >= 23 ? x : of_bits(b & ~(0x7fffffu >> e));
}
)c";

constexpr const char* kStart = R"c(
__attribute__((no_builtin, used)) void* memcpy(void* to, const void* from, __SIZE_TYPE__ n) {
  for (__SIZE_TYPE__ i = 0; i < n; ++i) ((volatile u8*)to)[i] = ((const u8*)from)[i];
  return to;
}
__attribute__((no_builtin, used)) void* memset(void* to, int byte, __SIZE_TYPE__ n) {
  for (__SIZE_TYPE__ i = 0; i < n; ++i) ((volatile u8*)to)[i] = (u8)byte;
  return to;
}

static void* pointers[BUFFERS];
void _start(void) {
  // 3: readable and writable; 1: shared; descriptor 3.
  u64* header = (u64*)call(222, 0, 4096, 3, 1, 3, 0);
  if ((unsigned long)header > -4096ul || header[0] != MAGIC) call(94, 121, 0, 0, 0, 0, 0);
  const u64 bytes = header[1];
  char* const all = (char*)call(222, 0, (long)bytes, 3, 1, 3, 0);
  if ((unsigned long)all > -4096ul) call(94, 122, 0, 0, 0, 0, 0);
  header = (u64*)all;
  if (header[2] > BUFFERS) call(94, 123, 0, 0, 0, 0, 0);
  const u64* const vars = header + 8;
  const u64* const offsets = vars + header[3];
  for (u64 i = 0; i < header[2]; ++i) pointers[i] = all + offsets[i];
  for (u64 g = 0; g < header[4]; ++g) KERNEL(pointers, (const i64*)vars, (i64)g);
  header[5] = 1;
  call(94, 0, 0, 0, 0, 0, 0);
  for (;;) {
  }
}
)c";

const std::vector<Processor>& Processors() {
  static const auto* const all = new std::vector<Processor>{
      {"aarch64", "qemu-aarch64", uint64_t{1} << 40, {"--target=aarch64-unknown-linux-gnu"}},
      {"riscv64",
       "qemu-riscv64",
       uint64_t{1} << 37,
       {"--target=riscv64-unknown-linux-gnu", "-march=rv64gc", "-mabi=lp64d"}},
      {"hexagon",
       "qemu-hexagon",
       uint64_t{1} << 30,
       {"--target=hexagon-unknown-linux-musl", "-mcpu=hexagonv67"}},
  };
  return *all;
}

}  // namespace

const Processor* FindProcessor(const std::string& name) {
  for (const Processor& p : Processors()) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

std::string RuntimeText(const Processor& processor, const std::string& kernel) {
  const std::string name = processor.name;
  const char* const own = name == "aarch64" ? kAArch64 : name == "riscv64" ? kRiscV : kHexagon;
  return absl::StrCat("\n#define KERNEL ", kernel, "\n#define MAGIC ", kMagic, "ull\n#define BUFFERS ",
                      kMostBuffers, "\n", own, kStart);
}

absl::Status CheckKernel(const Processor& processor, const LinearKernel& kernel) {
  if (std::string(processor.name) != "hexagon") return absl::OkStatus();
  for (const UOpRef& n : kernel.ops) {
    if (n->dtype().scalar != Scalar::kFloat64) continue;
    switch (n->op()) {
      case Op::kMul:
      case Op::kFDiv:
      case Op::kSqrt:
      case Op::kTrunc:
      case Op::kMulAcc:
        return absl::UnimplementedError(
            absl::StrCat("kernel ", kernel.name, ": Hexagon v67 has no ", OpName(n->op()), " of f64"));
      default:
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace understudy::clang_guest
