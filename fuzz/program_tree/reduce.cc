// SPDX-License-Identifier: Apache-2.0
#include "fuzz/program_tree/reduce.h"

#include <algorithm>

namespace understudy::programs {
namespace {

using Path = std::vector<size_t>;

class Reducer {
 public:
  Reducer(std::vector<Node> nodes, int most_tries, const std::function<bool(const std::vector<Node>&)>& holds)
      : best_(std::move(nodes)), tries_left_(most_tries), holds_(holds) {}

  std::vector<Node> Run() {
    for (bool smaller = true; smaller && tries_left_ > 0;) smaller = Shrink({});
    return std::move(best_);
  }

 private:
  std::vector<Node>* List(std::vector<Node>& nodes, const Path& path) const {
    std::vector<Node>* list = &nodes;
    for (const size_t k : path) list = &(*list)[k].children;
    return list;
  }

  // The children of the node at `path`: runs of them in halves, quarters and so on, then what lies in each.
  // The last ones first: what comes later depends on what comes before.
  bool Shrink(const Path& path) {
    bool smaller = false;
    for (size_t run = std::max<size_t>(List(best_, path)->size() / 2, 1); run > 0; run /= 2) {
      for (size_t end = List(best_, path)->size(); end > 0 && tries_left_ > 0;) {
        const size_t begin = end > run ? end - run : 0;
        if (Remove(path, begin, end)) smaller = true;
        end = begin;
      }
    }
    for (size_t k = List(best_, path)->size(); k-- > 0;) {
      Path inner = path;
      inner.push_back(k);
      if (!List(best_, inner)->empty() && Shrink(inner)) smaller = true;
    }
    return smaller;
  }

  bool Remove(const Path& path, size_t begin, size_t end) {
    std::vector<Node> candidate = best_;
    std::vector<Node>* list = List(candidate, path);
    const size_t before = list->size();
    const auto first = list->begin() + static_cast<int64_t>(begin),
               last = list->begin() + static_cast<int64_t>(end);
    list->erase(std::remove_if(first, last, [](const Node& node) { return node.removable; }), last);
    if (list->size() == before) return false;
    --tries_left_;
    if (!holds_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  std::vector<Node> best_;
  int tries_left_;
  const std::function<bool(const std::vector<Node>&)>& holds_;
};

}  // namespace

std::vector<Node> ReduceNodes(const std::vector<Node>& nodes, int most_tries,
                              const std::function<bool(const std::vector<Node>&)>& holds) {
  return Reducer(nodes, most_tries, holds).Run();
}

}  // namespace understudy::programs
