// SPDX-License-Identifier: Apache-2.0
#include "src/uop/uop.h"

#include <bit>
#include <mutex>
#include <new>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/uop/check.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

struct OpInfo {
  const char* text;
  int arity;
  uint16_t flags;
};
constexpr OpInfo kOps[] = {
#define OP(name, text, arity, flags) {text, arity, flags},
#include "src/uop/ops.inc"
};
constexpr const char* kAxisKindNames[] = {
#define AXIS(name, text) text,
    UNDERSTUDY_AXIS_KINDS(AXIS)
#undef AXIS
};

// A 64-bit mixer in the manner of splitmix64's finaliser: hashes must not depend on the process (they order
// output).
uint64_t Mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

uint64_t MixString(uint64_t h, const std::string& s) {
  uint64_t fnv = 0xcbf29ce484222325u;
  for (const unsigned char c : s) fnv = (fnv ^ c) * 0x100000001b3u;
  return Mix(Mix(h, s.size()), fnv);
}

uint64_t MixInts(uint64_t h, const std::vector<int64_t>& v) {
  h = Mix(h, v.size());
  for (const int64_t x : v) h = Mix(h, static_cast<uint64_t>(x));
  return h;
}

uint64_t MixArg(uint64_t h, const Arg& arg) {
  h = Mix(h, arg.index());
  struct Visitor {
    uint64_t h;
    uint64_t operator()(std::monostate) const { return h; }
    uint64_t operator()(int64_t v) const { return Mix(h, static_cast<uint64_t>(v)); }
    uint64_t operator()(double v) const { return Mix(h, std::bit_cast<uint64_t>(v)); }
    uint64_t operator()(const std::string& v) const { return MixString(h, v); }
    uint64_t operator()(const std::vector<int64_t>& v) const { return MixInts(h, v); }
    uint64_t operator()(const ReduceArg& v) const {
      return MixInts(Mix(h, static_cast<uint64_t>(v.op)), v.axes);
    }
    uint64_t operator()(const RangeArg& v) const {
      return Mix(Mix(h, static_cast<uint64_t>(v.id)), static_cast<uint64_t>(v.kind));
    }
    uint64_t operator()(const BufferArg& v) const {
      return MixString(Mix(Mix(h, v.id), static_cast<uint64_t>(v.size)), v.device);
    }
    uint64_t operator()(const VarArg& v) const {
      return MixString(Mix(Mix(h, static_cast<uint64_t>(v.min)), static_cast<uint64_t>(v.max)), v.name);
    }
    uint64_t operator()(const KernelArg& v) const { return MixString(h, v.name); }
    uint64_t operator()(Op v) const { return Mix(h, static_cast<uint64_t>(v)); }
    uint64_t operator()(const CallArg& v) const {
      return MixString(Mix(MixInts(h, v.outputs), v.precompile), v.name);
    }
    uint64_t operator()(const MultiArg& v) const {
      uint64_t x = MixInts(Mix(h, static_cast<uint64_t>(v.axis)), v.begin);
      for (const std::string& d : v.devices) x = MixString(x, d);
      return x;
    }
  };
  return std::visit(Visitor{h}, arg);
}

struct Key {
  uint64_t hash;
  Op op;
  DType dtype;
  absl::Span<const UOpRef> src;
  const Arg* arg;
};

uint64_t HashOf(Op op, DType dtype, absl::Span<const UOpRef> src, const Arg& arg) {
  uint64_t h = Mix(static_cast<uint64_t>(op),
                   static_cast<uint64_t>(dtype.scalar) | uint64_t{dtype.lanes} << 8 |
                       static_cast<uint64_t>(dtype.space) << 24 | static_cast<uint64_t>(src.size()) << 32);
  for (const UOpRef& s : src) h = Mix(h, s->hash());
  return MixArg(h, arg);
}

// Hash and node lie side by side, so that growing a table does not touch the nodes.
struct Entry {
  uint64_t hash;
  const UOp* node;
};
struct EntryHash {
  using is_transparent = void;
  size_t operator()(const Entry& e) const { return e.hash; }
  size_t operator()(const Key& k) const { return k.hash; }
};
struct EntryEq {
  using is_transparent = void;
  bool operator()(const Entry& a, const Entry& b) const { return a.node == b.node; }
  bool operator()(const Entry& e, const Key& k) const {
    return e.hash == k.hash && e.node->op() == k.op && e.node->dtype() == k.dtype && e.node->src() == k.src &&
           ArgEquals(e.node->arg(), *k.arg);
  }
  bool operator()(const Key& k, const Entry& e) const { return (*this)(e, k); }
};

constexpr int kNumShards = 64;
struct alignas(64) Shard {
  std::mutex mutex;
  absl::flat_hash_set<Entry, EntryHash, EntryEq> nodes;  // guarded by mutex
};
// Never destroyed: nodes in static storage may outlive any static table.
Shard* Shards() {
  static Shard* shards = new Shard[kNumShards];
  return shards;
}
// flat_hash_set uses the low bits, so the shard comes from the high ones.
Shard& ShardOf(uint64_t hash) { return Shards()[hash >> 58]; }

std::atomic<uint64_t> next_id{1};

}  // namespace

uint16_t OpFlagsOf(Op op) { return kOps[static_cast<int>(op)].flags; }
int OpArity(Op op) { return kOps[static_cast<int>(op)].arity; }
const char* OpName(Op op) { return kOps[static_cast<int>(op)].text; }
absl::StatusOr<Op> ParseOp(const std::string& name) {
  static const auto* by_name = [] {
    auto* map = new absl::flat_hash_map<std::string, Op>;
    for (int i = 0; i < kNumOps; ++i) map->emplace(kOps[i].text, static_cast<Op>(i));
    return map;
  }();
  const auto it = by_name->find(name);
  if (it == by_name->end()) return absl::InvalidArgumentError("unknown op '" + name + "'");
  return it->second;
}
const char* AxisKindName(AxisKind kind) { return kAxisKindNames[static_cast<int>(kind)]; }
absl::StatusOr<AxisKind> ParseAxisKind(const std::string& name) {
  for (size_t i = 0; i < std::size(kAxisKindNames); ++i) {
    if (name == kAxisKindNames[i]) return static_cast<AxisKind>(i);
  }
  return absl::InvalidArgumentError("unknown axis kind '" + name + "'");
}

bool ArgEquals(const Arg& a, const Arg& b) {
  if (a.index() != b.index()) return false;
  if (const double* x = std::get_if<double>(&a)) {
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(std::get<double>(b));
  }
  return a == b;
}

UOp::UOp(Op op, DType dtype, std::vector<UOpRef> src, Arg arg, Shape shape, uop::SizeFacts sizes,
         uint64_t hash, uint64_t id)
    : refs_(1),
      op_(op),
      dtype_(dtype),
      num_src_(static_cast<uint32_t>(src.size())),
      broadcast_axes_(sizes.broadcast),
      hash_(hash),
      id_(id),
      arg_(std::move(arg)),
      shape_(std::move(shape)),
      size_info_(std::move(sizes.info)) {
  for (size_t i = 0; i < src.size(); ++i) new (src_array() + i) UOpRef(std::move(src[i]));
}

const std::vector<UOpRef>& UOp::sizes() const {
  static const auto* none = new std::vector<UOpRef>;
  return size_info_ == nullptr ? *none : size_info_->sizes;
}

int64_t UOp::numel() const {
  int64_t n = 1;
  for (const int64_t d : shape_) n *= d;
  return n;
}

ConstValue UOp::value() const {
  US_CHECK(op_ == Op::kConst) << "value() of " << OpName(op_);
  if (const int64_t* i = std::get_if<int64_t>(&arg_)) return *i;
  return std::get<double>(arg_);
}

// The one that may create and destroy nodes.
class UOpTable {
 public:
  static absl::StatusOr<UOpRef> FindOrMake(Op op, DType dtype, std::vector<UOpRef> src, Arg arg) {
    for (size_t i = 0; i < src.size(); ++i) {
      if (src[i] == nullptr) {
        return absl::InvalidArgumentError(std::string(OpName(op)) + ": source " + std::to_string(i) +
                                          " is null");
      }
    }
    const uint64_t hash = HashOf(op, dtype, src, arg);
    Shard& shard = ShardOf(hash);
    const Key key{hash, op, dtype, src, &arg};
    {
      std::lock_guard lock(shard.mutex);
      const auto it = shard.nodes.find(key);
      if (it != shard.nodes.end()) return UOpRef(it->node);
    }
    absl::StatusOr<Shape> shape = CheckNode(op, dtype, src, arg);
    if (!shape.ok()) return shape.status();
    uop::SizeFacts sizes = uop::FactsOfSizes(op, src, arg, *shape);
    void* memory = ::operator new(sizeof(UOp) + src.size() * sizeof(UOpRef));
    UOp* node = new (memory) UOp(op, dtype, std::move(src), std::move(arg), *std::move(shape),
                                 std::move(sizes), hash, next_id.fetch_add(1, std::memory_order_relaxed));
    const Key own{hash, op, dtype, node->src(), &node->arg()};
    UOpRef other;
    {
      std::lock_guard lock(shard.mutex);
      const auto it = shard.nodes.find(own);
      if (it == shard.nodes.end()) {
        shard.nodes.insert(Entry{hash, node});
        return UOpRef::Adopt(node);
      }
      other = UOpRef(it->node);
    }
    Free(node);  // another thread was first
    return other;
  }

  // Frees `node`, whose count is 0 and which no table knows, and all that only it kept alive. Iterative:
  // chains are millions long.
  static void Free(const UOp* node) {
    std::vector<const UOp*> dead{node};
    while (!dead.empty()) {
      UOp* n = const_cast<UOp*>(dead.back());
      dead.pop_back();
      for (uint32_t i = 0; i < n->num_src_; ++i) {
        const UOp* s = n->src_array()[i].Detach();
        if (s != nullptr && DropCount(s)) dead.push_back(s);
      }
      n->~UOp();
      ::operator delete(static_cast<void*>(n));
    }
  }

  // Gives one count back; true when it was the last and the node has left the table. The last count is only
  // ever given back under the shard's lock, so a look-up never meets a node that is about to die.
  static bool DropCount(const UOp* node) {
    uint32_t refs = node->refs_.load(std::memory_order_relaxed);
    while (refs > 1) {
      if (node->refs_.compare_exchange_weak(refs, refs - 1, std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
        return false;
    }
    Shard& shard = ShardOf(node->hash_);
    std::lock_guard lock(shard.mutex);
    if (node->refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    shard.nodes.erase(Entry{node->hash_, node});
    return true;
  }
};

void Release(const UOp* node) {
  if (UOpTable::DropCount(node)) UOpTable::Free(node);
}

absl::StatusOr<UOpRef> UOp::MakeChecked(Op op, DType dtype, std::vector<UOpRef> src, Arg arg) {
  return UOpTable::FindOrMake(op, dtype, std::move(src), std::move(arg));
}

UOpRef UOp::Make(Op op, DType dtype, std::vector<UOpRef> src, Arg arg) {
  absl::StatusOr<UOpRef> node = UOpTable::FindOrMake(op, dtype, std::move(src), std::move(arg));
  US_CHECK(node.ok()) << node.status().ToString();
  return *std::move(node);
}

int64_t LiveUOps() {
  int64_t n = 0;
  for (int i = 0; i < kNumShards; ++i) {
    std::lock_guard lock(Shards()[i].mutex);
    n += static_cast<int64_t>(Shards()[i].nodes.size());
  }
  return n;
}

}  // namespace understudy
