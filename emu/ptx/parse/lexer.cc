// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/parse/lexer.h"

#include <cstdlib>
#include <cstring>
#include <locale>
#include <sstream>

namespace understudy::emu::ptx {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// The manual's "followsym".
bool IsFollow(char c) { return IsAlpha(c) || IsDigit(c) || c == '_' || c == '$'; }
int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

class Lexer {
 public:
  Lexer(std::string_view source, Diagnostics* diagnostics) : source_(source), diagnostics_(diagnostics) {}

  std::vector<Token> Run() {
    tokens_.reserve(source_.size() / 4 + 16);
    if (source_.substr(0, 3) == "\xEF\xBB\xBF") line_start_ = position_ = 3;  // UTF-8 byte order mark
    while (!diagnostics_->Full()) {
      const size_t before = position_;
      if (!SkipBlanks()) break;
      glued_ = position_ == before && !tokens_.empty();
      One();
    }
    glued_ = false;
    Begin();
    Push(Token::Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  char At(size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  Location Here() const { return {line_, static_cast<int>(position_ - line_start_) + 1}; }
  void Begin() { start_ = Here(); }
  void NewLine() {
    ++line_;
    line_start_ = position_ + 1;
  }
  void SkipLine() {
    while (position_ < source_.size() && source_[position_] != '\n') ++position_;
  }
  Token& Push(Token::Kind kind, std::string_view text, uint64_t value = 0) {
    tokens_.push_back({kind, glued_, start_, text, value});
    return tokens_.back();
  }

  // White space, comments and preprocessor lines. False at the end.
  bool SkipBlanks() {
    while (position_ < source_.size()) {
      const char c = source_[position_];
      if (c == '\n') {
        NewLine();
        ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++position_;
      } else if (c == '/' && At(1) == '/') {
        SkipLine();
      } else if (c == '/' && At(1) == '*') {
        Begin();
        const size_t end = source_.find("*/", position_ + 2);
        const size_t stop = end == std::string_view::npos ? source_.size() : end + 2;
        for (; position_ < stop; ++position_)
          if (source_[position_] == '\n') NewLine();
        if (end == std::string_view::npos) diagnostics_->Error(start_, "a comment '/*' has no end '*/'");
      } else if (c == '#' && FirstOfLine()) {
        PreprocessorLine();
      } else if (c == '\0' && source_.find_first_not_of('\0', position_) == std::string_view::npos) {
        position_ = source_.size();  // images carry their text with its terminator
      } else {
        return true;
      }
    }
    return false;
  }

  bool FirstOfLine() const {
    return source_.substr(line_start_, position_ - line_start_).find_first_not_of(" \t") ==
           std::string_view::npos;
  }

  // A preprocessor's line markers pass; what would need a preprocessor does not.
  void PreprocessorLine() {
    Begin();
    const size_t begin = position_ + 1;
    SkipLine();
    std::string_view line = source_.substr(begin, position_ - begin);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    size_t n = 0;
    while (n < line.size() && IsAlpha(line[n])) ++n;
    const std::string word(line.substr(0, n));
    if (n > 0 && word != "line" && word != "pragma" && word != "ident")
      diagnostics_->Error(start_, "'#" + word +
                                      "' needs a preprocessor: expected text that has been preprocessed "
                                      "(only '#line', '#pragma' and '# number' pass)");
  }

  void One() {
    Begin();
    const char c = At();
    if (IsAlpha(c) || ((c == '_' || c == '$' || c == '%') && IsFollow(At(1)))) return Name();
    if (c == '_') {
      Push(Token::Kind::kName, source_.substr(position_++, 1));
      return;
    }
    if (IsDigit(c)) return Number();
    if (c == '.') return Dot();
    if (c == '"') return String();
    Punctuation();
  }

  void Name() {
    const size_t begin = position_++;
    while (IsFollow(At())) ++position_;
    Push(Token::Kind::kName, source_.substr(begin, position_ - begin));
  }

  void Dot() {
    const size_t begin = ++position_;
    bool number = IsDigit(At());
    while (IsFollow(At()) || (At() == ':' && At(1) == ':' && IsFollow(At(2)))) {
      if (At() == ':') ++position_;
      number = number && (IsDigit(At()) || At() == 'e' || At() == 'E');
      ++position_;
    }
    if (position_ == begin) {
      diagnostics_->Error(start_, "'.' without a name: expected a directive, a type or a modifier");
      return;
    }
    if (number) {  // .5, .5e3
      position_ = begin - 1;
      return DecimalFloat();
    }
    Push(Token::Kind::kDot, source_.substr(begin, position_ - begin));
  }

  void String() {
    const size_t begin = ++position_;
    while (position_ < source_.size() && At() != '"' && At() != '\n') ++position_;  // no escapes
    if (At() != '"') {
      diagnostics_->Error(start_, "a string has no closing '\"' in its line");
      Push(Token::Kind::kString, source_.substr(begin, position_ - begin));
      return;
    }
    Push(Token::Kind::kString, source_.substr(begin, position_ - begin));
    ++position_;
  }

  void Punctuation() {
    static constexpr const char* kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (const char* pair : kPairs)
      if (At() == pair[0] && At(1) == pair[1]) {
        Push(Token::Kind::kPunct, source_.substr(position_, 2));
        position_ += 2;
        return;
      }
    const char c = At();
    if (c == '\0' || std::strchr("{}()[]<>,;:=+-*/%&|^~!?@", c) == nullptr) {
      char text[64];
      const bool printable = c > 32 && c < 127;
      std::snprintf(
          text, sizeof text,
          printable ? "the character '%c' has no meaning in PTX" : "the byte 0x%02X has no meaning in PTX",
          static_cast<unsigned char>(c));
      diagnostics_->Error(start_, text);
      // One message for a run of such bytes.
      while (position_ < source_.size()) {
        const unsigned char byte = static_cast<unsigned char>(source_[position_]);
        if ((byte < 32 && byte != 0 && byte != 27) ||
            (byte < 127 && byte > 31 && byte != static_cast<unsigned char>(c)))
          break;
        ++position_;
      }
      return;
    }
    Push(Token::Kind::kPunct, source_.substr(position_++, 1));
  }

  void Number() {
    const size_t begin = position_;
    const char kind = At() == '0' ? At(1) : '\0';
    if ((kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') && HexDigit(At(2)) < 16)
      return HexFloat(kind == 'f' || kind == 'F');
    int base = 10;
    if (kind == 'x' || kind == 'X') base = 16;
    if (kind == 'b' || kind == 'B') base = 2;
    if (base == 10) {
      size_t ahead = 0;
      while (IsDigit(At(ahead))) ++ahead;
      const bool exponent = (At(ahead) == 'e' || At(ahead) == 'E') &&
                            (IsDigit(At(ahead + 1)) ||
                             ((At(ahead + 1) == '+' || At(ahead + 1) == '-') && IsDigit(At(ahead + 2))));
      if ((At(ahead) == '.' && !IsAlpha(At(ahead + 1))) || exponent ||
          (At(ahead) == '.' && (At(ahead + 1) == 'e' || At(ahead + 1) == 'E') &&
           (IsDigit(At(ahead + 2)) || At(ahead + 2) == '+' || At(ahead + 2) == '-')))
        return DecimalFloat();
      if (At() == '0' && ahead > 1) base = 8;
    } else {
      position_ += 2;
    }
    const size_t digits = position_;
    uint64_t value = 0;
    bool overflow = false;
    while (HexDigit(At()) < base) {
      const uint64_t next = value * static_cast<uint64_t>(base) + static_cast<uint64_t>(HexDigit(At()));
      overflow = overflow ||
                 value > (~uint64_t{0} - static_cast<uint64_t>(HexDigit(At()))) / static_cast<uint64_t>(base);
      value = next;
      ++position_;
    }
    const bool none = position_ == digits;
    bool is_unsigned = false;
    if (At() == 'U') {
      is_unsigned = true;
      ++position_;
    }
    const bool tail = IsFollow(At());
    while (IsFollow(At())) ++position_;
    const std::string_view text = source_.substr(begin, position_ - begin);
    if (none || tail) {
      diagnostics_->Error(start_, "'" + std::string(text) + "' is not a number: expected digits of base " +
                                      std::to_string(base) + ", then at most the suffix U");
    } else if (overflow) {
      diagnostics_->Error(start_, "the integer " + std::string(text) + " does not fit into 64 bits");
    }
    // "of type .s64 where it fits, else .u64" (Integer Constants).
    Push(is_unsigned || value >> 63 ? Token::Kind::kUnsigned : Token::Kind::kInteger, text, value);
  }

  void HexFloat(bool single) {
    const size_t begin = position_;
    position_ += 2;
    const size_t digits = position_, wanted = single ? 8 : 16;
    uint64_t value = 0;
    while (HexDigit(At()) < 16) value = value << 4 | static_cast<uint64_t>(HexDigit(source_[position_++]));
    const size_t count = position_ - digits;
    const bool tail = IsFollow(At());
    while (IsFollow(At())) ++position_;
    const std::string_view text = source_.substr(begin, position_ - begin);
    if (count != wanted || tail)
      diagnostics_->Error(start_, "'" + std::string(text) + "' has " + std::to_string(count) +
                                      " hexadecimal digits: a literal with " +
                                      (single ? "0f has 8" : "0d has 16"));
    Push(single ? Token::Kind::kF32 : Token::Kind::kF64, text, value);
  }

  void DecimalFloat() {
    const size_t begin = position_;
    while (IsDigit(At())) ++position_;
    if (At() == '.') ++position_;
    while (IsDigit(At())) ++position_;
    if ((At() == 'e' || At() == 'E') &&
        (IsDigit(At(1)) || ((At(1) == '+' || At(1) == '-') && IsDigit(At(2))))) {
      position_ += 2;
      while (IsDigit(At())) ++position_;
    }
    const bool tail = IsFollow(At());
    while (IsFollow(At())) ++position_;
    const std::string_view text = source_.substr(begin, position_ - begin);
    if (tail)
      diagnostics_->Error(start_,
                          "'" + std::string(text) + "' is not a number: expected digits and an exponent");
    // The classic locale, whatever the process has set.
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    double value = 0;
    stream >> value;  // on overflow the largest finite value, replaced below
    if (stream.fail() && value > 1) value = __builtin_inf();
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    Push(Token::Kind::kF64, text, bits);
  }

  std::string_view source_;
  Diagnostics* diagnostics_;
  std::vector<Token> tokens_;
  size_t position_ = 0, line_start_ = 0;
  int line_ = 1;
  bool glued_ = false;
  Location start_;
};

}  // namespace

std::vector<Token> Lex(std::string_view source, Diagnostics* diagnostics) {
  return Lexer(source, diagnostics).Run();
}

std::string Describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end of the text";
    case Token::Kind::kString:
      return "a string";
    case Token::Kind::kDot:
      return "'." + std::string(token.text) + "'";
    default:
      return "'" + std::string(token.text) + "'";
  }
}

}  // namespace understudy::emu::ptx
