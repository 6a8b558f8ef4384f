// SPDX-License-Identifier: Apache-2.0
// Initialisation, devices, errors, entry points by name.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "mockgpu/nv/cuda/driver.h"
#include "mockgpu/nv/cuda/entry_points.h"

namespace understudy::mockgpu::nv::calls {
namespace {

constexpr int kDriverVersion = 13000;

Driver& D() { return Driver::Get(); }

// The place of a device on the virtual machine's PCI bus.
constexpr int kPciDomain = 0, kPciDevice = 0;
int PciBus(const Device& device) { return 0x19 + 0x10 * device.index; }

}  // namespace

CUresult cuInit(unsigned int flags) {
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return D().Initialize();
}

CUresult cuDriverGetVersion(int* version) {
  US_CUDA_REQUIRE(version != nullptr, CUDA_ERROR_INVALID_VALUE);
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  US_CUDA_REQUIRE(text != nullptr, CUDA_ERROR_INVALID_VALUE);
  *text = ResultName(error);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  US_CUDA_REQUIRE(text != nullptr, CUDA_ERROR_INVALID_VALUE);
  *text = ResultText(error);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  // Programs of a later minor version may ask; those of another major version may not.
  US_CUDA_REQUIRE(
      symbol != nullptr && out != nullptr && flags <= 3 && version / 1000 <= kDriverVersion / 1000,
      CUDA_ERROR_INVALID_VALUE);
  *out = nullptr;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const EntryPoint* best = nullptr;
  bool known = false;
  for (const EntryPoint& e : EntryPoints()) {
    if (std::strcmp(e.base, symbol) != 0) continue;
    known = true;
    if (e.since > version || (e.per_thread && !per_thread)) continue;
    // The newest; of equally new ones the thread's own.
    const bool better =
        best == nullptr || (e.per_thread == best->per_thread ? e.since > best->since : e.per_thread);
    if (better) best = &e;
  }
  if (status != nullptr)
    *status = best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                              : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (best == nullptr) return CUDA_SUCCESS;
  *out = best->address;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** out, int version, cuuint64_t flags) {
  void* found = nullptr;
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(cuGetProcAddress_v2(symbol, &found, version, flags, nullptr));
  US_CUDA_REQUIRE(found != nullptr, CUDA_ERROR_NOT_FOUND);
  *out = found;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  *count = static_cast<int>(D().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  Device* device = nullptr;
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  *out = device->index;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(name != nullptr && length > 0, CUDA_ERROR_INVALID_VALUE);
  std::snprintf(name, static_cast<size_t>(length), "%s", device->profile->name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(uuid != nullptr, CUDA_ERROR_INVALID_VALUE);
  // The same in every run: the card's column and its place.
  static constexpr char kBase[16] = {'u', 'n', 'd', 'e', 'r', 's', 't', 'u',
                                     'd', 'y', '-', 'g', 'p', 'u', 0,   0};
  std::memcpy(uuid->bytes, kBase, 16);
  uuid->bytes[14] = static_cast<char>(device->profile->column);
  uuid->bytes[15] = static_cast<char>(device->index);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
  *bytes = device->profile->memory_bytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(value != nullptr && device->profile->HasAttribute(attribute), CUDA_ERROR_INVALID_VALUE);
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = PciBus(*device);
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
      *value = kPciDevice;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      *value = kPciDomain;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
      *value = device->index;
      break;
    default:
      *value = device->Attribute(attribute);
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(p != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto a = [&](CUdevice_attribute attribute) { return device->Attribute(attribute); };
  *p = {a(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        {a(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), a(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
         a(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        {a(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), a(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
         a(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        a(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        a(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        a(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        a(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        a(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        a(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        a(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(major != nullptr && minor != nullptr, CUDA_ERROR_INVALID_VALUE);
  *major = device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(text != nullptr && length > 0, CUDA_ERROR_INVALID_VALUE);
  const int n = std::snprintf(text, static_cast<size_t>(length), "%04X:%02X:%02X.0", kPciDomain,
                              PciBus(*device), kPciDevice);
  return n >= length ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* text) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && text != nullptr, CUDA_ERROR_INVALID_VALUE);
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  // "domain:bus:device.function", "domain:bus:device" or "bus:device.function"
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3) return CUDA_ERROR_INVALID_VALUE;
  }
  for (const auto& device : D().devices) {
    if (domain != kPciDomain || static_cast<int>(bus) != PciBus(*device) || slot != kPciDevice) continue;
    *out = device->index;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  Device *a = nullptr, *b = nullptr;
  US_CUDA_TRY(D().FindDevice(from, &a));
  US_CUDA_TRY(D().FindDevice(to, &b));
  US_CUDA_REQUIRE(can != nullptr, CUDA_ERROR_INVALID_VALUE);
  *can = a != b && a->profile == b->profile && a->profile->nvlink;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  Device *a = nullptr, *b = nullptr;
  US_CUDA_TRY(D().FindDevice(from, &a));
  US_CUDA_TRY(D().FindDevice(to, &b));
  US_CUDA_REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(a != b, CUDA_ERROR_INVALID_DEVICE);
  const bool linked = a->profile == b->profile && a->profile->nvlink;
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = linked;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                    CUflushGPUDirectRDMAWritesScope scope) {
  US_CUDA_REQUIRE(target == 0 && (scope == 100 || scope == 200), CUDA_ERROR_INVALID_VALUE);
  Context* context = nullptr;
  return D().Current(&context);
}

CUresult cuProfilerStart() {
  Context* context = nullptr;
  return D().Current(&context);
}
CUresult cuProfilerStop() {
  Context* context = nullptr;
  return D().Current(&context);
}

}  // namespace understudy::mockgpu::nv::calls
