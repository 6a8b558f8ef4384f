// SPDX-License-Identifier: Apache-2.0
#pragma once
// Realises tensors for tests with nothing but REF and host memory: makes the call, runs its schedule item by
// item, commits. Every device name is served by the same oracle. Temporaries live in one arena at their
// planned offsets, filled with rubbish first, so that a wrong lifetime shows as a wrong value.

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/runtime/ref/ref_program.h"
#include "src/schedule/call.h"
#include "src/schedule/schedule.h"
#include "src/tensor/host_data.h"
#include "src/tensor/tensor.h"
#include "src/uop/build.h"

namespace understudy {

class HostBytes : public StorageBase {
 public:
  explicit HostBytes(size_t n) : bytes(n, 0xA5) {}
  std::vector<uint8_t> bytes;
};

class MiniEngine {
 public:
  absl::Status Realize(const std::vector<Tensor>& tensors) {
    std::vector<OutputRequest> requests;
    for (const Tensor& t : tensors) {
      US_RETURN_IF_ERROR(t.status());
      requests.push_back({t.uop(), t.device()});
    }
    US_ASSIGN_OR_RETURN(last_call, MakeCall(requests, &realized));
    US_ASSIGN_OR_RETURN(last_schedule, MakeSchedule(last_call, options));
    US_RETURN_IF_ERROR(Run(last_call, last_schedule));
    CommitCall(last_call, &realized);
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor t = tensors[i];
      t.Rebind(last_call.results[i]);
    }
    return absl::OkStatus();
  }

  // Elements as doubles (64-bit integers lose precision: use Raw for them).
  absl::StatusOr<std::vector<double>> Values(const Tensor& t) {
    US_ASSIGN_OR_RETURN(const std::vector<ConstValue> raw, Raw(t));
    std::vector<double> out;
    for (const ConstValue& v : raw)
      out.push_back(std::holds_alternative<double>(v) ? std::get<double>(v)
                                                      : static_cast<double>(std::get<int64_t>(v)));
    return out;
  }

  absl::StatusOr<std::vector<ConstValue>> Raw(const Tensor& t) {
    US_RETURN_IF_ERROR(Realize({t}));
    if (t.numel() == 0) return std::vector<ConstValue>();
    if (const auto c = t.ConstantValue()) return std::vector<ConstValue>(t.numel(), *c);
    const UOp* u = t.uop().get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    US_CHECK(u->op() == Op::kBuffer) << OpName(u->op());
    std::vector<uint8_t>& bytes = Bytes(UOpRef(u));
    const int width = t.dtype().ScalarBytes();
    std::vector<ConstValue> out;
    for (int64_t i = 0; i < t.numel(); ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, &bytes[i * width], width);
      out.push_back(FromBits(t.dtype(), bits));
    }
    return out;
  }

  ScheduleOptions options;
  Call last_call;
  Schedule last_schedule;
  RealizedValues realized;
  int kernels = 0, copies = 0, compiles = 0;

 private:
  std::vector<uint8_t>& Bytes(const UOpRef& buffer) {
    const auto& arg = buffer->arg_as<BufferArg>();
    auto* host = dynamic_cast<HostBytes*>(arg.slot->impl.get());
    if (host == nullptr) {
      auto fresh = std::make_unique<HostBytes>(arg.size * buffer->dtype().ScalarBytes());
      if (auto* data = dynamic_cast<HostData*>(arg.slot->impl.get())) fresh->bytes = data->bytes();
      host = fresh.get();
      arg.slot->impl = std::move(fresh);
    }
    return host->bytes;
  }

  absl::Status Run(const Call& call, const Schedule& s) {
    std::map<std::string, std::vector<uint8_t>> arenas;
    for (const auto& [device, bytes] : s.arena_bytes) arenas[device].assign(bytes, 0xA5);
    const auto place = [&](int slot) -> Allocation {
      if (slot < s.num_params) {
        std::vector<uint8_t>& b = Bytes(call.buffers[slot]);
        return {reinterpret_cast<uint64_t>(b.data()), b.size(), reinterpret_cast<uint64_t>(b.data())};
      }
      const Temporary& t = s.temporaries[slot - s.num_params];
      const auto at = reinterpret_cast<uint64_t>(arenas[t.device].data()) + t.offset;
      return {at, static_cast<size_t>(t.bytes), at};
    };
    for (const int out : call.outputs) Bytes(call.buffers[out]);
    for (const ScheduleItem& item : s.items) {
      if (item.kind == ScheduleItem::Kind::kCopy) {
        const Allocation to = place(item.slots[0]), from = place(item.slots[1]);
        US_CHECK(to.bytes == from.bytes);
        std::memmove(reinterpret_cast<void*>(to.address), reinterpret_cast<void*>(from.address), to.bytes);
        ++copies;
        continue;
      }
      std::unique_ptr<Program>& program = programs_[item.kernel];
      if (program == nullptr) {
        ++compiles;
        US_ASSIGN_OR_RETURN(program, RefProgram::Create(item.kernel));
      }
      std::vector<Allocation> buffers;
      for (const int slot : item.slots) buffers.push_back(place(slot));
      US_ASSIGN_OR_RETURN(const std::vector<int64_t> vars, ValuesOf(item.variables, call.variables));
      US_RETURN_IF_ERROR(static_cast<RefProgram&>(*program).Run(buffers, vars));
      ++kernels;
    }
    return absl::OkStatus();
  }

  absl::flat_hash_map<UOpRef, std::unique_ptr<Program>> programs_;
};

}  // namespace understudy
