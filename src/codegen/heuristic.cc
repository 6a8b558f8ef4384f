// SPDX-License-Identifier: Apache-2.0
// The cheap guess: no search, no timing, only strides and extents.
#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "src/codegen/affine.h"
#include "src/codegen/choices.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/keep.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Steps of a kernel that pay for waking the host's other threads (some 10 us).
constexpr int64_t kEnoughForThreads = 1 << 18;
// Work-items that a GPU wants before registers are worth more than parallelism.
constexpr int64_t kEnoughItems = 256;
// Steps from which on a reduction on the host is cut into parts. A sum of floats then rounds differently.
constexpr int64_t kEnoughToGroup = 256;

class Chooser {
 public:
  Chooser(const UOpRef& kernel, const Target& target, KernelRanges ranges)
      : kernel_(kernel), target_(target), ranges_(std::move(ranges)) {
    for (const UOp* n : uop::Toposort(kernel)) {
      if (n->op() == Op::kLoad) loads_.push_back(n->src(0));
      if (n->op() == Op::kStore) stores_.push_back(n->src(0));
      if (n->op() == Op::kLoad || n->op() == Op::kStore) {
        widest_ = std::max(widest_, n->src(0)->dtype().ScalarBytes());
      }
    }
    for (const UOpRef& r : ranges_.outputs) {
      left_.push_back(RangeEnd(r));
      outputs_ *= RangeEnd(r);
    }
    for (const UOpRef& r : ranges_.reduces) steps_ *= RangeEnd(r);
    // A scatter's sources, which every output range runs through in order.
    const UOpRef& first = kernel->src(0);
    for (size_t i = 2; i < first->num_src(); ++i) {
      if (RangeKind(first->src(i)) == AxisKind::kReduce) steps_ *= RangeEnd(first->src(i));
    }
  }

  ChoiceList Run() {
    if (target_.has_local) {
      if (!TensorCores()) Workgroups();
    } else {
      if (Contraction()) return std::move(choices_);
      if (Rows()) {
        Streams();
        return std::move(choices_);
      }
      ThreadsOnSlowest();
      if (ranges_.reduces.empty()) {
        if (!Transposition()) Elementwise();
      } else {
        HostReduction();
      }
      Streams();
    }
    return std::move(choices_);
  }

 private:
  // The distance in elements between neighbours along `range`; nullopt when it varies.
  std::optional<int64_t> Stride(const UOpRef& index, const UOpRef& range) {
    if (index->num_src() > 2 && free_.DependsOn(index->src(2), range)) return std::nullopt;
    int64_t stride = 0;
    for (const Affine::Term& t : AffineOf(index->src(1)).terms) {
      if (t.node == range) {
        stride = t.coefficient;
      } else if (free_.DependsOn(t.node, range)) {
        return std::nullopt;
      }
    }
    return stride;
  }

  bool Try(ChoiceKind kind, size_t axis, int64_t amount) {
    const Choice c{kind, static_cast<int>(axis), amount};
    const bool plain = kind == ChoiceKind::kTensorCore || kind == ChoiceKind::kSwap ||
                       kind == ChoiceKind::kPack || kind == ChoiceKind::kStream || kind == ChoiceKind::kKeep;
    if ((amount < 2 && !plain) || !CheckChoice(kernel_, target_, choices_, c).ok()) return false;
    choices_.push_back(c);
    if (!plain && kind != ChoiceKind::kUnroll && kind != ChoiceKind::kGroup)
      left_[axis] = (left_[axis] + amount - 1) / amount;
    return true;
  }
  bool TryLargest(ChoiceKind kind, size_t axis, std::initializer_list<int64_t> amounts) {
    for (const int64_t a : amounts) {
      if (Try(kind, axis, a)) return true;
    }
    return false;
  }

  // An output range along which everything is contiguous or constant, and something is contiguous.
  std::optional<size_t> VectorAxis() {
    for (size_t a = left_.size(); a-- > 0;) {
      const UOpRef& r = ranges_.outputs[a];
      const auto fits = [&](const UOpRef& index) {
        const auto s = Stride(index, r);
        return s == 0 || s == 1;
      };
      const auto contiguous = [&](const UOpRef& index) { return Stride(index, r) == 1; };
      if (std::all_of(loads_.begin(), loads_.end(), fits) &&
          std::all_of(stores_.begin(), stores_.end(), contiguous))
        return a;
    }
    return std::nullopt;
  }

  // An output range that some load does not vary with: a tile along it reads that operand once.
  std::optional<size_t> SharedAxis(std::optional<size_t> except) {
    for (size_t a = left_.size(); a-- > 0;) {
      if (a == except) continue;
      for (const UOpRef& index : loads_) {
        if (Stride(index, ranges_.outputs[a]) == 0) return a;
      }
    }
    return std::nullopt;
  }

  // Parts of the first of `axes` that is long enough, where there is work enough to pay for waking the
  // threads.
  void Threads(const std::vector<size_t>& axes) {
    if (!target_.has_threads || outputs_ * steps_ < kEnoughForThreads) return;
    for (const size_t a : axes) {
      for (int64_t threads = target_.threads; threads > 1; --threads) {
        if (left_[a] >= 4 * threads && Try(ChoiceKind::kThread, a, threads)) return;
      }
    }
  }
  void ThreadsOnSlowest() {
    std::vector<size_t> axes(left_.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    Threads(axes);
  }

  // Products of integers, which are exact; of floats only where the target says so, for they round as the
  // core does.
  bool TensorCores() {
    for (size_t core = 0; core < target_.tensor_cores.size(); ++core) {
      if (target_.tensor_cores[core].in.IsFloat() && !target_.float_tensor_cores) continue;
      if (!Try(ChoiceKind::kTensorCore, 0, static_cast<int64_t>(core))) continue;
      return true;
    }
    return false;
  }

  // --- a host's loops

  int64_t RegisterBytes() const { return target_.vector_bytes > 0 ? target_.vector_bytes : 64; }

  // What a product of matrices, a convolution and their like have in common: one reduction, of values of two
  // kinds. The columns vary with the output range `columns` alone, along which the output is contiguous; the
  // rows vary with `rows` alone.
  struct Product {
    size_t rows = 0, columns = 0;
    std::vector<int64_t> column_params;
    std::vector<int64_t> copied_row_params;  // scattered, or computed from what is read
    bool contiguous = true;                  // the columns, as they lie in memory
  };
  std::optional<Product> FindProduct() {
    const auto reduces = uop::NodesOf(kernel_, Op::kReduce);
    if (reduces.size() != 1) return std::nullopt;
    std::vector<UOpRef> loads;
    const UOpRef& term = reduces[0]->src(0);
    for (const UOp* n : uop::Toposort(term)) {
      if (n->op() == Op::kLoad) loads.push_back(n->src(0));
    }
    // Whether the product takes what is read as it is.
    const auto is_factor = [&](const UOpRef& index) {
      return std::any_of(term->src().begin(), term->src().end(),
                         [&](const UOpRef& s) { return s->op() == Op::kLoad && s->src(0) == index; });
    };
    std::optional<Product> best;
    for (size_t columns = left_.size(); columns-- > 0;) {
      const UOpRef& c = ranges_.outputs[columns];
      if (!std::all_of(stores_.begin(), stores_.end(), [&](const UOpRef& s) { return Stride(s, c) == 1; }))
        continue;
      for (size_t rows = 0; rows < left_.size(); ++rows) {
        if (rows == columns || (best && left_[rows] <= left_[best->rows])) continue;
        const UOpRef& r = ranges_.outputs[rows];
        Product p{rows, columns, {}, {}, true};
        bool fits = true;
        for (const UOpRef& load : loads) {
          const bool with_rows = free_.DependsOn(load, r), with_columns = free_.DependsOn(load, c);
          fits &= !(with_rows && with_columns);
          const int64_t param = load->src(0)->arg_as<int64_t>();
          if (with_columns) {
            p.column_params.push_back(param);
            p.contiguous &= Stride(load, c) == 1;
          } else if (with_rows &&
                     (load->num_src() > 2 || Stride(load, ranges_.reduces.back()) != 1 || !is_factor(load))) {
            p.copied_row_params.push_back(param);
          }
        }
        if (fits && !p.column_params.empty()) best = std::move(p);
      }
      if (best) return best;
    }
    return std::nullopt;
  }

  // A tile of the output in registers: rows times vectors of columns. The columns of a tile are packed once
  // for all rows. Where rows are better copied too, those of several tiles are packed once for all columns,
  // and the columns once for each such block.
  bool Contraction() {
    if (target_.pack_bytes == 0) return false;
    const std::optional<Product> found = FindProduct();
    if (!found) return false;
    const Product& p = *found;
    const DType type = uop::NodesOf(kernel_, Op::kReduce)[0]->dtype();
    const int64_t lanes = target_.vector_bytes / std::max(4, type.ScalarBytes());
    if (left_[p.columns] < lanes || left_[p.rows] < 2 || steps_ < 8) return false;
    const int64_t rows = left_[p.rows], accumulators = target_.vector_registers / 2;

    std::vector<size_t> axes;
    for (size_t a = 0; a < left_.size(); ++a) {
      if (a != p.rows && a != p.columns) axes.push_back(a);
    }
    axes.push_back(p.columns);
    axes.push_back(p.rows);
    Threads(axes);
    if (!Try(ChoiceKind::kVectorize, p.columns, lanes)) return Abandon();
    const int64_t height = std::min<int64_t>(left_[p.rows], accumulators / 2);
    Try(ChoiceKind::kUpcast, p.rows, height);
    const int64_t width = std::min(left_[p.columns], std::max<int64_t>(1, accumulators / height));
    Try(ChoiceKind::kUpcast, p.columns, width);
    const int64_t bytes = std::max(4, type.ScalarBytes()), panel = steps_ * lanes * width * bytes;
    if (rows < 2 * height || steps_ < 32 || panel > target_.pack_bytes) return p.contiguous || Abandon();
    const int64_t block = p.copied_row_params.empty() ? 0
                                                      : BlockOfRows(left_[p.rows], steps_ * height * bytes,
                                                                    target_.pack_bytes - panel);
    if (block > 1 && left_[p.columns] > 1 && Try(ChoiceKind::kBlock, p.rows, block)) {
      for (const int64_t param : p.column_params) {
        if (!Packs(param) && !Try(ChoiceKind::kPack, p.rows, param) && !p.contiguous) return Abandon();
      }
      for (const int64_t param : p.copied_row_params) {
        if (!Packs(param)) Try(ChoiceKind::kPack, p.columns, param);
      }
      return true;
    }
    // The loop over the rows turns fastest.
    for (size_t a = left_.size(); a-- > p.rows + 1;) {
      if (left_[a] > 1) {
        Try(ChoiceKind::kSwap, p.rows, static_cast<int64_t>(a));
        break;
      }
    }
    if (left_[p.rows] < 2) return p.contiguous || Abandon();
    for (const int64_t param : p.column_params) {
      if (Packs(param)) continue;
      if (!Try(ChoiceKind::kPack, p.rows, param) && !p.contiguous) return Abandon();
    }
    return true;
  }
  // How many tiles' rows, of `tile` bytes each, are packed together: at most 16, in the room of `bytes`, so
  // that the last block repeats as few tiles of the one before as may be.
  static int64_t BlockOfRows(int64_t tiles, int64_t tile, int64_t bytes) {
    int64_t best = 0, least = 0;
    for (int64_t block = std::min<int64_t>({16, tiles, bytes / tile}); block >= 4; --block) {
      const int64_t computed = (tiles + block - 1) / block * block;
      if (best == 0 || computed < least) {
        best = block;
        least = computed;
      }
    }
    return best;
  }
  bool Packs(int64_t param) const {
    return std::any_of(choices_.begin(), choices_.end(),
                       [&](const Choice& c) { return c.kind == ChoiceKind::kPack && c.amount == param; });
  }
  bool Abandon() {
    choices_.clear();
    for (size_t a = 0; a < left_.size(); ++a) left_[a] = RangeEnd(ranges_.outputs[a]);
    return false;
  }

  // Elements that move from rows to columns: in tiles of whole cache lines on both sides.
  bool Transposition() {
    constexpr int64_t kWritten = 16, kRead = 8;
    if (target_.vector_bytes == 0 || !IsSmall()) return false;
    for (size_t c = 0; c < left_.size(); ++c) {
      const UOpRef& column = ranges_.outputs[c];
      if (left_[c] < kWritten ||
          !std::all_of(
              stores_.begin(), stores_.end(), [&](const UOpRef& s) { return Stride(s, column) == 1; }))
        continue;
      for (size_t r = 0; r < left_.size(); ++r) {
        const bool turned = std::any_of(loads_.begin(), loads_.end(), [&](const UOpRef& load) {
          const auto far = Stride(load, column);
          return far && std::abs(*far) >= kWritten && Stride(load, ranges_.outputs[r]) == 1;
        });
        if (r == c || left_[r] < kRead || !turned) continue;
        Try(ChoiceKind::kUpcast, c, kWritten);
        Try(ChoiceKind::kUpcast, r, kRead);
        if (r < c) Try(ChoiceKind::kSwap, r, static_cast<int64_t>(c));
        return true;
      }
    }
    return false;
  }

  // A body that may be repeated often.
  bool IsSmall() const { return uop::Toposort(kernel_).size() <= 48; }

  bool IsStreamed(const UOpRef& store) const {
    return target_.stream_bytes > 0 && outputs_ * store->dtype().ScalarBytes() >= target_.stream_bytes;
  }
  // The loops are left to LLVM's own vectorizer, which also handles remainders, but for stores past the
  // caches: those it takes as whole vectors only.
  void Elementwise() {
    if (!std::any_of(stores_.begin(), stores_.end(), [&](const UOpRef& s) { return IsStreamed(s); })) return;
    const auto vector = VectorAxis();
    const int64_t lanes = RegisterBytes() / widest_;
    if (!vector || left_[*vector] % lanes != 0 || !Try(ChoiceKind::kVectorize, *vector, lanes)) return;
    Copies(*vector);
  }
  // Copies of the body whose chains of dependent operations go on side by side: the processor looks ahead
  // less far than the next turn of a long one.
  void Copies(size_t axis) {
    constexpr int64_t kOperations = 2000;
    for (const int64_t copies : {8, 4, 2}) {
      if (copies * Operations(kernel_) <= kOperations && left_[axis] % copies == 0 &&
          Try(ChoiceKind::kUpcast, axis, copies))
        return;
    }
  }
  // About how many a step of `root` takes once it is decomposed, beside what its reductions take.
  static int64_t Operations(const UOpRef& root) {
    int64_t n = 0;
    std::vector<const UOp*> stack{root.get()};
    absl::flat_hash_set<const UOp*> seen;
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (!seen.insert(u).second || u->op() == Op::kReduce || u->op() == Op::kIndex) continue;
      for (const UOpRef& s : u->src()) stack.push_back(s.get());
      if (!IsAlu(u->op())) continue;
      const bool turns = u->op() == Op::kSin || u->op() == Op::kCos;
      n += turns ? 300 : u->op() == Op::kLog2 ? 50 : u->op() == Op::kExp2 ? 25 : 1;
    }
    return n;
  }

  // Reductions along rows, then every element of the row: the loops over a row run one after the other.
  bool Rows() {
    if (target_.pack_bytes == 0 || ranges_.reduces.empty() || left_.empty()) return false;
    const auto vector = VectorAxis();
    const int64_t lanes = RegisterBytes() / widest_;
    if (!vector || *vector + 1 != left_.size() || left_[*vector] < lanes) return false;
    const UOpRef& column = ranges_.outputs[*vector];
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      // Each at the level of its row, and reading on from where the one before it stopped.
      if (free_.DependsOn(n, column)) return false;
      for (const UOpRef& r : free_.Of(n)) {
        if (std::find(ranges_.outputs.begin(), ranges_.outputs.end(), r) == ranges_.outputs.end())
          return false;
      }
      const UOpRef& fastest = n->src(n->num_src() - 1);
      for (const UOp* u : uop::Toposort(UOpRef(n->src(0)))) {
        if (u->op() != Op::kLoad) continue;
        const auto stride = Stride(u->src(0), fastest);
        if (!stride || *stride < 0 || *stride > 1) return false;
      }
    }
    std::vector<size_t> rows(left_.size() - 1);
    std::iota(rows.begin(), rows.end(), size_t{0});
    // What takes less than reading it back is not kept.
    constexpr int64_t kWorthKeeping = 8;
    for (size_t a = 0; a < ranges_.reduces.size(); ++a) {
      const auto values = KeptValues(kernel_, ranges_.reduces[a], column);
      if (values.ok() && std::any_of(values->begin(), values->end(),
                                     [](const UOpRef& v) { return Operations(v) >= kWorthKeeping; }))
        Try(ChoiceKind::kKeep, a, static_cast<int64_t>(*vector));
    }
    Threads(rows);
    for (size_t a = ranges_.reduces.size(); a-- > 0;) {
      const bool sum = SumsFloats(ranges_.reduces[a]);
      if (sum && RangeEnd(ranges_.reduces[a]) < kEnoughToGroup) {
        TryLargest(ChoiceKind::kUnroll, a, {16, 8, 4});
      } else if (sum) {
        TryLargest(ChoiceKind::kGroup, a, {4 * lanes, 2 * lanes, lanes, 8, 4});
      } else {
        TryLargest(ChoiceKind::kUnroll, a, {4 * lanes, 2 * lanes, lanes, 8, 4});
      }
    }
    if (Try(ChoiceKind::kVectorize, *vector, lanes)) Copies(*vector);
    return true;
  }

  void Streams() {
    for (const UOpRef& store : stores_) {
      if (IsStreamed(store)) Try(ChoiceKind::kStream, 0, store->src(0)->arg_as<int64_t>());
    }
  }

  void HostReduction() {
    const auto vector = VectorAxis();
    const bool columns = vector && AllVaryWith(ranges_.outputs[*vector]);
    // A long sum of floats in parts; what keeps its order waits for the addition before.
    bool ordered = false, rows = false;
    for (size_t a = ranges_.reduces.size(); a-- > 0;) {
      const UOpRef& reduce = ranges_.reduces[a];
      if (vector && VariesWithin(reduce, ranges_.outputs[*vector])) continue;
      const int64_t lanes = RegisterBytes() / widest_;
      const bool sum = SumsFloats(reduce);
      // Four accumulators: of as many outputs, which read memory in several places at once, or of one.
      const bool tall =
          sum && RangeEnd(reduce) >= kEnoughToGroup && RowAxis(vector) && Try(ChoiceKind::kGroup, a, lanes);
      rows |= tall;
      if (tall) continue;
      if (sum && RangeEnd(reduce) >= kEnoughToGroup &&
          TryLargest(ChoiceKind::kGroup, a, {4 * lanes, 2 * lanes, lanes}))
        continue;
      if (!sum && RangeEnd(reduce) >= kEnoughToGroup &&
          TryLargest(ChoiceKind::kUnroll, a, {lanes, 2 * lanes, 4 * lanes}))
        continue;
      ordered = true;
      unrolled_.push_back(a);
    }
    if (vector) {
      const int64_t lanes = RegisterBytes() / widest_;
      TryLargest(ChoiceKind::kVectorize, *vector, {lanes, lanes / 2, 4});
      const auto shared = SharedAxis(vector);
      if (shared) TryLargest(ChoiceKind::kUpcast, *shared, {4, 3, 2});
      const bool vectorized = std::any_of(choices_.begin(), choices_.end(),
                                          [](const Choice& c) { return c.kind == ChoiceKind::kVectorize; });
      // Columns that are summed alone: the more of them are read together, the longer memory is read in
      // order.
      if (vectorized && columns && !shared) {
        TryLargest(ChoiceKind::kUpcast, *vector, {16, 8, 4, 2});
      } else if (vectorized) {
        Try(ChoiceKind::kUpcast, *vector, 2);
      }
    }
    // Several chains of dependent additions at once hide their latency.
    if (!columns && ordered) {
      for (size_t a = left_.size(); a-- > 0;) {
        if (a != vector && TryLargest(ChoiceKind::kUpcast, a, {8, 4, 2})) break;
      }
    }
    if (!ordered && rows) Try(ChoiceKind::kUpcast, *RowAxis(vector), 4);
    // A reduction that does not vary with the vector axis computes its steps as lanes and adds them in order.
    for (const size_t a : unrolled_) TryLargest(ChoiceKind::kUnroll, a, {16, 8, 4});
  }

  // The fastest output range but `except` that has several steps left.
  std::optional<size_t> RowAxis(std::optional<size_t> except) const {
    for (size_t a = left_.size(); a-- > 0;) {
      if (a != except && left_[a] >= 4) return a;
    }
    return std::nullopt;
  }

  // Whether some sum or product of floats runs over `reduce`.
  bool SumsFloats(const UOpRef& reduce) {
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      const bool over = std::find(n->src().begin() + 1, n->src().end(), reduce) != n->src().end();
      const Op op = n->arg_as<Op>();
      if (over && n->dtype().IsFloat() && (op == Op::kAdd || op == Op::kMul)) return true;
    }
    return false;
  }

  bool AllVaryWith(const UOpRef& output) {
    return std::all_of(ranges_.reduces.begin(), ranges_.reduces.end(),
                       [&](const UOpRef& r) { return VariesWithin(r, output); });
  }
  // Whether a reduction over `reduce` varies with `output`.
  bool VariesWithin(const UOpRef& reduce, const UOpRef& output) {
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      const bool over = std::find(n->src().begin() + 1, n->src().end(), reduce) != n->src().end();
      if (over && free_.DependsOn(n, output)) return true;
    }
    return false;
  }

  void Workgroups() {
    int64_t items = outputs_;
    bool grouped = false;
    if (!ranges_.reduces.empty() && outputs_ < kEnoughItems && steps_ >= 128) {
      for (const int64_t amount : {32, 16, 8, 4}) {
        for (size_t a = ranges_.reduces.size(); a-- > 0;) grouped |= Try(ChoiceKind::kGroup, a, amount);
        if (grouped) break;
      }
    }
    const auto vector = VectorAxis();
    if (!grouped && vector && items >= 4 * kEnoughItems / 4 && Try(ChoiceKind::kVectorize, *vector, 4))
      items /= 4;
    if (!grouped && !ranges_.reduces.empty()) {
      if (const auto shared = SharedAxis(vector);
          shared && items >= 4 * kEnoughItems / 4 && Try(ChoiceKind::kUpcast, *shared, 4))
        items /= 4;
    }
    for (size_t a = ranges_.reduces.size(); a-- > 0;) {
      if (TryLargest(ChoiceKind::kUnroll, a, {8, 4, 3, 5, 7, 2})) break;
    }
    // Work-items from the fastest axis on.
    int64_t threads = 1;
    for (size_t a = left_.size(); a-- > 0 && threads < 128;) {
      for (int64_t d = std::min<int64_t>(left_[a], kEnoughItems / threads); d > 1; --d) {
        if (left_[a] % d == 0 && Try(ChoiceKind::kLocal, a, d)) {
          threads *= d;
          break;
        }
      }
    }
  }

  const UOpRef& kernel_;
  const Target& target_;
  KernelRanges ranges_;
  FreeRanges free_;
  std::vector<UOpRef> loads_, stores_;
  std::vector<int64_t> left_;
  int64_t outputs_ = 1, steps_ = 1;
  int widest_ = 1;
  std::vector<size_t> unrolled_;  // reduce ranges that keep the order of their sum
  ChoiceList choices_;
};

}  // namespace

ChoiceList HeuristicChoices(const UOpRef& kernel, const Target& target) {
  absl::StatusOr<KernelRanges> ranges = RangesOf(kernel);
  if (!ranges.ok()) return {};
  return Chooser(kernel, target, *std::move(ranges)).Run();
}

}  // namespace understudy
