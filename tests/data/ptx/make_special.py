#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that read special registers or use the device runtime, as whole-kernel vectors to record.

make_special.py > special_in.jsonl; a GPU fills in what each kernel leaves (tests/data/ptx/README.md). Only what is
the same in every run is stored: counters are compared with one another, not stored themselves.
"""
import base64
import json

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"


def kernel(name, words, body, grid=(1, 1, 1), block=(32, 1, 1), shared=0, before="", directives="", registers=""):
    """One kernel; %o is the address of the thread's own `words` words, %z that of the buffer."""
    blocks = grid[0] * grid[1] * grid[2]
    threads = block[0] * block[1] * block[2]
    text = (HEAD + before + ".visible .entry k(.param .u64 out)" + directives + "\n{\n"
            ".reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>, %o, %z, %u;\n.reg .b32 %t, %n;\n" + registers +
            "ld.param.u64 %z, [out];\n"
            "mov.u32 %t, %ctaid.z;\nmov.u32 %n, %nctaid.y;\nmad.lo.u32 %t, %t, %n, 0;\nmov.u32 %n, %ctaid.y;\n"
            "add.u32 %t, %t, %n;\nmov.u32 %n, %nctaid.x;\nmul.lo.u32 %t, %t, %n;\nmov.u32 %n, %ctaid.x;\n"
            "add.u32 %t, %t, %n;\nmov.u32 %n, %ntid.z;\nmul.lo.u32 %t, %t, %n;\nmov.u32 %n, %tid.z;\n"
            "add.u32 %t, %t, %n;\nmov.u32 %n, %ntid.y;\nmul.lo.u32 %t, %t, %n;\nmov.u32 %n, %tid.y;\n"
            "add.u32 %t, %t, %n;\nmov.u32 %n, %ntid.x;\nmul.lo.u32 %t, %t, %n;\nmov.u32 %n, %tid.x;\n"
            "add.u32 %t, %t, %n;\n"
            f"mul.wide.u32 %u, %t, {4 * words};\nadd.u64 %o, %z, %u;\n" + body + "ret;\n}\n")
    data = base64.b64encode(b"\xee" * (4 * words * blocks * threads)).decode()
    line = {"name": name, "entry": "k", "ptx": text, "grid": list(grid), "block": list(block)}
    if shared:
        line["shared"] = shared
    line["params"] = [{"kind": "buffer", "before": data}]
    print(json.dumps(line))


def store(names, first=0):
    return "".join(f"mov.u32 %r1, %{n};\nst.global.u32 [%o+{4 * (first + i)}], %r1;\n" for i, n in enumerate(names))


masks = [f"lanemask_{c}" for c in ("eq", "le", "lt", "ge", "gt")]
kernel("lane masks", 6, store(["laneid"] + masks), block=(48, 1, 1))
kernel("lane masks 3D", 6, store(["laneid"] + masks), block=(5, 3, 3))
names = [f"{v}.{e}" for v in ("tid", "ntid", "ctaid", "nctaid") for e in "xyz"]
kernel("indices", 12, store(names), grid=(3, 2, 2), block=(4, 3, 3))
kernel("limits", 2, store(["nsmid", "nwarpid"]))

# Sizes of shared memory: none, static, dynamic, both, around granules and the limits.
sizes = ["total_smem_size", "aggr_smem_size", "dynamic_smem_size", "reserved_smem_offset_begin",
         "reserved_smem_offset_end", "reserved_smem_offset_cap", "reserved_smem_offset_0", "reserved_smem_offset_1"]
for static, dynamic in [(0, 0), (1, 0), (4, 0), (100, 0), (128, 0), (129, 0), (1024, 0), (0, 1), (0, 100), (0, 128),
                        (4, 4), (1000, 300), (1024, 1024), (40000, 8000), (49152, 0), (0, 49152), (0, 100000),
                        (0, 232448)]:
    before = f".shared .align 4 .b8 s[{static}];\n" if static else ""
    use = "mov.u32 %r2, s;\nst.shared.u8 [%r2], %r2;\n" if static else ""
    if dynamic:
        before += ".extern .shared .align 4 .b8 e[];\n"
        use += "mov.u32 %r2, e;\nst.shared.u8 [%r2], %r2;\n"
    kernel(f"shared sizes {static}+{dynamic}", 8, use + store(sizes), block=(1, 1, 1), shared=dynamic, before=before)

# Clusters.
cluster = [f"{v}.{e}" for v in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for e in "xyz"]
explicit = "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%o+56], %r1;\n"
for size, grid in [(None, (3, 2, 1)), ((1, 1, 1), (2, 1, 1)), ((2, 1, 1), (6, 1, 1)), ((2, 2, 1), (4, 4, 2)),
                   ((1, 2, 2), (3, 2, 4)), ((4, 1, 2), (8, 1, 2))]:
    kernel(f"clusters {size} {grid}", 15, store(cluster + ["cluster_ctarank", "cluster_nctarank"]) + explicit,
           grid=grid, block=(1, 1, 1), directives="" if size is None else "\n.reqnctapercluster %d, %d, %d" % size)

# Counters: what holds of them.
kernel("clocks", 8,
       "mov.u64 %d1, %clock64;\nmov.u32 %r1, %clock;\nmov.u32 %r2, %clock_hi;\nmov.u64 %d2, %clock64;\n"
       "sub.u64 %d3, %d2, %d1;\nsetp.gt.s64 %p1, %d3, 0;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o], %r3;\n"
       "cvt.u32.u64 %r4, %d1;\nsub.u32 %r5, %r1, %r4;\nsetp.lt.u32 %p1, %r5, 1000000;\nselp.u32 %r3, 1, 0, %p1;\n"
       "st.global.u32 [%o+4], %r3;\nshr.u64 %d4, %d1, 32;\ncvt.u32.u64 %r6, %d4;\nsub.u32 %r5, %r2, %r6;\n"
       "setp.le.u32 %p1, %r5, 1;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o+8], %r3;\n"
       "mov.u64 %d1, %globaltimer;\nmov.u32 %r1, %globaltimer_lo;\nmov.u32 %r2, %globaltimer_hi;\n"
       "nanosleep.u32 20000;\nmov.u64 %d2, %globaltimer;\nsetp.ge.u64 %p1, %d2, %d1;\nselp.u32 %r3, 1, 0, %p1;\n"
       "st.global.u32 [%o+12], %r3;\ncvt.u32.u64 %r4, %d1;\nsub.u32 %r5, %r1, %r4;\n"
       "setp.lt.u32 %p1, %r5, 100000000;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o+16], %r3;\n"
       "shr.u64 %d4, %d1, 32;\ncvt.u32.u64 %r6, %d4;\nsub.u32 %r5, %r2, %r6;\nsetp.le.u32 %p1, %r5, 1;\n"
       "selp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o+20], %r3;\n"
       "mov.u64 %d1, %gridid;\nsetp.ne.u64 %p1, %d1, 0;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o+24], %r3;\n"
       "mov.u64 %d1, %current_graph_exec;\ncvt.u32.u64 %r3, %d1;\nst.global.u32 [%o+28], %r3;\n", block=(1, 1, 1))
below = ("mov.u32 %r1, %smid;\nmov.u32 %r2, %nsmid;\nsetp.lt.u32 %p1, %r1, %r2;\nselp.u32 %r3, 1, 0, %p1;\n"
         "st.global.u32 [%o], %r3;\nmov.u32 %r1, %warpid;\nmov.u32 %r2, %nwarpid;\nsetp.lt.u32 %p1, %r1, %r2;\n"
         "selp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%o+4], %r3;\nmatch.any.sync.b32 %r4, %r1, -1;\n"
         "st.global.u32 [%o+8], %r4;\n")
kernel("places", 3, below, grid=(40, 1, 1), block=(96, 1, 1))
kernel("pm", 8, store([f"pm{i}" for i in range(8)]), block=(1, 1, 1))
kernel("pm wide", 16, "".join(f"mov.u64 %d1, %pm{i}_64;\nst.global.u64 [%o+{8 * i}], %d1;\n" for i in range(8)),
       block=(1, 1, 1))

# Without effect on values.
kernel("hints", 2,
       "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\npmevent 3;\npmevent.mask 5;\nnanosleep.u32 100;\n"
       "nanosleep.u32 %t;\ncp.async.bulk.prefetch.L2.global [%z], 128;\nprefetch.global.L2 [%o];\n"
       "st.global.u32 [%o], %t;\nst.global.u32 [%o+4], 7;\n")

# The stack.
kernel("alloca", 4,
       "stacksave.u64 %d1;\nadd.u32 %r1, %t, 5;\nmul.wide.u32 %d2, %r1, 4;\nalloca.u64 %d3, %d2, 64;\n"
       "and.b64 %d4, %d3, 63;\ncvt.u32.u64 %r2, %d4;\nst.global.u32 [%o], %r2;\nmov.u32 %r3, 0;\nL:\n"
       "mul.wide.u32 %d5, %r3, 4;\nadd.u64 %d6, %d3, %d5;\nxor.b32 %r4, %r3, %t;\nst.local.u32 [%d6], %r4;\n"
       "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\nalloca.u64 %d7, 16;\nst.local.u32 [%d7], 99;\n"
       "mov.u32 %r3, 0;\nmov.u32 %r5, 0;\nM:\nmul.wide.u32 %d5, %r3, 4;\nadd.u64 %d6, %d3, %d5;\n"
       "ld.local.u32 %r4, [%d6];\nadd.u32 %r5, %r5, %r4;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n"
       "@%p1 bra M;\nst.global.u32 [%o+4], %r5;\nstackrestore.u64 %d1;\nstacksave.u64 %d8;\nsetp.eq.u64 %p1, %d1, %d8;\n"
       "selp.u32 %r6, 1, 0, %p1;\nst.global.u32 [%o+8], %r6;\nalloca.u64 %d9, %d2, 64;\nsetp.eq.u64 %p1, %d9, %d3;\n"
       "selp.u32 %r6, 1, 0, %p1;\nst.global.u32 [%o+12], %r6;\n")

# The heap.
HEAP = (".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n")


def malloc(size, into):
    return ("{\n.param .b64 n;\n.param .b64 r;\n" + f"st.param.b64 [n], {size};\ncall.uni (r), malloc, (n);\n"
            f"ld.param.b64 {into}, [r];\n}}\n")


def free(pointer):
    return "{\n.param .b64 n;\n" + f"st.param.b64 [n], {pointer};\ncall.uni free, (n);\n}}\n"


def is_null(pointer, word):
    return (f"setp.eq.u64 %p1, {pointer}, 0;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%o+{4 * word}], %r1;\n")


kernel("malloc sizes", 8,
       malloc("0", "%d1") + is_null("%d1", 0) + malloc("1", "%d2") + is_null("%d2", 1) + malloc("4000000", "%d3") +
       is_null("%d3", 2) + free("%d3") + malloc("8388609", "%d4") + is_null("%d4", 3) + malloc("0x100000000000", "%d5") +
       is_null("%d5", 4) + malloc("-1", "%d6") + is_null("%d6", 5) + free("0") + "and.b64 %d7, %d2, 15;\n"
       "cvt.u32.u64 %r2, %d7;\nst.global.u32 [%o+24], %r2;\nst.u8 [%d2], 77;\nld.u8 %r3, [%d2];\n"
       "st.global.u32 [%o+28], %r3;\n" + free("%d2"), block=(1, 1, 1), before=HEAP)
kernel("malloc exhaustion", 2,
       "mov.u32 %r5, 0;\nL:\n" + malloc("1000000", "%d1") + "setp.eq.u64 %p2, %d1, 0;\n@%p2 bra D;\n"
       "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 100;\n@%p2 bra L;\nD:\nsetp.ge.u32 %p1, %r5, 5;\n"
       "setp.le.and.u32 %p1, %r5, 8, %p1;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%o], %r1;\n"
       "setp.eq.u64 %p1, %d1, 0;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%o+4], %r1;\n", block=(1, 1, 1),
       before=HEAP)
kernel("malloc of each thread", 2,
       malloc("64", "%d1") + "st.u32 [%d1], %t;\nst.u32 [%d1+60], %t;\nbar.sync 0;\nld.u32 %r1, [%d1];\n"
       "st.global.u32 [%o], %r1;\nld.u32 %r1, [%d1+60];\nst.global.u32 [%o+4], %r1;\n" + free("%d1"),
       block=(64, 1, 1), before=HEAP)

# Member masks that name lanes which have exited (those from 20 on).
EXIT = "setp.ge.u32 %p1, %t, 20;\nmad.lo.u32 %r9, %t, 3, 7;\n@%p1 exit;\n"
kernel("exited members: vote", 5,
       EXIT + "setp.ne.u32 %p2, %t, 3;\nvote.sync.ballot.b32 %r1, %p2, -1;\nst.global.u32 [%o], %r1;\n"
       "vote.sync.all.pred %p3, !%p1, -1;\nselp.u32 %r1, 1, 0, %p3;\nst.global.u32 [%o+4], %r1;\n"
       "vote.sync.any.pred %p3, %p1, -1;\nselp.u32 %r1, 1, 0, %p3;\nst.global.u32 [%o+8], %r1;\n"
       "vote.sync.uni.pred %p3, %p1, -1;\nselp.u32 %r1, 1, 0, %p3;\nst.global.u32 [%o+12], %r1;\n"
       "activemask.b32 %r1;\nst.global.u32 [%o+16], %r1;\n")
kernel("exited members: match and redux", 5,
       EXIT + "and.b32 %r2, %t, 1;\nmatch.any.sync.b32 %r1, %r2, -1;\nst.global.u32 [%o], %r1;\n"
       "match.all.sync.b32 %r1, 5, -1;\nst.global.u32 [%o+4], %r1;\nredux.sync.add.u32 %r1, %t, -1;\n"
       "st.global.u32 [%o+8], %r1;\nredux.sync.and.b32 %r1, -1, -1;\nst.global.u32 [%o+12], %r1;\n"
       "elect.sync %r1|%p3, -1;\nst.global.u32 [%o+16], %r1;\n")
kernel("exited members: bar.warp.sync", 1, EXIT + "bar.warp.sync -1;\nst.global.u32 [%o], 3;\n")
kernel("exited members: shuffle among the living", 2,
       EXIT + "xor.b32 %r2, %t, 1;\nshfl.sync.idx.b32 %r1|%p3, %r9, %r2, 31, -1;\nst.global.u32 [%o], %r1;\n"
       "selp.u32 %r1, 1, 0, %p3;\nst.global.u32 [%o+4], %r1;\n")
kernel("exited members: shuffle from the gone", 2,
       EXIT + "add.u32 %r2, %t, 12;\nshfl.sync.idx.b32 %r1|%p3, %r9, %r2, 31, -1;\nst.global.u32 [%o], %r1;\n"
       "selp.u32 %r1, 1, 0, %p3;\nst.global.u32 [%o+4], %r1;\n")

# red.async: the other block of a cluster adds to this one's word, and its barrier counts the bytes.
kernel("red.async", 1,
       "mov.u32 %r1, m;\nmov.u32 %r2, w;\nst.shared.u32 [%r2], 100;\nmbarrier.init.shared.b64 [%r1], 1;\n"
       "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
       "mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 12;\nmov.u32 %r3, %cluster_ctarank;\nxor.b32 %r3, %r3, 1;\n"
       "mapa.shared::cluster.u32 %r4, %r1, %r3;\nmapa.shared::cluster.u32 %r5, %r2, %r3;\nadd.u32 %r6, %r3, 40;\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %r6, [%r4];\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%r5], 7, [%r4];\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], 1000, [%r4];\nW:\n"
       "mbarrier.try_wait.shared.b64 %p1, [%r1], %d1;\n@!%p1 bra W;\nld.shared.u32 %r7, [%r2];\n"
       "st.global.u32 [%o], %r7;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
       grid=(4, 1, 1), block=(1, 1, 1), directives="\n.reqnctapercluster 2, 1, 1",
       before=".shared .align 8 .b64 m;\n.shared .align 4 .u32 w;\n")
