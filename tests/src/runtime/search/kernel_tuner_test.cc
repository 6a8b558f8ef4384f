// SPDX-License-Identifier: Apache-2.0
// The whole search on devices: values against REF, costs against the heuristic's, the cache, the containment
// and the engine. On the emulated gfx1100 costs are counts, so that the same search gives the same result.

#include "src/runtime/search/kernel_tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "src/base/status.h"
#include "src/codegen/stages.h"
#include "src/dtype/const_value.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/null/null_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/tensor.h"
#include "src/uop/build.h"
#include "tools/rig/emulated_device.h"
#include "tools/rig/example_kernels.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT
using Cost = KernelTunerOptions::Cost;

constexpr char kWorker[] = "src/runtime/search/compile_worker";
constexpr char kFaulty[] = "tests/src/runtime/search/faulty_worker";

std::vector<uint8_t> RunWith(Device& device, const UOpRef& kernel, const ChoiceList& choices) {
  const auto buffers = *KernelBuffers::Create(device, kernel, *BufferBytesOf(kernel));
  const auto program = device.Compile(kernel, &choices);
  US_CHECK_OK(program);
  US_CHECK_OK(device.Launch(**program, buffers->buffers(), buffers->vars(), nullptr));
  std::vector<uint8_t> out(buffers->buffers()[0].bytes);
  US_CHECK_OK(device.CopyOut(out.data(), buffers->buffers()[0], out.size()));
  return out;
}

// The largest difference of two arrays of f32, over the largest value.
double Apart(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  double largest = 0, apart = 0;
  for (size_t at = 0; at + 4 <= a.size(); at += 4) {
    float x, y;
    std::memcpy(&x, &a[at], 4);
    std::memcpy(&y, &b[at], 4);
    largest = std::fmax(largest, std::fabs(x));
    const double d = std::fabs(static_cast<double>(x) - y);
    apart = std::isfinite(d) ? std::fmax(apart, d) : HUGE_VAL;
  }
  return apart / largest;
}

bool Reorders(const ChoiceList& choices) {
  for (const Choice& c : choices) {
    if (c.kind == ChoiceKind::kGroup || c.kind == ChoiceKind::kTensorCore) return true;
  }
  return false;
}

KernelTunerOptions Options(Cost cost, int64_t candidates) {
  KernelTunerOptions options;
  options.cost = cost;
  options.search.max_candidates = candidates;
  options.search.keep = 6;
  options.device.repeats = 2;
  return options;
}

UOpRef SmallSum(const char* name = "sum") {
  const UOpRef i = uop::Range(8, 0, AxisKind::kGlobal), k = uop::Range(64, 1, AxisKind::kReduce);
  const auto at = [](int64_t p, const UOpRef& index) {
    return uop::IndexOf(uop::Param(dtypes::kFloat32, p), index);
  };
  return uop::Sink({uop::Store(at(0, i), uop::Reduce(Op::kAdd, uop::Load(at(1, i * 64 + k)), {k}), {i})},
                   name);
}

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tuner-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

// Every kernel on every kind of cost: the values are REF's, the cost is no more than the heuristic's.
TEST(KernelTuner, KeepsValuesAndIsNeverWorseThanTheHeuristic) {
  RefDevice ref;
  CpuDevice cpu;
  EmulatedDevice gpu("gfx1100");
  const struct {
    Device& device;
    Cost cost;
    int64_t candidates;
  } kCases[] = {{gpu, Cost::kCounted, 9}, {cpu, Cost::kMeasured, 7}, {gpu, Cost::kStatic, 30}};
  for (const ExampleKernel& example : ExampleKernels()) {
    const UOpRef kernel = example.make();
    const std::vector<uint8_t> want = RunWith(ref, kernel, {});
    for (const auto& c : kCases) {
      auto tuner = *KernelTuner::Create(Options(c.cost, c.candidates));
      const auto report = tuner->Tune(kernel, c.device, *BufferBytesOf(kernel));
      ASSERT_TRUE(report.ok()) << example.name << ": " << report.status().ToString();
      const SearchResult& r = report->result;
      EXPECT_LE(r.cost, *r.heuristic_cost) << example.name;
      EXPECT_LE(r.cost, *r.none_cost) << example.name;
      EXPECT_EQ(r.failed, 0) << example.name << ": "
                             << (tuner->failures().empty() ? "" : tuner->failures()[0]);
      const std::vector<uint8_t> got = RunWith(c.device, kernel, r.choices);
      // EXP2 is within an ulp of REF's; sums that are grouped round otherwise.
      if (Reorders(r.choices) || std::string(example.name) == "softmax") {
        EXPECT_LT(Apart(want, got), 1e-5)
            << example.name << " on " << c.device.name() << " with " << ChoicesText(r.choices);
      } else {
        EXPECT_EQ(want, got) << example.name << " on " << c.device.name() << " with "
                             << ChoicesText(r.choices);
      }
    }
  }
}

// More than one kernel's optimum: each candidate that was costed computes the same.
TEST(KernelTuner, EveryCandidateKeepsTheValues) {
  RefDevice ref;
  CpuDevice cpu;
  EmulatedDevice gpu("gfx1100");
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&gpu)}) {
    const UOpRef kernel = MatmulKernel(12, 10, 9, dtypes::kFloat32, dtypes::kFloat32);
    const std::vector<uint8_t> want = RunWith(ref, kernel, {});
    KernelTunerOptions options = Options(Cost::kStatic, 24);
    options.search.seed = 7;
    auto tuner = *KernelTuner::Create(options);
    const auto report = tuner->Tune(kernel, *device, *BufferBytesOf(kernel));
    ASSERT_TRUE(report.ok());
    for (const TriedChoices& t : report->result.tried) {
      const std::vector<uint8_t> got = RunWith(*device, kernel, t.choices);
      if (Reorders(t.choices)) {
        EXPECT_LT(Apart(want, got), 1e-6) << ChoicesText(t.choices);
      } else {
        EXPECT_EQ(want, got) << ChoicesText(t.choices);
      }
    }
  }
}

TEST(KernelTuner, CountsGiveTheSameSearchHoweverManyProcessesCompile) {
  const auto search = [](std::optional<CompilePoolOptions> pool) {
    EmulatedDevice gpu("gfx1100");
    KernelTunerOptions options = Options(Cost::kCounted, 20);
    options.pool = std::move(pool);
    auto tuner = *KernelTuner::Create(options);
    const UOpRef kernel = SmallSum();
    const auto report = tuner->Tune(kernel, gpu, *BufferBytesOf(kernel));
    US_CHECK_OK(report);
    std::vector<std::string> lines;
    for (const TriedChoices& t : report->result.tried)
      lines.push_back(ChoicesText(t.choices) + " " + std::to_string(*t.cost));
    return lines;
  };
  const auto here = search(std::nullopt);
  EXPECT_EQ(here, search(CompilePoolOptions{.worker = {kWorker}, .workers = 1}));
  EXPECT_EQ(here, search(CompilePoolOptions{.worker = {kWorker}, .workers = 3}));
}

TEST(KernelTuner, ACacheHitCompilesAndRunsNothing) {
  const Folder folder;
  EmulatedDevice gpu("gfx1100");
  KernelTunerOptions options = Options(Cost::kCounted, 20);
  options.cache_path = folder.path + "/search.sqlite";
  options.pool = CompilePoolOptions{.worker = {kWorker}, .workers = 1};
  const auto bytes = *BufferBytesOf(SmallSum());
  ChoiceList found;
  {
    auto tuner = *KernelTuner::Create(options);
    const auto report = tuner->Tune(SmallSum(), gpu, bytes);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_FALSE(report->from_cache);
    EXPECT_EQ(tuner->pool()->stats().compiled, static_cast<int64_t>(report->result.tried.size()));
    found = report->result.choices;
  }
  auto tuner = *KernelTuner::Create(options);
  // Another name, the same structure.
  const auto report = tuner->Tune(SmallSum("other"), gpu, bytes);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->from_cache);
  EXPECT_EQ(report->result.choices, found);
  EXPECT_EQ(tuner->pool()->stats().started, 0);
  EXPECT_EQ(tuner->stats().cache_hits, 1);
  EXPECT_EQ(tuner->stats().candidates, 0);
  // What decides the result is in the key.
  const std::string key = tuner->KeyOf(SmallSum(), gpu, bytes);
  EXPECT_EQ(key, tuner->KeyOf(SmallSum("other"), gpu, bytes));
  std::set<std::string> keys = {key};
  EmulatedDevice cdna("gfx942");
  EXPECT_TRUE(keys.insert(tuner->KeyOf(SmallSum(), cdna, bytes)).second);
  EXPECT_TRUE(keys.insert(tuner->KeyOf(MatmulKernel(4, 4, 4, dtypes::kFloat32, dtypes::kFloat32), gpu, bytes))
                  .second);
  EXPECT_TRUE(keys.insert(tuner->KeyOf(SmallSum(), gpu, {4, 4})).second);
  options.search.width = 9;
  EXPECT_TRUE(keys.insert((*KernelTuner::Create(options))->KeyOf(SmallSum(), gpu, bytes)).second);
  options.device.weights.line = 8;
  EXPECT_TRUE(keys.insert((*KernelTuner::Create(options))->KeyOf(SmallSum(), gpu, bytes)).second);
}

// What the file says is checked like anything from outside.
TEST(KernelTuner, WrongEntriesAreDropped) {
  const Folder folder;
  EmulatedDevice gpu("gfx1100");
  KernelTunerOptions options = Options(Cost::kStatic, 20);
  options.cache_path = folder.path + "/search.sqlite";
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  auto tuner = *KernelTuner::Create(options);
  const auto bytes = *BufferBytesOf(SmallSum());
  const std::string key = tuner->KeyOf(SmallSum(), gpu, bytes);
  for (const CachedSearch& wrong : {CachedSearch{"upcast(0,7)", 1, ""}, CachedSearch{"nonsense", 1, ""},
                                    CachedSearch{"thread(0,2)", 1, ""}, CachedSearch{"upcast(0,2)", -1, ""},
                                    CachedSearch{"upcast(3,2)", 1, ""}}) {
    warnings.clear();
    ASSERT_TRUE(tuner->cache()->Put(key, wrong).ok());
    const auto report = tuner->Tune(SmallSum(), gpu, bytes);
    ASSERT_TRUE(report.ok());
    EXPECT_FALSE(report->from_cache) << wrong.choices;
    ASSERT_EQ(warnings.size(), 1u) << wrong.choices;
    EXPECT_NE(warnings[0].find("an entry is dropped"), std::string::npos) << warnings[0];
    // The right one has taken its place.
    EXPECT_EQ((*tuner->cache()->Get(key))->choices, ChoicesText(report->result.choices));
  }
}

TEST(KernelTuner, GoesOnWhenCompilesCrashAndHang) {
  EmulatedDevice gpu("gfx1100");
  KernelTunerOptions options = Options(Cost::kCounted, 60);
  options.prune = false;
  options.search.max_choices = 1;
  options.pool =
      CompilePoolOptions{.worker = {kFaulty}, .workers = 2, .seconds = 3, .memory_bytes = uint64_t{2} << 30};
  auto tuner = *KernelTuner::Create(options);
  const UOpRef kernel = SmallSum();
  const auto report = tuner->Tune(kernel, gpu, *BufferBytesOf(kernel));
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_GE(report->result.failed, 3);
  EXPECT_EQ(tuner->stats().failed, report->result.failed);
  const auto told = [&](const char* what) {
    for (const std::string& f : tuner->failures()) {
      if (f.find(what) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(told("compiling kernel sum with unroll(0,2): the compiler was ended by signal 11"));
  EXPECT_TRUE(told("compiling kernel sum with unroll(0,4): not done after 3 s"));
  for (const Choice& c : report->result.choices) EXPECT_NE(c.kind, ChoiceKind::kUnroll);
  RefDevice ref;
  EXPECT_LT(Apart(RunWith(ref, kernel, {}), RunWith(gpu, kernel, report->result.choices)), 1e-6);
}

// Through driver, queue and packets the mock machine counts what the emulator alone counts.
TEST(KernelTuner, CountsAreTheSameThroughTheDriver) {
  const auto rig = Rig::Create();
  ASSERT_TRUE(rig.ok()) << rig.status().ToString();
  EmulatedDevice bare("gfx1100");
  for (const char* choices : {"", "local(0,16) upcast(1,4) unroll(0,8)"}) {
    LaunchInfo infos[2];
    Device* const devices[] = {&bare, &(*rig)->amd()};
    for (int d = 0; d < 2; ++d) {
      const UOpRef kernel = MatmulKernel(16, 16, 16, dtypes::kFloat32, dtypes::kFloat32);
      const auto buffers = *KernelBuffers::Create(*devices[d], kernel, *BufferBytesOf(kernel));
      const ChoiceList list = *ParseChoices(choices);
      const auto program = devices[d]->Compile(kernel, &list);
      ASSERT_TRUE(program.ok()) << program.status().ToString();
      // Twice: the second launch must not count the first.
      for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(devices[d]->Launch(**program, buffers->buffers(), {}, &infos[d]).ok());
    }
    EXPECT_GT(infos[0].instructions, 0u);
    EXPECT_EQ(infos[0].instructions, infos[1].instructions);
    EXPECT_EQ(infos[0].memory_bytes, infos[1].memory_bytes);
    EXPECT_GE(infos[0].memory_bytes, 16u * 16 * 4 * 3);
    EXPECT_GT(infos[0].memory_lines, 0u);
    // Arguments may lie across a line's end in one of them.
    EXPECT_NEAR(static_cast<double>(infos[0].memory_lines), static_cast<double>(infos[1].memory_lines),
                0.1 * static_cast<double>(infos[0].memory_lines));
  }
}

TEST(KernelTuner, SaysWhatADeviceCannotDo) {
  CpuDevice cpu;
  NullDevice null(HostTarget());
  const UOpRef kernel = SmallSum();
  const auto bytes = *BufferBytesOf(kernel);
  auto counted = *KernelTuner::Create(Options(Cost::kCounted, 5));
  const auto on_cpu = counted->Tune(kernel, cpu, bytes);
  EXPECT_EQ(on_cpu.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(on_cpu.status().message()).find("CPU counts no instructions"), std::string::npos)
      << on_cpu.status().ToString();
  // The engine then keeps the heuristic.
  EXPECT_FALSE((*counted->Find(kernel, cpu, bytes)).has_value());
  auto measured = *KernelTuner::Create(Options(Cost::kMeasured, 5));
  EXPECT_NE(std::string(measured->Tune(kernel, null, bytes).status().message()).find("NULL measures no time"),
            std::string::npos);
  auto estimated = *KernelTuner::Create(Options(Cost::kStatic, 5));
  EXPECT_TRUE(estimated->Tune(kernel, null, bytes).ok());
  RefDevice ref;
  EXPECT_FALSE((*estimated->Find(kernel, ref, bytes)).has_value());
  EXPECT_EQ(estimated->stats().searches, 1);
}

TEST(KernelBuffers, SizesFollowFromIndices) {
  const UOpRef i = uop::Range(10, 0, AxisKind::kGlobal);
  const auto at = [](int64_t p, const UOpRef& index, DType t) {
    return uop::IndexOf(uop::Param(t, p), index);
  };
  const UOpRef kernel =
      uop::Sink({uop::Store(at(0, i, dtypes::kFloat64),
                            uop::Cast(uop::Load(at(2, i * 3 + 1, dtypes::kInt16)), dtypes::kFloat64), {i})},
                "k");
  EXPECT_EQ(*BufferBytesOf(kernel), (std::vector<size_t>{80, 1, 58}));
  const UOpRef position = uop::Cast(uop::Load(at(1, i, dtypes::kInt64)), dtypes::kIndex);
  const UOpRef gather =
      uop::Sink({uop::Store(at(0, i, dtypes::kInt16), uop::Load(at(2, position, dtypes::kInt16)), {i})}, "g");
  const auto bytes = BufferBytesOf(gather);
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(bytes.status().message()).find("buffer 2"), std::string::npos)
      << bytes.status().ToString();
}

// Through the engine: a search a kernel, once; the second realize searches nothing; the values are REF's.
TEST(KernelTuner, ServesAnEngine) {
  const Folder folder;
  KernelTunerOptions options = Options(Cost::kMeasured, 12);
  options.cache_path = folder.path + "/search.sqlite";
  options.pool = CompilePoolOptions{.worker = {kWorker}, .workers = 1};
  const auto run = [](const std::shared_ptr<KernelSearch>& search, const std::string& device) {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    devices.Register(std::make_shared<RefDevice>());
    EngineOptions engine_options;
    engine_options.search = search;
    Engine engine(std::move(devices), engine_options);
    std::vector<float> all;
    for (int step = 0; step < 2; ++step) {
      const Tensor x = Tensor::Arange(0, 48, 1, {dtypes::kFloat32, device}).Reshape({6, 8}) * 0.25;
      const Tensor w = Tensor::Arange(0, 80, 1, {dtypes::kFloat32, device}).Reshape({8, 10}) - 40.0;
      Tensor y = (x.Clone().Matmul(w.Clone())).Relu().Sum({1});
      const auto data = engine.Data<float>(y);
      US_CHECK_OK(data);
      all.insert(all.end(), data->begin(), data->end());
    }
    return all;
  };
  std::shared_ptr<KernelTuner> tuner = *KernelTuner::Create(options);
  const auto got = run(tuner, "CPU");
  EXPECT_EQ(got, run(nullptr, "REF"));
  const int64_t searches = tuner->stats().searches;
  EXPECT_GT(searches, 0);
  EXPECT_EQ(tuner->stats().cache_hits, 0);
  EXPECT_GT(tuner->stats().candidates, 0);
  // REF has nothing to search.
  EXPECT_EQ(run(tuner, "REF"), got);
  EXPECT_EQ(tuner->stats().searches, searches);
  // A new engine and tuner: from the file.
  std::shared_ptr<KernelTuner> again = *KernelTuner::Create(options);
  EXPECT_EQ(run(again, "CPU"), got);
  EXPECT_EQ(again->stats().cache_hits, searches);
  EXPECT_EQ(again->pool()->stats().started, 0);
}

}  // namespace
}  // namespace understudy
