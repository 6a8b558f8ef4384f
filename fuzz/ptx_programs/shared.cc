// SPDX-License-Identifier: Apache-2.0
// Statements on shared memory. Each thread owns 32 bytes of it, which it writes between the barrier that ends
// earlier reads and the one that lets others read. Behind them lie 256 bytes for atomics of all threads and
// 16 for an mbarrier.
#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generator.h"

namespace understudy::ptx_programs {

std::string Generator::Barrier() {
  const uint32_t threads = program_.threads();
  const int id = random_.Below(16);
  switch (random_.Below(12)) {
    case 0:
      return "barrier.sync 0;\n";
    case 1:
      return Cat{"bar.sync ", id, ";\n"};
    case 2:
      return whole_warps_ ? Cat{"bar.sync ", id, ", ", threads, ";\n"} : Cat{"barrier.cta.sync ", id, ";\n"};
    case 3: {
      const std::string t = Temp('r'), to = R();
      return Cat{"bar.red.popc.u32 ", t, ", ", id, ", ", P(), ";\nadd.u32 ", to, ", ", to, ", ", t, ";\n"};
    }
    case 4:
      return Cat{"bar.red.", random_.Chance(50) ? "and" : "or", ".pred ", P(),  ", ", id,
                 ", ",       random_.Chance(50) ? "!" : "",     P(),      ";\n"};
    case 5:
      return "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    case 6: {  // lanes come to it at different instructions
      if (!whole_warps_) return "bar.sync 0;\n";
      const std::string p = Temp('p'), other = Label(), end = Label();
      return Cat{Comparison(p),
                 "@",
                 p,
                 " bra ",
                 other,
                 ";\nbarrier.sync ",
                 id,
                 ";\nbra ",
                 end,
                 ";\n",
                 other,
                 ":\nbarrier.sync ",
                 id,
                 ";\n",
                 end,
                 ":\n"};
    }
    case 7:
    case 8: {
      const std::string first = Temp('p'), state = Temp('l'), done = Temp('p'), again = Label();
      const std::string mbarrier = Cat{"[%shared+", threads * 32 + 256, "]"};
      return Cat{"setp.eq.u32 ",
                 first,
                 ", %thread, 0;\n@",
                 first,
                 " mbarrier.init.shared.b64 ",
                 mbarrier,
                 ", ",
                 threads,
                 ";\nbar.sync 0;\nmbarrier.arrive.shared.b64 ",
                 state,
                 ", ",
                 mbarrier,
                 ";\n",
                 again,
                 ":\nmbarrier.",
                 random_.Chance(50) ? "try" : "test",
                 "_wait.shared.b64 ",
                 done,
                 ", ",
                 mbarrier,
                 ", ",
                 state,
                 ";\n@!",
                 done,
                 " bra ",
                 again,
                 ";\nbar.sync 0;\n@",
                 first,
                 " mbarrier.inval.shared.b64 ",
                 mbarrier,
                 ";\n"};
    }
    default:
      return "bar.sync 0;\n";
  }
}

// Of `of` threads' bytes.
std::string Generator::SharedReads(bool matrix_moves) {
  std::string text;
  const uint32_t threads = program_.threads();
  for (int k = 1 + random_.Below(4); k > 0; --k) {
    const std::string thread = Temp('r'), base = Temp('r');
    absl::StrAppend(&text, "rem.u32 ", thread, ", ", R(), ", ", threads, ";\nmad.lo.u32 ", base, ", ", thread,
                    ", 32, %shared;\n");
    if (matrix_moves && random_.Chance(20)) {
      const int matrices = 1 << random_.Below(3), first = random_.Below(8);
      std::string list;
      for (int m = 0; m < matrices; ++m) absl::StrAppend(&list, m == 0 ? "" : ", ", "%r", (first + m) % 8);
      absl::StrAppend(&text, "ldmatrix.sync.aligned.m8n8.x", matrices, random_.Chance(50) ? ".trans" : "",
                      ".shared.b16 {", list, "}, [", base, "];\n");
    } else if (random_.Chance(20)) {  // by a generic address
      const std::string wide = Temp('l');
      absl::StrAppend(&text, "cvt.u64.u32 ", wide, ", ", base, ";\ncvta.shared.u64 ", wide, ", ", wide, ";\n",
                      AnyLoad("", wide, true, 32));
    } else {
      text += AnyLoad(random_.Chance(80) ? ".shared" : ".volatile.shared", base, false, 32);
    }
  }
  return text;
}

Node Generator::Exchange(Place&) {
  std::string text = "bar.sync 0;\n";
  for (int k = 1 + random_.Below(3); k > 0; --k) {
    switch (random_.Below(8)) {
      case 0: {
        std::string offset_text;
        const std::string offset = Offset(32, 8, offset_text), address = Temp('r');
        absl::StrAppend(&text, offset_text, "add.u32 ", address, ", %slot, ", offset, ";\n",
                        AtomicOnOwn(".shared", address));
        break;
      }
      case 1: {  // from `in`, asynchronously
        std::string offset_text;
        const int bytes = 4 << random_.Below(3);
        const std::string offset = Offset(4096, bytes, offset_text), wide = Temp('l');
        absl::StrAppend(&text, offset_text, "cvt.u64.u32 ", wide, ", ", offset, ";\nadd.u64 ", wide, ", ",
                        wide, ", %in;\ncp.async.", bytes == 16 && random_.Chance(50) ? "cg" : "ca",
                        ".shared.global [%slot], [", wide, "], ", bytes, ";\n");
        text +=
            random_.Chance(50) ? "cp.async.wait_all;\n" : "cp.async.commit_group;\ncp.async.wait_group 0;\n";
        break;
      }
      case 2:
        if (whole_warps_) {  // lane i's row is its own slot; what it holds comes from all lanes
          text += Cat{"bar.warp.sync -1;\nstmatrix.sync.aligned.m8n8.x1",
                      random_.Chance(50) ? ".trans" : "",
                      ".shared.b16 [%slot",
                      random_.Chance(50) ? "+16" : "",
                      "], {",
                      R(),
                      "};\nbar.warp.sync -1;\n"};
          break;
        }
        [[fallthrough]];
      case 3: {
        const std::string wide = Temp('l');
        absl::StrAppend(&text, "cvt.u64.u32 ", wide, ", %slot;\ncvta.shared.u64 ", wide, ", ", wide, ";\n",
                        AnyStore("", wide, true, 32));
        break;
      }
      case 4:
        text += AnyLoad(".shared", "%slot", false, 32);
        break;
      default:
        text += AnyStore(".shared", "%slot", false, 32);
    }
  }
  text += Barrier();
  text += SharedReads(whole_warps_);
  return {text, "", {}, true};
}

Node Generator::SharedAtomics() {
  const uint32_t area = program_.threads() * 32;
  const std::string p = Temp('p'), at = Temp('r');
  std::string text = Cat{"bar.sync 0;\nsetp.lt.u32 ",
                         p,
                         ", %thread, 32;\nmad.lo.u32 ",
                         at,
                         ", %thread, 8, %shared;\n@",
                         p,
                         " st.shared.b64 [",
                         at,
                         "+",
                         area,
                         "], ",
                         L(),
                         ";\n"};
  if (const uint32_t threads = program_.threads(); threads < 32)  // the words that lack a thread of their own
    absl::StrAppend(&text, "setp.lt.u32 ", p, ", %thread, ", 32 - threads, ";\n@", p, " st.shared.b64 [", at,
                    "+", area + 8 * threads, "], %l0;\n");
  text += "bar.sync 0;\n";
  const int operations = 1 + random_.Below(4);
  for (int k = 0; k < operations; ++k) {
    const Commutative op = AnyCommutative();
    const std::string offset = Offset(64, op.bytes, text), address = Temp('r');
    absl::StrAppend(&text, "add.u32 ", address, ", %shared, ", offset, ";\n");
    text += Reduction(".shared", op, Cat{address, "+", area + 64 * static_cast<uint32_t>(k)});
  }
  text += Barrier();
  const std::string base = Temp('r');
  absl::StrAppend(&text, "add.u32 ", base, ", %shared, ", area, ";\n", AnyLoad(".shared", base, false, 256));
  text += AnyLoad(".shared", base, false, 256);
  return {text, "", {}, true};
}

// A barrier of some of the warps.
Node Generator::SubsetBarrier() {
  const int warps = static_cast<int>(program_.threads() / 32), some = 1 + random_.Below(warps - 1);
  const int id = 1 + random_.Below(15);
  const std::string p = Temp('p'), thread = Temp('r'), base = Temp('r'), end = Label();
  std::string text = Cat{"bar.sync 0;\nsetp.lt.u32 ", p, ", %warp, ", some, ";\n@!", p, " bra ", end, ";\n"};
  text += AnyStore(".shared", "%slot", false, 32);
  absl::StrAppend(&text, random_.Chance(50) ? "bar.sync " : "barrier.sync ", id, ", ", 32 * some,
                  ";\nrem.u32 ", thread, ", ", R(), ", ", 32 * some, ";\nmad.lo.u32 ", base, ", ", thread,
                  ", 32, %shared;\n");
  text += AnyLoad(".shared", base, false, 32);
  return {text + end + ":\n", "", {}, true};
}

// The first warps arrive and go on, the others wait for them.
Node Generator::Producer() {
  const int warps = static_cast<int>(program_.threads() / 32), some = 1 + random_.Below(warps - 1);
  const int id = 1 + random_.Below(15);
  const std::string p = Temp('p'), thread = Temp('r'), base = Temp('r'), consume = Label(), end = Label();
  std::string text =
      Cat{"bar.sync 0;\nsetp.lt.u32 ", p, ", %warp, ", some, ";\n@!", p, " bra ", consume, ";\n"};
  text += AnyStore(".shared", "%slot", false, 32);
  absl::StrAppend(&text, "membar.cta;\nbar.arrive ", id, ", ", 32 * warps, ";\nbra ", end, ";\n", consume,
                  ":\nbar.sync ", id, ", ", 32 * warps, ";\nrem.u32 ", thread, ", ", R(), ", ", 32 * some,
                  ";\nmad.lo.u32 ", base, ", ", thread, ", 32, %shared;\n");
  text += AnyLoad(".shared", base, false, 32);
  return {text + end + ":\n", "", {}, true};
}

}  // namespace understudy::ptx_programs
