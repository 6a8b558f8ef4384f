// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node of every compiler graph, from tensors down to linear kernels: {op, dtype, sources, argument},
// immutable and hash-consed, so that equality is identity. Every stage builds, reads and rewrites these
// nodes. A node is never changed after it is made, and is freed when its last UOpRef goes; creation and
// release are thread safe.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/dtype/const_value.h"
#include "src/dtype/dtype.h"

namespace understudy {

enum class Op : uint8_t {
#define OP(name, text, arity, flags) k##name,
#include "src/uop/ops.inc"
};
inline constexpr int kNumOps = 0
#define OP(name, text, arity, flags) +1
#include "src/uop/ops.inc"
    ;

enum OpFlags : uint16_t {
  kFlagAlu = 1,
  kFlagCommutes = 2,
  kFlagAssoc = 4,
  kFlagCompare = 8,
  kFlagMovement = 16,
  kFlagEffect = 32,
};
uint16_t OpFlagsOf(Op op);
int OpArity(Op op);         // -1: variable
const char* OpName(Op op);  // "ADD"
absl::StatusOr<Op> ParseOp(const std::string& name);
inline bool IsAlu(Op op) { return OpFlagsOf(op) & kFlagAlu; }
inline bool IsCommutative(Op op) { return OpFlagsOf(op) & kFlagCommutes; }
inline bool IsAssociative(Op op) { return OpFlagsOf(op) & kFlagAssoc; }
inline bool IsComparison(Op op) { return OpFlagsOf(op) & kFlagCompare; }
inline bool IsMovement(Op op) { return OpFlagsOf(op) & kFlagMovement; }
inline bool HasEffect(Op op) { return OpFlagsOf(op) & kFlagEffect; }

// What a RANGE becomes: one line an axis kind, "text" as printed.
#define UNDERSTUDY_AXIS_KINDS(X) \
  X(Global, "global")            \
  X(Local, "local")              \
  X(Loop, "loop")                \
  X(Upcast, "upcast")            \
  X(GroupReduce, "group") X(Reduce, "reduce") X(Unroll, "unroll") X(Warp, "warp") X(Thread, "thread")
enum class AxisKind : uint8_t {
#define AXIS(name, text) k##name,
  UNDERSTUDY_AXIS_KINDS(AXIS)
#undef AXIS
};
const char* AxisKindName(AxisKind kind);
absl::StatusOr<AxisKind> ParseAxisKind(const std::string& name);

using Shape = std::vector<int64_t>;

// Where the runtime hangs the memory of a BUFFER: it is freed with the last node that names the buffer.
class StorageBase {
 public:
  virtual ~StorageBase() = default;
};
struct StorageSlot {
  std::unique_ptr<StorageBase> impl;
  int shown = 0;  // by how many tensors of computed values; several: an assignment takes new storage
};

struct ReduceArg {
  Op op = Op::kAdd;
  std::vector<int64_t> axes;
  bool operator==(const ReduceArg&) const = default;
};
struct RangeArg {
  int64_t id = 0;
  AxisKind kind = AxisKind::kLoop;
  bool operator==(const RangeArg&) const = default;
};
struct BufferArg {
  uint64_t id = 0;
  std::string device;
  int64_t size = 0;                   // elements
  std::shared_ptr<StorageSlot> slot;  // not part of the identity
  bool operator==(const BufferArg& o) const { return id == o.id && size == o.size && device == o.device; }
};
struct VarArg {
  std::string name;
  int64_t min = 0, max = 0;
  bool operator==(const VarArg&) const = default;
};
// What a CALL declares: which of its arguments hold its results, in order, and whether it is compiled as a
// program of its own or may be fused with what surrounds it.
struct CallArg {
  std::string name;
  std::vector<int64_t> outputs;
  bool precompile = false;
  bool operator==(const CallArg&) const = default;
};
// How the sources of a MULTI lie in its value: source i is on devices[i] and holds the elements from begin[i]
// along `axis` on; with axis -1 (and no begins) each source is all of it.
struct MultiArg {
  std::vector<std::string> devices;
  int64_t axis = -1;
  std::vector<int64_t> begin;
  bool operator==(const MultiArg&) const = default;
};
struct KernelArg {
  std::string name;
  bool operator==(const KernelArg&) const = default;
};

using Arg = std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, ReduceArg,
                         RangeArg, BufferArg, VarArg, KernelArg, Op, CallArg, MultiArg>;

// Doubles compare by bits: -0.0 and 0.0 differ, a NaN equals itself.
bool ArgEquals(const Arg& a, const Arg& b);

// A counted pointer to an object that offers AddRef(p) and Release(p).
template <class T>
class IntrusivePtr {
 public:
  constexpr IntrusivePtr() = default;
  constexpr IntrusivePtr(std::nullptr_t) {}  // NOLINT: as a pointer does
  explicit IntrusivePtr(T* p) : p_(p) {
    if (p_) AddRef(p_);
  }
  IntrusivePtr(const IntrusivePtr& o) : p_(o.p_) {
    if (p_) AddRef(p_);
  }
  IntrusivePtr(IntrusivePtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~IntrusivePtr() {
    if (p_) Release(p_);
  }
  // Takes over a count that the caller holds.
  static IntrusivePtr Adopt(T* p) {
    IntrusivePtr r;
    r.p_ = p;
    return r;
  }
  T* Detach() { return std::exchange(p_, nullptr); }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.p_ == b.p_; }
  friend bool operator==(const IntrusivePtr& a, std::nullptr_t) { return a.p_ == nullptr; }
  template <class H>
  friend H AbslHashValue(H h, const IntrusivePtr& p) {
    return H::combine(std::move(h), p.p_);
  }

 private:
  T* p_ = nullptr;
};

namespace uop {
struct SizeInfo;   // sizes.h
struct SizeFacts;  // sizes.h
}  // namespace uop

class UOp;
void AddRef(const UOp* node);
void Release(const UOp* node);
using UOpRef = IntrusivePtr<const UOp>;

class UOp {
 public:
  // The node {op, dtype, src, arg}: the one that exists, or a new one. Make aborts on a malformed node (a
  // programming error); MakeChecked refuses it, naming op, value and what was expected (for parsers).
  static UOpRef Make(Op op, DType dtype, std::vector<UOpRef> src = {}, Arg arg = {});
  static absl::StatusOr<UOpRef> MakeChecked(Op op, DType dtype, std::vector<UOpRef> src = {}, Arg arg = {});

  Op op() const { return op_; }
  DType dtype() const { return dtype_; }
  absl::Span<const UOpRef> src() const { return absl::MakeConstSpan(src_array(), num_src_); }
  const UOpRef& src(size_t i) const { return src_array()[i]; }
  size_t num_src() const { return num_src_; }
  const Arg& arg() const { return arg_; }
  template <class T>
  const T& arg_as() const {
    return std::get<T>(arg_);  // throws std::bad_variant_access (a crash) on the wrong type
  }
  bool has_arg() const { return !std::holds_alternative<std::monostate>(arg_); }
  // Monotonic: a source's id is smaller than its user's. Differs from run to run; never an order for output.
  uint64_t id() const { return id_; }
  // Structural: the same graph hashes the same in every process.
  uint64_t hash() const { return hash_; }
  // Shape on tensor level, {} for scalars and everywhere on kernel level.
  const Shape& shape() const { return shape_; }
  int64_t numel() const;
  // What the shape does not say of axes whose length is variable (sizes.h): one expression or null an axis,
  // empty when no axis is such; the whole of it, null when there is nothing to say; axes expanded from 1 (by
  // bit).
  const std::vector<UOpRef>& sizes() const;
  const std::shared_ptr<const uop::SizeInfo>& size_info() const { return size_info_; }
  uint32_t broadcast_axes() const { return broadcast_axes_; }

  bool IsConst() const { return op_ == Op::kConst; }
  bool IsConst(int64_t v) const {
    return op_ == Op::kConst && std::holds_alternative<int64_t>(arg_) && std::get<int64_t>(arg_) == v;
  }
  // The value of a CONST.
  ConstValue value() const;
  int64_t const_int() const { return std::get<int64_t>(arg_); }

  // The same node with other sources (dtype and argument kept).
  UOpRef WithSrc(std::vector<UOpRef> src) const { return Make(op_, dtype_, std::move(src), arg_); }

  UOp(const UOp&) = delete;
  UOp& operator=(const UOp&) = delete;

 private:
  friend class UOpTable;
  friend void AddRef(const UOp* node);
  friend void Release(const UOp* node);

  UOp(Op op, DType dtype, std::vector<UOpRef> src, Arg arg, Shape shape, uop::SizeFacts sizes, uint64_t hash,
      uint64_t id);
  ~UOp() = default;
  UOpRef* src_array() { return reinterpret_cast<UOpRef*>(this + 1); }
  const UOpRef* src_array() const { return reinterpret_cast<const UOpRef*>(this + 1); }

  mutable std::atomic<uint32_t> refs_;
  Op op_;
  DType dtype_;
  uint32_t num_src_;
  uint32_t broadcast_axes_;
  uint64_t hash_;
  uint64_t id_;
  Arg arg_;
  Shape shape_;
  std::shared_ptr<const uop::SizeInfo> size_info_;
  // num_src_ UOpRefs follow in the same allocation.
};

inline void AddRef(const UOp* node) { node->refs_.fetch_add(1, std::memory_order_relaxed); }

// Nodes alive in the process: what a leak test compares before and after.
int64_t LiveUOps();

}  // namespace understudy
