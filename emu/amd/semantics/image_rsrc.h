// SPDX-License-Identifier: Apache-2.0
#pragma once
// Image descriptors of RDNA3, RDNA4 and gfx90a, and the address of a texel in an image with linear layout.
// Used by the image instructions; what it does not model (tiled layouts, mip chains, samples, compression) it
// refuses by name.

#include <cstdint>
#include <string>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/texel_format.h"

namespace understudy::emu::amd {

enum class ImageType : uint8_t {
  k1D = 8,
  k2D = 9,
  k3D = 10,
  kCube = 11,
  k1DArray = 12,
  k2DArray = 13,
  k2DMsaa = 14,
  k2DMsaaArray = 15
};

struct ImageDescriptor {
  uint64_t base = 0;
  uint32_t width = 1, height = 1;
  uint32_t layers =
      1;  // of an array, faces of cubes, slices of a 3D image: all of them from `first_layer` on
  uint32_t first_layer = 0;
  uint32_t pitch = 1;  // texels
  uint32_t base_level = 0, last_level = 0;
  ImageType type = ImageType::k2D;
  uint8_t select[4] = {4, 5, 6, 7};
  const TexelFormat* format = nullptr;
  bool bound = true;  // false for a descriptor of zeros: loads give zero, stores do nothing

  // "" or why the descriptor that `inst` names is refused.
  std::string Read(const Inst& inst, const WaveState& wave);
  bool layered() const { return type >= ImageType::k3D && type != ImageType::k2DMsaa; }
};

// One lane's texel, as the instruction's address registers name it.
struct TexelPosition {
  uint32_t x = 0, y = 0, layer = 0, level = 0;
};

// Reads the address registers: a component each or two a register (A16), contiguous or each where NSA says.
class ImageAddress {
 public:
  // `mip` says that the level follows the coordinates.
  ImageAddress(const Inst& inst, WaveState& wave, ImageType type, bool mip);
  TexelPosition Position(int lane) const;
  uint32_t Component(int index, int lane) const;

 private:
  const uint32_t* rows_[5] = {};
  bool half_ = false, mip_ = false;
  ImageType type_;
};

// The address of the texel, or false where it lies outside the image.
bool TexelAddress(const ImageDescriptor& image, const TexelPosition& position, uint64_t* address);

}  // namespace understudy::emu::amd
