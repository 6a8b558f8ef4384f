// SPDX-License-Identifier: Apache-2.0
// Tensor maps, encoded as the emulator's tensor copies read them.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "emu/ptx/semantics/tensor_map.h"
#include "mockgpu/nv/cuda/driver.h"

namespace understudy::mockgpu::nv::calls {
namespace {

using emu::ptx::TensorMap;

Driver& D() { return Driver::Get(); }

bool IsBlackwell() {
  Context* context = nullptr;
  return D().Current(&context) == CUDA_SUCCESS &&
         context->device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 10;
}

CUresult Start(TensorMap* map, CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
               const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* steps,
               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
               CUtensorMapFloatOOBfill fill) {
  US_CUDA_REQUIRE(out != nullptr && dims != nullptr && steps != nullptr && strides != nullptr,
                  CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(rank >= 1 && rank <= emu::ptx::kMaxTensorRank && type >= 0 &&
                      type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && interleave >= 0 && interleave <= 2 &&
                      swizzle >= 0 && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B && promotion >= 0 &&
                      promotion <= 3 && fill >= 0 && fill <= 1,
                  CUDA_ERROR_INVALID_VALUE);
  // Elements of four and six bits, and swizzles with atoms of their own, came with Blackwell.
  US_CUDA_REQUIRE(
      IsBlackwell() || (type < CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B),
      CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || rank >= 3, CUDA_ERROR_INVALID_VALUE);
  map->rank = static_cast<int>(rank);
  map->type = static_cast<emu::ptx::TensorDataType>(type);
  map->interleave = static_cast<emu::ptx::TensorInterleave>(interleave);
  map->swizzle = static_cast<emu::ptx::TensorSwizzle>(swizzle);
  map->l2_promotion = static_cast<uint8_t>(promotion);
  map->fill = static_cast<emu::ptx::TensorFill>(fill);
  map->address = reinterpret_cast<uint64_t>(address);
  map->stride[0] = static_cast<uint64_t>(emu::ptx::TensorElementBytes(map->type));
  for (cuuint32_t d = 0; d < rank; ++d) {
    map->dim[d] = dims[d];
    map->element_stride[d] = steps[d];
    if (d > 0) map->stride[d] = strides[d - 1];
  }
  return CUDA_SUCCESS;
}

CUresult Finish(const TensorMap& map, CUtensorMap* out) {
  uint8_t bytes[emu::ptx::kTensorMapBytes];
  const absl::Status status = emu::ptx::EncodeTensorMap(map, bytes);
  if (!status.ok()) {
    D().Log(std::string(status.message()));
    return absl::IsUnimplemented(status) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(out, bytes, sizeof bytes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  TensorMap map;
  US_CUDA_REQUIRE(box != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(
      Start(&map, out, type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill));
  uint64_t bits = static_cast<uint64_t>(emu::ptx::TensorElementBits(map.type));
  for (cuuint32_t d = 0; d < rank; ++d) {
    map.box[d] = box[d];
    bits *= box[d];
  }
  // A box goes into the shared memory of a block.
  US_CUDA_REQUIRE(bits / 8 <= 232448, CUDA_ERROR_INVALID_VALUE);
  return Finish(map, out);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) {
  TensorMap map;
  US_CUDA_REQUIRE(lower != nullptr && upper != nullptr && rank >= 3, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(
      Start(&map, out, type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill));
  map.mode = emu::ptx::TensorMode::kIm2col;
  for (cuuint32_t d = 0; d + 2 < rank; ++d) map.lower[d] = lower[d], map.upper[d] = upper[d];
  // What is left between the corners is where a kernel's window may begin.
  for (cuuint32_t d = 0; d + 2 < rank; ++d)
    US_CUDA_REQUIRE(static_cast<int64_t>(dims[d + 1]) + upper[d] - lower[d] > 0, CUDA_ERROR_INVALID_VALUE);
  map.channels = channels;
  map.pixels = pixels;
  return Finish(map, out);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                     void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                     int lower, int upper, cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  TensorMap map;
  US_CUDA_REQUIRE(IsBlackwell(), CUDA_ERROR_NOT_SUPPORTED);
  US_CUDA_REQUIRE(
      rank >= 3 && mode >= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W && mode <= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
      CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(
      Start(&map, out, type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill));
  map.mode = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? emu::ptx::TensorMode::kIm2colW
                                                      : emu::ptx::TensorMode::kIm2colW128;
  US_CUDA_REQUIRE(static_cast<int64_t>(dims[1]) + upper - lower > 0, CUDA_ERROR_INVALID_VALUE);
  map.lower[0] = lower;
  map.upper[0] = upper;
  map.channels = channels;
  map.pixels = pixels;
  return Finish(map, out);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* out, void* address) {
  US_CUDA_REQUIRE(out != nullptr && address != nullptr, CUDA_ERROR_INVALID_VALUE);
  uint8_t bytes[emu::ptx::kTensorMapBytes];
  std::memcpy(bytes, out, sizeof bytes);
  absl::StatusOr<TensorMap> map = emu::ptx::DecodeTensorMap(bytes);
  US_CUDA_REQUIRE(map.ok(), CUDA_ERROR_INVALID_VALUE);
  map->address = reinterpret_cast<uint64_t>(address);
  return Finish(*map, out);
}

}  // namespace understudy::mockgpu::nv::calls
