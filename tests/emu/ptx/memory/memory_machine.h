// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster of CTAs whose warps execute snippets of straight-line PTX one instruction after the other, with
// the parser in front and the memory executors behind, and nothing of the scheduler between. Tests set
// registers and memory, run, and look.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

class MemoryMachine {
 public:
  struct Shape {
    int ctas = 1, warps = 1;
    uint32_t shared_bytes = 8192, local_bytes = 256;
    std::string target = "sm_90a";
  };
  MemoryMachine() : MemoryMachine(Shape{}) {}
  explicit MemoryMachine(Shape shape);
  ~MemoryMachine();

  // Memory at a device address, zeroed; lives as long as the machine.
  uint8_t* Map(uint64_t address, uint64_t bytes, const std::string& label);
  uint8_t* shared(int cta = 0);
  uint8_t* local(int cta = 0, int warp = 0);
  std::vector<uint8_t>& params() { return params_; }

  // The warp that the calls below mean.
  void Select(int cta, int warp);
  // A register by name, as declared: %p0-7 .pred, %c0-7 .b8, %h0-7 .b16, %r0-63 .b32, %d0-63 .b64, %q0-3
  // .b128, %f0-7 .f32, %g0-7 .f64. All are 0 at first.
  void Set(const std::string& reg, int lane, uint64_t value);
  void SetAll(const std::string& reg, uint64_t value);
  uint64_t Get(const std::string& reg, int lane);
  uint32_t Pred(const std::string& reg);
  void Set128(const std::string& reg, int lane, uint64_t low, uint64_t high);
  uint64_t High(const std::string& reg, int lane);

  // Runs instructions for lanes of `mask`. The last one's result; after kFault fault() says why, after kRetry
  // the instruction waits. An instruction that does not parse or is refused fails the test with its text.
  // Known names: smem, a .shared array of 4096 bytes at offset 0; tmp, 64 bytes of .local at 0; the
  // parameters p0 (.b64, at 0) and p1 (.b32, at 8) and p2 (64 bytes at 16).
  ExecResult Run(const std::string& body, uint32_t mask = ~0u);
  const Fault& fault() const { return fault_; }
  // What the state and note of the one instruction in `body` are.
  Exec Find(const std::string& body);

  AddressSpace& space() { return space_; }
  Cta& cta(int i) { return *cluster_.ctas[i]; }

 private:
  struct WarpParts;
  WarpParts& current();
  std::shared_ptr<const Module> ParseBody(const std::string& body, std::string* error);
  Src RowOf(int index) const;

  Shape shape_;
  AddressSpace space_;
  Translator translator_;
  Cluster cluster_;
  std::vector<std::unique_ptr<WarpParts>> warps_;
  std::vector<std::unique_ptr<uint8_t[]>> memory_;
  std::vector<uint8_t> params_;
  std::map<std::string, int> registers_;
  std::vector<Src> rows_;
  uint32_t row_bytes_ = 0;
  int selected_ = 0;
  Fault fault_;
};

}  // namespace understudy::emu::ptx
