// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/optim/clip.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/tensor/linalg.h"

namespace understudy::optim {
namespace {

// The first error, or that of an argument.
absl::Status Check(const char* op, const std::vector<Tensor>& gradients, const char* what, double limit) {
  if (!(limit >= 0))
    return absl::InvalidArgumentError(absl::StrCat(op, ": ", what, " ", limit, ", expected at least 0"));
  for (const Tensor& g : gradients) {
    if (!g.ok()) return g.status();
    if (!g.dtype().IsFloat())
      return absl::InvalidArgumentError(
          absl::StrCat(op, ": gradient of ", g.dtype().Name(), ", expected a float"));
  }
  return absl::OkStatus();
}

}  // namespace

ClippedGradients ClipGradNorm(const std::vector<Tensor>& gradients, double max_norm, double norm_type) {
  absl::Status status = Check("ClipGradNorm", gradients, "max_norm", max_norm);
  if (status.ok() && !(norm_type > 0))
    status =
        absl::InvalidArgumentError(absl::StrCat("ClipGradNorm: norm_type ", norm_type, ", expected above 0"));
  if (status.ok() && gradients.empty()) status = absl::InvalidArgumentError("ClipGradNorm: no gradients");
  if (!status.ok()) return {std::vector<Tensor>(gradients.size(), Tensor(status)), Tensor(status)};
  std::vector<Tensor> norms;
  for (const Tensor& g : gradients) {
    // No elements: no part in the norm (and no largest element to ask for).
    if (g.numel() != 0) norms.push_back(VectorNorm(g, norm_type).Reshape({1}));
  }
  ClippedGradients out;
  if (norms.empty()) {
    out.gradients = gradients;
    out.total_norm = Tensor::Zeros({}, {gradients[0].dtype(), gradients[0].device()});
    return out;
  }
  out.total_norm = norms.size() == 1 ? norms[0].Reshape({}) : VectorNorm(Cat(norms), norm_type);
  const Tensor scale = (max_norm / (out.total_norm + 1e-6)).Minimum(1.0);
  for (const Tensor& g : gradients) out.gradients.push_back((g * scale).Cast(g.dtype()));
  return out;
}

std::vector<Tensor> ClipGradValue(const std::vector<Tensor>& gradients, double clip_value) {
  const absl::Status status = Check("ClipGradValue", gradients, "clip_value", clip_value);
  std::vector<Tensor> out;
  for (const Tensor& g : gradients)
    out.push_back(status.ok() ? g.Clamp(-clip_value, clip_value) : Tensor(status));
  return out;
}

}  // namespace understudy::optim
