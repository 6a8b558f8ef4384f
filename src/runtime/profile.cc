// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/profile.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"

namespace understudy {

std::vector<KernelProfile> SummarizeLaunches(absl::Span<const LaunchRecord> records) {
  std::map<std::pair<std::string, std::string>, KernelProfile> by_name;
  for (const LaunchRecord& r : records) {
    KernelProfile& p = by_name[{r.kernel, r.device}];
    const uint64_t ns = r.info.device_ns;
    p.min_ns = p.launches == 0 ? ns : std::min(p.min_ns, ns);
    p.max_ns = std::max(p.max_ns, ns);
    p.total_ns += ns;
    ++p.launches;
  }
  std::vector<KernelProfile> out;
  for (auto& [name, p] : by_name) {
    std::tie(p.kernel, p.device) = name;
    out.push_back(std::move(p));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const KernelProfile& a, const KernelProfile& b) { return a.total_ns > b.total_ns; });
  return out;
}

std::string ProfileText(absl::Span<const LaunchRecord> records) {
  const std::vector<KernelProfile> list = SummarizeLaunches(records);
  uint64_t all = 0;
  for (const KernelProfile& p : list) all += p.total_ns;
  std::string out = absl::StrFormat("%12s %6s %9s %12s  %-8s %s\n", "total us", "share", "launches",
                                    "mean us", "device", "kernel");
  for (const KernelProfile& p : list) {
    out += absl::StrFormat("%12.1f %5.1f%% %9d %12.2f  %-8s %s\n", p.total_ns / 1e3,
                           all == 0 ? 0.0 : 100.0 * p.total_ns / all, p.launches,
                           p.total_ns / 1e3 / p.launches, p.device, p.kernel);
  }
  return out;
}

std::string ChromeTrace(absl::Span<const LaunchRecord> records) {
  std::map<std::string, int> tracks;
  nlohmann::json events = nlohmann::json::array();
  for (const LaunchRecord& r : records) {
    const auto [track, added] = tracks.emplace(r.device, static_cast<int>(tracks.size()));
    if (added) {
      events.push_back({{"ph", "M"},
                        {"name", "thread_name"},
                        {"pid", 0},
                        {"tid", track->second},
                        {"args", {{"name", r.device}}}});
    }
    // Microseconds; fractions keep the nanoseconds.
    events.push_back({{"ph", "X"},
                      {"name", r.kernel},
                      {"pid", 0},
                      {"tid", track->second},
                      {"ts", r.info.begin_ns / 1e3},
                      {"dur", r.info.device_ns / 1e3},
                      {"args", {{"grid", r.info.grid}, {"block", r.info.block}}}});
  }
  // Kernel names are ours, but a trace is a file for others: bytes that are no UTF-8 become U+FFFD.
  return nlohmann::json({{"traceEvents", events}, {"displayTimeUnit", "ns"}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace understudy
