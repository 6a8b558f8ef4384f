// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/reduce.h"

namespace understudy::programs {
namespace {

using Path = std::vector<size_t>;

// Paths of removable nodes, the last ones first: what comes later depends on what comes before.
void Collect(const std::vector<Node>& nodes, Path& at, std::vector<Path>& out) {
  for (size_t k = nodes.size(); k-- > 0;) {
    at.push_back(k);
    if (nodes[k].removable) out.push_back(at);
    Collect(nodes[k].children, at, out);
    at.pop_back();
  }
}

Program Without(const Program& program, const Path& path) {
  Program copy = program;
  std::vector<Node>* list = &copy.nodes;
  for (size_t k = 0; k + 1 < path.size(); ++k) list = &(*list)[path[k]].children;
  list->erase(list->begin() + static_cast<int64_t>(path.back()));
  return copy;
}

}  // namespace

Program Reduce(const Program& program, int most_tries, const std::function<bool(const Program&)>& holds) {
  Program best = program;
  int tries = 0;
  for (bool smaller = true; smaller && tries < most_tries;) {
    smaller = false;
    std::vector<Path> paths;
    Path at;
    Collect(best.nodes, at, paths);
    // A removed node takes what lies in it and shifts what follows it, which has been tried already: the
    // paths of nodes before it stay valid.
    Path removed;
    for (const Path& path : paths) {
      if (tries >= most_tries) break;
      if (!removed.empty() && path.size() > removed.size() &&
          std::equal(removed.begin(), removed.end(), path.begin()))
        continue;
      ++tries;
      Program candidate = Without(best, path);
      if (!holds(candidate)) continue;
      best = std::move(candidate), removed = path, smaller = true;
    }
  }
  return best;
}

}  // namespace understudy::programs
