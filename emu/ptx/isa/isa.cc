// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/isa/isa.h"

#include <cstddef>
#include <iterator>

#include "absl/container/flat_hash_map.h"

namespace understudy::emu::ptx {
namespace {

struct TypeRow {
  const char* name;
  int bits;
};
constexpr TypeRow kTypes[] = {
    {"", 0},
#define PTX_TYPE(id, name, bits) {name, bits},
#include "emu/ptx/isa/types.inc"
#undef PTX_TYPE
};
constexpr const char* kOps[] = {
#define PTX_OP(id, name) name,
#include "emu/ptx/isa/opcodes.inc"
#undef PTX_OP
};

// Targets of PTX ISA 8.8, ".target", and the first version (x10) that has each: alone, with the suffix 'a'
// (that architecture's own features) and with 'f' (its family's); 0: there is none.
struct TargetRow {
  int sm;
  int version, version_a, version_f;
};
constexpr TargetRow kTargets[] = {{10, 10, 0, 0},    {11, 10, 0, 0},    {12, 13, 0, 0},    {13, 14, 0, 0},
                                  {20, 20, 0, 0},    {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},
                                  {35, 31, 0, 0},    {37, 41, 0, 0},    {50, 40, 0, 0},    {52, 41, 0, 0},
                                  {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},    {62, 50, 0, 0},
                                  {70, 60, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
                                  {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 73, 0, 0},    {89, 78, 0, 0},
                                  {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88},
                                  {110, 90, 90, 90}, {120, 87, 87, 88}, {121, 88, 88, 88}};

}  // namespace

const char* TypeName(Type type) { return kTypes[static_cast<size_t>(type)].name; }
int TypeBits(Type type) { return kTypes[static_cast<size_t>(type)].bits; }

bool FindType(const std::string& name, Type* type) {
  static const auto* const types = [] {
    auto* map = new absl::flat_hash_map<std::string, Type>;
    for (size_t i = 1; i < std::size(kTypes); ++i) map->emplace(kTypes[i].name, static_cast<Type>(i));
    return map;
  }();
  auto it = types->find(name);
  if (it == types->end()) return false;
  *type = it->second;
  return true;
}

bool IsSigned(Type type) {
  return type == Type::kS2 || type == Type::kS4 || type == Type::kS8 || type == Type::kS16 ||
         type == Type::kS32 || type == Type::kS64 || type == Type::kS16x2;
}

bool IsFloat(Type type) {
  return type >= Type::kF16 && type <= Type::kUe8m0x2 && type != Type::kU16x2 && type != Type::kS16x2;
}

const char* SpaceName(Space space) {
  constexpr const char* kNames[] = {"generic", "reg",   "sreg",   "const",           "global",
                                    "local",   "param", "shared", "shared::cluster", "tex"};
  return kNames[static_cast<size_t>(space)];
}

const char* OpName(Op op) { return kOps[static_cast<size_t>(op)]; }

bool FindOp(const std::string& name, Op* op) {
  static const auto* const ops = [] {
    auto* map = new absl::flat_hash_map<std::string, Op>;
    for (size_t i = 0; i < std::size(kOps); ++i) map->emplace(kOps[i], static_cast<Op>(i));
    return map;
  }();
  auto it = ops->find(name);
  if (it == ops->end()) return false;
  *op = it->second;
  return true;
}

const SpecialRegister* FindSpecialRegister(const std::string& name) {
  static const auto* const registers = [] {
    auto* map = new absl::flat_hash_map<std::string, SpecialRegister>;
    const auto add = [map](const std::string& n, Type type, int elements, int version, int sm) {
      (*map)[n] = {n, type, elements, version, sm};
    };
#define PTX_SREG(id, name, type, version, sm, dynamic) add(name, Type::type, 1, version, sm);
#define PTX_SREG_VECTOR(id, name, version, sm) add(name, Type::kU32, 4, version, sm);
#define PTX_SREG_RANGE(id, prefix, suffix, count, type, version, sm) \
  for (int i = 0; i < count; ++i) add(prefix + std::to_string(i) + suffix, Type::type, 1, version, sm);
#include "emu/ptx/isa/special_registers.inc"
#undef PTX_SREG_RANGE
#undef PTX_SREG_VECTOR
#undef PTX_SREG
    return map;
  }();
  auto it = registers->find(name);
  return it == registers->end() ? nullptr : &it->second;
}

int TargetVersion(int sm, char suffix) {
  for (const TargetRow& row : kTargets)
    if (row.sm == sm)
      return suffix == 0 ? row.version : suffix == 'a' ? row.version_a : suffix == 'f' ? row.version_f : 0;
  return 0;
}

}  // namespace understudy::emu::ptx
