// SPDX-License-Identifier: Apache-2.0
// Pools of memory, virtual memory, tensor maps.
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }
CUdeviceptr P(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

void Pools() {
  Start();
  CUmemoryPool pool = nullptr, mine = nullptr;
  CUdeviceptr p = 0, q = 0;
  uint64_t v = 0;
  int n = 0;
  Case("default", cuDeviceGetDefaultMemPool(&pool, 0)).V(pool != nullptr);
  Case("default.null", cuDeviceGetDefaultMemPool(nullptr, 0));
  Case("default.device9", cuDeviceGetDefaultMemPool(&pool, 9));
  Case("current", cuDeviceGetMemPool(&mine, 0)).V(mine == pool);
  Case("set.null", cuDeviceSetMemPool(0, nullptr));
  Case("set.device9", cuDeviceSetMemPool(9, pool));
  Case("destroy.default", cuMemPoolDestroy(pool));
  Case("destroy.null", cuMemPoolDestroy(nullptr));
  for (int a = 0; a <= 9; ++a) {
    v = 0;
    Case(N("attribute", a), cuMemPoolGetAttribute(pool, a, &v)).V(static_cast<long long>(v));
  }
  Case("attribute.null", cuMemPoolGetAttribute(pool, 1, nullptr));
  Case("attribute.nullPool", cuMemPoolGetAttribute(nullptr, 1, &v));
  for (int a = 1; a <= 3; ++a) {
    n = 0;
    Case(N("set.0", a), cuMemPoolSetAttribute(pool, a, &n));
    n = 1;
    Case(N("set.1", a), cuMemPoolSetAttribute(pool, a, &n));
    n = 2;
    Case(N("set.2", a), cuMemPoolSetAttribute(pool, a, &n));
    Case(N("set.get", a), cuMemPoolGetAttribute(pool, a, &n)).V(n);
  }
  for (int a = 4; a <= 8; ++a) {
    v = 0;
    Case(N("set.0", a), cuMemPoolSetAttribute(pool, a, &v));
    v = 4096;
    Case(N("set.4096", a), cuMemPoolSetAttribute(pool, a, &v));
  }
  CUmemPoolProps props{};
  const auto create = [&](const char* name, auto change) {
    props = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    change(props);
    mine = nullptr;
    const CUresult r = cuMemPoolCreate(&mine, &props);
    Case(std::string("create.") + name, r);
    if (r == CUDA_SUCCESS) US_NEED(cuMemPoolDestroy(mine));
  };
  create("plain", [](CUmemPoolProps&) {});
  create("type0", [](CUmemPoolProps& x) { x.allocType = 0; });
  create("type9", [](CUmemPoolProps& x) { x.allocType = 9; });
  create("location0", [](CUmemPoolProps& x) { x.location.type = 0; });
  create("location9", [](CUmemPoolProps& x) { x.location.type = 9; });
  create("device9", [](CUmemPoolProps& x) { x.location.id = 9; });
  create("device-1", [](CUmemPoolProps& x) { x.location.id = -1; });
  create("handles16", [](CUmemPoolProps& x) { x.handleTypes = 16; });
  create("max", [](CUmemPoolProps& x) { x.maxSize = 1 << 20; });
  create("usage1", [](CUmemPoolProps& x) { x.usage = 0x4000; });
  create("reserved", [](CUmemPoolProps& x) { x.reserved[3] = 1; });
  Case("create.null", cuMemPoolCreate(nullptr, &props));
  Case("create.nullProps", cuMemPoolCreate(&mine, nullptr));
  CUstream s = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  Case("alloc.0", cuMemAllocAsync(&p, 0, s));
  Case("alloc.null", cuMemAllocAsync(nullptr, 256, s));
  Case("alloc.huge", cuMemAllocAsync(&p, size_t{1} << 45, s));
  for (const size_t bytes : {1ul, 1000ul, 65536ul, 3ul << 20}) {
    size_t range = 0;
    CUdeviceptr base = 0;
    US_NEED(cuMemAllocAsync(&p, bytes, s));
    Case(N("alloc", static_cast<long long>(bytes)), cuMemGetAddressRange_v2(&base, &range, p))
        .V(base == p)
        .V(static_cast<long long>(range))
        .V(p % 512 == 0);
    US_NEED(cuMemFreeAsync(p, s));
  }
  Case("sync", cuStreamSynchronize(s));
  US_NEED(cuMemAllocAsync(&p, 1000, s));
  US_NEED(cuStreamSynchronize(s));
  Case("used", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v))
      .V(static_cast<long long>(v));
  Case("reserved", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v))
      .V(static_cast<long long>(v));
  Case("usedHigh", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v))
      .V(static_cast<long long>(v));
  Case("reservedHigh", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &v))
      .V(static_cast<long long>(v));
  Case("freeAsync.middle", cuMemFreeAsync(p + 256, s));
  Case("freeAsync.0", cuMemFreeAsync(0, s));
  Case("freeAsync", cuMemFreeAsync(p, s));
  Case("freeAsync.again", cuMemFreeAsync(p, s));
  US_NEED(cuStreamSynchronize(s));
  Case("freeAsync.afterSync", cuMemFreeAsync(p, s));
  Case("free.freed", cuMemFree_v2(p));
  char word[16];
  Case("copy.freed", cuMemcpyDtoH_v2(word, p, 16));
  US_NEED(cuMemAllocAsync(&p, 1000, s));
  Case("free.ofPool", cuMemFree_v2(p));
  q = Device(4096);
  Case("freeAsync.ofAlloc", cuMemFreeAsync(q, s));
  Case("freeAsync.stack", cuMemFreeAsync(P(&q), s));
  Case("trim", cuMemPoolTrimTo(pool, 0));
  Case("trim.null", cuMemPoolTrimTo(nullptr, 0));
  CUmemAccess_flags flags = 9;
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, absent{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  Case("access", cuMemPoolGetAccess(&flags, pool, &here)).V(flags);
  Case("access.absent", cuMemPoolGetAccess(&flags, pool, &absent));
  Case("access.null", cuMemPoolGetAccess(nullptr, pool, &here));
  for (const int f : {0, 1, 2, 3, 4}) {
    const CUmemAccessDesc desc{here, f};
    Case(N("setAccess.self", f), cuMemPoolSetAccess(pool, &desc, 1));
  }
  const CUmemAccessDesc bad{absent, 3};
  Case("setAccess.absent", cuMemPoolSetAccess(pool, &bad, 1));
  Case("setAccess.count0", cuMemPoolSetAccess(pool, nullptr, 0));
  Case("setAccess.null", cuMemPoolSetAccess(pool, nullptr, 1));
  props = {};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  props.maxSize = 4 << 20;
  US_NEED(cuMemPoolCreate(&mine, &props));
  Case("max.within", cuMemAllocFromPoolAsync(&p, 1 << 20, mine, s));
  Case("max.beyond", cuMemAllocFromPoolAsync(&q, 1 << 30, mine, s));
  Case("fromPool.null", cuMemAllocFromPoolAsync(&q, 256, nullptr, s));
  Case("setPool", cuDeviceSetMemPool(0, mine));
  Case("destroyPool.inUse", cuMemPoolDestroy(mine));
  CUmemoryPool now = nullptr;
  Case("currentPool.afterDestroy", cuDeviceGetMemPool(&now, 0)).V(now == pool);
  Case("freeAsync.ofDestroyed", cuMemFreeAsync(p, s));
  Case("sync.end", cuStreamSynchronize(s));
  for (int a = -1; a <= 4; ++a) {
    v = 77;
    Case(N("graphMemory", a), cuDeviceGetGraphMemAttribute(0, a, &v)).V(static_cast<long long>(v));
  }
  Case("graphMemory.null", cuDeviceGetGraphMemAttribute(0, 0, nullptr));
  v = 0;
  for (int a = 0; a <= 3; ++a) Case(N("graphMemory.set", a), cuDeviceSetGraphMemAttribute(0, a, &v));
  v = 1;
  Case("graphMemory.set.1", cuDeviceSetGraphMemAttribute(0, 1, &v));
  Case("graphMemory.trim", cuDeviceGraphMemTrim(0));
  Case("graphMemory.trim.9", cuDeviceGraphMemTrim(9));
}

void Virtual() {
  Start();
  size_t granularity = 0;
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  for (int option = -1; option <= 2; ++option)
    Case(N("granularity", option), cuMemGetAllocationGranularity(&granularity, &prop, option))
        .V(static_cast<long long>(granularity));
  Case("granularity.null", cuMemGetAllocationGranularity(nullptr, &prop, 0));
  Case("granularity.nullProp", cuMemGetAllocationGranularity(&granularity, nullptr, 0));
  CUmemGenericAllocationHandle h = 0, g = 0;
  constexpr size_t kPage = 2 << 20;
  const auto create = [&](const char* name, size_t bytes, auto change, unsigned long long flags = 0) {
    CUmemAllocationProp x = prop;
    change(x);
    g = 0;
    const CUresult r = cuMemCreate(&g, bytes, &x, flags);
    Case(std::string("create.") + name, r);
    if (r == CUDA_SUCCESS) US_NEED(cuMemRelease(g));
  };
  const auto same = [](CUmemAllocationProp&) {};
  create("plain", kPage, same);
  create("0", 0, same);
  create("4096", 4096, same);
  create("65536", 65536, same);
  create("huge", size_t{1} << 45, same);
  create("flags1", kPage, same, 1);
  create("type0", kPage, [](auto& x) { x.type = 0; });
  create("location0", kPage, [](auto& x) { x.location.type = 0; });
  create("device9", kPage, [](auto& x) { x.location.id = 9; });
  create("device-1", kPage, [](auto& x) { x.location.id = -1; });
  create("compression1", kPage, [](auto& x) { x.allocFlags.compressionType = 7; });
  create("reserved", kPage, [](auto& x) { x.allocFlags.reserved[0] = 1; });
  Case("create.null", cuMemCreate(nullptr, kPage, &prop, 0));
  Case("create.nullProp", cuMemCreate(&g, kPage, nullptr, 0));
  CUdeviceptr va = 0, other = 0;
  Case("reserve.0", cuMemAddressReserve(&va, 0, 0, 0, 0));
  Case("reserve.4096", cuMemAddressReserve(&va, 4096, 0, 0, 0));
  Case("reserve.65536", cuMemAddressReserve(&va, 65536, 0, 0, 0));
  Case("reserve.align3", cuMemAddressReserve(&va, kPage, 3, 0, 0));
  Case("reserve.align4096", cuMemAddressReserve(&va, kPage, 4096, 0, 0));
  Case("reserve.align64M", cuMemAddressReserve(&va, kPage, 64 << 20, 0, 0)).V(va % (64 << 20) == 0);
  Case("reserve.flags1", cuMemAddressReserve(&va, kPage, 0, 0, 1));
  Case("reserve.null", cuMemAddressReserve(nullptr, kPage, 0, 0, 0));
  Case("reserve.huge", cuMemAddressReserve(&va, size_t{1} << 60, 0, 0, 0));
  Case("reserve", cuMemAddressReserve(&va, 4 * kPage, 0, 0, 0)).V(va % kPage == 0);
  US_NEED(cuMemCreate(&h, kPage, &prop, 0));
  Case("map.offset", cuMemMap(va, kPage, 4096, h, 0));
  Case("map.size4096", cuMemMap(va, 4096, 0, h, 0));
  Case("map.tooLong", cuMemMap(va, 2 * kPage, 0, h, 0));
  Case("map.flags1", cuMemMap(va, kPage, 0, h, 1));
  Case("map.unaligned", cuMemMap(va + 4096, kPage, 0, h, 0));
  Case("map.notReserved", cuMemMap(va + 64 * kPage, kPage, 0, h, 0));
  Case("map.size0", cuMemMap(va, 0, 0, h, 0));
  Case("map", cuMemMap(va, kPage, 0, h, 0));
  Case("map.again", cuMemMap(va, kPage, 0, h, 0));
  Case("map.elsewhere", cuMemMap(va + kPage, kPage, 0, h, 0));
  uint32_t word = 5;
  Case("copy.noAccess", cuMemcpyHtoD_v2(va, &word, 4));
  unsigned long long flags = 9;
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, absent{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  Case("getAccess.none", cuMemGetAccess(&flags, &here, va)).V(static_cast<long long>(flags));
  CUmemAccessDesc desc{here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  Case("setAccess.size0", cuMemSetAccess(va, 0, &desc, 1));
  Case("setAccess.size4096", cuMemSetAccess(va, 4096, &desc, 1));
  Case("setAccess.tooLong", cuMemSetAccess(va, 4 * kPage, &desc, 1));
  Case("setAccess.null", cuMemSetAccess(va, kPage, nullptr, 1));
  Case("setAccess.count0", cuMemSetAccess(va, kPage, &desc, 0));
  CUmemAccessDesc bad = desc;
  bad.flags = 2;
  Case("setAccess.flags2", cuMemSetAccess(va, kPage, &bad, 1));
  bad = {absent, 3};
  Case("setAccess.device9", cuMemSetAccess(va, kPage, &bad, 1));
  Case("setAccess", cuMemSetAccess(va, kPage, &desc, 1));
  Case("getAccess", cuMemGetAccess(&flags, &here, va)).V(static_cast<long long>(flags));
  Case("getAccess.null", cuMemGetAccess(nullptr, &here, va));
  Case("getAccess.unmapped", cuMemGetAccess(&flags, &here, va + 2 * kPage));
  Case("copy", cuMemcpyHtoD_v2(va, &word, 4));
  Case("copy.elsewhere", cuMemcpyDtoH_v2(&word, va + kPage, 4));
  Case("retain", cuMemRetainAllocationHandle(&g, reinterpret_cast<void*>(va))).V(g == h);
  Case("retain.unmapped", cuMemRetainAllocationHandle(&g, reinterpret_cast<void*>(va + 3 * kPage)));
  Case("retain.null", cuMemRetainAllocationHandle(nullptr, reinterpret_cast<void*>(va)));
  CUmemAllocationProp got{};
  Case("properties", cuMemGetAllocationPropertiesFromHandle(&got, h))
      .V(got.type)
      .V(got.location.type)
      .V(got.location.id);
  Case("properties.null", cuMemGetAllocationPropertiesFromHandle(nullptr, h));
  Case("free", cuMemFree_v2(va));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  Case("range", cuMemGetAddressRange_v2(&base, &bytes, va + 8))
      .V(base == va)
      .V(static_cast<long long>(bytes));
  Case("addressFree.mapped", cuMemAddressFree(va, 4 * kPage));
  Case("release", cuMemRelease(h));
  Case("copy.released", cuMemcpyHtoD_v2(va, &word, 4));
  Case("unmap.part", cuMemUnmap(va, 4096));
  Case("unmap.0", cuMemUnmap(va, 0));
  Case("unmap", cuMemUnmap(va, kPage));
  Case("unmap.again", cuMemUnmap(va, kPage));
  Case("unmap.elsewhere", cuMemUnmap(va + kPage, kPage));
  Case("addressFree.part", cuMemAddressFree(va, kPage));
  Case("addressFree.middle", cuMemAddressFree(va + kPage, kPage));
  Case("addressFree", cuMemAddressFree(va, 4 * kPage));
  Case("addressFree.again", cuMemAddressFree(va, 4 * kPage));
  Case("addressFree.0", cuMemAddressFree(0, 0));
  Case("reserve.fixed", cuMemAddressReserve(&other, kPage, 0, va, 0)).V(other == va);
}

void TensorMaps() {
  Start();
  const CUdeviceptr d = Device(1 << 22);
  CUtensorMap map;
  struct Tile {
    int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    cuuint32_t rank = 2;
    CUdeviceptr address = 0;
    cuuint64_t dims[6] = {256, 64, 4, 2, 2, 1}, strides[5] = {1024, 65536, 262144, 524288, 1048576};
    cuuint32_t box[6] = {32, 8, 1, 1, 1, 1}, steps[6] = {1, 1, 1, 1, 1, 1};
    int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  };
  const auto tiled = [&](const std::string& name, auto change) {
    Tile t;
    t.address = d;
    change(t);
    Case("tiled." + name,
         cuTensorMapEncodeTiled(&map, t.type, t.rank, reinterpret_cast<void*>(t.address), t.dims, t.strides,
                                t.box, t.steps, t.interleave, t.swizzle, t.promotion, t.fill));
  };
  tiled("plain", [](Tile&) {});
  for (int type = -1; type <= 16; ++type) tiled(N("type", type), [&](Tile& t) { t.type = type; });
  for (int rank = 0; rank <= 6; ++rank)
    tiled(N("rank", rank), [&](Tile& t) { t.rank = static_cast<cuuint32_t>(rank); });
  for (int offset : {4, 8, 16, 32, 64})
    tiled(N("address+", offset), [&](Tile& t) { t.address += static_cast<CUdeviceptr>(offset); });
  tiled("address0", [](Tile& t) { t.address = 0; });
  for (cuuint64_t dim : {0ull, 1ull, 31ull, 1ull << 31, 1ull << 32, (1ull << 32) + 1})
    tiled(N("dim0", static_cast<long long>(dim)), [&](Tile& t) { t.dims[0] = dim; });
  for (cuuint64_t dim : {0ull, 1ull << 32, (1ull << 32) + 1})
    tiled(N("dim1", static_cast<long long>(dim)), [&](Tile& t) { t.dims[1] = dim; });
  for (cuuint64_t stride : {0ull, 8ull, 16ull, 1000ull, 1008ull, 1ull << 39, 1ull << 40, (1ull << 40) - 16})
    tiled(N("stride", static_cast<long long>(stride)), [&](Tile& t) { t.strides[0] = stride; });
  for (cuuint32_t box : {0u, 1u, 2u, 3u, 4u, 256u, 257u})
    tiled(N("box0", box), [&](Tile& t) { t.box[0] = box; });
  for (cuuint32_t box : {0u, 256u, 257u}) tiled(N("box1", box), [&](Tile& t) { t.box[1] = box; });
  tiled("boxBig", [](Tile& t) { t.box[0] = 256, t.box[1] = 256; });
  for (cuuint32_t step : {0u, 2u, 8u, 9u}) {
    tiled(N("step0", step), [&](Tile& t) { t.steps[0] = step; });
    tiled(N("step1", step), [&](Tile& t) { t.steps[1] = step; });
  }
  for (int i = -1; i <= 3; ++i) tiled(N("interleave", i), [&](Tile& t) { t.interleave = i; });
  for (int i = 1; i <= 2; ++i)
    for (int s = 0; s <= 3; ++s)
      tiled(N(N("interleave.rank3", i), s),
            [&](Tile& t) { t.interleave = i, t.rank = 3, t.swizzle = s, t.box[0] = 4; });
  for (int s = -1; s <= 7; ++s) {
    tiled(N("swizzle.box32", s), [&](Tile& t) { t.swizzle = s; });
    tiled(N("swizzle.box8", s), [&](Tile& t) { t.swizzle = s, t.box[0] = 8; });
    tiled(N("swizzle.box16", s), [&](Tile& t) { t.swizzle = s, t.box[0] = 16; });
    tiled(N("swizzle.box64", s), [&](Tile& t) { t.swizzle = s, t.box[0] = 64; });
  }
  for (int p = -1; p <= 4; ++p) tiled(N("promotion", p), [&](Tile& t) { t.promotion = p; });
  for (int f = -1; f <= 2; ++f) {
    tiled(N("fill", f), [&](Tile& t) { t.fill = f; });
    tiled(N("fill.int", f), [&](Tile& t) { t.fill = f, t.type = CU_TENSOR_MAP_DATA_TYPE_INT32; });
  }
  Tile t;
  void* const at = reinterpret_cast<void*>(d);
  Case("null.map", cuTensorMapEncodeTiled(nullptr, 7, 2, at, t.dims, t.strides, t.box, t.steps, 0, 0, 0, 0));
  Case("null.dims", cuTensorMapEncodeTiled(&map, 7, 2, at, nullptr, t.strides, t.box, t.steps, 0, 0, 0, 0));
  Case("null.strides", cuTensorMapEncodeTiled(&map, 7, 2, at, t.dims, nullptr, t.box, t.steps, 0, 0, 0, 0));
  Case("null.strides.rank1",
       cuTensorMapEncodeTiled(&map, 7, 1, at, t.dims, nullptr, t.box, t.steps, 0, 0, 0, 0));
  Case("null.box", cuTensorMapEncodeTiled(&map, 7, 2, at, t.dims, t.strides, nullptr, t.steps, 0, 0, 0, 0));
  Case("null.steps", cuTensorMapEncodeTiled(&map, 7, 2, at, t.dims, t.strides, t.box, nullptr, 0, 0, 0, 0));
  Case("good", cuTensorMapEncodeTiled(&map, 7, 2, at, t.dims, t.strides, t.box, t.steps, 0, 0, 0, 0));
  Case("replace", cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(d + 128)));
  Case("replace.unaligned", cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(d + 4)));
  Case("replace.0", cuTensorMapReplaceAddress(&map, nullptr));
  struct Im2col {
    int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    cuuint32_t rank = 4;
    cuuint64_t dims[5] = {64, 16, 16, 2, 2}, strides[4] = {128, 2048, 32768, 65536};
    int lower[3] = {-1, -1, 0}, upper[3] = {-1, -1, 0};
    cuuint32_t channels = 32, pixels = 64, steps[5] = {1, 1, 1, 1, 1};
    int interleave = 0, swizzle = 0;
  };
  const auto im2col = [&](const std::string& name, auto change) {
    Im2col x;
    change(x);
    Case("im2col." + name,
         cuTensorMapEncodeIm2col(&map, x.type, x.rank, at, x.dims, x.strides, x.lower, x.upper, x.channels,
                                 x.pixels, x.steps, x.interleave, x.swizzle, 0, 0));
  };
  im2col("plain", [](Im2col&) {});
  for (int rank = 0; rank <= 6; ++rank)
    im2col(N("rank", rank), [&](Im2col& x) { x.rank = static_cast<cuuint32_t>(rank); });
  for (cuuint32_t c : {0u, 1u, 8u, 256u, 257u}) im2col(N("channels", c), [&](Im2col& x) { x.channels = c; });
  for (cuuint32_t p : {0u, 1u, 1024u, 1025u}) im2col(N("pixels", p), [&](Im2col& x) { x.pixels = p; });
  for (int corner : {-129, -128, 127, 128}) {
    im2col(N("lower", corner), [&](Im2col& x) { x.lower[0] = corner; });
    im2col(N("upper", corner), [&](Im2col& x) { x.upper[1] = corner; });
  }
  im2col("swizzle3", [](Im2col& x) { x.swizzle = 3; });
  im2col("swizzle1", [](Im2col& x) { x.swizzle = 1; });
}

}  // namespace

const std::vector<NamedSection>& PoolSections() {
  static const auto* const all =
      new std::vector<NamedSection>{{"pool", Pools}, {"virtual", Virtual}, {"tensorMap", TensorMaps}};
  return *all;
}

}  // namespace understudy::probe
