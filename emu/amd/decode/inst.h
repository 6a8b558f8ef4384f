// SPDX-License-Identifier: Apache-2.0
#pragma once
// A decoded AMD instruction: plain data that the executors, the translator and the disassembler read.
// Everything an executor needs is resolved here (operand widths, constants, implicit operands, half
// selection, DPP); nothing here refers back to the bytes or to a table. It never holds machine state.

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd {

// Scalar registers are numbered by their operand encoding on RDNA3 and RDNA4. CDNA numbers M0 124 and has no
// NULL: its decoder maps M0 to kRegM0, and kRegNull never appears. There 102/103 is FLAT_SCRATCH and 104/105
// XNACK_MASK, which are ordinary kSgpr operands.
inline constexpr uint16_t kRegVccLo = 106, kRegVccHi = 107, kRegTtmp0 = 108, kRegNull = 124, kRegM0 = 125,
                          kRegExecLo = 126, kRegExecHi = 127;

struct Operand {
  enum class Kind : uint8_t {
    kNone,  // absent (e.g. FLAT without saddr, a store's destination)
    kSgpr,  // reg = 0..127: s0-s105, 106/107 VCC, 108-123 TTMP, 125 M0, 126/127 EXEC; 124 NULL reads 0 and
            // drops writes at any width (a 16-dword load may name it)
    kVgpr,  // reg = 0..255
    kAgpr,  // reg = 0..255 (CDNA): the accumulation half of the unified register file
    kInlineInt,    // imm: the integer -16..64, sign-extended to 64 bits
    kInlineFloat,  // imm: 0.5 1 2 4, their negatives and 1/(2*pi) as a bit pattern that suits `type` (below)
    kLiteral,      // imm: the 32-bit literal, widened to `type`; lit32 in Inst has the raw word
    kScc,          // src_scc
    kVccz,         // src_vccz
    kExecz,        // src_execz
    kLdsDirect,    // src_lds_direct (CDNA: the LDS word that M0 addresses, the same for every lane)
    kSharedBase,   // apertures: src_shared_base/limit, src_private_base/limit
    kSharedLimit,
    kPrivateBase,
    kPrivateLimit,
    kPopsExitingWaveId,
  };

  Kind kind = Kind::kNone;
  DataType type = DataType::NONE;
  // Consecutive 32-bit registers read or written, 1..16 (32: block loads of RDNA4). A lane mask (type M64)
  // says 2 until ResolveWaveSize.
  uint8_t dwords = 0;
  // True where the assembly text does not name it: tied accumulators (FMAC), VCC of e32 carries, EXEC of
  // v_cmpx.
  bool implicit = false;
  uint16_t reg = 0;
  uint16_t bits = 0;  // operand width in bits, as the ISA tables state (16 for f16, 24 for i24, 64, 128...)
  // Constants. kInlineFloat: 16-bit vector operands (integer ones too) and packed f16/bf16 get the f16 (bf16)
  // pattern in bits 15:0 with zero above, 64-bit operands (integer ones too) the f64 pattern, all others
  // (packed 16-bit integers, every 32-bit type, scalar instructions) the f32 pattern; CDNA's pairs of 32-bit
  // values (PK2_F32, PK2_B32) have the f32 pattern in the low half and zero above. kLiteral: F64 = literal
  // << 32, I64 = sign-extended, everything else zero-extended (a 16-bit operand reads bits 15:0).
  uint64_t imm = 0;

  bool is_sgpr() const { return kind == Kind::kSgpr; }
  bool is_vgpr() const { return kind == Kind::kVgpr; }
  bool is_const() const {
    return kind == Kind::kInlineInt || kind == Kind::kInlineFloat || kind == Kind::kLiteral;
  }
};

struct DppInfo {
  enum class Kind : uint8_t { kNone, kDpp16, kDpp8 };
  Kind kind = Kind::kNone;
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_ctrl = false;      // BC: an invalid source lane reads 0 (else the lane is not written)
  bool fetch_inactive = false;  // FI: source lanes outside EXEC are read
  // DPP16: DPP_CTRL as encoded (quad_perm, row_shl...). The codes of RDNA (row_share 0x150, row_xmask 0x160)
  // and CDNA (wave_shl 0x130, wave_rol 0x134, wave_shr 0x138, wave_ror 0x13c, row_bcast15 0x142, row_bcast31
  // 0x143, row_newbcast 0x150) overlap: Inst::isa tells them apart.
  uint16_t ctrl = 0;
  uint8_t lane_sel[8] = {};  // DPP8
};

// Sub-dword addressing of VOP1, VOP2 and VOPC (CDNA). A selector: 0-3 a byte, 4 and 5 a word, 6 the whole
// dword. neg and abs of the SDWA word are Inst's; clamp and omod too. SDWA forms of VOPC write any SGPR pair
// (dst[0]).
struct SdwaInfo {
  bool present = false;
  uint8_t src_sel[2] = {6, 6};
  bool sext[2] = {false, false};  // integer operands: sign-extend what was selected
  uint8_t dst_sel = 6;
  uint8_t dst_unused = 0;  // the rest of the destination: 0 zero, 1 sign-extended, 2 kept
};

// clang-format off
// Operand positions, fixed per encoding so that executors index them directly:
//   SOP1/SOP2/SOPC  dst[0]=sdst, src[0..1]=ssrc0/1. SCC is never an operand.
//   SOPK            dst[0]=sdst when written, src[0]=sdst when read (s_cmpk_*, s_addk, s_mulk, s_cmovk, s_setreg,
//                   s_waitcnt_*cnt); simm.
//   SMEM            dst[0]=sdata, src[0]=sbase (2 or 4 dwords), src[1]=soffset or kNone; offset (signed 21 bits;
//                   RDNA4 24). Prefetches: no dst, simm = the length code, src[0]=kNone where PC-relative. CDNA's
//                   stores and atomics: src[2]=sdata, dst[0]=sdata of atomics with glc; with a register, offen says
//                   that the offset is encoded too.
//   VOP1/2/3/3P/C   dst[0]=vdst (VOPC: VCC, EXEC or the e64 SGPR mask), dst[1]=carry-out mask (VOP3SD, *_co_ci_u32
//                   e32), src[0..2]; implicit ones follow the named ones: FMAC/DOT2ACC/PK_FMAC e32+e64 src[2]=vdst;
//                   V_CNDMASK e32 and carry-in e32 src[2]=VCC; V_DIV_FMAS src[3]=VCC; V_SWAP dst[1]=src0,
//                   src[1]=vdst. V_FMAMK: src = {src0, literal, vsrc1}; V_FMAAK: src = {src0, vsrc1, literal}: both
//                   are fma(src0,src1,src2). CDNA: V_CMPX writes dst[0]=the mask (VCC, or the SGPR pair of e64 and
//                   SDWA) and dst[1]=EXEC (implicit); V_ADD_CO e32 has dst[1]=VCC.
//   VOPD            X half: dst[0], src[0..2]; Y half: op_y, dst[1], src[3..5]; both halves read all their sources
//                   before either writes. VopdHalf() gives a half as a VOP2-shaped Inst.
//   VINTERP         dst[0], src[0..2]; wait_exp. LDSDIR: dst[0], attr, attr_chan, wait_vdst.
//   DS              src[0]=addr, src[1]=data0, src[2]=data1 (kNone where unused), dst[0]=vdst (kNone without
//                   return); offset0/offset1, offset = the 16-bit offset1:offset0.
//   FLAT/GLOBAL/SCRATCH
//                   src[0]=vaddr (64 bits; 32 with saddr; kNone: scratch without vaddr), src[1]=vdata or kNone,
//                   src[2]=saddr or kNone; dst[0]=vdst: loads, and atomics with glc; else kNone. offset is signed.
//   MUBUF/MTBUF     src[0]=vaddr (kNone without offen/idxen; 2 dwords with both: index then offset), src[1]=srsrc,
//                   src[2]=soffset, src[3]=vdata (stores, atomics); dst[0]=vdata (loads, atomics with glc); offset.
//   MIMG            src[0]=vaddr, src[1]=srsrc, src[2]=ssamp or kNone, src[3]=vdata (stores, atomics), dst[0] as
//                   above; with nsa, src[0] is the first address register and nsa_vaddr[0..n_nsa) the others, each
//                   nsa_dwords long.
//   RDNA4           VFLAT, VGLOBAL, VSCRATCH, VBUFFER and VIMAGE fill the same positions as FLAT, GLOBAL, SCRATCH,
//                   MUBUF/MTBUF and MIMG; its DS and LDSDIR keep their names or are called VDSDIR.
//   MFMA, SMFMAC    (VOP3P) dst[0] = D, src[0..2] = A, B, C, each kVgpr or kAgpr. SMFMAC: src[2] = the index VGPR,
//                   src[3] = the accumulator (= dst[0], implicit). Scaled forms (VOP3PX2, 16 bytes): src[3], src[4]
//                   = the scales of A and B; op_sel/op_sel_hi bits 0 and 1 choose their byte.
//   SWMMAC          (VOP3P) dst[0] = src[3] (implicit) = the accumulator, src[0..1] = A, B, src[2] = the index;
//                   index_key.
//   EXP             src[0..3]=vsrc0..3 (kNone where `exp_en` is clear).
// clang-format on
struct Inst {
  Opcode op = Opcode::kCount;
  Opcode op_y = Opcode::kCount;  // VOPD only
  Encoding enc = Encoding::kCount;
  Isa isa = Isa::kRdna3;
  uint8_t size = 0;  // bytes: 4, 8, 12 or 16 (image NSA with more than a word)
  uint8_t n_dst = 0, n_src = 0, n_src_y = 0;
  Operand dst[2];
  Operand src[6];

  // Modifiers, bit i = source i. neg and abs are set only where they have a meaning (float sources;
  // V_CNDMASK, where they act on the passed pattern), clamp and omod likewise. A 16-bit VGPR operand reads
  // (op_sel bit set: hi, else lo) half of its register: e32 encodings put that choice into bit 7 of the
  // register field and arrive here the same way. op_sel bit 3 = destination. V_PERMLANE16/X16: op_sel bit 0 =
  // FI, bit 1 = BC. VOP3P: op_sel/op_sel_hi select the half for the low/high result. v_fma_mix*: src[i].type
  // says F32, or F16 with op_sel bit i choosing the half. V_DOT4/8_*_IU* and V_WMMA_*_IU*: neg bit i = source
  // i is signed. RDNA4's V_CVT_F32_FP8/BF8 e64: op_sel bits 0 and 1 are the byte's number with its two bits
  // exchanged; V_CVT_SR_FP8/BF8_F32: bits 2 and 3 are the number of the destination's byte.
  uint8_t neg = 0,
          abs = 0;     // VOP3P: neg = neg_lo. v_fma_mix*: neg and abs as in VOP3 (encoded in neg_lo/neg_hi).
  uint8_t neg_hi = 0;  // VOP3P except v_fma_mix*
  uint8_t op_sel = 0, op_sel_hi = 0;
  uint8_t omod = 0;  // 0 none, 1 *2, 2 *4, 3 /2
  bool clamp = false;
  DppInfo dpp;
  SdwaInfo sdwa;
  uint8_t cbsz = 0, abid = 0, blgp = 0;  // MFMA, SMFMAC; blgp of f64 forms negates A, B, C
  uint8_t index_key = 0;                 // SWMMAC
  uint8_t bitop3 = 0;                    // V_BITOP3: the truth table

  bool has_literal = false;
  uint32_t lit32 = 0;  // the raw literal word

  int32_t simm = 0;    // SOPP/SOPK simm16, sign-extended; branches: dwords from the next instruction
  int32_t offset = 0;  // memory instructions, bytes
  uint8_t offset0 = 0, offset1 = 0;
  // Cache and addressing bits. glc and slc are gfx90a's GLC and SLC and gfx942's SC0 and NT; sc1 is gfx90a's
  // SCC and gfx942's SC1. An atomic that returns its old value has glc on every generation (RDNA4: TH bit 0).
  // RDNA4 alone has th, scope, nv.
  bool sc1 = false, nv = false;
  uint8_t th = 0, scope = 0;
  bool lds = false;  // MUBUF of CDNA: the loaded data goes to LDS
  bool glc = false, dlc = false, slc = false, gds = false, tfe = false, lwe = false, offen = false,
       idxen = false, sve = false;
  bool r128 = false, a16 = false, d16 = false, unorm = false, nsa = false;
  uint8_t dmask = 0, dim = 0, format = 0;
  uint8_t nsa_vaddr[4] = {}, nsa_dwords[4] = {}, n_nsa = 0;
  uint8_t exp_en = 0, exp_target = 0;
  bool exp_done = false, exp_row = false;
  uint8_t wait_exp = 0, wait_vdst = 0, attr = 0, attr_chan = 0;
  uint8_t wait_vm_vsrc = 0;  // VDSDIR (RDNA4)

  bool has_e64_suffix = false, has_e32_suffix = false;  // the mnemonic exists in both encodings: text only
};

// Decodes the instruction at `bytes`, of which `n` may be read. Never reads past `n`, never allocates on
// success. Errors (absl::StatusCode): kOutOfRange - the instruction needs more bytes than n (message: how
// many); kInvalidArgument - no such encoding, opcode, layout or operand (message: which, with value);
// kUnimplemented - a generation without a decoder.
absl::StatusOr<Inst> Decode(Isa isa, const uint8_t* bytes, size_t n);

// Same, into *out (left in an unspecified state on error). Decodes about 10 million instructions a second.
absl::Status DecodeInto(Isa isa, const uint8_t* bytes, size_t n, Inst* out);

// Fits an instruction to the wave that runs it: lane masks (type M64) become 1 or 2 dwords, the C and D
// matrices of a WMMA are half as many registers in wave64. kInvalidArgument where the wave size forbids the
// instruction: VOPD in wave64, a mask pair at an odd register. An executor calls it once after decoding;
// afterwards every register tuple except NULL (s124, which has no neighbours) lies inside its file.
absl::Status ResolveWaveSize(int wave_size, Inst* inst);

// Half X (0) or Y (1) of a VOPD pair as an instruction of its own (enc stays VOPD, size is the pair's).
Inst VopdHalf(const Inst& inst, int half);

}  // namespace understudy::emu::amd
