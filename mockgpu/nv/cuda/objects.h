// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the handles of the driver API stand for: devices, contexts, streams, events, memory. Owned by the
// Driver (driver.h), whose lock guards all of it; used by the calls_*.cc files, never by programs.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "emu/memory/address_space.h"
#include "emu/ptx/core/device_heap.h"
#include "emu/ptx/core/launch.h"
#include "mockgpu/nv/cuda/cuda_api.h"
#include "mockgpu/nv/cuda/profiles.h"

namespace understudy::mockgpu::nv {

struct Device;
using Context = CUctx_st;
using Stream = CUstream_st;
using Event = CUevent_st;
using Module = CUmod_st;
using Function = CUfunc_st;
using Library = CUlib_st;
using Kernel = CUkern_st;
using Graph = CUgraph_st;
using Node = CUgraphNode_st;
using GraphExec = CUgraphExec_st;
using MemoryPool = CUmemPoolHandle_st;
using UserObject = CUuserObject_st;
using LinkState = CUlinkState_st;

// Host bytes behind device memory.
class Backing {
 public:
  // Null when the host has no memory. Zeroed; lies at `at` when that is not null and free.
  static std::shared_ptr<Backing> Create(uint64_t bytes, void* at = nullptr);
  // The caller's bytes.
  static std::shared_ptr<Backing> Borrow(void* host, uint64_t bytes);
  ~Backing();
  uint8_t* host = nullptr;
  uint64_t bytes = 0;

 private:
  enum class Kind { kBorrowed, kHeap, kMapped } kind_ = Kind::kBorrowed;
};

// Memory that cuMemCreate makes.
struct PhysicalMemory {
  std::shared_ptr<Backing> backing;
  CUmemAllocationProp prop{};
  Device* device = nullptr;  // null: the host's
  uint64_t bytes = 0;
  int references = 1;
  int handles = 1;  // that cuMemRelease may still be called for
};

enum class RangeKind : uint8_t { kDevice, kHost, kRegistered, kManaged, kPool, kVirtual, kModule };

// A range of the unified address space that memory lies behind.
struct Range {
  uint64_t va = 0, bytes = 0;
  std::shared_ptr<Backing> backing;
  uint64_t backing_offset = 0;
  RangeKind kind = RangeKind::kDevice;
  Device* device = nullptr;    // whose memory it uses; null for the host's
  Context* context = nullptr;  // made in; null for pools and virtual memory, which belong to devices
  unsigned flags = 0;
  uint64_t id = 0;
  bool sync_memops = false;
  MemoryPool* pool = nullptr;
  bool freeing = false;   // cuMemFreeAsync has it in a stream
  bool of_graph = false;  // a graph's node allocated it
  std::shared_ptr<PhysicalMemory> physical;
  std::map<int, int> access;  // kVirtual: device index (-1: host) -> CU_MEM_ACCESS_FLAGS_*
  // cuMemAdvise's and cuMemPrefetchAsync's marks on managed memory.
  bool read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, -1}, prefetched{CU_MEM_LOCATION_TYPE_INVALID, -1};
  std::set<int> accessed_by;

  uint8_t* host(uint64_t address) const { return backing->host + backing_offset + (address - va); }
};

struct Device {
  int index = 0;
  const Profile* profile = nullptr;
  uint64_t used_bytes = 0;
  CUresult error = CUDA_SUCCESS;  // of a fault that is final
  // The primary context.
  Context* primary = nullptr;
  int primary_references = 0;
  unsigned primary_flags = 0;
  MemoryPool* default_pool = nullptr;
  MemoryPool* current_pool = nullptr;
  uint64_t graph_memory = 0, graph_memory_high = 0;

  int Attribute(CUdevice_attribute a) const { return profile->Attribute(a); }
};

// One cuEventRecord, shared by the event and who waits for it.
struct EventRecord {
  bool done = false;
  uint64_t time_ns = 0;
  Context* context = nullptr;
};

// --- what streams and graphs execute ---

struct KernelCommand {
  Function* function = nullptr;
  emu::ptx::LaunchConfig config;
  std::map<int, CUlaunchAttributeValue> attributes;  // as given
};
struct CopyCommand {
  CUDA_MEMCPY3D_PEER copy{};
  std::vector<uint8_t> staged;  // pageable host source, taken when the call was made
};
struct MemsetCommand {
  CUDA_MEMSET_NODE_PARAMS set{};
};
struct HostCommand {
  CUhostFn function = nullptr;
  void* data = nullptr;
  CUstreamCallback callback = nullptr;  // instead of `function`
  Stream* callback_stream = nullptr;
};
struct RecordCommand {
  Event* event = nullptr;
  std::shared_ptr<EventRecord> record;  // null in graphs: made at launch
};
struct WaitCommand {
  Event* event = nullptr;
  std::shared_ptr<EventRecord> record;
};
struct ChildCommand {
  Graph* graph = nullptr;  // owned by the node
};
struct EmptyCommand {};
struct AllocCommand {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
};
struct FreeCommand {
  CUdeviceptr address = 0;
};
struct ValueCommand {
  CUstreamBatchMemOpParams op{};
};
struct CallCommand {  // of the driver's own
  std::function<void()> call;
};
using Command =
    std::variant<EmptyCommand, KernelCommand, CopyCommand, MemsetCommand, HostCommand, RecordCommand,
                 WaitCommand, ChildCommand, AllocCommand, FreeCommand, ValueCommand, CallCommand>;

struct QueuedCommand {
  uint64_t sequence = 0;
  std::shared_ptr<const Command> command;
};

// One capture: all streams that have joined it share it.
struct Capture {
  Graph* graph = nullptr;
  bool owns_graph = true;  // false: cuStreamBeginCaptureToGraph
  Stream* origin = nullptr;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool invalidated = false;
  uint64_t id = 0;
  std::set<Stream*> streams;
};

struct GraphEdge {
  Node* from = nullptr;
  Node* to = nullptr;
  CUgraphEdgeData data{};
};

struct DriverLinks;  // keeps the objects above findable

}  // namespace understudy::mockgpu::nv

struct CUctx_st {
  understudy::mockgpu::nv::Device* device = nullptr;
  unsigned flags = 0;
  bool primary = false, destroyed = false;
  uint64_t id = 0;
  unsigned api_version = 0;
  int attached = 1;               // cuCtxAttach
  CUresult error = CUDA_SUCCESS;  // sticky
  understudy::emu::AddressSpace space;
  std::map<int, size_t> limits;
  int cache_config = 0, shared_config = 0;
  std::set<CUctx_st*> peers;  // whose memory kernels of this context may access
  std::set<CUctx_st*> mapped_peers;
  CUstream_st* legacy = nullptr;
  std::map<std::thread::id, CUstream_st*> per_thread;
  std::set<CUstream_st*> streams;         // all, with the two kinds above
  understudy::emu::ptx::DeviceHeap heap;  // made when a kernel first needs it
  uint64_t launches = 0;                  // of kernels so far: %gridid
  std::string printed;                    // by kernels, shown at the next synchronisation
};

struct CUstream_st {
  CUctx_st* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  bool legacy = false, per_thread = false;
  uint64_t time_ns = 0;  // when the work done so far ended
  bool running = false, destroyed = false;
  std::deque<understudy::mockgpu::nv::QueuedCommand> queue;
  std::map<int, CUlaunchAttributeValue> attributes;
  std::shared_ptr<understudy::mockgpu::nv::Capture> capture;
  std::vector<CUgraphNode_st*> capture_after;  // what the next captured node depends on
  bool blocking() const { return !legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct CUevent_st {
  CUctx_st* context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<understudy::mockgpu::nv::EventRecord> record;  // null: never recorded
  // The last record was in a capture.
  std::shared_ptr<understudy::mockgpu::nv::Capture> capture;
  std::vector<CUgraphNode_st*> capture_after;
};

struct CUmemPoolHandle_st {
  CUmemPoolProps props{};
  understudy::mockgpu::nv::Device* device = nullptr;
  uint64_t release_threshold = 0, used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  int reuse[4] = {0, 1, 1, 1};
  std::map<int, int> access;  // device -> flags
  bool is_default = false;
};

struct CUuserObject_st {
  CUhostFn destroy = nullptr;
  void* data = nullptr;
  int64_t references = 0;
};

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  uint64_t id = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  understudy::mockgpu::nv::Command command;
  std::map<int, CUlaunchAttributeValue> attributes;
  CUcontext context = nullptr;
  // Storage behind GetParams' kernelParams.
  std::vector<void*> param_pointers;
  const CUgraphNode_st* cloned_from = nullptr;
  bool enabled = true;
};

struct CUgraph_st {
  uint64_t id = 0;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order of making
  std::vector<understudy::mockgpu::nv::GraphEdge> edges;
  std::map<CUuserObject_st*, int64_t> user_objects;
  const CUgraph_st* cloned_from = nullptr;
  bool child = false;  // owned by a node
  ~CUgraph_st();
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;                                  // a clone
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> clones;  // of the original's nodes, by address
  std::vector<CUgraphNode_st*> order;
  unsigned long long flags = 0;
};
