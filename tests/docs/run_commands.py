#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation: each line of a ```sh block that starts with `tools/understudy`, or with
`bazel run --config=opt //tools/tutorial:first --`.

usage: run_commands.py UNDERSTUDY TUTORIAL PAGE.md...
A ```text block that follows such a block at once is what its last command prints. The lines of a ```cpp block of
tutorial.md stand in its program.
A command runs with the built program in place of the script, from the root of the tree, and must exit with 0.
`tools/understudy test` (which would start a build within a build) and `demo` (a test of its own) are only checked to
be spelled right. Links from page to page must lead to one.
"""
import os, re, shlex, subprocess, sys

understudy, tutorial, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
PROGRAMS = [("tools/understudy ", understudy), ("bazel run --config=opt //tools/tutorial:first -- ", tutorial)]
failures = ran = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def run(where, line):
    """What a command prints; None for a line that is none."""
    global ran
    for start, program in PROGRAMS:
        if not line.startswith(start):
            continue
        ran += 1
        words = shlex.split(line[len(start):], comments=True)
        if program == understudy and words[0] in ("test", "demo"):
            return None
        # What Bazel built lies beside the sources in a test's own tree.
        words = [w.removeprefix("bazel-bin/") for w in words]
        done = subprocess.run([program] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail("%s: exit %d: %s\n%s" % (where, done.returncode, line.strip(), done.stdout[-1000:]))
        return done.stdout
    return None


for page in pages:
    language, block, printed = None, [], None
    for number, line in enumerate(open(page), 1):
        where = "%s:%d" % (page, number)
        for target in re.findall(r"\]\(([^)#:]+\.(?:md|cc))(?:#[^)]*)?\)", line):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                fail("%s: the link to %s leads nowhere" % (where, target))
        if line.startswith("```"):
            if language == "text" and printed is not None and printed.rstrip() != "".join(block).rstrip():
                fail("%s: the command prints something else:\n%s" % (where, printed))
            if language == "cpp" and page.endswith("tutorial.md") and "".join(block) not in open("tools/tutorial/first.cc").read():
                fail("%s: these lines are not in tools/tutorial/first.cc" % where)
            if language not in (None, "sh"):
                printed = None
            language, block = (line.strip()[3:], []) if language is None else (None, [])
            continue
        if language is None:
            printed = None
        elif language == "sh":
            printed = run(where, line)
        block.append(line)
print("%d commands, %d failures" % (ran, failures))
sys.exit(1 if failures or not ran else 0)
