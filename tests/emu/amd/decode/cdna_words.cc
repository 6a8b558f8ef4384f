// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/cdna_words.h"

namespace understudy::emu::amd {
namespace {

uint32_t Bits(uint32_t w, int hi, int lo) {
  return w >> lo & (hi - lo == 31 ? ~0u : (1u << (hi - lo + 1)) - 1);
}

void Set(uint32_t* w, int hi, int lo, uint32_t value) {
  uint32_t mask = (hi - lo == 31 ? ~0u : (1u << (hi - lo + 1)) - 1) << lo;
  *w = (*w & ~mask) | (value << lo & mask);
}

class Draw {
 public:
  Draw(const decode::Row& row, std::mt19937_64& rng, uint32_t* w) : row_(row), rng_(rng), w_(w) {}

  void Run() {
    for (int i = 0; i < 4; ++i) w_[i] = Any();
    if (Any() % 4 != 0) Shape();
    PlaceOpcode();
  }

 private:
  uint32_t Any() { return static_cast<uint32_t>(rng_()); }
  bool Coin() { return Any() & 1; }
  // Few bits set, each with probability 1/8.
  uint32_t Sparse() { return Any() & Any() & Any(); }

  void PlaceOpcode() {
    uint32_t op = row_.number;
    uint32_t* w = w_;
    switch (row_.enc) {
      case Encoding::SOP1:
        Set(w, 31, 23, 0x17d), Set(w, 15, 8, op);
        break;
      case Encoding::SOP2:
        Set(w, 31, 30, 2), Set(w, 29, 23, op);
        break;
      case Encoding::SOPC:
        Set(w, 31, 23, 0x17e), Set(w, 22, 16, op);
        break;
      case Encoding::SOPK:
        Set(w, 31, 28, 0xb), Set(w, 27, 23, op);
        break;
      case Encoding::SOPP:
        Set(w, 31, 23, 0x17f), Set(w, 22, 16, op);
        break;
      case Encoding::SMEM:
        Set(w, 31, 26, 0x30), Set(w, 25, 18, op);
        break;
      case Encoding::VOP1:
        Set(w, 31, 25, 0x3f), Set(w, 16, 9, op);
        break;
      case Encoding::VOP2:
        Set(w, 31, 31, 0), Set(w, 30, 25, op);
        break;
      case Encoding::VOPC:
        Set(w, 31, 25, 0x3e), Set(w, 24, 17, op);
        break;
      case Encoding::VOP3:
      case Encoding::VOP3SD:
        Set(w, 31, 26, 0x34), Set(w, 25, 16, op);
        break;
      case Encoding::VOP3P:
        Set(w, 31, 23, 0x1a7), Set(w, 22, 16, op);
        break;
      case Encoding::VOP3PX2:
        Set(w, 31, 16, 0xd3ac), Set(w + 2, 31, 23, 0x1a7), Set(w + 2, 22, 16, op);
        break;
      case Encoding::DS:
        Set(w, 31, 26, 0x36), Set(w, 24, 17, op);
        break;
      case Encoding::FLAT:
        Set(w, 31, 26, 0x37), Set(w, 15, 14, 0), Set(w, 24, 18, op);
        break;
      case Encoding::SCRATCH:
        Set(w, 31, 26, 0x37), Set(w, 15, 14, 1), Set(w, 24, 18, op);
        break;
      case Encoding::GLOBAL:
        Set(w, 31, 26, 0x37), Set(w, 15, 14, 2), Set(w, 24, 18, op);
        break;
      case Encoding::MUBUF:
        Set(w, 31, 26, 0x38), Set(w, 24, 18, op);
        break;
      case Encoding::MTBUF:
        Set(w, 31, 26, 0x3a), Set(w, 18, 15, op);
        break;
      case Encoding::MIMG:
        Set(w, 31, 26, 0x3c), Set(w, 24, 18, op);
        break;
      default:
        break;
    }
  }

  uint32_t Source() {
    switch (Any() % 6) {
      case 0:
        return Any() % 128 & ~1u;
      case 1:
        return 128 + Any() % 127;
      default:
        return 256 + (Any() % 256 & ~1u);
    }
  }

  void ShapeVop3() {
    bool plain = Coin();
    Set(&w_[0], 15, 8, plain ? 0 : Sparse());
    Set(&w_[1], 31, 27, plain ? 0 : Sparse());
    Set(&w_[0], 0, 0, 0);
    Set(&w_[1], 8, 0, Source()), Set(&w_[1], 17, 9, Source()), Set(&w_[1], 26, 18, Source());
  }

  void ShapeMatrix(uint32_t* v) {
    Set(&v[0], 7, 0, Any() % 56 * 4);
    Set(&v[1], 7, 0, Any() % 56 * 4), Set(&v[1], 8, 8, 1);
    Set(&v[1], 16, 9, Any() % 56 * 4), Set(&v[1], 17, 17, 1);
    if (Coin()) Set(&v[1], 26, 18, 256 + Any() % 28 * 8);
  }

  void ShapeVop12c() {
    const uint32_t codes[] = {249, 249, 250, 250, 255, Any() % 256, 256 + (Any() % 256 & ~1u)};
    Set(&w_[0], 8, 0, codes[Any() % 7]);
    if (Coin()) Set(&w_[0], 17, 17, 0);
    if (row_.enc != Encoding::VOP1 && Coin()) Set(&w_[0], 9, 9, 0);
    uint32_t src0 = Bits(w_[0], 8, 0);
    if (src0 == 250) {
      const uint32_t controls[] = {Any() % 256,
                                   0x101 + Any() % 0x30,
                                   0x150 + Any() % 16,
                                   0x130,
                                   0x134,
                                   0x138,
                                   0x13c,
                                   0x140,
                                   0x141,
                                   0x142,
                                   0x143};
      Set(&w_[1], 16, 8, controls[Any() % 11]);
      Set(&w_[1], 23, 17, Sparse());
      Set(&w_[1], 0, 0, 0);
    } else if (src0 == 249) {
      Set(&w_[1], 10, 8, Coin() ? 6 : Any() % 7), Set(&w_[1], 15, 11, Sparse() & 0x1b);
      Set(&w_[1], 18, 16, Any() % 7), Set(&w_[1], 23, 19, Sparse());
      Set(&w_[1], 26, 24, Any() % 7), Set(&w_[1], 31, 27, Sparse());
      if (row_.enc == Encoding::VOP1) w_[1] &= 0xffffff;
    }
  }

  void Shape() {
    if (Any() % 8 == 0) {  // the smallest operands
      w_[0] = 0;
      if (Coin()) w_[1] = 0;
      return;
    }
    switch (row_.enc) {
      case Encoding::VOP3:
      case Encoding::VOP3SD:
        return ShapeVop3();
      case Encoding::VOP3P:
        ShapeVop3();
        if (row_.number >= 44 && (row_.number < 48 || row_.number > 51)) ShapeMatrix(w_);
        return;
      case Encoding::VOP3PX2:
        w_[0] &= 0x1800, w_[1] &= 0x1803ffff;
        if (Any() % 4) Set(&w_[1], 8, 8, 1), Set(&w_[1], 17, 17, 1);
        ShapeMatrix(w_ + 2);
        Set(&w_[2], 15, 8, Any() % 5 | 8 | (Coin() ? 0x80 : 0));
        Set(&w_[3], 31, 27, Any() % 5 << 2 | Any() % 4);
        return;
      case Encoding::VOP1:
      case Encoding::VOP2:
      case Encoding::VOPC:
        return ShapeVop12c();
      case Encoding::SMEM:
        w_[0] &= ~(1u << 13 | 1u << 15);
        if (Coin()) Set(&w_[0], 8, 6, 0);
        if (Coin()) Set(&w_[0], 12, 12, 0);
        Set(&w_[0], 1, 0, Coin() ? 2 : 0);
        if (Coin()) w_[1] &= 0x0fffffff;
        return;
      case Encoding::DS:
        w_[1] &= ~0x01010101u;
        Set(&w_[0], 16, 16, Coin());
        if (Coin()) Set(&w_[0], 25, 25, 0);
        if (Any() % 3 == 0) w_[1] &= 0xff;
        if (Any() % 8 == 0) w_[1] = 0, Set(&w_[0], 25, 25, 0), Set(&w_[0], 16, 16, 1);  // GWS
        return;
      case Encoding::FLAT:
        w_[1] &= ~0x01010101u;
        Set(&w_[1], 22, 16, 0), Set(&w_[0], 13, 12, 0);
        return;
      case Encoding::SCRATCH:
      case Encoding::GLOBAL:
        w_[1] &= ~0x01010101u;
        Set(&w_[1], 22, 16, Coin() ? 0x7f : Any() % 128);
        if (Coin()) Set(&w_[0], 13, 13, 0);
        if (Any() % 3 == 0) Set(&w_[1], 23, 23, 0);
        return;
      case Encoding::MUBUF:
      case Encoding::MTBUF:
        w_[1] &= ~0x101u;
        if (Coin()) Set(&w_[1], 31, 24, Any() % 100);
        if (Coin()) Set(&w_[1], 20, 16, Any() % 24);
        if (Coin()) Set(&w_[0], 16, 16, 0);
        return;
      case Encoding::MIMG: {
        w_[1] &= ~0x101u;
        Set(&w_[1], 20, 16, Any() % 24 & ~1u), Set(&w_[1], 25, 21, Any() % 24);
        const uint32_t masks[] = {1, 3, 15};
        if (Coin()) Set(&w_[0], 11, 8, masks[Any() % 3]);
        Set(&w_[0], 0, 0, 0), Set(&w_[0], 17, 12, Sparse() | 1), Set(&w_[0], 7, 7, Sparse());
        if (row_.number < 32) Set(&w_[1], 31, 31, 0);
        return;
      }
      case Encoding::SOPP:
        if (Coin()) Set(&w_[0], 15, 0, 0);
        return;
      default:
        if (Coin()) w_[0] &= ~0x10101u;
        return;
    }
  }

  const decode::Row& row_;
  std::mt19937_64& rng_;
  uint32_t* w_;
};

bool HasLiteralSource(const uint32_t* w) {
  return Bits(w[1], 8, 0) == 255 || Bits(w[1], 17, 9) == 255 || Bits(w[1], 26, 18) == 255;
}

bool IsF8f6f4InScalars(const uint32_t* w) {
  uint32_t op = Bits(w[0], 22, 16);
  if (Bits(w[0], 31, 23) != 0x1a7 || (op != 45 && op != 46)) return false;
  return !Bits(w[1], 8, 8) || !Bits(w[1], 17, 17);
}

}  // namespace

void DrawCdnaWords(const decode::Row& row, std::mt19937_64& rng, Words w) { Draw(row, rng, w).Run(); }

bool McFailsOn(const Words w) {
  uint32_t top = Bits(w[0], 31, 26);
  if (Bits(w[0], 31, 31) == 0) {
    bool vopc = Bits(w[0], 31, 25) == 0x3e, vop1 = Bits(w[0], 31, 25) == 0x3f;
    if (vop1 && Bits(w[0], 16, 9) == 2) return Bits(w[0], 24, 24);  // v_readfirstlane_b32
    uint32_t vop2 = Bits(w[0], 30, 25);
    bool has_k = !vopc && !vop1 && (vop2 == 23 || vop2 == 24 || vop2 == 36 || vop2 == 37);
    if (has_k && w[1] < 256) return true;
    if (Bits(w[0], 8, 0) != 249) return false;
    if (Bits(w[1], 18, 16) == 7 || Bits(w[1], 26, 24) == 7) return true;
    return !vopc && (Bits(w[1], 10, 8) == 7 || Bits(w[1], 12, 11) == 3);
  }
  if (top == 0x38 || top == 0x3a) return Bits(w[1], 31, 24) == 255;
  if (top != 0x34) return false;
  if (HasLiteralSource(w) || IsF8f6f4InScalars(w)) return true;
  uint32_t op = Bits(w[0], 25, 16);
  bool scalar_destination = op < 256 || op == 649;
  if (scalar_destination && Bits(w[0], 7, 7)) return true;
  bool scaled = Bits(w[0], 31, 16) == 0xd3ac && Bits(w[2], 31, 23) == 0x1a7;
  return scaled && (IsF8f6f4InScalars(w + 2) || HasLiteralSource(w + 2));
}

}  // namespace understudy::emu::amd
