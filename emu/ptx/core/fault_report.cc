// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/fault_report.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace understudy::emu::ptx {
namespace {

// That the message of a hang shows.
constexpr size_t kMaxPlaces = 8;

std::string TextAt(const Launch& launch, const BoundFunction& function, uint32_t pc, Location* location) {
  if (pc >= function.text->body.size()) {
    if (location != nullptr) *location = function.text->location;
    return "the end of " + function.text->name;
  }
  const Instruction& inst = function.text->body[pc];
  if (location != nullptr) *location = inst.location;
  const std::string line = launch.program->module().SourceLine(inst.location.line);
  return line.empty() ? inst.Name() : line;
}

}  // namespace

void SetPlace(const WarpState& warp, const Launch& launch, const BoundFunction& function, uint32_t pc,
              int lane, LaunchFault* fault) {
  fault->kernel = launch.kernel->text->name;
  fault->function = function.text->name;
  fault->pc = pc;
  fault->text = TextAt(launch, function, pc, &fault->location);
  fault->cta = Dim3{warp.cta->id[0], warp.cta->id[1], warp.cta->id[2]};
  fault->warp = static_cast<int>(warp.index);
  fault->lane = lane;
  const Dim3 block = launch.config.block;
  const uint32_t thread = warp.index * kWarpSize + static_cast<uint32_t>(lane < 0 ? 0 : lane);
  fault->thread = Dim3{thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

std::string PlaceText(const LaunchFault& f, const Launch& launch) {
  return absl::StrFormat("%s:%d: '%s' in %s (instruction %d), CTA (%d,%d,%d), warp %d, thread (%d,%d,%d)",
                         launch.program->module().name, f.location.line, f.text, f.function, f.pc, f.cta.x,
                         f.cta.y, f.cta.z, f.warp, f.thread.x, f.thread.y, f.thread.z);
}

namespace {

uint32_t ThreadsAt(const Cta& cta, const Barrier& barrier) {
  uint32_t threads = barrier.arrived;
  for (uint32_t w = 0; w < cta.num_warps; ++w)
    threads += static_cast<uint32_t>(std::popcount(barrier.partial[w]));
  return threads;
}

std::string WaitText(const Launch& launch, const Cta& cta, const Group& group) {
  Location location;
  const std::string text = TextAt(launch, *group.frame->function, group.pc, &location);
  std::string what;
  switch (group.wait) {
    case Group::Wait::kSync:
      what = absl::StrFormat("for lanes 0x%08x", group.sync_mask);
      break;
    case Group::Wait::kBarrier:
      what = absl::StrFormat("at barrier %d", group.barrier);
      if (const Barrier& barrier = cta.barriers[group.barrier]; barrier.expected != 0)
        absl::StrAppendFormat(&what, " (%d of %d threads have come)", ThreadsAt(cta, barrier),
                              barrier.expected);
      break;
    case Group::Wait::kCluster:
      what = "at the cluster's barrier";
      break;
    case Group::Wait::kRetry:
      what = group.frame->function->text->body[group.pc].op == Op::kMbarrier ? "for a phase of an mbarrier"
                                                                             : "for a condition";
      break;
    case Group::Wait::kNone:
      what = "for its turn";
  }
  return absl::StrFormat("lanes 0x%08x wait %s at line %d '%s'", group.mask, what, location.line, text);
}

}  // namespace

LaunchFault FaultReport(const WarpState& warp, const Fault& fault, const Launch& launch) {
  LaunchFault report;
  report.kind = fault.kind;
  report.memory = fault.memory;
  const BoundFunction& function = warp.frame != nullptr ? *warp.frame->function : *launch.kernel;
  SetPlace(warp, launch, function, warp.pc, fault.lane, &report);
  report.message =
      absl::StrFormat("%s: %s; %s", FaultKindName(fault.kind), fault.message, PlaceText(report, launch));
  if (fault.memory.kind != MemoryFaultKind::kNone && fault.message.find("0x") == std::string::npos)
    report.message += "; " + fault.memory.Message();
  return report;
}

LaunchFault HangReport(Cluster& cluster, const Launch& launch) {
  LaunchFault report;
  report.kind = FaultKind::kHang;
  // Each place once: many warps at one of them must not hide another.
  struct Place {
    const BoundFunction* function;
    uint32_t pc;
    std::string text;
    int more = 0;
  };
  std::vector<Place> places;
  for (uint32_t c = 0; c < cluster.num_ctas; ++c)
    for (uint32_t w = 0; w < cluster.ctas[c]->num_warps; ++w) {
      const WarpState& warp = *cluster.ctas[c]->warps[w];
      for (int i = 0; i < warp.num_groups; ++i) {
        const Group& group = warp.groups[static_cast<size_t>(i)];
        const auto known = std::find_if(places.begin(), places.end(), [&group](const Place& place) {
          return place.function == group.frame->function && place.pc == group.pc;
        });
        if (known != places.end()) {
          ++known->more;
          continue;
        }
        if (places.empty())
          SetPlace(warp, launch, *group.frame->function, group.pc, std::countr_zero(group.mask), &report);
        std::string text = absl::StrFormat("warp %d: %s", w, WaitText(launch, *cluster.ctas[c], group));
        if (cluster.num_ctas > 1) text = absl::StrFormat("CTA %d of the cluster, %s", c, text);
        places.push_back({group.frame->function, group.pc, std::move(text)});
      }
    }
  std::string points;
  for (size_t i = 0; i < places.size() && i < kMaxPlaces; ++i) {
    points += "; " + places[i].text;
    if (places[i].more != 0) absl::StrAppendFormat(&points, " (and %d more groups of lanes)", places[i].more);
  }
  if (places.size() > kMaxPlaces)
    absl::StrAppendFormat(&points, "; and %d more places", places.size() - kMaxPlaces);
  report.message = absl::StrFormat("%s: %s%s", FaultKindName(report.kind), PlaceText(report, launch), points);
  return report;
}

}  // namespace understudy::emu::ptx
