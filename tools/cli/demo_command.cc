// SPDX-License-Identifier: Apache-2.0
// `understudy demo`: runs the four parts and prints them as tables, or as one JSON object.

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"
#include "tools/demo/demo.h"
#include "tools/rig/rig.h"

ABSL_FLAG(int, epochs, 12, "training epochs of the digits network");
ABSL_FLAG(std::string, gpu, "", "the mock machine's AMD GPU");

namespace understudy::cli {
namespace {

using nlohmann::json;

std::string Verdict(const json& row) { return row["ok"].get<bool>() ? "ok" : "WRONG"; }

std::string Percent(double v) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * v);
  return text;
}

demo::ProgressFn Draw(Progress* progress) {
  return [progress](int done, int, const std::string& note) { progress->Update(done, note); };
}

void PrintPrograms(const json& part) {
  Table t({{"program"},
           {"device"},
           {"kernels", true},
           {"packets", true},
           {"wave instructions", true},
           {"ms", true},
           {"max ulp", true},
           {"of largest", true},
           {"allowed", true},
           {"result"}});
  for (const json& row : part["programs"]) {
    const bool emulated = row["device"] == "AMD";
    t.AddRow({row["name"], row["device"], Thousands(row["kernels"]),
              emulated ? Thousands(row["packets"]) : "-",
              emulated ? Thousands(row["wave_instructions"]) : "-", Short(row["ms"]),
              Thousands(row["max_ulp"]), Short(row["scaled_ulp"]), Short(row["allowed"]), Verdict(row)});
  }
  std::printf(
      "1. Tensor programs against REF (ms: schedule, compile and run; ulp: of each element, and of the "
      "output's largest)\n\n%s\n",
      t.Text().c_str());
}

void PrintTraining(const json& part) {
  Table t({{"epoch", true}, {"mean loss", true}});
  const json& epochs = part["epochs"];
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (i % 3 == 0 || i + 1 == epochs.size()) t.AddRow({Thousands(i + 1), Short(epochs[i]["loss"])});
  }
  std::printf("2. Handwritten digits on the mock AMD device: %d images to learn, %d to test\n\n%s\n",
              part["samples"]["train"].get<int>(), part["samples"]["test"].get<int>(), t.Text().c_str());
  std::printf("   accuracy %s in training, %s on the test images (wanted: above 90 %%): %s\n",
              Percent(part["train_accuracy"]).c_str(), Percent(part["test_accuracy"]).c_str(),
              Verdict(part).c_str());
  std::printf("   %s kernels, %s packets, %s wave instructions, %s s\n\n", Thousands(part["kernels"]).c_str(),
              Thousands(part["packets"]).c_str(), Thousands(part["wave_instructions"]).c_str(),
              Short(part["ms"].get<double>() / 1000).c_str());
}

void PrintKernels(const json& part) {
  Table t({{"kernel"},
           {"groups", true},
           {"packets", true},
           {"wave instructions", true},
           {"ms", true},
           {"values", true},
           {"differences", true},
           {"result"}});
  for (const json& row : part["kernels"]) {
    t.AddRow({row["name"], Thousands(row["groups"]), Thousands(row["packets"]),
              Thousands(row["wave_instructions"]), Short(row["ms"]), Thousands(row["values"]),
              Thousands(row["differences"]), Verdict(row)});
  }
  std::printf("3. OpenCL C kernels compiled by clang, against the same source on the host\n\n%s\n",
              t.Text().c_str());
}

void PrintFault(const json& part) {
  const json& r = part["report"];
  std::printf("4. A kernel with a wild pointer\n\n");
  Table t({{"what"}, {"reported"}});
  t.AddRow({"kernel", part["kernel"]});
  t.AddRow(
      {"pc", absl::StrCat(r["pc"].get<std::string>(), " (kernel + ", r["offset"].get<std::string>(), ")")});
  t.AddRow({"instruction", r["instruction"]});
  t.AddRow({"workgroup, wave, lane", absl::StrCat(r["workgroup"][0].get<int>(), ", ", r["wave"].get<int>(),
                                                  ", ", r["lane"].get<int>())});
  t.AddRow({"address", absl::StrCat(r["address"].get<std::string>(), " (the source computes ",
                                    r["expected_address"].get<std::string>(), ")")});
  std::printf("%s\n   mock machine: %s\n\n   driver: %s\n\n", t.Text().c_str(),
              r["message"].get<std::string>().c_str(), part["driver_status"].get<std::string>().c_str());
  std::printf("   queues rebuilt in the same process; the next launch differs in %s values: %s\n\n",
              Thousands(part["differences_after"]).c_str(), Verdict(part).c_str());
}

bool AllOk(const json& rows) {
  for (const json& row : rows) {
    if (!row["ok"].get<bool>()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<int> RunDemo(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument '", arguments[0], "'; see `understudy demo --help`"));
  }
  const int epochs = absl::GetFlag(FLAGS_epochs);
  if (epochs < 1)
    return absl::InvalidArgumentError(absl::StrCat("--epochs=", epochs, ", expected 1 or more"));
  const bool as_json = absl::GetFlag(FLAGS_json);
  const auto start = std::chrono::steady_clock::now();
  US_ASSIGN_OR_RETURN(const std::unique_ptr<Rig> rig, Rig::Create({}, nullptr, absl::GetFlag(FLAGS_gpu)));

  json all;
  {
    Progress progress("tensor programs", demo::kTensorPrograms * static_cast<int>(ComparedDevices().size()));
    US_ASSIGN_OR_RETURN(all["tensors"], demo::RunTensorPrograms(*rig, Draw(&progress)));
  }
  if (!as_json) PrintPrograms(all["tensors"]);
  {
    Progress progress("training", epochs * demo::kStepsPerEpoch);
    US_ASSIGN_OR_RETURN(all["training"], demo::RunTraining(*rig, epochs, Draw(&progress)));
  }
  if (!as_json) PrintTraining(all["training"]);
  US_ASSIGN_OR_RETURN(all["opencl"], demo::RunOpenClKernels(*rig));
  if (!as_json) PrintKernels(all["opencl"]);
  US_ASSIGN_OR_RETURN(all["fault"], demo::RunWildPointer(*rig));
  if (!as_json) PrintFault(all["fault"]);

  const bool ok = AllOk(all["tensors"]["programs"]) && all["training"]["ok"].get<bool>() &&
                  AllOk(all["opencl"]["kernels"]) && all["fault"]["ok"].get<bool>();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  all["ok"] = ok;
  all["seconds"] = seconds;
  if (as_json) {
    std::printf("%s\n", all.dump(2).c_str());
  } else {
    std::printf("%s, in %s s\n", ok ? "Everything is right" : "SOMETHING IS WRONG", Short(seconds).c_str());
  }
  return ok ? 0 : 1;
}

}  // namespace understudy::cli
