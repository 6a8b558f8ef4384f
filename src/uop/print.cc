// SPDX-License-Identifier: Apache-2.0
#include "src/uop/print.h"

#include <cmath>
#include <cstdio>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/uop/graph.h"

namespace understudy::uop {
namespace {

std::string Quote(const std::string& s) {
  std::string out = "\"";
  for (const unsigned char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c >= 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", c);
      out += hex;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

std::string List(const std::vector<int64_t>& v) { return absl::StrCat("[", absl::StrJoin(v, ","), "]"); }

std::string DoubleText(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char text[40];
  std::snprintf(text, sizeof text, "%a", d);
  return text;
}

struct ArgPrinter {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(double v) const { return DoubleText(v); }
  std::string operator()(const std::string& v) const { return Quote(v); }
  std::string operator()(const std::vector<int64_t>& v) const { return List(v); }
  std::string operator()(const ReduceArg& v) const {
    return absl::StrCat("reduce(", OpName(v.op), ", ", List(v.axes), ")");
  }
  std::string operator()(const RangeArg& v) const {
    return absl::StrCat("range(", v.id, ", ", AxisKindName(v.kind), ")");
  }
  std::string operator()(const BufferArg& v) const {
    return absl::StrCat("buffer(", v.id, ", ", Quote(v.device), ", ", v.size, ")");
  }
  std::string operator()(const VarArg& v) const {
    return absl::StrCat("var(", Quote(v.name), ", ", v.min, ", ", v.max, ")");
  }
  std::string operator()(const KernelArg& v) const { return absl::StrCat("kernel(", Quote(v.name), ")"); }
  std::string operator()(Op v) const { return OpName(v); }
  std::string operator()(const CallArg& v) const {
    return absl::StrCat("call(", Quote(v.name), ", ", List(v.outputs), ", ", v.precompile ? 1 : 0, ")");
  }
  // multi(axis, [begins], "device", ...)
  std::string operator()(const MultiArg& v) const {
    std::string out = absl::StrCat("multi(", v.axis, ", ", List(v.begin));
    for (const std::string& d : v.devices) absl::StrAppend(&out, ", ", Quote(d));
    return out + ")";
  }
};

}  // namespace

const char* InfixSymbol(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kFDiv:
      return "/";
    case Op::kIDiv:
      return "/t";
    case Op::kIMod:
      return "%t";
    case Op::kFloorDiv:
      return "//";
    case Op::kFloorMod:
      return "%";
    case Op::kAnd:
      return "&";
    case Op::kOr:
      return "|";
    case Op::kXor:
      return "^";
    case Op::kShl:
      return "<<";
    case Op::kShr:
      return ">>";
    case Op::kCmpLt:
      return "<";
    case Op::kCmpEq:
      return "==";
    case Op::kCmpNe:
      return "!=";
    default:
      return nullptr;
  }
}

std::string ArgText(const Arg& arg) { return std::visit(ArgPrinter{}, arg); }

std::string Print(const UOpRef& root) {
  std::string out;
  absl::flat_hash_map<const UOp*, size_t> number;
  for (const UOp* n : Toposort(root)) {
    const size_t id = number.size();
    number.emplace(n, id);
    absl::StrAppend(&out, "%", id, " = ", OpName(n->op()), " ", n->dtype().Name());
    for (const UOpRef& s : n->src()) absl::StrAppend(&out, " %", number.at(s.get()));
    if (n->has_arg()) absl::StrAppend(&out, " : ", ArgText(n->arg()));
    out += '\n';
  }
  return out;
}

std::string Infix(const UOpRef& node, int depth) {
  switch (node->op()) {
    case Op::kConst: {
      const std::string value = ConstText(node->dtype().Element(), node->value());
      return node->dtype() == dtypes::kIndex ? value : absl::StrCat(value, ":", node->dtype().Name());
    }
    case Op::kVar:
      return node->arg_as<VarArg>().name;
    case Op::kRange:
      return absl::StrCat("r", node->arg_as<RangeArg>().id);
    case Op::kSpecial:
      return node->arg_as<std::string>();
    default:
      break;
  }
  if (depth <= 0) return "...";
  if (node->num_src() == 2 && InfixSymbol(node->op()) != nullptr) {
    return absl::StrCat("(", Infix(node->src(0), depth - 1), " ", InfixSymbol(node->op()), " ",
                        Infix(node->src(1), depth - 1), ")");
  }
  std::vector<std::string> parts;
  for (const UOpRef& s : node->src()) parts.push_back(Infix(s, depth - 1));
  const std::string arg = ArgText(node->arg());
  if (!arg.empty()) parts.push_back(arg);
  return absl::StrCat(OpName(node->op()), ":", node->dtype().Name(), "(", absl::StrJoin(parts, ", "), ")");
}

}  // namespace understudy::uop
