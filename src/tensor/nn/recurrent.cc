// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/recurrent.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"

namespace understudy::nn {
namespace {

int64_t Gates(RecurrentKind kind) {
  return kind == RecurrentKind::kLstm ? 4 : kind == RecurrentKind::kGru ? 3 : 1;
}

const Tensor* Pointer(const std::optional<Tensor>& t) { return t ? &*t : nullptr; }

template <class... A>
absl::Status Bad(const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat("Recurrent: ", a...));
}

}  // namespace

RecurrentCell::RecurrentCell(RecurrentKind kind, int64_t input, int64_t hidden, Generator& generator,
                             bool with_bias, const TensorOptions& options, std::string suffix,
                             int64_t proj_size)
    : kind(kind), hidden_size(hidden), suffix(std::move(suffix)) {
  const double bound = hidden > 0 ? 1 / std::sqrt(static_cast<double>(hidden)) : 0;
  const int64_t rows = Gates(kind) * hidden;
  weight_ih = UniformParameter({rows, input}, bound, generator, options);
  weight_hh = UniformParameter({rows, proj_size > 0 ? proj_size : hidden}, bound, generator, options);
  if (with_bias) {
    bias_ih = UniformParameter({rows}, bound, generator, options);
    bias_hh = UniformParameter({rows}, bound, generator, options);
  }
  if (proj_size == 0) return;
  weight_hr = kind == RecurrentKind::kLstm && proj_size > 0 && proj_size < hidden
                  ? UniformParameter({proj_size, hidden}, bound, generator, options)
                  : Tensor(Bad("proj_size ", proj_size, " for ", hidden,
                               " hidden units, expected an LSTM and a size below them"));
}

void RecurrentCell::Visit(const Visitor& v) {
  v.Parameter("weight_ih" + suffix, weight_ih);
  v.Parameter("weight_hh" + suffix, weight_hh);
  if (bias_ih) v.Parameter("bias_ih" + suffix, *bias_ih);
  if (bias_hh) v.Parameter("bias_hh" + suffix, *bias_hh);
  if (weight_hr) v.Parameter("weight_hr" + suffix, *weight_hr);
}

RecurrentCell::State RecurrentCell::Zero(const Tensor& x) const {
  if (!x.ok()) return {x, x};
  const auto zeros = [&](int64_t width) {
    return Tensor::Zeros({x.shape()[0], width}, {x.dtype(), x.device()});
  };
  return {zeros(output_size()), kind == RecurrentKind::kLstm ? zeros(hidden_size) : Tensor()};
}

RecurrentCell::State RecurrentCell::Forward(const Tensor& x, const State& state) const {
  const Tensor from_x = understudy::Linear(x, weight_ih, Pointer(bias_ih));
  const Tensor from_h = understudy::Linear(state.h, weight_hh, Pointer(bias_hh));
  const auto gate = [&](const Tensor& t, int64_t i) { return Narrow(t, 1, i * hidden_size, hidden_size); };
  switch (kind) {
    case RecurrentKind::kRnnTanh:
      return {(from_x + from_h).Tanh().Contiguous(), Tensor()};
    case RecurrentKind::kRnnRelu:
      return {(from_x + from_h).Relu().Contiguous(), Tensor()};
    case RecurrentKind::kGru: {
      const Tensor r = (gate(from_x, 0) + gate(from_h, 0)).Sigmoid();
      const Tensor z = (gate(from_x, 1) + gate(from_h, 1)).Sigmoid();
      const Tensor n = (gate(from_x, 2) + r * gate(from_h, 2)).Tanh();
      return {((1.0 - z) * n + z * state.h).Contiguous(), Tensor()};
    }
    case RecurrentKind::kLstm:
      break;
  }
  // Stored once: the four gates read each quarter, and the next step all of h and c.
  const Tensor gates = (from_x + from_h).Contiguous();
  const Tensor i = gate(gates, 0).Sigmoid(), f = gate(gates, 1).Sigmoid(), g = gate(gates, 2).Tanh(),
               o = gate(gates, 3).Sigmoid();
  const Tensor c = (f * state.c + i * g).Contiguous();
  const Tensor h = (o * c.Tanh()).Contiguous();
  return {weight_hr ? understudy::Linear(h, *weight_hr).Contiguous() : h, c};
}

Recurrent::Recurrent(RecurrentKind kind, int64_t input, int64_t hidden, Generator& generator,
                     const RecurrentOptions& o)
    : options(o), generator(&generator) {
  const int64_t directions = o.bidirectional ? 2 : 1, width = o.proj_size > 0 ? o.proj_size : hidden;
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    for (int64_t d = 0; d < directions; ++d) {
      cells.emplace_back(kind, layer == 0 ? input : directions * width, hidden, generator, o.with_bias,
                         o.tensor, absl::StrCat("_l", layer, d == 0 ? "" : "_reverse"), o.proj_size);
    }
  }
}

void Recurrent::Visit(const Visitor& v) {
  for (RecurrentCell& cell : cells) cell.Visit(v);
}

Recurrent::Result Recurrent::Forward(const Tensor& input, const Tensor* h, const Tensor* c) const {
  const auto fail = [](const absl::Status& s) { return Result{Tensor(s), Tensor(s), Tensor(s)}; };
  if (!input.ok()) return fail(input.status());
  if (cells.empty()) return fail(Bad("no layers, expected at least 1"));
  const bool lstm = cells[0].kind == RecurrentKind::kLstm;
  if (input.ndim() != 3) return fail(Bad("input of ", input.ndim(), " axes, expected 3"));
  const Tensor x = options.batch_first ? input.Transpose(0, 1) : input;
  const int64_t time = x.shape()[0], batch = x.shape()[1];
  if (time == 0) return fail(Bad("a sequence of length 0, expected at least 1"));
  if (cells[0].weight_hr && !cells[0].weight_hr->ok()) return fail(cells[0].weight_hr->status());
  for (const Tensor* s : {h, c}) {
    if (s == nullptr) continue;
    if (!s->ok()) return fail(s->status());
    const Shape want = {static_cast<int64_t>(cells.size()), batch,
                        s == c ? cells[0].hidden_size : cells[0].output_size()};
    if (s->shape() != want)
      return fail(Bad("initial state of ", s->ndim(), " axes and ", s->numel(), " elements, expected {",
                      want[0], ", ", want[1], ", ", want[2], "}"));
  }
  if (lstm && (h == nullptr) != (c == nullptr)) return fail(Bad("an LSTM takes both h and c, or neither"));
  if (!lstm && c != nullptr) return fail(Bad("c given, expected it for an LSTM only"));

  std::vector<Tensor> steps = Unbind(x, 0), last_h, last_c;
  const size_t directions = options.bidirectional ? 2 : 1;
  for (size_t first = 0; first < cells.size(); first += directions) {
    std::vector<std::vector<Tensor>> out(directions, std::vector<Tensor>(steps.size()));
    for (size_t d = 0; d < directions; ++d) {
      const RecurrentCell& cell = cells[first + d];
      const auto index = static_cast<int64_t>(first + d);
      RecurrentCell::State state = cell.Zero(steps[0]);
      if (h != nullptr) state.h = Select(*h, 0, index);
      if (c != nullptr) state.c = Select(*c, 0, index);
      for (size_t t = 0; t < steps.size(); ++t) {
        const size_t at = d == 0 ? t : steps.size() - 1 - t;
        state = cell.Forward(steps[at], state);
        out[d][at] = state.h;
      }
      last_h.push_back(state.h);
      if (lstm) last_c.push_back(state.c);
    }
    for (size_t t = 0; t < steps.size(); ++t)
      steps[t] = directions == 1 ? out[0][t] : Cat({out[0][t], out[1][t]}, 1);
    // One draw for the whole sequence.
    if (options.dropout != 0 && training() && first + directions < cells.size())
      steps = Unbind(Dropout(Stack(steps, 0), options.dropout, true, *generator).Contiguous(), 0);
  }
  Result r;
  r.output = Stack(steps, 0);
  if (options.batch_first) r.output = r.output.Transpose(0, 1);
  r.h = Stack(last_h, 0);
  if (lstm) r.c = Stack(last_c, 0);
  return r;
}

}  // namespace understudy::nn
