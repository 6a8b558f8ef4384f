// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/matrix/matrix_machine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace understudy::emu::amd::testing {

MatrixName ParseMatrixName(Opcode op, Isa isa) {
  MatrixName r;
  const std::string name = OpcodeName(op);
  std::vector<std::string> parts;
  size_t at = 0;
  while (at <= name.size()) {
    const size_t end = std::min(name.find('_', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  // V, family, [SCALE,] type of D, shape, [blocks,] types.
  r.sparse = parts[1] == "SMFMAC" || parts[1] == "SWMMAC";
  r.wmma = parts[1] == "WMMA" || parts[1] == "SWMMAC";
  size_t i = parts[2] == "SCALE" ? 3 : 2;
  r.d = parts[i++];
  int consumed = 0;
  std::sscanf(parts[i].c_str(), "%dX%dX%d%n", &r.m, &r.n, &r.k, &consumed);
  const std::string rest = parts[i].substr(static_cast<size_t>(consumed));
  ++i;
  if (!rest.empty()) {
    // Names of gfx908 and gfx90a, such as 32X32X2BF16, do not tell the blocks: an operand is one register.
    r.a = rest;
    const int elements = rest == "BF16" ? 2 : 4;
    r.blocks = 64 * elements / (r.m * r.k);
  } else if (parts[i].back() == 'B' && std::isdigit(parts[i][0]) != 0) {
    r.blocks = std::atoi(parts[i++].c_str());
  }
  if (r.a.empty()) r.a = parts[i];
  r.b = i + 1 < parts.size() ? parts[i + 1] : r.a;
  (void)isa;
  return r;
}

int BitsOfType(const std::string& type, int format) {
  if (type == "F64") return 64;
  if (type == "F32" || type == "XF32" || type == "I32") return 32;
  if (type == "F16" || type == "BF16") return 16;
  if (type == "IU4") return 4;
  if (type == "F8F6F4") return format < 2 ? 8 : format < 4 ? 6 : 4;
  return 8;
}

namespace {

Place FromElement(int element, int bits, int lane) {
  return {element * bits / 32, element * bits % 32, lane};
}

// CDNA: a lane holds K / (64 / (M * blocks)) elements that follow one another in K.
Place CdnaInput(int dim, int depth, int blocks, int bits, int i, int k, int block, bool two_quads) {
  const int in_lane = depth / (64 / (dim * blocks));
  if (two_quads) {
    // gfx950: the first four registers hold the first half of K, the next four the second.
    const int half = depth / 2, quarter = in_lane / 2;
    const int within = k % half;
    return FromElement(k / half * quarter + within % quarter, bits,
                       block * dim + within / quarter * dim * blocks + i);
  }
  return FromElement(k % in_lane, bits, block * dim + k / in_lane * dim * blocks + i);
}

struct Rdna4Place {
  int reg, lane;
};
// Dense A and B.
Rdna4Place Rdna4Dense(int wave, int bits, int depth, int i, int k) {
  if (wave == 32) {
    if (bits == 16) return {2 * (k / 8) + k / 2 % 2, 16 * (k / 4 % 2) + i};
    if (bits == 8) return {k / 4 % 2, 16 * (k / 8) + i};
    return depth == 32 ? Rdna4Place{k / 8 % 2, 16 * (k / 16) + i} : Rdna4Place{0, 16 * (k / 8) + i};
  }
  if (bits == 16) return {k / 2 % 2, 32 * (k / 8 % 2) + 16 * (k / 4 % 2) + i};
  if (bits == 8) return {0, 32 * (k / 4 % 2) + 16 * (k / 8 % 2) + i};
  return depth == 32 ? Rdna4Place{0, 32 * (k / 8 % 2) + 16 * (k / 16 % 2) + i}
                     : Rdna4Place{0, 16 * (k / 8) + i};
}
// The lane of A, B or the index of a sparse instruction.
int Rdna4SparseLane(int wave, int bits, int depth, bool is_b, int i, int k) {
  if (wave == 32) {
    if (bits == 16) return 16 * (k / 8 % 2) + i;
    return depth == 32 ? 16 * (k / 16) + i : 16 * (k / 32) + i;
  }
  if (bits == 16) return 16 * (k / 8) + i;
  if (bits == 4 && depth == 32 && !is_b) return 16 * (k / 16) + i;
  if (depth == 32) return 32 * (k / 8 % 2) + 16 * (k / 16) + i;
  return 32 * (k / 16 % 2) + 16 * (k / 32) + i;
}
Place Rdna4SparseA(int wave, int bits, int depth, int i, int k, int stored) {
  const int lane = Rdna4SparseLane(wave, bits, depth, false, i, k);
  if (bits == 16) {
    const int reg = wave == 32 ? 2 * (k / 16) + k / 4 % 2 : k / 4 % 2;
    return {reg, 16 * stored, lane};
  }
  int reg = 0;
  if (wave == 32 && bits == 8) reg = k / 8 % 2;
  if (wave == 32 && bits == 4 && depth == 64) reg = k / 16 % 2;
  return {reg, 2 * bits * (k / 4 % (16 / bits)) + bits * stored, lane};
}
Place Rdna4SparseB(int wave, int bits, int depth, int i, int k) {
  int reg = 0;
  if (bits == 16) {
    reg = wave == 32 ? 4 * (k / 16) + k / 2 % 4 : k / 2 % 4;
  } else if (bits == 8) {
    reg = wave == 32 ? k / 4 % 4 : k / 4 % 2;
  } else if (depth == 32) {
    reg = wave == 32 ? k / 8 % 2 : 0;
  } else {
    reg = wave == 32 ? k / 8 % 4 : k / 8 % 2;
  }
  return {reg, bits * (k % (32 / bits)), Rdna4SparseLane(wave, bits, depth, true, i, k)};
}

}  // namespace

Place PlaceOfInput(const MatrixName& name, Isa isa, int wave_size, char matrix, int bits, int i, int k,
                   int stored, int block) {
  if (IsCdna(isa)) {
    const int dim = matrix == 'a' ? name.m : name.n;
    int depth = name.k, at = k;
    if (name.sparse && matrix == 'a') {
      depth /= 2;
      at = k / 2 + stored;
    }
    const int registers = depth / (64 / (dim * name.blocks)) * bits / 32;
    return CdnaInput(dim, depth, name.blocks, bits, i, at, block,
                     isa == Isa::kCdna4 && registers == 8 && bits >= 8 && bits <= 16);
  }
  if (isa == Isa::kRdna4) {
    if (!name.sparse) {
      const Rdna4Place p = Rdna4Dense(wave_size, bits, name.k, i, k);
      return {p.reg, bits * (k % (32 / bits)), p.lane};
    }
    return matrix == 'a' ? Rdna4SparseA(wave_size, bits, name.k, i, k, stored)
                         : Rdna4SparseB(wave_size, bits, name.k, i, k);
  }
  return FromElement(k, bits, i);
}

Place PlaceOfOutput(const MatrixName& name, Isa isa, int wave_size, int row, int column, int block) {
  if (IsCdna(isa)) {
    const bool f64 = name.d == "F64";
    const int height = f64 ? 1 : 4, strips = 64 / name.n;
    const int size = name.m * name.n / height;
    const int blocks_per_register = (64 + size - 1) / size;
    const int slot = block * (name.m * name.n / 64) + row / (height * strips) * height + row % height;
    const int lane =
        block % blocks_per_register * name.n + row / height % strips * blocks_per_register * name.n + column;
    return {f64 ? 2 * slot : slot, 0, lane};
  }
  const bool half = name.d == "F16" || name.d == "BF16";
  if (isa == Isa::kRdna4) {
    if (wave_size == 32) {
      const int lane = 16 * (row / 8) + column;
      return half ? Place{row / 2 % 4, 16 * (row % 2), lane} : Place{row % 8, 0, lane};
    }
    const int lane = 32 * (row / 4 % 2) + 16 * (row / 8) + column;
    return half ? Place{row / 2 % 2, 16 * (row % 2), lane} : Place{row % 4, 0, lane};
  }
  const int rows = wave_size / 16;
  return {row / rows, 0, 16 * (row % rows) + column};
}

int IndexSets(const MatrixName& name, Isa isa, int wave_size, int bits) {
  if (isa == Isa::kRdna4) {
    if (wave_size == 32) return bits == 4 && name.k == 64 ? 1 : 2;
    return bits == 4 ? 2 : 4;
  }
  // gfx942: four sets of 16-bit types, two of 8-bit ones; gfx950's longer forms hold twice as many elements a
  // lane.
  const bool longer = name.k * name.m > (bits == 16 ? 512 : 1024);
  return (bits == 16 ? 4 : 2) / (longer ? 2 : 1);
}

Place PlaceOfIndex(const MatrixName& name, Isa isa, int wave_size, int bits, int i, int k, int set) {
  const int width = 32 / IndexSets(name, isa, wave_size, bits);
  if (isa == Isa::kRdna4) {
    int base;
    if (wave_size == 32) {
      base = bits == 16                  ? 8 * (k / 16) + 4 * (k / 4 % 2)
             : bits == 8 || name.k == 32 ? 4 * (k / 4 % 4)
                                         : 4 * (k / 4 % 8);
    } else {
      base = bits == 4 ? 4 * (k / 4 % 4) : 4 * (k / 4 % 2);
    }
    return {0, base + set * width, Rdna4SparseLane(wave_size, bits, name.k, false, i, k)};
  }
  const Place a = PlaceOfInput(name, isa, wave_size, 'a', bits, i, k, 0, 0);
  const int element = (a.reg * 32 + a.bit) / bits;
  return {0, element / 2 * 4 + set * width, a.lane};
}

void Put(MatrixMachine* m, const Operand& o, const Place& place, int bits, uint64_t value) {
  for (int done = 0; done < bits;) {
    const int at = place.bit + done, reg = place.reg + at / 32, bit = at % 32;
    const int count = std::min(bits - done, 32 - bit);
    uint32_t& word = m->At(o, reg, place.lane);
    const uint32_t mask = (count == 32 ? ~0u : (1u << count) - 1) << bit;
    word = (word & ~mask) | (static_cast<uint32_t>(value >> done) << bit & mask);
    done += count;
  }
}

uint64_t Get(MatrixMachine* m, const Operand& o, const Place& place, int bits) {
  uint64_t value = 0;
  for (int done = 0; done < bits;) {
    const int at = place.bit + done, reg = place.reg + at / 32, bit = at % 32;
    const int count = std::min(bits - done, 32 - bit);
    const uint64_t part = (m->At(o, reg, place.lane) >> bit) & (count == 32 ? ~0u : (1u << count) - 1);
    value |= part << done;
    done += count;
  }
  return value;
}

}  // namespace understudy::emu::amd::testing
