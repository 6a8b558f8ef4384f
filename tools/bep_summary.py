#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a Bazel build event JSON file; prints failures and 'N passed, N failed[, N skipped]'.

usage: bep_summary.py BEP.json [BAZEL_EXIT_CODE [NAME=EXIT_CODE...]]
Counts single test cases from each test.xml; a target with no readable XML, or one that failed
without a failing case in its XML (crash, timeout, build failure), counts as one failed. Each NAME=EXIT_CODE is one
check more.
"""
import json, sys, urllib.parse
import xml.etree.ElementTree as ET

def cases(uri):
    if not uri.startswith("file://"): return None
    try: root = ET.parse(urllib.parse.unquote(uri[7:])).getroot()
    except (OSError, ET.ParseError): return None
    p = f = s = 0; bad = []
    for c in root.iter("testcase"):
        if c.find("failure") is not None or c.find("error") is not None:
            f += 1; bad.append((c.get("classname") or "") + "." + (c.get("name") or "?"))
        elif c.find("skipped") is not None or c.get("status") == "notrun" or c.get("result") in ("skipped", "suppressed"): s += 1
        else: p += 1
    return p, f, s, bad

def main():
    tests, final, expected, n_not_built = {}, {}, set(), 0
    for line in open(sys.argv[1]):
        e = json.loads(line); i = e.get("id", {})
        if "targetConfigured" in i and e.get("configured", {}).get("targetKind", "").endswith("_test rule"):
            expected.add(i["targetConfigured"]["label"])
        if "testResult" in i:
            r = e.get("testResult")
            if r is None: continue
            xml = next((o.get("uri", "") for o in r.get("testActionOutput", []) if o["name"] == "test.xml"), "")
            # last attempt / last event of a shard+run wins
            tests[(i["testResult"]["label"], i["testResult"].get("shard", 1), i["testResult"].get("run", 1))] = (r["status"], xml)
        if "testSummary" in i and "testSummary" in e:
            final[i["testSummary"]["label"]] = e["testSummary"]["overallStatus"]
    P = F = S = 0
    for (label, shard, run), (status, xml) in sorted(tests.items()):
        c = cases(xml); ok = status in ("PASSED", "FLAKY")
        if c is None: c = (1, 0, 0, []) if ok else (0, 1, 0, [status])
        elif not ok and c[1] == 0: c = (c[0], 1, c[2], [status])
        P += c[0]; F += c[1]; S += c[2]
        for b in c[3]: print("FAILED", label, b)
    for label in sorted(expected - {k[0] for k in tests}):
        print("FAILED", label, final.get(label, "NOT RUN (did not build)")); F += 1
    for check in sys.argv[3:]:
        name, code = check.rsplit("=", 1)
        if code == "0": P += 1
        else: print("FAILED", name); F += 1
    rc = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if rc != 0 and F == 0: print("FAILED bazel exit code", rc); F += 1
    print(f"{P} passed, {F} failed" + (f", {S} skipped" if S else ""))
    return 1 if F else 0

sys.exit(main())
