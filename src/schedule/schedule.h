// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stage "schedule": a call becomes kernels and copies in order. Decides which values are stored, fuses
// elementwise work into reductions, turns movement ops into index arithmetic and packs temporaries into one
// arena a device. The engine caches the result by structure and runs it; nothing here knows a device but by
// its name as a label.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/dtype/dtype.h"
#include "src/schedule/call.h"
#include "src/uop/uop.h"

namespace understudy {

// Slots name storage: 0 .. num_params-1 are the call's buffers, num_params + t is temporary t.
struct ScheduleItem {
  enum class Kind { kKernel, kCopy };
  Kind kind = Kind::kKernel;
  // kKernel: SINK[KernelArg](STORE(INDEX(PARAM k, idx), value, ranges...), ...), all over the same ranges.
  // Equal structure is the same node, so this is the key of the program cache. A buffer that is both written
  // and read is read at the element that is written, and the values of one step are computed before any is
  // stored.
  UOpRef kernel;
  // kKernel: how many STOREs. PARAMs 0 .. outputs-1 are what they write.
  int outputs = 1;
  // kKernel: PARAM position -> slot. kCopy: {destination, source}, whole slots of equal byte size.
  std::vector<int> slots;
  // kKernel: the variables that the kernel reads, in the order in which Device::Launch takes their values (by
  // name).
  std::vector<std::string> variables;
  // The device that runs the kernel, or the destination of the copy.
  std::string device;
};

// A temporary lives at [offset, offset + bytes) of its device's arena from item first_use to item last_use.
struct Temporary {
  DType dtype;
  int64_t size = 0;  // elements
  std::string device;
  int64_t bytes = 0;
  int64_t offset = 0;
  int first_use = 0, last_use = 0;
};

struct Schedule {
  int num_params = 0;
  std::vector<ScheduleItem> items;
  std::vector<Temporary> temporaries;
  // Bytes of arena that the temporaries need, by device: the peak, after reuse.
  std::map<std::string, int64_t> arena_bytes;
};

// When a value is stored rather than computed again: what computing again costs (simple operations an element
// times how often, beyond once) against what storing costs. The defaults suit real graphs; tests drive both
// extremes.
struct ScheduleOptions {
  int max_buffers = 30;            // a kernel names no more than this
  bool merge_outputs = true;       // kernels may have several outputs
  double recompute_element = 256;  // storing, an element, in simple operations: written once and read again
  double recompute_total = 16384;  // and at least this much: another kernel is launched
  double tile = 32;                // outputs of a kernel that share what they have in common
  double nest_outputs = 4096;      // of a kernel that may hold a reduction inside of another
  double hidden = 0.0625;  // of its users' own work: computing again that takes no more counts as free
  // By device, where kernels run through their elements in order: how much of a row stays in its cache
  // (row_fusion.h). Others have none.
  std::map<std::string, int64_t> row_bytes;
};

struct FusionReport;  // fusion_report.h

// The schedule of a call's structure. Deterministic. Items are in an order that respects every read and
// write. The kernels are checked by CheckSpec where SPEC asks for it.
absl::StatusOr<Schedule> MakeSchedule(const UOpRef& sink, absl::Span<const std::string> devices,
                                      const ScheduleOptions& options = {}, FusionReport* report = nullptr);
inline absl::StatusOr<Schedule> MakeSchedule(const Call& call, const ScheduleOptions& options = {},
                                             FusionReport* report = nullptr) {
  return MakeSchedule(call.sink, call.devices, options, report);
}

// For people and tests: one line an item.
std::string ScheduleText(const Schedule& schedule);

}  // namespace understudy
