// SPDX-License-Identifier: Apache-2.0
// Products and norms as sums of products over broadcast views.
#include "src/tensor/linalg.h"

#include <algorithm>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/decomposition.h"
#include "src/tensor/nn_internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::FirstError;
using tensor_internal::ProductType;
using tensor_internal::Refuse;
using tensor_internal::Text;

using Ints = std::vector<int64_t>;

namespace tensor_internal {

Tensor MatmulIn(const char* op, const Tensor& x, const Tensor& y, DType acc) {
  if (absl::Status s = FirstError({&x, &y}); !s.ok()) return Tensor(s);
  if (x.ndim() == 0 || y.ndim() == 0)
    return Refuse(op, "shapes ", Text(x.shape()), " and ", Text(y.shape()), ", expected at least rank 1");
  const Tensor a = x.ndim() == 1 ? x.Unsqueeze(0) : x;
  const Tensor b = y.ndim() == 1 ? y.Unsqueeze(1) : y;
  const int64_t k = a.shape().back(), m = a.shape()[a.ndim() - 2], n = b.shape().back();
  if (b.shape()[b.ndim() - 2] != k) {
    return Refuse(op, "shapes ", Text(x.shape()), " and ", Text(y.shape()), ": inner sizes ", k, " and ",
                  b.shape()[b.ndim() - 2], ", expected equal");
  }
  const auto batch = BroadcastShapes(op, Shape(a.shape().begin(), a.shape().end() - 2),
                                     Shape(b.shape().begin(), b.shape().end() - 2));
  if (!batch.ok()) return Tensor(batch.status());
  Shape out = *batch;
  if (x.ndim() > 1) out.push_back(m);
  if (y.ndim() > 1) out.push_back(n);
  const int64_t last = static_cast<int64_t>(batch->size()) + 2;
  return SumOfProducts(op, a.Unsqueeze(-2), b.Transpose().Unsqueeze(-3), {last}, acc).Reshape(out);
}

}  // namespace tensor_internal

namespace {

// Refuses operands whose ranks are not these.
absl::Status WantRanks(const char* op, const Tensor& a, int rank_a, const Tensor& b, int rank_b) {
  US_RETURN_IF_ERROR(FirstError({&a, &b}));
  if (a.ndim() != rank_a || b.ndim() != rank_b) {
    return Bad(op, "shapes ", Text(a.shape()), " and ", Text(b.shape()), ", expected rank ", rank_a,
               " and rank ", rank_b);
  }
  return absl::OkStatus();
}

Tensor RankedMatmul(const char* op, const Tensor& a, int rank_a, const Tensor& b, int rank_b) {
  if (absl::Status s = WantRanks(op, a, rank_a, b, rank_b); !s.ok()) return Tensor(s);
  if (rank_a == 3 && rank_b == 3 && a.shape()[0] != b.shape()[0]) {
    return Refuse(op, "batches of ", a.shape()[0], " and ", b.shape()[0], " matrices, expected equal");
  }
  const DType t = Promote(a.dtype(), b.dtype());
  return tensor_internal::MatmulIn(op, a, b, ProductType(t)).Cast(t);
}

// beta input + alpha product, where `product` is still in the type of accumulation.
Tensor Blend(const char* op, const Tensor& input, const Tensor& product, Number beta, Number alpha, DType t) {
  if (absl::Status s = FirstError({&input, &product}); !s.ok()) return Tensor(s);
  t = Promote(t, input.dtype());
  for (const Number& n : {beta, alpha}) {
    if (n.kind() == Number::Kind::kFloat && !t.IsFloat())
      return Refuse(op, "factor ", n.as_double(), " for dtype ", t.Name(), ", expected an integer");
  }
  const auto shape = tensor_internal::BroadcastShapes(op, input.shape(), product.shape());
  if (!shape.ok()) return Tensor(shape.status());
  if (*shape != product.shape()) {
    return Refuse(op, "input ", Text(input.shape()), " does not broadcast to the product's shape ",
                  Text(product.shape()));
  }
  const DType acc = ProductType(t);
  Tensor y = product.Cast(acc);
  if (alpha.as_double() != 1) y = t.IsBool() ? y.BitAnd(alpha.as_double() != 0) : y * alpha;
  if (beta.as_double() != 0) {
    const Tensor x = input.Cast(acc);
    y = (beta.as_double() == 1 || t.IsBool() ? x : x * beta) + y;
  }
  return y.Cast(t);
}

Tensor AddProduct(const char* op, const Tensor& input, const Tensor& a, int rank_a, const Tensor& b,
                  int rank_b, Number beta, Number alpha) {
  if (absl::Status s = WantRanks(op, a, rank_a, b, rank_b); !s.ok()) return Tensor(s);
  if (rank_a == 3 && a.shape()[0] != b.shape()[0])
    return Refuse(op, "batches of ", a.shape()[0], " and ", b.shape()[0], " matrices, expected equal");
  const DType t = Promote(a.dtype(), b.dtype());
  return Blend(op, input, tensor_internal::MatmulIn(op, a, b, ProductType(t)), beta, alpha, t);
}

}  // namespace

Tensor Matmul(const Tensor& a, const Tensor& b, std::optional<DType> accumulate) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  const DType t = Promote(a.dtype(), b.dtype());
  if (accumulate && !(t.IsFloat() && accumulate->IsFloat() && accumulate->lanes == 1)) {
    return Refuse("Matmul", "accumulation in ", accumulate->Name(), " of products of ", t.Name(),
                  ", expected floats");
  }
  return tensor_internal::MatmulIn("Matmul", a, b, accumulate.value_or(ProductType(t))).Cast(t);
}

Tensor Tensor::Matmul(const Tensor& other) const { return understudy::Matmul(*this, other); }

Tensor Dot(const Tensor& a, const Tensor& b) { return RankedMatmul("Dot", a, 1, b, 1); }
Tensor Vdot(const Tensor& a, const Tensor& b) { return RankedMatmul("Vdot", a, 1, b, 1); }
Tensor Mv(const Tensor& a, const Tensor& b) { return RankedMatmul("Mv", a, 2, b, 1); }
Tensor Mm(const Tensor& a, const Tensor& b) { return RankedMatmul("Mm", a, 2, b, 2); }
Tensor Bmm(const Tensor& a, const Tensor& b) { return RankedMatmul("Bmm", a, 3, b, 3); }

Tensor Outer(const Tensor& a, const Tensor& b) {
  if (absl::Status s = WantRanks("Outer", a, 1, b, 1); !s.ok()) return Tensor(s);
  return a.Unsqueeze(1) * b;
}

Tensor Inner(const Tensor& a, const Tensor& b) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  if (a.ndim() == 0 || b.ndim() == 0) return a * b;
  return Tensordot(a, b, Ints{a.ndim() - 1}, Ints{b.ndim() - 1});
}

Tensor Addmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta, Number alpha) {
  return AddProduct("Addmm", input, a, 2, b, 2, beta, alpha);
}
Tensor Addmv(const Tensor& input, const Tensor& a, const Tensor& b, Number beta, Number alpha) {
  return AddProduct("Addmv", input, a, 2, b, 1, beta, alpha);
}
Tensor Baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta, Number alpha) {
  return AddProduct("Baddbmm", input, a, 3, b, 3, beta, alpha);
}
Tensor Addr(const Tensor& input, const Tensor& a, const Tensor& b, Number beta, Number alpha) {
  if (absl::Status s = WantRanks("Addr", a, 1, b, 1); !s.ok()) return Tensor(s);
  const DType t = Promote(a.dtype(), b.dtype());
  return Blend("Addr", input, a.Cast(ProductType(t)).Unsqueeze(1) * b.Cast(ProductType(t)), beta, alpha, t);
}
Tensor Addbmm(const Tensor& input, const Tensor& a, const Tensor& b, Number beta, Number alpha) {
  if (absl::Status s = WantRanks("Addbmm", a, 3, b, 3); !s.ok()) return Tensor(s);
  if (a.shape()[0] != b.shape()[0])
    return Refuse("Addbmm", "batches of ", a.shape()[0], " and ", b.shape()[0], " matrices, expected equal");
  // {b, n, k} as {n, b k} with {b k, m}: one sum over both.
  const int64_t batch = a.shape()[0], n = a.shape()[1], k = a.shape()[2];
  if (b.shape()[1] != k)
    return Refuse("Addbmm", "inner sizes ", k, " and ", b.shape()[1], ", expected equal");
  const DType t = Promote(a.dtype(), b.dtype());
  const Tensor product = tensor_internal::MatmulIn("Addbmm", a.Permute({1, 0, 2}).Reshape({n, batch * k}),
                                                   b.Reshape({batch * k, b.shape()[2]}), ProductType(t));
  return Blend("Addbmm", input, product, beta, alpha, t);
}

Tensor MultiDot(const std::vector<Tensor>& given) {
  if (given.size() < 2) return Refuse("MultiDot", given.size(), " tensors, expected at least 2");
  std::vector<Tensor> m = given;
  const size_t last = m.size() - 1;
  for (size_t i = 0; i <= last; ++i) {
    if (!m[i].ok()) return m[i];
    const bool end = i == 0 || i == last;
    if (m[i].ndim() != 2 && !(end && m[i].ndim() == 1))
      return Refuse("MultiDot", "tensor ", i, " of shape ", Text(m[i].shape()), ", expected a matrix");
  }
  const bool row = m[0].ndim() == 1, column = m[last].ndim() == 1;
  if (row) m[0] = m[0].Unsqueeze(0);
  if (column) m[last] = m[last].Unsqueeze(1);
  // The classic dynamic program: cost[i][j] of the product of i..j, and where to cut it.
  const size_t n = m.size();
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  const auto rows = [&](size_t i) { return static_cast<double>(m[i].shape()[0]); };
  const auto columns = [&](size_t i) { return static_cast<double>(m[i].shape()[1]); };
  for (size_t length = 1; length < n; ++length) {
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = INFINITY;
      for (size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] + rows(i) * columns(k) * columns(j);
        if (c < cost[i][j]) {
          cost[i][j] = c;
          cut[i][j] = k;
        }
      }
    }
  }
  const std::function<Tensor(size_t, size_t)> product = [&](size_t i, size_t j) {
    return i == j ? m[i] : Mm(product(i, cut[i][j]), product(cut[i][j] + 1, j));
  };
  Tensor y = product(0, last);
  if (!y.ok()) return y;
  Shape out;
  if (!row) out.push_back(y.shape()[0]);
  if (!column) out.push_back(y.shape()[1]);
  return y.Reshape(out);
}

Tensor Tensordot(const Tensor& a, const Tensor& b, int64_t dims) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  if (dims < 0 || dims > a.ndim() || dims > b.ndim()) {
    return Refuse("Tensordot", dims, " axes of shapes ", Text(a.shape()), " and ", Text(b.shape()),
                  ", expected 0 to the lower rank");
  }
  Ints of_a, of_b;
  for (int64_t i = 0; i < dims; ++i) {
    of_a.push_back(a.ndim() - dims + i);
    of_b.push_back(i);
  }
  return Tensordot(a, b, of_a, of_b);
}

Tensor Tensordot(const Tensor& a, const Tensor& b, const Ints& axes_a, const Ints& axes_b) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  if (axes_a.size() != axes_b.size())
    return Refuse("Tensordot", axes_a.size(), " and ", axes_b.size(), " axes, expected as many of both");
  Ints of_a, of_b;
  for (size_t i = 0; i < axes_a.size(); ++i) {
    const auto x = tensor_internal::Axis("Tensordot", axes_a[i], a.ndim());
    const auto y = tensor_internal::Axis("Tensordot", axes_b[i], b.ndim());
    if (!x.ok()) return Tensor(x.status());
    if (!y.ok()) return Tensor(y.status());
    if (std::count(of_a.begin(), of_a.end(), *x) || std::count(of_b.begin(), of_b.end(), *y))
      return Refuse("Tensordot", "axes ", Text(axes_a), " and ", Text(axes_b), ", expected each once");
    if (a.shape()[*x] != b.shape()[*y]) {
      return Refuse("Tensordot", "axis ", axes_a[i], " of ", Text(a.shape()), " and axis ", axes_b[i], " of ",
                    Text(b.shape()), ", expected equal sizes");
    }
    of_a.push_back(*x);
    of_b.push_back(*y);
  }
  // {free of a, contracted} times {free of b, contracted}, as one matrix product.
  Shape out;
  const auto order = [&](const Tensor& t, const Ints& contracted) {
    Ints p;
    for (int i = 0; i < t.ndim(); ++i) {
      if (std::count(contracted.begin(), contracted.end(), i)) continue;
      p.push_back(i);
      out.push_back(t.shape()[i]);
    }
    p.insert(p.end(), contracted.begin(), contracted.end());
    return t.Permute(p);
  };
  const Tensor x = order(a, of_a), y = order(b, of_b);
  int64_t k = 1, n = 1, m = 1;
  for (const int64_t i : of_a) k *= a.shape()[i];
  for (size_t i = 0; i + of_a.size() < static_cast<size_t>(a.ndim()); ++i) n *= x.shape()[i];
  for (size_t i = 0; i + of_b.size() < static_cast<size_t>(b.ndim()); ++i) m *= y.shape()[i];
  const DType t = Promote(a.dtype(), b.dtype());
  return tensor_internal::MatmulIn("Tensordot", x.Reshape({n, k}), y.Reshape({m, k}).Transpose(),
                                   ProductType(t))
      .Cast(t)
      .Reshape(out);
}

Tensor Kron(const Tensor& a, const Tensor& b) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  const int rank = std::max(a.ndim(), b.ndim());
  Shape x, y, out;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.ndim()), ib = i - (rank - b.ndim());
    const int64_t p = ia < 0 ? 1 : a.shape()[ia], q = ib < 0 ? 1 : b.shape()[ib];
    x.insert(x.end(), {p, 1});
    y.insert(y.end(), {1, q});
    out.push_back(p * q);
  }
  return (a.Reshape(x) * b.Reshape(y)).Reshape(out);
}

Tensor Linear(const Tensor& input, const Tensor& weight, const Tensor* bias) {
  if (absl::Status s = FirstError({&input, &weight, bias}); !s.ok()) return Tensor(s);
  if ((weight.ndim() != 2 && weight.ndim() != 1) || input.ndim() < 1 ||
      input.shape().back() != weight.shape().back()) {
    return Refuse("Linear", "input ", Text(input.shape()), " and weight ", Text(weight.shape()),
                  ", expected [...,in] and [out,in]");
  }
  DType t = Promote(input.dtype(), weight.dtype());
  if (bias != nullptr) {
    const Shape out(weight.shape().begin(), weight.shape().end() - 1);
    if (bias->shape() != out)
      return Refuse("Linear", "bias of shape ", Text(bias->shape()), ", expected ", Text(out));
    t = Promote(t, bias->dtype());
  }
  const DType acc = ProductType(t);
  Tensor y =
      tensor_internal::MatmulIn("Linear", input, weight.ndim() == 2 ? weight.Transpose() : weight, acc);
  if (bias != nullptr) y = y + bias->Cast(acc);
  return y.Cast(t);
}

Tensor Bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor* bias) {
  if (absl::Status s = FirstError({&a, &b, &weight, bias}); !s.ok()) return Tensor(s);
  const bool fits = a.ndim() >= 1 && a.ndim() == b.ndim() && weight.ndim() == 3 &&
                    std::equal(a.shape().begin(), a.shape().end() - 1, b.shape().begin()) &&
                    a.shape().back() == weight.shape()[1] && b.shape().back() == weight.shape()[2];
  if (!fits) {
    return Refuse("Bilinear", "inputs ", Text(a.shape()), " and ", Text(b.shape()), " and weight ",
                  Text(weight.shape()), ", expected [...,in1], [...,in2] and [out,in1,in2]");
  }
  DType t = Promote(Promote(a.dtype(), b.dtype()), weight.dtype());
  if (bias != nullptr) {
    if (bias->shape() != Shape{weight.shape()[0]})
      return Refuse("Bilinear", "bias of shape ", Text(bias->shape()), ", expected [", weight.shape()[0],
                    "]");
    t = Promote(t, bias->dtype());
  }
  const DType acc = ProductType(t);
  // sum_j (sum_i a_i w_oij) b_j
  Tensor left = tensor_internal::MatmulIn("Bilinear", a.Unsqueeze(-2).Unsqueeze(-2), weight, acc).Squeeze(-2);
  Tensor y = tensor_internal::SumOfProducts("Bilinear", left, b.Unsqueeze(-2), {left.ndim() - 1}, acc);
  if (bias != nullptr) y = y + bias->Cast(acc);
  return y.Cast(t);
}

Tensor Trace(const Tensor& a) {
  if (!a.ok()) return a;
  if (a.ndim() != 2) return Refuse("Trace", "shape ", Text(a.shape()), ", expected a matrix");
  // The diagonal of an n x n part is every (n + 1)-th element.
  const int64_t n = std::min(a.shape()[0], a.shape()[1]);
  if (n == 0) return a.Sum();
  return a.Shrink({{0, n}, {0, n}}).Reshape({n * n}).Index({Slice{0, std::nullopt, n + 1}}).Sum();
}

Tensor Cross(const Tensor& a, const Tensor& b, int64_t dim) {
  if (absl::Status s = FirstError({&a, &b}); !s.ok()) return Tensor(s);
  const auto shape = tensor_internal::BroadcastShapes("Cross", a.shape(), b.shape());
  if (!shape.ok()) return Tensor(shape.status());
  const auto axis = tensor_internal::Axis("Cross", dim, static_cast<int>(shape->size()));
  if (!axis.ok()) return Tensor(axis.status());
  if ((*shape)[*axis] != 3 || a.ndim() != b.ndim())
    return Refuse("Cross", "shapes ", Text(a.shape()), " and ", Text(b.shape()), ", expected size 3 at axis ",
                  dim);
  // Turned left by one and by two, as views of two copies.
  const auto turn = [&](const Tensor& t, int64_t by) {
    Tensor twice = tensor_internal::SplitAxis(t.Expand(*shape), *axis, {1, 3});
    Shape s = twice.shape();
    s[*axis] = 2;
    Shape joined = *shape;
    joined[*axis] = 6;
    return tensor_internal::Cut(twice.Expand(s).Reshape(joined), *axis, by, by + 3);
  };
  return turn(a, 1) * turn(b, 2) - turn(a, 2) * turn(b, 1);
}

Tensor MatrixPower(const Tensor& a, int64_t n) {
  if (!a.ok()) return a;
  if (a.ndim() < 2 || a.shape()[a.ndim() - 1] != a.shape()[a.ndim() - 2])
    return Refuse("MatrixPower", "shape ", Text(a.shape()), ", expected square matrices");
  if (n == INT64_MIN) return Refuse("MatrixPower", "power ", n, " is too low");
  if (n == 0) {
    return Tensor::Eye(a.shape().back(), std::nullopt, {a.dtype(), a.device()}).Expand(a.shape());
  }
  Tensor base = n < 0 ? Inverse(a) : a, result;
  for (uint64_t k = static_cast<uint64_t>(n < 0 ? -n : n); k != 0; k >>= 1) {
    if (k & 1) result = result.ok() ? Matmul(result, base) : base;
    if (k > 1) base = Matmul(base, base);
    if (!base.ok()) return base;
  }
  return result;
}

Tensor VectorNorm(const Tensor& x0, double p, const Ints& axes, bool keepdim) {
  if (absl::Status s = tensor_internal::WantFloats("VectorNorm", {&x0}); !s.ok()) return Tensor(s);
  if (std::isnan(p)) return Refuse("VectorNorm", "p is NaN");
  const DType t = x0.dtype();
  const Tensor x = x0.Cast(AccType(t));
  const auto kept = [&](const Tensor& y) { return y.Cast(t); };
  if (p == INFINITY) {
    // Of nothing: 0, as PyTorch.
    const auto a = tensor_internal::Axes("VectorNorm", axes, x.ndim());
    if (!a.ok()) return Tensor(a.status());
    for (const int64_t i : *a) {
      if (x.shape()[i] == 0) return kept(x.Sum(axes, keepdim));
    }
    return kept(x.Abs().Max(axes, keepdim));
  }
  if (p == -INFINITY) return kept(x.Abs().Min(axes, keepdim));
  if (p == 0) return kept(x.Ne(0).Cast(x.dtype()).Sum(axes, keepdim));
  if (p == 1) return kept(x.Abs().Sum(axes, keepdim));
  // Roots and powers are taken of 1 where the argument is 0, so that the gradient is 0 there and not NaN.
  const auto guarded = [](const Tensor& v, double at_zero, const std::function<Tensor(const Tensor&)>& f) {
    const Tensor zero = v.Eq(0);
    return Where(zero, at_zero, f(Where(zero, 1.0, v)));
  };
  if (p == 2) {
    return kept(guarded(x.Square().Sum(axes, keepdim), 0, [](const Tensor& v) { return v.Sqrt(); }));
  }
  const double at_zero = p > 0 ? 0 : INFINITY;
  const Tensor sum = guarded(x.Abs(), at_zero, [&](const Tensor& v) { return v.Pow(p); }).Sum(axes, keepdim);
  return kept(guarded(sum, at_zero, [&](const Tensor& v) { return v.Pow(1 / p); }));
}

}  // namespace understudy
