// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/ops/support.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/status.h"

namespace understudy {
namespace {

using vectors::Array;
using vectors::Case;

// The type that a case is about: its first float, else its first input, else its first result.
DType TypeOf(const Case& c) {
  for (const Array& a : c.inputs) {
    if (a.dtype.IsFloat()) return a.dtype;
  }
  if (!c.inputs.empty()) return c.inputs[0].dtype;
  return c.outputs[0].dtype;
}

bool HasElements(const Case& c) {
  const auto some = [](const Array& a) { return !a.values.empty(); };
  return std::all_of(c.inputs.begin(), c.inputs.end(), some) &&
         std::all_of(c.outputs.begin(), c.outputs.end(), some);
}

// One unit in the last place of a value of about 1.
double Ulp(DType t) {
  switch (t.scalar) {
    case Scalar::kFloat64:
      return 0x1p-52;
    case Scalar::kFloat32:
      return 0x1p-23;
    case Scalar::kFloat16:
      return 0x1p-10;
    case Scalar::kBFloat16:
      return 0x1p-7;
    case Scalar::kFloat8E4M3:
    case Scalar::kFloat8E4M3Fnuz:
      return 0x1p-3;
    case Scalar::kFloat8E5M2:
    case Scalar::kFloat8E5M2Fnuz:
      return 0x1p-2;
    default:
      return 0;
  }
}

// Both infinite is equal: narrow sums overflow on one device an element before another.
bool Near(double got, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

// What a result of type `result` of inputs of type `input` may be off, relative to the larger of 1 and it.
// Sums of a device may be ordered in another way and functions are within some units in the last place; in
// types narrower than f32 that moves the one rounding at the end.
double Tolerance(DType result, DType input, double of_case, bool is_ref) {
  const double ulp = Ulp(result);
  if (is_ref) return std::max(of_case, ulp);
  const double steps = result.IsFloat() && result.BitWidth() < 32 ? 2 : 32;
  // Indices and wide results of narrow inputs come of narrow numbers.
  const double narrow = input.IsFloat() && result.IsFloat() ? std::min(Ulp(input), 0x1p-3) : 0;
  return std::max({of_case, steps * ulp, 2 * narrow});
}

struct Result {
  absl::Status status;
  std::vector<DType> types;
  std::vector<std::vector<double>> values;
};

std::vector<double> Doubles(DType t, const std::vector<uint8_t>& bytes) {
  std::vector<double> out;
  const int width = t.ScalarBytes();
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &bytes[i], width);
    const ConstValue v = FromBits(t, bits);
    out.push_back(std::holds_alternative<double>(v) ? std::get<double>(v)
                                                    : static_cast<double>(std::get<int64_t>(v)));
  }
  return out;
}

Tensor Input(const Array& a, DType t, const std::string& device) {
  std::vector<double> values = a.values;
  // Out of an integer's range there is no value to round to.
  if (t != a.dtype && !t.IsFloat()) {
    for (double& x : values) {
      x = std::isfinite(x) ? std::clamp(std::trunc(x), t.IsSigned() ? -100.0 : 0.0, 100.0) : 1;
      if (t.IsBool()) x = x != 0;
    }
  }
  return vectors::ToTensor(values, a.shape, t, device);
}

// The case on a device, its inputs of type `from` as `to`.
Result Evaluate(Engine& engine, const OperationCases& operation, const Case& c, DType from, DType to,
                const std::string& device) {
  std::vector<Tensor> in;
  for (const Array& a : c.inputs) {
    in.push_back(Input(a, a.dtype == from || (a.dtype.IsFloat() && from.IsFloat()) ? to : a.dtype, device));
  }
  Result result;
  for (Tensor& y : (*operation.call)(in, vectors::ArgsOn(c, device))) {
    result.status = y.status();
    if (!result.status.ok()) return result;
    // Constants are made nowhere.
    Tensor there = c.inputs.empty() && y.device() != device ? y.To(device) : y;
    const auto bytes = engine.Bytes(there);
    result.status = bytes.status();
    if (!result.status.ok()) return result;
    result.types.push_back(y.dtype());
    result.values.push_back(Doubles(y.dtype(), *bytes));
  }
  return result;
}

bool IsRefusal(const absl::Status& s) { return absl::IsInvalidArgument(s) || absl::IsUnimplemented(s); }

}  // namespace

const std::vector<DType>& SupportTypes() {
  using namespace dtypes;  // NOLINT: the list of all of them
  static const std::vector<DType>* const types = new std::vector<DType>{
      kBool,   kInt8,       kInt16,      kInt32,   kInt64,    kUInt8,   kUInt16, kUInt32,
      kUInt64, kFloat8E4M3, kFloat8E5M2, kFloat16, kBFloat16, kFloat32, kFloat64};
  return *types;
}

std::vector<OperationCases> AllOperations() {
  std::vector<OperationCases> out;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const vectors::Family& f : vectors::Families()) {
    std::map<std::string, std::vector<Case>> by_name;
    for (Case& c : vectors::Load(f.file)) by_name[c.op].push_back(std::move(c));
    for (auto& [op, cases] : by_name) {
      const auto call = f.calls->find(op);
      US_CHECK(call != f.calls->end()) << f.file << " has an operation without a call: " << op;
      const auto [at, fresh] = known.try_emplace({f.title, op}, out.size());
      if (fresh) out.push_back({f.title, op, &call->second, {}});
      OperationCases& to = out[at->second];
      std::move(cases.begin(), cases.end(), std::back_inserter(to.cases));
    }
  }
  return out;
}

SupportProbe::SupportProbe(std::vector<SupportDevice> devices) : devices_(std::move(devices)) {
  US_CHECK(!devices_.empty() && devices_[0].name == "REF") << "REF is compared with";
}

std::string SupportProbe::letters() const {
  std::string all;
  for (const SupportDevice& d : devices_) all += d.letter;
  return all;
}

std::string SupportProbe::Cell(const OperationCases& operation, DType type, SupportRow& row) {
  // Two vectors of the type itself, or one of another type with its inputs rounded to this one: of a float
  // where there is one.
  std::vector<const Case*> cases;
  for (const Case& c : operation.cases) {
    if (HasElements(c) && TypeOf(c) == type && cases.size() < 2) cases.push_back(&c);
  }
  const bool own = !cases.empty();
  if (!own) {
    for (const bool want_float : {true, false}) {
      for (const Case& c : operation.cases) {
        if (cases.empty() && HasElements(c) && !c.inputs.empty() && TypeOf(c).IsFloat() == want_float &&
            TypeOf(c) != dtypes::kBool) {
          cases.push_back(&c);
        }
      }
    }
  }
  if (cases.empty()) return "";
  std::vector<Result> refs;
  for (const Case* c : cases) {
    refs.push_back(Evaluate(*devices_[0].engine, operation, *c, TypeOf(*c), type, devices_[0].name));
    const absl::Status& s = refs.back().status;
    if (s.ok()) continue;
    if (IsRefusal(s)) return "-";
    row.problems.push_back(operation.op + " " + type.Name() + " on REF (" + c->name +
                           "): " + std::string(s.message()));
    return "!";
  }
  std::string good;
  for (const SupportDevice& device : devices_) {
    const bool is_ref = &device == &devices_[0];
    if (!device.types.empty() && std::count(device.types.begin(), device.types.end(), type) == 0) continue;
    bool right = true;
    for (size_t n = 0; n < std::min(cases.size(), device.vectors) && right; ++n) {
      const Case& c = *cases[n];
      const std::string where = operation.op + " " + type.Name() + " on " + device.name + " (" + c.name + ")";
      const Result got =
          is_ref ? refs[n] : Evaluate(*device.engine, operation, c, TypeOf(c), type, device.name);
      if (!got.status.ok()) {
        right = false;
        if (!IsRefusal(got.status)) row.problems.push_back(where + ": " + std::string(got.status.message()));
        continue;
      }
      for (size_t i = 0; i < got.values.size(); ++i) {
        const std::vector<double>& want = own ? c.outputs[i].values : refs[n].values[i];
        const double tolerance = Tolerance(got.types[i], type, own ? c.tolerance : 0, own && is_ref);
        for (size_t k = 0; k < want.size(); ++k) {
          if (!(got.values[i].size() == want.size() && Near(got.values[i][k], want[k], tolerance))) {
            row.problems.push_back(where + ": result " + std::to_string(i) + "[" + std::to_string(k) +
                                   "] is " +
                                   (k < got.values[i].size() ? std::to_string(got.values[i][k]) : "missing") +
                                   ", expected " + std::to_string(want[k]));
            return "!";
          }
        }
      }
    }
    if (right) good += own ? device.letter : static_cast<char>(std::tolower(device.letter));
  }
  return good.empty() ? "-" : good;
}

SupportRow SupportProbe::Measure(const OperationCases& operation) {
  SupportRow row{operation.family, operation.op, operation.cases.size(), false, {}, {}};
  for (const Case& c : operation.cases) row.gradient |= c.has_grads;
  for (const DType t : SupportTypes()) {
    const std::string cell = Cell(operation, t, row);
    if (!cell.empty()) row.cells[t.Name()] = cell;
  }
  return row;
}

std::string SupportLine(const SupportRow& row) {
  std::string line = "| `" + row.op + "` | " + std::to_string(row.vectors) + (row.gradient ? " ∂" : "");
  for (const DType t : SupportTypes()) {
    const auto cell = row.cells.find(t.Name());
    line += " | " + (cell == row.cells.end() ? "" : cell->second);
  }
  return line + " |\n";
}

std::string SupportPage(const std::vector<SupportRow>& rows) {
  std::string page =
      "# Operations, element types and devices\n\n"
      "Made by running every operation: `bazel run --config=opt //tests/e2e/ops:ops_page -- --markdown > "
      "docs/ops.md`; a test runs a part of it again.\n\n"
      "A cell names the devices that give the right value for inputs of that type: R is `REF`, C is `CPU` "
      "(LLVM), X is `X86` (machine code of our own), M is `A64` (the same for AArch64, under QEMU), T is `C` "
      "(C text, clang), O is `OPENCL` (OpenCL C text, PoCL; tried in u8, i32, f16 and f32), A is `AMD` "
      "(gfx1100, on the emulator, through "
      "the driver), N is `CUDA` (H200, on the emulator, through the mock driver library), H is `CUDA` on an "
      "H200 (recorded by `USE_HW=1 ops_card` in `tests/data/ops/h200.txt`). "
      "Capitals: a result of PyTorch or NumPy in that type says what is right. Small "
      "letters: the inputs of another type's vector were rounded to this one, and the devices agree with "
      "`REF`. `-`: refused by a named error. Empty: there is nothing to try. The number counts "
      "the operation's vectors; ∂: they hold its derivatives too.\n";
  std::string family;
  size_t operations = 0, cells = 0, backed = 0, refused = 0, vectors = 0;
  for (const SupportRow& r : rows) {
    ++operations;
    vectors += r.vectors;
    for (const auto& [type, cell] : r.cells) {
      ++cells;
      refused += cell == "-";
      backed += cell[0] == 'R';
    }
  }
  page += "\n" + std::to_string(operations) + " operations, " + std::to_string(vectors) + " vectors, " +
          std::to_string(cells) + " pairs of operation and type: " + std::to_string(backed) +
          " held to an oracle in that very type, " + std::to_string(refused) + " refused.\n";
  for (const SupportRow& r : rows) {
    if (r.family != family) {
      family = r.family;
      page += "\n## " + family + "\n\n| operation | vectors |";
      std::string rule = "\n|---|---|";
      for (const DType t : SupportTypes()) {
        page += " " + t.Name() + " |";
        rule += "---|";
      }
      page += rule + "\n";
    }
    page += SupportLine(r);
  }
  return page;
}

}  // namespace understudy
