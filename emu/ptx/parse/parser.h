// SPDX-License-Identifier: Apache-2.0
#pragma once
// The recursive-descent parser behind parse.h, a class whose parts stand in module_parser.cc (module level),
// functions.cc (headers of functions), declarations.cc (variables, registers), initialisers.cc, body.cc
// (statements, instructions), operands.cc, calls.cc (calls against what is called) and debug_data.cc (.file,
// .loc, .section). Each Parse... answers false after it has reported an error; the caller then skips to where
// the next statement begins.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "emu/ptx/isa/directives.h"
#include "emu/ptx/parse/const_expr.h"
#include "emu/ptx/parse/legality.h"
#include "emu/ptx/parse/module.h"
#include "emu/ptx/parse/symbols.h"

namespace understudy::emu::ptx {

class Parser {
 public:
  Parser(std::string_view source, Module* module, Diagnostics* diagnostics);
  void Run();

 private:
  // A mnemonic that has been taken apart: the same text always means the same.
  struct Mnemonic {
    bool known = false;
    Op op{};
    std::vector<std::string> modifiers;
    std::vector<Type> types;
    std::vector<Space> spaces;
    FormChoice choice;
  };
  // What is declared, for what may stand before its name.
  enum class Declared : uint8_t { kVariable, kRegister, kKernelParameter, kFunctionParameter };
  // How far the module is: .version, .target, .address_size, the rest.
  enum class Stage : uint8_t { kVersion, kTarget, kAddressSize, kRest };

  // module_parser.cc
  void ModuleStatement();
  bool ModuleDirective(const Directive& directive, Linkage linkage, const Token& word);
  bool Begin(const Directive& directive, const Token& word);
  bool ParseVersion();
  bool ParseTarget();
  bool ParseTargetWord(const Token& word);
  bool ParseAddressSize();
  bool ParsePragma(DirectivePlace place);
  bool ParseAlias();
  void ResolveAliases();
  void CheckDefinitions();
  Linkage AcceptLinkage(Token* word);
  // Reports a directive that the module's version or target lacks; the parser goes on.
  void Require(const std::string& what, int since, int sm, Location where);
  void Require(DirectiveId id, Location where);

  // functions.cc
  bool ParseFunction(Linkage linkage, const Token& word, bool is_entry);
  bool ParseParameters(std::vector<Variable>* parameters, std::vector<int>* registers, Operand::Scope scope,
                       bool is_entry);
  bool ParseOneParameter(Variable* parameter, bool is_entry, bool allow_unnamed);
  bool CheckParameters(const std::vector<Variable>& parameters, Location where, bool is_entry);
  bool CheckReturns(const std::vector<Variable>& returns);
  bool ParseFunctionDirectives(const std::string& name, bool returns, bool* noreturn);
  bool ParsePerformanceDirectives(Function* function);
  bool ParsePerformanceDirective(const Directive& directive, const Token& word, Function* function);
  bool ParseCounts(uint32_t* counts, const std::string& directive, bool zero_is_none);
  bool ParseCount(uint32_t* count, const std::string& directive, bool zero_is_none = false);
  bool AddFunction(Function function, int* index);
  // Nothing where they are the same: "number of parameters", "the type of parameter 'a'" ...
  std::string SignatureDifference(const Function& a, const Function& b) const;

  // declarations.cc
  bool ParseVariableDeclaration(Linkage linkage, const Variable& attributes);  // at a space; through ';'
  bool ParseRegisterDeclaration();                                             // after .reg; through ';'
  bool ParseHead(Variable* variable, Declared declared);
  bool ParseAttributes(Variable* variable);
  bool ParseUnified();
  bool ParseAlignment(uint64_t* alignment);
  bool ParsePointer(Variable* variable);
  bool CheckType(const Variable& variable, Declared declared, Location where);
  bool ParseTypeWord(Type* type);
  bool ParseName(const char* what, std::string_view* name, Location* where);
  // An integer as it stands, or WARP_SZ: where the grammar has no expression.
  bool ParseLiteral(const std::string& what, uint64_t limit, Constant* value);
  bool ParseDimensions(Variable* variable, size_t most);
  bool FinishSize(Variable* variable);
  bool HasBanks() const;
  bool ParseBank(bool* banked);
  bool DeclareNumbered(const Variable& variable);
  bool DeclareVariable(Variable variable);
  bool CheckRedeclaration(const Variable& before, const Variable& now);
  bool Declare(std::string_view name, const Symbol& symbol, Location where);
  int AddRegister(std::string name, Type type);
  int AddVectorRegister(std::string_view name, Type type, int vector);

  // initialisers.cc
  bool ParseInitializer(Variable* variable);
  bool ParseInitializerList(Variable* variable, size_t dimension, uint64_t* position);
  bool ParseInitializerValue(Variable* variable, uint64_t position);
  bool ParseOpaqueInitializer(const Variable& variable);
  bool StoreConstant(Variable* variable, uint64_t offset, const Constant& value, Location where);
  bool ParseSymbolValue(Variable* variable, uint64_t offset, int shift, uint64_t mask);

  // debug_data.cc
  bool ParseFile();
  bool ParseLoc();
  bool ParseSection();
  bool ParseSectionValues(std::string_view type);
  bool ParseDwarfLine();
  void CheckDebugData();

  // body.cc
  void ParseBody();
  bool Statement();
  bool DirectiveStatement();
  bool LabelStatement();
  bool DeclareLabel(std::string_view name, const LabelEntry& entry, Location where);
  bool ParseInstruction();
  const Mnemonic& ReadMnemonic();
  void CloseScope();
  void ResolveLabel(const LabelUse& use, const LabelEntry& entry);

  // calls.cc
  bool ParseBranchTargets(std::string_view label, Location where);
  bool ParseCallTargets(std::string_view label, Location where);
  bool ParseCallPrototype(std::string_view label, Location where);
  bool CheckCall(const Instruction& call);
  bool CheckArguments(const std::string& callee, const std::vector<Variable>& formals, const Operand* group,
                      bool results, Location where);
  bool CheckArgument(const std::string& callee, const Variable& formal, const Operand& actual, bool result);

  // operands.cc
  bool ParseOperands(Instruction* instruction);
  bool ParseOperand(Instruction* instruction, Operand* operand);
  bool ParseNamed(Instruction* instruction, Operand* operand);
  bool ParseAddress(Instruction* instruction, Operand* operand);
  bool ParseAddressBase(Instruction* instruction, Operand* operand);
  bool ParseOffsets(int64_t* offset);
  bool ParseVector(Instruction* instruction, Operand* operand);
  bool ParseGroup(Instruction* instruction, Operand* operand);
  bool SpecialOperand(const Token& token, Operand* operand);
  Symbol Find(std::string_view name);
  std::string Suggest(std::string_view name);
  const Variable* VariableOf(const Operand& operand) const;

  // Skips what is left of a statement: past the next ';', or up to a '}' or a directive that begins a line.
  void Recover(bool in_body);
  bool Expect(const char* text, const std::string& where) { return cursor_.Expect(text, where); }
  bool Fail(Location where, std::string message) { return cursor_.Fail(where, std::move(message)); }

  std::string_view source_;
  Module& module_;
  Diagnostics& diagnostics_;
  Cursor cursor_;
  NameMap<Symbol> module_symbols_;
  NameMap<std::unique_ptr<Mnemonic>> mnemonics_;
  std::vector<std::unique_ptr<std::string>>
      range_names_;  // "L3" of .branchtargets L<5>, "x3" of .global x<5>
  uint64_t initialised_bytes_ = 0;
  struct AliasLine {
    int function;
    Location location;
  };
  std::vector<AliasLine> aliases_;
  Stage stage_ = Stage::kVersion;
  Location texmode_at_;          // of the word in .target
  uint64_t constant_bytes_ = 0;  // of .const variables

  // Names of debug data, for the end of the module.
  NameMap<Location> section_labels_;
  std::vector<std::pair<std::string_view, Location>> function_names_;  // of .loc
  bool has_section_ = false;
  struct Place {
    uint64_t file, line, column;
    bool operator==(const Place&) const = default;
    template <class H>
    friend H AbslHashValue(H hash, const Place& place) {
      return H::combine(std::move(hash), place.file, place.line, place.column);
    }
  };
  absl::flat_hash_set<Place> places_;           // of .loc
  absl::flat_hash_set<uint64_t> file_numbers_;  // of .file

  Function* function_ = nullptr;  // whose body or header is being parsed
  Scopes scopes_;
  bool in_group_ = false;            // among the arguments of call
  std::string_view parameter_name_;  // of ParseOneParameter, in the text
  std::string_view declared_name_;   // of the variable being declared
  std::string_view prototype_name_;  // of the call being parsed
};

}  // namespace understudy::emu::ptx
