// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shape of every kernel that is compared with the host, and what one work-item of it sees on the host.
// Plain C: kernels compiled for the host and the C++ that runs them share it.

#include <stdint.h>

// Two workgroups of two waves (four in wave32).
enum {
  kProgramGroup = 128,
  kProgramItems = 256,
  kProgramInWords = 1024,
  kProgramOutWords = 8,     // of an item
  kProgramMemWords = 1024,  // shared by all items
  kProgramLdsWords = 1024
};

// A work-item of a host run; the runner makes each one a fiber.
typedef struct HostItem {
  uint32_t local;      // in its group
  uint32_t wave_size;  // of the device that the run is compared with
  uint64_t* exchange;  // a word for each item of the group
  void (*barrier)(struct HostItem* self);
} HostItem;

typedef void (*HostKernelFn)(uint32_t i, uint32_t l, const uint32_t* in, uint32_t* out, uint32_t* mem,
                             uint32_t* lds, HostItem* item);

typedef struct HostKernel {
  const char* name;
  HostKernelFn run;
} HostKernel;
