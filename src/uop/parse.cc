// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/uop/print.h"

namespace understudy::uop {
namespace {

constexpr int kMaxSources = 1 << 16;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  absl::StatusOr<UOpRef> Run() {
    UOpRef last;
    while (true) {
      SkipBlankLines();
      if (AtEnd()) break;
      US_ASSIGN_OR_RETURN(last, Line());
    }
    if (last == nullptr) return Error("the text holds no node");
    return last;
  }

 private:
  bool AtEnd() const { return pos_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[pos_]; }

  void Advance() {
    if (text_[pos_] == '\n') {
      ++line_;
      line_start_ = pos_ + 1;
    }
    ++pos_;
  }
  void SkipSpaces() {
    while (!AtEnd() && (Peek() == ' ' || Peek() == '\t' || Peek() == '\r')) Advance();
    if (Peek() == '#') {
      while (!AtEnd() && Peek() != '\n') Advance();
    }
  }
  void SkipBlankLines() {
    SkipSpaces();
    while (!AtEnd() && Peek() == '\n') {
      Advance();
      SkipSpaces();
    }
  }

  template <class... A>
  absl::Status ErrorAt(size_t pos, const A&... what) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "line ", line_, ", column ", pos < line_start_ ? 1 : pos - line_start_ + 1, ": ", what...));
  }
  template <class... A>
  absl::Status Error(const A&... what) const {
    return ErrorAt(pos_, what...);
  }

  absl::Status Expect(char c) {
    SkipSpaces();
    if (AtEnd() || Peek() != c) return Error("expected '", std::string(1, c), "', found ", Found());
    Advance();
    return absl::OkStatus();
  }
  std::string Found() const {
    if (AtEnd()) return "the end of the text";
    if (Peek() == '\n') return "the end of the line";
    return absl::StrCat("'", std::string(1, Peek()), "'");
  }

  static bool IsWord(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  // Letters, digits, '_'; with `dtype` also '*'.
  absl::StatusOr<std::string> Word(const char* what, bool dtype = false) {
    SkipSpaces();
    const size_t begin = pos_;
    while (!AtEnd() && (IsWord(Peek()) || (dtype && Peek() == '*'))) Advance();
    if (pos_ == begin) return Error("expected ", what, ", found ", Found());
    return text_.substr(begin, pos_ - begin);
  }
  absl::StatusOr<std::string> Name() {
    US_RETURN_IF_ERROR(Expect('%'));
    if (!IsWord(Peek())) return Error("expected a name after '%', found ", Found());
    return Word("a name");
  }

  absl::StatusOr<UOpRef> Line() {
    const size_t name_pos = pos_;
    US_ASSIGN_OR_RETURN(const std::string name, Name());
    if (nodes_.contains(name)) return ErrorAt(name_pos, "%", name, " is defined twice");
    US_RETURN_IF_ERROR(Expect('='));
    SkipSpaces();
    const size_t op_pos = pos_;
    US_ASSIGN_OR_RETURN(const std::string op_name, Word("an op"));
    const absl::StatusOr<Op> op = ParseOp(op_name);
    if (!op.ok()) return ErrorAt(op_pos, op.status().message());
    SkipSpaces();
    const size_t dtype_pos = pos_;
    US_ASSIGN_OR_RETURN(const std::string dtype_name, Word("a dtype", true));
    const absl::StatusOr<DType> dtype = ParseDType(dtype_name);
    if (!dtype.ok()) return ErrorAt(dtype_pos, dtype.status().message());
    std::vector<UOpRef> src;
    for (SkipSpaces(); Peek() == '%'; SkipSpaces()) {
      const size_t src_pos = pos_;
      US_ASSIGN_OR_RETURN(const std::string src_name, Name());
      const auto it = nodes_.find(src_name);
      if (it == nodes_.end()) return ErrorAt(src_pos, "%", src_name, " is not defined");
      if (src.size() >= kMaxSources) return ErrorAt(src_pos, "more than ", kMaxSources, " sources");
      src.push_back(it->second);
    }
    Arg arg;
    if (Peek() == ':') {
      Advance();
      US_ASSIGN_OR_RETURN(arg, ParseArg());
    }
    SkipSpaces();
    if (!AtEnd() && Peek() != '\n') return Error("expected the end of the line, found ", Found());
    absl::StatusOr<UOpRef> node = UOp::MakeChecked(*op, *dtype, std::move(src), std::move(arg));
    if (!node.ok()) return ErrorAt(op_pos, node.status().message());
    nodes_.emplace(name, *node);
    return node;
  }

  absl::StatusOr<int64_t> Int() {
    SkipSpaces();
    const size_t begin = pos_;
    if (Peek() == '-') Advance();
    const size_t digits = pos_;
    while (!AtEnd() && Peek() >= '0' && Peek() <= '9') Advance();
    if (digits == pos_) return ErrorAt(begin, "expected an integer, found ", Found());
    const std::string word = text_.substr(begin, pos_ - begin);
    errno = 0;
    const int64_t v = std::strtoll(word.c_str(), nullptr, 10);
    if (errno == ERANGE) return ErrorAt(begin, "integer ", word.substr(0, 40), " does not fit 64 bits");
    return v;
  }
  absl::StatusOr<std::vector<int64_t>> IntList() {
    std::vector<int64_t> v;
    US_RETURN_IF_ERROR(Expect('['));
    SkipSpaces();
    if (Peek() == ']') {
      Advance();
      return v;
    }
    while (true) {
      US_ASSIGN_OR_RETURN(const int64_t x, Int());
      v.push_back(x);
      SkipSpaces();
      if (Peek() == ']') {
        Advance();
        return v;
      }
      US_RETURN_IF_ERROR(Expect(','));
    }
  }

  static int HexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }
  absl::StatusOr<std::string> String() {
    US_RETURN_IF_ERROR(Expect('"'));
    std::string out;
    while (!AtEnd() && Peek() != '"' && Peek() != '\n') {
      char c = Peek();
      if (c == '\\') {
        Advance();
        switch (Peek()) {
          case 'n':
            c = '\n';
            break;
          case 't':
            c = '\t';
            break;
          case '"':
          case '\\':
            c = Peek();
            break;
          case 'x': {
            const int hi = pos_ + 1 < text_.size() ? HexDigit(text_[pos_ + 1]) : -1;
            const int lo = pos_ + 2 < text_.size() ? HexDigit(text_[pos_ + 2]) : -1;
            if (hi < 0 || lo < 0) return Error("\\x needs two hexadecimal digits");
            c = static_cast<char>(hi * 16 + lo);
            Advance();
            Advance();
            break;
          }
          default:
            return Error("unknown escape in a string: expected n t x \" or \\, found ", Found());
        }
      }
      out += c;
      Advance();
    }
    if (Peek() != '"' || AtEnd()) return Error("the string does not end");
    Advance();
    return out;
  }

  // [-]0xH[.H][p[+-]D], inf, -inf or nan.
  absl::StatusOr<Arg> Double(size_t begin) {
    std::string word;
    for (; !AtEnd() && (IsWord(Peek()) || Peek() == '.' || Peek() == '+' || Peek() == '-'); Advance())
      word += Peek();
    if (word == "nan") return Arg(std::numeric_limits<double>::quiet_NaN());
    if (word == "inf") return Arg(std::numeric_limits<double>::infinity());
    if (word == "-inf") return Arg(-std::numeric_limits<double>::infinity());
    char* end = nullptr;
    const double v = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0')
      return ErrorAt(begin, "'", word.substr(0, 60), "' is no hexadecimal float");
    return Arg(v);
  }

  absl::StatusOr<Arg> ParseArg() {
    SkipSpaces();
    const size_t begin = pos_;
    if (Peek() == '"') {
      US_ASSIGN_OR_RETURN(std::string s, String());
      return Arg(std::move(s));
    }
    if (Peek() == '[') {
      US_ASSIGN_OR_RETURN(std::vector<int64_t> v, IntList());
      return Arg(std::move(v));
    }
    const size_t sign = Peek() == '-' ? 1 : 0;
    const auto at = [&](size_t i) { return pos_ + i < text_.size() ? text_[pos_ + i] : '\0'; };
    if (at(sign) == '0' && at(sign + 1) == 'x') return Double(begin);
    if (at(sign) >= '0' && at(sign) <= '9') {
      US_ASSIGN_OR_RETURN(const int64_t v, Int());
      return Arg(v);
    }
    if (sign) return Double(begin);
    US_ASSIGN_OR_RETURN(const std::string word, Word("an argument"));
    if (word == "nan" || word == "inf") {
      pos_ = begin;
      return Double(begin);
    }
    SkipSpaces();
    if (Peek() != '(') {
      const absl::StatusOr<Op> op = ParseOp(word);
      if (!op.ok())
        return ErrorAt(begin, "'", word,
                       "' is no argument: expected a number, string, list, op or reduce( range( buffer( var( "
                       "kernel( call( multi(");
      return Arg(*op);
    }
    Advance();
    Arg arg;
    if (word == "reduce") {
      SkipSpaces();
      const size_t op_pos = pos_;
      US_ASSIGN_OR_RETURN(const std::string op_name, Word("an op"));
      const absl::StatusOr<Op> op = ParseOp(op_name);
      if (!op.ok()) return ErrorAt(op_pos, op.status().message());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntList());
      arg = ReduceArg{*op, std::move(axes)};
    } else if (word == "range") {
      US_ASSIGN_OR_RETURN(const int64_t id, Int());
      US_RETURN_IF_ERROR(Expect(','));
      SkipSpaces();
      const size_t kind_pos = pos_;
      US_ASSIGN_OR_RETURN(const std::string kind_name, Word("an axis kind"));
      const absl::StatusOr<AxisKind> kind = ParseAxisKind(kind_name);
      if (!kind.ok()) return ErrorAt(kind_pos, kind.status().message());
      arg = RangeArg{id, *kind};
    } else if (word == "buffer") {
      BufferArg b;
      US_ASSIGN_OR_RETURN(const std::string id, Word("a buffer id"));
      errno = 0;
      char* end = nullptr;
      b.id = std::strtoull(id.c_str(), &end, 10);
      if (*end != '\0' || errno == ERANGE) return ErrorAt(begin, "'", id.substr(0, 40), "' is no buffer id");
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(b.device, String());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(b.size, Int());
      b.slot = std::make_shared<StorageSlot>();
      arg = std::move(b);
    } else if (word == "var") {
      VarArg v;
      US_ASSIGN_OR_RETURN(v.name, String());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(v.min, Int());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(v.max, Int());
      arg = std::move(v);
    } else if (word == "kernel") {
      KernelArg k;
      US_ASSIGN_OR_RETURN(k.name, String());
      arg = std::move(k);
    } else if (word == "call") {
      CallArg c;
      US_ASSIGN_OR_RETURN(c.name, String());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(c.outputs, IntList());
      US_RETURN_IF_ERROR(Expect(','));
      SkipSpaces();
      const size_t flag_pos = pos_;
      US_ASSIGN_OR_RETURN(const int64_t flag, Int());
      if (flag != 0 && flag != 1) return ErrorAt(flag_pos, "precompile is ", flag, ", expected 0 or 1");
      c.precompile = flag == 1;
      arg = std::move(c);
    } else if (word == "multi") {
      MultiArg m;
      US_ASSIGN_OR_RETURN(m.axis, Int());
      US_RETURN_IF_ERROR(Expect(','));
      US_ASSIGN_OR_RETURN(m.begin, IntList());
      for (SkipSpaces(); Peek() == ','; SkipSpaces()) {
        Advance();
        SkipSpaces();
        US_ASSIGN_OR_RETURN(std::string device, String());
        m.devices.push_back(std::move(device));
      }
      arg = std::move(m);
    } else {
      return ErrorAt(begin, "unknown argument '", word,
                     "(': expected reduce( range( buffer( var( kernel( call( multi(");
    }
    US_RETURN_IF_ERROR(Expect(')'));
    return arg;
  }

  const std::string& text_;
  size_t pos_ = 0;
  size_t line_ = 1;
  size_t line_start_ = 0;
  absl::flat_hash_map<std::string, UOpRef> nodes_;
};

}  // namespace

absl::StatusOr<UOpRef> Parse(const std::string& text) { return Parser(text).Run(); }

}  // namespace understudy::uop
