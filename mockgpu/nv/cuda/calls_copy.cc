// SPDX-License-Identifier: Apache-2.0
// Copies and fills, in and out of stream order.
#include <algorithm>
#include <cstring>

#include "mockgpu/nv/cuda/memory_calls.h"

namespace understudy::mockgpu::nv {

CopyCommand LinearCopy(uint64_t dst, uint64_t src, uint64_t bytes) {
  CopyCommand out;
  out.copy.srcMemoryType = out.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  out.copy.srcDevice = src;
  out.copy.dstDevice = dst;
  out.copy.WidthInBytes = bytes;
  out.copy.Height = out.copy.Depth = 1;
  return out;
}

CUDA_MEMCPY3D_PEER From2D(const CUDA_MEMCPY2D& c) {
  CUDA_MEMCPY3D_PEER p{};
  p.srcXInBytes = c.srcXInBytes, p.srcY = c.srcY, p.srcMemoryType = c.srcMemoryType, p.srcHost = c.srcHost;
  p.srcDevice = c.srcDevice, p.srcArray = c.srcArray, p.srcPitch = c.srcPitch;
  p.dstXInBytes = c.dstXInBytes, p.dstY = c.dstY, p.dstMemoryType = c.dstMemoryType, p.dstHost = c.dstHost;
  p.dstDevice = c.dstDevice, p.dstArray = c.dstArray, p.dstPitch = c.dstPitch;
  p.WidthInBytes = c.WidthInBytes, p.Height = c.Height, p.Depth = 1;
  // A pitch of 0 is a row after the other.
  if (p.srcPitch == 0) p.srcPitch = p.srcXInBytes + p.WidthInBytes;
  if (p.dstPitch == 0) p.dstPitch = p.dstXInBytes + p.WidthInBytes;
  return p;
}

CUDA_MEMCPY3D_PEER From3D(const CUDA_MEMCPY3D& c) {
  CUDA_MEMCPY3D_PEER p;
  static_assert(sizeof p == sizeof c);
  std::memcpy(&p, &c, sizeof p);
  p.srcContext = p.dstContext = nullptr;
  if (p.srcPitch == 0) p.srcPitch = p.srcXInBytes + p.WidthInBytes;
  if (p.dstPitch == 0) p.dstPitch = p.dstXInBytes + p.WidthInBytes;
  if (p.srcHeight == 0) p.srcHeight = p.srcY + p.Height;
  if (p.dstHeight == 0) p.dstHeight = p.dstY + p.Height;
  return p;
}

CUDA_MEMCPY3D To3D(const CUDA_MEMCPY3D_PEER& c) {
  CUDA_MEMCPY3D out;
  std::memcpy(&out, &c, sizeof out);
  out.reserved0 = out.reserved1 = nullptr;
  return out;
}

namespace {

// Virtual memory that no device may access yet is not memory for copies either.
bool NobodyMayAccess(const Range& range) {
  return range.kind == RangeKind::kVirtual && std::all_of(range.access.begin(), range.access.end(),
                                                          [](const auto& one) { return one.second == 0; });
}

}  // namespace

CUresult CheckCopy(Driver& driver, const CUDA_MEMCPY3D_PEER& c) {
  if (c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0) return CUDA_SUCCESS;
  const auto side = [&](CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, size_t x,
                        size_t y, size_t z, size_t pitch, size_t height) {
    if (type == CU_MEMORYTYPE_ARRAY)
      return array == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    US_CUDA_REQUIRE(
        type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED,
        CUDA_ERROR_INVALID_VALUE);
    const bool rows = c.Height > 1 || c.Depth > 1;
    US_CUDA_REQUIRE(pitch == 0 || x + c.WidthInBytes <= pitch, CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(!rows || (pitch != 0 && (c.Depth == 1 || y + c.Height <= height)),
                    CUDA_ERROR_INVALID_VALUE);
    const uint64_t base = CopyBase(type, host, device);
    const uint64_t first = base + (z * height + y) * pitch + x;
    US_CUDA_REQUIRE(base != 0, CUDA_ERROR_INVALID_VALUE);
    // The first row must lie somewhere; where the rest runs out of its allocation is found row by row.
    const Range* range = driver.FindRange(first);
    US_CUDA_REQUIRE(range == nullptr || !NobodyMayAccess(*range), CUDA_ERROR_INVALID_VALUE);
    const uint64_t need = range != nullptr && range->kind == RangeKind::kVirtual ? 1 : c.WidthInBytes;
    US_CUDA_REQUIRE(driver.HostBytes(first, need, type == CU_MEMORYTYPE_DEVICE) != nullptr,
                    CUDA_ERROR_INVALID_VALUE);
    const uint64_t last = base + ((z + c.Depth - 1) * height + y + c.Height - 1) * pitch + x;
    US_CUDA_REQUIRE(!rows || (range != nullptr && range->kind == RangeKind::kVirtual) ||
                        driver.HostBytes(last, c.WidthInBytes, type == CU_MEMORYTYPE_DEVICE) != nullptr,
                    CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
  };
  US_CUDA_TRY(side(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, c.srcZ,
                   c.srcPitch, c.srcHeight));
  return side(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch,
              c.dstHeight);
}

CUresult CheckMemset(Driver& driver, const CUDA_MEMSET_NODE_PARAMS& s) {
  US_CUDA_REQUIRE(s.elementSize == 1 || s.elementSize == 2 || s.elementSize == 4, CUDA_ERROR_INVALID_VALUE);
  if (s.width == 0 || s.height == 0) return CUDA_SUCCESS;
  US_CUDA_REQUIRE(s.dst % s.elementSize == 0, CUDA_ERROR_INVALID_VALUE);
  const uint64_t row = s.width * s.elementSize;
  US_CUDA_REQUIRE(s.height == 1 || (s.pitch >= row && s.pitch % s.elementSize == 0),
                  CUDA_ERROR_INVALID_VALUE);
  const Range* range = driver.FindRange(s.dst);
  US_CUDA_REQUIRE(range != nullptr && !NobodyMayAccess(*range), CUDA_ERROR_INVALID_VALUE);
  if (range->kind == RangeKind::kVirtual) return CUDA_SUCCESS;
  US_CUDA_REQUIRE(driver.HostBytes(s.dst + (s.height - 1) * s.pitch, row, true) != nullptr,
                  CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

namespace {

Driver& D() { return Driver::Get(); }

bool Pageable(CUmemorytype type, const void* host, CUdeviceptr device) {
  const Range* range = D().FindRange(CopyBase(type, host, device));
  return range == nullptr;
}

// In stream order; with `wait` the call returns when it is done.
CUresult Copy(CUDA_MEMCPY3D_PEER copy, CUstream handle, bool wait) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  if (wait) {
    US_CUDA_TRY(D().CheckLegacy(*stream));
    US_CUDA_TRY(D().CheckNotCapturing(stream->context));
    US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  }
  US_CUDA_TRY(CheckCopy(D(), copy));
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return CUDA_SUCCESS;
  CopyCommand command;
  command.copy = copy;
  if (stream->capture != nullptr) return D().Submit(stream, std::move(command));
  // Pageable host memory is the caller's again when the call returns.
  const bool from_pageable = Pageable(copy.srcMemoryType, copy.srcHost, copy.srcDevice);
  const bool to_pageable = Pageable(copy.dstMemoryType, copy.dstHost, copy.dstDevice);
  const bool linear = copy.Height == 1 && copy.Depth == 1;
  if (from_pageable && !to_pageable && linear && !wait && !D().Idle(*stream->context)) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(
        CopyBase(copy.srcMemoryType, copy.srcHost, copy.srcDevice) + copy.srcXInBytes);
    command.staged.assign(bytes, bytes + copy.WidthInBytes);
  }
  const bool must_wait = wait || to_pageable || (from_pageable && command.staged.empty());
  US_CUDA_TRY(D().Submit(stream, std::move(command)));
  return must_wait ? D().Wait(stream->context, stream) : CUDA_SUCCESS;
}

CUresult Linear(uint64_t dst, uint64_t src, size_t bytes, CUstream stream, bool wait) {
  return Copy(LinearCopy(dst, src, bytes).copy, stream, wait);
}

uint64_t At(const void* p) { return reinterpret_cast<uint64_t>(p); }

// One of the ends must be memory of a device.
CUresult FromHost(uint64_t dst, const void* src, size_t bytes, CUstream stream, bool wait) {
  Stream* found = nullptr;
  US_CUDA_TRY(D().FindStream(stream, &found));
  US_CUDA_REQUIRE(bytes == 0 || D().FindRange(dst) != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Linear(dst, At(src), bytes, stream, wait);
}
CUresult ToHost(void* dst, uint64_t src, size_t bytes, CUstream stream, bool wait) {
  Stream* found = nullptr;
  US_CUDA_TRY(D().FindStream(stream, &found));
  US_CUDA_REQUIRE(bytes == 0 || D().FindRange(src) != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Linear(At(dst), src, bytes, stream, wait);
}
CUresult Within(uint64_t dst, uint64_t src, size_t bytes, CUstream stream, bool wait) {
  Stream* found = nullptr;
  US_CUDA_TRY(D().FindStream(stream, &found));
  US_CUDA_REQUIRE(bytes == 0 || (D().FindRange(src) != nullptr && D().FindRange(dst) != nullptr),
                  CUDA_ERROR_INVALID_VALUE);
  return Linear(dst, src, bytes, stream, wait);
}

CUresult CheckPeers(CUcontext a, CUcontext b) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  // Null is the current one.
  for (Context* peer : {a, b}) {
    if (peer == nullptr) continue;
    US_CUDA_REQUIRE(D().contexts.Has(peer), CUDA_ERROR_INVALID_CONTEXT);
    US_CUDA_TRY(peer->error);
  }
  return CUDA_SUCCESS;
}

CUresult Fill(CUdeviceptr dst, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
              CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  const CUDA_MEMSET_NODE_PARAMS set{dst, pitch, value, element, width, height};
  // A capture does not ask what lies at the address.
  if (stream->capture == nullptr) US_CUDA_TRY(CheckMemset(D(), set));
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  return D().Submit(stream, MemsetCommand{set});
}

}  // namespace

namespace calls {

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t bytes) {
  return FromHost(dst, src, bytes, nullptr, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream) {
  return FromHost(dst, src, bytes, stream, false);
}
CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes) {
  return ToHost(dst, src, bytes, nullptr, true);
}
CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return ToHost(dst, src, bytes, stream, false);
}
// Between device memories the call need not wait: later work is ordered behind it.
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return Within(dst, src, bytes, nullptr, false);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return Within(dst, src, bytes, stream, false);
}
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return Linear(dst, src, bytes, nullptr, true);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return Linear(dst, src, bytes, stream, false);
}
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                      size_t bytes) {
  US_CUDA_TRY(CheckPeers(dst_context, src_context));
  return Within(dst, src, bytes, nullptr, true);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                           size_t bytes, CUstream stream) {
  US_CUDA_TRY(CheckPeers(dst_context, src_context));
  return Within(dst, src, bytes, stream, false);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From2D(*copy), nullptr, true);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D_v2(copy); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From2D(*copy), stream, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From3D(*copy), nullptr, true);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From3D(*copy), stream, false);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From3D(To3D(*copy)), nullptr, true);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  US_CUDA_REQUIRE(copy != nullptr, CUDA_ERROR_INVALID_VALUE);
  return Copy(From3D(To3D(*copy)), stream, false);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* indices, size_t num_attributes,
                               CUstream stream) {
  Stream* found = nullptr;
  US_CUDA_TRY(D().FindStream(stream, &found));
  // The legacy stream takes no batches.
  US_CUDA_REQUIRE(!found->legacy, CUDA_ERROR_INVALID_HANDLE);
  US_CUDA_REQUIRE(count > 0 && dsts != nullptr && srcs != nullptr && sizes != nullptr &&
                      attributes != nullptr && indices != nullptr && num_attributes > 0 &&
                      num_attributes <= count && indices[0] == 0,
                  CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) US_CUDA_TRY(Linear(dsts[i], srcs[i], sizes[i], stream, false));
  return CUDA_SUCCESS;
}
CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* indices, size_t num_attributes,
                            size_t* failed, CUstream stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attributes, indices, num_attributes, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char v, size_t n) {
  return Fill(dst, 0, v, 1, n, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short v, size_t n) {
  return Fill(dst, 0, v, 2, n, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int v, size_t n) {
  return Fill(dst, 0, v, 4, n, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char v, size_t n, CUstream s) {
  return Fill(dst, 0, v, 1, n, 1, s);
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short v, size_t n, CUstream s) {
  return Fill(dst, 0, v, 2, n, 1, s);
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int v, size_t n, CUstream s) {
  return Fill(dst, 0, v, 4, n, 1, s);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h) {
  return Fill(dst, pitch, v, 1, w, h, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h) {
  return Fill(dst, pitch, v, 2, w, h, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int v, size_t w, size_t h) {
  return Fill(dst, pitch, v, 4, w, h, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h, CUstream s) {
  return Fill(dst, pitch, v, 1, w, h, s);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s) {
  return Fill(dst, pitch, v, 2, w, h, s);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int v, size_t w, size_t h, CUstream s) {
  return Fill(dst, pitch, v, 4, w, h, s);
}

}  // namespace calls
}  // namespace understudy::mockgpu::nv
