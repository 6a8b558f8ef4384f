// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random machine words for a given opcode of an RDNA table: the fixed bits and the opcode are placed, every
// other field is drawn. Half of the draws are tamed (VGPR sources, few modifiers), so that every opcode is
// also seen valid.

#include <cstdint>
#include <cstring>
#include <random>

#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd {

inline void SetBits(uint32_t* word, int hi, int lo, uint32_t value) {
  uint32_t mask = (hi - lo == 31 ? ~0u : ((1u << (hi - lo + 1)) - 1)) << lo;
  *word = (*word & ~mask) | (value << lo & mask);
}

inline void PlaceOpcode(Isa isa, const decode::Row& row, uint32_t* w) {
  auto set = [w](int hi, int lo, uint32_t value) { SetBits(w, hi, lo, value); };
  uint32_t op = row.number;
  switch (row.enc) {
    case Encoding::SOP1:
      set(31, 23, 0x17d);
      set(15, 8, op);
      break;
    case Encoding::SOP2:
      set(31, 30, 2);
      set(29, 23, op);
      break;
    case Encoding::SOPC:
      set(31, 23, 0x17e);
      set(22, 16, op);
      break;
    case Encoding::SOPK:
      set(31, 28, 0xb);
      set(27, 23, op);
      break;
    case Encoding::SOPP:
      set(31, 23, 0x17f);
      set(22, 16, op);
      break;
    case Encoding::SMEM:
      set(31, 26, 0x3d);
      isa == Isa::kRdna4 ? set(18, 13, op) : set(25, 18, op);
      break;
    case Encoding::VOP1:
      set(31, 25, 0x3f);
      set(16, 9, op);
      break;
    case Encoding::VOP2:
      set(31, 31, 0);
      set(30, 25, op);
      break;
    case Encoding::VOPC:
      set(31, 25, 0x3e);
      set(24, 17, op);
      break;
    case Encoding::VOP3:
    case Encoding::VOP3SD:
      set(31, 26, 0x35);
      set(25, 16, op);
      break;
    case Encoding::VOP3P:
      set(31, 24, 0xcc);
      set(22, 16, op);
      break;
    case Encoding::VOPD:
      set(31, 26, 0x32);
      set(op < 16 ? 25 : 21, op < 16 ? 22 : 17, op);
      break;
    case Encoding::VINTERP:
      set(31, 24, 0xcd);
      set(22, 16, op);
      break;
    case Encoding::LDSDIR:
      set(31, 24, 0xce);
      set(21, 20, op);
      break;
    case Encoding::DS:
      set(31, 26, 0x36);
      set(25, 18, op);
      break;
    case Encoding::FLAT:
      set(31, 26, 0x37);
      set(17, 16, 0);
      set(24, 18, op);
      break;
    case Encoding::SCRATCH:
      set(31, 26, 0x37);
      set(17, 16, 1);
      set(24, 18, op);
      break;
    case Encoding::GLOBAL:
      set(31, 26, 0x37);
      set(17, 16, 2);
      set(24, 18, op);
      break;
    case Encoding::MUBUF:
      set(31, 26, 0x38);
      set(25, 18, op);
      break;
    case Encoding::MTBUF:
      set(31, 26, 0x3a);
      set(18, 15, op);
      break;
    case Encoding::MIMG:
      set(31, 26, 0x3c);
      set(25, 18, op);
      break;
    case Encoding::EXP:
    case Encoding::VEXPORT:
      set(31, 26, 0x3e);
      break;
    case Encoding::VDSDIR:
      set(31, 24, 0xce);
      set(21, 20, op);
      break;
    case Encoding::VFLAT:
      set(31, 24, 0xec);
      set(21, 14, op);
      break;
    case Encoding::VSCRATCH:
      set(31, 24, 0xed);
      set(21, 14, op);
      break;
    case Encoding::VGLOBAL:
      set(31, 24, 0xee);
      set(21, 14, op);
      break;
    case Encoding::VBUFFER:
      set(31, 26, 0x31);
      set(21, 14, op);
      break;
    case Encoding::VIMAGE:
      set(31, 26, 0x34);
      set(21, 14, op);
      break;
    case Encoding::VSAMPLE:
      set(31, 26, 0x39);
      set(21, 14, op);
      break;
    default:
      break;
  }
}

// Restricts fields so that most draws are valid.
template <class Rng>
void Tame(Isa isa, const decode::Row& row, Rng& rng, uint32_t* w) {
  constexpr uint32_t kExtensions[] = {250, 233, 234, 255};  // DPP16, DPP8, DPP8 with FI, literal
  switch (row.enc) {
    case Encoding::VOP3:
    case Encoding::VOP3SD:
    case Encoding::VOP3P: {
      if (row.enc != Encoding::VOP3SD) SetBits(&w[0], 15, 8, row.enc == Encoding::VOP3P ? 0x40 : 0);
      SetBits(&w[0], 23, 23, row.enc == Encoding::VOP3P ? 0 : row.number >> 7 & 1);
      SetBits(&w[1], 31, 27, 0);
      SetBits(&w[1], 8, 8, 1), SetBits(&w[1], 17, 17, 1), SetBits(&w[1], 26, 26, rng() & 1);
      SetBits(&w[0], 7, 7, 0);
      if (rng() % 8 == 0) SetBits(&w[0], 15, 15, 1);  // clamp
      // RDNA4's matrix and fp8 dot products take no op_sel.
      if (isa == Isa::kRdna4 && row.enc == Encoding::VOP3P &&
          (row.number >= 64 || (row.number >= 36 && row.number < 40))) {
        SetBits(&w[1], 28, 27, 3);
        if (row.implicit == decode::Implicit::kTiedSrc3) SetBits(&w[0], 11, 11, rng() & 1);
        if (rng() % 4 == 0) SetBits(&w[1], 31, 29, static_cast<uint32_t>(rng()));
        if (rng() % 4 == 0) SetBits(&w[0], 10, 8, static_cast<uint32_t>(rng()));
      }
      if (!row.dst[0].present()) SetBits(&w[0], 7, 0, 0);
      for (int i = 0; i < 3; ++i) {
        if (!row.src[i].present()) {
          SetBits(&w[1], 9 * i + 8, 9 * i, 0);
        } else if (row.src[i].kind == decode::OperandKind::SSRC ||
                   row.src[i].kind == decode::OperandKind::SSRC_LANESEL ||
                   row.src[i].kind == decode::OperandKind::SREG_LITERAL) {
          SetBits(&w[1], 9 * i + 8, 9 * i + 7, 0);
        }
      }
      if (row.cmpx) SetBits(&w[0], 7, 0, kRegExecLo);
      if (rng() % 4 == 0) SetBits(&w[1], 8, 0, kExtensions[rng() % 4]);
      if (rng() % 4 == 0) SetBits(&w[1], 26, 18, 0);
      if (rng() % 4 == 0) SetBits(&w[1], 26, 9, 8 | 10 << 9);  // scalar src1 and src2
      break;
    }
    case Encoding::VOP1:
    case Encoding::VOP2:
    case Encoding::VOPC:
      SetBits(&w[0], 8, 8, 1);
      if (!row.dst[0].present() && row.enc == Encoding::VOP1) SetBits(&w[0], 24, 17, 0);
      if (rng() % 2) SetBits(&w[0], 8, 0, kExtensions[rng() % 4]);
      if (rng() % 2) SetBits(&w[1], 23, 20, 0);  // the DPP word's modifiers
      break;
    case Encoding::SOPP:
      if (!row.has_immediate) SetBits(&w[0], 15, 0, 0);
      break;
    case Encoding::SMEM:
      if (isa == Isa::kRdna4) {
        SetBits(&w[0], 20, 19, 0), SetBits(&w[0], 25, 25, 0);
        SetBits(&w[1], 24, 24, 0);
        if (rng() % 2) SetBits(&w[1], 31, 25, kRegNull);
      } else {
        SetBits(&w[0], 14, 13, 0);
      }
      SetBits(&w[0], 8, 6, 0), SetBits(&w[0], 12, 12, 0), SetBits(&w[0], 1, 0, 0);
      break;
    case Encoding::VINTERP:
      SetBits(&w[1], 8, 8, 1), SetBits(&w[1], 17, 17, 1), SetBits(&w[1], 26, 26, 1);
      break;
    case Encoding::LDSDIR:
      SetBits(&w[0], 23, 22, 0);
      break;
    case Encoding::DS:
      if (rng() % 2) SetBits(&w[1], 31, 24, 0);
      if (rng() % 2) SetBits(&w[1], 23, 16, 0);
      if (rng() % 2) SetBits(&w[1], 15, 8, 0);
      if (rng() % 2) SetBits(&w[1], 7, 0, 0);
      if (row.op == Opcode::DS_NOP) w[1] = 0, SetBits(&w[0], 17, 0, 0);
      break;
    case Encoding::FLAT:
      SetBits(&w[0], 12, 12, 0);
      [[fallthrough]];
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      SetBits(&w[1], 22, 16, row.enc != Encoding::FLAT && rng() % 2 ? 8 : kRegNull);
      if (row.enc == Encoding::GLOBAL && rng() % 16 == 0) SetBits(&w[1], 22, 16, kRegExecLo);
      if (row.enc != Encoding::SCRATCH) SetBits(&w[1], 23, 23, 0);
      break;
    case Encoding::MUBUF:
    case Encoding::MTBUF:
      SetBits(&w[1], 23, 21, 0), SetBits(&w[1], 31, 31, 0), SetBits(&w[0], 14, 13, 0);
      break;
    case Encoding::MIMG:
      SetBits(&w[0], 17, 17, 0), SetBits(&w[0], 15, 15, 0);
      SetBits(&w[1], 20, 20, 0);
      if (!row.src[2].present())
        SetBits(&w[1], 30, 26, 0);
      else
        SetBits(&w[1], 30, 30, 0);
      if (row.number == 25 || row.number == 26) {  // BVH
        SetBits(&w[0], 4, 2, 0), SetBits(&w[0], 14, 7, 0x1f & 0x1f), SetBits(&w[0], 7, 7, 1);
        SetBits(&w[0], 11, 8, 15), SetBits(&w[0], 14, 12, 0), SetBits(&w[0], 15, 15, 1);
        SetBits(&w[1], 22, 21, 0);
      }
      break;
    case Encoding::VOPD:
      SetBits(&w[0], 8, 8, 1), SetBits(&w[1], 8, 8, 1);
      SetBits(&w[0], 25, 22, row.number < 16 ? row.number : 3);
      SetBits(&w[0], 21, 17, row.number < 16 ? 4 : row.number);
      if (row.op == Opcode::V_MOV_B32) SetBits(&w[0], 16, 9, 0);
      break;
    case Encoding::VDSDIR:
      SetBits(&w[0], 22, 22, 0);
      break;
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      SetBits(&w[0], 23, 22, 0), SetBits(&w[0], 13, 7, 0);
      SetBits(&w[1], 31, 31, 0), SetBits(&w[1], 16, 8, 0);
      if (row.enc != Encoding::VSCRATCH) SetBits(&w[1], 17, 17, 0);
      SetBits(&w[0], 6, 0, row.enc != Encoding::VFLAT && rng() % 2 ? 8 : kRegNull);
      if (!row.dst[0].present()) SetBits(&w[1], 7, 0, 0);
      if (!row.src[1].present()) SetBits(&w[1], 30, 23, 0);
      if (!row.src[0].present()) SetBits(&w[2], 7, 0, 0);
      if (row.n_src == 0) w[2] = 0;
      break;
    case Encoding::VBUFFER:
      SetBits(&w[0], 25, 23, 0), SetBits(&w[0], 13, 7, 0);
      SetBits(&w[1], 8, 8, 0), SetBits(&w[1], 17, 16, 0), SetBits(&w[1], 10, 9, 0);
      SetBits(&w[2], 31, 31, 0);
      if (rng() % 4) SetBits(&w[0], 22, 22, 0);
      if (row.number < 128 && rng() % 4) SetBits(&w[1], 29, 23, 1);
      break;
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      SetBits(&w[1], 17, 16, 0), SetBits(&w[1], 11, 9, 0);
      SetBits(&w[1], 31, 30, 0);
      if (rng() % 2) SetBits(&w[0], 5, 4, 0);
      if (row.enc == Encoding::VSAMPLE) {
        SetBits(&w[1], 25, 23, 0), SetBits(&w[0], 21, 21, row.number >> 7 & 1);
        if (!row.src[2].present()) SetBits(&w[1], 31, 23, 0);
      } else {
        SetBits(&w[0], 3, 3, 0);
      }
      if (rng() % 2) SetBits(&w[0], 7, 7, 0);
      if (row.enc == Encoding::VIMAGE) {
        if (std::strstr(OpcodeName(row.op), "_BVH") == nullptr) SetBits(&w[1], 31, 24, 0);
      } else if (rng() % 2) {
        SetBits(&w[2], 31, 24, 0);
      }
      if (std::strstr(OpcodeName(row.op), "_BVH") != nullptr) {
        SetBits(&w[0], 2, 0, 0), SetBits(&w[0], 4, 4, 1), SetBits(&w[0], 25, 22, 15);
        SetBits(&w[0], 7, 5, 0), SetBits(&w[1], 23, 18, 0);
        if (rng() % 4 == 0 && row.number < 128) SetBits(&w[0], 6, 6, 1), SetBits(&w[1], 31, 24, 0);
      }
      break;
    default:
      break;
  }
}

template <class Rng>
void DrawWords(Isa isa, const decode::Row& row, Rng& rng, bool tame, uint32_t* w) {
  for (int i = 0; i < 4; ++i) w[i] = static_cast<uint32_t>(rng());
  PlaceOpcode(isa, row, w);
  if (tame) Tame(isa, row, rng, w);
}

}  // namespace understudy::emu::amd
