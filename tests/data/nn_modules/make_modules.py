# SPDX-License-Identifier: Apache-2.0
"""state_dict, inputs and output of torch.nn modules (training mode unless it says eval), the state after it, and
the gradients of sum(output * weights) by inputs and parameters, torch 2.5.1: writes modules.json.
"""
import json
import os

import torch

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
N = torch.nn
out = []


def D(t):
    return {"t": {torch.int64: "i64", torch.bool: "bool"}.get(t.dtype, "f64"), "s": list(t.shape), "v": [float("%.12g" % v) for v in t.detach().double().reshape(-1).tolist()]}


def Weights(t):
    return (0.5 + ((torch.arange(t.numel()) * 7 + 3) % 11).double() / 8).reshape(t.shape)


R = torch.randn
I = torch.tensor
wide = {"kdim": 3, "vdim": 5}
causal = torch.ones(3, 3).triu(1).bool()
small = {"dim_feedforward": 6, "dropout": 0.0}
TE, TD = N.TransformerEncoderLayer, N.TransformerDecoderLayer
for op, m, x in [
    ("linear", N.Linear(3, 4), R(2, 3)),
    ("conv1d", N.Conv1d(4, 6, 3, groups=2), R(2, 4, 7)),
    ("conv2d", N.Conv2d(2, 3, 3), R(1, 2, 5, 6)),
    ("conv3d", N.Conv3d(1, 2, 2, bias=False), R(1, 1, 3, 3, 3)),
    ("conv_transpose2d", N.ConvTranspose2d(3, 2, 3), R(1, 3, 3, 4)),
    ("batch_norm2d", N.BatchNorm2d(3), R(2, 3, 2, 2)),
    ("layer_norm", N.LayerNorm(5), R(2, 5)),
    ("group_norm", N.GroupNorm(2, 4), R(2, 4, 3)),
    ("instance_norm", N.InstanceNorm1d(3, affine=True), R(2, 3, 4)),
    ("instance_norm_running", N.InstanceNorm1d(3, affine=True, track_running_stats=True), R(2, 3, 4)),
    ("instance_norm_running_eval", N.InstanceNorm2d(3, track_running_stats=True, momentum=0.3), R(2, 3, 2, 2)),
    ("rms_norm", N.RMSNorm(4), R(3, 4)),
    ("embedding", N.Embedding(5, 3, padding_idx=1), I([[0, 1, 4], [2, 2, 1]])),
    ("embedding_bag", N.EmbeddingBag(5, 3, mode="sum", include_last_offset=True), [I([0, 1, 4, 2, 2]), I([0, 2, 5])]),
    ("bilinear", N.Bilinear(2, 3, 4), [R(2, 2), R(2, 3)]),
    ("prelu", N.PReLU(3), R(2, 3, 2)),
    ("rrelu_eval", N.RReLU(), R(2, 3)),
    ("adaptive_log_softmax", N.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0), [R(5, 8), I([0, 4, 11, 2, 7])]),
    ("sequential", N.Sequential(N.Linear(3, 5), N.ReLU(), N.BatchNorm1d(5), N.Linear(5, 2)), R(4, 3)),
    ("rnn", N.RNN(3, 4), R(3, 2, 3)),
    ("rnn_cell", N.RNNCell(3, 4, nonlinearity="relu"), [R(2, 3), R(2, 4)]),
    ("gru", N.GRU(3, 4, bidirectional=True), R(3, 2, 3)),
    ("lstm", N.LSTM(3, 4, num_layers=2, batch_first=True), R(2, 3, 3)),
    ("lstm_projected", N.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2), R(3, 2, 3)),
    ("lstm_dropout_all", N.LSTM(3, 4, num_layers=2, dropout=1.0), R(3, 2, 3)),
    ("lstm_dropout_eval", N.LSTM(3, 4, num_layers=2, dropout=0.5), R(3, 2, 3)),
    ("attention", N.MultiheadAttention(4, 2, batch_first=True), R(2, 3, 4)),
    ("attention_length_first", N.MultiheadAttention(4, 2), R(3, 2, 4)),
    ("attention_single", N.MultiheadAttention(4, 2), R(3, 4)),
    ("attention_wide", N.MultiheadAttention(4, 2, **wide), [R(3, 2, 4), R(5, 2, 3), R(5, 2, 5)]),
    ("attention_bias_kv", N.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True), [R(3, 2, 4), R(3, 2, 4), R(3, 2, 4), causal]),
    ("attention_dropout_all", N.MultiheadAttention(4, 2, dropout=1.0), R(3, 2, 4)),
    ("encoder_layer", TE(4, 2, **small), [R(3, 2, 4), causal]),
    ("encoder_layer_norm_first", TE(4, 2, norm_first=True, batch_first=True, activation="gelu", **small), [R(2, 3, 4)]),
    ("encoder_layer_eval", TE(4, 2, dim_feedforward=6), [R(3, 2, 4)]),
    ("decoder_layer", TD(4, 2, **small), [R(3, 2, 4), R(5, 2, 4), causal]),
    ("decoder_layer_norm_first", TD(4, 2, norm_first=True, bias=False, **small), [R(3, 2, 4), R(5, 2, 4)]),
    ("transformer", N.Transformer(4, 2, 2, 1, **small), [R(3, 2, 4), R(2, 2, 4)]),
    ("cross_entropy_loss", N.CrossEntropyLoss(weight=R(3).abs(), label_smoothing=0.1), [R(4, 3), I([0, 2, 1, 2])]),
    ("bce_with_logits_loss", N.BCEWithLogitsLoss(pos_weight=R(3).abs()), [R(2, 3), R(2, 3).sigmoid()]),
    ("multi_label_margin_loss", N.MultiLabelMarginLoss(), [R(2, 4), I([[3, 0, -1, 1], [1, -1, 2, 2]])]),
    ("triplet_distance_loss", N.TripletMarginWithDistanceLoss(distance_function=N.PairwiseDistance(), swap=True), [R(3, 4), R(3, 4), R(3, 4)]),
    ("ctc_concatenated_loss", N.CTCLoss(), [R(6, 2, 4), I([1, 2, 2, 3]), I([6, 5]), I([3, 1])]),
    ("reflection_pad2d", N.ReflectionPad2d((1, 2, 0, 1)), R(1, 2, 3, 4)),
    ("circular_pad1d", N.CircularPad1d(2), R(1, 2, 4)),
    ("max_pool2d", N.MaxPool2d(2, 1), R(1, 2, 3, 4)),
    ("adaptive_avg_pool1d", N.AdaptiveAvgPool1d(2), R(1, 2, 5)),
    ("pixel_shuffle", N.PixelShuffle(2), R(1, 4, 2, 3)),
    ("fold", N.Fold((3, 3), 2), R(1, 8, 4)),
    ("unfold", N.Unfold(2), R(1, 2, 3, 3)),
    ("cosine_similarity", N.CosineSimilarity(), [R(2, 3), R(2, 3)]),
]:
    m.train("eval" not in op)
    xs = list(x) if isinstance(x, list) else [x]
    if op == "instance_norm_running_eval":
        m.running_mean += R(3)
        m.running_var *= 1.5
    state = [[k, D(v.clone())] for k, v in m.state_dict().items()]
    leaves = [v.clone().requires_grad_(True) if v.is_floating_point() else v for v in xs]
    if op.startswith("attention"):
        y = m(*(leaves[:3] if len(leaves) > 1 else leaves * 3), attn_mask=leaves[3] if len(leaves) > 3 else None)
    elif op == "decoder_layer":
        y = m(leaves[0], leaves[1], tgt_mask=leaves[2])
    elif op.startswith("ctc"):
        y = m(leaves[0].log_softmax(2), *leaves[1:])
    else:
        y = m(*leaves)
    y = y[0] if isinstance(y, tuple) else y
    (y * Weights(y)).sum().backward()
    zero = lambda v: D(torch.zeros_like(v) if v.grad is None else v.grad)
    out.append({"op": op, "state": state, "x": [D(v) for v in xs], "y": D(y), "after": [D(v) for v in m.state_dict().values()],
                "x_grad": [zero(v) if v.requires_grad else None for v in leaves],
                "grad": [[k, zero(p)] for k, p in m.named_parameters()]})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
