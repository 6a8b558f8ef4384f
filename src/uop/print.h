// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs as text, one node a line in SSA form, and back: Parse(Print(g)) is g itself. `understudy trace`,
// error messages, the fuzzers' corpus and tests use it.
//
//   %0 = CONST index : 16
//   %1 = RANGE index %0 : range(0, global)
//   %2 = ADD index %1 %0
//
// A line is `%name = OP dtype %source... [: argument]`; the last line is the root; `#` starts a comment.
// Arguments: integers, hex floats (exact), "strings" with \n \t \\ \" \xHH, [lists], reduce(ADD, [axes]),
// range(id, kind), buffer(id, "device", size), var("name", min, max), kernel("name"), or a bare op.

#include <string>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy::uop {

std::string Print(const UOpRef& root);

// The interned node, or InvalidArgument "line L, column C: ..." saying what is wrong. Any input is safe.
// Buffers that do not exist yet get an empty storage slot.
absl::StatusOr<UOpRef> Parse(const std::string& text);

// "[1,2]", "range(0, global)": the argument as Print shows it; empty for none.
std::string ArgText(const Arg& arg);

// "+" for ADD, "//" for FLOORDIV, "/t" for the truncating IDIV...; nullptr for ops written as functions.
const char* InfixSymbol(Op op);

// The node as algebra on one line, for messages: "(r0 * 4 + 1) // 3". Levels below `depth` show as "...".
std::string Infix(const UOpRef& node, int depth = 8);

}  // namespace understudy::uop
