// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/clang_text.h"

#include "src/base/file.h"
#include "src/base/status.h"
#include "src/runtime/process/process.h"

namespace understudy {

absl::StatusOr<std::string> CompileWithClang(const std::string& text, const std::vector<std::string>& flags) {
  US_ASSIGN_OR_RETURN(const std::string clang, FindProgram("clang-22"));
  US_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  const std::string source = folder.path() + "/kernel.txt", out = folder.path() + "/kernel.out";
  US_RETURN_IF_ERROR(WriteFile(source, text));
  Command command{.argv = {clang}};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.argv.insert(command.argv.end(), {"-w", "-o", out, source});
  US_RETURN_IF_ERROR(RunCommand(command));
  return ReadFile(out);
}

}  // namespace understudy
