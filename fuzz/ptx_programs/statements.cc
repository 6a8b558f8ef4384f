// SPDX-License-Identifier: Apache-2.0
// Statements that compute registers from registers.
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {
namespace {

int RegisterBits(char letter) {
  return letter == 'h' || letter == 'N' ? 16 : letter == 'l' || letter == 'm' || letter == 'd' ? 64 : 32;
}

bool StartsWith(const std::string& name, const char* start) { return name.rfind(start, 0) == 0; }

bool IsShortHighProduct(const Form& form) {
  return StartsWith(form.name, "mad.hi.") && form.name.find("64") == std::string::npos;
}

// avoided.inc says why, of these too.
bool HidesSource(const Form& form, size_t k) {
  const bool last = k + 1 == form.operands.size();
  if (form.group == FormGroup::kConvert) return form.operands[k] != 'i';
  if (form.group == FormGroup::kHalf) return StartsWith(form.name, "abs.");
  return last && (IsShortHighProduct(form) || StartsWith(form.name, "slct."));
}

bool HidesResult(const Form& form) {
  if (StartsWith(form.name, "set.")) return form.name.find(".f32.") != std::string::npos;
  if (form.group != FormGroup::kConvert) return false;
  // To a narrow integer from a float.
  for (const char* type : {".u8.f", ".s8.f", ".u16.f", ".s16.f"})
    if (form.name.find(type) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string Generator::Temp(char kind) {
  switch (kind) {
    case 'r':
      return Cat{"%t", temps_[0]++};
    case 'l':
      return Cat{"%a", temps_[1]++};
    case 'h':
      return Cat{"%s", temps_[2]++};
    default:
      return Cat{"%q", temps_[3]++};
  }
}

std::string Generator::Register(char letter) {
  switch (letter) {
    case 'h':
    case 'N':
      return H();
    case 'l':
    case 'm':
      return L();
    case 'p':
      return P();
    case 'f':
      return random_.Chance(50) ? F() : R();
    case 'd':
      return random_.Chance(50) ? D() : L();
    default:
      return R();
  }
}

std::string Generator::Source(const Form& form, char letter, std::string& before) {
  const bool constant = form.immediates && random_.Chance(20);
  const auto integer = [&](int bits) {
    uint64_t v = random_.Next();
    if (random_.Chance(60)) v &= 255;
    if (random_.Chance(20)) v = uint64_t{1} << random_.Below(bits);
    if (bits < 64) v &= (uint64_t{1} << bits) - 1;
    // A constant of 16 bits is written as a number of its type: small enough for signed ones.
    if (bits == 16) v &= 0x7fff;
    if (bits == 32) v &= 0x7fffffff;
    if (bits == 64) v &= 0x7fffffffffffffff;
    return v;
  };
  switch (letter) {
    case 'i':
      return absl::StrFormat("0x%x", random_.Below(256));
    case 's': {
      // A constant position past the register is not what one in a register is.
      if (constant) {
        const int position = random_.Below(form.name.compare(0, 2, "bf") == 0 ? 32 : 70);
        return Cat{form.name == "shl.b64" ? position % 64 : position};
      }
      // Not known to be a float's bits: an assembler that knows may take the float's integer.
      if (random_.Chance(30)) return Opaque(32, R(), before);
      const std::string t = Temp('r');
      absl::StrAppend(&before, "and.b32 ", t, ", ", R(), ", 63;\n");
      return t;
    }
    case 'k': {
      const std::string t = Temp('r');
      absl::StrAppend(&before, "and.b32 ", t, ", ", R(), ", 31;\n");
      return t;
    }
    case 'N':
    case 'n':
    case 'm': {
      const int bits = letter == 'N' ? 16 : letter == 'n' ? 32 : 64;
      if (constant) return Cat{integer(bits) | 1};
      const char kind = letter == 'N' ? 'h' : letter == 'n' ? 'r' : 'l';
      const std::string t = Temp(kind), from = Register(kind);
      absl::StrAppend(&before, "or.b", bits, " ", t, ", ", from, ", 1;\n");
      return t;
    }
    case 'h':
      return constant ? Cat{integer(16)} : Register('h');
    case 'r':
      return constant ? Cat{integer(32)} : Register('r');
    case 'l':
      return constant ? Cat{integer(64)} : Register('l');
    case 'p':
      return Register('p');
    default:
      return Register(letter);
  }
}

std::string Generator::Settle(const std::string& reg) {
  const std::string q = Temp('p');
  return Cat{"testp.notanumber.f64 ",  q,   ", ", reg, ";\nselp.f64 ", reg,
             ", 0d7FF8000000000000, ", reg, ", ", q,   ";\n"};
}

std::string Generator::SettleSingle(const std::string& reg) {
  const std::string q = Temp('p');
  return Cat{"testp.notanumber.f32 ", q,   ", ", reg, ";\nselp.f32 ", reg,
             ", 0f7FFFFFFF, ",        reg, ", ", q,   ";\n"};
}

// Of f16, bf16 and pairs of them: `name` ends in the type.
std::string Generator::SettleHalf(const std::string& reg, const std::string& name) {
  const std::string type = name.substr(name.rfind('.') + 1), q = Temp('p');
  if (type.back() != '2')
    return Cat{"setp.nan.",    type, " ",         q,   ", ", reg, ", ", reg,
               ";\nselp.b16 ", reg,  ", 32767, ", reg, ", ", q,   ";\n"};
  const std::string q2 = Temp('p'), low = Temp('h'), high = Temp('h');
  return Cat{"setp.nan.",
             type,
             " ",
             q,
             "|",
             q2,
             ", ",
             reg,
             ", ",
             reg,
             ";\nmov.b32 {",
             low,
             ", ",
             high,
             "}, ",
             reg,
             ";\nselp.b16 ",
             low,
             ", 32767, ",
             low,
             ", ",
             q,
             ";\nselp.b16 ",
             high,
             ", 32767, ",
             high,
             ", ",
             q2,
             ";\nmov.b32 ",
             reg,
             ", {",
             low,
             ", ",
             high,
             "};\n"};
}

std::string Generator::Opaque(int bits, const std::string& reg, std::string& before) {
  const std::string t = Temp(bits == 16 ? 'h' : bits == 32 ? 'r' : 'l');
  absl::StrAppend(&before, "xor.b", bits, " ", t, ", ", reg, ", ",
                  bits == 16   ? "%none"
                  : bits == 32 ? "%zero"
                               : "%nothing",
                  ";\n");
  return t;
}

std::string Generator::Hide(const std::string& reg) {
  const char kind = reg[1];
  return kind == 'l'   ? Cat{"xor.b64 ", reg, ", ", reg, ", %nothing;\n"}
         : kind == 'h' ? Cat{"xor.b16 ", reg, ", ", reg, ", %none;\n"}
                       : Cat{"xor.b32 ", reg, ", ", reg, ", %zero;\n"};
}

std::string Generator::Pins(const std::string& text) {
  std::string pins;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line[0] == '@') line = line.substr(std::min(line.find(' '), line.size() - 1) + 1);
    const size_t first = line.find(" %"), list = line.find(" {");
    for (const char* other : {"st", "red.", "bar", "bra", "cp.", "call", "brx"})
      if (StartsWith(line, other)) line = "";
    if (line.empty() || (first == std::string::npos && list == std::string::npos)) continue;
    const bool several = list < first;
    const size_t stop = line.find(several ? '}' : ',');
    for (size_t k = line.find('%'); k < stop; k = line.find('%', k + 1)) {
      const char kind = line[k + 1];
      const std::string reg = line.substr(k, 3);
      if (std::string("rlhfdp").find(kind) == std::string::npos || !absl::ascii_isdigit(reg.back()) ||
          pins.find(reg + ";") != std::string::npos || pins.find(reg + " ") != std::string::npos)
        continue;
      if (kind == 'p') {
        const std::string t = Temp('r');
        absl::StrAppend(&pins, "selp.u32 ", t, ", 1, 0, ", reg, ";\n@%never st.global.u32 [%own], ", t,
                        ";\n");
      } else {
        const char* const type = kind == 'h' ? "b16" : kind == 'l' || kind == 'd' ? "b64" : "b32";
        absl::StrAppend(&pins, "@%never st.global.", type, " [%own], ", reg, ";\n");
      }
    }
  }
  return pins;
}

std::string Generator::Instruction(const Form& form) {
  std::string before, line;
  // Assemblers expand these, and guard less than all of what they become.
  const bool expands = form.group == FormGroup::kCompare || form.group == FormGroup::kConvert;
  if (!expands && random_.Chance(10)) line = Cat{"@", random_.Chance(50) ? "!" : "", P(), " "};
  if (IsShortHighProduct(form)) line = "";
  const std::string to = Register(form.operands[0]);
  absl::StrAppend(&line, form.name, " ", to);
  // To an assembler the smaller of a number and itself is that number, whatever kind of NaN it is; the
  // negative of a NaN any NaN; the reciprocal of an approximate reciprocal the number.
  const std::string operation = form.name.substr(0, 3);
  const bool extremum = operation == "min" || operation == "max";
  const bool settles = ((operation == "neg" || operation == "abs") && form.group != FormGroup::kInteger &&
                        form.operands[0] != 'd') ||
                       (extremum && form.operands[0] == 'f');
  bool any_register = false;
  for (size_t k = 1; k < form.operands.size(); ++k) {
    std::string source = Source(form, form.operands[k], before);
    // Not all of them constants: an assembler need not take that.
    if (k + 1 == form.operands.size() && !any_register && source[0] != '%' && form.operands[k] != 'i') {
      const char letter = form.operands[k];
      source = letter == 's' ? Opaque(32, R(), before) : Register(letter);
      if (letter == 'N' || letter == 'n' || letter == 'm') {
        Form plain = form;
        plain.immediates = false;
        source = Source(plain, letter, before);
      }
    }
    const bool float_extremum =
        extremum && (form.group == FormGroup::kFloat || form.group == FormGroup::kHalf);
    if ((float_extremum && k == 2) || (form.group == FormGroup::kApproximate && form.operands[k] == 'f') ||
        HidesSource(form, k))
      source = Opaque(RegisterBits(form.operands[k]), source, before);
    any_register = any_register || source[0] == '%';
    absl::StrAppend(&line, ", ", source);
  }
  line += ";\n";
  if (form.operands[0] == 'd') line += Settle(to);
  if (settles) line += form.operands[0] == 'f' ? SettleSingle(to) : SettleHalf(to, form.name);
  if (HidesResult(form)) line += Hide(to);
  return before + line;
}

Node Generator::FormStatement(FormGroup group) {
  const auto& forms = FormsOf(group);
  return {
      Instruction(*forms[static_cast<size_t>(random_.Below(static_cast<int>(forms.size())))]), "", {}, true};
}

// Sums, differences and products of several words, with carries.
Node Generator::Carry() {
  const bool wide = random_.Chance(30);
  const std::string type = wide ? (random_.Chance(50) ? "u64" : "s64") : (random_.Chance(50) ? "u32" : "s32");
  const char kind = wide ? 'l' : 'r';
  const int words = 2 + random_.Below(3);
  const int operation = random_.Below(3);
  std::string text;
  std::vector<std::string> results;
  for (int k = 0; k < words; ++k) {
    const bool last = k + 1 == words;
    std::string name;
    if (operation < 2) {
      name = Cat{operation == 0 ? "add" : "sub", k == 0 ? "" : "c", last ? "" : ".cc", ".", type};
    } else {
      name = Cat{k == 0 ? "mad" : "madc", random_.Chance(50) ? ".lo" : ".hi", last ? "" : ".cc", ".", type};
    }
    results.push_back(Temp(kind));
    absl::StrAppend(&text, name, " ", results.back(), ", ", Register(kind));
    absl::StrAppend(&text, ", ", Register(kind));
    if (operation == 2) absl::StrAppend(&text, ", ", Register(kind));
    text += ";\n";
  }
  for (const std::string& result : results) {
    const std::string to = Register(kind);
    absl::StrAppend(&text, "xor.b", wide ? 64 : 32, " ", to, ", ", to, ", ", result, ";\n");
  }
  return {text, "", {}, true};
}

// Packing and unpacking, and what a thread is told of itself.
Node Generator::Move() {
  std::string text;
  switch (random_.Below(8)) {
    case 0:
      text = Cat{"mov.b32 ", R(), ", {", H(), ", ", H(), "};\n"};
      break;
    case 1: {
      const int first = random_.Below(4);
      text = Cat{"mov.b32 {%h", first, ", %h", (first + 1 + random_.Below(3)) % 4, "}, ", R(), ";\n"};
      break;
    }
    case 2:
      text = Cat{"mov.b64 ", L(), ", {", R(), ", ", R(), "};\n"};
      break;
    case 3: {
      const int first = random_.Below(8);
      text = Cat{"mov.b64 {%r", first, ", %r", (first + 1 + random_.Below(7)) % 8, "}, ", L(), ";\n"};
      break;
    }
    case 4:
      text = Cat{"mov.b64 ", L(), ", {", H(), ", ", H(), ", ", H(), ", ", H(), "};\n"};
      break;
    case 5:
      text = random_.Chance(50) ? Cat{"mov.b64 {%h0, %h1, %h2, %h3}, ", L(), ";\n"}
                                : Cat{"mov.b64 {%h2, _, %h0, _}, ", L(), ";\n"};
      break;
    case 6: {
      static constexpr const char* kSpecial[] = {"tid.x",       "tid.y",       "tid.z",       "ntid.x",
                                                 "ntid.y",      "ntid.z",      "ctaid.x",     "ctaid.y",
                                                 "nctaid.x",    "laneid",      "lanemask_eq", "lanemask_le",
                                                 "lanemask_lt", "lanemask_ge", "lanemask_gt"};
      const std::string to = R(), t = Temp('r');
      text =
          Cat{"mov.u32 ", t, ", %", kSpecial[random_.Below(15)], ";\nxor.b32 ", to, ", ", to, ", ", t, ";\n"};
      break;
    }
    default:
      text = random_.Chance(50) ? Cat{"mov.b32 ", F(), ", ", R(), ";\n"}
                                : Cat{"mov.b64 ", D(), ", ", L(), ";\n"};
      if (text.find("%d") != std::string::npos) text += Settle(text.substr(8, 3));
  }
  return {text, "", {}, true};
}

std::string Generator::Comparison(const std::string& p) {
  static constexpr const char* kOrders[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const char* const order = kOrders[random_.Below(6)];
  if (writes_function_) {  // never the same one twice
    const std::string t = Temp('r'), u = Temp('r');
    return Cat{"add.u32 ",
               t,
               ", ",
               R(),
               ", ",
               256 * ++comparisons_,
               ";\nshr.u32 ",
               u,
               ", ",
               t,
               ", ",
               8 + random_.Below(16),
               ";\nand.b32 ",
               u,
               ", ",
               u,
               ", 1;\nsetp.ne.u32 ",
               p,
               ", ",
               u,
               ", 0;\n"};
  }
  switch (random_.Below(6)) {
    case 0:
      return Cat{"setp.", order, ".u32 ", p, ", ", R(), ", ", R(), ";\n"};
    case 1:
      return Cat{"setp.", order, ".s64 ", p, ", ", L(), ", ", L(), ";\n"};
    case 2:
      return Cat{"setp.", order, ".f32 ", p, ", ", R(), ", ", F(), ";\n"};
    case 3:
      return Cat{"setp.", order, ".s16 ", p, ", ", H(), ", ", random_.Below(100), ";\n"};
    default: {  // a bit of a register, which parts lanes about evenly
      const std::string t = Temp('r');
      return Cat{"and.b32 ",        t, ", ", R(), ", ",    1 << random_.Below(8),
                 ";\nsetp.ne.u32 ", p, ", ", t,   ", 0;\n"};
    }
  }
}

// A comparison that gives its result, the opposite, and joins a third predicate.
Node Generator::TwoPredicates() {
  static constexpr const char* kOrders[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static constexpr const char* kFloatOrders[] = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  static constexpr const char* kJoins[] = {".and", ".or", ".xor"};
  const int first = random_.Below(4), second = (first + 1 + random_.Below(3)) % 4;
  const std::string pair = Cat{"%p", first, "|%p", second};
  if (random_.Chance(20)) {
    const std::string type = random_.Chance(50) ? "f16x2" : "bf16x2";
    return {Cat{"setp.", random_.Chance(50) ? kOrders[random_.Below(6)] : kFloatOrders[random_.Below(8)], ".",
                type, " ", pair, ", ", R(), ", ", R(), ";\n"},
            "",
            {},
            true};
  }
  const bool is_float = random_.Chance(40);
  const std::string order =
      is_float && random_.Chance(50) ? kFloatOrders[random_.Below(8)] : kOrders[random_.Below(6)];
  static constexpr const char* kFloats[] = {"f32", "f64", "f16", "bf16"};
  static constexpr const char* kInts[] = {"u32", "s32", "u64", "s64", "u16", "s16"};
  static constexpr char kFloatKinds[] = "fdhh", kIntKinds[] = "rrllhh";
  const int k = random_.Below(is_float ? 4 : 6);
  const char kind = is_float ? kFloatKinds[k] : kIntKinds[k];
  const bool joins = random_.Chance(70);
  std::string text = Cat{"setp.",
                         order,
                         joins ? kJoins[random_.Below(3)] : "",
                         ".",
                         is_float ? kFloats[k] : kInts[k],
                         " ",
                         !(is_float && kind == 'h') && random_.Chance(70) ? pair : P()};
  absl::StrAppend(&text, ", ", Register(kind));
  absl::StrAppend(&text, ", ", Register(kind));
  if (joins) absl::StrAppend(&text, ", ", Cat{random_.Chance(50) ? "!" : "", P()});
  return {text + ";\n", "", {}, true};
}

}  // namespace understudy::ptx_programs
