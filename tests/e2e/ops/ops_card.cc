// SPDX-License-Identifier: Apache-2.0
// The table of docs/ops.md for REF (R) and the machine's NVIDIA card (H) with USE_HW=1, for the mock driver
// library (N) without: one line a row. Links no LLVM, so that it can be carried; it runs where tests/data
// lies. Differences go to standard error, and the exit status says whether there were any.
#include <cstdio>
#include <memory>

#include "src/base/use_hardware.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/e2e/ops/support.h"
#include "tests/src/runtime/cuda/open_cuda.h"

int main() {
  using namespace understudy;  // NOLINT
  const auto cuda = test::OpenCuda();
  if (!cuda.ok()) {
    std::fprintf(stderr, "%s\n", std::string(cuda.status().message()).c_str());
    return 1;
  }
  DeviceRegistry devices;
  devices.Register(std::make_shared<RefDevice>());
  devices.Register(*cuda);
  Engine engine(std::move(devices));
  SupportProbe probe({{'R', "REF", &engine}, {UseHardware() ? 'H' : 'N', "CUDA", &engine}});
  size_t problems = 0, rows = 0;
  std::string family;
  for (const OperationCases& o : AllOperations()) {
    const SupportRow row = probe.Measure(o);
    if (row.family != family) std::printf("## %s\n", (family = row.family).c_str());
    std::fputs(SupportLine(row).c_str(), stdout);
    for (const std::string& p : row.problems) std::fprintf(stderr, "%s\n", p.c_str());
    problems += row.problems.size();
    ++rows;
  }
  std::fprintf(stderr, "%zu rows on %s, %zu differences\n", rows, (*cuda)->description().c_str(), problems);
  return problems == 0 ? 0 : 1;
}
