// SPDX-License-Identifier: Apache-2.0
#pragma once
// LLVM MC as the oracle of encodings: text of bytes and bytes of text, for x86-64 (Intel syntax) and AArch64.

#include <cstdint>
#include <string>
#include <vector>

namespace understudy::test {

class Mc {
 public:
  explicit Mc(bool x86);
  ~Mc();
  // One instruction at address 0: "mnemonic\toperands" without comments, and its length; "" when there is
  // none.
  std::string Disassemble(const uint8_t* code, size_t size, size_t* length) const;
  // Empty when MC refuses the text; `error` then says why.
  std::vector<uint8_t> Assemble(const std::string& text, std::string* error) const;

 private:
  const bool x86_;
  void* disassembler_;
};

}  // namespace understudy::test
