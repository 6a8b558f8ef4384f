// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/graph.h"

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

std::vector<bool> GraphPlan::Waits() const {
  std::vector<bool> waits(launches.size());
  struct Touch {
    int memory;
    size_t begin, end;
    bool write;
  };
  std::vector<Touch> since;  // the last wait
  for (size_t i = 0; i < launches.size(); ++i) {
    const GraphLaunch& launch = launches[i];
    const auto of = [&](size_t p) {
      const GraphPlace& place = places[static_cast<size_t>(launch.places[p])];
      return Touch{place.memory, place.offset, place.offset + place.bytes, bool{launch.writes[p]}};
    };
    for (size_t p = 0; p < launch.places.size() && !waits[i]; ++p) {
      const Touch t = of(p);
      for (const Touch& before : since) {
        if ((t.write || before.write) && t.memory == before.memory && t.begin < before.end &&
            before.begin < t.end) {
          waits[i] = true;
          break;
        }
      }
    }
    if (waits[i]) since.clear();
    for (size_t p = 0; p < launch.places.size(); ++p) since.push_back(of(p));
  }
  return waits;
}

absl::Status GraphPlan::Check() const {
  for (size_t i = 0; i < launches.size(); ++i) {
    const GraphLaunch& launch = launches[i];
    const auto bad = [&](const auto&... what) {
      return absl::InvalidArgumentError(absl::StrCat("graph: launch ", i, " ", what...));
    };
    if (launch.program == nullptr) return bad("has no program");
    if (launch.writes.size() != launch.places.size()) {
      return bad("of ", launch.program->name(), " has ", launch.places.size(), " places and ",
                 launch.writes.size(), " accesses");
    }
    for (const int p : launch.places) {
      if (p < 0 || static_cast<size_t>(p) >= places.size())
        return bad("of ", launch.program->name(), " names place ", p, " of ", places.size());
    }
    for (const int v : launch.vars) {
      if (v < 0 || v >= num_vars)
        return bad("of ", launch.program->name(), " names variable ", v, " of ", num_vars);
    }
  }
  return absl::OkStatus();
}

absl::Status LaunchList::Replay(absl::Span<const Allocation> places, absl::Span<const int64_t> vars) {
  times_.clear();
  for (const GraphLaunch& launch : plan_.launches) {
    buffers_.clear();
    values_.clear();
    for (const int p : launch.places) buffers_.push_back(places[static_cast<size_t>(p)]);
    for (const int v : launch.vars) values_.push_back(vars[static_cast<size_t>(v)]);
    LaunchInfo info;
    const absl::Status s = device_.Launch(*launch.program, buffers_, values_, record_ ? &info : nullptr);
    if (!s.ok()) {
      return absl::Status(s.code(), absl::StrCat("launching ", launch.program->name(), " on ", device_.name(),
                                                 ": ", std::string(s.message())));
    }
    if (record_) times_.push_back(info);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CommandGraph>> Device::MakeGraph(GraphPlan plan) {
  US_RETURN_IF_ERROR(plan.Check());
  return std::make_unique<LaunchList>(*this, std::move(plan));
}

}  // namespace understudy
