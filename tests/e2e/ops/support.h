// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which operation works in which element type on which device, found out by running it: the vectors of
// PyTorch and NumPy where they have the type, their inputs rounded to the type where they have not. The table
// in docs/ops.md is made by it, its test checks rows of that table.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/engine.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy {

// The columns of the table.
const std::vector<DType>& SupportTypes();

// One operation of one family with its vectors.
struct OperationCases {
  std::string family, op;
  const vectors::Call* call;
  std::vector<vectors::Case> cases;
};
// In the order of vectors::Families(), then by name.
std::vector<OperationCases> AllOperations();

// A cell: a letter for each device that gives the right value; capital where a vector of PyTorch or NumPy in
// that type says what is right, small where only REF does. "-": the operation refuses the type. "!": a device
// gives a wrong value; `problems` says which.
struct SupportRow {
  std::string family, op;
  size_t vectors = 0;
  bool gradient = false;                     // vectors include PyTorch's derivatives
  std::map<std::string, std::string> cells;  // by the type's name; absent: there is nothing to try
  std::vector<std::string> problems;
};

// A device of the table: its letter, its name for tensors and the engine that has it. Devices that start a
// compiler for each kernel take one vector a cell, or the cells of some types alone (none: of all).
struct SupportDevice {
  char letter;
  std::string name;
  Engine* engine;
  size_t vectors = 2;
  std::vector<DType> types = {};
};

class SupportProbe {
 public:
  // REF first; the engines outlive the probe.
  explicit SupportProbe(std::vector<SupportDevice> devices);
  SupportRow Measure(const OperationCases& operation);
  std::string letters() const;

 private:
  std::string Cell(const OperationCases& operation, DType type, SupportRow& row);

  std::vector<SupportDevice> devices_;
};

// The row as a line of the table, and the whole page.
std::string SupportLine(const SupportRow& row);
std::string SupportPage(const std::vector<SupportRow>& rows);

}  // namespace understudy
