// SPDX-License-Identifier: Apache-2.0
// Opening and closing a GPU, its memory and its code. Queues and faults: gpu_submit.cc; launches:
// gpu_launch.cc.
#include "src/runtime/amd/gpu.h"

#include <fcntl.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

constexpr uint64_t kSramEcc = 0x04000000;  // HSA_CAP_SRAM_EDCSUPPORTED, linux/kfd_sysfs.h

}  // namespace

absl::StatusOr<LoadedKernel> LoadedCode::Kernel(const std::string& name) const {
  US_ASSIGN_OR_RETURN(const KernelSymbol* symbol, object_.FindKernel(name));
  return LoadedKernel{symbol, memory_.va + symbol->entry_address};
}

absl::StatusOr<uint64_t> LoadedCode::SymbolAddress(const std::string& name) const {
  const auto it = object_.symbols().find(name);
  if (it == object_.symbols().end())
    return absl::NotFoundError(absl::StrCat("no symbol '", name, "' in the code object"));
  return memory_.va + it->second.address;
}

absl::StatusOr<std::unique_ptr<AmdGpu>> AmdGpu::Open(os::Syscalls& sys, int index,
                                                     const GpuOptions& options) {
  for (const size_t bytes : {options.kernarg_bytes, options.staging_bytes}) {
    if (bytes < 65536 || bytes % GpuMemory::kPage != 0) {
      return absl::InvalidArgumentError(absl::StrCat("kernarg or staging memory of ", bytes,
                                                     " bytes, expected whole pages, 65536 at least"));
    }
  }
  std::unique_ptr<AmdGpu> gpu(new AmdGpu(sys, options));
  if (absl::Status s = gpu->Init(index); !s.ok()) {
    return absl::Status(s.code(), absl::StrCat("opening AMD GPU ", index, ": ", std::string(s.message())));
  }
  return gpu;
}

absl::Status AmdGpu::Init(int index) {
  US_ASSIGN_OR_RETURN(kfd_, Kfd::Open(sys_));
  US_ASSIGN_OR_RETURN(const auto version, kfd_->GetVersion());
  // ALLOC_MEMORY_OF_GPU and ACQUIRE_VM are older than 1.1; what we read of events is 1.1's.
  if (version.major_version != 1 || version.minor_version < 1) {
    return absl::UnimplementedError(absl::StrCat("kernel driver interface ", version.major_version, ".",
                                                 version.minor_version, ", expected 1.1 or a later 1.x"));
  }
  US_ASSIGN_OR_RETURN(std::vector<GpuNode> nodes, ReadTopology(sys_));
  if (index < 0 || static_cast<size_t>(index) >= nodes.size()) {
    return absl::NotFoundError(absl::StrCat("the topology has ", nodes.size(), " GPUs"));
  }
  node_ = std::move(nodes[index]);
  US_ASSIGN_OR_RETURN(generation_, GenerationOf(node_));
  render_fd_ = sys_.Open(node_.render_path(), O_RDWR | O_CLOEXEC);
  if (render_fd_ < 0)
    return os::ErrnoStatus(std::exchange(render_fd_, -1), absl::StrCat("open ", node_.render_path()));
  if (absl::Status s = kfd_->AcquireVm(node_.gpu_id, render_fd_); !s.ok()) {
    return absl::Status(
        s.code(), absl::StrCat(std::string(s.message()), "; the kernel lets a GPU be opened once a process"));
  }
  US_ASSIGN_OR_RETURN(const auto apertures, kfd_->GetApertures(node_.gpu_id));
  apertures_ = {pm4::Hi(apertures.scratch_base), pm4::Hi(apertures.lds_base)};

  memory_ = std::make_unique<GpuMemory>(*kfd_, render_fd_, node_.gpu_id);
  const auto gtt = [&](size_t bytes, const char* label) {
    return memory_->Allocate(bytes, MemoryKind::kGtt, {true, false, label});
  };
  US_ASSIGN_OR_RETURN(signals_, gtt(GpuMemory::kPage, "timeline signals"));
  US_ASSIGN_OR_RETURN(kernarg_, gtt(options_.kernarg_bytes, "kernel arguments"));
  US_ASSIGN_OR_RETURN(staging_, gtt(options_.staging_bytes, "copy staging"));
  kernarg_ring_ = RingAllocator(kernarg_.size);
  staging_ring_ = RingAllocator(staging_.size);
  // Apart by a cache line: two engines write them.
  for (const auto& [timeline, offset] : {std::pair{&compute_timeline_, 0}, std::pair{&sdma_timeline_, 64}}) {
    timeline->host = reinterpret_cast<volatile uint64_t*>(signals_.host + offset);
    timeline->va = signals_.va + offset;
    timeline->last = options_.first_timeline;
    *timeline->host = options_.first_timeline;
  }
  compute_saw_sdma_ = sdma_saw_compute_ = options_.first_timeline;
  US_RETURN_IF_ERROR(CreateEvents());
  return CreateQueues();
}

namespace {

// The kernel takes one page of events a process, from the GPU that is opened first; the others map it.
struct EventPages {
  struct Page {
    uint64_t handle = 0, va = 0;
    int users = 0;
  };
  std::mutex mutex;
  std::map<os::Syscalls*, Page> pages;  // guarded by mutex; by machine
};
EventPages& SharedEventPages() {
  static EventPages* const pages = new EventPages;
  return *pages;
}

}  // namespace

absl::Status AmdGpu::CreateEvents() {
  EventPages& shared = SharedEventPages();
  std::lock_guard lock(shared.mutex);
  EventPages::Page& page = shared.pages[&sys_];
  uint64_t page_handle = 0;
  if (page.users == 0) {
    // 4096 slots of 8 bytes: the page in which the kernel looks for signalled events
    // (KFD_SIGNAL_EVENT_LIMIT).
    US_ASSIGN_OR_RETURN(event_page_, memory_->Allocate(KFD_SIGNAL_EVENT_LIMIT * 8, MemoryKind::kGtt,
                                                       {true, false, "event page"}));
    page_handle = event_page_.handle;
    page = {page_handle, event_page_.va, 0};
  } else {
    US_RETURN_IF_ERROR(kfd_->MapMemory(page.handle, node_.gpu_id));
    shared_event_page_ = page.handle;
  }
  ++page.users;
  counted_event_page_ = true;
  for (const uint32_t type : {KFD_IOC_EVENT_SIGNAL, KFD_IOC_EVENT_MEMORY, KFD_IOC_EVENT_HW_EXCEPTION}) {
    US_ASSIGN_OR_RETURN(const auto event, kfd_->CreateEvent(type, 0, page_handle));
    event_page_taken_ |= page_handle != 0;
    page_handle = 0;
    kfd_event_data data = {};
    data.event_id = event.event_id;
    events_.push_back(data);
    if (type == KFD_IOC_EVENT_SIGNAL) {
      if (event.event_slot_index >= KFD_SIGNAL_EVENT_LIMIT) {
        return absl::InternalError(absl::StrCat("ioctl AMDKFD_IOC_CREATE_EVENT: slot ",
                                                event.event_slot_index, ", expected below ",
                                                KFD_SIGNAL_EVENT_LIMIT));
      }
      mailbox_va_ = page.va + event.event_slot_index * 8;
    }
  }
  return absl::OkStatus();
}

absl::Status AmdGpu::CreateQueues() {
  US_ASSIGN_OR_RETURN(compute_, HwQueue::Create(*kfd_, *memory_, node_, generation_, QueueKind::kCompute,
                                                options_.compute_ring_bytes));
  US_ASSIGN_OR_RETURN(sdma_, HwQueue::Create(*kfd_, *memory_, node_, generation_, QueueKind::kSdma,
                                             options_.sdma_ring_bytes));
  return absl::OkStatus();
}

AmdGpu::~AmdGpu() { Close().IgnoreError(); }

absl::Status AmdGpu::Close() {
  std::lock_guard lock(mutex_);
  return CloseLocked();
}

absl::Status AmdGpu::CloseLocked() {
  absl::Status status;
  if (compute_ != nullptr && sdma_ != nullptr && !fault_) status.Update(WaitAll());
  for (std::unique_ptr<HwQueue>* queue : {&compute_, &sdma_}) {
    if (*queue != nullptr) status.Update((*queue)->Close());
    queue->reset();
  }
  for (const kfd_event_data& event : events_) status.Update(kfd_->DestroyEvent(event.event_id));
  events_.clear();
  if (shared_event_page_ != 0)
    status.Update(kfd_->UnmapMemory(std::exchange(shared_event_page_, 0), node_.gpu_id));
  if (std::exchange(counted_event_page_, false)) {
    EventPages& shared = SharedEventPages();
    std::lock_guard lock(shared.mutex);
    if (--shared.pages[&sys_].users == 0) shared.pages.erase(&sys_);
  }
  // The kernel refuses to free the page of events (EPERM, kfd_ioctl_free_memory_of_gpu).
  if (event_page_taken_) status.Update(memory_->Abandon(event_page_));
  event_page_taken_ = false;
  if (memory_ != nullptr) status.Update(memory_->FreeAll());
  memory_.reset();
  codes_.clear();
  freed_.clear();
  if (render_fd_ >= 0) {
    if (const int rc = sys_.Close(render_fd_); rc < 0)
      status.Update(os::ErrnoStatus(rc, "close render node"));
  }
  render_fd_ = -1;
  kfd_.reset();
  return status;
}

absl::Status AmdGpu::CheckUsable() const {
  if (memory_ == nullptr) return absl::FailedPreconditionError("the AMD GPU is closed");
  if (fault_) return FaultStatus();
  return absl::OkStatus();
}

absl::StatusOr<GpuBuffer> AmdGpu::Allocate(size_t bytes, MemoryKind kind, const MemoryOptions& options) {
  std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return absl::FailedPreconditionError("the AMD GPU is closed");
  const size_t size = AlignUp(bytes, GpuMemory::kPage);
  if (kind == MemoryKind::kVram) {
    // Work runs in order, so memory that earlier work still uses may be handed out again at once.
    for (auto it = freed_.begin(); it != freed_.end(); ++it) {
      if (!it->reusable || it->buffer.size != size || it->options.writable != options.writable ||
          it->options.executable != options.executable) {
        continue;
      }
      const GpuBuffer buffer = it->buffer;
      freed_bytes_ -= buffer.size;
      freed_.erase(it);
      options_of_[buffer.va] = options;
      memory_->Relabel(buffer.va, options.label);
      ++stats_.cache_hits;
      return buffer;
    }
  }
  absl::StatusOr<GpuBuffer> buffer = memory_->Allocate(bytes, kind, options);
  if (absl::IsResourceExhausted(buffer.status()) && !freed_.empty() && !fault_) {
    US_RETURN_IF_ERROR(WaitAll());
    US_RETURN_IF_ERROR(ReapFreed(0));
    buffer = memory_->Allocate(bytes, kind, options);
  }
  if (buffer.ok()) options_of_[buffer->va] = options;
  return buffer;
}

absl::StatusOr<GpuBuffer> AmdGpu::MapHost(void* host, size_t bytes, const MemoryOptions& options) {
  std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return absl::FailedPreconditionError("the AMD GPU is closed");
  US_ASSIGN_OR_RETURN(const GpuBuffer buffer, memory_->MapHost(host, bytes, options));
  options_of_[buffer.va] = options;
  return buffer;
}

absl::Status AmdGpu::Free(const GpuBuffer& buffer) {
  std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return absl::OkStatus();  // went with the device
  const auto it = options_of_.find(buffer.va);
  if (it == options_of_.end()) {
    return absl::InvalidArgumentError(absl::StrFormat("freeing 0x%x, which is not allocated", buffer.va));
  }
  const MemoryOptions options = it->second;
  options_of_.erase(it);
  if (buffer.kind == MemoryKind::kUserptr && !fault_) {
    // The caller's pages: they may vanish as soon as this returns.
    absl::Status status = WaitAll();
    status.Update(memory_->Free(buffer));
    return status;
  }
  Defer(buffer, options, buffer.kind == MemoryKind::kVram);
  return ReapFreed(options_.cache_limit);
}

void AmdGpu::Defer(const GpuBuffer& buffer, const MemoryOptions& options, bool reusable) {
  memory_->Relabel(buffer.va, absl::StrCat(options.label, " (freed)"));
  freed_.push_back({buffer, options, reusable, compute_timeline_.last, sdma_timeline_.last});
  freed_bytes_ += buffer.size;
}

// Gives the oldest freed memory back: what cannot be reused at once, the rest above `keep_bytes`.
absl::Status AmdGpu::ReapFreed(uint64_t keep_bytes) {
  absl::Status status;
  for (auto it = freed_.begin(); it != freed_.end();) {
    const bool idle = compute_timeline_.Read() >= it->compute && sdma_timeline_.Read() >= it->sdma;
    if (!idle || (it->reusable && freed_bytes_ <= keep_bytes)) {
      ++it;
      continue;
    }
    freed_bytes_ -= it->buffer.size;
    status.Update(memory_->Free(it->buffer));
    it = freed_.erase(it);
  }
  return status;
}

absl::Status AmdGpu::TrimCache() {
  std::lock_guard lock(mutex_);
  US_RETURN_IF_ERROR(CheckUsable());
  US_RETURN_IF_ERROR(WaitAll());
  return ReapFreed(0);
}

absl::StatusOr<const LoadedCode*> AmdGpu::Load(absl::Span<const uint8_t> file) {
  std::lock_guard lock(mutex_);
  US_RETURN_IF_ERROR(CheckUsable());
  auto code = std::make_unique<LoadedCode>();
  US_ASSIGN_OR_RETURN(code->object_, CodeObject::Parse(file));
  if (code->object_.isa() != isa()) {
    return absl::InvalidArgumentError(
        absl::StrCat("code object for ", code->object_.isa(), ", the device is ", isa()));
  }
  // Page faults are not retried unless a process asks for it, which this driver does not.
  using Feature = CodeObject::Feature;
  if (code->object_.xnack() == Feature::kOn) {
    return absl::InvalidArgumentError(
        absl::StrCat("code object for ", isa(), ":xnack+, the process runs with XNACK off"));
  }
  const auto capability = node_.properties.find("capability");
  const bool ecc = capability != node_.properties.end() && (capability->second & kSramEcc) != 0;
  if (code->object_.sramecc() == (ecc ? Feature::kOff : Feature::kOn)) {
    return absl::InvalidArgumentError(absl::StrCat("code object for ", isa(), ecc ? ":sramecc-" : ":sramecc+",
                                                   ", the device has ECC ", ecc ? "on" : "off"));
  }
  US_ASSIGN_OR_RETURN(code->memory_, memory_->Allocate(code->object_.image_size(), MemoryKind::kVram,
                                                       {true, true, "code object"}));
  const std::vector<uint8_t> image = code->object_.Image(code->memory_.va);
  if (absl::Status s = CopyInLocked(code->memory_.va, image.data(), image.size()); !s.ok()) {
    Defer(code->memory_, {true, true, "code object"}, false);
    return s;
  }
  ++stats_.code_objects;
  codes_.push_back(std::move(code));
  return codes_.back().get();
}

absl::Status AmdGpu::Unload(const LoadedCode* code) {
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(codes_.begin(), codes_.end(), [&](const auto& c) { return c.get() == code; });
  if (it == codes_.end()) {
    if (memory_ == nullptr) return absl::OkStatus();  // went with the device
    return absl::InvalidArgumentError("unloading a code object that is not loaded");
  }
  Defer((*it)->memory_, {true, true, "code object"}, false);
  codes_.erase(it);
  return ReapFreed(options_.cache_limit);
}

absl::StatusOr<ClockReading> AmdGpu::ReadClocks() {
  std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return absl::FailedPreconditionError("the AMD GPU is closed");
  US_ASSIGN_OR_RETURN(const auto c, kfd_->GetClockCounters(node_.gpu_id));
  return ClockReading{c.gpu_clock_counter, c.cpu_clock_counter};
}

GpuStats AmdGpu::stats() const {
  std::lock_guard lock(mutex_);
  GpuStats s = stats_;
  if (compute_ != nullptr) s.compute_ring_wraps += static_cast<int64_t>(compute_->wraps());
  if (sdma_ != nullptr) s.sdma_ring_wraps += static_cast<int64_t>(sdma_->wraps());
  s.kernarg_wraps = static_cast<int64_t>(kernarg_ring_.wraps());
  return s;
}

int64_t AmdGpu::live_buffers() const {
  std::lock_guard lock(mutex_);
  return memory_ == nullptr ? 0 : memory_->live_buffers();
}

uint64_t AmdGpu::live_bytes() const {
  std::lock_guard lock(mutex_);
  return memory_ == nullptr ? 0 : memory_->live_bytes();
}

}  // namespace understudy::amd
