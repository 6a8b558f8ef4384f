// SPDX-License-Identifier: Apache-2.0
#include "src/base/hex.h"

#include "absl/strings/str_cat.h"

namespace understudy {
namespace {

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> HexToBytes(const std::string& hex) {
  if (hex.size() % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("hex text has ", hex.size(), " digits, expected an even number"));
  }
  std::vector<uint8_t> out(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); ++i) {
    const int d = Digit(hex[i]);
    if (d < 0) {
      return absl::InvalidArgumentError(absl::StrCat("hex text has character code ",
                                                     static_cast<int>(static_cast<unsigned char>(hex[i])),
                                                     " at offset ", i, ", expected 0-9 a-f"));
    }
    out[i / 2] = static_cast<uint8_t>(out[i / 2] << 4 | d);
  }
  return out;
}

std::string BytesToHex(const uint8_t* data, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    out.push_back(kDigits[data[i] >> 4]);
    out.push_back(kDigits[data[i] & 15]);
  }
  return out;
}

}  // namespace understudy
