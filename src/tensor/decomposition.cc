// SPDX-License-Identifier: Apache-2.0
// Elimination, substitution, Householder reflections and Jacobi rotations, unrolled over the columns. Each
// step is stored (Contiguous), as the next one reads all of it several times. Derivatives are those of the
// steps: choices of pivots and of order are comparisons and have none.
#include "src/tensor/decomposition.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/linalg.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Cut;
using tensor_internal::Text;

// True in rows [r0, r1) and columns [c0, c1) of {n, m}: index arithmetic, no storage.
Tensor Block(const Tensor& like, int64_t n, int64_t m, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  return Tensor::Full({r1 - r0, c1 - c0}, true, {dtypes::kBool, like.device()})
      .Pad({{r0, n - r1}, {c0, m - c1}}, false);
}

int64_t Rows(const Tensor& a) { return a.shape()[a.ndim() - 2]; }
int64_t Columns(const Tensor& a) { return a.shape()[a.ndim() - 1]; }
Tensor Column(const Tensor& a, int64_t c) { return Cut(a, a.ndim() - 1, c, c + 1); }
Tensor Row(const Tensor& a, int64_t r) { return Cut(a, a.ndim() - 2, r, r + 1); }

// Every element at or above (below) the diagonal.
Tensor Triangle(const Tensor& like, int64_t n, int64_t m, bool upper) {
  const Tensor rows = tensor_internal::Positions(n, 0, 2, like),
               columns = tensor_internal::Positions(m, 1, 2, like);
  return upper ? columns.Ge(rows) : columns.Le(rows);
}

absl::Status CheckMatrix(const char* op, const Tensor& a, bool square, int64_t limit) {
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&a}));
  if (a.ndim() < 2) return Bad(op, "shape ", Text(a.shape()), ", expected matrices");
  if (square && Rows(a) != Columns(a))
    return Bad(op, "shape ", Text(a.shape()), ", expected square matrices");
  if (std::min(Rows(a), Columns(a)) > limit) {
    return absl::UnimplementedError(absl::StrCat(op, ": matrices of ", Rows(a), " by ", Columns(a),
                                                 ", expected a smaller side of at most ", limit));
  }
  return absl::OkStatus();
}

// One step of elimination with row pivoting: the largest element of column c at or below row c comes to row
// c.
struct Pivoted {
  Tensor matrix;   // rows c and p exchanged
  Tensor pivot;    // {..., 1, 1}
  Tensor swapped;  // {..., 1, 1} bool
};
Pivoted Pivot(const Tensor& m, int64_t c, const Tensor& position) {
  const int64_t n = Rows(m), axis = m.ndim() - 2;
  const Tensor below = Block(m, n, 1, c, n, 0, 1);
  const Tensor size = Where(below, Column(m, c).Detach().Abs(), -1.0);
  const Tensor hit = size.Eq(size.Max({axis}, true)).BitOr(size.IsNan());
  const Tensor row = Where(hit.BitAnd(below), position, n).Min({axis}, true).Contiguous();
  const Tensor chosen = position.Eq(row), current = Block(m, n, 1, c, c + 1, 0, 1);
  const Tensor at_pivot = Where(chosen, m, 0.0).Sum({axis}, true);
  const Tensor matrix = Where(current, at_pivot, Where(chosen, Row(m, c), m)).Contiguous();
  return {matrix, Column(Row(matrix, c), c), row.Ne(c)};
}

// The product of the pivots and of the signs of the exchanges.
struct Elimination {
  std::vector<Tensor> pivots;  // {...}
  std::vector<Tensor> swapped;
};
Elimination Eliminate(const Tensor& a) {
  Elimination e;
  const int64_t n = Rows(a);
  const Tensor position = tensor_internal::Positions(n, 0, 2, a);
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  Tensor m = a;
  for (int64_t c = 0; c < n; ++c) {
    const Pivoted p = Pivot(m, c, position);
    e.pivots.push_back(p.pivot.Reshape(batch));
    e.swapped.push_back(p.swapped.Reshape(batch));
    if (c + 1 == n) break;
    // A pivot of 0 has only zeros below it.
    const Tensor divisor = Where(p.pivot.Eq(0), 1.0, p.pivot);
    const Tensor rest = p.matrix - Column(p.matrix, c) / divisor * Row(p.matrix, c);
    m = Where(Block(a, n, n, c + 1, n, c + 1, n), rest, p.matrix).Contiguous();
  }
  return e;
}

absl::StatusOr<Tensor> SolveChecked(const Tensor& a, const Tensor& b) {
  US_RETURN_IF_ERROR(CheckMatrix("Solve", a, true, kMaxDecompositionSize));
  US_RETURN_IF_ERROR(tensor_internal::WantFloats("Solve", {&b}));
  const bool vector = b.ndim() == 1;
  const Tensor right = vector ? b.Unsqueeze(1) : b;
  const int64_t n = Rows(a);
  if (right.ndim() < 2 || Rows(right) != n)
    return Bad("Solve", "shapes ", Text(a.shape()), " and ", Text(b.shape()),
               ", expected [...,n,n] and [...,n,k] or [n]");
  US_ASSIGN_OR_RETURN(
      Shape batch, tensor_internal::BroadcastShapes("Solve", Shape(a.shape().begin(), a.shape().end() - 2),
                                                    Shape(right.shape().begin(), right.shape().end() - 2)));
  const DType t = Promote(a.dtype(), b.dtype()), compute = tensor_internal::ComputeType(t);
  const auto widened = [&](const Tensor& x) {
    Shape s = batch;
    s.insert(s.end(), x.shape().end() - 2, x.shape().end());
    return x.Cast(compute).Expand(s);
  };
  const Tensor left = widened(a);
  const int64_t k = Columns(right), axis = left.ndim() - 1;
  // Gauss and Jordan on both sides at once.
  Tensor m = Cat({left, widened(right)}, axis).Contiguous();
  const Tensor position = tensor_internal::Positions(n, 0, 2, a);
  for (int64_t c = 0; c < n; ++c) {
    const Pivoted p = Pivot(m, c, position);
    const Tensor row = Row(p.matrix, c) / p.pivot;
    m = Where(Block(a, n, 1, c, c + 1, 0, 1), row, p.matrix - Column(p.matrix, c) * row).Contiguous();
  }
  const Tensor x = Cut(m, axis, n, n + k).Cast(t);
  return vector ? x.Squeeze(-1) : x;
}

absl::StatusOr<Tensor> CholeskyChecked(const Tensor& a, bool upper) {
  US_RETURN_IF_ERROR(CheckMatrix("Cholesky", a, true, kMaxDecompositionSize));
  const int64_t n = Rows(a);
  const Tensor x = a.Cast(tensor_internal::ComputeType(a.dtype()));
  if (n == 0) return a;
  // Column c of the factor replaces that of the matrix, whose rest loses the column's product with itself.
  const Tensor lower = Triangle(a, n, n, false);
  Tensor m = upper ? x.Transpose() : x;
  m = Where(lower, m, m.Transpose()).Contiguous();
  for (int64_t c = 0; c < n; ++c) {
    const Tensor column = (Column(m, c) / Column(Row(m, c), c).Sqrt()).Contiguous();
    const Tensor rest = m - column * column.Transpose();
    m = Where(Block(a, n, n, c, n, c, c + 1), column, Where(Block(a, n, n, c + 1, n, c + 1, n), rest, m))
            .Contiguous();
  }
  const Tensor factor = Where(lower, m, 0.0).Cast(a.dtype());
  return upper ? factor.Transpose() : factor;
}

absl::StatusOr<Tensor> SolveTriangularChecked(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  US_RETURN_IF_ERROR(CheckMatrix("SolveTriangular", a, true, kMaxDecompositionSize));
  US_RETURN_IF_ERROR(tensor_internal::WantFloats("SolveTriangular", {&b}));
  const int64_t n = Rows(a);
  if (b.ndim() < 2 || Rows(b) != n)
    return Bad("SolveTriangular", "shapes ", Text(a.shape()), " and ", Text(b.shape()),
               ", expected [...,n,n] and [...,n,k]");
  US_RETURN_IF_ERROR(tensor_internal::BroadcastShapes("SolveTriangular",
                                                      Shape(a.shape().begin(), a.shape().end() - 2),
                                                      Shape(b.shape().begin(), b.shape().end() - 2))
                         .status());
  const DType t = Promote(a.dtype(), b.dtype()), compute = tensor_internal::ComputeType(t);
  Tensor m = a.Cast(compute), x = b.Cast(compute);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = upper ? n - 1 - i : i;
    Tensor row = Row(x, c);
    if (!unit) row = row / Column(Row(m, c), c);
    const Tensor rest = x - Column(m, c) * row;
    const Tensor open = upper ? Block(a, n, 1, 0, c, 0, 1) : Block(a, n, 1, c + 1, n, 0, 1);
    x = Where(Block(a, n, 1, c, c + 1, 0, 1), row, Where(open, rest, x)).Contiguous();
  }
  return x.Cast(t);
}

// Householder: H = I - 2 v v' / v'v takes the column to beta e1, with beta of the sign that does not cancel.
absl::StatusOr<QrResult> QrChecked(const Tensor& a, bool complete) {
  US_RETURN_IF_ERROR(CheckMatrix("Qr", a, false, kMaxDecompositionSize));
  const int64_t m = Rows(a), n = Columns(a), k = std::min(m, n);
  const DType t = a.dtype(), compute = tensor_internal::ComputeType(t);
  if (complete && m > 4 * kMaxDecompositionSize)
    return absl::UnimplementedError(
        absl::StrCat("Qr: complete factor of ", m, " rows, expected at most ", 4 * kMaxDecompositionSize));
  Shape square(a.shape().begin(), a.shape().end() - 2);
  const int64_t width = complete ? m : k;
  square.insert(square.end(), {m, width});
  Tensor r = a.Cast(compute);
  std::vector<Tensor> vectors, factors;
  for (int64_t c = 0; c < k && c + 1 < m; ++c) {
    const int64_t axis = r.ndim() - 2;
    const Tensor column = Column(r, c), head = Row(column, c);
    const Tensor below = Where(Block(a, m, 1, c + 1, m, 0, 1), column, 0.0);
    const Tensor tail = below.Square().Sum({axis}, true);
    // Nothing below: no reflection, and no slope of a root of 0.
    const Tensor none = tail.Eq(0);
    const Tensor length = Where(none, 1.0, head.Square() + tail).Sqrt();
    const Tensor beta = Where(head.Lt(0), length, -length);
    const Tensor v0 = head - beta;
    const Tensor v = Where(Block(a, m, 1, c, c + 1, 0, 1), v0, below).Contiguous();
    const Tensor factor = Where(none, 0.0, 2.0 / Where(none, 1.0, v0.Square() + tail)).Contiguous();
    r = (r - v * (factor * Matmul(v.Transpose(), r))).Contiguous();
    vectors.push_back(v);
    factors.push_back(factor);
  }
  // The reflections applied to the first columns of the identity, the last one first.
  Tensor q = Tensor::Eye(m, width, {compute, a.device()}).Expand(square);
  for (size_t i = vectors.size(); i-- > 0;)
    q = (q - vectors[i] * (factors[i] * Matmul(vectors[i].Transpose(), q))).Contiguous();
  const Tensor rows = Cut(r, r.ndim() - 2, 0, width);
  return QrResult{q.Cast(t), Where(Triangle(a, width, n, true), rows, 0.0).Cast(t)};
}

// Rotations that make the columns of a tall matrix orthogonal, all disjoint pairs of a round at once: column
// i with column n - 1 - i, after which all columns but the first move on by one. n - 1 rounds meet every pair
// and bring each column back. The same rotations of the identity, stacked below, give the right vectors.
Tensor JacobiRound(const Tensor& stacked, int64_t rows) {
  const int64_t n = Columns(stacked), half = n / 2, axis = stacked.ndim() - 1;
  const Tensor left = Cut(stacked, axis, 0, half), right = Cut(stacked, axis, half, n).Flip({axis});
  const Tensor a = Cut(left, axis - 1, 0, rows), b = Cut(right, axis - 1, 0, rows);
  const Tensor alpha = a.Square().Sum({axis - 1}, true), beta = b.Square().Sum({axis - 1}, true);
  const Tensor gamma = (a * b).Sum({axis - 1}, true);
  // tan = 2 gamma / (d + sign(d) sqrt(d^2 + 4 gamma^2)), d = beta - alpha: smooth where gamma is 0.
  const Tensor d = beta - alpha, square = d.Square() + gamma.Square() * 4.0;
  const Tensor still = square.Eq(0);
  const Tensor root = Where(still, 1.0, square).Sqrt();
  const Tensor tangent = Where(still, 0.0, gamma * 2.0 / (d + Where(d.Lt(0), -root, root))).Contiguous();
  const Tensor cosine = 1.0 / (tangent.Square() + 1.0).Sqrt(), sine = cosine * tangent;
  const Tensor new_left = left * cosine - right * sine;
  const Tensor new_right = (left * sine + right * cosine).Flip({axis});
  const Tensor all = Cat({new_left, new_right}, axis).Contiguous();
  return Cat({Cut(all, axis, 0, 1), Cut(all, axis, n - 1, n), Cut(all, axis, 1, n - 1)}, axis).Contiguous();
}

absl::StatusOr<SvdResult> SvdChecked(const Tensor& a) {
  US_RETURN_IF_ERROR(CheckMatrix("Svd", a, false, kMaxSvdSize));
  if (Rows(a) < Columns(a)) {
    US_ASSIGN_OR_RETURN(const SvdResult t, SvdChecked(a.Transpose()));
    return SvdResult{t.vh.Transpose(), t.s, t.u.Transpose()};
  }
  const int64_t m = Rows(a), n = Columns(a), even = n + n % 2, axis = a.ndim() - 1;
  const DType t = a.dtype(), compute = tensor_internal::ComputeType(t);
  if (n == 0) {
    Shape s(a.shape().begin(), a.shape().end() - 2), square = s;
    s.push_back(0);
    square.insert(square.end(), {0, 0});
    return SvdResult{a, a.Sum({axis - 1}), a.Reshape(square)};
  }
  Shape eye(a.shape().begin(), a.shape().end() - 2);
  eye.insert(eye.end(), {even, even});
  Tensor stacked = Cat({tensor_internal::PadAxis(a.Cast(compute), axis, 0, even - n),
                        Tensor::Eye(even, std::nullopt, {compute, a.device()}).Expand(eye)},
                       axis - 1)
                       .Contiguous();
  // Convergence is quadratic: once the angles are small three sweeps square them past the last bit. Measured
  // for n up to 32: 6 sweeps in f32, 7 in f64; two more let the first and second derivatives settle.
  const int sweeps = n == 1 ? 0 : compute == dtypes::kFloat64 ? 9 : 8;
  for (int64_t i = 0; i < sweeps * (even - 1); ++i) stacked = JacobiRound(stacked, m);
  // In falling order of length; the place of a column is the number of columns before it.
  const Tensor w = Cut(Cut(stacked, axis, 0, n), axis - 1, 0, m);
  const Tensor v = Cut(Cut(stacked, axis, 0, n), axis - 1, m, m + n);
  const Tensor length = VectorNorm(w, 2, {axis - 1}, true).Contiguous();  // {..., 1, n}
  const Tensor fixed = length.Detach(), other = fixed.Transpose();
  const Tensor index = tensor_internal::Positions(n, 1, 2, a), along = tensor_internal::Positions(n, 0, 2, a);
  const Tensor before = other.Gt(fixed).BitOr(other.Eq(fixed).BitAnd(along.Lt(index)));
  const Tensor place = before.Cast(dtypes::kInt64).Sum({axis - 1}, true).Contiguous();  // {..., 1, n}
  const Tensor hit = place.Transpose().Eq(index);                                       // {..., from, to}
  const auto sorted = [&](const Tensor& x) {
    return Where(hit.Unsqueeze(-3), x.Unsqueeze(-1), 0.0).Sum({x.ndim() - 1}).Contiguous();
  };
  const Tensor s = sorted(length), ws = sorted(w), vs = sorted(v);
  // The columns are orthogonal, so their QR has a diagonal r; its q is orthonormal even where a length is 0.
  US_ASSIGN_OR_RETURN(const QrResult qr, QrChecked(ws, false));
  const Tensor diagonal = Where(along.Eq(index), qr.r, 0.0).Sum({axis - 1}, true);
  const Tensor u = Where(diagonal.Lt(0), -qr.q, qr.q);
  return SvdResult{u.Cast(t), s.Squeeze(-2).Cast(t), vs.Transpose().Cast(t)};
}

}  // namespace

Tensor Solve(const Tensor& a, const Tensor& b) {
  auto x = SolveChecked(a, b);
  return x.ok() ? *x : Tensor(x.status());
}

Tensor Inverse(const Tensor& a) {
  if (absl::Status s = CheckMatrix("Inverse", a, true, kMaxDecompositionSize); !s.ok()) return Tensor(s);
  return Solve(a, Tensor::Eye(Rows(a), std::nullopt, {a.dtype(), a.device()}));
}

Tensor Det(const Tensor& a) {
  if (absl::Status s = CheckMatrix("Det", a, true, kMaxDecompositionSize); !s.ok()) return Tensor(s);
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  const DType compute = tensor_internal::ComputeType(a.dtype());
  Tensor det = Tensor::Full(batch, 1, {compute, a.device()});
  const Elimination e = Eliminate(a.Cast(compute));
  for (size_t i = 0; i < e.pivots.size(); ++i) det = det * Where(e.swapped[i], -e.pivots[i], e.pivots[i]);
  return det.Cast(a.dtype());
}

SlogdetResult Slogdet(const Tensor& a) {
  if (absl::Status s = CheckMatrix("Slogdet", a, true, kMaxDecompositionSize); !s.ok())
    return {Tensor(s), Tensor(s)};
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  const DType compute = tensor_internal::ComputeType(a.dtype());
  Tensor sign = Tensor::Full(batch, 1, {compute, a.device()}),
         log = Tensor::Full(batch, 0, {compute, a.device()});
  const Elimination e = Eliminate(a.Cast(compute));
  for (size_t i = 0; i < e.pivots.size(); ++i) {
    const Tensor p = e.pivots[i].Sign();
    sign = sign * Where(e.swapped[i], -p, p);
    log = log + e.pivots[i].Abs().Log();
  }
  return {sign.Cast(a.dtype()), log.Cast(a.dtype())};
}

Tensor Cholesky(const Tensor& a, bool upper) {
  auto x = CholeskyChecked(a, upper);
  return x.ok() ? *x : Tensor(x.status());
}

Tensor SolveTriangular(const Tensor& a, const Tensor& b, bool upper, bool unitriangular) {
  auto x = SolveTriangularChecked(a, b, upper, unitriangular);
  return x.ok() ? *x : Tensor(x.status());
}

QrResult Qr(const Tensor& a, bool complete) {
  auto x = QrChecked(a, complete);
  return x.ok() ? *x : QrResult{Tensor(x.status()), Tensor(x.status())};
}

SvdResult Svd(const Tensor& a) {
  auto x = SvdChecked(a);
  return x.ok() ? *x : SvdResult{Tensor(x.status()), Tensor(x.status()), Tensor(x.status())};
}

Tensor SvdVals(const Tensor& a) { return Svd(a).s; }

}  // namespace understudy
