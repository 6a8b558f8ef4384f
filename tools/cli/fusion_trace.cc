// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/fusion_trace.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/render/render.h"
#include "src/schedule/fusion_report.h"
#include "src/schedule/schedule.h"
#include "src/tensor/tensor.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tools/cli/table.h"

namespace understudy::cli {
namespace {

using nlohmann::json;

// softmax(gelu(x W) U): a value for most reasons.
absl::StatusOr<UOpRef> ExampleCall() {
  const auto filled = [](Shape shape) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return Tensor::FromData(std::vector<float>(n), std::move(shape));
  };
  const Tensor x = filled({256, 64}), w = filled({64, 256}), u = filled({256, 512});
  const Tensor y = x.Matmul(w).Gelu().Matmul(u).Softmax();
  US_RETURN_IF_ERROR(y.status());
  const OutputRequest request{y.uop(), y.device()};
  US_ASSIGN_OR_RETURN(const Call call, MakeCall({&request, 1}));
  return call.sink;
}

std::string ShapeText(const UOp& u) { return absl::StrCat("[", absl::StrJoin(u.shape(), ","), "]"); }

json ValueJson(const UOp& u) {
  return {{"op", OpName(u.op())}, {"dtype", u.dtype().Name()}, {"shape", u.shape()}};
}

}  // namespace

absl::StatusOr<int> PrintFusion(const std::string& file, bool as_json) {
  UOpRef sink;
  if (file.empty()) {
    US_ASSIGN_OR_RETURN(sink, ExampleCall());
  } else {
    US_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    const absl::StatusOr<UOpRef> parsed = uop::Parse(text);
    if (!parsed.ok())
      return absl::Status(parsed.status().code(),
                          absl::StrCat(file, ": ", std::string(parsed.status().message())));
    sink = *parsed;
  }
  // A printed call does not say where its storage lies: all on one device.
  int64_t params = 0;
  for (const UOpRef& p : uop::NodesOf(sink, Op::kParam)) {
    const auto* arg = std::get_if<std::vector<int64_t>>(&p->arg());
    if (arg == nullptr || (*arg)[0] < 0 || (*arg)[0] > 1000000)
      return absl::InvalidArgumentError(absl::StrCat(file,
                                                     ": a PARAM without shape or with a position out of "
                                                     "range, expected a call (a kernel is traced without "
                                                     "--fusion)"));
    params = std::max(params, (*arg)[0] + 1);
  }
  FusionReport report;
  const std::vector<std::string> devices(params, "CPU");
  ScheduleOptions options;
  options.row_bytes["CPU"] = HostTarget().pack_bytes;
  US_ASSIGN_OR_RETURN(const Schedule schedule, MakeSchedule(sink, devices, options, &report));
  if (as_json) {
    json values = json::array(), merges = json::array(), items = json::array();
    for (const FusionDecision& d : report.decisions) {
      json row = ValueJson(*d.value);
      row.update({{"stored", IsStored(d.reason)},
                  {"reason", FusionReasonName(d.reason)},
                  {"text", FusionReasonText(d.reason)},
                  {"places", d.places},
                  {"evaluations", d.evaluations},
                  {"again", d.again},
                  {"store", d.store},
                  {"item", d.item},
                  {"memory", IsStored(d.reason) && d.memory}});
      values.push_back(std::move(row));
    }
    for (const FusionReport::Merge& m : report.merges) {
      json members = json::array();
      for (size_t i = 0; i < m.values.size(); ++i) {
        json row = ValueJson(*m.values[i]);
        row["reason"] = m.reasons[i];
        members.push_back(std::move(row));
      }
      merges.push_back({{"item", m.item}, {"kernel", m.kernel}, {"members", std::move(members)}});
    }
    for (const ScheduleItem& item : schedule.items)
      items.push_back(item.kind == ScheduleItem::Kind::kCopy ? "copy"
                                                             : item.kernel->arg_as<KernelArg>().name);
    std::printf("%s\n", json{{"values", values}, {"kernels", merges}, {"items", items}}.dump(2).c_str());
    return 0;
  }
  Table table({{"value"},
               {"type"},
               {"shape"},
               {"item", true},
               {"", false},
               {"again", true},
               {"store", true},
               {"because"}});
  for (const FusionDecision& d : report.decisions) {
    const bool stored = IsStored(d.reason);
    table.AddRow({OpName(d.value->op()), d.value->dtype().Name(), ShapeText(*d.value),
                  d.item < 0 ? "" : absl::StrCat(d.item),
                  !stored    ? "fused"
                  : d.memory ? "stored"
                             : "kept",
                  d.places > 0 ? Short(d.again) : "", d.places > 0 ? Short(d.store) : "",
                  FusionReasonText(d.reason)});
  }
  std::fputs(table.Text().c_str(), stdout);
  for (const FusionReport::Merge& m : report.merges) {
    std::printf("\nitem %d, %s, computes several values:\n", m.item, m.kernel.c_str());
    for (size_t i = 0; i < m.values.size(); ++i) {
      std::printf("  %s %s%s%s\n", OpName(m.values[i]->op()), ShapeText(*m.values[i]).c_str(),
                  m.reasons[i].empty() ? "" : ": ", m.reasons[i].c_str());
    }
  }
  std::printf("\n%s", ScheduleText(schedule).c_str());
  return 0;
}

}  // namespace understudy::cli
