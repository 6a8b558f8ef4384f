// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constant expressions of PTX (PTX ISA, "Constant Expressions" and the table "Constant Expression Evaluation
// Rules"), evaluated while they are parsed. Also the cursor over tokens that all of the parser shares.

#include <string>
#include <vector>

#include "emu/ptx/parse/lexer.h"

namespace understudy::emu::ptx {

class Cursor {
 public:
  Cursor(std::vector<Token> tokens, Diagnostics* diagnostics)
      : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  const Token& Peek(size_t ahead = 0) const {
    return position_ + ahead < tokens_.size() ? tokens_[position_ + ahead] : tokens_.back();
  }
  const Token& Next() {
    const Token& token = Peek();
    if (position_ + 1 < tokens_.size()) ++position_;
    return token;
  }
  size_t position() const { return position_; }
  void Rewind(size_t position) { position_ = position; }

  bool AtEnd() const { return Peek().kind == Token::Kind::kEnd; }
  bool IsPunct(const char* text, size_t ahead = 0) const {
    return Peek(ahead).kind == Token::Kind::kPunct && Peek(ahead).text == text;
  }
  bool IsDot(const char* text, size_t ahead = 0) const {
    return Peek(ahead).kind == Token::Kind::kDot && Peek(ahead).text == text;
  }
  bool IsName(size_t ahead = 0) const { return Peek(ahead).kind == Token::Kind::kName; }
  bool AcceptPunct(const char* text) {
    if (!IsPunct(text)) return false;
    Next();
    return true;
  }
  bool AcceptDot(const char* text) {
    if (!IsDot(text)) return false;
    Next();
    return true;
  }
  // False with an error "expected `text` <where>, got ...".
  bool Expect(const char* text, const std::string& where) {
    if (AcceptPunct(text)) return true;
    return Fail(Peek().location,
                std::string("expected '") + text + "' " + where + ", got " + Describe(Peek()));
  }
  // Always false.
  bool Fail(Location location, std::string message) {
    diagnostics_->Error(location, std::move(message));
    return false;
  }
  bool Fail(std::string message) { return Fail(Peek().location, std::move(message)); }
  Diagnostics& diagnostics() { return *diagnostics_; }

 private:
  std::vector<Token> tokens_;
  size_t position_ = 0;
  Diagnostics* diagnostics_;
};

struct Constant {
  enum class Kind : uint8_t { kS64, kU64, kF64, kF32 };  // kF32: a 0f literal, perhaps with a sign
  Kind kind = Kind::kS64;
  uint64_t bits = 0;
  bool IsFloat() const { return kind == Kind::kF64 || kind == Kind::kF32; }
  double AsDouble() const;  // of a float
};

// Whether a constant expression can begin here.
bool StartsConstant(const Cursor& cursor);
// A whole expression (ternary included). False after an error.
bool ParseConstant(Cursor* cursor, Constant* value);
// A sum's term, no + and - outside parentheses: what follows "[%r1 +".
bool ParseConstantTerm(Cursor* cursor, Constant* value);
// The same where only an integer will do; `what` names it in the message.
bool ParseInteger(Cursor* cursor, const char* what, Constant* value);

}  // namespace understudy::emu::ptx
