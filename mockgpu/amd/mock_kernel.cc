// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/mock_kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mockgpu/amd/cp/pm4_queue.h"
#include "mockgpu/amd/kfd/drm.h"
#include "mockgpu/amd/kfd/host_gate.h"
#include "mockgpu/amd/kfd/kfd.h"
#include "mockgpu/amd/kfd/topology.h"
#include "mockgpu/amd/sdma/sdma_queue.h"
#include "src/base/status.h"

namespace understudy::mockgpu {
namespace {

constexpr char kKfdPath[] = "/dev/kfd";
constexpr uint32_t kKfdMajor = 511, kDrmMajor = 226;
constexpr size_t kMostGpus = 64;  // render nodes 128 to 191

int HostResult(int64_t result) { return static_cast<int>(result < 0 ? -errno : result); }

}  // namespace

class MockKernel::Impl {
 public:
  struct Descriptor {
    enum Kind { kKfd, kRender, kText } kind = kText;
    size_t gpu = 0;
    uint64_t description = 0;
  };

  Impl(const Options& options, amd::VirtualFiles files)
      : machine({options.seed, options.policy, options.log_events, size_t{1} << 20, options.fault_plan}),
        gate(&machine, options.hang_after_ms),
        files(std::move(files)),
        process(::getpid()) {}

  const Descriptor* Find(int fd) const {
    const auto it = descriptors.find(fd);
    return it == descriptors.end() ? nullptr : &it->second;
  }
  // The GPU whose render node this canonical path is.
  size_t GpuOfRenderPath(const std::string& path) const {
    for (size_t i = 0; i < kfd->gpus().size(); ++i) {
      if (path == absl::StrCat("/dev/dri/renderD", amd::kFirstRenderMinor + i)) return i;
    }
    return kfd->gpus().size();
  }

  Machine machine;
  amd::HostGate gate;
  amd::VirtualFiles files;
  std::unique_ptr<amd::Kfd> kfd;
  std::map<int, Descriptor> descriptors;
  uint64_t next_description = 1;
  pid_t process;
};

absl::StatusOr<std::unique_ptr<MockKernel>> MockKernel::Create(Options options) {
  if (options.profiles.empty() || options.profiles.size() > kMostGpus) {
    return absl::InvalidArgumentError(
        absl::StrCat("mock machine: ", options.profiles.size(), " GPU profiles; expected 1 to ", kMostGpus));
  }
  for (const amd::GpuProfile& profile : options.profiles) {
    US_RETURN_IF_ERROR(amd::Gpu::CheckProfile(profile));
  }
  auto impl = std::make_unique<Impl>(options, amd::BuildTopology(options.profiles));
  US_ASSIGN_OR_RETURN(amd::DeviceFile kfd_file, amd::DeviceFile::Create("kfd"));
  std::vector<std::unique_ptr<amd::Gpu>> gpus;
  for (size_t i = 0; i < options.profiles.size(); ++i) {
    US_ASSIGN_OR_RETURN(amd::DeviceFile render,
                        amd::DeviceFile::Create(absl::StrCat("renderD", amd::kFirstRenderMinor + i)));
    gpus.push_back(
        std::make_unique<amd::Gpu>(options.profiles[i], amd::GpuIdOf(i), &impl->machine, std::move(render),
                                   amd::Gpu::Settings{options.vgpr_fill, options.instruction_budget}));
  }
  impl->kfd = std::make_unique<amd::Kfd>(&impl->machine, &impl->gate, std::move(gpus), std::move(kfd_file));
  Impl* raw = impl.get();
  impl->kfd->find_render_fd = [raw](uint32_t fd, size_t* gpu_index, uint64_t* description) {
    const Impl::Descriptor* descriptor = raw->Find(static_cast<int>(fd));
    if (descriptor == nullptr || descriptor->kind != Impl::Descriptor::kRender) return false;
    *gpu_index = descriptor->gpu;
    *description = descriptor->description;
    return true;
  };
  return std::unique_ptr<MockKernel>(new MockKernel(std::move(impl)));
}

MockKernel::MockKernel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MockKernel::~MockKernel() {
  for (const auto& [fd, descriptor] : impl_->descriptors) ::close(fd);
}

int MockKernel::Open(const std::string& path, int flags) {
  auto lock = impl_->gate.Enter();
  std::string canonical;
  const auto kind = impl_->files.Find(path, true, &canonical);
  Impl::Descriptor descriptor;
  int fd = -ENOENT;
  switch (kind) {
    case amd::VirtualFiles::Kind::kMissing:
    case amd::VirtualFiles::Kind::kSymlink:
      return -ENOENT;
    case amd::VirtualFiles::Kind::kDirectory:
      return -EISDIR;
    case amd::VirtualFiles::Kind::kFile:
      if ((flags & O_ACCMODE) != O_RDONLY) return -EACCES;
      fd = amd::MakeTextFile(canonical, impl_->files.Text(canonical));
      break;
    case amd::VirtualFiles::Kind::kDevice:
      if (canonical == kKfdPath) {
        descriptor.kind = Impl::Descriptor::kKfd;
        fd = impl_->kfd->kfd_file().Duplicate();
      } else {
        descriptor.kind = Impl::Descriptor::kRender;
        descriptor.gpu = impl_->GpuOfRenderPath(canonical);
        fd = impl_->kfd->gpus()[descriptor.gpu]->render_file().Duplicate();
      }
      break;
  }
  if (fd < 0) return fd;
  descriptor.description = impl_->next_description++;
  impl_->descriptors[fd] = descriptor;
  return fd;
}

int MockKernel::Close(int fd) {
  auto lock = impl_->gate.Enter();
  if (impl_->descriptors.erase(fd) == 0) return -EBADF;
  return HostResult(::close(fd));
}

int MockKernel::Ioctl(int fd, unsigned long request, void* arg) {
  auto lock = impl_->gate.Enter();
  const Impl::Descriptor* descriptor = impl_->Find(fd);
  if (descriptor == nullptr) return -EBADF;
  switch (descriptor->kind) {
    case Impl::Descriptor::kKfd:
      // A forked child has to open its own (kfd_ioctl).
      if (::getpid() != impl_->process) return -EBADF;
      return impl_->kfd->Ioctl(request, arg, lock);
    case Impl::Descriptor::kRender:
      return amd::DrmIoctl(*impl_->kfd->gpus()[descriptor->gpu], request, arg);
    case Impl::Descriptor::kText:
      break;
  }
  return -ENOTTY;
}

absl::StatusOr<void*> MockKernel::Mmap(void* addr, size_t length, int prot, int flags, int fd,
                                       int64_t offset) {
  auto lock = impl_->gate.Enter();
  const auto what = [&] {
    return absl::StrFormat("mmap addr=%p length=%d fd=%d offset=0x%x", addr, length, fd, offset);
  };
  if ((flags & MAP_ANONYMOUS) == 0) {
    const Impl::Descriptor* descriptor = impl_->Find(fd);
    if (descriptor == nullptr) return os::ErrnoStatus(-EBADF, what());
    bool allowed = true;
    if (descriptor->kind == Impl::Descriptor::kKfd) {
      allowed = impl_->kfd->MmapAllowedOnKfd(static_cast<uint64_t>(offset), length);
    } else if (descriptor->kind == Impl::Descriptor::kRender) {
      const amd::Gpu& gpu = *impl_->kfd->gpus()[descriptor->gpu];
      allowed = impl_->kfd->MmapAllowedOnRender(gpu, static_cast<uint64_t>(offset), length);
    }
    if (!allowed) return os::ErrnoStatus(-EINVAL, what() + ": no object lies there");
    if (descriptor->kind != Impl::Descriptor::kText && (flags & MAP_TYPE) == MAP_PRIVATE) {
      return os::ErrnoStatus(-EINVAL, what() + ": device memory is mapped MAP_SHARED");
    }
  }
  if (flags & MAP_FIXED) impl_->kfd->HostRangeGone(reinterpret_cast<uint64_t>(addr), length);
  void* mapped = ::mmap(addr, length, prot, flags, fd, offset);
  if (mapped == MAP_FAILED) return os::ErrnoStatus(-errno, what());
  return mapped;
}

int MockKernel::Munmap(void* addr, size_t length) {
  auto lock = impl_->gate.Enter();
  impl_->kfd->HostRangeGone(reinterpret_cast<uint64_t>(addr), length);
  return HostResult(::munmap(addr, length));
}

int64_t MockKernel::Pread(int fd, void* buf, size_t n, int64_t offset) {
  auto lock = impl_->gate.Enter();
  const Impl::Descriptor* descriptor = impl_->Find(fd);
  if (descriptor == nullptr) return -EBADF;
  if (descriptor->kind != Impl::Descriptor::kText) return -EINVAL;
  const ssize_t result = ::pread(fd, buf, n, offset);
  return result < 0 ? -errno : result;
}

int64_t MockKernel::Read(int fd, void* buf, size_t n) {
  auto lock = impl_->gate.Enter();
  const Impl::Descriptor* descriptor = impl_->Find(fd);
  if (descriptor == nullptr) return -EBADF;
  if (descriptor->kind != Impl::Descriptor::kText) return -EINVAL;
  const ssize_t result = ::read(fd, buf, n);
  return result < 0 ? -errno : result;
}

int MockKernel::ReadDir(const std::string& path, std::vector<os::DirEntry>* out) {
  auto lock = impl_->gate.Enter();
  out->clear();
  std::string canonical;
  switch (impl_->files.Find(path, true, &canonical)) {
    case amd::VirtualFiles::Kind::kDirectory:
      *out = impl_->files.List(canonical);
      return 0;
    case amd::VirtualFiles::Kind::kMissing:
      return -ENOENT;
    default:
      return -ENOTDIR;
  }
}

int MockKernel::Stat(const std::string& path, struct stat* out) {
  auto lock = impl_->gate.Enter();
  std::string canonical;
  const auto kind = impl_->files.Find(path, true, &canonical);
  *out = {};
  out->st_nlink = 1;
  out->st_blksize = 4096;
  switch (kind) {
    case amd::VirtualFiles::Kind::kDirectory:
      out->st_mode = S_IFDIR | 0755;
      out->st_nlink = 2;
      return 0;
    case amd::VirtualFiles::Kind::kFile:
      out->st_mode = S_IFREG | 0444;
      out->st_size = 4096;  // as sysfs says of every file
      return 0;
    case amd::VirtualFiles::Kind::kDevice:
      out->st_mode = S_IFCHR | 0660;
      out->st_rdev = canonical == kKfdPath
                         ? makedev(kKfdMajor, 0)
                         : makedev(kDrmMajor, amd::kFirstRenderMinor +
                                                  static_cast<unsigned>(impl_->GpuOfRenderPath(canonical)));
      return 0;
    default:
      return -ENOENT;
  }
}

int64_t MockKernel::Readlink(const std::string& path, char* buf, size_t n) {
  auto lock = impl_->gate.Enter();
  std::string canonical;
  const auto kind = impl_->files.Find(path, false, &canonical);
  if (kind == amd::VirtualFiles::Kind::kMissing) return -ENOENT;
  if (kind != amd::VirtualFiles::Kind::kSymlink) return -EINVAL;
  const std::string& target = impl_->files.Target(canonical);
  const size_t length = std::min(n, target.size());
  target.copy(buf, length);
  return static_cast<int64_t>(length);
}

void MockKernel::Pause() {
  auto lock = impl_->gate.Enter();
  impl_->gate.Pause(lock);
}

uint64_t MockKernel::MonotonicNanos() {
  auto lock = impl_->gate.Enter();
  return impl_->machine.now();
}

std::optional<amd::FaultReport> MockKernel::LastFault() {
  auto lock = impl_->gate.Enter();
  if (impl_->kfd->faults().empty()) return std::nullopt;
  return impl_->kfd->faults().back();
}

std::vector<amd::FaultReport> MockKernel::Faults() {
  auto lock = impl_->gate.Enter();
  return impl_->kfd->faults();
}

MockStats MockKernel::Stats() {
  auto lock = impl_->gate.Enter();
  MockStats stats;
  for (const auto& gpu : impl_->kfd->gpus()) {
    const amd::Counters& c = gpu->counters();
    for (uint32_t i = 0; i < 256; ++i) {
      if (c.pm4_packets[i] != 0) stats.pm4_packets[amd::Pm4PacketName(i)] += c.pm4_packets[i];
      if (c.sdma_packets[i] != 0) stats.sdma_packets[amd::SdmaPacketName(i)] += c.sdma_packets[i];
      stats.pm4_packet_count += c.pm4_packets[i];
      stats.sdma_packet_count += c.sdma_packets[i];
    }
    stats.dispatches += c.dispatches;
    stats.workgroups += c.workgroups;
    stats.waves += c.waves;
    stats.wave_instructions += c.wave_instructions;
    stats.memory_accesses += c.wave_memory.accesses;
    stats.memory_bytes += c.wave_memory.bytes;
    stats.memory_lines += c.wave_memory.lines;
    stats.sdma_bytes += c.sdma_bytes;
    stats.interrupts += c.interrupts;
    stats.faults += c.faults;
  }
  stats.ioctls = impl_->kfd->ioctl_count();
  stats.machine_steps = impl_->machine.steps();
  stats.virtual_ns = impl_->machine.now();
  return stats;
}

MockResources MockKernel::Resources() {
  auto lock = impl_->gate.Enter();
  MockResources resources;
  for (const auto& [handle, buffer] : impl_->kfd->buffers()) {
    ++resources.allocations;
    resources.allocated_bytes += buffer.size;
    if (!buffer.mapped.empty()) ++resources.mapped_allocations;
  }
  resources.queues = impl_->kfd->queue_count();
  resources.events = impl_->kfd->event_count();
  resources.descriptors = impl_->descriptors.size();
  return resources;
}

std::vector<Event> MockKernel::Events() {
  auto lock = impl_->gate.Enter();
  return impl_->machine.log().events();
}

std::string MockKernel::EventsText() {
  auto lock = impl_->gate.Enter();
  std::string text;
  for (const Event& event : impl_->machine.log().events()) {
    absl::StrAppend(&text, EventText(event, impl_->machine.ActorName(event.actor)), "\n");
  }
  return text;
}

void MockKernel::set_log_events(bool on) {
  auto lock = impl_->gate.Enter();
  impl_->machine.log().set_enabled(on);
}

absl::Status MockKernel::NameAllocation(uint64_t va, const std::string& name) {
  auto lock = impl_->gate.Enter();
  if (impl_->kfd->NameAllocation(va, name)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrFormat("no allocation holds address 0x%x", va));
}

void MockKernel::RunUntilIdle() {
  auto lock = impl_->gate.Enter();
  impl_->machine.RunUntilIdle();
}

}  // namespace understudy::mockgpu
