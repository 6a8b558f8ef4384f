// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM, unrolled over time, with ONNX's gate orders, activations, clipping and lengths.
#include <cmath>
#include <functional>

#include "src/tensor/activation.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

using Activation = std::function<Tensor(const Tensor&)>;

// The activation functions of all directions, in order. Those with alpha or beta take the next of the lists.
std::vector<Activation> Activations(NodeContext& c, std::vector<std::string> defaults, int64_t directions) {
  std::vector<std::string> names = c.TextList("activations");
  const size_t each = defaults.size();
  if (names.empty()) {
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (!c.Want(names.size() == each * static_cast<size_t>(directions), names.size(), " activations, expected ",
              each * directions))
    return {};
  const std::vector<float> alphas = c.FloatList("activation_alpha"), betas = c.FloatList("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  const auto alpha = [&](double otherwise) {
    return next_alpha < alphas.size() ? alphas[next_alpha++] : otherwise;
  };
  const auto beta = [&](double otherwise) {
    return next_beta < betas.size() ? betas[next_beta++] : otherwise;
  };
  std::vector<Activation> out;
  for (const std::string& name : names) {
    if (name == "Relu") {
      out.push_back([](const Tensor& x) { return x.Relu(); });
    } else if (name == "Tanh") {
      out.push_back([](const Tensor& x) { return x.Tanh(); });
    } else if (name == "Sigmoid") {
      out.push_back([](const Tensor& x) { return x.Sigmoid(); });
    } else if (name == "Softsign") {
      out.push_back([](const Tensor& x) { return understudy::Softsign(x); });
    } else if (name == "Softplus") {
      out.push_back([](const Tensor& x) { return understudy::Softplus(x, 1, INFINITY); });
    } else if (name == "LeakyRelu") {
      out.push_back([a = alpha(0.01)](const Tensor& x) { return understudy::LeakyRelu(x, a); });
    } else if (name == "ThresholdedRelu") {
      out.push_back([a = alpha(1)](const Tensor& x) { return understudy::Where(x > a, x, 0); });
    } else if (name == "Elu") {
      out.push_back([a = alpha(1)](const Tensor& x) { return understudy::Elu(x, a); });
    } else if (name == "HardSigmoid") {
      const double a = alpha(0.2), b = beta(0.5);
      out.push_back([a, b](const Tensor& x) { return (x * a + b).Clamp(0, 1); });
    } else if (name == "Affine") {
      const double a = alpha(1), b = beta(0);
      out.push_back([a, b](const Tensor& x) { return x * a + b; });
    } else if (name == "ScaledTanh") {
      const double a = alpha(1), b = beta(1);
      out.push_back([a, b](const Tensor& x) { return (x * b).Tanh() * a; });
    } else {
      c.Refuse("the activation '", name, "'");
      return {};
    }
  }
  return out;
}

struct Step {
  Tensor h, c;
};
// What one direction's step computes from: the input's part (with both biases where they add up), the states.
struct Direction {
  Tensor w, r;              // {gates hidden, input}, {gates hidden, hidden}
  Tensor wb, rb;            // {gates hidden}
  std::optional<Tensor> p;  // LSTM's peepholes {3 hidden}
  const Activation* f;
  int64_t hidden;
  double clip;
  bool linear_before_reset, input_forget;

  Tensor Gate(const Tensor& all, int64_t i) const { return Narrow(all, 1, i * hidden, hidden); }
  Tensor Clip(const Tensor& x) const { return clip > 0 ? x.Clamp(-clip, clip) : x; }
};

Step RnnStep(const Direction& d, const Tensor& x, const Step& s) {
  return {d.f[0](d.Clip(x + s.h.Matmul(d.r.Transpose()) + d.wb + d.rb)), Tensor()};
}

Step GruStep(const Direction& d, const Tensor& x, const Step& s) {
  const Tensor hr = s.h.Matmul(d.r.Transpose());
  const Tensor zr = x + d.wb;
  const Tensor h_rb = hr + d.rb;
  const Tensor z = d.f[0](d.Clip(d.Gate(zr, 0) + d.Gate(h_rb, 0)));
  const Tensor r = d.f[0](d.Clip(d.Gate(zr, 1) + d.Gate(h_rb, 1)));
  Tensor h;
  if (d.linear_before_reset) {
    h = d.f[1](d.Clip(d.Gate(zr, 2) + r * d.Gate(h_rb, 2)));
  } else {
    const Tensor rh = Narrow(d.r, 0, 2 * d.hidden, d.hidden), bias = Narrow(d.rb, 0, 2 * d.hidden, d.hidden);
    h = d.f[1](d.Clip(d.Gate(zr, 2) + (r * s.h).Matmul(rh.Transpose()) + bias));
  }
  return {(Number(1) - z) * h + z * s.h, Tensor()};
}

Step LstmStep(const Direction& d, const Tensor& x, const Step& s) {
  const Tensor all = x + s.h.Matmul(d.r.Transpose()) + d.wb + d.rb;
  const auto peep = [&](const Tensor& gate, int64_t i, const Tensor& cell) {
    return d.p ? gate + Narrow(*d.p, 0, i * d.hidden, d.hidden) * cell : gate;
  };
  const Tensor i = d.f[0](d.Clip(peep(d.Gate(all, 0), 0, s.c)));
  const Tensor f = d.input_forget ? Number(1) - i : d.f[0](d.Clip(peep(d.Gate(all, 2), 2, s.c)));
  const Tensor cell = f * s.c + i * d.f[1](d.Clip(d.Gate(all, 3)));
  const Tensor o = d.f[0](d.Clip(peep(d.Gate(all, 1), 1, cell)));
  return {o * d.f[2](cell), cell};
}

void Recurrent(NodeContext& c, int64_t gates, std::vector<std::string> activations,
               Step (*step)(const Direction&, const Tensor&, const Step&)) {
  Tensor x = c.In(0);
  const Tensor w = c.In(1), r = c.In(2);
  const bool lstm = gates == 4, batch_first = c.Int("layout", 0) != 0;
  const std::string direction = c.Text("direction", "forward");
  if (!c.Want(direction == "forward" || direction == "reverse" || direction == "bidirectional", "direction '",
              direction, "'") ||
      !c.Want(x.ndim() == 3 && w.ndim() == 3 && r.ndim() == 3, "an input with ", x.ndim(),
              " axes, expected 3")) {
    return;
  }
  if (batch_first) x = x.Permute({1, 0, 2});
  const int64_t directions = direction == "bidirectional" ? 2 : 1, hidden = r.shape()[2],
                steps = x.shape()[0], batch = x.shape()[1];
  if (!c.Want(w.shape()[0] == directions && r.shape()[0] == directions && w.shape()[1] == gates * hidden &&
                  r.shape()[1] == gates * hidden,
              "weights ", tensor_internal::Text(w.shape()), " and ", tensor_internal::Text(r.shape()),
              " for ", directions, " directions of ", gates, " gates")) {
    return;
  }
  const std::vector<Activation> f = Activations(c, activations, directions);
  c.Fail(c.runner().CountSteps(steps * directions));
  if (!c.ok()) return;
  const DType dtype = x.dtype();
  const auto initial = [&](int i) {
    if (!c.Has(i)) return Tensor::Zeros({directions, batch, hidden}, c.Options(dtype));
    return batch_first ? c.In(i).Permute({1, 0, 2}) : c.In(i);
  };
  const Tensor h0 = initial(5),
               c0 = lstm ? initial(6) : Tensor::Zeros({directions, batch, hidden}, c.Options(dtype));
  std::optional<Tensor> lengths;
  if (c.Has(4)) lengths = c.In(4).Cast(dtypes::kInt64).Reshape({-1, 1});
  std::vector<Tensor> ys, hs, cs;  // a direction each
  for (int64_t k = 0; k < directions; ++k) {
    Direction d;
    d.w = Select(w, 0, k);
    d.r = Select(r, 0, k);
    const Tensor bias =
        c.Has(3) ? Select(c.In(3), 0, k) : Tensor::Zeros({2 * gates * hidden}, c.Options(dtype));
    d.wb = Narrow(bias, 0, 0, gates * hidden);
    d.rb = Narrow(bias, 0, gates * hidden, gates * hidden);
    if (lstm && c.Has(7)) d.p = Select(c.In(7), 0, k);
    d.f = f.data() + static_cast<size_t>(k) * activations.size();
    d.hidden = hidden;
    d.clip = c.Float("clip", 0);
    d.linear_before_reset = c.Int("linear_before_reset", 0) != 0;
    d.input_forget = c.Int("input_forget", 0) != 0;
    const bool backwards = direction == "reverse" || k == 1;
    Step s = {Select(h0, 0, k), Select(c0, 0, k)};
    std::vector<Tensor> y(steps);
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = backwards ? steps - 1 - i : i;
      Step next = step(d, Select(x, 0, t).Matmul(d.w.Transpose()), s);
      y[t] = next.h;
      if (lengths) {
        // Rows that have ended (or not yet begun, backwards) keep their state and answer 0.
        const Tensor on = *lengths > t;
        y[t] = understudy::Where(on, next.h, 0);
        next.h = understudy::Where(on, next.h, s.h);
        if (lstm) next.c = understudy::Where(on, next.c, s.c);
      }
      // Stored each step: the next one reads the states several times.
      s.h = next.h.Contiguous();
      if (lstm) s.c = next.c.Contiguous();
    }
    ys.push_back(steps == 0 ? Tensor::Zeros({0, batch, hidden}, c.Options(dtype)) : Stack(y, 0));
    hs.push_back(s.h);
    cs.push_back(s.c);
  }
  const Tensor y = Stack(ys, 1), h = Stack(hs, 0);  // {time, directions, batch, hidden}
  c.Out(0, batch_first ? y.Permute({2, 0, 1, 3}) : y);
  c.Out(1, batch_first ? h.Permute({1, 0, 2}) : h);
  if (lstm) {
    const Tensor cell = Stack(cs, 0);
    c.Out(2, batch_first ? cell.Permute({1, 0, 2}) : cell);
  }
}

}  // namespace

void Rnn(NodeContext& c) { Recurrent(c, 1, {"Tanh"}, RnnStep); }
void Gru(NodeContext& c) { Recurrent(c, 3, {"Sigmoid", "Tanh"}, GruStep); }
void Lstm(NodeContext& c) { Recurrent(c, 4, {"Sigmoid", "Tanh", "Tanh"}, LstmStep); }

}  // namespace understudy::onnx::ops
