#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation: each line of a ```sh block that starts with `tools/understudy`.

usage: run_commands.py UNDERSTUDY PAGE.md...
A command runs with the built program in place of the script, from the root of the tree, and must exit with 0.
`tools/understudy test` (which would start a build within a build) and `demo` (a test of its own) are only checked to
be spelled right. Links from page to page must lead to one.
"""
import os, re, shlex, subprocess, sys

understudy, pages = sys.argv[1], sys.argv[2:]
failures = ran = 0


def fail(text):
    global failures
    failures += 1
    print(text)


for page in pages:
    fenced = False
    for number, line in enumerate(open(page), 1):
        if line.startswith("```"):
            fenced = not fenced and line.strip() == "```sh"
            continue
        where = "%s:%d" % (page, number)
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", line):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                fail("%s: the link to %s leads nowhere" % (where, target))
        words = shlex.split(line, comments=True) if fenced else []
        if not words or words[0] != "tools/understudy":
            continue
        ran += 1
        if words[1] in ("test", "demo"):
            continue
        # What Bazel built lies beside the sources in a test's own tree.
        arguments = [w.removeprefix("bazel-bin/") for w in words[1:]]
        done = subprocess.run([understudy] + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail("%s: exit %d: %s\n%s" % (where, done.returncode, line.strip(), done.stdout[-1000:]))
print("%d commands, %d failures" % (ran, failures))
sys.exit(1 if failures or not ran else 0)
