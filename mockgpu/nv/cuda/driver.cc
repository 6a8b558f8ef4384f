// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/driver.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/module.h"

namespace understudy::mockgpu::nv {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Driver& Driver::Get() {
  // Never destroyed: programs call the library from their own destructors.
  static auto* const driver = new Driver;
  return *driver;
}

Driver::Driver() {
  logging = !Environment("UNDERSTUDY_CUDA_LOG").empty() && Environment("UNDERSTUDY_CUDA_LOG") != "0";
  late = Environment("UNDERSTUDY_CUDA_RUN") == "late";
  faults_are_final = Environment("UNDERSTUDY_CUDA_FAULTS") == "final";
  launch_options.threads = 1;
  uint32_t threads = 0;
  if (absl::SimpleAtoi(Environment("UNDERSTUDY_CUDA_THREADS"), &threads) && threads > 0)
    launch_options.threads = threads;
  uint64_t number = 0;
  if (absl::SimpleAtoi(Environment("UNDERSTUDY_CUDA_SEED"), &number)) launch_options.seed = number;
  if (absl::SimpleAtoi(Environment("UNDERSTUDY_CUDA_BUDGET"), &number))
    launch_options.instruction_budget = number;
}

CUresult Driver::Initialize() {
  if (initialized) return CUDA_SUCCESS;
  auto profiles = ParseProfiles(Environment("UNDERSTUDY_CUDA_GPUS"));
  if (!profiles.ok()) {
    std::fprintf(stderr, "cuda: %s\n", std::string(profiles.status().message()).c_str());
    return CUDA_ERROR_NO_DEVICE;
  }
  std::string error;
  if (!launch_options.checks.Parse(Environment("UNDERSTUDY_CUDA_CHECK"), &error)) {
    std::fprintf(stderr, "cuda: UNDERSTUDY_CUDA_CHECK: %s\n", error.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Addresses of device memory: a part of the host's address space that nothing else is given.
  constexpr uint64_t kBytes = uint64_t{1} << 44;
  address_begin_ = uint64_t{0x2000} << 32;
  void* const reserved = mmap(reinterpret_cast<void*>(address_begin_), kBytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (reserved != MAP_FAILED && reserved != reinterpret_cast<void*>(address_begin_)) munmap(reserved, kBytes);
  address_end_ = address_begin_ + kBytes;
  next_address_ = address_begin_;
  next_host_ = address_end_;
  for (const Profile* profile : *profiles) {
    auto device = std::make_unique<Device>();
    device->index = static_cast<int>(devices.size());
    device->profile = profile;
    MemoryPool* pool = pools.Make();
    pool->device = device.get();
    pool->is_default = true;
    pool->props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    pool->props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->index};
    device->default_pool = device->current_pool = pool;
    devices.push_back(std::move(device));
  }
  initialized = true;
  return CUDA_SUCCESS;
}

CUresult Driver::FindDevice(int ordinal, Device** out) {
  US_CUDA_REQUIRE(initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size(), CUDA_ERROR_INVALID_DEVICE);
  *out = devices[static_cast<size_t>(ordinal)].get();
  return CUDA_SUCCESS;
}

std::vector<Context*>& Driver::Stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}
bool& Driver::InCallback() {
  thread_local bool value = false;
  return value;
}
bool& Driver::PerThreadDefault() {
  thread_local bool value = false;
  return value;
}
int& Driver::CaptureMode() {
  thread_local int value = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return value;
}

CUresult Driver::Current(Context** out) {
  US_CUDA_REQUIRE(initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(!Stack().empty() && Stack().back() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  Context* const context = Stack().back();
  US_CUDA_REQUIRE(contexts.Has(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  *out = context;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->error != CUDA_SUCCESS ? context->error : context->device->error;
}

CUresult Driver::Check(Context* context, Context** out) {
  if (context == nullptr) return Current(out);
  US_CUDA_REQUIRE(initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(contexts.Has(context), CUDA_ERROR_INVALID_CONTEXT);
  *out = context;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->error != CUDA_SUCCESS ? context->error : context->device->error;
}

const Driver::Grave* Driver::CurrentGrave() const {
  if (Stack().empty() || contexts.Has(Stack().back())) return nullptr;
  const auto it = graves_.find(Stack().back());
  return it == graves_.end() ? nullptr : &it->second;
}

Context* Driver::MakeContext(Device* device, unsigned flags) {
  Context* const context = contexts.Make();
  graves_.erase(context);
  context->device = device;
  context->flags = flags;
  context->id = NextId();
  context->api_version = 3020;
  context->limits = {
      {CU_LIMIT_STACK_SIZE, 1024},
      {CU_LIMIT_PRINTF_FIFO_SIZE, (8 << 20) + (256 << 10)},
      {CU_LIMIT_MALLOC_HEAP_SIZE, emu::ptx::kDeviceHeapBytes},
      {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
      {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
      {CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
       device->Attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE) / 10 * 3},
      {CU_LIMIT_SHMEM_SIZE, device->Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)},
      {CU_LIMIT_CIG_ENABLED, 0}};
  // Kernels that wait for kernels that they launched went with Hopper.
  if (device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 9)
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  context->legacy = MakeStream(context, CU_STREAM_DEFAULT, 0);
  context->legacy->legacy = true;
  // What every context sees: host memory, managed memory, pools and virtual memory open to the device.
  for (const auto& [va, range] : ranges) MapRange(context, *range);
  return context;
}

void Driver::DestroyContext(Context* context) {
  ShowPrinted(context);
  Drop(context);
  const auto modules_of = std::vector<Module*>(modules.all().begin(), modules.all().end());
  for (Module* module : modules_of)
    if (module->context == context) DestroyModule(module);
  for (Library* library : libraries.all()) library->modules.erase(context);
  std::vector<Range*> mine;
  for (const auto& [va, range] : ranges)
    if (range->context == context) mine.push_back(range.get());
  for (Range* range : mine) RemoveRange(range);
  const auto events_of = std::vector<Event*>(events.all().begin(), events.all().end());
  for (Event* event : events_of)
    if (event->context == context) events.Destroy(event);
  const std::vector<Stream*> streams_of(context->streams.begin(), context->streams.end());
  for (Stream* stream : streams_of) DestroyStream(stream);
  for (Context* other : contexts.all()) {
    other->peers.erase(context);
    other->mapped_peers.erase(context);
  }
  if (context->device->primary == context) context->device->primary = nullptr;
  graves_[context] = {context->device->index, context->flags};
  contexts.Destroy(context);
}

void Driver::Poison(Context* context, CUresult error, const std::string& why) {
  if (context->error != CUDA_SUCCESS) return;
  context->error = error;
  if (faults_are_final && context->device->error == CUDA_SUCCESS) context->device->error = error;
  // A person who debugs wants the emulator's sentence, not only the code.
  Log(why);
  Drop(context);
}

void Driver::ShowPrinted(Context* context) {
  if (context->printed.empty()) return;
  std::fwrite(context->printed.data(), 1, context->printed.size(), stdout);
  std::fflush(stdout);
  context->printed.clear();
}

void Driver::Log(const std::string& line) const {
  if (logging) std::fprintf(stderr, "cuda: %s\n", line.c_str());
}

}  // namespace understudy::mockgpu::nv
