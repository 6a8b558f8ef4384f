// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/evidence/evidence.h"

#include <gtest/gtest.h>

#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace understudy::emu::amd {
namespace {

constexpr int kIsas = static_cast<int>(std::size(kAllIsas));

struct Executed {
  std::bitset<static_cast<size_t>(Opcode::kCount)> by_isa[kIsas];
};

// Of the running test, and of all tests that have passed.
class Recorder : public ::testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* kind) : kind_(kind) {}

  void Add(Isa isa, Opcode op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    current_.by_isa[static_cast<int>(isa)].set(static_cast<size_t>(op));
  }

  void OnTestStart(const ::testing::TestInfo&) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    current_ = Executed();
  }
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!info.result()->Passed()) return;
    for (int i = 0; i < kIsas; ++i) passed_.by_isa[i] |= current_.by_isa[i];
  }
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    for (const Isa isa : kAllIsas) {
      const auto& set = passed_.by_isa[static_cast<int>(isa)];
      if (set.none()) continue;
      std::printf("@evidence %s %s", kind_, IsaTarget(isa));
      for (size_t op = 0; op < set.size(); ++op) {
        if (set[op]) std::printf(" %s", OpcodeName(static_cast<Opcode>(op)));
      }
      std::printf("\n");
    }
  }

 private:
  const char* const kind_;
  std::mutex mutex_;
  Executed current_, passed_;
};

// Owned by googletest once appended.
Recorder* TheRecorder() {
  static Recorder* const recorder = []() -> Recorder* {
    const char* kind = std::getenv("EVIDENCE");
    if (kind == nullptr) return nullptr;
    auto* made = new Recorder(kind);
    ::testing::UnitTest::GetInstance()->listeners().Append(made);
    return made;
  }();
  return recorder;
}

}  // namespace

void RecordExecuted(Isa isa, Opcode op) {
  if (Recorder* recorder = TheRecorder(); recorder != nullptr) recorder->Add(isa, op);
}

void RecordExecuted(const ProgramCache& cache) {
  Recorder* recorder = TheRecorder();
  if (recorder == nullptr) return;
  cache.ForEachEntry([&](const ProgramEntry& entry) {
    if (entry.fn == nullptr) return;
    recorder->Add(cache.isa(), entry.inst.op);
    if (entry.inst.op_y != Opcode::kCount) recorder->Add(cache.isa(), entry.inst.op_y);
  });
}

}  // namespace understudy::emu::amd
