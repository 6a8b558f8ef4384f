# SPDX-License-Identifier: Apache-2.0
"""cc_fuzz_test: libFuzzer under --config=fuzz, replay of the corpus otherwise."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def cc_fuzz_test(name, srcs, corpus = [], deps = [], runs = 20000, max_len = 256, **kw):
    cc_test(
        name = name,
        size = "medium",
        srcs = srcs,
        data = corpus,
        # A directory with the corpus, and bounded runs, so that the test ends by itself.
        args = select({
            "//fuzz:fuzzing": ["-runs=%d" % runs, "-max_len=%d" % max_len, "-seed=1", native.package_name() + "/corpus"],
            "//conditions:default": [native.package_name() + "/corpus"],
        }),
        linkopts = select({"//fuzz:fuzzing": ["-fsanitize=fuzzer"], "//conditions:default": []}),
        deps = deps + select({"//fuzz:fuzzing": [], "//conditions:default": ["//fuzz:replay_main"]}),
        **kw
    )
