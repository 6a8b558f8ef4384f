// SPDX-License-Identifier: Apache-2.0
#pragma once
// A read-only tree of small text files, directories and symbolic links: the sysfs that the mock kernel shows.
// Filled once, then only read. It knows nothing of what the files mean.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/runtime/os/syscalls.h"

namespace understudy::mockgpu::amd {

class VirtualFiles {
 public:
  // Absolute paths without "." or "..". Parent directories come into being by themselves.
  void AddFile(const std::string& path, std::string text);
  void AddDevice(const std::string& path);  // a character device, listed but opened elsewhere
  void AddSymlink(const std::string& path, const std::string& target);

  enum class Kind { kMissing, kFile, kDirectory, kSymlink, kDevice };
  // Follows links in the path, and in its last part if `follow`. `canonical` receives where it leads.
  Kind Find(const std::string& path, bool follow, std::string* canonical) const;
  // Of a canonical path.
  const std::string& Text(const std::string& canonical) const { return files_.at(canonical); }
  const std::string& Target(const std::string& canonical) const { return links_.at(canonical); }
  std::vector<os::DirEntry> List(const std::string& canonical) const;

 private:
  void AddParents(const std::string& path);
  std::map<std::string, std::string> files_, links_;
  std::set<std::string> devices_;
  std::map<std::string, std::set<std::string>> directories_;  // names inside
};

}  // namespace understudy::mockgpu::amd
