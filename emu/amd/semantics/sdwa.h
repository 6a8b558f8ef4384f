// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sub-dword addressing of gfx9 (CDNA ISA, "SDWA"): selecting a byte or word of a source, and placing a result
// in a byte or word of its register. Used by operand staging and write-back; it knows no instruction by name.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/kernels.h"

namespace understudy::emu::amd {

// True where source `i` (0 or 1) is not used as the dword that it is.
bool SdwaSelects(const SdwaInfo& sdwa, int i);

// Replaces each lane by what source `i` selects, zero- or sign-extended.
void SelectSdwaSource(const SdwaInfo& sdwa, int i, int lanes, uint32_t* words);

// Writes a 16-bit (`half`) or 32-bit result into the selected part of `out`.
void WriteSdwaResult(const SdwaInfo& sdwa, bool half, uint64_t exec, int lanes, const KernelSet& kernels,
                     const uint32_t* result, uint32_t* out);

}  // namespace understudy::emu::amd
