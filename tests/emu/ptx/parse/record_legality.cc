// SPDX-License-Identifier: Apache-2.0
// record_legality ANSWERS DIFFERENCES: asks the installed ptxas about instructions near every form and writes
// what it says to ANSWERS, and to DIFFERENCES the instructions of which the parser says otherwise, without
// reasons. tests/data/ptx/README.md says what becomes of both.
#include <cstdio>
#include <fstream>

#include "tests/emu/ptx/parse/legality_answers.h"
#include "tests/emu/ptx/parse/ptxas.h"

int main(int argc, char** argv) {
  using namespace understudy::emu::ptx;  // NOLINT
  const std::string ptxas = PtxasPath();
  if (argc != 3 || ptxas.empty()) {
    std::fprintf(stderr, "usage: record_legality ANSWERS DIFFERENCES, with ptxas in CUDA's usual place\n");
    return 2;
  }
  std::vector<Answer> answers;
  std::ofstream differences(argv[2]);
  size_t taken = 0, differ = 0, died = 0;
  for (const Group& group : Grouped(NearForms(1, 2, 20))) {
    const std::vector<std::string> theirs = AskPtxas(ptxas, group.version, group.target, group.instructions);
    const std::vector<std::string> ours = AskParser(group.version, group.target, group.instructions);
    for (size_t i = 0; i < theirs.size(); ++i) {
      const Case one{group.version, group.target, group.instructions[i]};
      if (theirs[i][0] == '?') {
        ++died;
        continue;
      }
      answers.push_back({one, theirs[i].empty()});
      taken += theirs[i].empty();
      if (theirs[i].empty() == ours[i].empty()) continue;
      ++differ;
      differences << one.version << ' ' << one.target << ' ' << one.instruction << "\n# ptxas: " << theirs[i]
                  << "\n# parser: " << ours[i] << "\n";
    }
  }
  std::ofstream(argv[1]) << FormatAnswers(answers);
  std::printf("%zu asked, ptxas takes %zu, the parser differs in %zu; ptxas died of %zu\n", answers.size(),
              taken, differ, died);
  return 0;
}
