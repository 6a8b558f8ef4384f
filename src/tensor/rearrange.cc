// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/rearrange.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Text;

namespace {

constexpr char kDots[] = "...";

// A side of the pattern: groups of axis names. A number stands for an axis without a name.
struct Group {
  std::vector<std::string> axes;
  bool joined = false;  // written in parentheses
};
struct Side {
  std::vector<Group> groups;
  std::vector<std::string> Names() const {
    std::vector<std::string> out;
    for (const Group& g : groups) out.insert(out.end(), g.axes.begin(), g.axes.end());
    return out;
  }
};

enum class Kind { kRearrange, kRepeat, kReduce };
const char* NameOf(Kind k) {
  return k == Kind::kRearrange ? "Rearrange" : k == Kind::kRepeat ? "EinopsRepeat" : "EinopsReduce";
}

bool IsNumber(const std::string& s) { return !s.empty() && std::isdigit(static_cast<unsigned char>(s[0])); }

class Pattern {
 public:
  Pattern(Kind kind, const std::string& text) : kind_(kind), text_(text) {}

  template <class... A>
  absl::Status Error(const A&... a) const {
    return Bad(NameOf(kind_), "pattern '", text_, "': ", a...);
  }

  absl::Status Parse() {
    const size_t arrow = text_.find("->");
    if (arrow == std::string::npos || text_.find("->", arrow + 2) != std::string::npos)
      return Error("expected one '->'");
    US_RETURN_IF_ERROR(ParseSide(text_.substr(0, arrow), &left));
    return ParseSide(text_.substr(arrow + 2), &right);
  }

  // A number other than 1 gets a name of its own, so that each is an axis.
  std::map<std::string, int64_t> sizes;
  Side left, right;

 private:
  absl::Status ParseSide(const std::string& s, Side* side) {
    bool inside = false;
    size_t i = 0;
    std::vector<std::string> seen;
    while (i < s.size()) {
      const char c = s[i];
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++i;
      } else if (c == '(') {
        if (inside) return Error("'(' inside parentheses, expected an axis");
        inside = true;
        side->groups.push_back({{}, true});
        ++i;
      } else if (c == ')') {
        if (!inside) return Error("')' without '('");
        inside = false;
        ++i;
      } else {
        std::string word;
        if (s.compare(i, 3, kDots) == 0) {
          word = kDots;
        } else {
          while (i + word.size() < s.size() &&
                 (std::isalnum(static_cast<unsigned char>(s[i + word.size()])) || s[i + word.size()] == '_'))
            word += s[i + word.size()];
        }
        if (word.empty())
          return Error("'", std::string(1, c), "', expected an axis, '(', ')', '...' or '->'");
        i += word.size();
        if (IsNumber(word)) {
          if (word.size() > 12 ||
              !std::all_of(word.begin(), word.end(), [](unsigned char d) { return std::isdigit(d); }))
            return Error("axis '", word, "', expected a name or a number");
          const int64_t n = std::stoll(word);
          if (n == 0) return Error("axis of size 0");
          if (n == 1) {
            if (!inside) side->groups.emplace_back();
            continue;
          }
          if (kind_ == Kind::kRearrange)
            return Error("axis '", word, "', expected names or 1 (EinopsRepeat and EinopsReduce take sizes)");
          word = absl::StrCat("#", side == &left ? "l" : "r", seen.size(), "_", n);
          sizes[word] = n;
        } else if (std::count(seen.begin(), seen.end(), word)) {
          return Error("axis '", word, "' appears twice on one side");
        }
        seen.push_back(word);
        if (!inside) side->groups.emplace_back();
        side->groups.back().axes.push_back(word);
      }
    }
    if (inside) return Error("'(' without ')'");
    return absl::OkStatus();
  }

  Kind kind_;
  std::string text_;
};

absl::StatusOr<Tensor> Apply(Kind kind, const Tensor& x, const std::string& text, const AxisSizes& given,
                             EinopsReduction reduction) {
  US_RETURN_IF_ERROR(x.status());
  Pattern p(kind, text);
  US_RETURN_IF_ERROR(p.Parse());
  std::vector<std::string> left = p.left.Names(), right = p.right.Names();
  const auto has = [](const std::vector<std::string>& v, const std::string& s) {
    return std::count(v.begin(), v.end(), s) != 0;
  };
  for (const auto& [name, n] : given) {
    if (!has(left, name) && !has(right, name))
      return p.Error("size given for '", name, "', which is no axis of it");
    if (n <= 0) return p.Error("axis '", name, "' of size ", n, ", expected above 0");
    if (!p.sizes.emplace(name, n).second) return p.Error("two sizes given for '", name, "'");
  }
  for (const std::string& name : right) {
    if (has(left, name)) continue;
    if (name == kDots) return p.Error("'...' on the right alone");
    if (kind != Kind::kRepeat)
      return p.Error("axis '", name, "' is on the right alone, expected it on both sides");
    if (!p.sizes.count(name)) return p.Error("the repeated axis '", name, "' needs a size");
  }
  for (const std::string& name : left) {
    if (!has(right, name) && kind != Kind::kReduce)
      return p.Error("axis '", name, "' is on the left alone, expected it on both sides");
  }

  // Axes of the input: each group has one axis, `...` as many as are left over.
  const bool dots = has(left, kDots);
  const auto named = static_cast<int64_t>(p.left.groups.size()) - (dots ? 1 : 0);
  for (const Group& g : p.left.groups) {
    if (g.joined && has(g.axes, kDots)) return p.Error("'...' inside parentheses on the left");
  }
  if (dots ? x.ndim() < named : x.ndim() != named) {
    return p.Error(named, dots ? " axes and '...'" : " axes", " on the left for a tensor of rank ", x.ndim(),
                   ", shape ", Text(x.shape()));
  }
  std::vector<int64_t> split;           // sizes of the single axes of the input
  std::vector<std::string> split_name;  // "...0", "...1" for those of the ellipsis
  std::vector<std::string> dots_names;
  int64_t axis = 0;
  for (const Group& g : p.left.groups) {
    if (!g.joined && has(g.axes, kDots)) {
      for (int64_t i = named; i < x.ndim(); ++i, ++axis) {
        dots_names.push_back(absl::StrCat(kDots, dots_names.size()));
        split_name.push_back(dots_names.back());
        split.push_back(x.shape()[axis]);
        p.sizes[dots_names.back()] = x.shape()[axis];
      }
      continue;
    }
    const int64_t n = x.shape()[axis++];
    int64_t known = 1;
    const std::string* unknown = nullptr;
    for (const std::string& name : g.axes) {
      if (const auto it = p.sizes.find(name); it != p.sizes.end()) {
        if (__builtin_mul_overflow(known, it->second, &known)) known = INT64_MAX;
      } else if (unknown != nullptr) {
        return p.Error("sizes of '", *unknown, "' and '", name,
                       "' are both unknown, expected one to be given");
      } else {
        unknown = &name;
      }
    }
    if (unknown != nullptr ? n % known != 0 : n != known) {
      return p.Error("axis ", axis - 1, " of size ", n, " for (", absl::StrJoin(g.axes, " "), "), expected ",
                     unknown != nullptr ? "a multiple of " : "", known);
    }
    if (unknown != nullptr) p.sizes[*unknown] = n / known;
    for (const std::string& name : g.axes) {
      split_name.push_back(name);
      split.push_back(p.sizes[name]);
    }
  }
  Tensor v = x.Reshape(split);

  // The axes in the order of the right; the rest is reduced.
  std::vector<std::string> order;
  for (const std::string& name : right) {
    if (name == kDots)
      order.insert(order.end(), dots_names.begin(), dots_names.end());
    else
      order.push_back(name);
  }
  if (kind == Kind::kReduce) {
    std::vector<int64_t> axes;
    std::vector<std::string> kept;
    for (size_t i = 0; i < split_name.size(); ++i) {
      if (has(order, split_name[i]))
        kept.push_back(split_name[i]);
      else
        axes.push_back(static_cast<int64_t>(i));
    }
    if (!axes.empty()) {
      switch (reduction) {
        case EinopsReduction::kSum:
          v = v.Sum(axes);
          break;
        case EinopsReduction::kMean:
          v = v.Mean(axes);
          break;
        case EinopsReduction::kMax:
          v = v.Max(axes);
          break;
        case EinopsReduction::kMin:
          v = v.Min(axes);
          break;
        case EinopsReduction::kProd:
          v = v.Prod(axes);
          break;
      }
      split_name = kept;
    }
  }
  std::vector<int64_t> perm;
  Shape ones, wide;
  for (const std::string& name : order) {
    const auto it = std::find(split_name.begin(), split_name.end(), name);
    wide.push_back(p.sizes[name]);
    ones.push_back(it == split_name.end() ? 1 : p.sizes[name]);
    if (it != split_name.end()) perm.push_back(it - split_name.begin());
  }
  v = v.Permute(perm).Reshape(ones).Expand(wide);
  Shape out;
  size_t next = 0;
  for (const Group& g : p.right.groups) {
    int64_t n = 1;
    bool spread = false;
    for (const std::string& name : g.axes) {
      if (name != kDots) {
        if (__builtin_mul_overflow(n, wide[next++], &n))
          return p.Error("the result has more than 2^63 elements");
        continue;
      }
      // Alone the ellipsis is its axes; in parentheses they are joined.
      for (size_t i = 0; i < dots_names.size(); ++i, ++next) {
        if (!g.joined)
          out.push_back(wide[next]);
        else
          n *= wide[next];
      }
      spread = !g.joined;
    }
    if (!spread) out.push_back(n);
  }
  return v.Reshape(out);
}

}  // namespace

Tensor Rearrange(const Tensor& x, const std::string& pattern, const AxisSizes& sizes) {
  auto r = Apply(Kind::kRearrange, x, pattern, sizes, EinopsReduction::kSum);
  return r.ok() ? *r : Tensor(r.status());
}
Tensor EinopsRepeat(const Tensor& x, const std::string& pattern, const AxisSizes& sizes) {
  auto r = Apply(Kind::kRepeat, x, pattern, sizes, EinopsReduction::kSum);
  return r.ok() ? *r : Tensor(r.status());
}
Tensor EinopsReduce(const Tensor& x, const std::string& pattern, EinopsReduction reduction,
                    const AxisSizes& sizes) {
  auto r = Apply(Kind::kReduce, x, pattern, sizes, reduction);
  return r.ok() ? *r : Tensor(r.status());
}

}  // namespace understudy
