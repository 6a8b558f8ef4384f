# SPDX-License-Identifier: Apache-2.0
"""Only what @bazel_tools//tools/jdk loads."""
java_import = native.java_import
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
