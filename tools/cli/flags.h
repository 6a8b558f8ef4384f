// SPDX-License-Identifier: Apache-2.0
#pragma once
// Flags that several commands share.

#include <string>

#include "absl/flags/declare.h"

ABSL_DECLARE_FLAG(bool, json);
ABSL_DECLARE_FLAG(std::string, gfx);
