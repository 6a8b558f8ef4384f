// SPDX-License-Identifier: Apache-2.0
// Backends: errors keep their kind, vectors that are wrong are refused by line and field, and the driver
// backend (on the mock driver library) gives what the emulator gives.
#include <gtest/gtest.h>

#include "emu/ptx/conform/conform.h"

namespace understudy::emu::ptx::conform {
namespace {

const char kMockLibrary[] = "mockgpu/nv/cuda/libcuda.so.1";

class Backends : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) {
      backend_ = MakeEmulator();
      return;
    }
    auto driver = OpenDriver(kMockLibrary);
    ASSERT_TRUE(driver.ok()) << driver.status();
    backend_ = *std::move(driver);
    EXPECT_TRUE(backend_->is_hardware());
    EXPECT_NE(backend_->name().find("driver API"), std::string::npos) << backend_->name();
  }
  Outcome Run(const std::string& line) {
    auto vectors = ParseVectors(line, "test");
    EXPECT_TRUE(vectors.ok()) << vectors.status();
    return vectors.ok() ? RunVector((*vectors)[0], *backend_) : Outcome();
  }
  std::unique_ptr<Backend> backend_;
};
INSTANTIATE_TEST_SUITE_P(All, Backends, testing::Bool(),
                         [](const auto& info) { return info.param ? "MockDriver" : "Emulator"; });

TEST_P(Backends, FormsPassDifferAndShowWhere) {
  const std::string head = R"({"op":"add.f32 %d, %a, %b;","d":"r","s":"rr","dt":"f32","st":["f32","f32"],)"
                           R"("in":[["3f800000","40000000"],["3f800000","40400000"]],)";
  EXPECT_EQ(Run(head + R"("out":["40000000","40a00000"]})").verdict, Outcome::Verdict::kPass);
  const Outcome wrong = Run(head + R"("out":["40000000","40a00003"]})");
  EXPECT_EQ(wrong.verdict, Outcome::Verdict::kDifferent);
  ASSERT_EQ(wrong.first.size(), 1u);
  EXPECT_EQ(DifferenceText(wrong.first[0]),
            "tuple 1 (lane 1), inputs 40000000 40400000: expected 40a00003, got 40a00000 (3 ulp)");
  EXPECT_EQ(Run(head.substr(0, head.size() - 1) + "}").verdict, Outcome::Verdict::kUnrecorded);
}

TEST_P(Backends, GeneratedInputsHaveDigests) {
  // Every result of not.b16 over all inputs, digested here.
  std::string line =
      R"({"op":"not.b16 %d, %a;","d":"h","s":"h","st":["b16"],"step":["1"],"count":65536,"digest":[)";
  for (uint32_t block = 0; block < 256; ++block) {
    uint64_t h = 0xCBF29CE484222325;
    for (uint32_t i = 0; i < 256; ++i) h = (h ^ (0xffff - (block * 256 + i))) * 0x100000001B3;
    char text[24];
    std::snprintf(text, sizeof(text), "%s\"%llx\"", block == 0 ? "" : ",",
                  static_cast<unsigned long long>(h));
    line += text;
  }
  EXPECT_EQ(Run(line + "]}").verdict, Outcome::Verdict::kPass);
  line[line.size() - 2] = line[line.size() - 2] == '0' ? '1' : '0';
  const Outcome wrong = Run(line + "]}");
  EXPECT_EQ(wrong.verdict, Outcome::Verdict::kDifferent);
  ASSERT_EQ(wrong.first.size(), 1u);
  EXPECT_EQ(wrong.first[0].place, "digest of tuples 65280 and up");
}

TEST_P(Backends, TextThatIsNotAcceptedAndFaultsAreTold) {
  const std::string tail = R"(","d":"r","s":"r","in":[["1"]],"out":["1"]})";
  EXPECT_EQ(Run(R"({"op":"frobnicate.b32 %d, %a;)" + tail).verdict, Outcome::Verdict::kNotAccepted);
  EXPECT_EQ(Run(R"({"op":"{.reg .b64 p; mov.b64 p, 16; ld.global.b32 %d, [p];})" + tail).verdict,
            Outcome::Verdict::kFaulted);
  // And the backend goes on after a fault.
  EXPECT_EQ(Run(R"({"op":"mov.b32 %d, %a;)" + tail).verdict, Outcome::Verdict::kPass);
}

TEST_P(Backends, KernelsReadScalarsAndUndeclaredParametersAreZero) {
  const std::string ptx =
      ".version 8.7\\n.target sm_90a\\n.address_size 64\\n.visible .entry k(.param .u64 p, .param .u32 n, "
      ".param "
      ".f32 f, .param .u64 s) { .reg .b64 %p, %s; .reg .b32 %n, %f; ld.param.u64 %p, [p]; ld.param.u32 %n, "
      "[n]; "
      "ld.param.b32 %f, [f]; ld.param.u64 %s, [s]; st.global.u32 [%p], %n; st.global.b32 [%p+4], %f; "
      "st.global.u64 "
      "[%p+8], %s; ret; }";
  const std::string line =
      R"({"name":"k","entry":"k","ptx":")" + ptx +
      R"(","grid":[1,1,1],"block":[1,1,1],"shared":0,"params":[{"kind":"buffer","before":")" +
      EncodeBase64(std::vector<uint8_t>(16, 0xee)) + R"(","after":")" +
      EncodeBase64({0xfe, 0xff, 0xff, 0xff, 0, 0, 0x20, 0x40, 0, 0, 0, 0, 0, 0, 0, 0}) +
      R"("},{"kind":"i32","value":-2},{"kind":"f32","value":2.5}]})";
  const Outcome outcome = Run(line);
  EXPECT_EQ(outcome.verdict, Outcome::Verdict::kPass) << outcome.reason;
  EXPECT_EQ(outcome.values, 4u);
}

TEST(Vectors, WrongLinesAreRefusedByLineAndField) {
  const auto error = [](const std::string& text) {
    return std::string(ParseVectors(text, "f").status().message());
  };
  EXPECT_EQ(error("{\"op\":\"x\",\"d\":\"r\",\"s\":\"\"}\nnonsense"), "f:2: not JSON");
  EXPECT_EQ(error(R"({"op":"x","d":"q","s":"r"})"), "f:1: \"d\": expected one of h, r, l, p");
  EXPECT_EQ(error(R"({"op":"x","d":"r","s":"rrrrr"})"), "f:1: \"s\": expected at most four of h, r, l, p");
  EXPECT_EQ(error(R"({"op":"x","d":"r","s":"r","in":[["1g"]]})"),
            "f:1: \"in\": expected hex values of at most 16 digits");
  EXPECT_EQ(error(R"({"op":"x","d":"r","s":"rr","in":[["1"],["1","2"]]})"),
            "f:1: \"in\": expected lists of one length");
  EXPECT_EQ(error(R"({"op":"x","d":"r","s":"r","in":[["1"]],"out":["1","2"]})"),
            "f:1: \"out\": expected a value a tuple");
  EXPECT_EQ(error(R"({"op":"x","a":[],"b":[],"c":[["1"]],"d":[]})"),
            "f:1: \"c\": expected 32 lanes a register");
  EXPECT_EQ(error(R"({"ptx":"x","entry":"k","grid":[1,1],"block":[1,1,1],"params":[]})"),
            "f:1: \"grid\": expected three numbers");
  EXPECT_NE(error(R"({"op":"x","rows":3})").find("neither an instruction form"), std::string::npos);
  EXPECT_NE(error("[]").find("expected an object"), std::string::npos);
}

TEST(Vectors, FilesAreKnownByTheirFirstLine) {
  EXPECT_TRUE(LooksLikePtxVectors("{\"op\":\"x\"}\nnonsense"));
  EXPECT_TRUE(LooksLikePtxVectors("{\"ptx\":\"x\"}"));
  EXPECT_FALSE(LooksLikePtxVectors("{\"gfx\":\"gfx1100\",\"op\":\"x\"}"));
  EXPECT_FALSE(LooksLikePtxVectors("nonsense"));
}

TEST(Vectors, Base64IsItsOwnInverse) {
  for (size_t size = 0; size < 9; ++size) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(251 * (i + 1));
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
  EXPECT_EQ(EncodeBase64({'M', 'a'}), "TWE=");
}

}  // namespace
}  // namespace understudy::emu::ptx::conform
