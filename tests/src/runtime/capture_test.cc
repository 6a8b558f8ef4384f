// SPDX-License-Identifier: Apache-2.0
// Captured functions beside the same functions run eagerly: values bit for bit, storage, effects, what a
// replay costs, and what is refused.
#include "src/runtime/capture.h"

#include <cstring>
#include <stdexcept>

#include "src/base/status.h"
#include "src/tensor/function.h"
#include "src/tensor/random.h"
#include "src/tensor/watch.h"
#include "src/uop/build.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using In = absl::Span<const Tensor>;
using Out = std::vector<Tensor>;
using OutOr = absl::StatusOr<Out>;

class CaptureTest : public StorageTest {
 protected:
  Out Call(CapturedFunction& f, std::vector<Tensor> inputs) {
    OutOr out = f(inputs);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? *std::move(out) : Out(8, Tensor(absl::AbortedError("the call failed")));
  }
  void Refused(CapturedFunction& f, std::vector<Tensor> inputs, const std::string& why) {
    const OutOr out = f(inputs);
    ASSERT_FALSE(out.ok()) << "expected: " << why;
    EXPECT_THAT(std::string(out.status().message()), HasSubstr(why));
  }
  // The statistics that building, scheduling and compiling would move.
  struct Work {
    int64_t realizes, schedules, hits, compiled, programs;
    bool operator==(const Work&) const = default;
  };
  Work WorkSoFar() const {
    const EngineStats& s = engine->stats();
    return {s.realizes, s.schedules_made, s.schedule_cache_hits, s.kernels_compiled, s.program_cache_hits};
  }
};
UNDERSTUDY_STORAGE_DEVICES(CaptureTest);

TEST_P(CaptureTest, ReplaysComputeWhatTheFunctionComputesOfNewInputsAndScheduleNothing) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] + in[1], (in[0] * in[1]).Sum()}; });
  for (int i = 0; i < 5; ++i) {
    const auto k = static_cast<float>(i);
    const Tensor a = F32({k, 2, 3}, {3}), b = F32({10, 20 * k, 30}, {3});
    const Work before = WorkSoFar();
    const EngineStats stats = engine->stats();
    const Out y = Call(f, {a, b});
    EXPECT_EQ(f.captured(), i >= 1);
    if (i >= 2) {
      EXPECT_EQ(WorkSoFar(), before) << "a replay builds, schedules and compiles nothing";
      EXPECT_EQ(engine->stats().replays, stats.replays + 1);
      EXPECT_EQ(engine->stats().graph_launches, stats.graph_launches + 1);
      EXPECT_EQ(engine->stats().graphs_made, stats.graphs_made) << "graphs are encoded once";
      EXPECT_GT(engine->stats().kernels_launched, stats.kernels_launched);
    }
    EXPECT_THAT(Get(y[0]), ElementsAre(10 + k, 2 + 20 * k, 33));
    EXPECT_THAT(Get(y[1]), ElementsAre(10 * k + 40 * k + 90));
  }
  EXPECT_THAT(f.Text(), HasSubstr("2 inputs, 2 results"));
}

TEST_P(CaptureTest, HeldResultsAreNeverOverwrittenAndFreeMemoryIsUsedAgain) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] * 2}; });
  std::vector<Tensor> kept;
  for (int i = 0; i < 6; ++i) kept.push_back(Call(f, {F32({static_cast<float>(i)}, {1})})[0]);
  for (int i = 0; i < 6; ++i) EXPECT_THAT(Get(kept[i]), ElementsAre(2.0f * static_cast<float>(i)));
  std::set<uint64_t> addresses;
  for (const Tensor& t : kept) addresses.insert(Address(t));
  EXPECT_EQ(addresses.size(), 6u);
  kept.clear();
  const uint64_t first = Address(Call(f, {F32({1}, {1})})[0]);
  EXPECT_EQ(Address(Call(f, {F32({2}, {1})})[0]), first) << "nobody holds the result any more";
}

TEST_P(CaptureTest, AssignmentsToInputsAndCapturedTensorsHappenAtEveryReplay) {
  Tensor total = F32({0, 0}, {2});
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    Tensor a = in[0];
    a.Assign(a + 1);
    total.Assign(total + a);
    return Out{};
  });
  Tensor a = F32({1, 10}, {2});
  for (int i = 0; i < 5; ++i) Call(f, {a});
  EXPECT_THAT(Get(a), ElementsAre(6, 15));
  EXPECT_THAT(Get(total), ElementsAre(2 + 3 + 4 + 5 + 6, 11 + 12 + 13 + 14 + 15));
  // What is computed before from the old contents is refused afterwards, as eager assignments refuse it.
  Tensor old = total * 2;
  Call(f, {a});
  EXPECT_FALSE(engine->Realize(old).ok());
  EXPECT_THAT(Get(total), ElementsAre(27, 81));
  // Another input is another tensor.
  Tensor b = F32({100, 200}, {2});
  Call(f, {b});
  EXPECT_THAT(Get(b), ElementsAre(101, 201));
  EXPECT_THAT(Get(a), ElementsAre(7, 16));
}

TEST_P(CaptureTest, CapturedTensorsAreSeenAsTheyAreWhenAReplayBegins) {
  Tensor w = F32({2}, {1});
  CapturedFunction f(*engine, [&](In in) -> OutOr { return Out{in[0] * w}; });
  const Tensor x = F32({3}, {1});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(6));
  w.Assign(F32({5}, {1}));  // not realised
  EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(15));
  w.Assign(w + 1);
  ASSERT_TRUE(engine->Realize(w).ok());
  EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(18));
  // Shared with an equal tensor, so that the next assignment takes new storage.
  Tensor p = (w * 2).Contiguous(), q = (w * 2).Contiguous();
  ASSERT_TRUE(Realize({p, q}).ok());
  CapturedFunction g(*engine, [&](In in) -> OutOr { return Out{in[0] * p}; });
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Get(Call(g, {x})[0]), ElementsAre(36));
  p.Assign(p + 1);
  EXPECT_THAT(Get(Call(g, {x})[0]), ElementsAre(39));
  EXPECT_THAT(Get(q), ElementsAre(12));
}

TEST_P(CaptureTest, AVariableThatHoldsAnotherTensorIsRefused) {
  Tensor h = F32({2}, {1});
  CapturedFunction f(*engine, [&](In in) -> OutOr { return Out{in[0] * h}; });
  const Tensor x = F32({3}, {1});
  for (int i = 0; i < 3; ++i) Call(f, {x});
  h = F32({7}, {1});
  Refused(f, {x}, "a tensor that the function captured is gone");
  f.Reset();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(21));
}

TEST_P(CaptureTest, ACapturedConstantThatChangesIsRefused) {
  Tensor c = Full({1}, 2);
  CapturedFunction f(*engine, [&](In in) -> OutOr { return Out{in[0] * c}; });
  const Tensor x = F32({3}, {1});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(6));
  c.Assign(F32({5}, {1}));
  Refused(f, {x}, "had no storage when the function was recorded and has changed since");
}

TEST_P(CaptureTest, AssignmentsThroughViewsOfCapturedTensors) {
  Tensor w = F32({1, 2, 3, 4}, {2, 2});
  Tensor row = w.Index({int64_t{0}}), turned = w.Transpose();
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    row.Assign(row + in[0]);
    return Out{turned.Contiguous()};
  });
  for (int i = 0; i < 4; ++i) {
    const float k = static_cast<float>(i + 1);
    EXPECT_THAT(Get(Call(f, {F32({1, 1}, {2})})[0]), ElementsAre(1 + k, 3, 2 + k, 4));
    EXPECT_THAT(Get(row), ElementsAre(1 + k, 2 + k));
  }
  EXPECT_THAT(Get(w), ElementsAre(5, 6, 3, 4));
}

TEST_P(CaptureTest, InputsMayBeViewsConstantsOrNotRealised) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] * 10 + in[1]}; });
  const Tensor base = F32({1, 2, 3, 4, 5, 6}, {3, 2}), y = F32({1, 1}, {2});
  const std::vector<std::pair<Tensor, std::vector<float>>> cases = {
      {F32({1, 2}, {2}), {11, 21}},
      {base.Index({int64_t{1}}), {31, 41}},                            // a range
      {base.Index({int64_t{2}}), {51, 61}},                            // another
      {base.Index({Slice{}, int64_t{1}}).Shrink({{1, 3}}), {41, 61}},  // every second element
      {base.Flip({0, 1}).Index({int64_t{0}}), {61, 51}},               // backwards
      {F32({7}, {1}).Expand({2}), {71, 71}},
      {Full({2}, 3), {31, 31}},         // a constant
      {base.Sum({0}) * 2, {181, 241}},  // to be computed
      {F32({0, 9}, {2}), {1, 91}},
  };
  for (const auto& [x, want] : cases) EXPECT_EQ(Get(Call(f, {x, y})[0]), want);
  // In any order of what was recorded.
  f.Reset();
  for (size_t i = cases.size(); i-- > 0;) EXPECT_EQ(Get(Call(f, {cases[i].first, y})[0]), cases[i].second);
}

TEST_P(CaptureTest, AssigningToARangeOfAStorageWritesThere) {
  CapturedFunction f(*engine, [](In in) -> OutOr {
    Tensor a = in[0];
    a.Assign(a * 2);
    return Out{};
  });
  Tensor base = F32({1, 2, 3, 4, 5, 6}, {3, 2});
  for (int64_t i = 0; i < 3; ++i) Call(f, {base.Index({i})});
  EXPECT_THAT(Get(base), ElementsAre(2, 4, 6, 8, 10, 12));
  Refused(f, {base.Index({Slice{}, int64_t{1}}).Shrink({{1, 3}})},
          "assigns to input 0, which is a constant or a view");
  Refused(f, {Full({2}, 3)}, "assigns to input 0");
}

TEST_P(CaptureTest, TheSameTensorTwiceAndAnInputThatIsCapturedToo) {
  Tensor c = F32({1, 2}, {2});
  CapturedFunction f(*engine, [&](In in) -> OutOr { return Out{in[0] * in[1] + c}; });
  const Tensor d = F32({3, 4}, {2});
  EXPECT_THAT(Get(Call(f, {c, c})[0]), ElementsAre(2, 6));
  EXPECT_THAT(Get(Call(f, {c, c})[0]), ElementsAre(2, 6));  // recorded with aliases
  EXPECT_THAT(Get(Call(f, {c, d})[0]), ElementsAre(4, 10));
  EXPECT_THAT(Get(Call(f, {d, d})[0]), ElementsAre(10, 18));
  EXPECT_THAT(Get(Call(f, {d, c})[0]), ElementsAre(4, 10));
}

TEST_P(CaptureTest, SharedStorageThatIsAssignedToIsRefused) {
  Tensor c = F32({1, 2}, {2});
  const auto body = [&](In in) -> OutOr {
    Tensor a = in[0];
    a.Assign(a + in[1] + c);
    return Out{};
  };
  const Tensor x = F32({1, 1}, {2}), y = F32({2, 2}, {2});
  CapturedFunction f(*engine, body);
  for (int i = 0; i < 3; ++i) Call(f, {x, y});
  Refused(f, {x, x}, "input 0 shares storage with input 1");
  Refused(f, {c, y}, "input 0 shares storage with a tensor that it captured");
  const Tensor whole = F32({1, 2, 3}, {3});
  Refused(f, {whole.Shrink({{0, 2}}), whole.Shrink({{1, 3}})}, "shares storage");
  Call(f, {x, y});
  // The same while it is recorded.
  CapturedFunction g(*engine, body);
  Call(g, {x, y});
  Refused(g, {x, x}, "shares storage with");
  CapturedFunction h(*engine, [&](In in) -> OutOr {
    c.Assign(c + in[0]);
    return Out{};
  });
  for (int i = 0; i < 3; ++i) Call(h, {x});
  Refused(h, {c}, "input 0 shares storage with a tensor that it captured");
}

TEST_P(CaptureTest, ResultsThatAreInputsViewsOrCapturedTensors) {
  Tensor w = F32({7, 8}, {2});
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    const Tensor y = in[0] + w;
    return Out{in[0], in[0].Reshape({2, 1}), w, w.Reshape({1, 2}), y, y, Full({2}, 4), y.Reshape({1, 2})};
  });
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<float>(i);
    Tensor x = F32({k, 1}, {2});
    const Out y = Call(f, {x});
    EXPECT_THAT(Get(y[0]), ElementsAre(k, 1));
    EXPECT_THAT(Get(y[1]), ElementsAre(k, 1));
    EXPECT_EQ(y[1].shape(), (Shape{2, 1}));
    EXPECT_THAT(Get(y[3]), ElementsAre(7, 8));
    EXPECT_THAT(Get(y[4]), ElementsAre(7 + k, 9));
    EXPECT_THAT(Get(y[5]), ElementsAre(7 + k, 9));
    EXPECT_THAT(Get(y[6]), ElementsAre(4, 4));
    EXPECT_THAT(Get(y[7]), ElementsAre(7 + k, 9));
    // The same tensors: what is assigned to one is seen by the other.
    Tensor first = y[0], captured = y[2];
    first.Assign(F32({-1, -2}, {2}));
    EXPECT_THAT(Get(x), ElementsAre(-1, -2));
    EXPECT_THAT(Get(y[1]), ElementsAre(-1, -2));
    captured.Assign(w + 0);
    EXPECT_THAT(Get(w), ElementsAre(7, 8));
    Tensor again = y[4];
    again.Assign(F32({0, 0}, {2}));
    EXPECT_THAT(Get(y[5]), ElementsAre(0, 0));
    EXPECT_THAT(Get(y[7]), ElementsAre(0, 0));
  }
}

TEST_P(CaptureTest, ViewsAmongTheResults) {
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    const Tensor y = in[0] + 1, z = in[0] * 2;
    return Out{y.Transpose(), y, z.Index({int64_t{1}}), z.Transpose()};
  });
  for (int i = 0; i < 4; ++i) {
    Out y = Call(f, {F32({0, 1, 2, 3}, {2, 2})});
    EXPECT_THAT(Get(y[0]), ElementsAre(1, 3, 2, 4));
    EXPECT_THAT(Get(y[2]), ElementsAre(4, 6));
    EXPECT_THAT(Get(y[3]), ElementsAre(0, 4, 2, 6));
    y[1].Assign(y[1] * 10);
    EXPECT_THAT(Get(y[0]), ElementsAre(10, 30, 20, 40)) << "a view of the other result";
  }
}

TEST_P(CaptureTest, TheResultOfOneCallAsTheInputOfTheNext) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] * 2 + 1}; });
  Tensor x = F32({1}, {1});
  for (int i = 0; i < 8; ++i) x = Call(f, {x})[0];
  EXPECT_THAT(Get(x), ElementsAre(511));
}

TEST_P(CaptureTest, CopiesBetweenDevicesFromTheHostAndIntermediateRealisation) {
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    Tensor there = in[0].To(d1);
    Tensor twice = there * 2;
    US_RETURN_IF_ERROR(engine->Realize(twice));
    Tensor host = F32({100, 200}, {2}, d1);
    Tensor counted = F32({1, 2}, {2}, d1);
    counted.Assign(counted + twice);
    return Out{(twice + host).To(d0), counted, F32({5, 6}, {2})};
  });
  for (int i = 0; i < 5; ++i) {
    const auto k = static_cast<float>(i);
    Out y = Call(f, {F32({k, 3}, {2})});
    EXPECT_THAT(Get(y[0]), ElementsAre(100 + 2 * k, 206));
    EXPECT_EQ(y[0].device(), d0);
    EXPECT_THAT(Get(y[1]), ElementsAre(1 + 2 * k, 8));
    EXPECT_THAT(Get(y[2]), ElementsAre(5, 6));
    y[2].Assign(y[2] + 1);  // its own storage
    EXPECT_THAT(Get(y[2]), ElementsAre(6, 7));
  }
}

TEST_P(CaptureTest, MemoryOfTemporariesIsSharedAndHoldsStill) {
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    Tensor x = in[0];
    for (int i = 0; i < 6; ++i) {
      x = (x + 1).Contiguous();
      US_RETURN_IF_ERROR(engine->Realize(x));
      x = x.Flip({0}).Contiguous() * 2;
      US_RETURN_IF_ERROR(engine->Realize(x));
    }
    return Out{x};
  });
  std::vector<float> data(4096), want(4096);
  for (int i = 0; i < 4096; ++i) data[i] = static_cast<float>(i);
  for (int i = 0; i < 4096; ++i) want[i] = 64 * data[i] + 126;
  const Tensor x = F32(data, {4096});
  Call(f, {x});
  Call(f, {x});
  auto device = engine->devices().Find(d0);
  ASSERT_TRUE(device.ok());
  Call(f, {x});
  const size_t in_use = (*device)->memory_use().in_use;
  EXPECT_LE(in_use, size_t{16384 * 5}) << "an input, a result, and two temporaries at a time";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(Call(f, {x})[0]), want);
  EXPECT_LE((*device)->memory_use().in_use, in_use);
}

TEST_P(CaptureTest, PrecompiledFunctionsInside) {
  const Function g([](In in) -> Out { return {in[0] + 1, in[0] * 2}; }, {"g", true});
  Tensor state = F32({0}, {1});
  const Function h(
      [](In in) -> Out {
        Tensor s = in[0];
        s.Assign(s + in[1]);
        return {s * 2};
      },
      {"h", true});
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    const Out y = g({in[0]});
    return Out{y[0] + y[1], h({state, in[0]})[0]};
  });
  float sum = 0;
  for (int i = 0; i < 5; ++i) {
    const auto k = static_cast<float>(i);
    sum += k;
    const Out y = Call(f, {F32({k}, {1})});
    EXPECT_THAT(Get(y[0]), ElementsAre(3 * k + 1));
    EXPECT_THAT(Get(y[1]), ElementsAre(2 * sum));
    EXPECT_THAT(Get(state), ElementsAre(sum));
  }
}

TEST_P(CaptureTest, EmptyInputsAndNothingToDo) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] * 2, in[1].Sum({0}) + 1, in[1]}; });
  for (int i = 0; i < 4; ++i) {
    const Out y = Call(f, {Full({0, 3}, 1), F32({}, {0, 2})});
    EXPECT_EQ(y[0].shape(), (Shape{0, 3}));
    EXPECT_THAT(Get(y[1]), ElementsAre(1, 1));
    EXPECT_EQ(y[2].shape(), (Shape{0, 2}));
  }
  CapturedFunction nothing(*engine, [](In) -> OutOr { return Out{}; });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Call(nothing, {}).empty());
  EXPECT_TRUE(nothing.captured());
}

TEST_P(CaptureTest, InputsThatDifferFromTheRecordedOnesAreRefusedWithWhatChanged) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0].Sum()}; }, "total");
  for (int i = 0; i < 2; ++i) Call(f, {F32({1, 2}, {2})});
  Refused(f, {F32({1, 2, 3}, {3})}, "captured function total: input 0 is f32[3], recorded as f32[2]");
  Refused(f, {F32({1, 2}, {1, 2})}, "f32[1,2], recorded as f32[2]");
  Refused(f, {Tensor::FromData<int32_t>({1, 2}, {2}, d0)}, "input 0 is i32[2], recorded as f32[2]");
  Refused(f, {F32({1, 2}, {2}, d1)}, "recorded on " + d0);
  Refused(f, {}, "0 inputs, recorded with 1");
  Refused(f, {Tensor(absl::DataLossError("the reader's error"))}, "the reader's error");
  EXPECT_THAT(Get(Call(f, {F32({3, 4}, {2})})[0]), ElementsAre(7)) << "the recording is as good as before";
}

TEST_P(CaptureTest, ReadsByTheHostAreRefused) {
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    Tensor x = in[0];
    US_ASSIGN_OR_RETURN(const std::vector<float> data, engine->Data<float>(x));
    return Out{in[0] * data[0]};
  });
  const Tensor x = F32({3}, {1});
  Refused(f, {x}, "Data inside of a captured function");
  EXPECT_THAT(Get(x), ElementsAre(3)) << "reads work again afterwards";
}

TEST_P(CaptureTest, OtherEnginesAreRefusedAndFunctionsInsideAreInlined) {
  Engine other(engine->devices());
  CapturedFunction wrong(*engine, [&](In in) -> OutOr {
    Tensor y = in[0] + 1;
    US_RETURN_IF_ERROR(other.Realize(y));
    return Out{y};
  });
  const Tensor x = F32({3}, {1});
  Refused(wrong, {x}, "another engine");
  Tensor state = F32({0}, {1});
  CapturedFunction inner(*engine, [&](In in) -> OutOr {
    state.Assign(state + 1);
    return Out{in[0] * 2};
  });
  CapturedFunction outer(*engine, [&](In in) -> OutOr {
    US_ASSIGN_OR_RETURN(const Out y, inner({in[0]}));
    return Out{y[0] + 1};
  });
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(Get(Call(outer, {F32({static_cast<float>(i)}, {1})})[0]),
                ElementsAre(2.0f * static_cast<float>(i) + 1));
  }
  EXPECT_THAT(Get(state), ElementsAre(4));
  EXPECT_FALSE(inner.captured());
  CapturedFunction foreign(other, [&](In in) -> OutOr { return Out{in[0]}; });
  CapturedFunction around(*engine, [&](In in) -> OutOr { return foreign({in[0]}); });
  Refused(around, {x}, "another engine");
}

TEST_P(CaptureTest, ErrorsAndExceptionsWhileRecordingDropTheRecording) {
  Tensor count = F32({0}, {1});
  int mode = 0;
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    count.Assign(count + 1);
    US_RETURN_IF_ERROR(engine->Realize(count));
    if (mode == 1) return absl::DataLossError("no more data");
    if (mode == 2) throw std::runtime_error("thrown");
    return Out{in[0] + count};
  });
  const Tensor x = F32({10}, {1});
  EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(11));
  mode = 1;
  Refused(f, {x}, "no more data");
  EXPECT_FALSE(f.captured());
  mode = 2;
  EXPECT_THROW((void)f({x}), std::runtime_error);
  EXPECT_FALSE(f.captured());
  EXPECT_THAT(Get(count), ElementsAre(3));
  mode = 0;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(14.0f + static_cast<float>(i)));
  EXPECT_TRUE(f.captured());
}

TEST_P(CaptureTest, TensorsThatAreLeftBehindAreRefused) {
  std::vector<Tensor> log;
  CapturedFunction realised(*engine, [&](In in) -> OutOr {
    log.push_back(in[0] + 1);
    US_RETURN_IF_ERROR(engine->Realize(log.back()));
    return Out{log.back() * 2};
  });
  const Tensor x = F32({1}, {1});
  Call(realised, {x});
  Refused(realised, {x}, "behind that it neither returns nor assigns");
  CapturedFunction lazy(*engine, [&](In in) -> OutOr {
    log.push_back(in[0] + 1);
    return Out{in[0] * 2};
  });
  Call(lazy, {x});
  Refused(lazy, {x}, "behind that");
  Tensor h = F32({1}, {1});
  CapturedFunction replaced(*engine, [&](In in) -> OutOr {
    h = h + in[0];
    US_RETURN_IF_ERROR(engine->Realize(h));
    return Out{};
  });
  Call(replaced, {x});
  Refused(replaced, {x}, "behind that it neither returns nor assigns");
  EXPECT_FALSE(replaced.captured());
}

TEST_P(CaptureTest, MemoryThatWasFreedMeanwhileIsRefused) {
  Tensor w = F32({2}, {1});
  CapturedFunction f(*engine, [&](In in) -> OutOr { return Out{in[0] * w}; });
  const Tensor x = F32({3}, {1});
  for (int i = 0; i < 3; ++i) Call(f, {x});
  const auto buffer_of = [](const Tensor& t) {
    const UOp* u = t.uop().get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    return dynamic_cast<Buffer*>(u->arg_as<BufferArg>().slot->impl.get());
  };
  ASSERT_TRUE(buffer_of(w)->Deallocate().ok());
  Refused(f, {x}, "that the function captured was freed");
  ASSERT_TRUE(buffer_of(x)->Deallocate().ok());
  Refused(f, {x}, "input 0: its memory of 4 bytes on " + d0 + " was freed");
}

TEST_P(CaptureTest, RandomNumbersGoOnWhereTheGeneratorIs) {
  const auto run = [&](bool captured) {
    auto generator = std::make_unique<Generator>(42);
    const auto body = [&](In in) -> OutOr {
      const Tensor noise = Randn({3}, *generator, {dtypes::kFloat32, d0});
      const Tensor unused = Rand({5}, *generator, {dtypes::kFloat32, d0});
      return Out{in[0] + noise, Rand({2}, *generator, {dtypes::kFloat32, d0})};
    };
    CapturedFunction f(*engine, body);
    std::vector<std::vector<float>> values;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = F32({1, 2, 3}, {3});
      const Out y = captured ? Call(f, {x}) : *body(std::vector<Tensor>{x});
      values.push_back(Get(y[0]));
      values.push_back(Get(y[1]));
    }
    EXPECT_EQ(generator->counter(), 5u * 10);
    if (captured) {
      generator = nullptr;
      Refused(f, {F32({1, 2, 3}, {3})}, "a generator that is drawn from again no longer exists");
    }
    return values;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_P(CaptureTest, HostWorkAndHostTensorsAreDoneAgain) {
  int step = 0;
  CapturedFunction f(*engine, [&](In in) -> OutOr {
    US_RETURN_IF_ERROR(HostWorkNow([&] { return ++step, absl::OkStatus(); }));
    const Tensor rate = HostTensor(
        [&]() -> absl::StatusOr<std::vector<uint8_t>> {
          if (step == 5) return absl::OutOfRangeError("the schedule has ended");
          const float v = 1.0f / static_cast<float>(step);
          std::vector<uint8_t> bytes(4);
          std::memcpy(bytes.data(), &v, 4);
          return bytes;
        },
        dtypes::kFloat32, {}, d0);
    return Out{in[0] * rate};
  });
  const Tensor x = F32({12}, {1});
  for (int i = 1; i <= 4; ++i) EXPECT_THAT(Get(Call(f, {x})[0]), ElementsAre(12.0f / static_cast<float>(i)));
  Refused(f, {x}, "the schedule has ended");
}

TEST_P(CaptureTest, TheEnginesCachesMayGo) {
  CapturedFunction f(*engine, [](In in) -> OutOr { return Out{in[0] * 3}; });
  for (int i = 0; i < 2; ++i) Call(f, {F32({1}, {1})});
  engine->ClearCaches();
  EXPECT_THAT(Get(Call(f, {F32({5}, {1})})[0]), ElementsAre(15));
}

TEST_P(CaptureTest, LaunchTimesAreRecordedAsThoseOfEagerRuns) {
  EngineOptions options;
  options.profile = true;
  Engine timed(engine->devices(), options);
  CapturedFunction f(timed, [](In in) -> OutOr { return Out{(in[0] * 3).Sum()}; });
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(f({F32({1, 2}, {2})}).ok());
  timed.ResetStats();
  ASSERT_TRUE(f({F32({5, 6}, {2})}).ok());
  EXPECT_EQ(static_cast<int64_t>(timed.launches().size()), timed.stats().kernels_launched);
  EXPECT_GE(timed.launches().size(), 1u);
}

// The value of a variable as an element.
Tensor ValueOf(const std::string& name, int64_t value, const std::string& device) {
  return Tensor(uop::Cast(uop::Bind(uop::Var(name, 0, 9), value), dtypes::kFloat32), device);
}

TEST_P(CaptureTest, VariablesMayChangeFromReplayToReplay) {
  CapturedFunction f(
      *engine,
      [&](In in, const VariableValues& v) -> OutOr {
        const Tensor n = ValueOf("n", v.at("n"), d0), fixed = ValueOf("k", 4, d0);
        Tensor y = in[0] * n + fixed;
        US_RETURN_IF_ERROR(engine->Realize(y));
        return Out{y.Sum() + n, y};
      },
      "scaled");
  const Tensor x = F32({1, 10}, {2});
  for (const int64_t n : {3, 5, 5, 0, 9, 7}) {
    const EngineStats before = engine->stats();
    const OutOr y = f({x}, {{"n", n}});
    ASSERT_TRUE(y.ok()) << y.status();
    const auto v = static_cast<float>(n);
    if (n == 7) {
      EXPECT_EQ(engine->stats().schedules_made, before.schedules_made);
      EXPECT_EQ(engine->stats().kernels_compiled, before.kernels_compiled);
    }
    EXPECT_THAT(Get((*y)[0]), ElementsAre(12 * v + 8));
    EXPECT_THAT(Get((*y)[1]), ElementsAre(v + 4, 10 * v + 4));
  }
  EXPECT_EQ(f({x}, {{"n", 10}}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(f({x}, {{"n", -1}}).status().message()),
              HasSubstr("captured function scaled: variable n is -1, expected 0 to 9"));
  EXPECT_THAT(std::string(f({x}).status().message()), HasSubstr("variables {}, recorded with {n}"));
  EXPECT_THAT(std::string(f({x}, {{"n", 1}, {"k", 2}}).status().message()), HasSubstr("recorded with {n}"));
  // A function that binds something else than what it is given.
  CapturedFunction wrong(
      *engine, [&](In in, const VariableValues&) -> OutOr { return Out{in[0] * ValueOf("n", 2, d0)}; });
  ASSERT_TRUE(wrong({x}, {{"n", 3}}).ok());
  EXPECT_THAT(std::string(wrong({x}, {{"n", 3}}).status().message()),
              HasSubstr("variable n is bound to 2, and the call gave 3"));
}

}  // namespace
}  // namespace understudy
