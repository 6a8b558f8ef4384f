// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels that the probe's sections launch, as PTX.

#include <string>

namespace understudy::probe {

inline constexpr char kKernels[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 counter[12];
.visible .const .align 4 .b8 table[256];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry empty() { ret; }
.visible .entry write(.param .u64 p, .param .u32 v)
{
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [v];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry params(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[24], .param .u16 d) { ret; }
.visible .entry maxntid() .maxntid 128, 1, 1 { ret; }
.visible .entry reqntid() .reqntid 64, 2, 1 { ret; }
.visible .entry minnctapersm() .maxntid 256, 1, 1 .minnctapersm 4 { ret; }
.visible .entry static_shared(.param .u64 p)
{
  .shared .align 4 .b8 mine[40000];
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u64 %rd2, mine;
  cvt.u32.u64 %r2, %rd2;
  st.shared.u32 [mine], %r1;
  st.shared.u32 [mine+39996], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [mine+39996];
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry dynamic_shared(.param .u64 p)
{
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [dynamic], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [dynamic];
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry uses_const(.param .u64 p)
{
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.const.u32 %r1, [table+16];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [counter+4], %r1;
  ret;
}
.visible .entry uses_local(.param .u64 p, .param .u32 i)
{
  .local .align 8 .b8 mine[512];
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [i];
  mov.u64 %rd2, mine;
  and.b32 %r1, %r1, 127;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.local.u32 [%rd2], %r1;
  ld.local.u32 %r2, [mine+64];
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry cluster2() .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry cluster_explicit() .explicitcluster { ret; }
.visible .entry cluster_max() .maxclusterrank 4 { ret; }
)";

// A kernel that holds as many registers as it is allowed.
inline std::string RegisterKernel(int limit) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)";
  if (limit != 0) text += " .maxnreg " + std::to_string(limit);
  text += " {\n  .reg .b64 %rd<2>; .reg .f32 %f<260>;\n  ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 250; ++i)
    text += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  for (int i = 249; i >= 0; --i)
    text += "  st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

}  // namespace understudy::probe
