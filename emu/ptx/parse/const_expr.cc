// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/const_expr.h"

#include <cstring>

namespace understudy::emu::ptx {
namespace {

using Kind = Constant::Kind;
constexpr int kMaxDepth = 200;

double DoubleOf(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
Constant FromDouble(double value) {
  Constant c{Kind::kF64, 0};
  std::memcpy(&c.bits, &value, sizeof value);
  return c;
}
Constant FromBool(bool value) { return {Kind::kS64, value ? 1u : 0u}; }

// Binary operators by precedence, loosest first; the ternary is above them.
struct Operator {
  const char* text;
  int level;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
constexpr int kTermLevel = 10;

class Evaluator {
 public:
  explicit Evaluator(Cursor* cursor) : cursor_(*cursor) {}

  bool Ternary(Constant* value) {
    Depth depth(this);
    if (!depth.ok) return TooDeep();
    if (!Binary(1, value)) return false;
    const Location where = cursor_.Peek().location;
    if (!cursor_.AcceptPunct("?")) return true;
    if (value->IsFloat()) return cursor_.Fail(where, "the condition of '?' is a float: expected an integer");
    Constant yes, no;
    if (!Ternary(&yes)) return false;
    if (!cursor_.Expect(":", "between the values of '?'")) return false;
    if (!Ternary(&no)) return false;
    if (yes.IsFloat() || no.IsFloat())
      return cursor_.Fail(where, "a value of '?' is a float: expected integers");
    *value = value->bits != 0 ? yes : no;  // with its own sign, as in ptxas
    return true;
  }

  bool Binary(int level, Constant* value) {
    Token first = cursor_.Peek();
    if (!Unary(value)) return false;
    for (;;) {
      const Token& token = cursor_.Peek();
      int found = 0;
      if (token.kind == Token::Kind::kPunct)
        for (const Operator& op : kOperators)
          if (token.text == op.text) found = op.level;
      if (found < level || found == 0) return true;
      const std::string op(token.text);
      const Location where = token.location;
      if (first.kind == Token::Kind::kF32) return Bare(first);
      first = cursor_.Next();
      if (cursor_.Peek().kind == Token::Kind::kF32) return Bare(cursor_.Peek());
      Constant right;
      if (!Binary(found + 1, &right)) return false;
      if (!Apply(op, where, right, value)) return false;
    }
  }

 private:
  struct Depth {
    explicit Depth(Evaluator* e) : evaluator(e), ok(++e->depth_ <= kMaxDepth) {}
    ~Depth() { --evaluator->depth_; }
    Evaluator* evaluator;
    bool ok;
  };
  bool TooDeep() {
    return cursor_.Fail("a constant expression is nested more than " + std::to_string(kMaxDepth) + " deep");
  }

  bool Unary(Constant* value) {
    Depth depth(this);
    if (!depth.ok) return TooDeep();
    const Token token = cursor_.Peek();
    switch (token.kind) {
      case Token::Kind::kInteger:
        *value = {Kind::kS64, token.value};
        break;
      case Token::Kind::kUnsigned:
        *value = {Kind::kU64, token.value};
        break;
      case Token::Kind::kF64:
        *value = {Kind::kF64, token.value};
        break;
      case Token::Kind::kF32:
        *value = {Kind::kF32, token.value};
        break;
      case Token::Kind::kName:
        if (token.text != "WARP_SZ") return NotConstant(token);
        *value = {Kind::kS64, 32};
        break;
      case Token::Kind::kPunct:
        return Prefix(token, value);
      default:
        return NotConstant(token);
    }
    cursor_.Next();
    return true;
  }

  // ptxas has a 0f literal alone or in parentheses.
  bool Bare(const Token& token) {
    return cursor_.Fail(
        token.location,
        Describe(token) + " beside an operator: expected it in parentheses or a decimal number");
  }
  bool NotConstant(const Token& token) {
    return cursor_.Fail(token.location, "expected a constant, got " + Describe(token));
  }

  bool Prefix(const Token& token, Constant* value) {
    const std::string op(token.text);
    if (op == "(") {
      cursor_.Next();
      const bool to_signed = cursor_.IsDot("s64");
      if (to_signed || cursor_.IsDot("u64")) {
        cursor_.Next();
        if (!cursor_.Expect(")", "after the type of a cast") || !Unary(value)) return false;
        if (value->IsFloat()) return cursor_.Fail(token.location, "a cast of a float: expected an integer");
        value->kind = to_signed ? Kind::kS64 : Kind::kU64;
        return true;
      }
      return Ternary(value) && cursor_.Expect(")", "after a constant expression");
    }
    if (op != "+" && op != "-" && op != "!" && op != "~") return NotConstant(token);
    cursor_.Next();
    if (cursor_.Peek().kind == Token::Kind::kF32) return Bare(cursor_.Peek());
    if (!Unary(value)) return false;
    if (op == "-") {
      if (value->kind == Kind::kF32)
        value->bits ^= uint64_t{1} << 31;
      else if (value->kind == Kind::kF64)
        value->bits ^= uint64_t{1} << 63;
      else
        value->bits = -value->bits;
    } else if (op == "!" || op == "~") {
      if (value->IsFloat())
        return cursor_.Fail(token.location, "'" + op + "' of a float: expected an integer");
      *value = op == "!" ? FromBool(value->bits == 0) : Constant{Kind::kU64, ~value->bits};
    }
    return true;
  }

  // *value = *value op right.
  bool Apply(const std::string& op, Location where, const Constant& right, Constant* value) {
    if (value->IsFloat() || right.IsFloat()) return ApplyFloat(op, where, right, value);
    const uint64_t a = value->bits, b = right.bits;
    const bool is_unsigned = value->kind == Kind::kU64 || right.kind == Kind::kU64;
    const Kind usual = is_unsigned ? Kind::kU64 : Kind::kS64;
    const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    const bool less = is_unsigned ? a < b : sa < sb;
    if (op == "+") {
      *value = {usual, a + b};
    } else if (op == "-") {
      *value = {usual, a - b};
    } else if (op == "*") {
      *value = {usual, a * b};
    } else if (op == "/" || op == "%") {
      if (b == 0) return cursor_.Fail(where, "division by zero in a constant expression");
      if (op == "%")  // of .u64, whatever its operands' signs
        *value = {Kind::kU64, a % b};
      else if (is_unsigned)
        *value = {Kind::kU64, a / b};
      else  // INT64_MIN / -1 wraps
        *value = {Kind::kS64, sb == -1 ? -a : static_cast<uint64_t>(sa / sb)};
    } else if (op == "<<") {
      value->bits = a << (b & 63);  // counts are taken modulo 64, as ptxas does
    } else if (op == ">>") {
      value->bits = value->kind == Kind::kU64 ? a >> (b & 63) : static_cast<uint64_t>(sa >> (b & 63));
    } else if (op == "&") {
      *value = {usual, a & b};
    } else if (op == "|") {
      *value = {usual, a | b};
    } else if (op == "^") {
      *value = {usual, a ^ b};
    } else if (op == "&&") {
      *value = FromBool(a != 0 && b != 0);
    } else if (op == "||") {
      *value = FromBool(a != 0 || b != 0);
    } else if (op == "==" || op == "!=") {
      *value = FromBool((a == b) == (op == "=="));
    } else if (op == "<" || op == ">=") {
      *value = FromBool(less == (op == "<"));
    } else {
      *value = FromBool((less || a == b) == (op == "<="));
    }
    return true;
  }

  bool ApplyFloat(const std::string& op, Location where, const Constant& right, Constant* value) {
    if (!value->IsFloat() || !right.IsFloat())
      return cursor_.Fail(where, "'" + op + "' of an integer and a float: expected two of one kind");
    const double a = value->AsDouble(), b = right.AsDouble();
    if (op == "+")
      *value = FromDouble(a + b);
    else if (op == "-")
      *value = FromDouble(a - b);
    else if (op == "*")
      *value = FromDouble(a * b);
    else if (op == "/")
      *value = FromDouble(a / b);
    else if (op == "<")
      *value = FromBool(a < b);
    else if (op == ">")
      *value = FromBool(a > b);
    else if (op == "<=")
      *value = FromBool(a <= b);
    else if (op == ">=")
      *value = FromBool(a >= b);
    else if (op == "==")
      *value = FromBool(a == b);
    else if (op == "!=")
      *value = FromBool(a != b);
    else
      return cursor_.Fail(where, "'" + op + "' of floats: expected integers");
    return true;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

double Constant::AsDouble() const {
  if (kind == Kind::kF64) return DoubleOf(bits);
  const auto word = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

bool StartsConstant(const Cursor& cursor) {
  const Token& token = cursor.Peek();
  switch (token.kind) {
    case Token::Kind::kInteger:
    case Token::Kind::kUnsigned:
    case Token::Kind::kF64:
    case Token::Kind::kF32:
      return true;
    case Token::Kind::kName:
      return token.text == "WARP_SZ";
    case Token::Kind::kPunct: {
      if (token.text != "-" && token.text != "+" && token.text != "!" && token.text != "~" &&
          token.text != "(")
        return false;
      const Token& next = cursor.Peek(1);  // "!p" and "-r" are operands
      return token.text == "(" || next.kind != Token::Kind::kName || next.text == "WARP_SZ";
    }
    default:
      return false;
  }
}

bool ParseConstant(Cursor* cursor, Constant* value) { return Evaluator(cursor).Ternary(value); }
bool ParseConstantTerm(Cursor* cursor, Constant* value) {
  return Evaluator(cursor).Binary(kTermLevel, value);
}

bool ParseInteger(Cursor* cursor, const char* what, Constant* value) {
  const Location where = cursor->Peek().location;
  if (!ParseConstant(cursor, value)) return false;
  if (!value->IsFloat()) return true;
  return cursor->Fail(where, std::string(what) + " is a float: expected an integer");
}

}  // namespace understudy::emu::ptx
