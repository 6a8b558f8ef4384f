// SPDX-License-Identifier: Apache-2.0
// Other people's machine code: every instruction of every gfx90a kernel in Debian's librocsparse0 and
// librocrand1 decodes, and is written as LLVM MC writes it. Each distinct instruction is compared once.
// Skipped where the packages are not installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/mapped_file.h"
#include "src/runtime/amd/code_object.h"
#include "src/runtime/amd/offload_bundle.h"
#include "tests/emu/amd/decode/mc_oracle.h"

namespace understudy::emu::amd {
namespace {

using Bytes = absl::Span<const uint8_t>;
constexpr int kMaxReports = 20;

// The bytes of distinct instructions by a 64-bit hash, shared by the threads.
class Seen {
 public:
  // True the first time.
  bool Insert(const uint8_t* bytes, int size) {
    uint64_t words[2] = {0, static_cast<uint64_t>(size) << 56};
    std::memcpy(words, bytes, std::min(size, 8));
    if (size > 8) words[1] ^= Rest(bytes + 8, size - 8);
    uint64_t hash = (words[0] ^ words[1] * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    hash ^= hash >> 31;
    Shard& shard = shards_[hash % kShards];
    std::lock_guard<std::mutex> lock(shard.mutex);
    return shard.hashes.insert(hash).second;
  }
  size_t size() const {
    size_t n = 0;
    for (const Shard& shard : shards_) n += shard.hashes.size();
    return n;
  }

 private:
  static uint64_t Rest(const uint8_t* bytes, int size) {
    uint64_t out = 0;
    std::memcpy(&out, bytes, std::min(size, 8));
    return out * 0x94d049bb133111eb;
  }
  static constexpr int kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_set<uint64_t> hashes;
  };
  Shard shards_[kShards];
};

struct Tally {
  std::atomic<int> objects{0}, kernels{0};
  std::atomic<int64_t> instructions{0};
  Seen seen;
  std::mutex mutex;
  std::set<Opcode> opcodes;           // under mutex
  std::vector<std::string> failures;  // under mutex

  void Fail(const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex);
    if (failures.size() < kMaxReports) failures.push_back(what);
  }
};

void WalkKernel(const std::string& name, Bytes code, const McDisassembler& mc, std::set<Opcode>* opcodes,
                Tally* tally) {
  int64_t instructions = 0;
  for (size_t at = 0; at + 4 <= code.size();) {
    Inst inst;
    absl::Status status = DecodeInto(Isa::kCdna2, code.data() + at, code.size() - at, &inst);
    if (!status.ok()) {
      tally->Fail(absl::StrCat(name, "+", at, ": ", std::string(status.message()),
                               "; MC: ", mc.Disassemble(code.data() + at, code.size() - at).text));
      return;
    }
    ++instructions;
    if (tally->seen.Insert(code.data() + at, inst.size)) {
      opcodes->insert(inst.op);
      McInst theirs = mc.Disassemble(code.data() + at, code.size() - at);
      if (theirs.size != inst.size || theirs.text != Text(inst)) {
        tally->Fail(absl::StrCat(name, "+", at, ":\n  ours ", Text(inst), "\n  MC   ", theirs.text));
      }
    }
    at += inst.size;
  }
  tally->instructions += instructions;
}

void WalkObject(Bytes file, const McDisassembler& mc, std::set<Opcode>* opcodes, Tally* tally) {
  auto object = understudy::amd::CodeObject::Parse(file);
  if (!object.ok()) return tally->Fail(std::string(object.status().message()));
  std::vector<uint8_t> image = object->Image(0);
  for (const auto& kernel : object->kernels()) {
    auto symbol = object->symbols().find(kernel.name);
    if (symbol == object->symbols().end()) {
      tally->Fail(kernel.name + " has no symbol");
      continue;
    }
    uint64_t begin = symbol->second.address, size = symbol->second.size;
    if (begin != kernel.entry_address || size == 0 || begin > image.size() || size > image.size() - begin) {
      tally->Fail(absl::StrCat(kernel.name, ": ", size, " bytes at ", begin, " of ", image.size()));
      continue;
    }
    WalkKernel(kernel.name, Bytes(image).subspan(begin, size), mc, opcodes, tally);
    ++tally->kernels;
  }
  ++tally->objects;
}

// Walks the gfx90a code objects of a library with all host threads.
void WalkLibrary(const MappedFile& library, Tally* tally) {
  auto entries = understudy::amd::OffloadEntriesOfLibrary(library.bytes());
  ASSERT_TRUE(entries.ok()) << entries.status();
  std::vector<Bytes> objects;
  for (const auto& entry : *entries) {
    if (entry.processor() == "gfx90a") objects.push_back(entry.content);
  }
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      McDisassembler mc("gfx90a", 64);
      std::set<Opcode> opcodes;
      for (size_t n; (n = next++) < objects.size();) WalkObject(objects[n], mc, &opcodes, tally);
      std::lock_guard<std::mutex> lock(tally->mutex);
      tally->opcodes.insert(opcodes.begin(), opcodes.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// `kernels`: of the package in Debian 12, over both kinds of gfx90a (xnack on and off).
void CheckLibrary(const char* path, const char* package, int kernels) {
  const absl::StatusOr<MappedFile> library = MappedFile::Open(path);
  if (!library.ok()) GTEST_SKIP() << path << " is not there; apt-get install " << package;
  Tally tally;
  WalkLibrary(*library, &tally);
  for (const std::string& failure : tally.failures) ADD_FAILURE() << failure;
  EXPECT_GE(tally.kernels, kernels);
  EXPECT_GT(tally.seen.size(), 10000u);
  std::string line =
      absl::StrFormat("%s: %d code objects, %d kernels, %d instructions, %d of them distinct, %d opcodes",
                      package, tally.objects.load(), tally.kernels.load(), tally.instructions.load(),
                      tally.seen.size(), tally.opcodes.size());
  std::printf("%s\n", line.c_str());
  for (Opcode op : tally.opcodes) {
    const auto& rows = decode::TableOf(Isa::kCdna2).rows();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const decode::Row& row) { return row.op == op; }))
        << OpcodeName(op);
  }
}

TEST(LibraryKernels, RocrandDecodesAndPrintsAsInMc) {
  CheckLibrary("/usr/lib/x86_64-linux-gnu/librocrand.so.1", "librocrand1", 160);
}

TEST(LibraryKernels, RocsparseDecodesAndPrintsAsInMc) {
  CheckLibrary("/usr/lib/x86_64-linux-gnu/librocsparse.so.0", "librocsparse0", 25000);
}

}  // namespace
}  // namespace understudy::emu::amd
