// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands in for the kernel's drm.h in front of <linux/kfd_ioctl.h>, which needs only the integer types
// and the ioctl macros.
#include <linux/ioctl.h>
#include <linux/types.h>
