// SPDX-License-Identifier: Apache-2.0
// Recording: inputs hold a type's edges and are the same each time, results are what the backend gives, and
// what is no truth or was not accepted says so.
#include "emu/ptx/conform/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "emu/ptx/conform/conform.h"
#include "emu/ptx/conform/inputs.h"

namespace understudy::emu::ptx::conform {
namespace {

using Json = nlohmann::ordered_json;

std::string TempFile(const char* name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

// A backend that answers every launch with one status.
class Broken : public Backend {
 public:
  explicit Broken(absl::Status status) : status_(std::move(status)) {}
  std::string name() const override { return "broken"; }
  bool is_hardware() const override { return true; }
  absl::Status Run(Launch*) override { return status_; }
  absl::Status Load(const std::string&) override { return status_; }

 private:
  absl::Status status_;
};

TEST(Inputs, HoldTheEdgesOfTheirType) {
  const auto has = [](const std::string& type, std::initializer_list<uint64_t> values) {
    const auto drawn = DrawInputs(type, 0, 200, 1);
    ASSERT_TRUE(drawn.ok()) << drawn.status();
    EXPECT_EQ(drawn->size(), 200u);
    for (const uint64_t value : values)
      EXPECT_NE(std::find(drawn->begin(), drawn->end(), value), drawn->end())
          << type << " " << std::hex << value;
  };
  // Zeros, a denormal, the limits, infinities, a signalling and a quiet NaN.
  has("f32", {0, 0x80000000, 1, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000});
  has("f64", {0, uint64_t{1} << 63, 1, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000});
  has("f16", {0, 0x8000, 1, 0x7bff, 0x7c00, 0xfc00, 0x7c01});
  has("s32", {0, 1, 0x80000000, 0x7fffffff, 0xffffffff});
  has("u8", {0, 1, 0x80, 0xff});
  has("sh", {0, 31, 32, 33, 64, 0xffffffff});
  has("pred", {0, 1});
  EXPECT_FALSE(DrawInputs("float", 0, 4, 1).ok());
  EXPECT_FALSE(DrawInputs("", 0, 4, 1).ok());
}

TEST(Inputs, FitTheirTypeAndAreTheSameEachTime) {
  for (const char* type : {"f16", "bf16", "u16", "f16x2", "u8x4", "e4m3x2", "e5m2x2", "b8", "u32", "tf32"}) {
    const ElementFormat format = FormatOfType(type);
    const auto drawn = DrawInputs(type, 1, 500, 3);
    ASSERT_TRUE(drawn.ok()) << type;
    for (const uint64_t value : *drawn) EXPECT_EQ(value >> (format.bits * format.count - 1) >> 1, 0u) << type;
    EXPECT_EQ(*drawn, *DrawInputs(type, 1, 500, 3)) << type;
    EXPECT_NE(*drawn, *DrawInputs(type, 2, 500, 3)) << type;
    EXPECT_NE(*drawn, *DrawInputs(type, 1, 500, 4)) << type;
  }
}

TEST(Record, FillsFormsThatThenPass) {
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  RecordOptions options;
  options.samples = 40;
  const auto line = RecordLine(Json::parse(R"({"op":"add.sat.s32 %d, %a, %b;","d":"r","dt":"s32","s":"rr",
      "st":["s32","s32"],"extra":"kept"})"),
                               *emulator, options);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ((*line)["in"][0].size(), 40u);
  EXPECT_EQ((*line)["out"].size(), 40u);
  EXPECT_EQ((*line)["extra"], "kept");
  EXPECT_EQ((*line)["source"], "emulator");
  const auto vector = ParseVector(*line);
  ASSERT_TRUE(vector.ok());
  EXPECT_TRUE(vector->emulated);
  EXPECT_EQ(RunVector(*vector, *emulator).verdict, Outcome::Verdict::kPass);
  // Recorded again it is the same.
  EXPECT_EQ(*RecordLine(*line, *emulator, options), *line);
}

TEST(Record, FillsDigestsFragmentsAndKernels) {
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  const auto digest = RecordLine(
      Json::parse(R"({"op":"not.b16 %d, %a;","d":"h","s":"h","st":["b16"],"step":["1"],"count":1000})"),
      *emulator);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_EQ((*digest)["digest"].size(), 4u);
  EXPECT_FALSE(digest->contains("in"));

  const std::string ones = [] {
    std::string lanes = "[";
    for (int i = 0; i < 32; ++i) lanes += i == 0 ? "\"3c003c00\"" : ",\"3c003c00\"";
    return lanes + "]";
  }();
  const auto fragment = RecordLine(
      Json::parse(R"({"op":"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16","a":[)" + ones + "," + ones +
                  R"(],"b":[)" + ones + R"(],"c":[)" + ones + "," + ones + R"(],"d":[[],[]]})"),
      *emulator);
  ASSERT_TRUE(fragment.ok()) << fragment.status();
  EXPECT_EQ((*fragment)["d"][1][31], "48804880") << "1 + 8 * 1 * 1, twice";

  const auto kernel = RecordLine(
      Json::parse(
          R"({"name":"k","entry":"k","ptx":".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {.reg .b64 %p; ld.param.u64 %p, [p]; st.global.u32 [%p], 7; ret; }",
      "grid":[1,1,1],"block":[1,1,1],"params":[{"kind":"buffer","before":"AAAAAAAA"}]})"),
      *emulator);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)["params"][0]["after"], EncodeBase64({7, 0, 0, 0, 0, 0}));
}

TEST(Record, FillsSeededSamplesAndPlacesThatThenPass) {
  const std::unique_ptr<Backend> emulator = MakeEmulator();
  const auto seeded = RecordLine(
      Json::parse(R"({"op":"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16","seed":3,"class":"wide",
      "types":["f32","f16","f16","f32"],"regs":[0,0,4,4],"first":64,"a_regs":true,"desc_b":[0,8,16,0],"scale_d":1,"imm":[1,1],
      "trans":[0,0],"n":8,"k":16,"samples":3})"),
      *emulator);
  ASSERT_TRUE(seeded.ok()) << seeded.status();
  EXPECT_EQ((*seeded)["hash"].size(), 3u);
  EXPECT_FALSE(seeded->contains("samples"));
  EXPECT_EQ(RunVector(*ParseVector(*seeded), *emulator).verdict, Outcome::Verdict::kPass);
  const auto places = RecordLine(
      Json::parse(R"({"op":"wmma.load.b.sync.aligned.col.m8n8k4.f64","rows":4,"cols":8,"elements":[[]]})"),
      *emulator);
  ASSERT_TRUE(places.ok()) << places.status();
  // Lane 5 has row 1 of column 1.
  EXPECT_EQ((*places)["elements"][0][5], Json::array({9}));
  EXPECT_EQ(RunVector(*ParseVector(*places), *emulator).verdict, Outcome::Verdict::kPass);
}

TEST(Record, WhatTheBackendDoesNotTakeIsKeptAsAnError) {
  const Json line = Json::parse(R"({"op":"frobnicate %d, %a;","d":"r","s":"r","st":["u32"],"out":["1"]})");
  const auto refused = RecordLine(line, *MakeEmulator());
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_NE((*refused)["error"].get<std::string>().find("not accepted: "), std::string::npos);
  EXPECT_FALSE(refused->contains("in"));
  EXPECT_FALSE(refused->contains("out"));
  Broken faulting(absl::AbortedError("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ((*RecordLine(line, faulting))["error"], "faulted: CUDA_ERROR_ILLEGAL_ADDRESS");
  // A failure that is not the vector's ends the recording.
  Broken broken(absl::InternalError("no memory"));
  EXPECT_EQ(RecordLine(line, broken).status().message(), "no memory");
}

TEST(Record, FilesNameTheLineThatIsWrong) {
  const std::string in = TempFile("in.jsonl"), out = TempFile("out.jsonl");
  std::FILE* const file = std::fopen(in.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(
      "{\"op\":\"mov.b32 %d, %a;\",\"d\":\"r\",\"s\":\"r\",\"st\":[\"b32\"]}\n\n{\"op\":\"mov.b32 %d, "
      "%a;\",\"d\":\"r\",\"s\":\"r\"}\n",
      file);
  std::fclose(file);
  const auto counts = RecordFile(in, out, *MakeEmulator());
  EXPECT_EQ(counts.status().message(), in + ":3: \"st\": expected a type an operand to draw inputs for");
  EXPECT_FALSE(RecordFile(TempFile("absent"), out, *MakeEmulator()).ok());
}

}  // namespace
}  // namespace understudy::emu::ptx::conform
