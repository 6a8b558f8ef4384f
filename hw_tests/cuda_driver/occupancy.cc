// SPDX-License-Identifier: Apache-2.0
// How many blocks and clusters fit at once.
#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/launch_attributes.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }

// Blocks of one multiprocessor for threads and dynamic shared memory, for kernels of known register counts.
void Occupancy() {
  Start();
  int n = 0;
  for (const int limit : {24, 32, 40, 48, 64, 72, 96, 128, 168, 255}) {
    CUmodule m = nullptr;
    US_NEED(cuModuleLoadData(&m, RegisterKernel(limit).c_str()));
    const CUfunction f = Kernel(m, "k");
    const std::string name = "reg" + std::to_string(limit);
    Case(name + ".registers", cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, f)).V(n);
    Case(name + ".maxThreads", cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f)).V(n);
    US_NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    for (const int threads : {1, 32, 33, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024}) {
      std::string values;
      for (const size_t shared :
           {0, 1, 128, 1024, 3000, 8192, 16384, 20000, 33000, 49152, 65536, 100000, 115000, 200000, 232448}) {
        n = -1;
        const CUresult r = cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, threads, shared);
        values += (values.empty() ? "" : " ") +
                  (r == CUDA_SUCCESS ? std::to_string(n) : "error " + std::to_string(r));
      }
      Fact(N(name, threads), values);
    }
    int grid = 0, block = 0;
    Case(name + ".potential", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0))
        .V(grid)
        .V(block);
    Case(name + ".potential.limit100", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 100))
        .V(grid)
        .V(block);
    Case(name + ".potential.shared50000",
         cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 50000, 0))
        .V(grid)
        .V(block);
    for (const int blocks : {1, 2, 3, 4, 8})
      for (const int threads : {32, 128, 512}) {
        size_t bytes = 0;
        Case(N(N(name + ".available", blocks), threads),
             cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, blocks, threads))
            .V(static_cast<long long>(bytes));
      }
    US_NEED(cuModuleUnload(m));
  }
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty"), s = Kernel(m, "static_shared");
  for (const char* name : {"empty", "maxntid", "reqntid", "minnctapersm", "static_shared", "dynamic_shared"})
    for (const int threads : {32, 64, 128, 256, 512, 1024})
      for (const size_t shared : {0, 9152, 9153, 50000, 232448}) {
        n = -1;
        Case(N(N(name, threads), static_cast<long long>(shared)),
             cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, Kernel(m, name), threads, shared))
            .V(n);
      }
  Case("threads0", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0)).V(n);
  Case("threads-1", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, -1, 0));
  Case("threads1025", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1025, 0)).V(n);
  Case("null", cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 32, 0));
  Case("nullFunction", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, nullptr, 32, 0));
  Case("sharedHuge", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 1 << 30)).V(n);
  for (unsigned flags = 0; flags <= 3; ++flags)
    Case(N("flags", flags), cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 32, 0, flags)).V(n);
  int grid = 0, block = 0;
  Case("potential", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0)).V(grid).V(block);
  Case("potential.static", cuOccupancyMaxPotentialBlockSize(&grid, &block, s, nullptr, 0, 0))
      .V(grid)
      .V(block);
  Case("potential.maxntid",
       cuOccupancyMaxPotentialBlockSize(&grid, &block, Kernel(m, "maxntid"), nullptr, 0, 0))
      .V(grid)
      .V(block);
  Case("potential.perThread",
       cuOccupancyMaxPotentialBlockSize(
           &grid, &block, f, [](int threads) -> size_t { return static_cast<size_t>(threads) * 100; }, 0, 0))
      .V(grid)
      .V(block);
  Case("potential.null", cuOccupancyMaxPotentialBlockSize(nullptr, &block, f, nullptr, 0, 0));
  Case("potential.limit-1", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, -1))
      .V(grid)
      .V(block);
  Case("potential.limit2000", cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 2000))
      .V(grid)
      .V(block);
  size_t bytes = 0;
  Case("available.static", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, s, 2, 128))
      .V(static_cast<long long>(bytes));
  Case("available.blocks0", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 0, 128));
  Case("available.blocks32", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 32, 32))
      .V(static_cast<long long>(bytes));
  Case("available.blocks33", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 33, 32));
  Case("available.threads0", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 0));
  CUlaunchConfig c{};
  c.gridDimX = 32, c.gridDimY = c.gridDimZ = 1, c.blockDimX = 128, c.blockDimY = c.blockDimZ = 1;
  Case("clusterSize", cuOccupancyMaxPotentialClusterSize(&n, f, &c)).V(n);
  Case("clusterSize.null", cuOccupancyMaxPotentialClusterSize(nullptr, f, &c));
  Case("clusterSize.nullConfig", cuOccupancyMaxPotentialClusterSize(&n, f, nullptr));
  Case("clusterSize.cluster2", cuOccupancyMaxPotentialClusterSize(&n, Kernel(m, "cluster2"), &c)).V(n);
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u})
    for (const unsigned threads : {32u, 128u, 1024u}) {
      Attributes a;
      a.Cluster(size, 1, 1);
      c.attrs = a.list, c.numAttrs = a.count, c.blockDimX = threads;
      n = -1;
      Case(N(N("clusters", size), threads), cuOccupancyMaxActiveClusters(&n, f, &c)).V(n);
    }
  c.attrs = nullptr, c.numAttrs = 0;
  Case("clusters.none", cuOccupancyMaxActiveClusters(&n, f, &c)).V(n);
  US_NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  Case("clusterSize.nonPortable", cuOccupancyMaxPotentialClusterSize(&n, f, &c)).V(n);
}

// How many clusters fit: a card's GPCs show in it.
void Clusters() {
  Start();
  const CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty");
  US_NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  int n = 0;
  const auto ask = [&](const std::string& name, unsigned x, unsigned y, unsigned z, unsigned threads,
                       unsigned shared, unsigned grid_x, unsigned grid_y = 1, unsigned grid_z = 1) {
    Attributes a;
    a.Cluster(x, y, z);
    CUlaunchConfig c{};
    c.gridDimX = grid_x, c.gridDimY = grid_y, c.gridDimZ = grid_z;
    c.blockDimX = threads, c.blockDimY = c.blockDimZ = 1, c.sharedMemBytes = shared;
    c.attrs = a.list, c.numAttrs = a.count;
    n = -1;
    Case(name, cuOccupancyMaxActiveClusters(&n, f, &c)).V(n);
  };
  const auto name = [](const char* what, unsigned size, unsigned threads, unsigned shared) {
    return N(N(N(what, size), threads), shared);
  };
  const auto potential = [&](const char* what, unsigned threads, unsigned shared) {
    CUlaunchConfig c{};
    c.gridDimX = 32, c.gridDimY = c.gridDimZ = 1, c.sharedMemBytes = shared;
    c.blockDimX = threads, c.blockDimY = c.blockDimZ = 1;
    n = -1;
    Case(N(N(what, threads), shared), cuOccupancyMaxPotentialClusterSize(&n, f, &c)).V(n);
  };
  for (const unsigned threads : {32u, 512u, 1024u, 1025u})
    for (const unsigned shared : {0u, 100000u, 232448u, 232449u}) potential("potential", threads, shared);
  ask("portable.8", 8, 1, 1, 32, 0, 8000);
  ask("portable.9", 9, 1, 1, 32, 0, 9000);
  US_NEED(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  for (const unsigned threads : {32u, 512u, 1024u, 1025u})
    for (const unsigned shared : {0u, 100000u, 232448u, 232449u})
      potential("potential.nonPortable", threads, shared);
  for (unsigned size = 1; size <= 20; ++size)
    for (const unsigned threads : {32u, 256u, 1024u})
      for (const unsigned shared : {0u, 100000u, 232448u})
        ask(name("active", size, threads, shared), size, 1, 1, threads, shared, size * 1000);
  for (const unsigned size : {1u, 2u, 3u, 4u, 8u, 16u})
    for (const unsigned threads : {64u, 128u, 384u, 512u, 768u})
      for (const unsigned shared : {0u, 20000u, 40000u, 60000u, 232449u})
        ask(name("mixed", size, threads, shared), size, 1, 1, threads, shared, size * 1000);
  // Forms of eight and of four blocks, and grids that are few or do not divide.
  ask("form.2x2x1", 2, 2, 1, 1024, 0, 100, 100);
  ask("form.1x4x1", 1, 4, 1, 1024, 0, 100, 100);
  ask("form.2x2x2", 2, 2, 2, 1024, 0, 100, 100, 100);
  ask("form.1x1x8", 1, 1, 8, 1024, 0, 100, 100, 80);
  ask("form.4x4x1", 4, 4, 1, 1024, 0, 100, 100);
  for (const unsigned grid : {1u, 2u, 3u, 4u, 8u, 9u, 16u, 32u, 33u}) {
    ask(N("grid.1", grid), 1, 1, 1, 32, 0, grid);
    ask(N("grid.2", grid), 2, 1, 1, 32, 0, grid);
    ask(N("grid.4", grid), 4, 1, 1, 32, 0, grid);
  }
  ask("threads0", 2, 1, 1, 0, 0, 2000);
  ask("grid0", 2, 1, 1, 32, 0, 0);
}

}  // namespace

const std::vector<NamedSection>& OccupancySections() {
  static const auto* const all =
      new std::vector<NamedSection>{{"occupancy", Occupancy}, {"cluster", Clusters}};
  return *all;
}

}  // namespace understudy::probe
