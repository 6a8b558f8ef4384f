// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/lz4.h"

#include "absl/strings/str_cat.h"

namespace understudy::mockgpu::nv {

absl::StatusOr<std::vector<uint8_t>> DecodeLz4Block(absl::Span<const uint8_t> in, size_t size) {
  std::vector<uint8_t> out;
  // A byte of input makes at most 255 of output.
  if (size / 255 > in.size())
    return absl::InvalidArgumentError(
        absl::StrCat("LZ4: ", in.size(), " bytes cannot become ", size, " bytes"));
  out.reserve(size);
  size_t at = 0;
  const auto wrong = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat("LZ4: ", what, " at byte ", at, " of ", in.size()));
  };
  // Lengths of 15 and more go on in bytes until one is not 255.
  const auto more = [&](size_t length, bool* ok) {
    if (length != 15) return length;
    while (true) {
      if (at >= in.size() || length > size) {
        *ok = false;
        return length;
      }
      const uint8_t b = in[at++];
      length += b;
      if (b != 255) return length;
    }
  };
  while (at < in.size()) {
    const uint8_t token = in[at++];
    bool ok = true;
    const size_t literals = more(token >> 4, &ok);
    if (!ok || literals > in.size() - at || literals > size - out.size()) return wrong("literals too long");
    out.insert(out.end(), in.begin() + at, in.begin() + at + literals);
    at += literals;
    // The last sequence has literals only.
    if (out.size() == size) return out;
    if (in.size() - at < 2) return wrong("no match offset");
    const size_t offset = in[at] | static_cast<size_t>(in[at + 1]) << 8;
    at += 2;
    const size_t match = more(token & 15, &ok) + 4;
    if (!ok || offset == 0 || offset > out.size() || match > size - out.size()) return wrong("wrong match");
    // Byte by byte: a match may overlap what it writes.
    for (size_t i = 0; i < match; ++i) out.push_back(out[out.size() - offset]);
  }
  if (out.size() != size)
    return absl::InvalidArgumentError(absl::StrCat("LZ4: ", out.size(), " bytes, expected ", size));
  return out;
}

}  // namespace understudy::mockgpu::nv
