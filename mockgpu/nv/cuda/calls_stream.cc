// SPDX-License-Identifier: Apache-2.0
// Streams, events, host functions, waits on values in memory.
#include <algorithm>

#include "mockgpu/nv/cuda/driver.h"
#include "mockgpu/nv/cuda/graph.h"

namespace understudy::mockgpu::nv::calls {
namespace {

Driver& D() { return Driver::Get(); }

CUresult FindEvent(CUevent handle, Event** out) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(D().events.Has(handle), CUDA_ERROR_INVALID_HANDLE);
  *out = handle;
  return handle->context->error;
}

CUresult Values(CUstream handle, unsigned count, const CUstreamBatchMemOpParams* ops) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(ops != nullptr && count <= 255, CUDA_ERROR_INVALID_VALUE);
  // All are checked before the first is queued.
  for (unsigned i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& op = ops[i];
    switch (op.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
        const bool is64 =
            op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        const uint64_t bytes = is64 ? 8 : 4;
        const bool waits =
            op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        US_CUDA_REQUIRE(waits || op.writeValue.flags == 0, CUDA_ERROR_INVALID_VALUE);
        if (waits) {
          US_CUDA_REQUIRE(
              (op.waitValue.flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH}) <= CU_STREAM_WAIT_VALUE_NOR,
              CUDA_ERROR_INVALID_VALUE);
          US_CUDA_REQUIRE((op.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
        }
        US_CUDA_REQUIRE(op.waitValue.address % bytes == 0 && D().FindRange(op.waitValue.address) != nullptr &&
                            D().HostBytes(op.waitValue.address, bytes, true) != nullptr,
                        CUDA_ERROR_INVALID_VALUE);
        break;
      }
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
      case CU_STREAM_MEM_OP_BARRIER:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (unsigned i = 0; i < count; ++i) US_CUDA_TRY(D().Submit(stream, ValueCommand{ops[i]}));
  return CUDA_SUCCESS;
}

CUresult OneValue(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, uint64_t value,
                  unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.waitValue.operation = type;
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = flags;
  return Values(stream, 1, &op);
}

}  // namespace

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr && flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
  // Out of range is clamped to the range of cuCtxGetStreamPriorityRange.
  *out = D().MakeStream(context, flags, std::clamp(priority, -5, 0));
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* out, unsigned int flags) {
  return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  US_CUDA_REQUIRE(handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD,
                  CUDA_ERROR_INVALID_HANDLE);
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(!stream->legacy && !stream->per_thread, CUDA_ERROR_INVALID_HANDLE);
  // What it has been given is done all the same, later.
  if (stream->queue.empty()) {
    D().DestroyStream(stream);
  } else {
    stream->destroyed = true;
    D().streams.Forget(stream);
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(priority != nullptr, CUDA_ERROR_INVALID_VALUE);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  *flags = stream->flags;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(id != nullptr, CUDA_ERROR_INVALID_VALUE);
  *id = stream->id;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream handle, CUcontext* out) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = stream->context;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(handle, out);
}
CUresult cuStreamGetDevice(CUstream handle, CUdevice* out) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = stream->context->device->index;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  *value = {};
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    value->priority = stream->priority;
    return CUDA_SUCCESS;
  }
  const auto it = stream->attributes.find(attribute);
  if (it != stream->attributes.end()) {
    *value = it->second;
    return CUDA_SUCCESS;
  }
  // Until it is set, the policy is none of the enumeration's.
  if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) value->syncPolicy = -1;
  const bool known = attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
                     attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
                     attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
                     attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUstreamAttrValue before;
  US_CUDA_TRY(cuStreamGetAttribute(handle, attribute, &before));
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      US_CUDA_REQUIRE(
          value->syncPolicy >= CU_SYNC_POLICY_AUTO && value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC,
          CUDA_ERROR_INVALID_VALUE);
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      US_CUDA_REQUIRE(value->memSyncDomain == 0 || value->memSyncDomain == 1, CUDA_ERROR_INVALID_VALUE);
      break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: {
      const CUaccessPolicyWindow& w = value->accessPolicyWindow;
      const auto most = static_cast<size_t>(
          stream->context->device->Attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE));
      US_CUDA_REQUIRE(w.num_bytes <= most && w.hitRatio >= 0 && w.hitRatio <= 1, CUDA_ERROR_INVALID_VALUE);
      break;
    }
    default:
      break;
  }
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    stream->priority = std::clamp(value->priority, -5, 0);
  else
    stream->attributes[attribute] = *value;
  return CUDA_SUCCESS;
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  Stream *dst = nullptr, *src = nullptr;
  US_CUDA_TRY(D().FindStream(to, &dst));
  US_CUDA_TRY(D().FindStream(from, &src));
  dst->attributes = src->attributes;
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_TRY(D().CheckLegacy(*stream));
  US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  US_CUDA_TRY(D().CheckNotCapturing(stream->context));
  D().Pump();
  US_CUDA_TRY(stream->context->error);
  return stream->queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_TRY(D().CheckLegacy(*stream));
  US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  US_CUDA_TRY(D().CheckNotCapturing(stream->context));
  Context* const context = stream->context;
  // The legacy stream is done when all that it waits for is.
  if (stream->legacy) {
    const std::vector<Stream*> all(context->streams.begin(), context->streams.end());
    for (Stream* other : all)
      if (D().streams.Has(other) && other->blocking() && !other->queue.empty())
        US_CUDA_TRY(D().Wait(context, other));
  }
  return D().Wait(context, stream);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  Event* event = nullptr;
  US_CUDA_REQUIRE(D().events.Has(event_handle), CUDA_ERROR_INVALID_HANDLE);
  event = event_handle;
  US_CUDA_REQUIRE(flags <= CU_EVENT_WAIT_EXTERNAL, CUDA_ERROR_INVALID_VALUE);
  if (event->capture != nullptr) {
    // The stream joins the event's capture.
    Capture& capture = *event->capture;
    US_CUDA_REQUIRE(capture.graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (stream->legacy) {
      capture.invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (stream->capture == nullptr) {
      stream->capture = event->capture;
      stream->capture_after.clear();
      capture.streams.insert(stream);
    } else if (stream->capture != event->capture) {
      stream->capture->invalidated = capture.invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    for (Node* node : event->capture_after)
      if (std::find(stream->capture_after.begin(), stream->capture_after.end(), node) ==
          stream->capture_after.end())
        stream->capture_after.push_back(node);
    return CUDA_SUCCESS;
  }
  if (stream->capture != nullptr) {
    if (flags == CU_EVENT_WAIT_EXTERNAL) return D().Submit(stream, WaitCommand{event, nullptr});
    // Work outside the capture cannot be waited for within.
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_ILLEGAL_STATE);
  if (event->record == nullptr) return CUDA_SUCCESS;
  return D().Submit(stream, WaitCommand{event, event->record});
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  return D().Submit(stream, HostCommand{nullptr, data, callback, handle});
}
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(function != nullptr, CUDA_ERROR_INVALID_VALUE);
  return D().Submit(stream, HostCommand{function, data, nullptr, nullptr});
}
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes, unsigned int flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  const Range* range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr && range->kind == RangeKind::kManaged &&
                      (bytes == 0 || bytes == range->bytes) &&
                      (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                       (flags == CU_MEM_ATTACH_SINGLE && !stream->legacy)),
                  CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32_v2(CUstream s, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return OneValue(s, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream s, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return OneValue(s, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream s, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return OneValue(s, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream s, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return OneValue(s, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream s, unsigned int count, CUstreamBatchMemOpParams* ops,
                               unsigned int flags) {
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return Values(s, count, ops);
}
CUresult cuStreamBatchMemOp(CUstream s, unsigned int count, CUstreamBatchMemOpParams* ops,
                            unsigned int flags) {
  return cuStreamBatchMemOp_v2(s, count, ops, flags);
}

// --- events ---

CUresult cuEventCreate(CUevent* out, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr && (flags & ~7u) == 0, CUDA_ERROR_INVALID_VALUE);
  // An event for other processes needs its timing off, and is refused with the calls that share it.
  US_CUDA_REQUIRE((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0,
                  CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE((flags & CU_EVENT_INTERPROCESS) == 0, CUDA_ERROR_NOT_SUPPORTED);
  *out = D().events.Make();
  (*out)->context = context;
  (*out)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned int flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(stream_handle, &stream));
  Event* event = nullptr;
  US_CUDA_TRY(FindEvent(handle, &event));
  US_CUDA_REQUIRE(flags <= CU_EVENT_RECORD_EXTERNAL, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(stream->context == event->context, CUDA_ERROR_INVALID_HANDLE);
  if (stream->capture != nullptr) {
    US_CUDA_REQUIRE(!stream->capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (flags == CU_EVENT_RECORD_EXTERNAL) return D().Submit(stream, RecordCommand{event, nullptr});
    event->capture = stream->capture;
    event->capture_after = stream->capture_after;
    return CUDA_SUCCESS;
  }
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_ILLEGAL_STATE);
  auto record = D().Record(event, stream);
  return D().Submit(stream, RecordCommand{event, std::move(record)});
}
CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

namespace {

// An event of a capture says nothing; asking spoils the capture, if that still goes on.
CUresult CheckNotCaptured(const Event& event) {
  if (event.capture == nullptr) return CUDA_SUCCESS;
  if (event.capture->graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  event.capture->invalidated = true;
  return CUDA_ERROR_CAPTURED_EVENT;
}

}  // namespace

CUresult cuEventQuery(CUevent handle) {
  Event* event = nullptr;
  US_CUDA_TRY(FindEvent(handle, &event));
  US_CUDA_TRY(CheckNotCaptured(*event));
  US_CUDA_TRY(D().CheckNotCapturing(event->context));
  D().Pump();
  US_CUDA_TRY(event->context->error);
  return event->record == nullptr || event->record->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  Event* event = nullptr;
  US_CUDA_TRY(FindEvent(handle, &event));
  US_CUDA_TRY(CheckNotCaptured(*event));
  US_CUDA_TRY(D().CheckNotCapturing(event->context));
  if (event->record == nullptr) return CUDA_SUCCESS;
  const std::shared_ptr<EventRecord> record = event->record;
  return D().WaitRecord(record->context, *record);
}

CUresult cuEventElapsedTime_v2(float* ms, CUevent start, CUevent end) {
  Event *a = nullptr, *b = nullptr;
  US_CUDA_TRY(FindEvent(start, &a));
  US_CUDA_TRY(FindEvent(end, &b));
  for (const Event* event : {a, b})
    US_CUDA_REQUIRE(event->capture == nullptr || event->capture->graph == nullptr, CUDA_ERROR_CAPTURED_EVENT);
  US_CUDA_REQUIRE(ms != nullptr && a->context == b->context, CUDA_ERROR_INVALID_HANDLE);
  US_CUDA_REQUIRE(
      a->record != nullptr && b->record != nullptr && ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING) == 0,
      CUDA_ERROR_INVALID_HANDLE);
  D().Pump();
  US_CUDA_REQUIRE(a->record->done && b->record->done, CUDA_ERROR_NOT_READY);
  const auto ns = static_cast<int64_t>(b->record->time_ns - a->record->time_ns);
  *ms = static_cast<float>(static_cast<double>(ns) / 1e6);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  US_CUDA_REQUIRE(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  Event* event = nullptr;
  const CUresult result = FindEvent(handle, &event);
  if (event != nullptr) D().events.Destroy(event);
  return result;
}

}  // namespace understudy::mockgpu::nv::calls
