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

// That the hashes are the card's is for recorded_test; here a wrong one is told by its sample and seed.
TEST_P(Backends, SeededSamplesHaveHashes) {
  const std::string line =
      R"({"op":"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64","seed":5,"class":"narrow","types":["f64","f64","f64","f64"],)"
      R"("regs":[1,1,2,2],"first":0,)";
  auto vectors = ParseVectors(line + R"("samples":2})", "test");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  EXPECT_EQ(RunVector((*vectors)[0], *backend_).verdict, Outcome::Verdict::kUnrecorded);
  const auto got = Evaluate((*vectors)[0], *backend_);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), 2u * 2 * 32);
  std::string hashes;
  for (const uint64_t hash : Hashes(std::get<Seeded>((*vectors)[0].what), *got)) {
    char text[24];
    std::snprintf(text, sizeof(text), "%s\"%016llx\"", hashes.empty() ? "" : ",",
                  static_cast<unsigned long long>(hash));
    hashes += text;
  }
  EXPECT_EQ(Run(line + R"("hash":[)" + hashes + "]}").verdict, Outcome::Verdict::kPass);
  hashes[hashes.size() - 2] = hashes[hashes.size() - 2] == '0' ? '1' : '0';
  const Outcome wrong = Run(line + R"("hash":[)" + hashes + "]}");
  EXPECT_EQ(wrong.verdict, Outcome::Verdict::kDifferent);
  EXPECT_EQ(wrong.different, 1u);
  ASSERT_EQ(wrong.first.size(), 1u);
  EXPECT_EQ(wrong.first[0].place, "hash of the results of sample 1 (seed 5, narrow)");
}

TEST_P(Backends, PlacesOfAFragmentThatAreWrongAreTold) {
  auto vectors = LoadVectors("tests/data/conformance/ptx/wmma_fragments.jsonl");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  Vector& vector = (*vectors)[3];
  EXPECT_EQ(RunVector(vector, *backend_).verdict, Outcome::Verdict::kPass) << vector.id;
  std::get<FragmentPlaces>(vector.what).elements[33] ^= 1;
  const Outcome wrong = RunVector(vector, *backend_);
  EXPECT_EQ(wrong.different, 1u);
  ASSERT_EQ(wrong.first.size(), 1u);
  EXPECT_EQ(wrong.first[0].place.substr(0, 11), "register 0 ");
}

TEST_P(Backends, TextThatIsNotAcceptedAndFaultsAreTold) {
  const std::string tail = R"(","d":"r","s":"r","in":[["1"]],"out":["1"]})";
  EXPECT_EQ(Run(R"({"op":"frobnicate.b32 %d, %a;)" + tail).verdict, Outcome::Verdict::kNotAccepted);
  EXPECT_EQ(Run(R"({"op":"{.reg .b64 p; mov.b64 p, 16; ld.global.b32 %d, [p];})" + tail).verdict,
            Outcome::Verdict::kFaulted);
  // And the backend goes on after a fault.
  EXPECT_EQ(Run(R"({"op":"mov.b32 %d, %a;)" + tail).verdict, Outcome::Verdict::kPass);
}

TEST_P(Backends, ModulesLoadOrSayWhatIsWrong) {
  const std::string head = R"({"name":"m","ptx":".version 8.7\n.target sm_90a\n.address_size 64\n)";
  EXPECT_EQ(Run(head + R"(.visible .entry k() { ret; }"})").verdict, Outcome::Verdict::kPass);
  const Outcome wrong = Run(head + R"(.visible .entry k() { frobnicate; }"})");
  EXPECT_EQ(wrong.verdict, Outcome::Verdict::kNotAccepted);
  EXPECT_NE(wrong.reason.find("frobnicate"), std::string::npos) << wrong.reason;
}

TEST(EmulatorBackend, ModulesWithAnInstructionThatIsRefusedAreRefused) {
  const auto vectors = ParseVectors(
      R"({"ptx":".version 8.7\n.target sm_90\n.address_size 64\n.global .texref t;\n.visible .entry k() { )"
      R"(.reg .b32 %r<4>; .reg .f32 %f; tex.1d.v4.s32.f32 {%r0, %r1, %r2, %r3}, [t, {%f}]; ret; }"})",
      "test");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  const Outcome outcome = RunVector((*vectors)[0], *MakeEmulator());
  EXPECT_EQ(outcome.verdict, Outcome::Verdict::kRefused) << VerdictName(outcome.verdict) << outcome.reason;
  EXPECT_EQ(outcome.reason.substr(0, 25), "k: tex.1d.v4.s32.f32: tex") << outcome.reason;
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
  const auto map_error = [&](const std::string& fields) {
    return error(
        R"({"ptx":"x","entry":"k","grid":[1,1,1],"block":[1,1,1],"params":[{"kind":"buffer","before":""},)"
        R"({"kind":"tensormap",)" +
        fields + "}]}");
  };
  EXPECT_EQ(map_error(R"("mode":"square")"), "f:1: \"mode\": expected tiled or im2col");
  EXPECT_EQ(map_error(R"("mode":"tiled","dims":[])"), "f:1: \"dims\": expected 1 to 5 numbers");
  EXPECT_EQ(map_error(R"("mode":"tiled","dims":[4,4],"strides":[],"box":[1,1])"),
            "f:1: \"strides\": expected 1 numbers");
  EXPECT_EQ(map_error(R"("mode":"im2col","dims":[4,4],"strides":[16])"),
            "f:1: \"dims\": expected 3 to 5 numbers");
  EXPECT_EQ(map_error(R"("mode":"tiled","dims":[4],"strides":[],"box":[4],"of":1)"),
            "f:1: \"of\": expected the number of a buffer among the parameters");
  EXPECT_NE(error(R"({"op":"x","rows":3})").find("neither an instruction form"), std::string::npos);
  EXPECT_NE(error("[]").find("expected an object"), std::string::npos);
}

TEST(Vectors, WrongLinesOfSeededSamplesAreRefusedByField) {
  const auto error = [](const char* field, const char* value) {
    auto line = nlohmann::ordered_json::parse(
        R"({"op":"wgmma.mma_async","seed":1,"class":"wide","types":["f32","f16","f16","f32"],"regs":[0,0,4,4],"first":0,
        "a_regs":false,"desc_a":[0,8,16,0],"desc_b":[0,8,16,0,2],"scale_d":1,"imm":[1,-1],"trans":[0,1],"n":8,"k":16,
        "hash":["00000000000000aa","1"]})");
    EXPECT_TRUE(ParseVector(line).ok()) << ParseVector(line).status();
    line[field] = nlohmann::ordered_json::parse(value);
    return std::string(ParseVectors("\n" + line.dump(), "f").status().message());
  };
  EXPECT_EQ(error("seed", "-1").substr(0, 30), "f:2: \"seed\": expected a number");
  EXPECT_EQ(error("seed", "1e3"), "f:2: \"seed\": expected an integer");
  EXPECT_EQ(error("class", "\"odd\""), "f:2: \"class\": expected bits, narrow, wide, edge or onehot");
  EXPECT_EQ(error("class", "\"onehot\""),
            "f:2: \"class\": expected onehot with s8, u8, s4, u4, tf32 or e4m3 in registers alone");
  EXPECT_EQ(error("types", R"(["f32","f16"])"), "f:2: \"types\": expected four types: d, a, b, c");
  EXPECT_EQ(error("types", R"(["f32","f16","pred","f32"])"),
            "f:2: \"types\": expected types of a matrix instruction");
  EXPECT_EQ(error("regs", "[1,2,3]"), "f:2: \"regs\": expected 4 numbers");
  EXPECT_EQ(error("regs", "[0,0,4,1000000]"), "f:2: \"regs\": expected a number from 0 to 128");
  EXPECT_EQ(error("first", "null"), "f:2: \"first\": expected an integer");
  EXPECT_EQ(error("selector", "4"), "f:2: \"selector\": expected a number from 0 to 3");
  EXPECT_EQ(error("hash", "[]"), "f:2: \"hash\": expected 1 to 4096 hex values");
  EXPECT_EQ(error("hash", "[\"0x1\"]"), "f:2: \"hash\": expected hex values of at most 16 digits");
  EXPECT_EQ(error("a_regs", "1"), "f:2: \"a_regs\": expected true or false");
  EXPECT_EQ(error("k", "16384"), "f:2: \"k\": expected a number from 8 to 1024");
  EXPECT_EQ(error("desc_a", "[0,8,16]"), "f:2: \"desc_a\": expected 4 to 5 numbers");
  EXPECT_EQ(error("desc_b", "[4,8,16,0]"),
            "f:2: \"desc_b\": expected a swizzle up to 3, a base offset up to 7, a start up to 1024");
  EXPECT_EQ(error("desc_b", "[0,8,16384,0]"), "f:2: \"desc_b\": expected a number from 0 to 16383");
  EXPECT_EQ(error("scale_d", "2"), "f:2: \"scale_d\": expected a number from 0 to 1");
  EXPECT_EQ(error("imm", "[1,0]"), "f:2: \"imm\": expected 1 or -1");
  EXPECT_EQ(error("trans", "\"no\""), "f:2: \"trans\": expected 2 numbers");
}

TEST(Vectors, WrongLinesOfPlacesAreRefusedByField) {
  const auto error = [](const std::string& op, int rows, const std::string& elements) {
    return std::string(ParseVectors(R"({"op":")" + op + R"(","rows":)" + std::to_string(rows) +
                                        R"(,"cols":16,"elements":)" + elements + "}",
                                    "f")
                           .status()
                           .message());
  };
  const std::string op = "wmma.load.a.sync.aligned.row.m16n16k16.f16";
  EXPECT_EQ(error(op, 16, "[[],[]]"), "");
  EXPECT_EQ(error("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 16, "[[]]"),
            "f:1: \"op\": expected wmma.load with a layout, a shape and a type");
  EXPECT_EQ(error("wmma.load.a.sync.aligned.sideways.m16n16k16.f16", 16, "[[]]"),
            "f:1: \"op\": expected a layout, row or col, before the shape");
  EXPECT_EQ(error(op, 0, "[[]]"), "f:1: \"rows\": expected a number from 1 to 2048");
  EXPECT_EQ(error(op, 2048, "[[]]"), "f:1: \"rows\": expected at most 2048 elements, a multiple of 8");
  EXPECT_EQ(error(op, 16, "[]"), "f:1: \"elements\": expected 1 to 128 registers");
  EXPECT_EQ(error(op, 16, "{}"), "f:1: \"elements\": expected 1 to 128 registers");
  EXPECT_EQ(error(op, 16, "[[[1,2]]]"), "f:1: \"elements\": expected 32 lanes a register, or none in all");
  std::string lanes = "[[";
  for (int lane = 0; lane < 31; ++lane) lanes += "[1,2],";
  EXPECT_EQ(error(op, 16, lanes + "[1,255]]]"), "");
  EXPECT_EQ(error(op, 16, lanes + "[1]]]"), "f:1: \"elements\": expected 2 numbers a lane and register");
  EXPECT_EQ(error(op, 16, lanes + "[1,256]]]"), "f:1: \"elements\": expected a number from 0 to 255");
  EXPECT_EQ(error(op, 16, lanes + "[1,2]],[]]"),
            "f:1: \"elements\": expected 32 lanes a register, or none in all");
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
