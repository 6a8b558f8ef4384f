// SPDX-License-Identifier: Apache-2.0
// A compile worker as a program: started by a CompilePool, never by hand.

#include "src/runtime/search/compile_worker.h"

int main() { return understudy::RunCompileWorker(); }
