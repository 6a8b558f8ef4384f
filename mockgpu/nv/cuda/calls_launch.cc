// SPDX-License-Identifier: Apache-2.0
// Launches and occupancy.
#include <algorithm>
#include <cstring>

#include "mockgpu/nv/cuda/launch_calls.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv {
namespace {

Driver& D() { return Driver::Get(); }

// The parameter block of a launch, from pointers to each argument or from a packed buffer.
CUresult ReadParams(const Function& f, void** params, void** extra, std::vector<uint8_t>* out) {
  const emu::ptx::Program& program = *f.module->program;
  const std::vector<uint32_t> offsets = program.param_offsets(*f.bound);
  const uint32_t bytes = program.param_block_bytes(*f.bound);
  out->assign(bytes, 0);
  US_CUDA_REQUIRE(params == nullptr || extra == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (extra != nullptr) {
    const void* buffer = nullptr;
    const size_t* size = nullptr;
    for (int i = 0; i < 16 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[i + 1];
      else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        size = static_cast<const size_t*>(extra[i + 1]);
      else
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (extra[0] == CU_LAUNCH_PARAM_END && offsets.empty()) return CUDA_SUCCESS;
    US_CUDA_REQUIRE(size != nullptr && (buffer != nullptr || *size == 0), CUDA_ERROR_INVALID_VALUE);
    // A block that is too long is refused; what a short one leaves out is zero here, and undefined on a card.
    uint64_t most = 0;
    if (!offsets.empty()) most = offsets.back() + f.text().parameters.back().size;
    US_CUDA_REQUIRE(*size <= most, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    std::memcpy(out->data(), buffer, std::min<size_t>(*size, bytes));
    return CUDA_SUCCESS;
  }
  if (offsets.empty()) return CUDA_SUCCESS;
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < offsets.size(); ++i) {
    US_CUDA_REQUIRE(params[i] != nullptr, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(out->data() + offsets[i], params[i], f.text().parameters[i].size);
  }
  return CUDA_SUCCESS;
}

constexpr unsigned kMostOfNonPortable = 16;

CUresult CheckCluster(const Function& f, const Device& device, const unsigned (&grid)[3],
                      const emu::ptx::Dim3& c, bool any_count = false) {
  const uint64_t count = c.count();
  // All zeros is no cluster.
  if (c.x <= 1 && c.y == c.x && c.z == c.x) return CUDA_SUCCESS;
  US_CUDA_REQUIRE(device.Attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  US_CUDA_REQUIRE(c.x != 0 && c.y != 0 && c.z != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  US_CUDA_REQUIRE(grid[0] % c.x == 0 && grid[1] % c.y == 0 && grid[2] % c.z == 0,
                  CUDA_ERROR_INVALID_CLUSTER_SIZE);
  US_CUDA_REQUIRE(any_count || count <= (f.non_portable_cluster ? kMostOfNonPortable : 8u),
                  CUDA_ERROR_INVALID_CLUSTER_SIZE);
  US_CUDA_REQUIRE(f.text().max_cluster_rank == 0 || count <= f.text().max_cluster_rank,
                  CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const uint32_t (&own)[3] = f.text().cluster;
  US_CUDA_REQUIRE(
      own[0] == 0 || (c.x == own[0] && c.y == std::max(own[1], 1u) && c.z == std::max(own[2], 1u)),
      CUDA_ERROR_INVALID_CLUSTER_SIZE);
  return CUDA_SUCCESS;
}

}  // namespace

int ActiveBlocks(const Function& f, const Device& device, int threads, size_t dynamic_shared) {
  if (threads <= 0 || threads > device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return 0;
  if (dynamic_shared > static_cast<uint64_t>(f.max_dynamic_shared)) return 0;
  const int warps = (threads + 31) / 32;
  const int per_sm = device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32 / warps;
  // Registers are given in units of 256 a warp, by each of the four parts of a multiprocessor.
  const int warp_registers =
      static_cast<int>(AlignUp(static_cast<uint64_t>(f.registers) * 32, uint64_t{256}));
  constexpr int kParts = 4;
  const int by_registers = device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / kParts /
                           std::max(warp_registers, 256) * kParts / warps;
  const uint64_t reserved =
      static_cast<uint64_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  const uint64_t shared = AlignUp(uint64_t{f.static_shared()} + dynamic_shared + reserved, uint64_t{128});
  const uint64_t all =
      static_cast<uint64_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  const int by_shared = shared == 0 ? 1 << 20 : static_cast<int>(all / shared);
  return std::min(
      {per_sm, by_registers, by_shared, device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)});
}

CUresult MakeLaunch(Driver& driver, const LaunchArguments& a, KernelCommand* out) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(driver, a.function, &f));
  const Device& device = *f->module->context->device;
  static constexpr CUdevice_attribute kGrid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  static constexpr CUdevice_attribute kBlock[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                                  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                                  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    US_CUDA_REQUIRE(a.grid[d] != 0 && a.grid[d] <= static_cast<unsigned>(device.Attribute(kGrid[d])),
                    CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(a.block[d] != 0 && a.block[d] <= static_cast<unsigned>(device.Attribute(kBlock[d])),
                    CUDA_ERROR_INVALID_VALUE);
    threads *= a.block[d];
  }
  US_CUDA_REQUIRE(
      threads <= static_cast<uint64_t>(device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
      CUDA_ERROR_INVALID_VALUE);
  const emu::ptx::Function& text = f->text();
  if (text.required_threads[0] != 0)
    for (int d = 0; d < 3; ++d)
      US_CUDA_REQUIRE(a.block[d] == std::max(text.required_threads[d], 1u), CUDA_ERROR_INVALID_VALUE);
  if (text.max_threads[0] != 0) {
    uint64_t declared = 1;
    for (const uint32_t n : text.max_threads) declared *= std::max(n, 1u);
    US_CUDA_REQUIRE(threads <= declared, CUDA_ERROR_INVALID_VALUE);
  }
  US_CUDA_REQUIRE(threads <= static_cast<uint64_t>(f->max_threads(device)),
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  US_CUDA_REQUIRE(a.shared <= static_cast<uint64_t>(f->max_dynamic_shared),
                  a.cooperative ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_ERROR_INVALID_VALUE);

  KernelCommand kernel;
  kernel.function = f;
  kernel.config.grid = {a.grid[0], a.grid[1], a.grid[2]};
  kernel.config.block = {a.block[0], a.block[1], a.block[2]};
  kernel.config.dynamic_shared_bytes = a.shared;
  kernel.config.cooperative = a.cooperative;
  bool has_cluster = false;
  if (f->cluster[0] > 0) {
    kernel.config.cluster = {static_cast<uint32_t>(f->cluster[0]),
                             static_cast<uint32_t>(std::max(f->cluster[1], 1)),
                             static_cast<uint32_t>(std::max(f->cluster[2], 1))};
    has_cluster = true;
  }
  US_CUDA_REQUIRE(a.attributes != nullptr || a.num_attributes == 0, CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < a.num_attributes; ++i) {
    const CUlaunchAttribute& attribute = a.attributes[i];
    kernel.attributes[attribute.id] = attribute.value;
    switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        kernel.config.cooperative = attribute.value.cooperative != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        kernel.config.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                                 attribute.value.clusterDim.z};
        has_cluster = true;
        if (kernel.config.cluster.count() == 0 && attribute.value.clusterDim.x == 0 &&
            attribute.value.clusterDim.y == 0 && attribute.value.clusterDim.z == 0)
          kernel.config.cluster = {1, 1, 1};
        break;
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        US_CUDA_REQUIRE(attribute.value.sharedMemCarveout <= 100, CUDA_ERROR_INVALID_VALUE);
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return CUDA_ERROR_NOT_SUPPORTED;
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (has_cluster) US_CUDA_TRY(CheckCluster(*f, device, a.grid, kernel.config.cluster));
  US_CUDA_REQUIRE(has_cluster || !f->cluster_must_be_set, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  if (kernel.config.cooperative) {
    const int64_t resident = int64_t{ActiveBlocks(*f, device, static_cast<int>(threads), a.shared)} *
                             device.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    US_CUDA_REQUIRE(static_cast<int64_t>(kernel.config.grid.count()) <= resident,
                    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  }
  US_CUDA_TRY(ReadParams(*f, a.params, a.extra, &kernel.config.params));
  *out = std::move(kernel);
  return CUDA_SUCCESS;
}

namespace calls {
namespace {

CUresult Launch(const LaunchArguments& arguments, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  KernelCommand kernel;
  const CUresult made = MakeLaunch(D(), arguments, &kernel);
  // A launch that fails spoils the capture that it would have been of.
  if (made != CUDA_SUCCESS && stream->capture != nullptr) stream->capture->invalidated = true;
  US_CUDA_TRY(made);
  US_CUDA_REQUIRE(kernel.function->module->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  const auto attributes = kernel.attributes;
  Node* node = nullptr;
  US_CUDA_TRY(D().Submit(stream, std::move(kernel), &node));
  if (node != nullptr) node->attributes = attributes;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void** params,
                        void** extra) {
  return Launch({f, {gx, gy, gz}, {bx, by, bz}, shared, params, extra}, stream);
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                                   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                   CUstream stream, void** params) {
  return Launch({f, {gx, gy, gz}, {bx, by, bz}, shared, params, nullptr, nullptr, 0, true}, stream);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** params, void** extra) {
  US_CUDA_REQUIRE(c != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Launch({f,
                 {c->gridDimX, c->gridDimY, c->gridDimZ},
                 {c->blockDimX, c->blockDimY, c->blockDimZ},
                 c->sharedMemBytes,
                 params,
                 extra,
                 c->attrs,
                 c->numAttrs},
                c->hStream);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle, int threads,
                                                              size_t shared, unsigned int flags) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_TRY(f->module->context->error);
  US_CUDA_REQUIRE(blocks != nullptr && threads > 0 && flags <= 1, CUDA_ERROR_INVALID_VALUE);
  *blocks = ActiveBlocks(*f, *f->module->context->device, threads, shared);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int threads, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned int flags) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(min_grid != nullptr && block != nullptr && limit >= 0 && flags <= 1,
                  CUDA_ERROR_INVALID_VALUE);
  const Device& device = *f->module->context->device;
  int most = f->max_threads(device);
  if (limit > 0) most = std::min(most, limit);
  // The largest block among those that keep most threads resident.
  int best_threads = 0, best_block = 0, best_blocks = 0;
  for (int threads = static_cast<int>(AlignUp(static_cast<uint64_t>(most), uint64_t{32})); threads > 0;
       threads -= 32) {
    const int size = std::min(threads, most);
    const int blocks = ActiveBlocks(*f, device, size, shared_of != nullptr ? shared_of(size) : shared);
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size, best_block = size, best_blocks = blocks;
  }
  *block = best_block;
  *min_grid = best_blocks * device.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block, CUfunction f,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, f, shared_of, shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int threads) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(bytes != nullptr && blocks > 0 && threads > 0, CUDA_ERROR_INVALID_VALUE);
  const Device& device = *f->module->context->device;
  US_CUDA_REQUIRE(blocks <= ActiveBlocks(*f, device, threads, 0), CUDA_ERROR_INVALID_VALUE);
  const int64_t all = device.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  // What the driver answers leaves out what it reserves for each block, and keeps to the function's limit.
  const int64_t each = all / blocks / 128 * 128 - f->static_shared();
  *bytes = static_cast<size_t>(std::clamp<int64_t>(each, 0, f->max_dynamic_shared));
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(size != nullptr && config != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Device& device = *f->module->context->device;
  US_CUDA_REQUIRE(device.Attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const int64_t threads = int64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  const bool fits = ActiveBlocks(*f, device, static_cast<int>(std::min<int64_t>(threads, INT32_MAX)),
                                 config->sharedMemBytes) > 0;
  *size = !fits ? 0 : f->non_portable_cluster ? 16 : 8;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  Function* f = nullptr;
  US_CUDA_TRY(FindFunction(D(), handle, &f));
  US_CUDA_REQUIRE(clusters != nullptr && config != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Device& device = *f->module->context->device;
  US_CUDA_REQUIRE(device.Attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  emu::ptx::Dim3 cluster;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = {config->attrs[i].value.clusterDim.x, config->attrs[i].value.clusterDim.y,
                 config->attrs[i].value.clusterDim.z};
  const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  US_CUDA_REQUIRE(threads != 0 && grid[0] != 0 && grid[1] != 0 && grid[2] != 0, CUDA_ERROR_INVALID_VALUE);
  // It counts clusters of more blocks than a launch may have, where these may be non-portable.
  const bool beyond = f->non_portable_cluster && cluster.count() > kMostOfNonPortable;
  US_CUDA_TRY(CheckCluster(*f, device, grid, cluster, beyond));
  // Eight blocks of clusters a multiprocessor at most; without a cluster there are none.
  constexpr int kMostOfClusters = 8;
  const bool has_cluster = cluster.count() > 1 || config->numAttrs > 0 || f->cluster[0] > 0;
  const int blocks = ActiveBlocks(*f, device, static_cast<int>(std::min<uint64_t>(threads, INT32_MAX)),
                                  config->sharedMemBytes);
  *clusters = !has_cluster
                  ? 0
                  : device.profile->ActiveClusters(static_cast<int>(std::max<uint64_t>(cluster.count(), 1)),
                                                   std::min(kMostOfClusters, blocks));
  return CUDA_SUCCESS;
}

}  // namespace calls
}  // namespace understudy::mockgpu::nv
