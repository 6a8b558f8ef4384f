// SPDX-License-Identifier: Apache-2.0
#pragma once
// The driver of one process: its devices, every live handle, the unified address space, and the execution of
// streams. Entry points (exports.cc) take the lock and call calls::*, which use this; nothing here is thread
// safe without the lock.
//
// Work runs on the calling thread when it is enqueued, unless something before it in stream order waits (an
// event of blocked work, a value in memory), or late; blocked work runs as soon as a later call finds it
// ready. Time is virtual: each stream adds what its work would cost the card.

#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "emu/ptx/check/global_memory.h"
#include "mockgpu/nv/cuda/objects.h"

namespace understudy::mockgpu::nv {

// Handles of one type that are alive, so that stale ones are errors and not crashes.
template <class T>
class Handles {
 public:
  T* Make() {
    auto* t = new T;
    live_.insert(t);
    return t;
  }
  bool Has(const T* t) const { return live_.count(const_cast<T*>(t)) != 0; }
  void Destroy(T* t) {
    live_.erase(t);
    delete t;
  }
  // For objects that something else still looks at: no longer a handle, deleted by the caller.
  void Forget(T* t) { live_.erase(t); }
  const std::unordered_set<T*>& all() const { return live_; }

 private:
  std::unordered_set<T*> live_;
};

class Driver {
 public:
  static Driver& Get();

  std::mutex mutex;
  bool initialized = false;
  bool logging = false;
  // A fault ends the device for the whole process, as a card's driver has it, and not its context alone.
  bool faults_are_final = false;
  // Work waits in its streams until a call waits for it, asks after it or needs its result.
  bool late = false;
  std::vector<std::unique_ptr<Device>> devices;

  Handles<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<Function> functions;
  Handles<Library> libraries;
  Handles<Kernel> kernels;
  Handles<Graph> graphs;
  Handles<GraphExec> execs;
  Handles<MemoryPool> pools;
  Handles<UserObject> user_objects;
  Handles<LinkState> links;
  std::unordered_set<const Node*> nodes;
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<PhysicalMemory>> physical;

  uint64_t NextId() { return ++next_id_; }

  // --- initialisation and the current context ---
  CUresult Initialize();
  // INVALID_DEVICE, NOT_INITIALIZED.
  CUresult FindDevice(int ordinal, Device** out);
  static std::vector<Context*>& Stack();  // of this thread, the current one last
  // The current context. NOT_INITIALIZED, INVALID_CONTEXT, CONTEXT_IS_DESTROYED or its sticky error.
  CUresult Current(Context** out);
  // The same for a context that was given; null is the current one.
  CUresult Check(Context* context, Context** out);
  Context* MakeContext(Device* device, unsigned flags);
  // What is still known of a context that was destroyed while it was current somewhere.
  struct Grave {
    int device = 0;
    unsigned flags = 0;
  };
  // That of the current context, or null when it lives or there is none.
  const Grave* CurrentGrave() const;
  bool IsGrave(const Context* context) const { return graves_.count(context) != 0; }
  void DestroyContext(Context* context);

  // --- memory (memory.cc) ---
  // Puts `bytes` of new memory of `context`'s device into the address space. 0: no room.
  CUresult Allocate(Context* context, uint64_t bytes, RangeKind kind, unsigned flags, Range** out);
  // Memory at a host address, seen by all contexts.
  CUresult AllocateHost(Context* context, uint64_t bytes, RangeKind kind, unsigned flags, Range** out);
  CUresult RegisterHost(Context* context, void* host, uint64_t bytes, unsigned flags);
  CUresult Release(Range* range);
  uint64_t ReserveAddresses(uint64_t bytes, uint64_t alignment);
  // Whether addresses that were given out before hold nothing now.
  bool IsFree(uint64_t va, uint64_t bytes) const;
  Range* AddRange(Range range);  // maps it where it may be accessed
  void RemoveRange(Range* range);
  void MapRange(Context* context, const Range& range);
  bool MayAccess(const Context& context, const Range& range) const;
  emu::Perm PermOf(const Context& context, const Range& range) const;
  // The range that holds the address, or nullptr.
  Range* FindRange(uint64_t address);
  // Host bytes of [address, address + bytes): of the range (or neighbouring virtual ranges' common backing)
  // or, where no range is, the address itself as a host pointer. Null when it runs past the end of a range,
  // or is null, or `device_only` and no device can reach it.
  uint8_t* HostBytes(uint64_t address, uint64_t bytes, bool device_only);
  uint64_t FreeBytes(const Device& device) const;
  std::map<uint64_t, std::unique_ptr<Range>> ranges;
  struct Reservation {
    uint64_t va, bytes;
  };
  std::map<uint64_t, Reservation> reservations;

  // --- streams (stream.cc) ---
  // 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD become streams of the current context.
  CUresult FindStream(CUstream handle, Stream** out);
  Stream* MakeStream(Context* context, unsigned flags, int priority);
  void DestroyStream(Stream* stream);
  // Captures the command or queues it and runs what is ready. INVALIDATED, IMPLICIT.
  CUresult Submit(Stream* stream, Command command, Node** captured = nullptr);
  CUresult Queue(Stream* stream, std::shared_ptr<const Command> command);
  void Pump();
  // Runs until the stream (null: the context) has nothing left. Returns the sticky error.
  CUresult Wait(Context* context, Stream* stream);
  CUresult WaitRecord(Context* context, const EventRecord& record);
  bool Idle(const Context& context) const;
  // NOT_PERMITTED-like errors of calls that synchronise while this thread captures.
  CUresult CheckNotCapturing(Context* context);
  // IMPLICIT, and their captures invalid, when the stream is the legacy one and blocking streams capture.
  CUresult CheckLegacy(const Stream& stream);
  // UNSUPPORTED, and its capture invalid, when the stream captures.
  static CUresult CheckStreamNotCapturing(const Stream& stream);
  std::shared_ptr<EventRecord> Record(Event* event, Stream* stream);
  void Poison(Context* context, CUresult error, const std::string& why);
  void ShowPrinted(Context* context);
  // Runs the caller's function without the lock.
  template <class Fn>
  void Unlocked(Fn&& fn) {
    InCallback() = true;
    mutex.unlock();
    fn();
    mutex.lock();
    InCallback() = false;
  }
  static bool& InCallback();        // of this thread
  static bool& PerThreadDefault();  // of this thread: the call came through a _ptsz or _ptds name
  static int& CaptureMode();        // cuThreadExchangeStreamCaptureMode
  std::vector<std::weak_ptr<Capture>> captures;

  // --- execution of commands (execute.cc) ---
  CUresult Execute(Stream* stream, const Command& command);
  bool Ready(const Command& command);
  CUresult LaunchNow(Stream* stream, const KernelCommand& command);
  CUresult CopyNow(Stream* stream, const CopyCommand& command);
  CUresult MemsetNow(Stream* stream, const MemsetCommand& command);

  // --- messages ---
  void Log(const std::string& line) const;

  emu::ptx::LaunchOptions launch_options;  // threads, seed, checks, from the environment
  emu::ptx::GlobalMemory global_memory;    // with Checks::uninit_global: what was written
  bool TracksMemory() const { return launch_options.checks.uninit_global; }

 private:
  Driver();
  uint64_t next_id_ = 0;
  uint64_t next_sequence_ = 0;
  uint64_t address_begin_ = 0, address_end_ = 0, next_address_ = 0, next_host_ = 0;
  std::list<Stream*> busy_;  // with queued work
  std::map<const Context*, Grave> graves_;
  bool pumping_again_ = false;
  void Drop(Context* context);
  bool MayRun(const Stream& stream) const;
};

// Returns from the caller on an error.
#define US_CUDA_TRY(expression)                                                                  \
  do {                                                                                           \
    if (const CUresult us_result_ = (expression); us_result_ != CUDA_SUCCESS) return us_result_; \
  } while (false)

#define US_CUDA_REQUIRE(condition, error) \
  do {                                    \
    if (!(condition)) return error;       \
  } while (false)

}  // namespace understudy::mockgpu::nv

namespace understudy::mockgpu::nv::calls {
#define CUDA_CALL(symbol, base, since, parameters, ...) CUresult symbol parameters;
#define CUDA_ALIAS(...)
#define CUDA_PER_THREAD(...)
#define CUDA_REFUSED(...)
#include "mockgpu/nv/cuda/entry_points.inc"
#undef CUDA_CALL
#undef CUDA_ALIAS
#undef CUDA_PER_THREAD
#undef CUDA_REFUSED
}  // namespace understudy::mockgpu::nv::calls
