; SPDX-License-Identifier: Apache-2.0
; clang for gfx1100, see tests/emu/amd/semantics/regenerate_compiled_kernel.sh
	s_load_b128 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v8, 2, v0
	s_waitcnt lgkmcnt(0)
	s_clause 0x3
	global_load_b32 v1, v8, s[0:1] offset:256
	global_load_b32 v0, v8, s[0:1]
	global_load_b32 v5, v8, s[0:1] offset:768
	global_load_b32 v4, v8, s[0:1] offset:512
	s_waitcnt vmcnt(3)
	v_or_b32_e32 v3, 1, v1
	s_waitcnt vmcnt(2)
	v_sub_nc_u32_e32 v12, 0, v0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_4)
	v_cmp_ne_u32_e32 vcc, -1, v3
	v_cvt_f32_u32_e32 v9, v3
	v_sub_nc_u32_e32 v11, 0, v3
	v_max_i32_e32 v12, v12, v0
	v_cndmask_b32_e32 v6, 3, v3, vcc
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_rcp_iflag_f32_e32 v9, v9
	v_sub_nc_u32_e32 v2, 0, v6
	v_xor_b32_e32 v13, v0, v6
	s_delay_alu instid0(VALU_DEP_2)
	v_max_i32_e32 v2, v2, v6
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v9, 0x4f7ffffe, v9
	v_ashrrev_i32_e32 v13, 31, v13
	v_cvt_f32_u32_e32 v7, v2
	v_sub_nc_u32_e32 v10, 0, v2
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_cvt_u32_f32_e32 v9, v9
	v_rcp_iflag_f32_e32 v7, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v11, v11, v9
	v_mul_hi_u32 v11, v9, v11
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v7, 0x4f7ffffe, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cvt_u32_f32_e32 v7, v7
	v_add_nc_u32_e32 v9, v9, v11
	v_mul_lo_u32 v10, v10, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_hi_u32 v9, v0, v9
	v_mul_hi_u32 v10, v7, v10
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v11, v9, v3
	v_add_nc_u32_e32 v7, v7, v10
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_sub_nc_u32_e32 v11, v0, v11
	v_mul_hi_u32 v7, v12, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v10, v7, v2
	v_sub_nc_u32_e32 v10, v12, v10
	v_add_nc_u32_e32 v12, 1, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_sub_nc_u32_e32 v14, v10, v2
	v_cmp_ge_u32_e32 vcc, v10, v2
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v7, v7, v12, vcc
	v_add_nc_u32_e32 v12, 1, v9
	v_cndmask_b32_e32 v10, v10, v14, vcc
	v_cmp_ge_u32_e32 vcc, v11, v3
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_nc_u32_e32 v14, 1, v7
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_cmp_ge_u32_e64 s[0:1], v10, v2
	v_cndmask_b32_e32 v9, v9, v12, vcc
	v_sub_nc_u32_e32 v12, v11, v3
	v_cndmask_b32_e64 v2, v7, v14, s[0:1]
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_add_nc_u32_e32 v10, 1, v9
	v_cndmask_b32_e32 v7, v11, v12, vcc
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v2, v2, v13
	v_cmp_ge_u32_e32 vcc, v7, v3
	s_waitcnt_depctr depctr_va_vcc(0)
	s_waitcnt vmcnt(1)
	v_mov_b32_e32 v7, v5
	v_cndmask_b32_e32 v9, v9, v10, vcc
	v_sub_nc_u32_e32 v10, v2, v13
	v_mov_b32_e32 v2, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
	v_mul_lo_u32 v11, v9, v3
	v_or_b32_e32 v3, v1, v5
	v_mul_lo_u32 v12, v10, v6
	s_waitcnt vmcnt(0)
	v_or_b32_e32 v6, 1, v4
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_ne_u64_e32 vcc, 0, v[2:3]
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_u32 v2, s[0:1], s2, v8
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_co_ci_u32_e64 v3, null, s3, 0, s[0:1]
	v_sub_nc_u32_e32 v11, v0, v11
	v_sub_nc_u32_e32 v12, v0, v12
	s_clause 0x3
	global_store_b32 v8, v9, s[2:3]
	global_store_b32 v8, v11, s[2:3] offset:256
	global_store_b32 v8, v10, s[2:3] offset:512
	global_store_b32 v8, v12, s[2:3] offset:768
	s_and_saveexec_b64 s[0:1], vcc
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_xor_b64 s[2:3], exec, s[0:1]
	s_cbranch_execz .LBB0_2
	v_cvt_f32_u32_e32 v8, v6
	v_cvt_f32_u32_e32 v9, v7
	v_sub_co_u32 v15, vcc, 0, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_sub_co_ci_u32_e64 v16, null, 0, v7, vcc
	v_fmamk_f32 v8, v9, 0x4f800000, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_rcp_f32_e32 v8, v8
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v8, 0x5f7ffffc, v8
	v_mul_f32_e32 v9, 0x2f800000, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_trunc_f32_e32 v9, v9
	v_fmamk_f32 v8, v9, 0xcf800000, v8
	v_cvt_u32_f32_e32 v17, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cvt_u32_f32_e32 v18, v8
	v_mul_lo_u32 v10, v15, v17
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v11, v16, v18
	v_mad_u64_u32 v[8:9], null, v15, v18, 0
	v_add3_u32 v19, v9, v10, v11
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mul_hi_u32 v20, v18, v8
	v_mad_u64_u32 v[11:12], null, v17, v8, 0
	v_mad_u64_u32 v[9:10], null, v18, v19, 0
	v_mad_u64_u32 v[13:14], null, v17, v19, 0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_u32 v8, vcc, v20, v9
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v9, null, 0, v10, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v8, vcc, v8, v11
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e32 v8, vcc, v9, v12, vcc
	v_add_co_ci_u32_e32 v9, vcc, 0, v14, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v8, vcc, v8, v13
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v18, vcc, v18, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v17, null, v17, v9, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mul_lo_u32 v10, v16, v18
	v_mad_u64_u32 v[8:9], null, v15, v18, 0
	v_mul_lo_u32 v11, v15, v17
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_hi_u32 v16, v18, v8
	v_add3_u32 v15, v9, v11, v10
	v_mad_u64_u32 v[11:12], null, v17, v8, 0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[9:10], null, v18, v15, 0
	v_mad_u64_u32 v[13:14], null, v17, v15, 0
	v_add_co_u32 v8, vcc, v16, v9
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v10, vcc
	v_add_co_u32 v8, vcc, v8, v11
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v8, vcc, v9, v12, vcc
	v_add_co_ci_u32_e32 v9, vcc, 0, v14, vcc
	v_add_co_u32 v8, vcc, v8, v13
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc
	v_add_co_u32 v12, vcc, v18, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v14, null, v17, v9, vcc
	v_mul_hi_u32 v15, v0, v12
	v_mad_u64_u32 v[10:11], null, v1, v12, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[8:9], null, v0, v14, 0
	v_mad_u64_u32 v[12:13], null, v1, v14, 0
	v_add_co_u32 v8, vcc, v15, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc
	v_add_co_u32 v8, vcc, v8, v10
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v8, vcc, v9, v11, vcc
	v_add_co_ci_u32_e32 v9, vcc, 0, v13, vcc
	v_add_co_u32 v10, vcc, v8, v12
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v11, null, 0, v9, vcc
	v_mul_lo_u32 v12, v7, v10
	v_mad_u64_u32 v[8:9], null, v6, v10, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v13, v6, v11
	v_sub_co_u32 v8, vcc, v0, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v9, v9, v13, v12
	v_add_co_u32 v13, s[0:1], v10, 2
	v_add_co_ci_u32_e64 v14, null, 0, v11, s[0:1]
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_sub_nc_u32_e32 v12, v1, v9
	v_sub_co_u32 v15, s[0:1], v8, v6
	s_waitcnt_depctr depctr_va_sdst(0)
	v_sub_co_ci_u32_e64 v9, null, v1, v9, vcc
	v_sub_co_ci_u32_e64 v12, null, v12, v7, vcc
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc, v15, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_subrev_co_ci_u32_e64 v12, null, 0, v12, s[0:1]
	v_cndmask_b32_e64 v15, 0, -1, vcc
	v_cmp_eq_u32_e64 s[0:1], v9, v7
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_ge_u32_e32 vcc, v12, v7
	s_waitcnt_depctr depctr_va_sdst(0) depctr_va_vcc(0)
	v_cndmask_b32_e64 v16, 0, -1, vcc
	v_cmp_ge_u32_e32 vcc, v8, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v8, 0, -1, vcc
	v_cmp_ge_u32_e32 vcc, v9, v7
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v17, 0, -1, vcc
	v_cmp_eq_u32_e32 vcc, v12, v7
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_3)
	v_cndmask_b32_e64 v8, v17, v8, s[0:1]
	v_cndmask_b32_e32 v12, v16, v15, vcc
	v_add_co_u32 v15, vcc, v10, 1
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v16, null, 0, v11, vcc
	v_cmp_ne_u32_e32 vcc, 0, v12
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_cndmask_b32_e32 v9, v16, v14, vcc
	v_cndmask_b32_e32 v12, v15, v13, vcc
	v_cmp_ne_u32_e32 vcc, 0, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v9, v11, v9, vcc
	s_delay_alu instid0(VALU_DEP_3)
	v_cndmask_b32_e32 v8, v10, v12, vcc
.LBB0_2:
	s_and_not1_saveexec_b64 s[0:1], s[2:3]
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_cbranch_execz .LBB0_4
	v_cvt_f32_u32_e32 v8, v6
	v_sub_nc_u32_e32 v9, 0, v6
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_rcp_iflag_f32_e32 v8, v8
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v8, 0x4f7ffffe, v8
	v_cvt_u32_f32_e32 v8, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v9, v9, v8
	v_mul_hi_u32 v9, v8, v9
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v8, v8, v9
	v_mul_hi_u32 v8, v0, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v9, v8, v6
	v_add_nc_u32_e32 v10, 1, v8
	v_sub_nc_u32_e32 v9, v0, v9
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_sub_nc_u32_e32 v11, v9, v6
	v_cmp_ge_u32_e32 vcc, v9, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v9, v9, v11, vcc
	v_cndmask_b32_e32 v8, v8, v10, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc, v9, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_nc_u32_e32 v10, 1, v8
	v_mov_b32_e32 v9, 0
	s_delay_alu instid0(VALU_DEP_2)
	v_cndmask_b32_e32 v8, v8, v10, vcc
.LBB0_4:
	s_or_b64 exec, exec, s[0:1]
	v_cmp_ne_u64_e32 vcc, -1, v[6:7]
	s_waitcnt_depctr depctr_va_vcc(0)
	v_mul_lo_u32 v14, v9, v6
	v_mul_lo_u32 v15, v8, v7
	v_mad_u64_u32 v[10:11], null, v8, v6, 0
	v_mov_b32_e32 v13, 0
	v_cndmask_b32_e32 v12, 0, v7, vcc
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add3_u32 v7, v11, v15, v14
	v_or_b32_e32 v14, v1, v12
	v_sub_co_u32 v10, s[0:1], v0, v10
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_sub_co_ci_u32_e64 v7, null, v1, v7, s[0:1]
	v_cmp_ne_u64_e64 s[0:1], 0, v[13:14]
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e32 v14, 3, v6, vcc
	s_clause 0x3
	global_store_b32 v[2:3], v8, off offset:1024
	global_store_b32 v[2:3], v9, off offset:1280
	global_store_b32 v[2:3], v10, off offset:1536
	global_store_b32 v[2:3], v7, off offset:1792
	s_and_saveexec_b64 s[2:3], s[0:1]
	s_delay_alu instid0(SALU_CYCLE_1)
	s_xor_b64 s[2:3], exec, s[2:3]
	s_cbranch_execz .LBB0_6
	v_ashrrev_i32_e32 v13, 31, v12
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_add_co_u32 v6, vcc, v14, v13
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v7, null, v12, v13, vcc
	v_xor_b32_e32 v17, v6, v13
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v18, v7, v13
	v_cvt_f32_u32_e32 v6, v17
	v_sub_co_u32 v11, vcc, 0, v17
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cvt_f32_u32_e32 v7, v18
	v_sub_co_ci_u32_e64 v19, null, 0, v18, vcc
	v_fmamk_f32 v6, v7, 0x4f800000, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_rcp_f32_e32 v6, v6
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v6, 0x5f7ffffc, v6
	v_mul_f32_e32 v7, 0x2f800000, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_trunc_f32_e32 v7, v7
	v_fmamk_f32 v6, v7, 0xcf800000, v6
	v_cvt_u32_f32_e32 v20, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cvt_u32_f32_e32 v21, v6
	v_mul_lo_u32 v8, v11, v20
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v9, v19, v21
	v_mad_u64_u32 v[6:7], null, v11, v21, 0
	v_add3_u32 v22, v7, v8, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mul_hi_u32 v23, v21, v6
	v_mad_u64_u32 v[9:10], null, v20, v6, 0
	v_mad_u64_u32 v[7:8], null, v21, v22, 0
	v_mad_u64_u32 v[15:16], null, v20, v22, 0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_u32 v6, vcc, v23, v7
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v7, null, 0, v8, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v6, vcc, v6, v9
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e32 v6, vcc, v7, v10, vcc
	v_add_co_ci_u32_e32 v7, vcc, 0, v16, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v6, vcc, v6, v15
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v21, vcc, v21, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v20, null, v20, v7, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mul_lo_u32 v8, v19, v21
	v_mad_u64_u32 v[6:7], null, v11, v21, 0
	v_mul_lo_u32 v9, v11, v20
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_hi_u32 v19, v21, v6
	v_add3_u32 v11, v7, v9, v8
	v_mad_u64_u32 v[9:10], null, v20, v6, 0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[7:8], null, v21, v11, 0
	v_mad_u64_u32 v[15:16], null, v20, v11, 0
	v_add_co_u32 v6, vcc, v19, v7
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v7, null, 0, v8, vcc
	v_ashrrev_i32_e32 v19, 31, v1
	v_add_co_u32 v6, vcc, v6, v9
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_3)
	v_add_co_ci_u32_e32 v6, vcc, v7, v10, vcc
	v_add_co_ci_u32_e32 v7, vcc, 0, v16, vcc
	v_add_co_u32 v8, vcc, v0, v19
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v9, null, v1, v19, vcc
	v_add_co_u32 v6, vcc, v6, v15
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc
	v_xor_b32_e32 v15, v8, v19
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_u32 v10, vcc, v21, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v16, null, v20, v7, vcc
	v_xor_b32_e32 v20, v9, v19
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mul_hi_u32 v21, v15, v10
	v_mad_u64_u32 v[6:7], null, v15, v16, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mad_u64_u32 v[8:9], null, v20, v10, 0
	v_mad_u64_u32 v[10:11], null, v20, v16, 0
	v_add_co_u32 v6, vcc, v21, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc
	v_add_co_u32 v6, vcc, v6, v8
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v6, vcc, v7, v9, vcc
	v_add_co_ci_u32_e32 v7, vcc, 0, v11, vcc
	v_add_co_u32 v8, vcc, v6, v10
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v7, vcc
	v_mul_lo_u32 v10, v18, v8
	v_mad_u64_u32 v[6:7], null, v17, v8, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v11, v17, v9
	v_sub_co_u32 v6, vcc, v15, v6
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v7, v7, v11, v10
	v_add_co_u32 v11, s[0:1], v8, 2
	v_add_co_ci_u32_e64 v15, null, 0, v9, s[0:1]
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_sub_nc_u32_e32 v10, v20, v7
	v_sub_co_u32 v16, s[0:1], v6, v17
	s_waitcnt_depctr depctr_va_sdst(0)
	v_sub_co_ci_u32_e64 v7, null, v20, v7, vcc
	v_sub_co_ci_u32_e64 v10, null, v10, v18, vcc
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc, v16, v17
	s_waitcnt_depctr depctr_va_vcc(0)
	v_subrev_co_ci_u32_e64 v10, null, 0, v10, s[0:1]
	v_cndmask_b32_e64 v16, 0, -1, vcc
	s_delay_alu instid0(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc, v10, v18
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v20, 0, -1, vcc
	v_cmp_ge_u32_e32 vcc, v6, v17
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v6, 0, -1, vcc
	v_cmp_ge_u32_e32 vcc, v7, v18
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v17, 0, -1, vcc
	v_cmp_eq_u32_e32 vcc, v10, v18
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v10, v20, v16, vcc
	v_add_co_u32 v16, vcc, v8, 1
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v20, null, 0, v9, vcc
	v_cmp_eq_u32_e32 vcc, v7, v18
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v6, v17, v6, vcc
	v_cmp_ne_u32_e32 vcc, 0, v10
	v_xor_b32_e32 v10, v19, v13
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_2)
	v_cmp_ne_u32_e64 s[0:1], 0, v6
	s_waitcnt_depctr depctr_va_sdst(0) depctr_va_vcc(0)
	v_cndmask_b32_e32 v6, v16, v11, vcc
	v_cndmask_b32_e32 v7, v20, v15, vcc
	v_cndmask_b32_e64 v6, v8, v6, s[0:1]
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cndmask_b32_e64 v7, v9, v7, s[0:1]
	v_xor_b32_e32 v6, v6, v10
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v7, v7, v10
	v_sub_co_u32 v6, vcc, v6, v10
	s_waitcnt_depctr depctr_va_vcc(0)
	s_delay_alu instid0(VALU_DEP_2)
	v_sub_co_ci_u32_e64 v7, null, v7, v10, vcc
.LBB0_6:
	s_and_not1_saveexec_b64 s[0:1], s[2:3]
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_cbranch_execz .LBB0_8
	v_cvt_f32_u32_e32 v6, v14
	v_sub_nc_u32_e32 v7, 0, v14
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_rcp_iflag_f32_e32 v6, v6
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v6, 0x4f7ffffe, v6
	v_cvt_u32_f32_e32 v6, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v7, v7, v6
	v_mul_hi_u32 v7, v6, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v6, v6, v7
	v_mul_hi_u32 v6, v0, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v7, v6, v14
	v_add_nc_u32_e32 v8, 1, v6
	v_sub_nc_u32_e32 v7, v0, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_sub_nc_u32_e32 v9, v7, v14
	v_cmp_ge_u32_e32 vcc, v7, v14
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v7, v7, v9, vcc
	v_cndmask_b32_e32 v6, v6, v8, vcc
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc, v7, v14
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_nc_u32_e32 v8, 1, v6
	v_mov_b32_e32 v7, 0
	s_delay_alu instid0(VALU_DEP_2)
	v_cndmask_b32_e32 v6, v6, v8, vcc
.LBB0_8:
	s_or_b64 exec, exec, s[0:1]
	v_cmp_gt_f64_e64 s[0:1], 0x10000000, v[0:1]
	v_div_scale_f64 v[8:9], null, v[4:5], v[4:5], v[0:1]
	v_div_scale_f64 v[25:26], s[2:3], v[0:1], v[4:5], v[0:1]
	v_div_scale_f32 v35, null, v1, v1, v0
	v_div_scale_f32 v36, vcc, v0, v1, v0
	s_waitcnt_depctr depctr_va_vcc(0)
	v_floor_f64_e32 v[33:34], v[0:1]
	s_delay_alu instid0(VALU_DEP_3)
	v_rcp_f32_e32 v37, v35
	v_cvt_f32_f16_e32 v39, v1.l
	v_trunc_f32_e32 v42, v0
	v_clz_i32_u32_e32 v41, v1
	v_bfe_i32 v45, v1, 0, 16
	v_cvt_f32_f64_e32 v40, v[0:1]
	v_rcp_f32_e32 v39, v39
	s_mov_b32 s10, 0
	v_min_u32_e32 v41, 32, v41
	s_mov_b64 s[8:9], 0
	v_fma_f32 v13, -v35, v37, 1.0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32 v37, v13, v37
	v_mul_f32_e32 v38, v36, v37
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_fma_f32 v31, -v35, v38, v36
	v_cndmask_b32_e64 v10, 0, 0x100, s[0:1]
	v_rcp_f64_e32 v[15:16], v[8:9]
	v_fmac_f32_e32 v38, v31, v37
	v_cvt_f64_f32_e32 v[31:32], v0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_ldexp_f64 v[10:11], v[0:1], v10
	v_fma_f32 v43, -v35, v38, v36
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_4) | instid1(TRANS32_DEP_1)
	v_div_fmas_f32 v37, v43, v37, v38
	s_mov_b64 vcc, s[2:3]
	s_waitcnt_depctr depctr_sa_sdst(0)
	v_mul_lo_u32 v38, v5, v0
	v_mul_lo_u32 v43, v4, v1
	v_fma_f64 v[19:20], -v[8:9], v[15:16], 1.0
	v_rsq_f64_e32 v[17:18], v[10:11]
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_fma_f64 v[15:16], v[15:16], v[19:20], v[15:16]
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f64 v[21:22], v[10:11], v[17:18]
	v_mul_f64 v[17:18], v[17:18], 0.5
	v_fma_f64 v[23:24], -v[8:9], v[15:16], 1.0
	v_fma_f64 v[19:20], -v[17:18], v[21:22], 0.5
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_fma_f64 v[23:24], v[15:16], v[23:24], v[15:16]
	v_fma_f64 v[21:22], v[21:22], v[19:20], v[21:22]
	v_fma_f64 v[27:28], v[17:18], v[19:20], v[17:18]
	v_mul_lo_u32 v18, v7, v14
	v_mul_lo_u32 v19, v6, v12
	v_mad_u64_u32 v[12:13], null, v6, v14, 0
	v_cvt_f32_f16_e32 v17, v0.l
	v_mul_f32_e32 v20, 0x4f800000, v0
	v_mul_f64 v[29:30], v[25:26], v[23:24]
	v_fma_f64 v[15:16], -v[21:22], v[21:22], v[10:11]
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_fma_f64 v[25:26], -v[8:9], v[29:30], v[25:26]
	v_add_co_u32 v8, s[4:5], v2, 0x2000
	v_add_co_ci_u32_e64 v9, null, 0, v3, s[4:5]
	s_delay_alu instid0(VALU_DEP_4)
	v_fma_f64 v[21:22], v[15:16], v[27:28], v[21:22]
	v_add_f16_e32 v16.l, v0.l, v1.l
	v_mov_b16_e32 v16.h, 0
	v_add_co_u32 v35, s[4:5], 0x3000, v2
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_co_ci_u32_e64 v36, null, 0, v3, s[4:5]
	v_cmp_o_f16_e64 s[2:3], v16.l, v16.l
	v_div_fmas_f64 v[23:24], v[25:26], v[23:24], v[29:30]
	v_mad_u64_u32 v[25:26], null, v4, v0, 0
	v_add_co_u32 v29, vcc, 0x4000, v2
	s_waitcnt_depctr depctr_va_vcc(0)
	v_fma_f64 v[14:15], -v[21:22], v[21:22], v[10:11]
	v_add_co_ci_u32_e64 v30, null, 0, v3, vcc
	s_delay_alu instid0(VALU_DEP_4)
	v_add3_u32 v26, v26, v43, v38
	global_store_b32 v[29:30], v25, off offset:768
	v_fma_f64 v[21:22], v[14:15], v[27:28], v[21:22]
	v_mul_f32_e32 v28, v17, v39
	v_add_co_u32 v14, vcc, v4, v0
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v15, null, v5, v1, vcc
	s_delay_alu instid0(VALU_DEP_3)
	v_fma_mix_f32 v43, -v1, v28, v0 op_sel_hi:[1,0,1]
	v_sub_co_u32 v27, vcc, v0, v4
	s_waitcnt_depctr depctr_va_vcc(0)
	s_clause 0x2
	global_store_b32 v[29:30], v26, off offset:1024
	global_store_b32 v[29:30], v14, off offset:1280
	global_store_b32 v[29:30], v15, off offset:1536
	v_lshlrev_b64 v[14:15], v4, v[0:1]
	v_fmac_f32_e32 v28, v43, v39
	v_sub_co_ci_u32_e64 v38, null, v1, v5, vcc
	s_clause 0x1
	global_store_b32 v[29:30], v27, off offset:1792
	global_store_b32 v[29:30], v38, off offset:2048
	v_ceil_f32_e32 v38, v0
	s_clause 0x1
	global_store_b32 v[29:30], v14, off offset:2304
	global_store_b32 v[29:30], v15, off offset:2560
	v_fma_mix_f32 v15, -v1, v28, v0 op_sel_hi:[1,0,1]
	v_cmp_o_f64_e32 vcc, v[33:34], v[33:34]
	s_waitcnt_depctr depctr_va_vcc(0)
	v_ashrrev_i64 v[26:27], v4, v[0:1]
	v_bcnt_u32_b32 v14, v0, 0
	s_clause 0x1
	global_store_b32 v[29:30], v27, off offset:3072
	global_store_b32 v[29:30], v26, off offset:2816
	v_mul_f32_e32 v15, v15, v39
	v_cndmask_b32_e64 v39, 0x7e00, v16, s[2:3]
	v_cmp_o_f32_e64 s[2:3], v38, v38
	s_waitcnt_depctr depctr_va_sdst(0)
	v_rndne_f32_e32 v26, v0
	v_mul_f16_e32 v16.l, v0.l, v1.l
	v_and_b32_e32 v15, 0xff800000, v15
	v_clz_i32_u32_e32 v27, v0
	v_cndmask_b32_e64 v38, 0x7fc00000, v38, s[2:3]
	v_cmp_o_f32_e64 s[2:3], v42, v42
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_f32_e32 v15, v15, v28
	v_mul_f32_e64 v28, 0x2f800000, |v42|
	global_store_b32 v[35:36], v38, off offset:2816
	v_ctz_i32_b32_e32 v38, v0
	v_min_u32_e32 v27, 32, v27
	v_floor_f32_e32 v28, v28
	s_delay_alu instid0(VALU_DEP_3)
	v_min_u32_e32 v38, 32, v38
	global_store_b32 v[29:30], v14, off offset:3328
	v_cndmask_b32_e64 v14, 0x7fc00000, v42, s[2:3]
	v_cmp_o_f32_e64 s[2:3], v26, v26
	s_waitcnt_depctr depctr_va_sdst(0)
	s_clause 0x1
	global_store_b32 v[29:30], v38, off offset:3840
	global_store_b32 v[35:36], v14, off offset:3072
	v_cndmask_b32_e64 v26, 0x7fc00000, v26, s[2:3]
	v_cmp_o_f16_e64 s[2:3], v16.l, v16.l
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cvt_f16_f32_e32 v14.l, v15
	v_cndmask_b32_e32 v15, 0, v33, vcc
	v_mul_hi_u32 v33, v1, v0
	v_cndmask_b32_e64 v43, 0x7e00, v16, s[2:3]
	v_sub_f16_e32 v16.l, v0.l, v1.l
	global_store_b32 v[35:36], v26, off offset:3328
	v_cmp_o_f16_e64 s[2:3], v16.l, v16.l
	s_waitcnt_depctr depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e64 v44, 0x7e00, v16, s[2:3]
	v_div_fixup_f16 v16.l, v14.l, v1.l, v0.l
	v_cndmask_b32_e32 v14, 0x7ff80000, v34, vcc
	v_mul_hi_i32 v34, v1, v0
	s_clause 0x1
	global_store_b32 v[35:36], v15, off offset:3584
	global_store_b32 v[35:36], v14, off offset:3840
	v_fma_f32 v14, 0xcf800000, v28, |v42|
	global_store_b32 v[29:30], v33, off offset:256
	v_cvt_u32_f32_e32 v28, v28
	v_add_co_u32 v26, vcc, v2, 0x4000
	s_waitcnt_depctr depctr_va_vcc(0)
	s_clause 0x1
	global_store_b32 v[29:30], v34, off offset:512
	global_store_b32 v[29:30], v27, off offset:3584
	v_ashrrev_i32_e32 v34, 31, v42
	v_cvt_u32_f32_e32 v42, v14
	v_add_co_ci_u32_e64 v27, null, 0, v3, vcc
	v_add_co_u32 v14, vcc, 0x5000, v2
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_co_ci_u32_e64 v15, null, 0, v3, vcc
	v_xor_b32_e32 v25, v28, v34
	v_xor_b32_e32 v28, v42, v34
	v_cmp_o_f16_e32 vcc, v16.l, v16.l
	s_waitcnt_depctr depctr_va_vcc(0)
	v_perm_b32 v33, 0, v0, 0x10203
	v_mul_lo_u32 v30, v1, v0
	v_bfe_i32 v42, v0, 0, 16
	v_cndmask_b32_e32 v29, 0x7e00, v16, vcc
	v_sub_co_u32 v28, vcc, v28, v34
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cvt_f16_f32_e32 v16.l, v0
	v_sub_co_ci_u32_e64 v25, null, v25, v34, vcc
	v_cmp_gt_f32_e64 vcc, 0x5ef9ccd9, |v0|
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_cmp_o_f16_e64 s[2:3], v16.l, v16.l
	s_waitcnt_depctr depctr_va_sdst(0) depctr_va_vcc(0)
	v_cndmask_b32_e32 v38, 0, v25, vcc
	v_cndmask_b32_e32 v25, 0, v28, vcc
	v_cmp_le_f32_e32 vcc, v0, v1
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v34, 0x7e00, v16, s[2:3]
	v_cmp_gt_f32_e64 s[2:3], 0xf800000, v0
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cvt_f16_i16_e32 v16.l, v0.l
	global_store_b32 v[26:27], v25, off offset:-4096
	v_cndmask_b32_e64 v28, 0, 1, vcc
	v_cmp_eq_f32_e32 vcc, v0, v1
	s_waitcnt_depctr depctr_va_vcc(0)
	s_clause 0x1
	global_store_b32 v[8:9], v34, off
	global_store_b32 v[26:27], v30, off
	v_cndmask_b32_e64 v34, 0, 1, vcc
	v_cmp_neq_f32_e32 vcc, v0, v1
	s_waitcnt_depctr depctr_va_vcc(0)
	global_store_b32 v[35:36], v28, off offset:768
	v_cndmask_b32_e64 v28, 0, 0xffffff80, s[0:1]
	v_cmp_class_f64_e64 s[0:1], v[10:11], 0x260
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v25, 0, 1, vcc
	v_cmp_u_f32_e32 vcc, v0, v1
	s_waitcnt_depctr depctr_va_vcc(0)
	v_ldexp_f64 v[21:22], v[21:22], v28
	v_floor_f32_e32 v28, v0
	global_store_b32 v[35:36], v34, off offset:1024
	v_cndmask_b32_e64 v26, 0, 1, vcc
	v_cmp_lt_f64_e32 vcc, v[0:1], v[4:5]
	s_waitcnt_depctr depctr_va_vcc(0)
	global_store_b32 v[35:36], v25, off offset:1280
	v_cndmask_b32_e64 v46, v22, v11, s[0:1]
	v_cndmask_b32_e64 v27, 0, 1, vcc
	v_cmp_ge_f64_e32 vcc, v[0:1], v[4:5]
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v30, 0, 1, vcc
	v_cmp_lt_f16_e32 vcc, v0.l, v1.l
	s_waitcnt_depctr depctr_va_vcc(0)
	s_clause 0x1
	global_store_b32 v[35:36], v27, off offset:1792
	global_store_b32 v[35:36], v30, off offset:2048
	v_mad_i32_i24 v30, v45, v42, v4
	v_cndmask_b32_e64 v34, 0, 1, vcc
	v_cmp_o_f32_e32 vcc, v28, v28
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v42, v0, v20, s[2:3]
	v_cndmask_b32_e32 v27, 0x7fc00000, v28, vcc
	global_store_b32 v[35:36], v26, off offset:1536
	v_lshlrev_b64 v[25:26], v41, v[0:1]
	v_sub_co_u32 v45, vcc, v0, v12
	s_waitcnt_depctr depctr_va_vcc(0)
	v_sqrt_f32_e32 v12, v42
	global_store_b32 v[35:36], v27, off offset:2560
	v_min_i32_e32 v27, v0, v1
	v_min_u32_e32 v25, 1, v25
	v_cls_i32_e32 v28, v1
	v_cmp_class_f32_e64 s[6:7], v42, 0x260
	global_store_b32 v[14:15], v27, off offset:512
	v_or_b32_e32 v20, v26, v25
	v_alignbit_b32 v25, v0, v0, v1.l
	global_store_b32 v[14:15], v33, off
	v_add_nc_u32_e32 v26, -1, v28
	v_max_u32_e32 v33, v0, v1
	v_cvt_f32_u32_e32 v20, v20
	s_clause 0x1
	global_store_b32 v[14:15], v25, off offset:256
	global_store_b32 v[35:36], v34, off offset:2304
	v_add3_u32 v34, v13, v19, v18
	v_xor_b32_e32 v13, v0, v1
	v_cvt_f64_u32_e32 v[18:19], v1
	v_add_nc_u32_e32 v25, -1, v12
	global_store_b32 v[14:15], v33, off offset:768
	v_sub_co_ci_u32_e64 v34, null, v1, v34, vcc
	v_ashrrev_i32_e32 v13, 31, v13
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v13, 32, v13
	v_min_u32_e32 v13, v26, v13
	v_sub_nc_u32_e32 v26, 32, v41
	v_cndmask_b32_e64 v41, v21, v10, s[0:1]
	v_fma_f32 v21, -v25, v12, v42
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_lshlrev_b64 v[10:11], v13, v[0:1]
	v_ldexp_f32 v22, v20, v26
	v_sub_nc_u32_e32 v26, 32, v13
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_cmp_ge_f32_e64 s[0:1], 0, v21
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_nc_u32_e32 v21, 1, v12
	v_min_u32_e32 v10, 1, v10
	v_cndmask_b32_e64 v20, v12, v25, s[0:1]
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_fma_f32 v12, -v21, v12, v42
	v_or_b32_e32 v25, v11, v10
	v_add_co_u32 v10, s[0:1], 0x2000, v2
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_lt_f32_e64 s[4:5], 0, v12
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_co_ci_u32_e64 v11, null, 0, v3, s[0:1]
	v_cmp_o_f32_e64 s[0:1], v0, v0
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cvt_f64_u32_e32 v[12:13], v0
	v_cndmask_b32_e64 v27, v20, v21, s[4:5]
	v_cmp_o_f32_e64 s[4:5], v40, v40
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cvt_f32_i32_e32 v20, v25
	v_ldexp_f64 v[18:19], v[18:19], 32
	v_cndmask_b32_e64 v28, 0, v31, s[0:1]
	v_cndmask_b32_e64 v25, 0x7ff80000, v32, s[0:1]
	v_cndmask_b32_e64 v21, 0x7fc00000, v40, s[4:5]
	v_ldexp_f32 v31, v20, v26
	v_cvt_f32_i32_e32 v26, v0
	s_clause 0x2
	global_store_b32 v[10:11], v28, off offset:768
	global_store_b32 v[10:11], v25, off offset:1024
	global_store_b32 v[10:11], v21, off offset:512
	v_trunc_f64_e32 v[20:21], v[0:1]
	v_cvt_f32_u32_e32 v25, v0
	global_store_b32 v[10:11], v26, off offset:1280
	v_mul_f32_e32 v26, 0x37800000, v27
	s_clause 0x1
	global_store_b32 v[10:11], v22, off offset:1792
	global_store_b32 v[10:11], v31, off offset:2048
	v_div_fixup_f64 v[22:23], v[23:24], v[4:5], v[0:1]
	global_store_b32 v[10:11], v25, off offset:1536
	v_fma_f32 v31, v0, v1, v4
	v_cndmask_b32_e64 v32, v27, v26, s[2:3]
	v_add_f64 v[25:26], v[0:1], v[4:5]
	v_fma_f64 v[27:28], v[0:1], v[4:5], v[0:1]
	v_mad_u32_u24 v40, v1, v0, v4
	s_delay_alu instid0(VALU_DEP_4)
	v_cndmask_b32_e64 v32, v32, v42, s[6:7]
	v_add_f64 v[12:13], v[18:19], v[12:13]
	s_clause 0x1
	global_store_b32 v[10:11], v12, off offset:2304
	global_store_b32 v[10:11], v13, off offset:2560
	v_ldexp_f64 v[18:19], v[20:21], 0xffffffe0
	v_mul_f64 v[12:13], v[0:1], v[4:5]
	v_cmp_o_f64_e64 s[0:1], v[25:26], v[25:26]
	v_cmp_o_f64_e64 s[2:3], v[27:28], v[27:28]
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_floor_f64_e32 v[18:19], v[18:19]
	v_cmp_o_f64_e64 s[4:5], v[12:13], v[12:13]
	s_waitcnt_depctr depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_4)
	v_cndmask_b32_e64 v26, 0x7ff80000, v26, s[0:1]
	v_cndmask_b32_e64 v33, 0, v25, s[0:1]
	v_add_co_u32 v24, s[0:1], 0x1000, v2
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_co_ci_u32_e64 v25, null, 0, v3, s[0:1]
	s_mov_b32 s0, 0x1438a100
	s_mov_b32 s1, 0x43df399b
	s_waitcnt_depctr depctr_sa_sdst(0)
	v_cmp_lt_f64_e64 s[0:1], |v[0:1]|, s[0:1]
	s_clause 0x1
	global_store_b32 v[24:25], v43, off offset:3328
	global_store_b32 v[24:25], v29, off offset:3840
	v_mul_hi_u32 v29, 0x1b4e81b5, v1
	global_store_b32 v[24:25], v44, off offset:3584
	v_lshrrev_b32_e32 v29, 5, v29
	s_delay_alu instid0(VALU_DEP_1)
	v_mul_u32_u24_e32 v29, 0x12c, v29
	v_fma_f64 v[20:21], 0xc1f00000, v[18:19], v[20:21]
	v_cvt_i32_f64_e32 v4, v[18:19]
	v_cndmask_b32_e64 v5, 0x7ff80000, v13, s[4:5]
	v_cndmask_b32_e64 v19, 0, v27, s[2:3]
	v_cndmask_b32_e64 v12, 0, v12, s[4:5]
	v_cmp_lt_f32_e64 s[4:5], v0, v1
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v18, 0x7ff80000, v28, s[2:3]
	s_clause 0x1
	global_store_b32 v[24:25], v5, off offset:2304
	global_store_b32 v[24:25], v19, off offset:2560
	v_cvt_i32_f32_e32 v5, v0
	v_cndmask_b32_e64 v19, 0, 1, s[4:5]
	v_cmp_o_f16_e64 s[4:5], v0.l, v0.l
	v_cmp_gt_f32_e64 s[2:3], 0x4f6e6b28, v0
	s_waitcnt_depctr depctr_va_sdst(0)
	global_store_b32 v[24:25], v18, off offset:2816
	v_cvt_u32_f32_e32 v18, v0
	v_mul_f32_e32 v27, v0, v1
	v_cndmask_b32_e64 v17, 0x7fc00000, v17, s[4:5]
	v_cmp_gt_f32_e64 s[4:5], 0x4eee6b28, |v0|
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_nc_u32_e32 v28, v1, v0
	global_store_b32 v[10:11], v17, off offset:256
	v_cndmask_b32_e64 v5, 0, v5, s[4:5]
	v_cmp_le_f32_e64 s[4:5], 0, v0
	s_waitcnt_depctr depctr_va_sdst(0)
	global_store_b32 v[10:11], v16, off offset:2816
	v_bfi_b32 v16, 0x7fffffff, v0, v1
	v_and_b32_e32 v28, 0xffff, v28
	v_and_b32_e32 v17, 0x7fffffff, v0
	s_and_b64 s[2:3], s[4:5], s[2:3]
	v_cndmask_b32_e64 v32, 0x7fc00000, v32, s[4:5]
	v_cndmask_b32_e64 v18, 0, v18, s[2:3]
	s_clause 0x1
	global_store_b32 v[10:11], v5, off offset:3072
	global_store_b32 v[24:25], v39, off offset:3072
	v_cmp_o_f32_e64 s[4:5], v31, v31
	s_waitcnt_depctr depctr_va_sdst(0)
	v_and_b32_e32 v5, 7, v0
	global_store_b32 v[10:11], v18, off offset:3328
	v_bfe_i32 v39, v0, 0, 8
	v_cvt_u32_f64_e32 v13, v[20:21]
	v_add_f32_e32 v20, v0, v1
	v_sub_f32_e32 v21, v0, v1
	v_cndmask_b32_e64 v42, 0, v4, s[0:1]
	v_mov_b32_e32 v4, 0
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_cmp_o_f32_e64 s[2:3], v20, v20
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v18, 0x7fc00000, v20, s[2:3]
	v_cmp_o_f32_e64 s[2:3], v21, v21
	s_waitcnt_depctr depctr_va_sdst(0)
	v_sub_nc_u32_e32 v20, v1, v29
	v_cndmask_b32_e64 v29, 0x7fc00000, v31, s[4:5]
	v_div_fixup_f32 v31, v37, v1, v0
	v_cmp_o_f32_e64 s[4:5], v16, v16
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v21, 0x7fc00000, v21, s[2:3]
	v_cmp_o_f32_e64 s[2:3], v27, v27
	s_waitcnt_depctr depctr_va_sdst(0)
	v_add_nc_u32_e32 v20, 0xffffff6a, v20
	v_cndmask_b32_e64 v16, 0x7fc00000, v16, s[4:5]
	v_cmp_ne_u32_e64 s[4:5], 0, v5
	s_waitcnt_depctr depctr_va_sdst(0)
	v_cndmask_b32_e64 v27, 0x7fc00000, v27, s[2:3]
	v_cmp_le_f64_e64 s[2:3], 0, v[0:1]
	v_ldexp_f32 v20, v0, v20
	s_delay_alu instid0(VALU_DEP_1)
	v_cmp_o_f32_e32 vcc, v20, v20
	s_waitcnt_depctr depctr_va_sdst(0) depctr_va_vcc(0)
	v_cndmask_b32_e32 v20, 0x7fc00000, v20, vcc
	v_cmp_o_f32_e32 vcc, v31, v31
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e64 v13, 0, v13, s[0:1]
	v_cmp_o_f64_e64 s[0:1], v[22:23], v[22:23]
	s_waitcnt_depctr depctr_va_sdst(0)
	s_clause 0x3
	global_store_b32 v[10:11], v13, off offset:3584
	global_store_b32 v[10:11], v42, off offset:3840
	global_store_b32 v[35:36], v38, off offset:256
	global_store_b32 v[35:36], v19, off offset:512
	v_cndmask_b32_e32 v31, 0x7fc00000, v31, vcc
	v_cndmask_b32_e64 v37, 0x7ff80000, v46, s[2:3]
	s_clause 0x7
	global_store_b32 v[24:25], v37, off offset:256
	global_store_b32 v[24:25], v18, off offset:512
	global_store_b32 v[24:25], v21, off offset:768
	global_store_b32 v[24:25], v27, off offset:1024
	global_store_b32 v[24:25], v29, off offset:1280
	global_store_b32 v[24:25], v33, off offset:1536
	global_store_b32 v[24:25], v26, off offset:1792
	global_store_b32 v[24:25], v12, off offset:2048
	v_cndmask_b32_e64 v10, 0x7ff80000, v23, s[0:1]
	v_cndmask_b32_e64 v11, 0, v22, s[0:1]
	s_clause 0x7
	global_store_b32 v[2:3], v6, off offset:2048
	global_store_b32 v[2:3], v7, off offset:2304
	global_store_b32 v[2:3], v45, off offset:2560
	global_store_b32 v[2:3], v34, off offset:2816
	global_store_b32 v[2:3], v31, off offset:3072
	global_store_b32 v[2:3], v32, off offset:3328
	global_store_b32 v[2:3], v11, off offset:3584
	global_store_b32 v[2:3], v10, off offset:3840
	v_cndmask_b32_e64 v2, 0, v41, s[2:3]
	s_clause 0x7
	global_store_b32 v[14:15], v30, off offset:1024
	global_store_b32 v[14:15], v28, off offset:1280
	global_store_b32 v[14:15], v39, off offset:1536
	global_store_b32 v[14:15], v40, off offset:1792
	global_store_b32 v[14:15], v17, off offset:2048
	global_store_b32 v[14:15], v16, off offset:2304
	global_store_b32 v[8:9], v2, off offset:-4096
	global_store_b32 v[14:15], v20, off offset:2560
	s_and_saveexec_b64 s[2:3], s[4:5]
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_cbranch_execz .LBB0_12
	v_mov_b32_e32 v4, 0
.LBB0_10:
	v_lshrrev_b32_e32 v2, s10, v1
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
	v_mul_f32_e32 v0, 0.5, v0
	s_add_i32 s10, s10, 1
	v_cmp_eq_u32_e32 vcc, s10, v5
	s_waitcnt_depctr depctr_va_vcc(0)
	v_add_nc_u32_e32 v4, v2, v4
	s_or_b64 s[8:9], vcc, s[8:9]
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_and_b32_e32 v2, 1, v4
	v_cmp_eq_u32_e64 s[0:1], 0, v2
	s_waitcnt_depctr depctr_va_sdst(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e64 v0, -v0, v0, s[0:1]
	s_and_not1_b64 exec, exec, s[8:9]
	s_cbranch_execnz .LBB0_10
	s_or_b64 exec, exec, s[8:9]
.LBB0_12:
	s_delay_alu instid0(SALU_CYCLE_1)
	s_or_b64 exec, exec, s[2:3]
	v_cmp_o_f32_e32 vcc, v0, v0
	s_waitcnt_depctr depctr_va_vcc(0)
	v_cndmask_b32_e32 v0, 0x7fc00000, v0, vcc
	s_clause 0x1
	global_store_b32 v[14:15], v4, off offset:2816
	global_store_b32 v[14:15], v0, off offset:3072
	s_endpgm
