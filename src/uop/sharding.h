// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the elements of a value lie when it is spread over several devices, and how that follows from node to
// node of a tensor graph. The Tensor API asks it for axes and devices, src/schedule/multi.h lowers graphs by
// it. It makes no nodes and moves nothing.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/uop/uop.h"

namespace understudy {

// Several devices in order as one name, "CPU:0,CPU:1": what Tensor::device() of a spread value says.
std::string GroupName(absl::Span<const std::string> devices);
bool IsGroupName(const std::string& device);
std::vector<std::string> GroupDevices(const std::string& name);

// Device i holds the elements [begin, end) of part i along `axis`; with axis -1 every device holds all.
// Parts are disjoint, cover the axis and may be empty ({0, 0}).
struct Sharding {
  struct Part {
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
    bool operator==(const Part&) const = default;
  };
  std::vector<std::string> devices;
  int64_t axis = -1;
  std::vector<Part> parts;

  bool operator==(const Sharding&) const = default;
  bool replicated() const { return axis < 0; }
  Shape PartShape(Shape whole, size_t device) const;
  int64_t Largest() const;   // elements of the largest part along the axis; 0 when replicated
  std::string Text() const;  // "axis 0 over REF:0 [0,2) REF:1 [2,4)"
};

// As equal as possible; the first size % devices parts have one element more.
Sharding EvenSharding(std::vector<std::string> devices, int64_t axis, int64_t size);
Sharding Replicated(std::vector<std::string> devices);
// The sharding of a MULTI's value, and the argument of a MULTI with that sharding.
Sharding ShardingOfMulti(const UOp& multi);
MultiArg MultiArgOf(const Sharding& s);

// The sharding of a movement op's value when every device applies it to its own part; none when elements
// would have to move between devices.
std::optional<Sharding> ForwardMovement(const UOp& node, const Sharding& source);
// The sharding that the source needs so that the value comes out as `value` without moving elements (where
// the node takes parts of the axis away, sources hold more than they need); none when there is none.
std::optional<Sharding> BackwardMovement(const UOp& node, const Sharding& value);
// `from` seen as `to`, sharded along an axis of `from`.
std::optional<Sharding> ReshapeSharding(const Shape& from, const Shape& to, const Sharding& s);

// Bytes that reach devices which did not have them, when a value of that shape changes its sharding.
double BytesMoved(const UOp& value, const Sharding& from, const Sharding& to);

// The sharding of every node below some roots.
class ShardingAnalysis {
 public:
  // What holds a node's value already (then nothing below the node is looked at), or null.
  using Known = std::function<UOpRef(const UOp& node)>;
  explicit ShardingAnalysis(Known known = nullptr) : known_(std::move(known)) {}

  // InvalidArgument names nodes whose sources lie on different devices, or different groups of devices.
  absl::Status Look(const UOpRef& root);

  struct Place {
    const Sharding* sharding = nullptr;  // of a spread value
    std::string device;                  // of a value of one device; empty for values of any
    UOpRef known;                        // what holds the value already
    bool spread() const { return sharding != nullptr; }
  };
  // Of a node that Look has met.
  const Place& Of(const UOp* node) const { return places_.at(node); }
  const Place& Of(const UOpRef& node) const { return Of(node.get()); }
  // All nodes met, sources first.
  const std::vector<UOpRef>& nodes() const { return order_; }

  // One object for each sharding: they compare by address.
  const Sharding* Intern(Sharding s);

  // How a value is brought to another sharding with the fewest bytes moved: at the value itself, or further
  // down a chain of movement and one-operand ops (below an EXPAND there is less to move).
  struct Conversion {
    double bytes = 0;
    bool below = false;                // convert the source and apply the op to that
    const Sharding* source = nullptr;  // then: the source's sharding
  };
  Conversion Convert(const UOp* node, const Sharding* to);
  // The source of `node` on that chain: -1 at its end.
  int ChainSource(const UOp& node) const;

  // Below views that keep all the elements in order: what an ASSIGN writes to.
  const UOp* StorageBelow(const UOp* target) const;

  // Of the sources of a node, those whose elements are part of its value (not the inputs of a WITH_GRADIENT).
  static std::pair<size_t, size_t> ValueSources(const UOp& node);

 private:
  absl::Status One(const UOp* u, Place& place);
  absl::Status Elementwise(const UOp& u, Place& place);

  Known known_;
  absl::flat_hash_map<const UOp*, Place> places_;
  std::vector<UOpRef> order_;
  std::deque<Sharding> shardings_;
};

// The sharding of one value, when it is spread.
std::optional<Sharding> ShardingOf(const UOpRef& value);

}  // namespace understudy
