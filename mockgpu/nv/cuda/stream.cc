// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>

#include "mockgpu/nv/cuda/driver.h"
#include "mockgpu/nv/cuda/graph.h"

namespace understudy::mockgpu::nv {

CUresult Driver::FindStream(CUstream handle, Stream** out) {
  if (handle == nullptr) handle = PerThreadDefault() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    Context* context = nullptr;
    US_CUDA_TRY(Current(&context));
    if (handle == CU_STREAM_LEGACY) {
      *out = context->legacy;
      return CUDA_SUCCESS;
    }
    Stream*& mine = context->per_thread[std::this_thread::get_id()];
    if (mine == nullptr) {
      mine = MakeStream(context, CU_STREAM_DEFAULT, 0);
      mine->per_thread = true;
    }
    *out = mine;
    return CUDA_SUCCESS;
  }
  US_CUDA_REQUIRE(initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(streams.Has(handle), CUDA_ERROR_INVALID_HANDLE);
  *out = handle;
  return handle->context->error;
}

Stream* Driver::MakeStream(Context* context, unsigned flags, int priority) {
  Stream* const stream = streams.Make();
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = NextId();
  context->streams.insert(stream);
  return stream;
}

void Driver::DestroyStream(Stream* stream) {
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    stream->capture->streams.erase(stream);
    if (stream->capture->origin == stream && stream->capture->owns_graph) {
      graphs.Destroy(stream->capture->graph);
      stream->capture->graph = nullptr;
    }
  }
  stream->context->streams.erase(stream);
  busy_.remove(stream);
  streams.Destroy(stream);
}

bool Driver::Idle(const Context& context) const {
  for (const Stream* stream : context.streams)
    if (!stream->queue.empty()) return false;
  return true;
}

void Driver::Drop(Context* context) {
  for (Stream* stream : context->streams) {
    for (const QueuedCommand& queued : stream->queue)
      if (const auto* record = std::get_if<RecordCommand>(queued.command.get())) record->record->done = true;
    if (!stream->running) {
      stream->queue.clear();
    } else {
      stream->queue.erase(stream->queue.begin() + 1, stream->queue.end());
    }
  }
  busy_.remove_if([&](Stream* s) { return s->context == context && s->queue.empty(); });
}

CUresult Driver::CheckNotCapturing(Context*) {
  captures.erase(std::remove_if(captures.begin(), captures.end(),
                                [](const std::weak_ptr<Capture>& c) {
                                  return c.expired() || c.lock()->streams.empty();
                                }),
                 captures.end());
  if (captures.empty() || CaptureMode() == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  for (const std::weak_ptr<Capture>& weak : captures) {
    const std::shared_ptr<Capture> capture = weak.lock();
    const bool mine = capture->thread == std::this_thread::get_id();
    const bool forbids = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL
                             ? mine || CaptureMode() == CU_STREAM_CAPTURE_MODE_GLOBAL
                             : capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && mine;
    if (!forbids) continue;
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult Driver::CheckLegacy(const Stream& stream) {
  CUresult result = CUDA_SUCCESS;
  if (!stream.legacy) return result;
  for (const Stream* other : stream.context->streams) {
    if (other->capture == nullptr || !other->blocking()) continue;
    other->capture->invalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

CUresult Driver::CheckStreamNotCapturing(const Stream& stream) {
  if (stream.capture == nullptr) return CUDA_SUCCESS;
  stream.capture->invalidated = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult Driver::Submit(Stream* stream, Command command, Node** captured) {
  if (captured != nullptr) *captured = nullptr;
  if (stream->capture != nullptr) {
    US_CUDA_REQUIRE(!stream->capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    Node* const node = AddNode(stream->capture->graph, std::move(command), stream->context);
    for (Node* before : stream->capture_after) AddEdge(stream->capture->graph, before, node, {});
    stream->capture_after = {node};
    if (captured != nullptr) *captured = node;
    return CUDA_SUCCESS;
  }
  US_CUDA_TRY(CheckLegacy(*stream));
  return Queue(stream, std::make_shared<const Command>(std::move(command)));
}

CUresult Driver::Queue(Stream* stream, std::shared_ptr<const Command> command) {
  if (stream->queue.empty()) busy_.push_back(stream);
  stream->queue.push_back({++next_sequence_, std::move(command)});
  if (!late) Pump();
  return CUDA_SUCCESS;
}

bool Driver::MayRun(const Stream& stream) const {
  if (stream.running || stream.queue.empty()) return false;
  const uint64_t sequence = stream.queue.front().sequence;
  if (stream.legacy) {
    for (const Stream* other : stream.context->streams)
      if (other->blocking() && !other->queue.empty() && other->queue.front().sequence < sequence)
        return false;
  } else if (stream.blocking()) {
    const Stream& legacy = *stream.context->legacy;
    if (!legacy.queue.empty() && legacy.queue.front().sequence < sequence) return false;
  }
  return true;
}

void Driver::Pump() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (Stream* stream : busy_) {
      if (!MayRun(*stream)) continue;
      const std::shared_ptr<const Command> command = stream->queue.front().command;
      if (!Ready(*command)) continue;
      if (stream->legacy) {
        for (const Stream* other : stream->context->streams)
          if (other->blocking()) stream->time_ns = std::max(stream->time_ns, other->time_ns);
      } else if (stream->blocking()) {
        stream->time_ns = std::max(stream->time_ns, stream->context->legacy->time_ns);
      }
      stream->running = true;
      const CUresult result = Execute(stream, *command);
      stream->running = false;
      if (!stream->queue.empty()) stream->queue.pop_front();
      if (result != CUDA_SUCCESS) Poison(stream->context, result, "work failed");
      if (stream->queue.empty()) {
        busy_.remove(stream);
        if (stream->destroyed) DestroyStream(stream);
      }
      // The lists may have changed: look again from the start.
      progress = true;
      break;
    }
  }
}

namespace {

// Other threads, or memory that the host writes, may let the work go on.
class Patience {
 public:
  void Pause(std::mutex& mutex) {
    mutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(wait_));
    wait_ = std::min(wait_ * 2, 1000);
    mutex.lock();
  }

 private:
  int wait_ = 10;
};

}  // namespace

CUresult Driver::Wait(Context* context, Stream* stream) {
  Patience patience;
  while (true) {
    Pump();
    if (!contexts.Has(context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (stream != nullptr && !streams.Has(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (context->error != CUDA_SUCCESS) break;
    if (stream != nullptr ? stream->queue.empty() : Idle(*context)) break;
    patience.Pause(mutex);
  }
  ShowPrinted(context);
  return context->error;
}

CUresult Driver::WaitRecord(Context* context, const EventRecord& record) {
  Patience patience;
  while (true) {
    Pump();
    if (!contexts.Has(context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->error != CUDA_SUCCESS || record.done) break;
    patience.Pause(mutex);
  }
  ShowPrinted(context);
  return context->error;
}

std::shared_ptr<EventRecord> Driver::Record(Event* event, Stream* stream) {
  auto record = std::make_shared<EventRecord>();
  record->context = stream->context;
  event->record = record;
  event->capture.reset();
  event->capture_after.clear();
  return record;
}

}  // namespace understudy::mockgpu::nv
