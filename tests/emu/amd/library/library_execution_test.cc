// SPDX-License-Identifier: Apache-2.0
// Other people's machine code, executed: gfx90a kernels of Debian's librocsparse0 compute what the published
// definitions of their operations say (rocSPARSE's documentation of the sparse level 1 and 2 functions and
// conversions). Values are small integers, so that sums are exact in any order and results compare for
// equality. Skipped where the package is not installed.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/runtime/amd/code_object.h"
#include "src/runtime/amd/offload_bundle.h"
#include "tests/emu/amd/library/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

using Raw = std::vector<uint8_t>;

// "void sctr_kernel<512u, int, float>(int, ...)" taken apart.
struct Signature {
  std::string name;
  std::vector<std::string> params;  // of the template: "512u", "int", "float"

  // The first template parameter is everywhere the size of the workgroup.
  uint32_t Number(size_t i) const { return static_cast<uint32_t>(std::atoi(params[i].c_str())); }
};

bool ParseSignature(const std::string& mangled, Signature* out) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                              std::free);
  if (status != 0) return false;
  std::string demangled = text.get();
  const size_t open = demangled.find('<');
  if (open == std::string::npos) return false;
  const size_t space = demangled.rfind(' ', open);
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  out->name = demangled.substr(begin, open - begin);
  out->params.clear();
  int depth = 0;
  std::string part;
  for (size_t i = open + 1; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (depth == 0 && (c == ',' || c == '>')) {
      while (!part.empty() && part.back() == ' ') part.pop_back();
      out->params.push_back(part);
      part.clear();
      if (c == '>') return true;
      continue;
    }
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (!part.empty() || c != ' ') part += c;
  }
  return false;
}

// One run of one kernel: made-up inputs, and what the kernel should leave in its buffers.
class Case {
 public:
  Case(KernelRunner* runner, const understudy::amd::KernelSymbol* kernel, Signature signature, int base)
      : runner_(runner), kernel_(kernel), sig(std::move(signature)), base(base), random_(17 + base) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  Number Value(ElementType type) {
    const auto part = static_cast<double>(Below(15) - 7);
    return IsComplex(type) ? Number(part, static_cast<double>(Below(15) - 7)) : Number(part);
  }
  Numbers Values(ElementType type, int64_t n) {
    Numbers out;
    for (int64_t i = 0; i < n; ++i) out.push_back(Value(type));
    return out;
  }
  // `count` distinct numbers below n in random order.
  std::vector<int64_t> Distinct(int64_t count, int64_t n) {
    std::vector<int64_t> all(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) all[static_cast<size_t>(i)] = i;
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<size_t>(count));
    return all;
  }

  // Arguments in the order of the kernel's.
  void Integer(int64_t value) { args_.push_back(KernelArg::Integer(value)); }
  void Base() { Integer(base); }
  void Scalar(ElementType type, Number value) { args_.push_back(KernelArg::Scalar(type, value)); }
  void Input(ElementType type, const Numbers& values) {
    buffers_.push_back(std::make_unique<Raw>(Encode(type, values)));
    args_.push_back(KernelArg::Input(buffers_.back().get()));
  }
  void Indices(ElementType type, const std::vector<int64_t>& indices) {
    Numbers values;
    for (int64_t index : indices) values.emplace_back(static_cast<double>(index + base));
    Input(type, values);
  }
  void Output(ElementType type, const Numbers& before, const Numbers& expected) {
    buffers_.push_back(std::make_unique<Raw>(Encode(type, before)));
    args_.push_back(KernelArg::Output(buffers_.back().get()));
    outputs_.push_back({type, buffers_.back().get(), expected});
  }

  // Empty, or what is wrong.
  std::string Run(int64_t groups, uint32_t group_size) {
    absl::Status status = runner_->Run(*kernel_, args_, static_cast<uint32_t>(groups), group_size);
    if (!status.ok()) return std::string(status.message());
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const Numbers got = Decode(outputs_[k].type, *outputs_[k].buffer);
      if (got.size() != outputs_[k].expected.size()) return "an expectation of another size";
      for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] != outputs_[k].expected[i]) {
          return absl::StrCat("output ", k, "[", i, "] is (", got[i].real(), ", ", got[i].imag(),
                              "), expected (", outputs_[k].expected[i].real(), ", ",
                              outputs_[k].expected[i].imag(), ")");
        }
      }
    }
    return "";
  }
  // The sum of an output instead of its elements.
  std::string RunSum(int64_t groups, uint32_t group_size, Number expected) {
    absl::Status status = runner_->Run(*kernel_, args_, static_cast<uint32_t>(groups), group_size);
    if (!status.ok()) return std::string(status.message());
    Number sum = 0;
    for (const Number& part : Decode(outputs_[0].type, *outputs_[0].buffer)) sum += part;
    return sum == expected ? "" : absl::StrCat("sum is ", sum.real(), ", expected ", expected.real());
  }

 private:
  struct Expected {
    ElementType type;
    Raw* buffer;
    Numbers expected;
  };
  KernelRunner* runner_;
  const understudy::amd::KernelSymbol* kernel_;
  std::vector<KernelArg> args_;
  std::vector<std::unique_ptr<Raw>> buffers_;
  std::vector<Expected> outputs_;

 public:
  const Signature sig;
  const int base;  // of the indices, 0 or 1

 private:
  std::mt19937_64 random_;
};

int64_t Groups(int64_t items, uint32_t size) { return (items + size - 1) / size; }

// Types that a kernel is instantiated for.
struct Types {
  ElementType index = ElementType::kI32, row = ElementType::kI32, value = ElementType::kF32;
};
using Body = std::function<std::string(Case&, const Types&)>;
struct Family {
  int params;  // of the template
  int index;   // positions among them, -1: always int
  int row;
  int value;  // -1: none
  Body body;
};

constexpr int64_t kNonZeros = 700, kDense = 1500;

// Sparse x (values, indices) and dense y.
struct SparseDense {
  std::vector<int64_t> at;
  Numbers x, y;
  SparseDense(Case& c, const Types& t)
      : at(c.Distinct(kNonZeros, kDense)), x(c.Values(t.value, kNonZeros)), y(c.Values(t.value, kDense)) {}
};

std::string Axpyi(Case& c, const Types& t) {
  SparseDense v(c, t);
  const Number alpha = c.Value(t.value);
  Numbers expected = v.y;
  for (size_t i = 0; i < v.at.size(); ++i) expected[v.at[i]] += alpha * v.x[i];
  c.Integer(kNonZeros);
  c.Scalar(t.value, alpha);
  c.Input(t.value, v.x);
  c.Indices(t.index, v.at);
  c.Output(t.value, v.y, expected);
  c.Base();
  return c.Run(Groups(kNonZeros, c.sig.Number(0)), c.sig.Number(0));
}

std::string Gather(Case& c, const Types& t) {
  SparseDense v(c, t);
  Numbers expected;
  for (int64_t at : v.at) expected.push_back(v.y[at]);
  c.Integer(kNonZeros);
  c.Input(t.value, v.y);
  c.Output(t.value, v.x, expected);
  c.Indices(t.index, v.at);
  c.Base();
  return c.Run(Groups(kNonZeros, c.sig.Number(0)), c.sig.Number(0));
}

std::string GatherAndZero(Case& c, const Types& t) {
  SparseDense v(c, t);
  Numbers expected, rest = v.y;
  for (int64_t at : v.at) expected.push_back(v.y[at]);
  for (int64_t at : v.at) rest[at] = 0;
  c.Integer(kNonZeros);
  c.Output(t.value, v.y, rest);
  c.Output(t.value, v.x, expected);
  c.Indices(t.index, v.at);
  c.Base();
  return c.Run(Groups(kNonZeros, c.sig.Number(0)), c.sig.Number(0));
}

std::string Scatter(Case& c, const Types& t) {
  SparseDense v(c, t);
  Numbers expected = v.y;
  for (size_t i = 0; i < v.at.size(); ++i) expected[v.at[i]] = v.x[i];
  c.Integer(kNonZeros);
  c.Input(t.value, v.x);
  c.Indices(t.index, v.at);
  c.Output(t.value, v.y, expected);
  c.Base();
  return c.Run(Groups(kNonZeros, c.sig.Number(0)), c.sig.Number(0));
}

// x = c x + s y, y = c y - s x for real c and s.
std::string Rotate(Case& c, const Types& t) {
  SparseDense v(c, t);
  const Number cosine = 3, sine = -5;
  Numbers x = v.x, y = v.y;
  for (size_t i = 0; i < v.at.size(); ++i) {
    x[i] = cosine * v.x[i] + sine * v.y[v.at[i]];
    y[v.at[i]] = cosine * v.y[v.at[i]] - sine * v.x[i];
  }
  c.Integer(kNonZeros);
  c.Output(t.value, v.x, x);
  c.Indices(t.index, v.at);
  c.Output(t.value, v.y, y);
  c.Scalar(t.value, cosine);
  c.Scalar(t.value, sine);
  c.Base();
  return c.Run(Groups(kNonZeros, c.sig.Number(0)), c.sig.Number(0));
}

// The partial sums of the workgroups, which a second kernel adds up.
std::string DotPart1(Case& c, const Types& t, bool conjugate) {
  SparseDense v(c, t);
  constexpr int64_t kGroups = 3;
  Number dot = 0;
  for (size_t i = 0; i < v.at.size(); ++i) {
    dot += (conjugate && IsComplex(t.value) ? std::conj(v.x[i]) : v.x[i]) * v.y[v.at[i]];
  }
  c.Integer(kNonZeros);
  c.Input(t.value, v.x);
  c.Indices(t.index, v.at);
  c.Input(t.value, v.y);
  c.Output(t.value, Numbers(kGroups), Numbers(kGroups));
  c.Base();
  return c.RunSum(kGroups, c.sig.Number(0), dot);
}

std::string DotPart2(Case& c, const Types& t) {
  const Numbers parts = c.Values(t.value, c.sig.Number(0));
  Number sum = 0;
  for (const Number& part : parts) sum += part;
  c.Input(t.value, parts);
  c.Output(t.value, Numbers(1), Numbers{sum});
  return c.Run(1, c.sig.Number(0));
}

std::string Identity(Case& c, const Types& t) {
  Numbers expected;
  for (int64_t i = 0; i < kDense; ++i) expected.emplace_back(static_cast<double>(i));
  c.Integer(kDense);
  c.Output(t.index, Numbers(kDense), expected);
  return c.Run(Groups(kDense, c.sig.Number(0)), c.sig.Number(0));
}

std::string Set(Case& c, const Types& t) {
  c.Integer(kDense);
  c.Output(t.value, Numbers(kDense), Numbers(kDense, Number(-12345)));
  c.Scalar(t.value, -12345);
  return c.Run(Groups(kDense, c.sig.Number(0)), c.sig.Number(0));
}

// y = beta y, the factor before or after the vector.
std::string Scale(Case& c, const Types& t, bool factor_first) {
  const Number beta = IsComplex(t.value) ? Number(3, -2) : Number(-3);
  const Numbers y = c.Values(t.value, kDense);
  Numbers expected = y;
  for (Number& value : expected) value *= beta;
  c.Integer(kDense);
  if (factor_first) c.Scalar(t.value, beta);
  c.Output(t.value, y, expected);
  if (!factor_first) c.Scalar(t.value, beta);
  return c.Run(Groups(kDense, c.sig.Number(0)), c.sig.Number(0));
}

// A sparse matrix in coordinates, sorted by row: rows of none to a hundred entries.
struct Matrix {
  static constexpr int64_t kRows = 150, kColumns = 130;
  std::vector<int64_t> offsets{0}, rows, columns;
  Numbers values;
  Matrix(Case& c, ElementType type) {
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<int64_t> in_row = c.Distinct(row % 7 == 0 ? c.Below(100) : c.Below(6), kColumns);
      std::sort(in_row.begin(), in_row.end());
      for (int64_t column : in_row) {
        rows.push_back(row);
        columns.push_back(column);
        Number value = c.Value(type);
        values.push_back(value == Number(0) ? Number(1) : value);
      }
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
  }
  int64_t size() const { return static_cast<int64_t>(rows.size()); }
  // alpha A x + beta y
  Numbers Times(Number alpha, const Numbers& x, Number beta, const Numbers& y) const {
    Numbers out = y;
    for (Number& value : out) value *= beta;
    for (size_t i = 0; i < rows.size(); ++i) out[rows[i]] += alpha * values[i] * x[columns[i]];
    return out;
  }
};

std::string CooToCsr(Case& c, const Types& t) {
  Matrix a(c, ElementType::kF32);
  Numbers expected;
  for (int64_t offset : a.offsets) expected.emplace_back(static_cast<double>(offset + c.base));
  c.Integer(Matrix::kRows);
  c.Integer(a.size());
  c.Indices(t.row, a.rows);
  c.Output(t.index, Numbers(expected.size()), expected);
  c.Base();
  return c.Run(Groups(Matrix::kRows, c.sig.Number(0)), c.sig.Number(0));
}

std::string CsrToCoo(Case& c, const Types& t) {
  Matrix a(c, ElementType::kF32);
  Numbers expected;
  for (int64_t row : a.rows) expected.emplace_back(static_cast<double>(row + c.base));
  c.Integer(Matrix::kRows);
  c.Indices(t.index, a.offsets);
  c.Output(t.row, Numbers(expected.size()), expected);
  c.Base();
  return c.Run(Groups(Matrix::kRows * c.sig.Number(1), c.sig.Number(0)), c.sig.Number(0));
}

std::string CsrTimesVector(Case& c, const Types& t) {
  Matrix a(c, t.value);
  const Numbers x = c.Values(t.value, Matrix::kColumns), y = c.Values(t.value, Matrix::kRows);
  const Number alpha = IsComplex(t.value) ? Number(2, 1) : Number(2), beta = -3;
  c.Integer(0);  // no conjugation
  c.Integer(Matrix::kRows);
  c.Scalar(t.value, alpha);
  c.Indices(t.index, a.offsets);
  c.Indices(t.row, a.columns);
  c.Input(t.value, a.values);
  c.Input(t.value, x);
  c.Scalar(t.value, beta);
  c.Output(t.value, y, a.Times(alpha, x, beta, y));
  c.Base();
  return c.Run(Groups(Matrix::kRows * c.sig.Number(1), c.sig.Number(0)), c.sig.Number(0));
}

std::string CooTimesVector(Case& c, const Types& t) {
  Matrix a(c, t.value);
  const Numbers x = c.Values(t.value, Matrix::kColumns), y = c.Values(t.value, Matrix::kRows);
  const Number alpha = IsComplex(t.value) ? Number(2, 1) : Number(2);
  c.Integer(a.size());
  c.Scalar(t.value, alpha);
  c.Indices(t.index, a.rows);
  c.Indices(t.index, a.columns);
  c.Input(t.value, a.values);
  c.Input(t.value, x);
  c.Output(t.value, y, a.Times(alpha, x, 1, y));
  c.Base();
  return c.Run(Groups(a.size(), c.sig.Number(0) * c.sig.Number(1)), c.sig.Number(0));
}

std::string CooToDense(Case& c, const Types& t) {
  Matrix a(c, t.value);
  constexpr int64_t kLeading = Matrix::kRows + 3;
  Numbers expected(kLeading * Matrix::kColumns);
  for (size_t i = 0; i < a.rows.size(); ++i) expected[a.columns[i] * kLeading + a.rows[i]] = a.values[i];
  c.Integer(Matrix::kRows);
  c.Integer(Matrix::kColumns);
  c.Integer(a.size());
  c.Integer(kLeading);
  c.Base();
  c.Input(t.value, a.values);
  c.Indices(t.index, a.rows);
  c.Indices(t.index, a.columns);
  c.Output(t.value, Numbers(expected.size()), expected);
  c.Integer(1);  // rocsparse_order_column
  return c.Run(Groups(a.size(), c.sig.Number(0)), c.sig.Number(0));
}

// ELL: the entries of each row from the left, column by column, the rest without a column.
std::string EllTimesVector(Case& c, const Types& t, bool transposed) {
  constexpr int64_t kWidth = 6;
  std::vector<int64_t> columns(kWidth * Matrix::kRows, -1);
  Numbers values(columns.size());
  const Numbers x = c.Values(t.value, transposed ? Matrix::kRows : Matrix::kColumns),
                y = c.Values(t.value, transposed ? Matrix::kColumns : Matrix::kRows);
  const Number alpha = IsComplex(t.value) ? Number(2, 1) : Number(2), beta = transposed ? 1 : -3;
  Numbers expected = y;
  for (Number& value : expected) value *= beta;
  for (int64_t row = 0; row < Matrix::kRows; ++row) {
    const std::vector<int64_t> in_row = c.Distinct(c.Below(kWidth + 1), Matrix::kColumns);
    for (size_t k = 0; k < in_row.size(); ++k) {
      const size_t at = k * Matrix::kRows + static_cast<size_t>(row);
      columns[at] = in_row[k];
      values[at] = c.Value(t.value);
      if (transposed) {
        expected[in_row[k]] += alpha * values[at] * x[row];
      } else {
        expected[row] += alpha * values[at] * x[in_row[k]];
      }
    }
  }
  if (transposed) c.Integer(112);  // rocsparse_operation_transpose
  c.Integer(Matrix::kRows);
  c.Integer(Matrix::kColumns);
  c.Integer(kWidth);
  c.Scalar(t.value, alpha);
  c.Indices(t.index, columns);
  c.Input(t.value, values);
  c.Input(t.value, x);
  if (!transposed) c.Scalar(t.value, beta);
  c.Output(t.value, y, expected);
  c.Base();
  return c.Run(Groups(Matrix::kRows, c.sig.Number(0)), c.sig.Number(0));
}

std::string CountColumns(Case& c, const Types& t) {
  constexpr int64_t kRows = 300, kColumns = 11, kLeading = kRows + 5;
  Numbers a = c.Values(t.value, kLeading * kColumns), expected(kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    const size_t column = static_cast<size_t>(i / kRows);
    Number& value = a[column * kLeading + static_cast<size_t>(i % kRows)];
    if (c.Below(2) != 0) value = 0;
    if (value != Number(0)) expected[column] += 1;
  }
  c.Integer(1);  // rocsparse_order_column
  c.Integer(kRows);
  c.Integer(kColumns);
  c.Input(t.value, a);
  c.Integer(kLeading);
  c.Output(t.index, Numbers(kColumns), expected);
  return c.Run(kColumns, c.sig.Number(0));
}

// By the names that rocSPARSE gives its kernels.
const std::map<std::string, Family>& Families() {
  using std::placeholders::_1;
  using std::placeholders::_2;
  static const std::map<std::string, Family> families = {
      {"axpyi_kernel", {4, 1, -1, 2, Axpyi}},
      {"gthr_kernel", {3, 1, -1, 2, Gather}},
      {"gthrz_kernel", {2, -1, -1, 1, GatherAndZero}},
      {"sctr_kernel", {3, 1, -1, 2, Scatter}},
      {"roti_kernel", {4, 1, -1, 2, Rotate}},
      {"doti_kernel_part1", {3, 1, -1, 2, std::bind(DotPart1, _1, _2, false)}},
      {"dotci_kernel_part1", {3, 1, -1, 2, std::bind(DotPart1, _1, _2, true)}},
      {"doti_kernel_part2", {2, -1, -1, 1, DotPart2}},
      {"dotci_kernel_part2", {2, -1, -1, 1, DotPart2}},
      {"identity_kernel", {2, 1, -1, -1, Identity}},
      {"set_array_to_value", {3, 1, -1, 2, Set}},
      {"scale_array", {3, 1, -1, 2, std::bind(Scale, _1, _2, false)}},
      {"axpby_scale_kernel", {4, 1, -1, 2, std::bind(Scale, _1, _2, true)}},
      {"coomv_scale", {4, 1, -1, 2, std::bind(Scale, _1, _2, true)}},
      {"csrmvt_scale_kernel", {4, 1, -1, 2, std::bind(Scale, _1, _2, true)}},
      {"gemvi_scale_kernel", {4, 1, -1, 2, std::bind(Scale, _1, _2, true)}},
      {"coo2csr_kernel", {3, 1, 2, -1, CooToCsr}},
      {"csr2coo_kernel", {4, 2, 3, -1, CsrToCoo}},
      {"csrmvn_general_kernel", {6, 2, 3, 4, CsrTimesVector}},
      {"coomvn_atomic_loops", {5, 2, -1, 3, CooTimesVector}},
      {"coo2dense_kernel", {3, 1, -1, 2, CooToDense}},
      {"ellmvn_kernel", {4, 1, -1, 2, std::bind(EllTimesVector, _1, _2, false)}},
      {"ellmvt_kernel", {4, 1, -1, 2, std::bind(EllTimesVector, _1, _2, true)}},
      {"nnz_kernel_col", {4, 1, -1, 3, CountColumns}},
  };
  return families;
}

struct Tally {
  std::set<std::string> executed;  // mangled names
  std::map<std::string, int> by_family;
  std::vector<std::string> failures;
};

void RunObject(const understudy::amd::CodeObject& object, Tally* tally) {
  std::unique_ptr<KernelRunner> runner;
  for (const auto& kernel : object.kernels()) {
    Signature sig;
    if (!ParseSignature(kernel.name, &sig)) continue;
    const auto found = Families().find(sig.name);
    if (found == Families().end() || static_cast<int>(sig.params.size()) != found->second.params) continue;
    const Family& family = found->second;
    Types types;
    const auto parse = [&](int at, ElementType* type) {
      return at < 0 || ParseElementType(sig.params[static_cast<size_t>(at)], type);
    };
    if (!parse(family.index, &types.index) || !parse(family.row, &types.row) ||
        !parse(family.value, &types.value) || tally->executed.count(kernel.name) != 0) {
      continue;
    }
    if (!runner) runner = std::make_unique<KernelRunner>(object);
    std::string wrong;
    for (int base = 0; base < 2 && wrong.empty(); ++base) {
      Case c(runner.get(), &kernel, sig, base);
      wrong = family.body(c, types);
    }
    if (wrong.empty()) {
      tally->executed.insert(kernel.name);
      ++tally->by_family[sig.name];
    } else {
      tally->failures.push_back(absl::StrCat(kernel.name, ": ", wrong));
    }
  }
}

TEST(LibraryExecution, RocsparseKernelsComputeTheirDefinitions) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open("/usr/lib/x86_64-linux-gnu/librocsparse.so.0");
  if (!file.ok()) GTEST_SKIP() << "librocsparse0 is not installed";
  auto entries = understudy::amd::OffloadEntriesOfLibrary(file->bytes());
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  Tally tally;
  for (const auto& entry : *entries) {
    if (entry.processor() != "gfx90a" || entry.id.find("xnack-") == std::string::npos) continue;
    auto object = understudy::amd::CodeObject::Parse(entry.content);
    ASSERT_TRUE(object.ok()) << object.status().message();
    RunObject(*object, &tally);
  }
  for (const std::string& failure : tally.failures) ADD_FAILURE() << failure;
  for (const auto& [name, count] : tally.by_family) std::printf("%4d %s\n", count, name.c_str());
  std::printf("%zu kernels\n", tally.executed.size());
  EXPECT_EQ(tally.executed.size(), 406u);
}

}  // namespace
}  // namespace understudy::emu::amd
