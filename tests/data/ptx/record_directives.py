#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what ptxas says of each module of directives.txt into its "ptxas" line.

    tests/data/ptx/record_directives.py [--ptxas PATH] tests/data/ptx/directives.txt

A case is "== name", its "ptxas" line ("takes", or the line and the text of the first error), for cases that the
parser refuses all the same a "stricter" line with the reason, for one that it takes all the same a "laxer" line,
then the module. Without a .version the module begins with HEAD. The mark at an error's place is not given to
ptxas. A module counts as taken when it is taken as a whole program or, where that needs other modules or
--compile-only, alone.
"""
import argparse
import concurrent.futures
import re
import subprocess
import tempfile

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
MARK = "«"
TARGETS = {f"sm_{n}" for n in "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f "
                              "121 121a 121f".split()}
ALONE = ("Unresolved extern", "--compile-only", "Cannot take address")


def read(path):
    cases = []
    for line in open(path, encoding="utf8"):
        if line.startswith("== "):
            cases.append({"name": line[3:].strip(), "notes": [], "text": ""})
        elif line.startswith("ptxas: ") and not cases[-1]["text"]:
            cases[-1]["ptxas"] = line[7:].strip()
        elif line.startswith(("stricter: ", "laxer: ", "elsewhere: ")) and not cases[-1]["text"]:
            cases[-1]["notes"].append(line.strip())
        elif cases:
            cases[-1]["text"] += line
    return cases


def module(text):
    text = text.replace(MARK, "")
    return text if ".version" in text else HEAD + text


def target(text):
    found = re.findall(r"\bsm_(\d+)([af]?)\b", text)
    if not found:
        return "sm_90a"
    number, suffix = max(found, key=lambda f: int(f[0]))
    name = f"sm_{number}{suffix}"
    return name if name in TARGETS else "sm_75" if int(number) < 75 else "sm_121a"


def ask(ptxas, text, more=()):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", encoding="utf8") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([ptxas, "-O0", "-arch", target(text), *more, "-o", "/dev/null", file.name],
                             capture_output=True, text=True, errors="replace")
    if run.returncode == 0:
        return "takes"
    said = run.stdout + run.stderr
    if not more and any(words in said for words in ALONE):
        return ask(ptxas, text, ["-c"])
    errors = re.findall(r", line (\d+); (?:error|fatal)\s*: (.*)", said)
    if errors:
        message = re.sub(r"'[^']*/tmp[^']*'", "'...'", errors[0][1])
        return f"{errors[0][0]}: {message}"
    first = [line for line in said.split("\n") if line.strip()]
    return "0: " + (first[0].strip() if first else "died")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("file")
    arguments = parser.parse_args()
    cases = read(arguments.file)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: ask(arguments.ptxas, module(case["text"])), cases))
    head = open(arguments.file, encoding="utf8").read().split("\n== ")[0]
    with open(arguments.file, "w", encoding="utf8") as file:
        file.write(head + "\n")
        for case, answer in zip(cases, answers):
            file.write(f"== {case['name']}\nptxas: {answer}\n")
            file.writelines(note + "\n" for note in case["notes"])
            file.write(case["text"])
    changed = sum(case.get("ptxas") != answer for case, answer in zip(cases, answers))
    print(f"{len(cases)} modules, ptxas takes {answers.count('takes')}; {changed} answers are new")


if __name__ == "__main__":
    main()
