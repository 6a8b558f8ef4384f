#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that defines `extern const unsigned char NAME[]` and `NAME_size` from a file's bytes.

usage: embed.py NAME INPUT OUTPUT.cc
"""
import sys

name, source, output = sys.argv[1:]
data = open(source, "rb").read()
with open(output, "w") as out:
    out.write("// Generated from %s.\n#include <cstddef>\n" % source.rsplit("/", 1)[-1])
    out.write('extern "C" {\nextern const unsigned char %s[] = {' % name)
    out.write(",".join(str(b) for b in data))
    out.write("};\nextern const size_t %s_size = %d;\n}\n" % (name, len(data)))
