// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/image_rsrc.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/mem_forms.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

uint32_t Field(uint32_t word, int high, int low) { return static_cast<uint32_t>(Bits(word, high, low)); }

// The layouts that share word 3's type and component selection.
struct Fields {
  uint32_t format = 0, format2 = 0;  // GFX9: data and number format
  uint32_t depth = 0, pitch = 0;     // as encoded: one less; pitch 0 where the width decides
  bool compressed = false;
  bool view3d = false;       // first and last slice of a 3D image are in the descriptor
  uint32_t row_bytes = 256;  // to which rows of a linear image are padded
};

Fields ReadRdna3(const uint32_t* w, ImageDescriptor* d) {
  d->width = (Field(w[1], 31, 30) | Field(w[2], 11, 0) << 2) + 1;
  d->height = Field(w[2], 27, 14) + 1;
  d->base_level = Field(w[3], 15, 12);
  d->last_level = Field(w[3], 19, 16);
  d->first_layer = Field(w[4], 28, 16);
  Fields f;
  f.format = Field(w[1], 27, 20);
  f.depth = Field(w[4], 12, 0);
  f.pitch = Field(w[4], 13, 0);
  f.compressed = Field(w[6], 21, 21) != 0;
  f.view3d = Field(w[5], 0, 0) != 0;
  return f;
}

Fields ReadRdna4(const uint32_t* w, ImageDescriptor* d) {
  d->width = (Field(w[1], 31, 30) | Field(w[2], 13, 0) << 2) + 1;
  d->height = Field(w[2], 29, 14) + 1;
  d->base_level = Field(w[1], 29, 25);
  d->last_level = Field(w[3], 19, 15);
  d->first_layer = Field(w[4], 28, 16);
  Fields f;
  f.format = Field(w[1], 24, 17);
  f.depth = Field(w[4], 13, 0);
  f.pitch = Field(w[4], 15, 0);
  f.view3d = Field(w[5], 4, 4) != 0;
  f.row_bytes = 128;
  return f;
}

Fields ReadGfx9(const uint32_t* w, ImageDescriptor* d) {
  d->width = Field(w[2], 13, 0) + 1;
  d->height = Field(w[2], 27, 14) + 1;
  d->base_level = Field(w[3], 15, 12);
  d->last_level = Field(w[3], 19, 16);
  d->first_layer = Field(w[5], 12, 0);
  Fields f;
  f.format = Field(w[1], 25, 20);
  f.format2 = Field(w[1], 29, 26);
  f.depth = Field(w[4], 12, 0);
  f.pitch = Field(w[4], 28, 13);
  f.compressed = Field(w[6], 21, 21) != 0;
  return f;
}

}  // namespace

std::string ImageDescriptor::Read(const Inst& inst, const WaveState& wave) {
  uint32_t w[8] = {};
  std::memcpy(w, &wave.sgpr[inst.src[1].reg], inst.r128 ? 16 : 32);
  bound = std::any_of(w, w + 8, [](uint32_t word) { return word != 0; });
  if (!bound) return "";
  const uint32_t kind = Field(w[3], 31, 28);
  if (kind < 8) return absl::StrFormat("the descriptor's type is %d, expected an image's (8 to 13)", kind);
  type = static_cast<ImageType>(kind);
  if (type >= ImageType::k2DMsaa) return "images with several samples are not modelled";
  base = (w[0] | uint64_t{w[1] & 0xffu} << 32) << 8;
  for (int i = 0; i < 4; ++i) select[i] = static_cast<uint8_t>(Field(w[3], 3 * i + 2, 3 * i));
  const bool gfx9 = IsCdna(wave.isa);
  const Fields f = gfx9                      ? ReadGfx9(w, this)
                   : wave.isa == Isa::kRdna4 ? ReadRdna4(w, this)
                                             : ReadRdna3(w, this);
  format = gfx9 ? Gfx9ImageFormat(f.format, f.format2) : ImageFormat(f.format);
  if (format == nullptr) return absl::StrFormat("image format %d is not modelled", f.format);
  const uint32_t tiling = Field(w[3], 24, 20);
  if (tiling != 0) return absl::StrFormat("swizzle mode %d: only linear images (0) are modelled", tiling);
  if (base_level != 0 || last_level != 0) {
    return absl::StrFormat("levels %d to %d: images with mip levels are not modelled", base_level,
                           last_level);
  }
  if (f.compressed) return "compressed images are not modelled";
  const uint32_t texel = static_cast<uint32_t>(format->bytes());
  pitch = (width * texel + f.row_bytes - 1) / f.row_bytes * f.row_bytes / texel;
  // 1D and 2D images may say that their rows are longer; GFX9 always says how long they are.
  const bool flat = type == ImageType::k1D || type == ImageType::k2D;
  if (gfx9 || (flat && f.pitch + 1 > width && f.pitch != 0)) pitch = f.pitch + 1;
  if (type == ImageType::k1D || type == ImageType::k1DArray) height = 1;
  if (flat) {
    first_layer = 0;
    layers = 1;
  } else if (type == ImageType::k3D && !f.view3d) {
    first_layer = 0;
    layers = f.depth + 1;
  } else {
    layers = f.depth >= first_layer ? f.depth - first_layer + 1 : 0;
  }
  return "";
}

ImageAddress::ImageAddress(const Inst& inst, WaveState& wave, ImageType type, bool mip)
    : half_(inst.a16), mip_(mip), type_(type) {
  int n = 0;
  // GFX9's encoding does not say how many registers hold the address: the image does.
  constexpr int kMostCoordinates = 4, kLastVgpr = 255;
  const int count = IsCdna(wave.isa) ? kMostCoordinates : inst.src[0].dwords;
  for (int i = 0; i < count && n < 5 && inst.src[0].reg + i <= kLastVgpr; ++i)
    rows_[n++] = wave.Vgpr(inst.src[0].reg + i);
  for (int k = 0; k < inst.n_nsa; ++k) {
    for (int i = 0; i < inst.nsa_dwords[k] && n < 5; ++i) rows_[n++] = wave.Vgpr(inst.nsa_vaddr[k] + i);
  }
  // RDNA says how many coordinates it gives; the image may have more dimensions, whose coordinates are then
  // 0.
  constexpr ImageType kDims[] = {ImageType::k1D,     ImageType::k2D,         ImageType::k3D,
                                 ImageType::kCube,   ImageType::k1DArray,    ImageType::k2DArray,
                                 ImageType::k2DMsaa, ImageType::k2DMsaaArray};
  if (IsRdna(wave.isa)) {
    type_ = kDims[inst.dim & 7];
  } else if (inst.dim == 0) {
    // GFX9's DA bit is clear: no coordinate chooses a layer.
    if (type == ImageType::k1DArray) type_ = ImageType::k1D;
    if (type == ImageType::k2DArray || type == ImageType::kCube) type_ = ImageType::k2D;
  }
}

uint32_t ImageAddress::Component(int index, int lane) const {
  const uint32_t* row = rows_[half_ ? index / 2 : index];
  if (row == nullptr) return 0;
  return half_ ? row[lane] >> (16 * (index % 2)) & 0xffffu : row[lane];
}

TexelPosition ImageAddress::Position(int lane) const {
  TexelPosition p;
  int next = 0;
  p.x = Component(next++, lane);
  if (type_ != ImageType::k1D && type_ != ImageType::k1DArray) p.y = Component(next++, lane);
  if (type_ != ImageType::k1D && type_ != ImageType::k2D) p.layer = Component(next++, lane);
  if (mip_) p.level = Component(next, lane);
  return p;
}

bool TexelAddress(const ImageDescriptor& image, const TexelPosition& p, uint64_t* address) {
  if (!image.bound || p.x >= image.width || p.y >= image.height || p.layer >= image.layers || p.level != 0)
    return false;
  const uint64_t layer = uint64_t{image.first_layer} + p.layer;
  *address = image.base + ((layer * image.height + p.y) * image.pitch + p.x) *
                              static_cast<uint64_t>(image.format->bytes());
  return true;
}

}  // namespace understudy::emu::amd
