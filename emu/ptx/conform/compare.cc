// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/inputs.h"
#include "emu/ptx/conform/kernel_text.h"
#include "src/base/ulp.h"

namespace understudy::emu::ptx::conform {
namespace {

// The greatest distance of the packed floats; false where one of them is NaN on one side alone.
bool UlpOf(const ElementFormat& floats, uint64_t a, uint64_t b, uint64_t* ulp) {
  if (floats.format == nullptr) return false;
  const int bits = floats.bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  *ulp = 0;
  for (int i = 0; i < floats.count; ++i) {
    const uint64_t one = UlpDistanceBits(*floats.format, a >> (i * bits) & mask, b >> (i * bits) & mask);
    if (one == kUlpIncomparable) return false;
    *ulp = std::max(*ulp, one);
  }
  return true;
}

int HexDigits(char kind) { return kind == 'p' ? 1 : RegisterBits(kind) / 4; }

// A matrix instruction's first type is its result's; f16 results are packed by two.
ElementFormat FormatOfMatrix(const std::string& op) {
  for (const char* type : {"f64", "f32", "f16"})
    if (op.find(absl::StrCat(".", type, ".")) != std::string::npos)
      return FormatOfType(type[1] == '1' ? "f16x2" : type);
  return {};
}

}  // namespace

const char* VerdictName(Outcome::Verdict verdict) {
  static constexpr const char* kNames[kVerdicts] = {"pass",         "different", "deviation",  "refused",
                                                    "not accepted", "faulted",   "unrecorded", "error"};
  return kNames[static_cast<int>(verdict)];
}

const std::vector<Deviation>& Deviations() {
  static const std::vector<Deviation> deviations = {
#define PTX_DEVIATION(instruction, reason) {instruction, reason},
#include "emu/ptx/conform/deviations.inc"
#undef PTX_DEVIATION
  };
  return deviations;
}

std::string DifferenceText(const Difference& d) {
  std::string text = d.place;
  for (size_t i = 0; i < d.inputs.size(); ++i)
    absl::StrAppendFormat(&text, "%s%x", i == 0 ? ", inputs " : " ", d.inputs[i]);
  absl::StrAppendFormat(&text, ": expected %0*x, got %0*x", d.digits, d.expected, d.digits, d.got);
  if (d.has_ulp) absl::StrAppendFormat(&text, " (%d ulp)", d.ulp);
  return text;
}

Outcome Compare(const Vector& vector, const std::vector<uint64_t>& expected,
                const std::vector<uint64_t>& got) {
  Outcome outcome;
  const Form* const form = std::get_if<Form>(&vector.what);
  const Fragment* const fragment = std::get_if<Fragment>(&vector.what);
  const Seeded* const seeded = std::get_if<Seeded>(&vector.what);
  const FragmentPlaces* const places = std::get_if<FragmentPlaces>(&vector.what);
  const WholeKernel* const kernel = std::get_if<WholeKernel>(&vector.what);
  const ElementFormat floats = form != nullptr                            ? FormatOfType(form->dt)
                               : fragment != nullptr || seeded != nullptr ? FormatOfMatrix(vector.id)
                                                                          : ElementFormat();
  outcome.values = expected.size();
  if (expected.size() != got.size()) {
    outcome.verdict = Outcome::Verdict::kError;
    outcome.reason = absl::StrCat(got.size(), " results, expected ", expected.size());
    return outcome;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i]) continue;
    ++outcome.different;
    Difference d;
    d.expected = expected[i];
    d.got = got[i];
    d.has_ulp = UlpOf(floats, d.expected, d.got, &d.ulp);
    if (d.has_ulp) outcome.farthest_ulp = std::max(outcome.farthest_ulp, d.ulp);
    if (outcome.first.size() == kMaxDifferences) continue;
    if (form != nullptr) {
      d.place = absl::StrCat("tuple ", i, " (lane ", i % 32, ")");
      for (const auto& operand : form->in) d.inputs.push_back(operand[i]);
      d.digits = HexDigits(form->d);
    } else if (fragment != nullptr) {
      d.place = absl::StrCat("register ", i / 32, " lane ", i % 32);
      d.digits = floats.bits == 64 ? 16 : 8;
    } else if (seeded != nullptr) {
      const auto lanes = static_cast<size_t>(seeded->lanes());
      const size_t registers =
          std::max<size_t>(expected.size() / lanes / static_cast<size_t>(seeded->samples), 1);
      d.place = absl::StrCat("sample ", i / lanes / registers, " register ", i / lanes % registers, " lane ",
                             i % lanes);
      d.digits = floats.bits == 64 ? 16 : 8;
    } else if (places != nullptr) {
      const auto per = static_cast<size_t>(places->per_register());
      d.place = absl::StrCat("register ", i / per / 32, " lane ", i / per % 32, " element ", i % per);
      d.digits = 3;
    } else if (kernel != nullptr) {
      size_t word = i;
      for (size_t p = 0; p < kernel->launch.params.size(); ++p) {
        if (!kernel->launch.params[p].is_buffer) continue;
        const size_t words = (kernel->launch.params[p].bytes.size() + 3) / 4;
        if (word < words) {
          d.place = absl::StrCat("parameter ", p, " word ", word);
          break;
        }
        word -= words;
      }
    }
    outcome.first.push_back(std::move(d));
  }
  if (outcome.different != 0) outcome.verdict = Outcome::Verdict::kDifferent;
  return outcome;
}

}  // namespace understudy::emu::ptx::conform
