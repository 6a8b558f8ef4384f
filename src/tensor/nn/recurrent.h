// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recurrent layers with torch.nn's names, gate order and shapes, unrolled over time: the graph grows with the
// length of the sequence.

#include <optional>
#include <string>
#include <vector>

#include "src/tensor/nn/module.h"

namespace understudy::nn {

enum class RecurrentKind { kRnnTanh, kRnnRelu, kGru, kLstm };

// One step: weights weight_ih, weight_hh, bias_ih, bias_hh.
struct RecurrentCell : Module {
  RecurrentKind kind;
  int64_t hidden_size;
  Tensor weight_ih, weight_hh;             // {gates * hidden, input}, {gates * hidden, hidden}
  std::optional<Tensor> bias_ih, bias_hh;  // {gates * hidden}
  std::optional<Tensor> weight_hr;         // {projected, hidden}; LSTM only
  std::string suffix;                      // of the names: "" for a cell, "_l0_reverse" in a layer
  // proj_size above 0: h is projected to that width.
  RecurrentCell(RecurrentKind kind, int64_t input, int64_t hidden, Generator& generator,
                bool with_bias = true, const TensorOptions& options = {}, std::string suffix = "",
                int64_t proj_size = 0);
  int64_t output_size() const { return weight_hr ? weight_hr->shape()[0] : hidden_size; }

  struct State {
    Tensor h, c;  // {batch, hidden}, h of a projection {batch, projected}; c of LSTM only
  };
  State Forward(const Tensor& x, const State& state) const;
  // Zeros for inputs like x {batch, input}.
  State Zero(const Tensor& x) const;
  void Visit(const Visitor& v) override;
};
struct LstmCell : RecurrentCell {
  LstmCell(int64_t input, int64_t hidden, Generator& generator, bool with_bias = true,
           const TensorOptions& options = {})
      : RecurrentCell(RecurrentKind::kLstm, input, hidden, generator, with_bias, options) {}
};
struct GruCell : RecurrentCell {
  GruCell(int64_t input, int64_t hidden, Generator& generator, bool with_bias = true,
          const TensorOptions& options = {})
      : RecurrentCell(RecurrentKind::kGru, input, hidden, generator, with_bias, options) {}
};

struct RnnCell : RecurrentCell {
  RnnCell(int64_t input, int64_t hidden, Generator& generator, bool with_bias = true, bool relu = false,
          const TensorOptions& options = {})
      : RecurrentCell(relu ? RecurrentKind::kRnnRelu : RecurrentKind::kRnnTanh, input, hidden, generator,
                      with_bias, options) {}
};

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool with_bias = true, batch_first = false, bidirectional = false;
  TensorOptions tensor;
  double dropout = 0;     // of every layer's output but the last one's, in training
  int64_t proj_size = 0;  // LSTM only
};
struct Recurrent : Module {
  RecurrentOptions options;
  std::vector<RecurrentCell> cells;  // [layer * directions + direction]
  Generator* generator;              // of dropout, which must then outlive the layer
  Recurrent(RecurrentKind kind, int64_t input, int64_t hidden, Generator& generator,
            const RecurrentOptions& options = {});

  struct Result {
    Tensor output;  // {time, batch, directions * hidden}; {batch, time, ...} with batch_first
    Tensor h, c;    // {layers * directions, batch, hidden}; c of LSTM only
    // Projections put their width in hidden's place, but in c.
  };
  // x {time, batch, input}, or {batch, time, input} with batch_first; h and c as in the result, zeros by
  // default.
  Result Forward(const Tensor& x, const Tensor* h = nullptr, const Tensor* c = nullptr) const;
  void Visit(const Visitor& v) override;
};
struct Lstm : Recurrent {
  Lstm(int64_t input, int64_t hidden, Generator& generator, const RecurrentOptions& options = {})
      : Recurrent(RecurrentKind::kLstm, input, hidden, generator, options) {}
};
struct Gru : Recurrent {
  Gru(int64_t input, int64_t hidden, Generator& generator, const RecurrentOptions& options = {})
      : Recurrent(RecurrentKind::kGru, input, hidden, generator, options) {}
};
struct Rnn : Recurrent {
  Rnn(int64_t input, int64_t hidden, Generator& generator, const RecurrentOptions& options = {},
      bool relu = false)
      : Recurrent(relu ? RecurrentKind::kRnnRelu : RecurrentKind::kRnnTanh, input, hidden, generator,
                  options) {}
};

}  // namespace understudy::nn
