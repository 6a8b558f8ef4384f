// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device of tools/rig/emulated_device.h under the name that tests of code generation use.

#include "tools/rig/emulated_device.h"

namespace understudy::test {

using understudy::EmulatedDevice;

}  // namespace understudy::test
