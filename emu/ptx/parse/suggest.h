// SPDX-License-Identifier: Apache-2.0
#pragma once
// "did you mean": the known word nearest to a misspelt one. For messages only.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace understudy::emu::ptx {

// Edit distance with transpositions of neighbours, `limit` + 1 where it is more than `limit`.
inline int EditDistance(std::string_view a, std::string_view b, int limit) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  if (n - m > limit || m - n > limit || n > 200) return limit + 1;
  std::vector<int> two(static_cast<size_t>(m) + 1), one(two), now(two);
  for (int j = 0; j <= m; ++j) one[static_cast<size_t>(j)] = j;
  for (int i = 1; i <= n; ++i) {
    now[0] = i;
    for (int j = 1; j <= m; ++j) {
      const auto x = static_cast<size_t>(i), y = static_cast<size_t>(j);
      now[y] = std::min({one[y] + 1, now[y - 1] + 1, one[y - 1] + (a[x - 1] != b[y - 1])});
      if (i > 1 && j > 1 && a[x - 1] == b[y - 2] && a[x - 2] == b[y - 1])
        now[y] = std::min(now[y], two[y - 2] + 1);
    }
    std::swap(two, one);
    std::swap(one, now);
  }
  return std::min(one[static_cast<size_t>(m)], limit + 1);
}

class Nearest {
 public:
  explicit Nearest(std::string_view word)
      : word_(word),
        best_(word.size() < 3   ? 2
              : word.size() < 6 ? 3
                                : 4) {}
  void Try(std::string_view candidate) {
    if (candidate == word_) return;
    const int distance = EditDistance(word_, candidate, best_);
    if (distance < best_ || (distance == best_ && !found_.empty() && candidate < found_)) {
      best_ = distance;
      found_ = std::string(candidate);
    }
  }
  // "; did you mean 'foo'?" or nothing.
  std::string Text() const { return found_.empty() ? "" : "; did you mean '" + found_ + "'?"; }

 private:
  std::string_view word_;
  int best_;
  std::string found_;
};

}  // namespace understudy::emu::ptx
