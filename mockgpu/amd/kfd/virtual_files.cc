// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/virtual_files.h"

#include <utility>

#include "absl/strings/str_split.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

std::string Join(const std::string& directory, const std::string& name) {
  return directory == "/" ? "/" + name : directory + "/" + name;
}

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::vector<std::string> Parts(const std::string& path) {
  return absl::StrSplit(path, '/', absl::SkipEmpty());
}

}  // namespace

void VirtualFiles::AddParents(const std::string& path) {
  std::string child = path;
  while (child != "/") {
    const std::string parent = Parent(child);
    directories_[parent].insert(child.substr(parent == "/" ? 1 : parent.size() + 1));
    child = parent;
  }
}

void VirtualFiles::AddFile(const std::string& path, std::string text) {
  AddParents(path);
  files_[path] = std::move(text);
}

void VirtualFiles::AddDevice(const std::string& path) {
  AddParents(path);
  devices_.insert(path);
}

void VirtualFiles::AddSymlink(const std::string& path, const std::string& target) {
  AddParents(path);
  links_[path] = target;
}

VirtualFiles::Kind VirtualFiles::Find(const std::string& path, bool follow, std::string* canonical) const {
  if (path.empty() || path[0] != '/') return Kind::kMissing;
  std::vector<std::string> todo = Parts(path);
  // Parts still to walk, next one last.
  std::vector<std::string> rest(todo.rbegin(), todo.rend());
  std::string at = "/";
  int links = 0;
  while (!rest.empty()) {
    const std::string part = rest.back();
    rest.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      at = Parent(at);
      continue;
    }
    if (directories_.count(at) == 0) return Kind::kMissing;
    const std::string next = Join(at, part);
    const auto link = links_.find(next);
    if (link != links_.end() && (follow || !rest.empty())) {
      if (++links > kMaxLinks) return Kind::kMissing;
      const std::vector<std::string> target = Parts(link->second);
      if (!link->second.empty() && link->second[0] == '/') at.assign(1, '/');
      rest.insert(rest.end(), target.rbegin(), target.rend());
      continue;
    }
    at = next;
  }
  *canonical = at;
  if (links_.count(at) != 0) return Kind::kSymlink;
  if (files_.count(at) != 0) return Kind::kFile;
  if (devices_.count(at) != 0) return Kind::kDevice;
  return directories_.count(at) != 0 ? Kind::kDirectory : Kind::kMissing;
}

std::vector<os::DirEntry> VirtualFiles::List(const std::string& canonical) const {
  std::vector<os::DirEntry> entries;
  for (const std::string& name : directories_.at(canonical)) {
    std::string target;
    entries.push_back({name, Find(Join(canonical, name), true, &target) == Kind::kDirectory});
  }
  return entries;
}

}  // namespace understudy::mockgpu::amd
