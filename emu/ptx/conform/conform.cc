// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/conform/conform.h"

#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"
#include "emu/ptx/conform/kernel_text.h"
#include "emu/ptx/conform/seeded_inputs.h"
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

// Words of `bytes` bytes each, zero-extended.
std::vector<uint64_t> Words(const std::vector<uint8_t>& buffer, size_t bytes) {
  std::vector<uint64_t> words(buffer.size() / bytes);
  for (size_t i = 0; i < words.size(); ++i) std::memcpy(&words[i], &buffer[i * bytes], bytes);
  return words;
}

absl::StatusOr<std::vector<uint64_t>> EvaluateWarpgroup(const Seeded& seeded, Backend& backend) {
  WarpgroupText text;
  text.op = seeded.op;
  text.d_type = TypeName(seeded.types[0]);
  text.a_type = TypeName(seeded.types[1]);
  text.d_registers = seeded.registers[0];
  text.a_registers = seeded.registers[1];
  text.operand_bytes = kOperandBytes;
  text.descriptor_a = seeded.descriptor_a;
  text.descriptor_b = seeded.descriptor_b;
  text.start_a = seeded.start_a;
  text.start_b = seeded.start_b;
  text.accumulate = seeded.accumulate;
  text.sparse = seeded.sparse;
  text.selector = seeded.selector;
  text.scale_a = seeded.scale_a;
  text.scale_b = seeded.scale_b;
  text.transpose_a = seeded.transpose_a;
  text.transpose_b = seeded.transpose_b;
  std::vector<uint8_t> in;
  for (int i = 0; i < seeded.samples; ++i) {
    const SeededInputs inputs = InputsOf(seeded, i);
    for (const auto* words : {&inputs.shared, &inputs.a, &inputs.c, &inputs.metadata})
      for (const uint64_t word : *words)
        for (int byte = 0; byte < 4; ++byte) in.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
  Launch launch;
  launch.ptx = WarpgroupKernel(text);
  launch.entry = "warpgroup";
  launch.grid = {static_cast<uint32_t>(seeded.samples)};
  launch.block = {128};
  launch.shared_bytes = static_cast<uint32_t>(2 * kOperandBytes);
  const auto results = static_cast<size_t>(seeded.samples * seeded.registers[0] * 128);
  launch.params = {Param::Buffer(std::move(in)), Param::Buffer(std::vector<uint8_t>(results * 4))};
  US_RETURN_IF_ERROR(backend.Run(&launch));
  return Words(launch.params[1].bytes, 4);
}

// By [sample][register * lanes + lane].
absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const Seeded& seeded, Backend& backend) {
  if (seeded.warpgroup) return EvaluateWarpgroup(seeded, backend);
  std::vector<uint64_t> in;
  for (int i = 0; i < seeded.samples; ++i) {
    const SeededInputs inputs = InputsOf(seeded, i);
    for (const auto* words : {&inputs.a, &inputs.b, &inputs.c, &inputs.metadata})
      in.insert(in.end(), words->begin(), words->end());
  }
  size_t registers[4];
  for (int i = 0; i < 4; ++i) registers[i] = static_cast<size_t>(seeded.registers[i]);
  const size_t results = static_cast<size_t>(seeded.samples) * registers[0] * 32;
  return RunWords(backend, FragmentKernel(seeded.op, registers, seeded.sparse, seeded.selector), "fragment",
                  static_cast<uint32_t>(seeded.samples), in, results, results);
}

// Eleven matrices: all bits of an element of matrix i are bit i of the element's number.
absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const FragmentPlaces& places, Backend& backend) {
  constexpr int kPlanes = 11;
  const int bits = TypeBits(places.type), count = places.rows * places.cols, bytes = bits == 64 ? 8 : 4;
  const auto plane_bytes = static_cast<size_t>(count * bits / 8);
  std::vector<uint8_t> in(kPlanes * plane_bytes);
  for (int plane = 0; plane < kPlanes; ++plane)
    for (int i = 0; i < count; ++i) {
      const int number = places.by_rows ? i : i % places.rows * places.cols + i / places.rows;
      if ((number >> plane & 1) == 0) continue;
      for (int bit = i * bits; bit < (i + 1) * bits; ++bit)
        in[static_cast<size_t>(plane) * plane_bytes + static_cast<size_t>(bit / 8)] |=
            static_cast<uint8_t>(1 << bit % 8);
    }
  Launch launch;
  launch.ptx = WmmaLoadKernel(places.op,
                              bits == 64                  ? "f64"
                              : places.type == Type::kF32 ? "f32"
                                                          : "b32",
                              places.registers, plane_bytes, places.by_rows ? places.cols : places.rows);
  launch.entry = "load";
  launch.grid = {kPlanes};
  launch.block = {32};
  const auto words = static_cast<size_t>(places.registers * 32),
             per = static_cast<size_t>(places.per_register());
  launch.params = {Param::Buffer(std::move(in)),
                   Param::Buffer(std::vector<uint8_t>(kPlanes * words * static_cast<size_t>(bytes)))};
  US_RETURN_IF_ERROR(backend.Run(&launch));
  const std::vector<uint64_t> planes = Words(launch.params[1].bytes, static_cast<size_t>(bytes));
  std::vector<uint64_t> numbers(words * per);
  for (size_t plane = 0; plane < kPlanes; ++plane)
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] |= (planes[plane * words + i / per] >> (i % per * static_cast<size_t>(bits)) & 1) << plane;
  return numbers;
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

// One result: it loads.
absl::StatusOr<std::vector<uint64_t>> EvaluateWhat(const ModuleText& module, Backend& backend) {
  US_RETURN_IF_ERROR(backend.Load(module.ptx));
  return std::vector<uint64_t>{1};
}

std::vector<uint64_t> Recorded(const ModuleText&) { return {1}; }
std::vector<uint64_t> Recorded(const Form& form) { return form.out; }
std::vector<uint64_t> Recorded(const Fragment& fragment) {
  std::vector<uint64_t> words;
  for (const std::vector<uint64_t>& lanes : fragment.d) words.insert(words.end(), lanes.begin(), lanes.end());
  return words;
}
std::vector<uint64_t> Recorded(const Seeded&) { return {}; }
std::vector<uint64_t> Recorded(const FragmentPlaces& places) { return places.elements; }
std::vector<uint64_t> Recorded(const WholeKernel& kernel) {
  std::vector<uint64_t> words;
  for (size_t i = 0; i < kernel.after.size(); ++i)
    if (kernel.launch.params[i].is_buffer) AppendWords(kernel.after[i], &words);
  return words;
}

// Hashes of parts of the results; `tell` names the part.
Outcome CompareHashes(const std::vector<uint64_t>& expected, const std::vector<uint64_t>& got,
                      const std::function<void(size_t, Difference*)>& tell) {
  Outcome outcome;
  outcome.values = expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && expected[i] == got[i]) continue;
    ++outcome.different;
    if (outcome.first.size() == kMaxDifferences) continue;
    Difference difference;
    difference.expected = expected[i];
    difference.got = i < got.size() ? got[i] : 0;
    difference.digits = 16;
    tell(i, &difference);
    outcome.first.push_back(std::move(difference));
  }
  if (outcome.different != 0) outcome.verdict = Outcome::Verdict::kDifferent;
  return outcome;
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> Evaluate(const Vector& vector, Backend& backend) {
  return std::visit([&](const auto& what) { return EvaluateWhat(what, backend); }, vector.what);
}

std::vector<uint64_t> Hashes(const Seeded& seeded, const std::vector<uint64_t>& results) {
  std::vector<uint64_t> hashes;
  const size_t count = results.size() / static_cast<size_t>(seeded.samples);
  for (size_t i = 0; i + count <= results.size() && count != 0; i += count)
    hashes.push_back(HashRegisters(&results[i], count, seeded.types[0] == Type::kF64));
  return hashes;
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
  if (form != nullptr && !form->digests.empty())
    return CompareHashes(form->digests, Digests(*got), [form](size_t block, Difference* d) {
      d->place = absl::StrCat("digest of tuples ", block * kDigestBlock, " and up");
      for (const auto& operand : form->in) d->inputs.push_back(operand[block * kDigestBlock]);
    });
  const Seeded* const seeded = std::get_if<Seeded>(&vector.what);
  if (seeded != nullptr && !seeded->hashes.empty())
    return CompareHashes(seeded->hashes, Hashes(*seeded, *got), [seeded](size_t sample, Difference* d) {
      d->place = absl::StrCat("hash of the results of sample ", sample, " (seed ", seeded->seed, ", ",
                              seeded->input_class, ")");
    });
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
  if (!vector.not_accepted.empty()) {
    // Recorded is that it fails, in the recorder's words: "faulted: ...".
    const bool same =
        vector.not_accepted.compare(0, vector.not_accepted.find(':'), VerdictName(outcome.verdict)) == 0;
    if (!same)
      outcome.reason = absl::StrCat(VerdictName(outcome.verdict), " ", outcome.reason,
                                    "; recorded: ", vector.not_accepted);
    outcome.verdict = same ? Outcome::Verdict::kPass : Outcome::Verdict::kDifferent;
    return outcome;
  }
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
