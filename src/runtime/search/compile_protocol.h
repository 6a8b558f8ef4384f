// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a compile pool and its workers say to each other over a socket: a job (kernel, target, choices) and an
// answer (a compiled kernel, or the compiler's own error). Both sides check what they read: a worker may be
// dying while it writes.
//
// A frame is two little-endian u32, the lengths of a JSON text and of raw bytes, then both.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/codegen/choices.h"
#include "src/render/render.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

struct Frame {
  std::string json, bytes;
};
std::string EncodeFrame(const Frame& frame);
// Takes the first whole frame off `buffer`; nullopt while it is not whole. InvalidArgument: more than 256 MB.
absl::StatusOr<std::optional<Frame>> TakeFrame(std::string* buffer);

struct CompileJob {
  UOpRef kernel;
  Target target;
  ChoiceList choices;
  double seconds = 0;  // after twice this (and 5) the worker ends itself, should nobody else
};
// `kernel` and `target` as text already: they are the same for many jobs.
Frame EncodeJob(const std::string& kernel, const std::string& target, const ChoiceList& choices,
                double seconds);
absl::StatusOr<CompileJob> DecodeJob(const Frame& frame);

Frame EncodeAnswer(const absl::StatusOr<CompiledKernel>& answer);
// InvalidArgument when the frame is no answer; else what the worker's compiler said.
absl::StatusOr<CompiledKernel> DecodeAnswer(const Frame& frame);

}  // namespace understudy
