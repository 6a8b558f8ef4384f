// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/forms.h"

#include <algorithm>
#include <map>

namespace understudy::ptx_programs {
namespace {

struct Row {
  FormGroup group;
  const char* names;
  const char* operands;
  bool immediates;
};
constexpr Row kRows[] = {
#define FORM(group, names, operands, immediates) {FormGroup::group, names, operands, immediates},
#include "fuzz/ptx_programs/forms.inc"
#undef FORM
};

void Expand(const std::string& text, std::vector<std::string>& out) {
  const size_t open = text.find('{');
  if (open == std::string::npos) return out.push_back(text);
  const size_t close = text.find('}', open);
  for (size_t at = open + 1; at <= close;) {
    const size_t end = std::min(text.find('|', at), close);
    Expand(text.substr(0, open) + text.substr(at, end - at) + text.substr(close + 1), out);
    at = end + 1;
  }
}

// The letter of a type's register; 0: no type.
char Letter(const std::string& word) {
  static const std::map<std::string, char> letters = {
      {"u8", 'r'},    {"s8", 'r'},    {"u16", 'h'},  {"s16", 'h'},    {"b16", 'h'},   {"f16", 'h'},
      {"bf16", 'h'},  {"u32", 'r'},   {"s32", 'r'},  {"b32", 'r'},    {"f16x2", 'r'}, {"bf16x2", 'r'},
      {"u16x2", 'r'}, {"s16x2", 'r'}, {"f32", 'f'},  {"u64", 'l'},    {"s64", 'l'},   {"b64", 'l'},
      {"f64", 'd'},   {"tf32", 'r'},  {"pred", 'p'}, {"e4m3x2", 'h'}, {"e5m2x2", 'h'}};
  const auto it = letters.find(word);
  return it == letters.end() ? 0 : it->second;
}

std::vector<Form> MakeForms() {
  std::vector<Form> forms;
  for (const Row& row : kRows) {
    std::vector<std::string> names;
    Expand(row.names, names);
    for (const std::string& name : names) {
      std::vector<std::string> types;
      for (size_t at = 0; at < name.size();) {
        const size_t end = std::min(name.find('.', at), name.size());
        if (Letter(name.substr(at, end - at)) != 0) types.push_back(name.substr(at, end - at));
        at = end + 1;
      }
      Form form{row.group, name, row.operands, row.immediates};
      // An integer converted to its own type is a move.
      if (row.group == FormGroup::kConvert && types.size() == 2 && types[0] == types[1] && types[0][0] != 'f')
        continue;
      for (char& letter : form.operands) {
        if (letter == '*') letter = Letter(types.back());
        if (letter == '<') letter = Letter(types.front());
        if (letter == 'n')
          letter = Letter(types.back()) == 'h' ? 'N' : Letter(types.back()) == 'r' ? 'n' : 'm';
      }
      forms.push_back(form);
    }
  }
  return forms;
}

}  // namespace

const std::vector<Form>& AllForms() {
  static const std::vector<Form> forms = MakeForms();
  return forms;
}

const std::vector<const Form*>& FormsOf(FormGroup group) {
  static const std::map<FormGroup, std::vector<const Form*>> groups = [] {
    std::map<FormGroup, std::vector<const Form*>> out;
    for (const Form& form : AllForms()) out[form.group].push_back(&form);
    return out;
  }();
  return groups.at(group);
}

}  // namespace understudy::ptx_programs
