// SPDX-License-Identifier: Apache-2.0
// Training steps, captured, equal the eager training run bit for bit; random programs do, with storage
// shared, assigned and held in between.
#include <cmath>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/capture.h"
#include "src/runtime/graph.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/optim/schedule.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using In = absl::Span<const Tensor>;
using Out = std::vector<Tensor>;
using OutOr = absl::StatusOr<Out>;

class CaptureTrain : public StorageTest {
 protected:
  struct Trained {
    std::vector<std::vector<float>> values;  // losses, then parameters and state
    int64_t compiled_late = 0, scheduled_late = 0;
  };

  // 20 steps of a network with dropout; the learning rate follows a schedule.
  Trained Train(bool captured, const std::function<optim::OptimizerOr(std::vector<Tensor>)>& make,
                int steps) {
    Trained out;
    Generator generator(7), noise(8);
    const TensorOptions on{dtypes::kFloat32, d0};
    nn::Linear first(6, 10, generator, true, on), second(10, 3, generator, true, on);
    std::vector<Tensor> params = nn::Parameters(first);
    for (const Tensor& p : nn::Parameters(second)) params.push_back(p);
    for (Tensor& p : params) p.set_requires_grad();
    auto optimizer = make(params);
    US_CHECK_OK(optimizer);
    const auto rate = optim::CosineAnnealingLr(0.05, 20);
    US_CHECK_OK(rate);
    const auto body = [&](In in) -> OutOr {
      const Tensor h = Dropout(first.Forward(in[0]).Relu(), 0.25, true, noise);
      const Tensor loss = second.Forward(h).CrossEntropy(in[1]);
      US_RETURN_IF_ERROR((*optimizer)->Step(Gradients(loss, (*optimizer)->params())));
      return Out{loss};
    };
    CapturedFunction step(*engine, body, "step");
    for (int i = 0; i < steps; ++i) {
      std::vector<float> x(4 * 6);
      std::vector<int32_t> labels(4);
      for (int k = 0; k < 24; ++k) x[k] = std::sin(static_cast<float>(i * 24 + k));
      for (int k = 0; k < 4; ++k) labels[k] = (i * 5 + k * 2) % 3;
      const Tensor batch = F32(x, {4, 6}), target = Tensor::FromData<int32_t>(labels, {4}, d0);
      (*optimizer)->set_lr((*rate)(i));
      Tensor loss;
      const EngineStats before = engine->stats();
      if (captured) {
        auto y = step({batch, target});
        EXPECT_TRUE(y.ok()) << y.status();
        if (!y.ok()) return out;
        loss = (*y)[0];
      } else {
        auto y = body(std::vector<Tensor>{batch, target});
        EXPECT_TRUE(y.ok()) << y.status();
        loss = (*y)[0];
        EXPECT_TRUE(engine->Realize((*optimizer)->Pending({&loss})).ok());
      }
      const EngineStats after = engine->stats();
      out.values.push_back(Get(loss));
      if (i < 2) continue;
      out.compiled_late += after.kernels_compiled - before.kernels_compiled;
      out.scheduled_late += after.schedules_made + after.schedule_cache_hits - before.schedules_made -
                            before.schedule_cache_hits;
      EXPECT_EQ(after.replays - before.replays, captured ? 1 : 0);
    }
    EXPECT_EQ((*optimizer)->steps(), steps);
    for (const Tensor& p : params) out.values.push_back(Get(p));
    for (const auto& [name, t] : (*optimizer)->NamedState()) out.values.push_back(Get(t));
    return out;
  }
};
UNDERSTUDY_STORAGE_DEVICES(CaptureTrain);

TEST_P(CaptureTrain, AdamWWithDropoutIsTheEagerRunBitForBit) {
  const auto make = [](std::vector<Tensor> p) { return optim::AdamW(std::move(p), {0.05}); };
  const int steps = GetParam() == std::string("AMD") ? 8 : 20;
  const Trained captured = Train(true, make, steps), eager = Train(false, make, steps);
  ASSERT_EQ(captured.values.size(), eager.values.size());
  for (size_t i = 0; i < eager.values.size(); ++i) EXPECT_EQ(captured.values[i], eager.values[i]) << i;
  EXPECT_EQ(captured.compiled_late, 0);
  EXPECT_EQ(captured.scheduled_late, 0) << "replays schedule nothing";
  EXPECT_NE(eager.scheduled_late, 0);
  EXPECT_NE(eager.values[0], eager.values[1]);
}

TEST_P(CaptureTrain, SgdWithMomentumIsTheEagerRunBitForBit) {
  const auto make = [](std::vector<Tensor> p) {
    return optim::Sgd(std::move(p), {0.05, 0.9, 0, 1e-3, true, false});
  };
  const int steps = GetParam() == std::string("AMD") ? 6 : 20;
  EXPECT_EQ(Train(true, make, steps).values, Train(false, make, steps).values);
}

TEST_P(CaptureTrain, AnOptimiserThatIsGoneIsRefused) {
  Tensor w = F32({1, 2}, {2});
  w.set_requires_grad();
  auto optimizer = optim::Sgd({w}, {0.1});
  ASSERT_TRUE(optimizer.ok());
  CapturedFunction step(*engine, [&](In in) -> OutOr {
    US_RETURN_IF_ERROR((*optimizer)->Step(Gradients((w * in[0]).Sum(), {w})));
    return Out{};
  });
  const Tensor x = F32({10, 20}, {2});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(step({x}).ok());
  EXPECT_EQ(Get(w), (std::vector<float>{-2, -4}));
  optimizer->reset();
  const auto refused = step({x});
  EXPECT_THAT(std::string(refused.status().message()),
              testing::HasSubstr("optimiser whose step is replayed no longer exists"));
  EXPECT_EQ(Get(w), (std::vector<float>{-2, -4}));
}

// --- Random programs ---

// A function over two inputs and two tensors of state that is the same for one seed, and a loop around it.
class RandomProgram {
 public:
  RandomProgram(Engine& engine, std::string device, uint32_t seed, bool captured)
      : engine_(engine), device_(std::move(device)), seed_(seed), generator_(seed) {
    for (int i = 0; i < 2; ++i) state_.push_back(Fresh(i + 10));
    const auto body = [this](In in) { return Body(in); };
    if (captured) captured_ = std::make_unique<CapturedFunction>(engine, body, absl::StrCat("seed", seed));
  }

  // The values of all results and of the state after every call.
  absl::StatusOr<std::vector<std::vector<float>>> Run(int calls) {
    std::mt19937 random(seed_ + 1000);
    std::vector<std::vector<float>> values;
    std::vector<Tensor> held;
    for (int i = 0; i < calls; ++i) {
      std::vector<Tensor> in;
      for (int k = 0; k < 2; ++k) {
        switch (random() % 6) {
          case 0:
            in.push_back(held.empty() ? Fresh(i) : held[random() % held.size()]);
            break;
          case 1:
            in.push_back(Tensor::FromData<float>(Numbers(i + k, 48), {12, 4}, device_)
                             .Shrink({{i % 3, i % 3 + 6}, {0, 4}})
                             .Reshape({4, 6}));
            break;
          case 2:
            in.push_back(Fresh(i + k).Reshape({6, 4}).Transpose());
            break;
          case 3:
            in.push_back(Fresh(i + k) * 2 + 1);  // not realised
            break;
          case 4:
            in.push_back(Tensor::Full({4, 6}, 0.5, {dtypes::kFloat32, device_}));
            break;
          default:
            in.push_back(Fresh(i + 100 * k));
        }
      }
      if (random() % 4 == 0) in[1] = in[0];
      Out results;
      if (captured_ != nullptr) {
        US_ASSIGN_OR_RETURN(results, (*captured_)(in));
      } else {
        US_ASSIGN_OR_RETURN(results, Body(in));
        std::vector<Tensor*> list;
        for (Tensor& t : results) list.push_back(&t);
        for (Tensor& t : state_) list.push_back(&t);
        US_RETURN_IF_ERROR(engine_.Realize(list));
      }
      for (Tensor& t : results) US_RETURN_IF_ERROR(Keep(t, &values));
      for (Tensor& t : state_) US_RETURN_IF_ERROR(Keep(t, &values));
      // The caller's own use of what it was given.
      if (returns_state_) results.pop_back();  // an input that the function assigns to is refused
      if (random() % 3 == 0 && !results.empty()) held.push_back(results[random() % results.size()]);
      for (Tensor& t : held) {
        if (t.shape() != Shape{4, 6}) t = Fresh(3);
      }
      if (random() % 4 == 0) held.clear();
      for (Tensor& t : held) US_RETURN_IF_ERROR(Keep(t, &values));
      if (random() % 3 == 0) {
        Tensor& s = state_[random() % 2];
        s.Assign(s * 0.5 + 0.25);
        if (random() % 2 == 0) US_RETURN_IF_ERROR(engine_.Realize(s));
      }
    }
    return values;
  }

 private:
  static std::vector<float> Numbers(int first, int n) {
    std::vector<float> v(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
      v[static_cast<size_t>(i)] = static_cast<float>((first * 7 + i * 5) % 17 - 8) * 0.25f;
    return v;
  }
  Tensor Fresh(int first) const { return Tensor::FromData<float>(Numbers(first, 24), {4, 6}, device_); }
  absl::Status Keep(Tensor& t, std::vector<std::vector<float>>* values) {
    US_ASSIGN_OR_RETURN(std::vector<float> v, engine_.Data<float>(t));
    values->push_back(std::move(v));
    return absl::OkStatus();
  }

  OutOr Body(In in) {
    std::mt19937 random(seed_);
    std::vector<Tensor> pool(in.begin(), in.end());
    const auto any = [&]() -> Tensor {
      const size_t n = pool.size() + state_.size(), i = random() % n;
      return i < pool.size() ? pool[i] : state_[i - pool.size()];
    };
    const int ops = 4 + static_cast<int>(random() % 8);
    for (int i = 0; i < ops; ++i) {
      const Tensor a = any(), b = any();
      switch (random() % 14) {
        case 0:
          pool.push_back(a + b);
          break;
        case 1:
          pool.push_back(a * b - 0.5);
          break;
        case 2:
          pool.push_back(a.Maximum(b));
          break;
        case 3:
          pool.push_back(a.Flip({0}) + b);
          break;
        case 4:
          pool.push_back(a.Matmul(b.Transpose()).Matmul(b) * 0.05);
          break;
        case 5:
          pool.push_back(a.Sum({1}, true) * 0.25 + b);
          break;
        case 6:
          pool.push_back(a.Reshape({6, 4}).Transpose().Contiguous());
          break;
        case 7: {
          Tensor made = a * 0.75;
          US_RETURN_IF_ERROR(engine_.Realize(made));
          pool.push_back(made);
          break;
        }
        case 8:
          state_[random() % 2].Assign(a * 0.5 + b * 0.25);
          break;
        case 9: {
          Tensor& s = state_[random() % 2];
          s.AssignIndex({int64_t{2}}, a.Index({int64_t{1}}) - 1);
          break;
        }
        case 10: {
          Tensor& s = state_[random() % 2];
          Tensor column = s.Shrink({{0, 4}, {1, 3}});
          column.Assign(a.Shrink({{0, 4}, {2, 4}}) * 0.5);
          if (random() % 2 == 0) US_RETURN_IF_ERROR(engine_.Realize(s));
          break;
        }
        case 11:
          pool.push_back(Rand({4, 6}, generator_, {dtypes::kFloat32, device_}) + a);
          break;
        case 12:
          pool.push_back(Tensor::FromData<float>(Numbers(i, 24), {4, 6}, device_) * a);
          break;
        default:
          pool.push_back(a.Sigmoid());
          break;
      }
    }
    Out results;
    const int n = static_cast<int>(random() % 4);
    for (int i = 0; i < n; ++i) results.push_back(pool[random() % pool.size()]);
    if (random() % 3 == 0) results.push_back(pool.back().Transpose());
    returns_state_ = random() % 4 == 0;
    if (returns_state_) results.push_back(state_[0]);
    return results;
  }

  Engine& engine_;
  const std::string device_;
  const uint32_t seed_;
  Generator generator_;
  std::vector<Tensor> state_;
  bool returns_state_ = false;
  std::unique_ptr<CapturedFunction> captured_;
};

TEST_P(CaptureTrain, RandomProgramsAreTheEagerOnes) {
  const uint32_t seeds = GetParam() == std::string("AMD") ? 4 : GetParam() == std::string("CPU") ? 10 : 150;
  uint32_t legal = 0;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    const auto eager = RandomProgram(*engine, d0, seed, false).Run(8);
    const auto captured = RandomProgram(*engine, d0, seed, true).Run(8);
    if (!eager.ok()) {
      // Reads contents that an assignment has replaced.
      ASSERT_EQ(captured.status().code(), eager.status().code()) << "seed " << seed << ": " << eager.status();
      continue;
    }
    ++legal;
    ASSERT_EQ(captured.status(), absl::OkStatus()) << "seed " << seed;
    ASSERT_EQ(eager->size(), captured->size()) << "seed " << seed;
    for (size_t i = 0; i < eager->size(); ++i) {
      ASSERT_EQ((*captured)[i], (*eager)[i]) << "seed " << seed << ", value " << i;
    }
  }
  EXPECT_GE(legal, seeds * 3 / 4);
}

// --- Plans ---

class NamedProgram : public Program {
 public:
  const std::string& name() const override { return name_; }
  const std::string& text() const override { return name_; }

 private:
  std::string name_ = "p";
};

TEST(GraphPlan, LaunchesWaitForWhatTheyNeedAndForNothingElse) {
  const auto program = std::make_shared<NamedProgram>();
  GraphPlan plan;
  plan.places = {{0, 0, 64}, {1, 0, 64}, {2, 0, 64}, {2, 64, 64}, {2, 32, 64}};
  const auto launch = [&](std::vector<int> places, std::vector<bool> writes) {
    plan.launches.push_back({program, std::move(places), std::move(writes), {}});
  };
  launch({0, 1}, {true, false});   // writes 0
  launch({1, 2}, {false, true});   // reads 1 as the first does
  launch({3, 1}, {true, false});   // beside place 2
  launch({4, 1}, {false, false});  // overlaps 2 and 3
  launch({1, 0}, {true, false});   // reads 0, which was known at the wait; writes 1, which launch 3 reads
  launch({0, 1}, {false, false});  // reads 1
  launch({0, 1}, {false, false});
  EXPECT_EQ(plan.Waits(), (std::vector<bool>{false, false, false, true, true, true, false}));
  EXPECT_TRUE(plan.Check().ok());
  launch({7}, {false});
  EXPECT_THAT(std::string(plan.Check().message()), testing::HasSubstr("launch 7 of p names place 7 of 5"));
}

}  // namespace
}  // namespace understudy
