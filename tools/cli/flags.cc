// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/flags.h"

#include "absl/flags/flag.h"

ABSL_FLAG(bool, json, false, "print JSON instead of tables");
ABSL_FLAG(std::string, gfx, "", "the ISA, for example gfx1100");
