/* SPDX-License-Identifier: Apache-2.0 */
/* A C program linked against libcuda.so.1: what every program does first, and the errors of calls that come
 * too early. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mockgpu/nv/cuda/cuda_api.h"

static int failures = 0;

static void Expect(CUresult got, CUresult want, const char* what) {
  if (got == want) return;
  const char *g = "?", *w = "?";
  cuGetErrorName(got, &g);
  cuGetErrorName(want, &w);
  printf("%s: %s, expected %s\n", what, g, w);
  ++failures;
}

static void Check(int ok, const char* what) {
  if (ok) return;
  printf("%s\n", what);
  ++failures;
}

int main(void) {
  CUdeviceptr p = 0;
  CUdevice device = -1;
  CUcontext context = NULL;
  int count = 0;
  Expect(cuMemAlloc_v2(&p, 16), CUDA_ERROR_NOT_INITIALIZED, "allocation before cuInit");
  Expect(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED, "count before cuInit");
  Expect(cuInit(1), CUDA_ERROR_INVALID_VALUE, "cuInit with flags");
  Expect(cuInit(0), CUDA_SUCCESS, "cuInit");
  Expect(cuDeviceGetCount(&count), CUDA_SUCCESS, "count");
  Check(count == 1, "one GPU when none is named");
  Expect(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE, "a device that does not exist");
  Expect(cuDeviceGet(&device, 0), CUDA_SUCCESS, "device");
  Expect(cuMemAlloc_v2(&p, 16), CUDA_ERROR_INVALID_CONTEXT, "allocation without a context");
  Expect(cuCtxCreate_v2(&context, 0, device), CUDA_SUCCESS, "context");
  Expect(cuMemAlloc_v2(&p, 16), CUDA_SUCCESS, "allocation");
  char in[16] = "fifteen letters", out[16] = "";
  Expect(cuMemcpyHtoD_v2(p, in, sizeof in), CUDA_SUCCESS, "copy in");
  Expect(cuMemcpyDtoH_v2(out, p, sizeof out), CUDA_SUCCESS, "copy out");
  Check(memcmp(in, out, sizeof in) == 0, "the bytes come back");
  Expect(cuMemFree_v2(p), CUDA_SUCCESS, "free");
  Expect(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE, "free twice");
  Expect(cuCtxDestroy_v2(context), CUDA_SUCCESS, "destroy");
  Expect(cuCtxDestroy_v2(context), CUDA_ERROR_CONTEXT_IS_DESTROYED, "destroy twice");
  Expect(cuMemAlloc_v2(&p, 16), CUDA_ERROR_INVALID_CONTEXT, "allocation after the context");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
