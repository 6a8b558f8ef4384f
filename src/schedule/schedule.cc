// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/schedule.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/schedule/fusion_report.h"
#include "src/schedule/kernel.h"
#include "src/schedule/memory_plan.h"
#include "src/schedule/merge.h"
#include "src/schedule/planner.h"
#include "src/schedule/row_fusion.h"
#include "src/schedule/scatter_parts.h"
#include "src/schedule/sizes.h"
#include "src/schedule/views.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/spec.h"

namespace understudy {
namespace {

int ParamOf(const UOpRef& p) { return static_cast<int>(p->arg_as<std::vector<int64_t>>()[0]); }

absl::StatusOr<std::vector<OutputStore>> StoresOf(const UOpRef& sink, size_t num_params) {
  std::vector<OutputStore> stores;
  if (sink->op() != Op::kSink)
    return absl::InvalidArgumentError(
        absl::StrCat("schedule: root is ", OpName(sink->op()), ", expected SINK"));
  std::set<int> written;
  for (const UOpRef& s : sink->src()) {
    if (s->op() != Op::kStore || s->src(0)->op() != Op::kParam || s->num_src() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("schedule: SINK of ", OpName(s->op()), ", expected STORE(PARAM, value)"));
    }
    const int param = ParamOf(s->src(0));
    if (!written.insert(param).second)
      return absl::InvalidArgumentError(absl::StrCat("schedule: two stores to parameter ", param));
    stores.push_back({param, s->src(1)});
  }
  for (const UOp* u : uop::Toposort(sink)) {
    switch (u->op()) {
      case Op::kParam:
        if (static_cast<size_t>(u->arg_as<std::vector<int64_t>>()[0]) >= num_params) {
          return absl::InvalidArgumentError(
              absl::StrCat("schedule: parameter ", u->arg_as<std::vector<int64_t>>()[0], " of ", num_params));
        }
        break;
      case Op::kConst:
      case Op::kIota:
      case Op::kVar:
      case Op::kReduceAxis:
      case Op::kContiguous:
      case Op::kCopy:
      case Op::kStore:
      case Op::kSink:
        break;
      default:
        if (!IsAlu(u->op()) && !IsView(u->op())) {
          return absl::UnimplementedError(
              absl::StrCat("schedule: ", OpName(u->op()),
                           " in a call, expected elementwise, movement, reduction, CONTIGUOUS or COPY"));
        }
    }
  }
  return stores;
}

// True when the unit overwrites a buffer that it also reads elsewhere than at the element it writes.
bool ReadsAcross(const Unit& u) {
  if (u.is_copy) return u.source == u.slot;
  for (const UOpRef& i : uop::NodesOf(u.value, Op::kIndex)) {
    if (i->src(0)->arg_as<int64_t>() == u.slot && i->src(1) != u.store_index) return true;
  }
  return false;
}

// `last_items`: of each batch.
FusionReport ReportOf(std::vector<FusionDecision> decisions, const std::vector<Unit>& units,
                      const std::vector<Batch>& batches, const std::vector<int>& last_items,
                      const Schedule& schedule, const ScheduleOptions& options) {
  FusionReport report;
  std::vector<std::pair<int, bool>> item_of(units.size());
  for (size_t b = 0; b < batches.size(); ++b) {
    const int item = last_items[b];
    for (const Batch::Member& m : batches[b].members) item_of[m.unit] = {item, m.stored};
    if (batches[b].members.size() == 1) continue;
    FusionReport::Merge merge{item, schedule.items[item].kernel->arg_as<KernelArg>().name, {}, {}};
    for (const Batch::Member& m : batches[b].members) {
      merge.values.push_back(units[m.unit].root);
      merge.reasons.push_back(MergeReasonText(m.reason));
      if (m.reason != MergeReason::kReadsRow) continue;
      absl::StrAppend(&merge.reasons.back(), " (", batches[b].row_bytes, " bytes of ",
                      options.row_bytes.at(units[m.unit].device), ")");
    }
    report.merges.push_back(std::move(merge));
  }
  std::reverse(decisions.begin(), decisions.end());
  for (FusionDecision& d : decisions) {
    if (d.item >= 0) std::tie(d.item, d.memory) = item_of[d.item];
  }
  report.decisions = std::move(decisions);
  return report;
}

// Temporaries that live inside of one kernel only need no memory.
void DropUnused(Schedule& s) {
  std::vector<Temporary> kept;
  std::vector<int> number(s.temporaries.size(), -1);
  for (size_t t = 0; t < s.temporaries.size(); ++t) {
    if (s.temporaries[t].first_use < 0) continue;
    number[t] = s.num_params + static_cast<int>(kept.size());
    kept.push_back(s.temporaries[t]);
  }
  if (kept.size() == s.temporaries.size()) return;
  s.temporaries = std::move(kept);
  for (ScheduleItem& item : s.items) {
    for (int& slot : item.slots) {
      if (slot >= s.num_params) slot = number[slot - s.num_params];
    }
  }
}

void PlaceTemporaries(Schedule& s) {
  std::map<std::string, std::vector<int>> by_device;
  for (size_t t = 0; t < s.temporaries.size(); ++t)
    by_device[s.temporaries[t].device].push_back(static_cast<int>(t));
  for (const auto& [device, members] : by_device) {
    std::vector<Lifetime> lives;
    for (const int t : members)
      lives.push_back({s.temporaries[t].bytes, s.temporaries[t].first_use, s.temporaries[t].last_use});
    const MemoryPlan plan = PlanMemory(lives);
    for (size_t i = 0; i < members.size(); ++i) s.temporaries[members[i]].offset = plan.offsets[i];
    s.arena_bytes[device] = plan.bytes;
  }
}

}  // namespace

absl::StatusOr<Schedule> MakeSchedule(const UOpRef& sink, absl::Span<const std::string> devices,
                                      const ScheduleOptions& options, FusionReport* report) {
  const int num_params = static_cast<int>(devices.size());
  US_RETURN_IF_ERROR(StoresOf(sink, devices.size()).status());
  US_ASSIGN_OR_RETURN(std::vector<OutputStore> stores, StoresOf(SplitScatters(sink), devices.size()));
  std::vector<int64_t> param_elements(devices.size(), 0);
  for (const UOpRef& p : uop::NodesOf(sink, Op::kParam)) param_elements[ParamOf(p)] = p->numel();
  KernelFinisher finish;
  for (;;) {
    Planner planner(stores, devices, options);
    US_RETURN_IF_ERROR(planner.Run());
    const std::vector<Unit>& units = planner.units();
    std::vector<int64_t> elements = param_elements;
    for (const Planner::Temp& t : planner.temporaries()) elements.push_back(t.size);
    std::vector<int> stuck;
    std::vector<Batch> batches = Arrange(units, num_params, elements, options, &stuck);
    // In-place stores that cannot be are computed aside and copied last; copies have no readers, so this
    // ends.
    std::set<int> aside;
    for (const Unit& u : units) {
      // Nothing reads a temporary before it is written.
      if (u.slot < num_params && ReadsAcross(u)) aside.insert(u.slot);
    }
    std::set<int> read_before;
    for (size_t i = 0; i < units.size() && !stuck.empty(); ++i) {
      for (const int slot : ReadsOf(units[i])) read_before.insert(slot);
    }
    for (const int i : stuck) {
      if (units[i].slot < num_params && read_before.count(units[i].slot)) aside.insert(units[i].slot);
    }
    bool changed = false;
    for (OutputStore& s : stores) {
      if (!s.via_temporary && aside.count(s.param)) s.via_temporary = changed = true;
    }
    if (changed) continue;
    US_CHECK(stuck.empty() && aside.empty()) << "units wait for each other";
    FuseRows(units, num_params, elements, options, &batches);

    Schedule schedule;
    schedule.num_params = num_params;
    for (const Planner::Temp& t : planner.temporaries()) {
      Temporary temp{t.dtype, t.size, t.device};
      temp.bytes = t.size * t.dtype.ScalarBytes();
      temp.first_use = -1;
      schedule.temporaries.push_back(temp);
    }
    const auto add = [&](ScheduleItem item) {
      const int at = static_cast<int>(schedule.items.size());
      for (int& slot : item.slots) {
        slot = StorageOf(slot);
        if (slot < num_params) continue;
        Temporary& t = schedule.temporaries[slot - num_params];
        if (t.first_use < 0) t.first_use = at;
        t.last_use = at;
      }
      schedule.items.push_back(std::move(item));
    };
    std::vector<int> last_items;
    for (const Batch& batch : batches) {
      const Unit& u = units[batch.members[0].unit];
      ScheduleItem item;
      item.device = u.device;
      if (u.is_copy) {
        item.kind = ScheduleItem::Kind::kCopy;
        item.slots = {u.slot, u.source};
        add(std::move(item));
      } else {
        for (const KernelDraft& draft : DraftsOf(batch, units, num_params)) {
          FinishedKernel k = finish(draft);
          US_RETURN_IF_ERROR(uop::CheckSpec(k.sink, uop::Stage::kKernel));
          item.outputs = static_cast<int>(k.sink->num_src());
          item.kernel = std::move(k.sink);
          item.variables = VariableNames(item.kernel);
          item.slots = std::move(k.slots);
          add(item);
        }
      }
      last_items.push_back(static_cast<int>(schedule.items.size()) - 1);
    }
    if (report != nullptr) {
      *report = ReportOf(planner.TakeDecisions(), units, batches, last_items, schedule, options);
    }
    DropUnused(schedule);
    PlaceTemporaries(schedule);
    return schedule;
  }
}

std::string ScheduleText(const Schedule& s) {
  std::string out;
  for (size_t i = 0; i < s.items.size(); ++i) {
    const ScheduleItem& item = s.items[i];
    absl::StrAppend(&out, i, ": ", item.device, " ");
    if (item.kind == ScheduleItem::Kind::kCopy)
      absl::StrAppend(&out, "copy");
    else
      absl::StrAppend(&out, item.kernel->arg_as<KernelArg>().name);
    for (size_t k = 0; k < item.slots.size(); ++k) {
      const int slot = item.slots[k];
      const size_t outputs = static_cast<size_t>(item.outputs);
      absl::StrAppend(&out, k == 0 ? " -> " : k == outputs ? " <- " : ", ");
      if (slot < s.num_params)
        absl::StrAppend(&out, "p", slot);
      else
        absl::StrAppend(&out, "t", slot - s.num_params, "@", s.temporaries[slot - s.num_params].offset);
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

}  // namespace understudy
