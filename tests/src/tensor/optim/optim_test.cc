// SPDX-License-Identifier: Apache-2.0
// Optimisers, schedules and clipping against torch.optim (LAMB: tinygrad; vectors by tests/data/optim/
// make_optim.py), step by step on REF and CPU in f64 and f32, with gradients from Gradients.
#include <cmath>
#include <fstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/base/status.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/optim/clip.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/optim/schedule.h"

namespace understudy::optim {
namespace {

using nlohmann::json;

const json& Data() {
  static const json* const data = new json(json::parse(std::ifstream("tests/data/optim/optim.json")));
  return *data;
}

Engine& SharedEngine() {
  static Engine* const engine = [] {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    devices.Register(std::make_shared<RefDevice>());
    return new Engine(devices);
  }();
  return *engine;
}

Tensor From(const json& v, DType t, const std::string& device) {
  const auto values = v.at("v").get<std::vector<double>>();
  const auto shape = v.at("s").get<Shape>();
  if (t == dtypes::kFloat64) return Tensor::FromData(values, shape, device);
  return Tensor::FromData(std::vector<float>(values.begin(), values.end()), shape, device);
}

std::vector<double> Values(Tensor t) {
  Tensor wide = t.Cast(dtypes::kFloat64);
  const auto v = SharedEngine().Data<double>(wide);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

void ExpectNear(const std::vector<double>& got, const json& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double w = want[i].get<double>();
    ASSERT_LE(std::abs(got[i] - w), tolerance * std::max(1.0, std::abs(w)))
        << what << ", element " << i << ": " << got[i] << ", expected " << w;
  }
}

OptimizerOr Make(const std::string& op, std::vector<Tensor> params, const json& j) {
  if (op == "sgd") {
    return Sgd(std::move(params),
               {j.at("lr"), j.value("momentum", 0.0), j.value("dampening", 0.0), j.value("weight_decay", 0.0),
                j.value("nesterov", false), j.value("maximize", false)});
  }
  if (op == "adam" || op == "adamw") {
    const AdamOptions o{j.at("lr"),
                        j.value("beta1", 0.9),
                        j.value("beta2", 0.999),
                        j.value("eps", 1e-8),
                        j.value("weight_decay", op == "adam" ? 0.0 : 1e-2),
                        j.value("amsgrad", false),
                        j.value("maximize", false)};
    return op == "adam" ? Adam(std::move(params), o) : AdamW(std::move(params), o);
  }
  if (op == "rmsprop") {
    return RmsProp(std::move(params),
                   {j.at("lr"), j.value("alpha", 0.99), j.value("eps", 1e-8), j.value("weight_decay", 0.0),
                    j.value("momentum", 0.0), j.value("centered", false), false});
  }
  if (op == "adagrad") {
    return Adagrad(std::move(params), {j.at("lr"), j.value("lr_decay", 0.0), j.value("weight_decay", 0.0),
                                       j.value("initial_accumulator_value", 0.0), 1e-10, false});
  }
  if (op == "lamb") {
    return Lamb(std::move(params), {j.at("lr"), j.value("beta1", 0.9), j.value("beta2", 0.999),
                                    j.value("eps", 1e-6), j.value("weight_decay", 0.0)});
  }
  MuonOptions o;
  o.lr = j.at("lr");
  o.weight_decay = j.value("weight_decay", 0.1);
  o.momentum = j.value("momentum", 0.95);
  o.nesterov = j.value("nesterov", true);
  if (j.value("adjust", "original") == "match_rms_adamw") o.adjust = MuonOptions::Adjust::kMatchRmsAdamW;
  return op == "muon" ? Muon(std::move(params), o)
                      : OptimizerOr(absl::NotFoundError("the test does not know " + op));
}

// As make_optim.py's Loss.
Tensor Loss(const std::vector<Tensor>& ps, DType t, const std::string& device) {
  Tensor loss;
  for (size_t i = 0; i < ps.size(); ++i) {
    const json& d = Data().at("data")[i];
    const auto in = [&](const char* name) { return From(d.at(name), t, device); };
    const Tensor& p = ps[i];
    const Tensor part =
        (in("w") * (in("a") * p - in("b")).Square()).Sum() / 2 + (in("c") * p * p * p).Sum() / 3;
    loss = i == 0 ? part : loss + part;
  }
  return loss;
}

void CheckTrajectory(const json& c, const std::string& device) {
  const DType t = *ParseDType(c.at("t").get<std::string>());
  std::vector<Tensor> params;
  for (const json& d : Data().at("data")) params.push_back(From(d.at("p"), t, device));
  auto optimizer = Make(c.at("op"), params, c.at("options"));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  const double tolerance = t == dtypes::kFloat64 ? 1e-9 : 2e-5;
  int64_t schedules = 0;
  for (size_t step = 0; step < c.at("steps").size(); ++step) {
    Tensor loss = Loss(params, t, device);
    const absl::Status stepped = (*optimizer)->Step(Gradients(loss, params));
    ASSERT_TRUE(stepped.ok()) << stepped;
    const absl::Status realised = SharedEngine().Realize((*optimizer)->Pending({&loss}));
    ASSERT_TRUE(realised.ok()) << realised;
    std::vector<double> got;
    for (const Tensor& p : params) {
      for (const double v : Values(p)) got.push_back(v);
    }
    ExpectNear(got, c.at("steps")[step], tolerance, "step " + std::to_string(step));
    if (testing::Test::HasFatalFailure()) return;
    if (step == 0) schedules = SharedEngine().stats().schedules_made;
  }
  // The numbers that change are contents: later steps are the first step's schedule.
  EXPECT_EQ(SharedEngine().stats().schedules_made, schedules);
}

class Trajectory : public testing::TestWithParam<size_t> {};
TEST_P(Trajectory, Ref) { CheckTrajectory(Data().at("trajectories")[GetParam()], "REF"); }
TEST_P(Trajectory, Cpu) { CheckTrajectory(Data().at("trajectories")[GetParam()], "CPU"); }
INSTANTIATE_TEST_SUITE_P(Optimizers, Trajectory, testing::Range(size_t{0}, Data().at("trajectories").size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           const json& c = Data().at("trajectories")[info.param];
                           return std::to_string(info.param) + "_" + c.at("op").get<std::string>() + "_" +
                                  c.at("t").get<std::string>();
                         });

LrScheduleOr MakeSchedule(const std::string& op, const json& a) {
  constexpr double kBase = 0.4;
  if (op == "step") return StepLr(kBase, a[0], a[1]);
  if (op == "multi_step") return MultiStepLr(kBase, a[0].get<std::vector<int64_t>>(), a[1]);
  if (op == "exponential") return ExponentialLr(kBase, a[0]);
  if (op == "constant") return ConstantLr(kBase, a[0], a[1]);
  if (op == "linear") return LinearLr(kBase, a[0], a[1], a[2]);
  if (op == "polynomial") return PolynomialLr(kBase, a[0], a[1]);
  if (op == "cosine") return CosineAnnealingLr(kBase, a[0], a[1]);
  if (op == "warm_restarts") return CosineAnnealingWarmRestarts(kBase, a[0], a[1], a[2]);
  if (op == "one_cycle") {
    const json& j = a[1];
    return OneCycleLr(
        kBase, a[0],
        {j.value("pct_start", 0.3), j.value("div_factor", 25.0), j.value("final_div_factor", 1e4),
         j.value("linear", false), j.value("three_phase", false)});
  }
  if (op == "sequential") {
    US_ASSIGN_OR_RETURN(const LrSchedule warm, LinearLr(kBase, 0.1, 1, 5));
    US_ASSIGN_OR_RETURN(const LrSchedule rest, CosineAnnealingLr(kBase, 20));
    return SequentialLr({warm, rest}, {5});
  }
  return absl::NotFoundError("the test does not know " + op);
}

TEST(Schedules, RatesAreTorchs) {
  for (const json& c : Data().at("schedules")) {
    const auto schedule = MakeSchedule(c.at("op"), c.at("args"));
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    std::vector<double> rates;
    for (size_t i = 0; i < c.at("rates").size(); ++i) rates.push_back((*schedule)(static_cast<int64_t>(i)));
    ExpectNear(rates, c.at("rates"), 1e-12, c.at("op").get<std::string>() + c.at("args").dump());
  }
}

TEST(Schedules, PlateauIsTorchs) {
  for (const json& c : Data().at("plateau")) {
    const json& j = c.at("options");
    ReduceLrOnPlateau plateau(
        0.4,
        {j.value("maximize", false), j.value("factor", 0.1), j.value("patience", 10), j.value("cooldown", 0),
         j.value("threshold", 1e-4), j.value("min_lr", 0.0), 1e-8, j.value("absolute_threshold", false)});
    std::vector<double> rates;
    for (const json& m : c.at("metrics")) rates.push_back(plateau.Step(m));
    ExpectNear(rates, c.at("rates"), 1e-12, j.dump());
  }
}

TEST(Schedules, RefuseWhatMakesNoSense) {
  EXPECT_EQ(StepLr(0.1, 0).status().message(), "StepLr: step_size 0, expected at least 1");
  EXPECT_FALSE(LinearLr(0.1, 0, 1, 5).ok());
  EXPECT_FALSE(CosineAnnealingLr(0.1, 0).ok());
  EXPECT_FALSE(OneCycleLr(0.1, 10, {1.5, 25, 1e4, false, false}).ok());
  EXPECT_FALSE(SequentialLr({}, {}).ok());
}

std::vector<Tensor> ClipInputs(const std::string& device) {
  std::vector<Tensor> out;
  for (const json& g : Data().at("gradients")) out.push_back(From(g, dtypes::kFloat64, device));
  return out;
}

TEST(Clip, NormIsTorchs) {
  for (const std::string device : {"REF", "CPU"}) {
    for (const json& c : Data().at("clip")) {
      const double norm = c.at("norm").is_string() ? INFINITY : c.at("norm").get<double>();
      const ClippedGradients r = ClipGradNorm(ClipInputs(device), c.at("max"), norm);
      ASSERT_TRUE(r.total_norm.ok()) << r.total_norm.status();
      ExpectNear(Values(r.total_norm), json::array({c.at("total")}), 1e-9, "total");
      for (size_t i = 0; i < r.gradients.size(); ++i)
        ExpectNear(Values(r.gradients[i]), c.at("out")[i], 1e-9, "gradient " + std::to_string(i));
    }
  }
}

TEST(Clip, ValueBoundsEveryElementAndKeepsTheRest) {
  const std::vector<Tensor> in = ClipInputs("CPU"), out = ClipGradValue(in, 0.75);
  for (size_t k = 0; k < in.size(); ++k) {
    const std::vector<double> a = Values(in[k]), b = Values(out[k]);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(b[i], std::min(0.75, std::max(-0.75, a[i])));
  }
}

TEST(Clip, ErrorsAndEmptyGradients) {
  const Tensor bad(absl::InvalidArgumentError("no such gradient"));
  EXPECT_EQ(ClipGradNorm({Tensor::Ones({2}), bad}, 1).gradients[0].status().message(), "no such gradient");
  EXPECT_FALSE(ClipGradNorm({Tensor::Ones({2})}, -1).total_norm.ok());
  EXPECT_FALSE(ClipGradNorm({}, 1).total_norm.ok());
  EXPECT_EQ(Values(ClipGradNorm({Tensor::Zeros({0, 3})}, 1, INFINITY).total_norm), std::vector<double>{0});
}

TEST(Optimizers, RefuseBadArgumentsAndGradients) {
  const Tensor p = Tensor::FromData<float>({1, 2}, {2}), q = Tensor::FromData<float>({3}, {1});
  EXPECT_EQ(Adam({p}, {-1, 0.9, 0.999, 1e-8, 0, false, false}).status().message(),
            "Adam: lr -1, expected at least 0");
  EXPECT_EQ(Adam({p}, {1, 1, 0.999, 1e-8, 0, false, false}).status().message(),
            "Adam: beta1 1, expected at least 0 and below 1");
  EXPECT_FALSE(Sgd({}).ok());
  EXPECT_FALSE(Sgd({p, p}).ok());
  EXPECT_FALSE(Sgd({Tensor::FromData<int32_t>({1}, {1})}).ok());
  EXPECT_FALSE(Sgd({p}, {0.1, 0, 0, 0, true, false}).ok());
  EXPECT_EQ(Muon({p}).status().message(), "Muon: parameter 0 has 1 axes, expected a matrix");
  auto sgd = Sgd({p, q});
  ASSERT_TRUE(sgd.ok());
  EXPECT_FALSE((*sgd)->Step({p}).ok());
  EXPECT_FALSE((*sgd)->Step({p, p}).ok());
  EXPECT_FALSE((*sgd)->Step({p, Tensor(absl::InternalError("x"))}).ok());
  EXPECT_EQ((*sgd)->steps(), 0);  // nothing was begun
}

TEST(Optimizers, StateOfNarrowParametersIsF32AndEmptyOnesAreLeftAlone) {
  const Tensor half = Tensor::FromBytes({0x00, 0x3C}, dtypes::kFloat16, {1}),
               none = Tensor::FromData<float>({}, {0});
  auto adam = Adam({half, none});
  ASSERT_TRUE(adam.ok());
  EXPECT_EQ((*adam)->NamedState()[1].first, "0.exp_avg_sq");
  EXPECT_EQ((*adam)->NamedState()[1].second.dtype(), dtypes::kFloat32);
  ASSERT_TRUE((*adam)->Step({half, none}).ok());
  const absl::Status s = SharedEngine().Realize((*adam)->Pending());
  ASSERT_TRUE(s.ok()) << s;
  // Adam's first step is lr in the gradient's direction: 1 - 0.001 in f16.
  EXPECT_NEAR(Values(half)[0], 0.999, 5e-4);
}

}  // namespace
}  // namespace understudy::optim
