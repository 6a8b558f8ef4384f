// SPDX-License-Identifier: Apache-2.0
// Text of graphs, and the parser's errors.
#include "src/uop/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/uop/build.h"

namespace understudy::uop {
namespace {

using namespace expr;

void ExpectRoundTrip(const UOpRef& node) {
  const std::string text = Print(node);
  const absl::StatusOr<UOpRef> back = Parse(text);
  ASSERT_TRUE(back.ok()) << back.status() << "\n" << text;
  EXPECT_EQ(*back, node) << text;
}

TEST(Print, OneNodeALine) {
  const UOpRef i = Range(16, 0, AxisKind::kGlobal);
  EXPECT_EQ(Print(i * 4 + 1),
            "%0 = CONST index : 16\n"
            "%1 = RANGE index %0 : range(0, global)\n"
            "%2 = CONST index : 4\n"
            "%3 = MUL index %1 %2\n"
            "%4 = CONST index : 1\n"
            "%5 = ADD index %3 %4\n");
}

TEST(Print, EveryArgumentComesBack) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double d : {0.0, -0.0, 1.0, 0.1, -1e300, 5e-324, inf, -inf, std::nan("")})
    ExpectRoundTrip(Const(dtypes::kFloat64, d));
  for (const int64_t v : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX})
    ExpectRoundTrip(Const(dtypes::kInt64, v));
  ExpectRoundTrip(Const(dtypes::kUInt64, int64_t{-1}));
  ExpectRoundTrip(Const(dtypes::kFloat32.WithLanes(4), 0.5));
  const UOpRef b = NewBuffer(dtypes::kFloat16, 24, "DEV \"x\"\\\n\x01\xff");
  ExpectRoundTrip(ReduceAxis(Permute(Reshape(b, {2, 3, 4}), {2, 0, 1}), Op::kMax, {0, 2}));
  ExpectRoundTrip(ReduceAxis(Reshape(b, {24}), Op::kMax, {}));
  ExpectRoundTrip(Reshape(Shrink(b, {3, 4}), {}));
  ExpectRoundTrip(Copy(b, "A\tB"));
  ExpectRoundTrip(Multi({b, NewBuffer(dtypes::kFloat16, 8, "Y")}, MultiArg{{"X \"", "Y"}, 0, {8, 0}}));
  ExpectRoundTrip(Multi({b}, MultiArg{{"X"}, -1, {}}));
  ExpectRoundTrip(Var("n#1\"", INT64_MIN, INT64_MAX));
  ExpectRoundTrip(Special(7, "g1"));
  const UOpRef r = Range(4, 3, AxisKind::kGroupReduce), p = Param(dtypes::kInt8, 2);
  ExpectRoundTrip(Sink({Store(IndexOf(p, r, r < 2), Gep(Load(IndexOf(p, r), 4), 3), {r})}, "k_\n"));
  ExpectRoundTrip(Reduce(Op::kMin, Load(IndexOf(DefineLocal(dtypes::kBFloat16, 1, 8), r)), {r}));
  ExpectRoundTrip(TensorParam(dtypes::kBool, 1, {2, 0}));
}

TEST(Parse, CommentsSpacesAndNamesAreFree) {
  const absl::StatusOr<UOpRef> r =
      Parse("# a comment\n\n  %a_1 =CONST index:16 # sixteen\r\n%r = RANGE index %a_1 : range( 0 ,global )");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(*r, Range(16, 0, AxisKind::kGlobal));
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(Parse, ErrorsSayWhereAndWhat) {
  const BadText bad[] = {
      {"", "line 1, column 1: the text holds no node"},
      {"\n\n# only this\n", "line 4, column 1: the text holds no node"},
      {"x", "line 1, column 1: expected '%', found 'x'"},
      {"% = CONST", "expected a name after '%', found ' '"},
      {"%0 CONST i32 : 1", "line 1, column 4: expected '=', found 'C'"},
      {"%0 = CONTS i32 : 1", "line 1, column 6: unknown op 'CONTS'"},
      {"%0 = CONST f99 : 1", "line 1, column 12: "},
      {"%0 = CONST i32 : 1\n%1 = NEG i32 %7", "line 2, column 14: %7 is not defined"},
      {"%0 = CONST i32 : 1\n%0 = CONST i32 : 2", "line 2, column 1: %0 is defined twice"},
      {"%0 = CONST i32 : 99999999999999999999",
       "line 1, column 18: integer 99999999999999999999 does not fit 64 bits"},
      {"%0 = CONST i8 : 200", "line 1, column 6: CONST: 200 is not a value of i8"},
      {"%0 = CONST f32 : 0x1.g", "line 1, column 18: '0x1.g' is no hexadecimal float"},
      {"%0 = CONST f32 : 1", "must be a double"},
      {"%0 = CONST i32 : 1 2", "line 1, column 20: expected the end of the line, found '2'"},
      {"%0 = CONST i32 : 1\n%1 = ADD i32 %0", "line 2, column 6: ADD: has 1 sources, expected 2"},
      {"%0 = VAR index : var(\"n\", 1", "expected ',', found the end of the text"},
      {"%0 = VAR index : var(\"n", "the string does not end"},
      {"%0 = VAR index : var(\"\\q\", 1, 2)", "unknown escape"},
      {"%0 = VAR index : var(\"\\xz\", 1, 2)", "\\x needs two hexadecimal digits"},
      {"%0 = BUFFER f32 : buffer(12x, \"CPU\", 3)", "'12x' is no buffer id"},
      {"%0 = CONST index : 4\n%1 = RANGE index %0 : range(0, globl)",
       "line 2, column 32: unknown axis kind 'globl'"},
      {"%0 = CONST index : frob(1)", "unknown argument 'frob('"},
      {"%0 = CONST index : frob", "'frob' is no argument"},
  };
  for (const BadText& b : bad) {
    const absl::StatusOr<UOpRef> r = Parse(b.text);
    ASSERT_FALSE(r.ok()) << b.text;
    EXPECT_NE(std::string(r.status().message()).find(b.message), std::string::npos)
        << b.text << "\n gives " << r.status();
    EXPECT_EQ(std::string(r.status().message()).rfind("line ", 0), 0u) << r.status();
  }
}

TEST(Infix, ReadsAsAlgebra) {
  const UOpRef i = Range(16, 0);
  EXPECT_EQ(Infix((i * 4 + 1) / 3), "(((r0 * 4) + 1) // 3)");
  EXPECT_EQ(Infix(IDiv(i, IndexConst(-3))), "(r0 /t -3)");
  EXPECT_EQ(Infix(Cast(i, dtypes::kInt32)), "CAST:i32(r0)");
}

}  // namespace
}  // namespace understudy::uop
