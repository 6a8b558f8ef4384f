// SPDX-License-Identifier: Apache-2.0
#pragma once
// The recursive-descent parser behind parse.h, a class whose parts stand in module_parser.cc (module level,
// functions), declarations.cc (variables, registers, initialisers), body.cc (statements, instructions) and
// operands.cc. Each Parse... answers false after it has reported an error; the caller then skips to where the
// next statement begins.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  // What stands before a declaration's name.
  struct DeclarationHead {
    Variable variable;
    bool has_type = false;
  };

  // module_parser.cc
  void ModuleStatement();
  bool ParseVersion();
  bool ParseTarget();
  bool ParseAddressSize();
  bool ParseFile();
  bool ParseSection();
  bool ParsePragma();
  bool ParseAlias();
  bool ParseFunction(Linkage linkage, Location where, bool is_entry);
  bool ParseParameters(std::vector<Variable>* parameters, std::vector<int>* registers, Operand::Scope scope,
                       bool is_entry);
  bool ParseOneParameter(Variable* parameter, bool is_entry, bool allow_unnamed);
  bool ParsePerformanceDirective(Function* function, bool* known);
  bool ParseCounts(uint32_t* counts, const char* directive);
  bool ParseCount(uint32_t* count, const char* directive);
  bool AddFunction(Function function, int* index);
  bool CheckSameSignature(const Function& before, const Function& now);
  void ResolveAliases();
  Linkage AcceptLinkage(Location* where);

  // declarations.cc
  bool ParseVariableDeclaration(Linkage linkage);  // at a space; through ';'
  bool ParseRegisterDeclaration();                 // after .reg; through ';'
  bool ParseHead(DeclarationHead* head, const char* what);
  bool ParseTypeWord(Type* type);
  bool ParseName(const char* what, std::string_view* name, Location* where);
  bool ParseDimensions(Variable* variable, bool allow_open);
  bool FinishSize(Variable* variable);
  bool ParseInitializer(Variable* variable);
  bool ParseInitializerList(Variable* variable, size_t dimension, uint64_t* position);
  bool ParseInitializerValue(Variable* variable, uint64_t position);
  bool StoreConstant(Variable* variable, uint64_t offset, const Constant& value, Location where);
  bool ParseSymbolValue(Variable* variable, uint64_t offset, int shift, uint64_t mask);
  bool DeclareVariable(Variable variable);
  int AddRegister(std::string name, Type type);
  int AddVectorRegister(std::string_view name, Type type, int vector);

  // body.cc
  void ParseBody();
  bool Statement();
  bool DirectiveStatement();
  bool LabelStatement();
  bool ParseLoc();
  bool ParseBranchTargets(std::string_view label, Location where);
  bool ParseCallTargets(std::string_view label, Location where);
  bool ParseCallPrototype(std::string_view label, Location where);
  bool ParseInstruction();
  const Mnemonic& ReadMnemonic();
  void CloseScope();
  void ResolveLabel(const LabelUse& use, const LabelEntry& entry);

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
  std::vector<std::unique_ptr<std::string>> range_names_;  // "L3" of .branchtargets L<5>
  uint64_t initialised_bytes_ = 0;
  struct AliasLine {
    int function;
    Location location;
  };
  std::vector<AliasLine> aliases_;

  Function* function_ = nullptr;  // whose body or header is being parsed
  Scopes scopes_;
  bool in_group_ = false;            // among the arguments of call
  std::string_view parameter_name_;  // of ParseOneParameter, in the text
  std::string_view declared_name_;   // of the variable being declared
};

}  // namespace understudy::emu::ptx
