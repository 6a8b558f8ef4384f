// SPDX-License-Identifier: Apache-2.0
// How many registers an operand has, where that follows from shapes and types: fragments of matrices (PTX
// ISA, "Matrix Fragments"), tensor memory accesses, vectors of loads.
#include <cctype>

#include "emu/ptx/isa/compiled_form.h"

namespace understudy::emu::ptx {
namespace {

bool Has(const std::vector<std::string>& modifiers, const char* word) {
  for (const std::string& modifier : modifiers)
    if (modifier == word) return true;
  return false;
}

struct MatrixShape {
  int m = 0, n = 0, k = 0;
};

// ".m16n8k32"; k stays 0 in ".m8n8".
bool FindShape(const std::vector<std::string>& modifiers, MatrixShape* shape) {
  for (const std::string& text : modifiers) {
    if (text.size() < 4 || text[0] != 'm' || !std::isdigit(static_cast<unsigned char>(text[1]))) continue;
    int* const fields[] = {&shape->m, &shape->n, &shape->k};
    size_t at = 0;
    for (int i = 0; i < 3 && at < text.size() && text[at] == "mnk"[i]; ++i)
      for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
        *fields[i] = *fields[i] * 10 + text[at] - '0';
    return true;
  }
  return false;
}

// ".x4": 4.
int Repeats(const std::vector<std::string>& modifiers) {
  for (const std::string& text : modifiers) {
    if (text.size() < 2 || text[0] != 'x' || !std::isdigit(static_cast<unsigned char>(text[1]))) continue;
    int n = 0;
    for (size_t i = 1; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i)
      n = n * 10 + text[i] - '0';
    return n;
  }
  return 1;
}

int FragmentRegisters(int elements, int bits) {
  return bits == 64 ? elements / 32 : elements * bits / (32 * 32);
}

int MmaLength(char which, const std::vector<std::string>& modifiers, const std::vector<Type>& types) {
  MatrixShape shape;
  if (!FindShape(modifiers, &shape) || types.size() < 4) return -1;
  const bool sparse = Has(modifiers, "sp") || Has(modifiers, "sp::ordered_metadata");
  const bool old = shape.k == 4 && types[1] == Type::kF16;  // m8n8k4: four computations, one a quad pair
  const auto bits = [&](Type type) {
    if (Has(modifiers, "kind::f8f6f4") || Has(modifiers, "kind::mxf8f6f4")) return 8;  // padded containers
    return TypeBits(type);
  };
  switch (which) {
    case 'a':
      return old ? 2 : FragmentRegisters(shape.m * shape.k / (sparse ? 2 : 1), bits(types[1]));
    case 'b':
      return old ? 2 : FragmentRegisters(shape.n * shape.k, bits(types[2]));
    default: {
      const Type type = which == 'd' ? types[0] : types[3];
      if (old) return type == Type::kF16 ? 4 : 8;
      return FragmentRegisters(shape.m * shape.n, TypeBits(type));
    }
  }
}

int WmmaLength(char which, const std::vector<std::string>& modifiers, const std::vector<Type>& types) {
  MatrixShape shape;
  if (!FindShape(modifiers, &shape) || types.empty()) return -1;
  Type type = types[0];
  if (which == 'l')
    which = Has(modifiers, "a") ? 'a' : Has(modifiers, "b") ? 'b' : 'd';
  else if (which == 'c')
    type = types.back();
  else if (which != 'd')
    type = types.size() > 2 ? types[which == 'a' ? 1 : 2] : Type::kF16;
  if (which == 'a' || which == 'b') {
    if (type == Type::kF16) return 8;
    return FragmentRegisters((which == 'a' ? shape.m : shape.n) * shape.k, TypeBits(type));
  }
  return FragmentRegisters(shape.m * shape.n, TypeBits(type));
}

}  // namespace

int CoordinateCount(Op op, const std::vector<std::string>& modifiers) {
  const bool texture = op == Op::kTex || op == Op::kTld4;
  const bool surface = op == Op::kSuld || op == Op::kSust || op == Op::kSured;
  if (texture || surface) {
    // A vector of 3 is written with a fourth element.
    if (Has(modifiers, "1d")) return 1;
    if (Has(modifiers, "2d") || Has(modifiers, "a1d")) return 2;
    return 4;
  }
  if (Has(modifiers, "tile::gather4") || Has(modifiers, "tile::scatter4")) return 5;
  for (int d = 1; d <= 5; ++d)
    if (Has(modifiers, (std::to_string(d) + "d").c_str())) return d;
  return 0;
}

int VectorLength(const std::string& rule, Op op, const std::vector<std::string>& modifiers,
                 const std::vector<Type>& types) {
  if (rule.empty()) return 0;
  if (std::isdigit(static_cast<unsigned char>(rule[0]))) return std::stoi(rule);
  if (rule == "V") return Has(modifiers, "v2") ? 2 : Has(modifiers, "v4") ? 4 : Has(modifiers, "v8") ? 8 : 0;
  if (rule[0] == 'f') return MmaLength(rule[1], modifiers, types);
  if (rule[0] == 'w') return WmmaLength(rule[1], modifiers, types);
  if (rule == "gd") {  // wgmma: 64 x n over 128 threads
    MatrixShape shape;
    if (!FindShape(modifiers, &shape) || types.empty()) return -1;
    return types[0] == Type::kF16 ? shape.n / 4 : shape.n / 2;
  }
  if (rule == "io") {  // offsets of an image's pixels; two of .im2col::w's halves
    if (Has(modifiers, "im2col::w") || Has(modifiers, "im2col::w::128")) return 2;
    const int dimensions = CoordinateCount(op, modifiers);
    return dimensions > 2 ? dimensions - 2 : -1;
  }
  if (rule == "dl") return Has(modifiers, "cta_group::2") ? 8 : 4;  // lanes that are not written
  if (rule == "lm") {
    const bool large = op == Op::kLdmatrix && Has(modifiers, "m16n16");
    return Repeats(modifiers) * (large ? 2 : 1);
  }
  if (rule == "tm") {
    const int wide = Has(modifiers, "16x256b") ? 4 : Has(modifiers, "16x128b") ? 2 : 1;
    return Repeats(modifiers) * wide;
  }
  return -1;  // any, pack
}

}  // namespace understudy::emu::ptx
