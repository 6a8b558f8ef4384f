// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/conform.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/kernel_text.h"
#include "src/base/status.h"

namespace understudy::emu::ptx::conform {
namespace {

std::vector<uint8_t> Bytes(const std::vector<uint64_t>& words) {
  std::vector<uint8_t> bytes(words.size() * 8);
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// Runs an entry of two buffers and gives the second one's words.
absl::StatusOr<std::vector<uint64_t>> RunWords(Backend& backend, std::string ptx, const char* entry,
                                               uint32_t blocks, const std::vector<uint64_t>& in,
                                               size_t out_words, size_t results, size_t memory_bytes = 0) {
  Launch launch;
  launch.ptx = std::move(ptx);
  launch.entry = entry;
  launch.grid = {blocks};
  launch.block = {32};
  launch.params = {Param::Buffer(Bytes(in)), Param::Buffer(std::vector<uint8_t>(out_words * 8))};
  if (memory_bytes != 0) launch.params.push_back(Param::Buffer(std::vector<uint8_t>(memory_bytes)));
  US_RETURN_IF_ERROR(backend.Run(&launch));
  std::vector<uint64_t> out(results);
  if (results != 0) std::memcpy(out.data(), launch.params[1].bytes.data(), results * 8);
  return out;
}

absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const Form& form, Backend& backend) {
  // Full warps: threads beyond the last tuple repeat it.
  const size_t count = form.count(), padded = (count + 31) / 32 * 32;
  std::vector<uint64_t> in;
  for (const std::vector<uint64_t>& operand : form.in) {
    in.insert(in.end(), operand.begin(), operand.end());
    in.insert(in.end(), padded - count, operand.back());
  }
  return RunWords(backend, FormKernel(form.op, form.d, form.s, padded), "form",
                  static_cast<uint32_t>(padded / 32), in, padded, count,
                  UsesThreadMemory(form.op) ? padded * kThreadMemoryBytes : 0);
}

absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const Fragment& fragment, Backend& backend) {
  const size_t registers[4] = {fragment.d.size(), fragment.a.size(), fragment.b.size(), fragment.c.size()};
  std::vector<uint64_t> in;
  for (const Fragment::Registers* operand : {&fragment.a, &fragment.b, &fragment.c})
    for (const std::vector<uint64_t>& lanes : *operand) in.insert(in.end(), lanes.begin(), lanes.end());
  in.insert(in.end(), fragment.e.begin(), fragment.e.end());
  const size_t results = fragment.d.size() * 32;
  return RunWords(backend, FragmentKernel(fragment.op, registers, fragment.sparse, fragment.selector),
                  "fragment", 1, in, results, results);
}

// 32-bit words of a buffer; a last one that is not whole is filled with zeros.
void AppendWords(const std::vector<uint8_t>& bytes, std::vector<uint64_t>* words) {
  for (size_t i = 0; i < bytes.size(); i += 4) {
    uint32_t word = 0;
    std::memcpy(&word, &bytes[i], std::min<size_t>(4, bytes.size() - i));
    words->push_back(word);
  }
}

absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const WholeKernel& kernel, Backend& backend) {
  Launch launch = kernel.launch;
  US_RETURN_IF_ERROR(backend.Run(&launch));
  std::vector<uint64_t> words;
  for (const Param& param : launch.params)
    if (param.is_buffer) AppendWords(param.bytes, &words);
  return words;
}

std::vector<uint64_t> Recorded(const Form& form) { return form.out; }
std::vector<uint64_t> Recorded(const Fragment& fragment) {
  std::vector<uint64_t> words;
  for (const std::vector<uint64_t>& lanes : fragment.d) words.insert(words.end(), lanes.begin(), lanes.end());
  return words;
}
std::vector<uint64_t> Recorded(const WholeKernel& kernel) {
  std::vector<uint64_t> words;
  for (size_t i = 0; i < kernel.after.size(); ++i)
    if (kernel.launch.params[i].is_buffer) AppendWords(kernel.after[i], &words);
  return words;
}

Outcome CompareDigests(const Form& form, const std::vector<uint64_t>& got) {
  Outcome outcome;
  outcome.values = form.digests.size();
  for (size_t block = 0; block < got.size(); ++block) {
    if (form.digests[block] == got[block]) continue;
    ++outcome.different;
    if (outcome.first.size() == kMaxDifferences) continue;
    Difference difference;
    difference.place = absl::StrCat("digest of tuples ", block * kDigestBlock, " and up");
    for (const auto& operand : form.in) difference.inputs.push_back(operand[block * kDigestBlock]);
    difference.expected = form.digests[block];
    difference.got = got[block];
    difference.digits = 16;
    outcome.first.push_back(difference);
  }
  if (outcome.different != 0) outcome.verdict = Outcome::Verdict::kDifferent;
  return outcome;
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> Evaluate(const Vector& vector, Backend& backend) {
  return std::visit([&](const auto& what) { return EvaluateWhat(what, backend); }, vector.what);
}

Outcome OutcomeOf(const absl::Status& status) {
  Outcome outcome;
  outcome.reason = std::string(status.message());
  outcome.verdict = absl::IsUnimplemented(status)     ? Outcome::Verdict::kRefused
                    : absl::IsInvalidArgument(status) ? Outcome::Verdict::kNotAccepted
                    : absl::IsAborted(status)         ? Outcome::Verdict::kFaulted
                                                      : Outcome::Verdict::kError;
  return outcome;
}

namespace {

Outcome RunRecorded(const Vector& vector, Backend& backend) {
  const absl::StatusOr<std::vector<uint64_t>> got = Evaluate(vector, backend);
  if (!got.ok()) return OutcomeOf(got.status());
  const Form* const form = std::get_if<Form>(&vector.what);
  if (form != nullptr && !form->digests.empty()) return CompareDigests(*form, Digests(*got));
  const std::vector<uint64_t> expected =
      std::visit([](const auto& what) { return Recorded(what); }, vector.what);
  if (expected.empty() && !got->empty()) {
    Outcome outcome;
    outcome.verdict = Outcome::Verdict::kUnrecorded;
    return outcome;
  }
  return Compare(vector, expected, *got);
}

}  // namespace

Outcome RunVector(const Vector& vector, Backend& backend) {
  Outcome outcome = RunRecorded(vector, backend);
  if (outcome.verdict != Outcome::Verdict::kDifferent || backend.is_hardware()) return outcome;
  for (const Deviation& deviation : Deviations()) {
    if (vector.id.find(deviation.instruction) == std::string::npos) continue;
    outcome.verdict = Outcome::Verdict::kDeviation;
    outcome.reason = deviation.reason;
    break;
  }
  return outcome;
}

}  // namespace understudy::emu::ptx::conform
