// SPDX-License-Identifier: Apache-2.0
// Every instruction that has a section in PTX ISA 8.8, chapter "Instruction Set" (9.7.1 to 9.7.19), has a
// form, and no mnemonic is without a section. The list is the manual's table of contents.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "emu/ptx/isa/forms.h"

namespace understudy::emu::ptx {
namespace {

// A section's name: the mnemonic, then modifiers that are part of the name.
const std::vector<std::string>& Sections() {
  static const auto* const sections = new std::vector<std::string>{
      // Integer, extended precision
      "add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max", "popc",
      "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a", "add.cc", "addc",
      "sub.cc", "subc", "mad.cc", "madc",
      // Floating point, half and mixed precision
      "testp", "copysign", "fma", "rcp", "rcp.approx.ftz.f64", "sqrt", "rsqrt", "rsqrt.approx.ftz.f64", "sin",
      "cos", "lg2", "ex2", "tanh",
      // Comparison and selection, logic and shift
      "set", "setp", "selp", "slct", "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr",
      // Data movement and conversion
      "mov", "shfl", "shfl.sync", "prmt", "ld", "ld.global.nc", "ldu", "st", "st.async", "st.bulk",
      "multimem.ld_reduce", "multimem.st", "multimem.red", "prefetch", "prefetchu", "applypriority",
      "discard", "createpolicy", "isspacep", "cvta", "cvt", "cvt.pack", "mapa", "getctarank", "cp.async",
      "cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk",
      "cp.reduce.async.bulk", "cp.async.bulk.prefetch", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
      "cp.async.bulk.prefetch.tensor", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group",
      "tensormap.replace",
      // Textures and surfaces
      "tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq",
      // Control flow
      "bra", "brx.idx", "call", "ret", "exit",
      // Parallel synchronisation and communication
      "bar", "barrier", "bar.warp.sync", "barrier.cluster", "membar", "fence", "atom", "red", "red.async",
      "vote", "vote.sync", "match.sync", "activemask", "redux.sync", "griddepcontrol", "elect.sync",
      "mbarrier.init", "mbarrier.inval", "mbarrier.expect_tx", "mbarrier.complete_tx", "mbarrier.arrive",
      "mbarrier.arrive_drop", "cp.async.mbarrier.arrive", "mbarrier.test_wait", "mbarrier.try_wait",
      "mbarrier.pending_count", "tensormap.cp_fenceproxy", "clusterlaunchcontrol.try_cancel",
      "clusterlaunchcontrol.query_cancel",
      // Matrices
      "wmma.load", "wmma.store", "wmma.mma", "mma", "mma.sp", "ldmatrix", "stmatrix", "movmatrix",
      "wgmma.mma_async", "wgmma.mma_async.sp", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group",
      "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit", "tcgen05.ld", "tcgen05.ld.red",
      "tcgen05.st", "tcgen05.wait::ld", "tcgen05.wait::st", "tcgen05.cp", "tcgen05.shift", "tcgen05.mma",
      "tcgen05.mma.sp", "tcgen05.mma.ws", "tcgen05.mma.ws.sp", "tcgen05.fence::before_thread_sync",
      "tcgen05.fence::after_thread_sync", "tcgen05.commit",
      // Stack, video, miscellaneous
      "stacksave", "stackrestore", "alloca", "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr",
      "vmad", "vset", "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4",
      "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4", "brkpt", "nanosleep", "pmevent", "trap",
      "setmaxnreg"};
  return *sections;
}

std::vector<std::string> Words(const std::string& name) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= name.size();) {
    size_t dot = name.find('.', at);
    if (dot == std::string::npos) dot = name.size();
    words.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return words;
}

// Whether an example of the form has all words of the section's name.
bool HasWords(const std::string& example, const std::vector<std::string>& words) {
  const std::vector<std::string> have = Words(example.substr(0, example.find_first_of(" ;")));
  return have[0] == words[0] && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
           return std::find(have.begin(), have.end(), word) != have.end();
         });
}

TEST(ManualInstructions, EverySectionHasAForm) {
  std::vector<std::vector<std::string>> wanted;
  for (const std::string& name : Sections()) wanted.push_back(Words(name));
  std::vector<bool> found(wanted.size());
  for (size_t form = 0; form < Forms().size(); ++form)
    for (const std::string& example : FormExamples(static_cast<int>(form), 8))
      for (size_t i = 0; i < wanted.size(); ++i) found[i] = found[i] || HasWords(example, wanted[i]);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(found[i]) << Sections()[i];
}

TEST(ManualInstructions, EveryFormHasASection) {
  std::set<std::string> mnemonics;
  for (const std::string& name : Sections()) mnemonics.insert(Words(name)[0]);
  for (const Form& form : Forms()) EXPECT_EQ(mnemonics.count(OpName(form.op)), 1u) << OpName(form.op);
}

}  // namespace
}  // namespace understudy::emu::ptx
