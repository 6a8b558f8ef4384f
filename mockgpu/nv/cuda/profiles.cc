// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/profiles.h"

#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace understudy::mockgpu::nv {
namespace {

constexpr int kProfiles = 0
#define CUDA_PROFILE(...) +1
#include "mockgpu/nv/cuda/profiles.inc"
#undef CUDA_PROFILE
    ;

struct AttributeRow {
  int number;
  int values[kProfiles];
};
constexpr AttributeRow kAttributes[] = {
#define CUDA_ATTRIBUTE(name, number, ...) {number, {__VA_ARGS__}},
#include "mockgpu/nv/cuda/device_attributes.inc"
#undef CUDA_ATTRIBUTE
};

const AttributeRow* FindRow(int attribute) {
  // Numbers are consecutive from 1.
  if (attribute < 1 || attribute > static_cast<int>(std::size(kAttributes))) return nullptr;
  const AttributeRow& row = kAttributes[attribute - 1];
  return row.number == attribute ? &row : nullptr;
}

}  // namespace

bool Profile::HasAttribute(int attribute) const { return FindRow(attribute) != nullptr; }

int Profile::Attribute(int attribute) const {
  const AttributeRow* row = FindRow(attribute);
  return row == nullptr ? -1 : row->values[column];
}

int Profile::ActiveClusters(int size, int per_sm) const {
  int clusters = 0;
  for (const int sms : gpcs)
    if (sms >= size) clusters += sms * per_sm / size;
  return clusters;
}

const std::vector<Profile>& Profiles() {
  static const auto* const all = [] {
    auto* v = new std::vector<Profile>;
#define CUDA_PROFILE(word, name, bytes, nvlink, gbps, suffix, ...) \
  v->push_back({#word, name, bytes, nvlink, gbps, suffix, {__VA_ARGS__}, static_cast<int>(v->size())});
#include "mockgpu/nv/cuda/profiles.inc"
#undef CUDA_PROFILE
    return v;
  }();
  return *all;
}

absl::StatusOr<std::vector<const Profile*>> ParseProfiles(const std::string& words) {
  std::vector<const Profile*> out;
  if (words.empty()) return std::vector<const Profile*>{&Profiles().front()};
  const std::vector<std::string> parts = absl::StrSplit(words, ',');
  for (const std::string& part : parts) {
    std::string word(part);
    absl::AsciiStrToLower(&word);
    std::string known;
    const Profile* found = nullptr;
    for (const Profile& p : Profiles()) {
      if (word == p.word) found = &p;
      absl::StrAppend(&known, known.empty() ? "" : ", ", p.word);
    }
    if (found == nullptr)
      return absl::NotFoundError(
          absl::StrCat("UNDERSTUDY_CUDA_GPUS: no GPU '", part, "', expected of ", known));
    out.push_back(found);
  }
  return out;
}

}  // namespace understudy::mockgpu::nv
