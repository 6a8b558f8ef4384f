// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int main(int argc, char** argv) {
  int n = 0;
  for (int i = 1; i < argc; ++i)
    for (auto& e : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!std::filesystem::is_regular_file(e)) continue;  // runfiles are symbolic links
      std::ifstream f(e.path(), std::ios::binary);
      std::vector<char> b{std::istreambuf_iterator<char>(f), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(b.data()), b.size());
      ++n;
    }
  std::printf("replayed %d inputs\n", n);
  return n ? 0 : 1;
}
