; SPDX-License-Identifier: Apache-2.0
; clang for gfx1100, see tests/emu/amd/semantics/regenerate_compiled_kernel.sh
	s_load_b128 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v8, 2, v0
	s_waitcnt lgkmcnt(0)
	s_clause 0x3
	global_load_b32 v1, v8, s[0:1] offset:256
	global_load_b32 v0, v8, s[0:1]
	global_load_b32 v3, v8, s[0:1] offset:768
	global_load_b32 v2, v8, s[0:1] offset:512
	s_waitcnt vmcnt(3)
	v_or_b32_e32 v5, 1, v1
	s_waitcnt vmcnt(2)
	v_sub_nc_u32_e32 v12, 0, v0
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cmp_ne_u32_e32 vcc_lo, -1, v5
	v_max_i32_e32 v12, v12, v0
	v_cvt_f32_u32_e32 v9, v5
	v_sub_nc_u32_e32 v11, 0, v5
	v_cndmask_b32_e32 v6, 3, v5, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_rcp_iflag_f32_e32 v9, v9
	v_sub_nc_u32_e32 v4, 0, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_i32_e32 v4, v4, v6
	v_cvt_f32_u32_e32 v7, v4
	v_sub_nc_u32_e32 v10, 0, v4
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_rcp_iflag_f32_e32 v7, v7
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v7, 0x4f7ffffe, v7
	v_cvt_u32_f32_e32 v7, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32 v10, v10, v7
	v_mul_hi_u32 v10, v7, v10
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_nc_u32_e32 v7, v7, v10
	v_xor_b32_e32 v13, v0, v6
	v_mul_hi_u32 v7, v12, v7
	v_mul_f32_e32 v9, 0x4f7ffffe, v9
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_ashrrev_i32_e32 v13, 31, v13
	v_mul_lo_u32 v10, v7, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_sub_nc_u32_e32 v10, v12, v10
	v_add_nc_u32_e32 v12, 1, v7
	v_cvt_u32_f32_e32 v9, v9
	v_sub_nc_u32_e32 v14, v10, v4
	v_cmp_ge_u32_e32 vcc_lo, v10, v4
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mul_lo_u32 v11, v11, v9
	v_cndmask_b32_e32 v10, v10, v14, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_hi_u32 v11, v9, v11
	v_cmp_ge_u32_e64 s0, v10, v4
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v9, v9, v11
	v_mul_hi_u32 v9, v0, v9
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_dual_cndmask_b32 v7, v7, v12 :: v_dual_add_nc_u32 v12, 1, v9
	v_mul_lo_u32 v11, v9, v5
	v_sub_nc_u32_e32 v11, v0, v11
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_cmp_ge_u32_e32 vcc_lo, v11, v5
	v_dual_cndmask_b32 v9, v9, v12 :: v_dual_add_nc_u32 v14, 1, v7
	v_sub_nc_u32_e32 v12, v11, v5
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cndmask_b32_e64 v4, v7, v14, s0
	v_dual_cndmask_b32 v7, v11, v12 :: v_dual_add_nc_u32 v10, 1, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v4, v4, v13
	v_cmp_ge_u32_e32 vcc_lo, v7, v5
	s_waitcnt vmcnt(1)
	v_mov_b32_e32 v7, v3
	v_cndmask_b32_e32 v9, v9, v10, vcc_lo
	v_sub_nc_u32_e32 v10, v4, v13
	v_mov_b32_e32 v4, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
	v_mul_lo_u32 v11, v9, v5
	v_or_b32_e32 v5, v1, v3
	v_mul_lo_u32 v12, v10, v6
	s_waitcnt vmcnt(0)
	v_or_b32_e32 v6, 1, v2
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_cmp_ne_u64_e32 vcc_lo, 0, v[4:5]
	v_add_co_u32 v4, s0, s2, v8
	v_add_co_ci_u32_e64 v5, null, s3, 0, s0
	v_sub_nc_u32_e32 v11, v0, v11
	v_sub_nc_u32_e32 v12, v0, v12
	s_clause 0x3
	global_store_b32 v8, v9, s[2:3]
	global_store_b32 v8, v11, s[2:3] offset:256
	global_store_b32 v8, v10, s[2:3] offset:512
	global_store_b32 v8, v12, s[2:3] offset:768
	s_and_saveexec_b32 s0, vcc_lo
	s_delay_alu instid0(SALU_CYCLE_1)
	s_xor_b32 s1, exec_lo, s0
	s_cbranch_execz .LBB0_2
	v_cvt_f32_u32_e32 v8, v6
	v_cvt_f32_u32_e32 v9, v7
	v_sub_co_u32 v15, vcc_lo, 0, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_sub_co_ci_u32_e64 v16, null, 0, v7, vcc_lo
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
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v8, vcc_lo, v20, v9
	v_add_co_ci_u32_e64 v9, null, 0, v10, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v8, vcc_lo, v8, v11
	v_add_co_ci_u32_e32 v8, vcc_lo, v9, v12, vcc_lo
	v_add_co_ci_u32_e32 v9, vcc_lo, 0, v14, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v8, vcc_lo, v8, v13
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v18, vcc_lo, v18, v8
	v_add_co_ci_u32_e64 v17, null, v17, v9, vcc_lo
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
	v_add_co_u32 v8, vcc_lo, v16, v9
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v10, vcc_lo
	v_add_co_u32 v8, vcc_lo, v8, v11
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v8, vcc_lo, v9, v12, vcc_lo
	v_add_co_ci_u32_e32 v9, vcc_lo, 0, v14, vcc_lo
	v_add_co_u32 v8, vcc_lo, v8, v13
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
	v_add_co_u32 v12, vcc_lo, v18, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v14, null, v17, v9, vcc_lo
	v_mul_hi_u32 v15, v0, v12
	v_mad_u64_u32 v[10:11], null, v1, v12, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[8:9], null, v0, v14, 0
	v_mad_u64_u32 v[12:13], null, v1, v14, 0
	v_add_co_u32 v8, vcc_lo, v15, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
	v_add_co_u32 v8, vcc_lo, v8, v10
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v8, vcc_lo, v9, v11, vcc_lo
	v_add_co_ci_u32_e32 v9, vcc_lo, 0, v13, vcc_lo
	v_add_co_u32 v10, vcc_lo, v8, v12
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v11, null, 0, v9, vcc_lo
	v_mul_lo_u32 v12, v7, v10
	v_mad_u64_u32 v[8:9], null, v6, v10, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v13, v6, v11
	v_sub_co_u32 v8, vcc_lo, v0, v8
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add3_u32 v9, v9, v13, v12
	v_add_co_u32 v13, s0, v10, 2
	v_add_co_ci_u32_e64 v14, null, 0, v11, s0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_sub_nc_u32_e32 v12, v1, v9
	v_sub_co_u32 v15, s0, v8, v6
	v_sub_co_ci_u32_e64 v9, null, v1, v9, vcc_lo
	v_sub_co_ci_u32_e64 v12, null, v12, v7, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc_lo, v15, v6
	v_subrev_co_ci_u32_e64 v12, null, 0, v12, s0
	v_cndmask_b32_e64 v15, 0, -1, vcc_lo
	v_cmp_eq_u32_e64 s0, v9, v7
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_ge_u32_e32 vcc_lo, v12, v7
	v_cndmask_b32_e64 v16, 0, -1, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v8, v6
	v_cndmask_b32_e64 v8, 0, -1, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v9, v7
	v_cndmask_b32_e64 v17, 0, -1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, v12, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v8, v17, v8, s0
	v_cndmask_b32_e32 v12, v16, v15, vcc_lo
	v_add_co_u32 v15, vcc_lo, v10, 1
	v_add_co_ci_u32_e64 v16, null, 0, v11, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cmp_ne_u32_e32 vcc_lo, 0, v12
	v_dual_cndmask_b32 v9, v16, v14 :: v_dual_cndmask_b32 v12, v15, v13
	v_cmp_ne_u32_e32 vcc_lo, 0, v8
	s_delay_alu instid0(VALU_DEP_2)
	v_dual_cndmask_b32 v9, v11, v9 :: v_dual_cndmask_b32 v8, v10, v12
.LBB0_2:
	s_and_not1_saveexec_b32 s0, s1
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
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_sub_nc_u32_e32 v11, v9, v6
	v_cmp_ge_u32_e32 vcc_lo, v9, v6
	v_dual_cndmask_b32 v9, v9, v11 :: v_dual_cndmask_b32 v8, v8, v10
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc_lo, v9, v6
	v_dual_mov_b32 v9, 0 :: v_dual_add_nc_u32 v10, 1, v8
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e32 v8, v8, v10, vcc_lo
.LBB0_4:
	s_or_b32 exec_lo, exec_lo, s0
	v_cmp_ne_u64_e32 vcc_lo, -1, v[6:7]
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mul_lo_u32 v14, v9, v6
	v_mul_lo_u32 v15, v8, v7
	v_mad_u64_u32 v[10:11], null, v8, v6, 0
	v_dual_mov_b32 v13, 0 :: v_dual_cndmask_b32 v12, 0, v7
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add3_u32 v7, v11, v15, v14
	v_or_b32_e32 v14, v1, v12
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_sub_co_u32 v10, s0, v0, v10
	v_sub_co_ci_u32_e64 v7, null, v1, v7, s0
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_ne_u64_e64 s0, 0, v[13:14]
	v_cndmask_b32_e32 v13, 3, v6, vcc_lo
	s_clause 0x3
	global_store_b32 v[4:5], v8, off offset:1024
	global_store_b32 v[4:5], v9, off offset:1280
	global_store_b32 v[4:5], v10, off offset:1536
	global_store_b32 v[4:5], v7, off offset:1792
	s_and_saveexec_b32 s1, s0
	s_delay_alu instid0(SALU_CYCLE_1)
	s_xor_b32 s1, exec_lo, s1
	s_cbranch_execz .LBB0_6
	v_ashrrev_i32_e32 v16, 31, v12
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v6, vcc_lo, v13, v16
	v_add_co_ci_u32_e64 v7, null, v12, v16, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v17, v6, v16
	v_xor_b32_e32 v18, v7, v16
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_cvt_f32_u32_e32 v6, v17
	v_sub_co_u32 v11, vcc_lo, 0, v17
	v_cvt_f32_u32_e32 v7, v18
	v_sub_co_ci_u32_e64 v19, null, 0, v18, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmamk_f32 v6, v7, 0x4f800000, v6
	v_rcp_f32_e32 v6, v6
	s_waitcnt_depctr depctr_va_vdst(0)
	v_mul_f32_e32 v6, 0x5f7ffffc, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_f32_e32 v7, 0x2f800000, v6
	v_trunc_f32_e32 v7, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_fmamk_f32 v6, v7, 0xcf800000, v6
	v_cvt_u32_f32_e32 v20, v7
	v_cvt_u32_f32_e32 v21, v6
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v8, v11, v20
	v_mul_lo_u32 v9, v19, v21
	v_mad_u64_u32 v[6:7], null, v11, v21, 0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add3_u32 v22, v7, v8, v9
	v_mul_hi_u32 v23, v21, v6
	v_mad_u64_u32 v[9:10], null, v20, v6, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[7:8], null, v21, v22, 0
	v_mad_u64_u32 v[14:15], null, v20, v22, 0
	v_add_co_u32 v6, vcc_lo, v23, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v7, null, 0, v8, vcc_lo
	v_add_co_u32 v6, vcc_lo, v6, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e32 v6, vcc_lo, v7, v10, vcc_lo
	v_add_co_ci_u32_e32 v7, vcc_lo, 0, v15, vcc_lo
	v_add_co_u32 v6, vcc_lo, v6, v14
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc_lo
	v_add_co_u32 v21, vcc_lo, v21, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_ci_u32_e64 v20, null, v20, v7, vcc_lo
	v_mul_lo_u32 v8, v19, v21
	v_mad_u64_u32 v[6:7], null, v11, v21, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v9, v11, v20
	v_mul_hi_u32 v19, v21, v6
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add3_u32 v11, v7, v9, v8
	v_mad_u64_u32 v[9:10], null, v20, v6, 0
	v_mad_u64_u32 v[7:8], null, v21, v11, 0
	v_mad_u64_u32 v[14:15], null, v20, v11, 0
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v6, vcc_lo, v19, v7
	v_add_co_ci_u32_e64 v7, null, 0, v8, vcc_lo
	v_ashrrev_i32_e32 v19, 31, v1
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_add_co_u32 v6, vcc_lo, v6, v9
	v_add_co_ci_u32_e32 v6, vcc_lo, v7, v10, vcc_lo
	v_add_co_ci_u32_e32 v7, vcc_lo, 0, v15, vcc_lo
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v8, vcc_lo, v0, v19
	v_add_co_ci_u32_e64 v9, null, v1, v19, vcc_lo
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v6, vcc_lo, v6, v14
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc_lo
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_xor_b32_e32 v14, v8, v19
	v_add_co_u32 v10, vcc_lo, v21, v6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v15, null, v20, v7, vcc_lo
	v_xor_b32_e32 v20, v9, v19
	v_mul_hi_u32 v21, v14, v10
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mad_u64_u32 v[6:7], null, v14, v15, 0
	v_mad_u64_u32 v[8:9], null, v20, v10, 0
	v_mad_u64_u32 v[10:11], null, v20, v15, 0
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v6, vcc_lo, v21, v6
	v_add_co_ci_u32_e64 v7, null, 0, v7, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v6, vcc_lo, v6, v8
	v_add_co_ci_u32_e32 v6, vcc_lo, v7, v9, vcc_lo
	v_add_co_ci_u32_e32 v7, vcc_lo, 0, v11, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v8, vcc_lo, v6, v10
	v_add_co_ci_u32_e64 v9, null, 0, v7, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mul_lo_u32 v10, v18, v8
	v_mad_u64_u32 v[6:7], null, v17, v8, 0
	v_mul_lo_u32 v11, v17, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_sub_co_u32 v6, vcc_lo, v14, v6
	v_add3_u32 v7, v7, v11, v10
	v_add_co_u32 v11, s0, v8, 2
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v14, null, 0, v9, s0
	v_sub_nc_u32_e32 v10, v20, v7
	v_sub_co_u32 v15, s0, v6, v17
	v_sub_co_ci_u32_e64 v7, null, v20, v7, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_sub_co_ci_u32_e64 v10, null, v10, v18, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v15, v17
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_subrev_co_ci_u32_e64 v10, null, 0, v10, s0
	v_cndmask_b32_e64 v15, 0, -1, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v10, v18
	v_cndmask_b32_e64 v20, 0, -1, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v6, v17
	v_cndmask_b32_e64 v6, 0, -1, vcc_lo
	v_cmp_ge_u32_e32 vcc_lo, v7, v18
	v_cndmask_b32_e64 v17, 0, -1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, v10, v18
	v_cndmask_b32_e32 v10, v20, v15, vcc_lo
	v_add_co_u32 v15, vcc_lo, v8, 1
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_4) | instid1(VALU_DEP_3)
	v_add_co_ci_u32_e64 v20, null, 0, v9, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, v7, v18
	v_cndmask_b32_e32 v6, v17, v6, vcc_lo
	v_cmp_ne_u32_e32 vcc_lo, 0, v10
	v_xor_b32_e32 v10, v19, v16
	v_cmp_ne_u32_e64 s0, 0, v6
	v_dual_cndmask_b32 v6, v15, v11 :: v_dual_cndmask_b32 v7, v20, v14
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cndmask_b32_e64 v6, v8, v6, s0
	v_cndmask_b32_e64 v7, v9, v7, s0
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v6, v6, v10
	v_xor_b32_e32 v7, v7, v10
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_sub_co_u32 v6, vcc_lo, v6, v10
	v_sub_co_ci_u32_e64 v7, null, v7, v10, vcc_lo
.LBB0_6:
	s_and_not1_saveexec_b32 s0, s1
	s_cbranch_execz .LBB0_8
	v_cvt_f32_u32_e32 v6, v13
	v_sub_nc_u32_e32 v7, 0, v13
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
	v_mul_lo_u32 v7, v6, v13
	v_add_nc_u32_e32 v8, 1, v6
	v_sub_nc_u32_e32 v7, v0, v7
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_sub_nc_u32_e32 v9, v7, v13
	v_cmp_ge_u32_e32 vcc_lo, v7, v13
	v_dual_cndmask_b32 v7, v7, v9 :: v_dual_cndmask_b32 v6, v6, v8
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_cmp_ge_u32_e32 vcc_lo, v7, v13
	v_dual_mov_b32 v7, 0 :: v_dual_add_nc_u32 v8, 1, v6
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e32 v6, v6, v8, vcc_lo
.LBB0_8:
	s_or_b32 exec_lo, exec_lo, s0
	v_cmp_gt_f64_e64 s0, 0x10000000, v[0:1]
	v_div_scale_f64 v[22:23], null, v[2:3], v[2:3], v[0:1]
	v_div_scale_f64 v[28:29], s3, v[0:1], v[2:3], v[0:1]
	v_add_co_u32 v48, s4, 0x3000, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v49, null, 0, v5, s4
	v_add_co_u32 v50, s4, v4, 0x4000
	v_add_co_ci_u32_e64 v51, null, 0, v5, s4
	v_cmp_lt_f32_e64 s4, v0, v1
	v_div_scale_f32 v56, null, v1, v1, v0
	v_div_scale_f32 v57, vcc_lo, v0, v1, v0
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
	v_cndmask_b32_e64 v75, 0, 1, s4
	v_cmp_le_f32_e64 s4, v0, v1
	v_rcp_f32_e32 v74, v56
	v_trunc_f64_e32 v[46:47], v[0:1]
	v_floor_f32_e32 v83, v0
	v_dual_mul_f32 v60, 0x4f800000, v0 :: v_dual_add_f32 v61, v0, v1
	v_cndmask_b32_e64 v76, 0, 1, s4
	v_cmp_eq_f32_e64 s4, v0, v1
	v_xor_b32_e32 v70, v0, v1
	v_cls_i32_e32 v69, v1
	v_mul_lo_u32 v58, v7, v13
	v_mul_lo_u32 v59, v6, v12
	v_cndmask_b32_e64 v77, 0, 1, s4
	v_cmp_neq_f32_e64 s4, v0, v1
	v_mad_u64_u32 v[36:37], null, v6, v13, 0
	v_mul_lo_u32 v89, v3, v0
	v_mul_lo_u32 v90, v2, v1
	s_delay_alu instid0(VALU_DEP_4)
	v_cndmask_b32_e64 v78, 0, 1, s4
	v_cndmask_b32_e64 v8, 0, 0x100, s0
	v_cmp_u_f32_e64 s4, v0, v1
	v_clz_i32_u32_e32 v68, v1
	v_fma_f32 v64, v0, v1, v2
	v_add3_u32 v58, v37, v59, v58
	v_ldexp_f64 v[10:11], v[0:1], v8
	v_rcp_f64_e32 v[8:9], v[22:23]
	v_cndmask_b32_e64 v79, 0, 1, s4
	v_cmp_lt_f64_e64 s4, v[0:1], v[2:3]
	s_clause 0x1
	global_store_b32 v[48:49], v78, off offset:1280
	global_store_b32 v[48:49], v79, off offset:1536
	v_bfe_i32 v78, v1, 0, 16
	v_min_u32_e32 v68, 32, v68
	v_add_f16_e32 v24.l, v0.l, v1.l
	v_cvt_f32_f16_e32 v65, v1.l
	v_mov_b16_e32 v24.h, 0
	v_cvt_f32_f16_e32 v66, v0.l
	v_cvt_i32_f32_e32 v71, v0
	v_ceil_f32_e32 v84, v0
	v_rcp_f32_e32 v65, v65
	v_add_nc_u32_e32 v59, v1, v0
	v_trunc_f32_e32 v73, v0
	v_rndne_f32_e32 v85, v0
	v_floor_f64_e32 v[52:53], v[0:1]
	v_cvt_f64_u32_e32 v[42:43], v1
	v_cvt_f32_f64_e32 v67, v[0:1]
	v_cvt_f64_f32_e32 v[40:41], v0
	v_cvt_f64_u32_e32 v[44:45], v0
	v_add_co_u32 v12, s1, 0x1000, v4
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v13, null, 0, v5, s1
	v_cmp_gt_f32_e64 s2, 0x4f6e6b28, v0
	v_cvt_u32_f32_e32 v72, v0
	s_mov_b32 s8, 0x1438a100
	s_mov_b32 s9, 0x43df399b
	v_mul_lo_u32 v86, v1, v0
	s_mov_b32 s10, 0
	v_cvt_f32_i32_e32 v25, v0
	v_mul_hi_i32 v88, v1, v0
	v_rsq_f64_e32 v[14:15], v[10:11]
	v_cndmask_b32_e64 v80, 0, 1, s4
	v_fma_f64 v[16:17], -v[22:23], v[8:9], 1.0
	v_cmp_ge_f64_e64 s4, v[0:1], v[2:3]
	global_store_b32 v[48:49], v77, off offset:1024
	v_bfe_i32 v77, v0, 0, 16
	s_delay_alu instid0(VALU_DEP_1)
	v_mad_i32_i24 v77, v78, v77, v2
	v_min_i32_e32 v78, v0, v1
	v_mul_f64 v[18:19], v[10:11], v[14:15]
	v_mul_f64 v[14:15], v[14:15], 0.5
	v_fma_f64 v[8:9], v[8:9], v[16:17], v[8:9]
	v_cndmask_b32_e64 v81, 0, 1, s4
	v_cmp_lt_f16_e64 s4, v0.l, v1.l
	global_store_b32 v[48:49], v80, off offset:1792
	v_alignbit_b32 v80, v0, v0, v1.l
	v_cndmask_b32_e64 v82, 0, 1, s4
	v_add_co_u32 v54, s4, 0x4000, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v55, null, 0, v5, s4
	v_cmp_o_f32_e64 s4, v61, v61
	v_cndmask_b32_e64 v61, 0x7fc00000, v61, s4
	v_fma_f64 v[16:17], -v[14:15], v[18:19], 0.5
	v_fma_f64 v[20:21], -v[22:23], v[8:9], 1.0
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_fma_f64 v[26:27], v[18:19], v[16:17], v[18:19]
	v_fma_f64 v[30:31], v[8:9], v[20:21], v[8:9]
	v_fma_f64 v[32:33], v[14:15], v[16:17], v[14:15]
	v_fma_f64 v[18:19], v[0:1], v[2:3], v[0:1]
	v_add_f64 v[14:15], v[0:1], v[2:3]
	v_mul_f64 v[16:17], v[0:1], v[2:3]
	v_add_co_u32 v8, s1, v4, 0x2000
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v9, null, 0, v5, s1
	v_add_co_u32 v20, s1, 0x2000, v4
	v_add_co_ci_u32_e64 v21, null, 0, v5, s1
	v_cmp_o_f32_e64 s1, v0, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_4) | instid1(VALU_DEP_3)
	v_cndmask_b32_e64 v41, 0x7ff80000, v41, s1
	v_cndmask_b32_e64 v40, 0, v40, s1
	v_fma_f64 v[34:35], -v[26:27], v[26:27], v[10:11]
	v_mul_f64 v[38:39], v[28:29], v[30:31]
	v_cmp_o_f64_e64 s1, v[16:17], v[16:17]
	v_fma_f64 v[34:35], v[34:35], v[32:33], v[26:27]
	s_delay_alu instid0(VALU_DEP_3)
	v_fma_f64 v[22:23], -v[22:23], v[38:39], v[28:29]
	v_fma_f32 v27, -v56, v74, 1.0
	v_mul_f32_e32 v63, v0, v1
	v_cvt_f32_u32_e32 v26, v0
	v_cndmask_b32_e64 v17, 0x7ff80000, v17, s1
	v_cndmask_b32_e64 v16, 0, v16, s1
	v_fmac_f32_e32 v74, v27, v74
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_dual_sub_f32 v62, v0, v1 :: v_dual_mul_f32 v29, v57, v74
	v_cmp_o_f32_e64 s4, v62, v62
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_fma_f32 v87, -v56, v29, v57
	v_cndmask_b32_e64 v62, 0x7fc00000, v62, s4
	v_cmp_o_f32_e64 s4, v63, v63
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_fmac_f32_e32 v29, v87, v74
	v_mul_hi_u32 v87, v1, v0
	v_cndmask_b32_e64 v63, 0x7fc00000, v63, s4
	v_cmp_o_f32_e64 s4, v64, v64
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_fma_f32 v91, -v56, v29, v57
	v_mad_u64_u32 v[56:57], null, v2, v0, 0
	v_cndmask_b32_e64 v64, 0x7fc00000, v64, s4
	v_cmp_o_f16_e64 s4, v24.l, v24.l
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_div_fmas_f32 v74, v91, v74, v29
	v_add_co_u32 v91, vcc_lo, v2, v0
	v_add_co_ci_u32_e64 v92, null, v3, v1, vcc_lo
	s_mov_b32 vcc_lo, s3
	v_fma_f64 v[27:28], -v[34:35], v[34:35], v[10:11]
	v_div_fmas_f64 v[29:30], v[22:23], v[30:31], v[38:39]
	v_sub_co_u32 v93, vcc_lo, v0, v2
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_sub_co_ci_u32_e64 v94, null, v1, v3, vcc_lo
	v_add_co_u32 v22, vcc_lo, 0x5000, v4
	v_add_co_ci_u32_e64 v23, null, 0, v5, vcc_lo
	v_cmp_o_f32_e32 vcc_lo, v83, v83
	v_lshlrev_b64 v[38:39], v2, v[0:1]
	s_clause 0x1
	global_store_b32 v[54:55], v38, off offset:2304
	global_store_b32 v[54:55], v39, off offset:2560
	v_cndmask_b32_e32 v79, 0x7fc00000, v83, vcc_lo
	s_clause 0x2
	global_store_b32 v[48:49], v81, off offset:2048
	global_store_b32 v[54:55], v91, off offset:1280
	global_store_b32 v[54:55], v93, off offset:1792
	v_max_u32_e32 v81, v0, v1
	s_clause 0x4
	global_store_b32 v[22:23], v80, off offset:256
	global_store_b32 v[22:23], v78, off offset:512
	global_store_b32 v[48:49], v76, off offset:768
	global_store_b32 v[54:55], v92, off offset:1536
	global_store_b32 v[22:23], v81, off offset:768
	v_perm_b32 v76, 0, v0, 0x10203
	global_store_b32 v[48:49], v79, off offset:2560
	v_cmp_gt_f32_e64 s3, 0xf800000, v0
	v_ashrrev_i32_e32 v78, 31, v73
	v_bfe_i32 v83, v0, 0, 8
	s_delay_alu instid0(VALU_DEP_3)
	v_cndmask_b32_e64 v60, v0, v60, s3
	v_fma_f64 v[31:32], v[27:28], v[32:33], v[34:35]
	v_ashrrev_i64 v[33:34], v2, v[0:1]
	v_bcnt_u32_b32 v27, v0, 0
	v_ctz_i32_b32_e32 v35, v0
	s_clause 0x1
	global_store_b32 v[54:55], v34, off offset:3072
	global_store_b32 v[22:23], v76, off
	v_ashrrev_i32_e32 v34, 31, v70
	v_min_u32_e32 v35, 32, v35
	global_store_b32 v[54:55], v27, off offset:3328
	v_add3_u32 v27, v57, v90, v89
	global_store_b32 v[48:49], v82, off offset:2304
	v_sub_co_u32 v82, vcc_lo, v0, v36
	v_add_nc_u32_e32 v36, -1, v69
	v_add_nc_u32_e32 v37, 32, v34
	global_store_b32 v[54:55], v35, off offset:3840
	v_lshlrev_b64 v[34:35], v68, v[0:1]
	s_clause 0x1
	global_store_b32 v[54:55], v94, off offset:2048
	global_store_b32 v[54:55], v33, off offset:2816
	v_cndmask_b32_e64 v76, 0x7e00, v24, s4
	v_min_u32_e32 v38, v36, v37
	v_ldexp_f64 v[36:37], v[46:47], 0xffffffe0
	v_cmp_o_f16_e64 s4, v0.l, v0.l
	v_min_u32_e32 v39, 1, v34
	v_sqrt_f32_e32 v69, v60
	v_lshlrev_b64 v[33:34], v38, v[0:1]
	v_clz_i32_u32_e32 v28, v0
	v_cndmask_b32_e64 v70, 0x7fc00000, v66, s4
	v_cmp_gt_f32_e64 s4, 0x4eee6b28, |v0|
	v_mul_f32_e32 v66, v66, v65
	v_or_b32_e32 v35, v35, v39
	v_min_u32_e32 v33, 1, v33
	v_min_u32_e32 v28, 32, v28
	v_cndmask_b32_e64 v71, 0, v71, s4
	v_cmp_o_f32_e64 s4, v84, v84
	v_mul_f32_e64 v39, 0x2f800000, |v73|
	v_or_b32_e32 v80, v34, v33
	v_fma_mix_f32 v34, -v1, v66, v0 op_sel_hi:[1,0,1]
	v_and_b32_e32 v79, 0x7fffffff, v0
	v_cndmask_b32_e64 v84, 0x7fc00000, v84, s4
	v_cmp_o_f32_e64 s4, v73, v73
	v_mul_hi_u32 v90, 0x1b4e81b5, v1
	v_fmac_f32_e32 v66, v34, v65
	v_add_nc_u32_e32 v33, -1, v69
	s_clause 0x1
	global_store_b32 v[54:55], v27, off offset:1024
	global_store_b32 v[54:55], v28, off offset:3584
	v_cndmask_b32_e64 v91, 0x7fc00000, v73, s4
	v_cmp_o_f32_e64 s4, v85, v85
	v_fma_f32 v81, -v33, v69, v60
	v_floor_f32_e32 v39, v39
	v_lshrrev_b32_e32 v90, 5, v90
	v_bfi_b32 v89, 0x7fffffff, v0, v1
	v_cndmask_b32_e64 v85, 0x7fc00000, v85, s4
	v_cmp_ge_f32_e64 s4, 0, v81
	v_fma_f32 v73, 0xcf800000, v39, |v73|
	v_mul_f16_e32 v24.l, v0.l, v1.l
	v_div_fixup_f64 v[29:30], v[29:30], v[2:3], v[0:1]
	v_add_nc_u32_e32 v81, 1, v69
	v_cndmask_b32_e64 v92, v69, v33, s4
	v_floor_f64_e32 v[33:34], v[36:37]
	v_sub_nc_u32_e32 v37, 32, v68
	v_cvt_u32_f32_e32 v68, v73
	v_mul_u32_u24_e32 v36, 0x12c, v90
	v_cmp_o_f32_e64 s5, v89, v89
	v_fma_f32 v69, -v81, v69, v60
	v_cmp_o_f16_e64 s6, v24.l, v24.l
	v_cvt_u32_f32_e32 v39, v39
	v_xor_b32_e32 v68, v68, v78
	v_sub_nc_u32_e32 v36, v1, v36
	v_cndmask_b32_e64 v89, 0x7fc00000, v89, s5
	v_cmp_lt_f32_e64 s5, 0, v69
	v_cndmask_b32_e64 v69, 0x7e00, v24, s6
	v_sub_f16_e32 v24.l, v0.l, v1.l
	v_xor_b32_e32 v39, v39, v78
	v_sub_co_ci_u32_e64 v58, null, v1, v58, vcc_lo
	v_sub_co_u32 v68, vcc_lo, v68, v78
	v_dual_mov_b32 v27, 0 :: v_dual_add_nc_u32 v36, 0xffffff6a, v36
	v_cvt_f32_u32_e32 v35, v35
	v_sub_co_ci_u32_e64 v39, null, v39, v78, vcc_lo
	v_cmp_o_f16_e32 vcc_lo, v24.l, v24.l
	v_cndmask_b32_e64 v81, v92, v81, s5
	v_cmp_o_f64_e64 s5, v[52:53], v[52:53]
	v_ldexp_f32 v36, v0, v36
	v_ldexp_f32 v90, v35, v37
	v_fma_mix_f32 v35, -v1, v66, v0 op_sel_hi:[1,0,1]
	v_cndmask_b32_e32 v73, 0x7e00, v24, vcc_lo
	v_cmp_gt_f32_e64 vcc_lo, 0x5ef9ccd9, |v0|
	v_cmp_o_f32_e64 s6, v36, v36
	v_sub_nc_u32_e32 v78, 32, v38
	v_mul_f32_e32 v37, v35, v65
	v_mad_u32_u24 v57, v1, v0, v2
	v_cndmask_b32_e32 v65, 0, v68, vcc_lo
	v_cvt_f32_i32_e32 v68, v80
	v_cndmask_b32_e64 v80, 0, 0xffffff80, s0
	v_cmp_o_f64_e64 s0, v[18:19], v[18:19]
	v_cndmask_b32_e64 v93, 0x7fc00000, v36, s6
	v_cndmask_b32_e32 v39, 0, v39, vcc_lo
	v_ldexp_f64 v[35:36], v[42:43], 32
	v_and_b32_e32 v42, 0xff800000, v37
	v_fma_f64 v[37:38], 0xc1f00000, v[33:34], v[46:47]
	v_cmp_o_f64_e32 vcc_lo, v[14:15], v[14:15]
	v_mul_f32_e32 v3, 0x37800000, v81
	v_cmp_o_f32_e64 s6, v67, v67
	v_add_f32_e32 v42, v42, v66
	v_cvt_i32_f64_e32 v33, v[33:34]
	v_and_b32_e32 v59, 0xffff, v59
	v_cndmask_b32_e64 v3, v81, v3, s3
	v_cmp_class_f32_e64 s3, v60, 0x260
	v_cvt_f16_f32_e32 v2.l, v42
	v_cndmask_b32_e64 v42, 0x7fc00000, v67, s6
	v_div_fixup_f32 v47, v74, v1, v0
	v_and_b32_e32 v28, 7, v0
	v_ldexp_f32 v46, v68, v78
	v_div_fixup_f16 v24.l, v2.l, v1.l, v0.l
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_cmp_o_f32_e64 s7, v47, v47
	v_cmp_ne_u32_e64 s4, 0, v28
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_o_f16_e64 s6, v24.l, v24.l
	v_cndmask_b32_e64 v43, 0x7ff80000, v53, s5
	v_cndmask_b32_e64 v53, v3, v60, s3
	v_cmp_le_f32_e64 s3, 0, v0
	v_ldexp_f64 v[2:3], v[31:32], v80
	v_cndmask_b32_e64 v60, 0x7e00, v24, s6
	v_cvt_f16_f32_e32 v24.l, v0
	v_cmp_class_f64_e64 s6, v[10:11], 0x260
	s_and_b32 s2, s3, s2
	v_cndmask_b32_e64 v47, 0x7fc00000, v47, s7
	v_cndmask_b32_e64 v66, 0, v72, s2
	v_cmp_o_f16_e64 s2, v24.l, v24.l
	v_cndmask_b32_e64 v53, 0x7fc00000, v53, s3
	v_cndmask_b32_e64 v19, 0x7ff80000, v19, s0
	v_cndmask_b32_e64 v18, 0, v18, s0
	v_cmp_le_f64_e64 s0, 0, v[0:1]
	v_cndmask_b32_e64 v67, 0x7e00, v24, s2
	v_cmp_lt_f64_e64 s2, |v[0:1]|, s[8:9]
	v_cvt_u32_f64_e32 v34, v[37:38]
	v_cndmask_b32_e32 v15, 0x7ff80000, v15, vcc_lo
	v_add_f64 v[31:32], v[35:36], v[44:45]
	v_cndmask_b32_e32 v14, 0, v14, vcc_lo
	v_cmp_o_f64_e32 vcc_lo, v[29:30], v[29:30]
	v_cvt_f16_i16_e32 v24.l, v0.l
	v_cndmask_b32_e64 v35, 0, v52, s5
	s_clause 0x1a
	global_store_b32 v[8:9], v67, off
	global_store_b32 v[50:51], v65, off offset:-4096
	global_store_b32 v[50:51], v86, off
	global_store_b32 v[12:13], v17, off offset:2304
	global_store_b32 v[12:13], v18, off offset:2560
	global_store_b32 v[12:13], v19, off offset:2816
	global_store_b32 v[12:13], v76, off offset:3072
	global_store_b32 v[12:13], v69, off offset:3328
	global_store_b32 v[12:13], v73, off offset:3584
	global_store_b32 v[12:13], v60, off offset:3840
	global_store_b32 v[20:21], v70, off offset:256
	global_store_b32 v[48:49], v84, off offset:2816
	global_store_b32 v[48:49], v91, off offset:3072
	global_store_b32 v[48:49], v85, off offset:3328
	global_store_b32 v[48:49], v35, off offset:3584
	global_store_b32 v[48:49], v43, off offset:3840
	global_store_b32 v[54:55], v87, off offset:256
	global_store_b32 v[54:55], v88, off offset:512
	global_store_b32 v[54:55], v56, off offset:768
	global_store_b32 v[20:21], v42, off offset:512
	global_store_b32 v[20:21], v40, off offset:768
	global_store_b32 v[20:21], v41, off offset:1024
	global_store_b32 v[20:21], v25, off offset:1280
	global_store_b32 v[20:21], v26, off offset:1536
	global_store_b32 v[20:21], v90, off offset:1792
	global_store_b32 v[20:21], v46, off offset:2048
	global_store_b32 v[20:21], v31, off offset:2304
	v_cndmask_b32_e64 v3, v3, v11, s6
	v_cndmask_b32_e64 v2, v2, v10, s6
	v_cndmask_b32_e64 v10, 0, v33, s2
	v_cndmask_b32_e64 v11, 0, v34, s2
	s_delay_alu instid0(VALU_DEP_4)
	v_cndmask_b32_e64 v3, 0x7ff80000, v3, s0
	s_clause 0xf
	global_store_b32 v[20:21], v32, off offset:2560
	global_store_b32 v[20:21], v24, off offset:2816
	global_store_b32 v[20:21], v71, off offset:3072
	global_store_b32 v[20:21], v66, off offset:3328
	global_store_b32 v[20:21], v11, off offset:3584
	global_store_b32 v[20:21], v10, off offset:3840
	global_store_b32 v[48:49], v39, off offset:256
	global_store_b32 v[48:49], v75, off offset:512
	global_store_b32 v[12:13], v3, off offset:256
	global_store_b32 v[12:13], v61, off offset:512
	global_store_b32 v[12:13], v62, off offset:768
	global_store_b32 v[12:13], v63, off offset:1024
	global_store_b32 v[12:13], v64, off offset:1280
	global_store_b32 v[12:13], v14, off offset:1536
	global_store_b32 v[12:13], v15, off offset:1792
	global_store_b32 v[12:13], v16, off offset:2048
	v_cndmask_b32_e32 v10, 0x7ff80000, v30, vcc_lo
	v_cndmask_b32_e32 v3, 0, v29, vcc_lo
	s_clause 0x7
	global_store_b32 v[4:5], v6, off offset:2048
	global_store_b32 v[4:5], v7, off offset:2304
	global_store_b32 v[4:5], v82, off offset:2560
	global_store_b32 v[4:5], v58, off offset:2816
	global_store_b32 v[4:5], v47, off offset:3072
	global_store_b32 v[4:5], v53, off offset:3328
	global_store_b32 v[4:5], v3, off offset:3584
	global_store_b32 v[4:5], v10, off offset:3840
	v_cndmask_b32_e64 v2, 0, v2, s0
	s_clause 0x7
	global_store_b32 v[22:23], v77, off offset:1024
	global_store_b32 v[22:23], v59, off offset:1280
	global_store_b32 v[22:23], v83, off offset:1536
	global_store_b32 v[22:23], v57, off offset:1792
	global_store_b32 v[22:23], v79, off offset:2048
	global_store_b32 v[22:23], v89, off offset:2304
	global_store_b32 v[8:9], v2, off offset:-4096
	global_store_b32 v[22:23], v93, off offset:2560
	s_and_saveexec_b32 s1, s4
	s_cbranch_execz .LBB0_12
	v_mov_b32_e32 v27, 0
	s_mov_b32 s2, 0
.LBB0_10:
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_lshrrev_b32_e32 v2, s2, v1
	s_add_i32 s2, s2, 1
	v_mul_f32_e32 v0, 0.5, v0
	v_cmp_eq_u32_e32 vcc_lo, s2, v28
	v_add_nc_u32_e32 v27, v2, v27
	s_or_b32 s10, vcc_lo, s10
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_and_b32_e32 v2, 1, v27
	v_cmp_eq_u32_e64 s0, 0, v2
	s_delay_alu instid0(VALU_DEP_1)
	v_cndmask_b32_e64 v0, -v0, v0, s0
	s_and_not1_b32 exec_lo, exec_lo, s10
	s_cbranch_execnz .LBB0_10
	s_or_b32 exec_lo, exec_lo, s10
.LBB0_12:
	s_delay_alu instid0(SALU_CYCLE_1)
	s_or_b32 exec_lo, exec_lo, s1
	v_cmp_o_f32_e32 vcc_lo, v0, v0
	v_cndmask_b32_e32 v0, 0x7fc00000, v0, vcc_lo
	s_clause 0x1
	global_store_b32 v[22:23], v27, off offset:2816
	global_store_b32 v[22:23], v0, off offset:3072
	s_endpgm
