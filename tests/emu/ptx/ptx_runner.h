// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole PTX text on the emulator, as conformance runs it, for tests that write their own.

#include "emu/ptx/conform/ptx_runner.h"  // IWYU pragma: export
