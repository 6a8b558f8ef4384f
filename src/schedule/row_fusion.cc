// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/row_fusion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/partial_store.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

// Below this many steps in all, one kernel instead of two pays for itself, whatever it reads.
constexpr int64_t kSmall = 65536;
// With more steps than these a kernel is spread over threads by its rows: there must be enough of them.
constexpr int64_t kThreaded = 1 << 18, kFewestRows = 64;
// Shorter rows leave the vectors of the loops over them empty; the kernels apart have vectors of rows.
constexpr int64_t kShortest = 64;

using Ranges = absl::flat_hash_set<const UOp*>;

int64_t Steps(const UOpRef& range) { return range->src(0)->const_int(); }

// All have a number of steps that is known.
bool AreConstant(const std::vector<UOpRef>& ranges) {
  return std::all_of(ranges.begin(), ranges.end(), [](const UOpRef& r) { return r->src(0)->IsConst(); });
}
int64_t Product(const std::vector<UOpRef>& ranges, size_t from = 0) {
  int64_t n = 1;
  for (size_t i = from; i < ranges.size(); ++i) {
    if (__builtin_mul_overflow(n, Steps(ranges[i]), &n)) return INT64_MAX;
  }
  return n;
}

// The values of a batch over the ranges of its last member.
std::vector<UOpRef> ValuesOf(const Batch& batch, const std::vector<Unit>& units) {
  const Unit& last = units[batch.members.back().unit];
  std::vector<UOpRef> values;
  for (const Batch::Member& m : batch.members) {
    const Unit& unit = units[m.unit];
    uop::SubstitutionMap map;
    for (size_t i = 0; i < unit.ranges.size(); ++i) {
      if (!(unit.ranges[i] == last.ranges[i])) map[unit.ranges[i]] = last.ranges[i];
    }
    values.push_back(map.empty() ? unit.value : uop::Substitute(unit.value, map));
  }
  return values;
}

// What a batch does.
struct Walk {
  std::vector<UOpRef> values;
  std::vector<const UOp*> loads;  // their INDEX
  std::vector<const UOp*> reduces;
  bool gathers = false;  // an index reads memory
  bool nested = false;   // a reduction varies with the steps of another one

  Walk(const Batch& batch, const std::vector<Unit>& units) : values(ValuesOf(batch, units)) {
    absl::flat_hash_map<const UOp*, Ranges> free;  // reduce ranges that a node varies with
    absl::flat_hash_set<const UOp*> reads;         // nodes that lie above a LOAD
    for (const UOp* n : uop::Toposort(values)) {
      Ranges own;
      bool above = n->op() == Op::kLoad;
      if (n->op() == Op::kRange && n->arg_as<RangeArg>().kind == AxisKind::kReduce) own.insert(n);
      for (const UOpRef& s : n->src()) {
        const Ranges& below = free.at(s.get());
        own.insert(below.begin(), below.end());
        above |= reads.contains(s.get());
      }
      if (n->op() == Op::kReduce) {
        for (size_t i = 1; i < n->num_src(); ++i) own.erase(n->src(i).get());
        nested |= !own.empty();
        reduces.push_back(n);
      }
      if (n->op() == Op::kIndex) {
        loads.push_back(n);
        gathers |= above;
      }
      if (above) reads.insert(n);
      free.emplace(n, std::move(own));
    }
  }
};

// How an access runs through memory while the ranges `inside` of a row go on.
struct Footprint {
  int64_t elements = 1;    // that it touches, at most
  bool contiguous = true;  // the fastest of `inside` steps by 1 or stands still
  bool moves = false;      // with some of them
};
Footprint FootprintOf(const UOp& index, const std::vector<UOpRef>& inside) {
  Footprint f;
  std::set<const UOp*> within;
  const std::vector<UOpRef> parts(index.src().begin() + 1, index.src().end());
  for (const UOp* n : uop::Toposort(parts)) {
    if (n->op() == Op::kRange) within.insert(n);
  }
  std::vector<UOpRef> used;
  for (const UOpRef& r : inside) {
    if (within.contains(r.get())) used.push_back(r);
  }
  f.moves = !used.empty();
  f.elements = Product(used);
  if (!f.moves || !(used.back() == inside.back())) return f;
  int64_t factor = 0;
  for (const auto& t : index::Decompose(index.src(1)).terms) {
    if (t.atom == inside.back()) {
      factor = t.factor;
    } else if (uop::Reaches(t.atom, inside.back())) {
      f.contiguous = false;
    }
  }
  f.contiguous &= factor == 1;
  return f;
}

class RowFuser {
 public:
  RowFuser(const std::vector<Unit>& units, int num_params, const std::vector<int64_t>& elements,
           const ScheduleOptions& options, std::vector<Batch>* batches)
      : units_(units), num_params_(num_params), elements_(elements), options_(options), batches_(*batches) {}

  void Run() {
    for (size_t b = 0; b < batches_.size(); ++b) {
      for (const Batch::Member& m : batches_[b].members) {
        writer_[Name(m.unit)] = b;
        const Unit& unit = units_[m.unit];
        for (const int slot : ReadsOf(unit)) readers_[slot].insert(b);
        if (unit.is_copy) continue;
        for (const UOpRef& param : uop::NodesOf(unit.value, Op::kParam))
          widths_[static_cast<int>(param->arg_as<int64_t>())] = param->dtype().ScalarBytes();
      }
    }
    std::vector<bool> gone(batches_.size(), false);
    for (size_t c = 0; c < batches_.size(); ++c) {
      if (!MayEnd(batches_[c])) continue;
      Batch whole = batches_[c];
      const Walk walk(whole, units_);
      if (!walk.reduces.empty() || walk.gathers) continue;
      size_t reductions = 0;
      std::set<size_t> sources;
      for (const UOp* load : walk.loads) {
        if (const auto it = writer_.find(SlotOf(*load)); it != writer_.end() && it->second < c)
          sources.insert(it->second);
      }
      for (const size_t p : sources) {
        if (!gone[p] && Joins(whole, walk, p, c, &reductions)) gone[p] = true;
      }
      batches_[c] = std::move(whole);
    }
    size_t kept = 0;
    for (size_t b = 0; b < batches_.size(); ++b) {
      if (!gone[b]) {
        if (kept != b) batches_[kept] = std::move(batches_[b]);
        ++kept;
      }
    }
    batches_.resize(kept);
  }

 private:
  const Unit& FirstOf(const Batch& batch) const { return units_[batch.members[0].unit]; }
  int Name(int unit) const { return NameOf(units_[unit].slot, num_params_); }
  int64_t Room(const std::string& device) const {
    const auto it = options_.row_bytes.find(device);
    return it == options_.row_bytes.end() ? 0 : it->second;
  }
  double WidthOf(int slot) const { return widths_.at(slot); }

  // A kernel of a device that has room, over ranges that are known, and no scatter or part of a buffer.
  bool MayTakePart(const Batch& batch) const {
    const Unit& unit = FirstOf(batch);
    return !unit.is_copy && !unit.scatter && Room(unit.device) > 0 && AreConstant(unit.ranges) &&
           !FindPartialStore(unit.value, unit.store_index, unit.ranges, unit.slot).has_value();
  }
  bool MayEnd(const Batch& batch) const { return !FirstOf(batch).ranges.empty() && MayTakePart(batch); }

  // Puts batch `p` into `whole`, of which `walk` is what it did before, in the place of batch `c`.
  bool Joins(Batch& whole, const Walk& walk, size_t p, size_t c, size_t* reductions) {
    const Batch& rows = batches_[p];
    const Unit &first = units_[rows.members.back().unit], &last = units_[whole.members.back().unit];
    if (first.device != last.device || rows.members[0].of_row || !MayTakePart(rows)) return false;
    const size_t outer = first.ranges.size();
    if (outer >= last.ranges.size()) return false;
    for (size_t i = 0; i < outer; ++i) {
      if (Steps(first.ranges[i]) != Steps(last.ranges[i])) return false;
    }
    const Walk below(rows, units_);
    if (below.reduces.empty() || below.nested || below.gathers) return false;
    if (*reductions + below.reduces.size() > kMaxReductions) return false;

    // Its results are read in `whole` alone, each at its own row.
    std::set<int> inside;  // names of what is computed in the kernel and read there
    for (const Batch::Member& m : rows.members) {
      const int slot = units_[m.unit].slot;
      if (slot < num_params_) return false;
      inside.insert(slot);
      for (const size_t reader : readers_[slot]) {
        if (reader != p && reader != c) return false;
      }
    }
    uop::SubstitutionMap map;
    for (size_t i = 0; i < outer; ++i) map[first.ranges[i]] = last.ranges[i];
    const UOpRef row = index::Compose(index::Decompose(uop::Substitute(first.store_index, map)));
    for (const UOp* load : walk.loads) {
      if (!inside.contains(SlotOf(*load))) continue;
      if (load->num_src() > 2 || !(index::Compose(index::Decompose(load->src(1))) == row)) return false;
    }

    // It moves to where `whole` runs, past others that may write, and what `whole` writes is read by neither.
    for (const Batch::Member& m : whole.members) inside.insert(Name(m.unit));
    std::set<int> slots, written;
    for (const auto* loads : {&walk.loads, &below.loads}) {
      for (const UOp* load : *loads) {
        if (!inside.contains(SlotOf(*load))) slots.insert(StorageOf(SlotOf(*load)));
      }
    }
    for (size_t b = p + 1; b <= c; ++b) {
      for (const Batch::Member& m : batches_[b].members) written.insert(units_[m.unit].slot);
    }
    for (const int slot : slots) {
      if (written.contains(slot)) return false;
    }
    if (static_cast<int>(slots.size() + whole.members.size()) > options_.max_buffers) return false;

    // Worth it: the row fits, lies in memory as the loops run, and is read twice; or all is small.
    std::map<int, int64_t> bytes;  // of a row, by slot: the most that one of the loops reads
    std::map<int, int64_t> here;   // likewise, of one loop
    const auto add = [&](const UOp& index, const std::vector<UOpRef>& loop) {
      if (inside.contains(SlotOf(index))) return true;
      const Footprint f = FootprintOf(index, loop);
      if (f.moves) {
        int64_t& sum = here[SlotOf(index)];
        const int64_t most = elements_[StorageOf(SlotOf(index))];
        sum = std::min(most, std::min(f.elements, most) + sum);
      }
      return f.contiguous;
    };
    const auto close = [&] {
      for (const auto& [slot, n] : here) bytes[slot] = std::max(bytes[slot], n);
      here.clear();
    };
    const std::vector<UOpRef> columns(last.ranges.begin() + static_cast<int64_t>(outer), last.ranges.end());
    for (const UOp* load : walk.loads) {
      if (!add(*load, columns)) return false;
    }
    const std::map<int, int64_t> again = here;
    close();
    const int64_t lines = Product(first.ranges);
    int64_t steps = Product(last.ranges);
    bool shared = false;
    for (const UOp* reduce : below.reduces) {
      const std::vector<UOpRef> own(reduce->src().begin() + 1, reduce->src().end());
      if (!AreConstant(own)) return false;
      int64_t of = Product(own);
      if (__builtin_mul_overflow(of, lines, &of)) return false;
      steps = std::max(steps, of);
      for (const UOp* n : uop::Toposort(UOpRef(reduce->src(0)))) {
        if (n->op() == Op::kIndex && !add(*n, own)) return false;
      }
      for (const auto& [slot, n] : here) shared |= again.contains(slot);
      close();
    }
    double total = 0;
    for (const auto& [slot, n] : bytes) total += static_cast<double>(n) * WidthOf(slot);
    if (total > static_cast<double>(Room(last.device))) return false;
    if (steps > kSmall && (!shared || Product(columns) < kShortest)) return false;
    if (steps >= kThreaded && lines < kFewestRows) return false;

    *reductions += below.reduces.size();
    if (whole.members[0].of_row) whole.members[0].reason = MergeReason::kSharesRow;
    whole.members.back().reason = MergeReason::kReadsRow;
    Batch joined;
    joined.row_bytes = std::max(static_cast<int64_t>(total), whole.row_bytes);
    for (Batch::Member m : rows.members) {
      m.stored = false;
      m.of_row = true;
      joined.members.push_back(m);
    }
    joined.members.insert(joined.members.end(), whole.members.begin(), whole.members.end());
    whole = std::move(joined);
    return true;
  }

  const std::vector<Unit>& units_;
  const int num_params_;
  const std::vector<int64_t>& elements_;
  const ScheduleOptions& options_;
  std::vector<Batch>& batches_;
  absl::flat_hash_map<int, int> widths_;                // bytes of an element, likewise
  absl::flat_hash_map<int, size_t> writer_;             // by slot as it is read
  absl::flat_hash_map<int, std::set<size_t>> readers_;  // likewise
};

}  // namespace

void FuseRows(const std::vector<Unit>& units, int num_params, const std::vector<int64_t>& elements,
              const ScheduleOptions& options, std::vector<Batch>* batches) {
  if (options.row_bytes.empty()) return;
  RowFuser(units, num_params, elements, options, batches).Run();
}

}  // namespace understudy
