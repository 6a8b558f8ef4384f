#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an offload bundle (clang, "Clang Offload Bundler") of a host entry and one code object.

Usage: make_bundle.py ID CODE_OBJECT OUT
"""
import struct
import sys

ALIGNMENT = 4096


def main(argv):
    target, source, out = argv[1:]
    with open(source, "rb") as f:
        code = f.read()
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 2)
    for name, size in ((b"host-x86_64-unknown-linux", 0), (target.encode(), len(code))):
        header += struct.pack("<QQQ", ALIGNMENT, size, len(name)) + name
    with open(out, "wb") as f:
        f.write(header.ljust(ALIGNMENT, b"\0") + code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
