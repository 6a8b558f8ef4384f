// SPDX-License-Identifier: Apache-2.0
#pragma once
// What flows along the edges of an ONNX graph: a tensor, a sequence of values, or an optional without one.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/tensor/onnx/proto.h"
#include "src/tensor/tensor.h"

namespace understudy::onnx {

struct Value;
using ValueRef = std::shared_ptr<Value>;

struct Value {
  enum class Kind { kTensor, kSequence, kAbsent };
  Kind kind = Kind::kTensor;
  Tensor tensor;
  ElemType type = ElemType::kUndefined;  // tensor.dtype() == HeldIn(type)
  std::vector<ValueRef> items;           // kSequence
  // The tensor's elements on the host, once somebody has asked for them.
  std::shared_ptr<const std::vector<uint8_t>> known;

  static ValueRef Of(Tensor t, ElemType type) {
    auto v = std::make_shared<Value>();
    v->tensor = std::move(t);
    v->type = type;
    return v;
  }
  static ValueRef Of(Tensor t) {
    const ElemType type = ElemTypeOf(t.dtype());
    return Of(std::move(t), type);
  }
  static ValueRef Sequence(std::vector<ValueRef> items) {
    auto v = std::make_shared<Value>();
    v->kind = Kind::kSequence;
    v->items = std::move(items);
    return v;
  }
  static ValueRef Absent() {
    auto v = std::make_shared<Value>();
    v->kind = Kind::kAbsent;
    return v;
  }
};

}  // namespace understudy::onnx
