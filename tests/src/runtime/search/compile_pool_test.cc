// SPDX-License-Identifier: Apache-2.0
// Compiles in processes: what comes back is what this process compiles, and a compiler that crashes, hangs,
// eats memory or talks rubbish is one candidate's error.

#include "src/runtime/search/compile_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"
#include "src/runtime/search/compile_protocol.h"
#include "src/runtime/search/compile_worker.h"
#include "src/runtime/search/target_text.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

constexpr char kWorker[] = "src/runtime/search/compile_worker";
constexpr char kFaulty[] = "tests/src/runtime/search/faulty_worker";

UOpRef Sum() {
  const UOpRef i = uop::Range(8, 0, AxisKind::kGlobal), k = uop::Range(64, 1, AxisKind::kReduce);
  const auto at = [](int64_t p, const UOpRef& index) {
    return uop::IndexOf(uop::Param(dtypes::kFloat32, p), index);
  };
  return uop::Sink({uop::Store(at(0, i), uop::Reduce(Op::kAdd, uop::Load(at(1, i * 64 + k)), {k}), {i})},
                   "sum");
}

std::vector<ChoiceList> Lists(const std::vector<const char*>& texts) {
  std::vector<ChoiceList> lists;
  for (const char* text : texts) lists.push_back(*ParseChoices(text));
  return lists;
}

std::unique_ptr<CompilePool> Pool(const char* worker, int workers, double seconds = 60,
                                  uint64_t memory = uint64_t{4} << 30) {
  auto pool = CompilePool::Create(
      {.worker = {worker}, .workers = workers, .seconds = seconds, .memory_bytes = memory});
  EXPECT_TRUE(pool.ok()) << pool.status().ToString();
  return *std::move(pool);
}

TEST(CompilePool, AnswersWhatThisProcessCompiles) {
  const auto lists = Lists({"", "upcast(0,4)", "local(0,8) unroll(0,4)", "group(0,32)", "upcast(0,3)"});
  for (const Target& target : {*AmdTarget("gfx1100"), *AmdTarget("gfx942"), HostTarget()}) {
    for (const int workers : {1, 3}) {
      const auto pool = Pool(kWorker, workers);
      const auto answers = pool->Compile(Sum(), target, lists);
      ASSERT_EQ(answers.size(), lists.size());
      for (size_t i = 0; i < lists.size(); ++i) {
        const auto own = CompileJobByLlvm({Sum(), target, lists[i], 0});
        ASSERT_EQ(answers[i].ok(), own.ok()) << ChoicesText(lists[i]) << answers[i].status().ToString();
        if (!own.ok()) {
          EXPECT_EQ(answers[i].status(), own.status());
          continue;
        }
        EXPECT_EQ(answers[i]->name, own->name);
        EXPECT_EQ(answers[i]->code, own->code);
        EXPECT_EQ(answers[i]->text, own->text);
        EXPECT_EQ(answers[i]->global, own->global);
        EXPECT_EQ(answers[i]->local, own->local);
        EXPECT_EQ(answers[i]->local_bytes, own->local_bytes);
        ASSERT_EQ(answers[i]->params.size(), own->params.size());
        for (size_t p = 0; p < own->params.size(); ++p) {
          EXPECT_EQ(answers[i]->params[p].dtype, own->params[p].dtype);
          EXPECT_EQ(answers[i]->params[p].written, own->params[p].written);
        }
      }
      EXPECT_LE(pool->stats().started, workers);
      EXPECT_EQ(pool->stats().compiled + pool->stats().refused, static_cast<int64_t>(lists.size()));
    }
  }
}

// One after the other and side by side: what is wrong stays where it is.
TEST(CompilePool, ContainsCompilersThatGoWrong) {
  const auto lists = Lists({"local(0,8)", "unroll(0,2)", "upcast(0,4)", "unroll(0,4)", "unroll(0,8)",
                            "upcast(0,2)", "unroll(0,32)", "unroll(0,64)", "local(0,4)"});
  for (const int workers : {1, 2}) {
    const auto pool = Pool(kFaulty, workers, /*seconds=*/3);
    const auto answers = pool->Compile(Sum(), *AmdTarget("gfx1100"), lists);
    const auto expect = [&](size_t i, absl::StatusCode code, std::vector<std::string> words) {
      EXPECT_EQ(answers[i].status().code(), code) << answers[i].status().ToString();
      const std::string message(answers[i].status().message());
      words.push_back(absl::StrCat("compiling kernel sum with ", ChoicesText(lists[i])));
      for (const std::string& w : words)
        EXPECT_NE(message.find(w), std::string::npos) << w << " in " << message;
    };
    for (const size_t i : {0, 2, 5, 8}) EXPECT_TRUE(answers[i].ok()) << i << answers[i].status().ToString();
    expect(1, absl::StatusCode::kAborted,
           {"ended by signal 11 (Segmentation fault)", "it said: about to fall"});
    expect(3, absl::StatusCode::kDeadlineExceeded, {"not done after 3 s", "around and around"});
    expect(4, absl::StatusCode::kAborted, {"ended by signal 6 (Aborted)", "Cannot select: t5"});
    expect(6, absl::StatusCode::kInvalidArgument, {"a frame of"});
    expect(7, absl::StatusCode::kAborted, {"the compiler exited with 3"});
    EXPECT_EQ(pool->stats().timed_out, 1);
    EXPECT_EQ(pool->stats().crashed, 4);
    EXPECT_EQ(pool->stats().compiled, 4);
    // The next batch finds a pool that works.
    EXPECT_TRUE(pool->Compile(Sum(), *AmdTarget("gfx1100"), Lists({"upcast(0,4)"}))[0].ok());
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(CompilePool, MemoryIsLimited) {
  const auto pool = Pool(kFaulty, 1, 60, uint64_t{2} << 30);
  const auto answers = pool->Compile(Sum(), *AmdTarget("gfx1100"), Lists({"unroll(0,16)", "upcast(0,4)"}));
  EXPECT_EQ(answers[0].status().code(), absl::StatusCode::kResourceExhausted)
      << answers[0].status().ToString();
  EXPECT_NE(std::string(answers[0].status().message()).find("2147483648 bytes of memory"), std::string::npos)
      << answers[0].status().ToString();
  EXPECT_TRUE(answers[1].ok()) << answers[1].status().ToString();
  EXPECT_EQ(pool->stats().out_of_memory, 1);
}
#endif

TEST(CompilePool, AWorkerThatIsNoneIsRefused) {
  EXPECT_EQ(CompilePool::Create({.worker = {"/no/such/worker"}}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CompilePool::Create({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CompilePool::Create({.worker = {kWorker}, .seconds = 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  // A program that is no worker ends without an answer.
  const auto pool = Pool("/bin/true", 2);
  for (const auto& a : pool->Compile(Sum(), HostTarget(), Lists({"", "upcast(0,2)", "upcast(0,4)"})))
    EXPECT_EQ(a.status().code(), absl::StatusCode::kAborted) << a.status().ToString();
}

TEST(TargetText, GoesThereAndBack) {
  for (const char* isa : {"gfx1100", "gfx1200", "gfx90a", "gfx942", "gfx950"}) {
    const Target target = *AmdTarget(isa);
    const auto back = ParseTarget(TargetText(target));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_TRUE(*back == target) << isa;
  }
  Target odd = HostTarget();
  odd.threads = 7;
  odd.max_grid = {3, 4, 5};
  odd.transcendental = {Scalar::kFloat16, Scalar::kFloat64};
  odd.fma = {};
  odd.float_tensor_cores = true;
  EXPECT_TRUE(*ParseTarget(TargetText(odd)) == odd);
  EXPECT_NE(TargetText(odd), TargetText(HostTarget()));
}

TEST(TargetText, WrongTextIsRefused) {
  const std::string good = TargetText(HostTarget());
  EXPECT_EQ(ParseTarget("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseTarget("[]").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(ParseTarget("{}").status().message()).find("no field isa"), std::string::npos);
  for (size_t i = 0; i < good.size(); i += 7) {
    EXPECT_FALSE(ParseTarget(good.substr(0, i)).ok());
    std::string bad = good;
    bad[i] = '7';
    ParseTarget(bad).status().IgnoreError();  // any answer but a crash
  }
}

TEST(CompileProtocol, FramesAreTakenWhole) {
  const std::string one = EncodeFrame({"{}", std::string("\0\1\2", 3)}), two = EncodeFrame({"[1]", ""});
  std::string buffer;
  std::vector<Frame> frames;
  for (const char c : one + two) {
    buffer.push_back(c);
    const auto frame = TakeFrame(&buffer);
    ASSERT_TRUE(frame.ok());
    if (frame->has_value()) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].bytes, std::string("\0\1\2", 3));
  EXPECT_EQ(frames[1].json, "[1]");
  EXPECT_TRUE(buffer.empty());
  std::string huge(8, '\xff');
  EXPECT_EQ(TakeFrame(&huge).status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* json : {"", "{}", "[]", "{\"error\":99}", "{\"error\":\"x\"}", "{\"name\":3}",
                           "{\"name\":\"k\",\"text\":\"\",\"global\":[1],\"local\":[1,1,1]}"}) {
    EXPECT_FALSE(DecodeAnswer({json, ""}).ok()) << json;
    EXPECT_FALSE(DecodeJob({json, ""}).ok()) << json;
  }
}

}  // namespace
}  // namespace understudy
