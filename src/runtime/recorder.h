// SPDX-License-Identifier: Apache-2.0
#pragma once
// Told by an engine what it runs, in order: how a captured function (capture.h) learns what to replay.
// Changes nothing of what runs.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/runtime/buffer.h"
#include "src/runtime/device.h"
#include "src/schedule/schedule.h"
#include "src/tensor/host_data.h"
#include "src/uop/uop.h"

namespace understudy {

class EngineRecorder {
 public:
  virtual ~EngineRecorder() = default;

  // What a slot of a schedule is: a call's buffer with its node, or a temporary, whose node is null.
  struct Slot {
    Buffer* buffer;
    const UOp* node;
  };
  // After the launch was given.
  virtual void OnKernel(const std::shared_ptr<Program>& program, const std::shared_ptr<Device>& device,
                        const ScheduleItem& item, absl::Span<const Slot> slots,
                        const VariableValues& variables) = 0;
  virtual void OnCopy(const Slot& to, const Slot& from) = 0;
  // Storage was declared for the BUFFER `node`; filled with the host's bytes where `data` is not null.
  virtual void OnStorage(const UOp& node, const Buffer& buffer, const HostData* data) = 0;
  // The host wants to read a tensor: refused unless OK.
  virtual absl::Status OnHostRead() = 0;

  // The recorder that runs on this thread, whichever engine's it is.
  static EngineRecorder* Current();

 protected:
  static void SetCurrent(EngineRecorder* recorder);
};

}  // namespace understudy
