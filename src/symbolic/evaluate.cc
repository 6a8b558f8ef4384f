// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "src/base/status.h"
#include "src/symbolic/simplify.h"
#include "src/uop/eval.h"
#include "src/uop/print.h"

namespace understudy::symbolic {

ConstValue EvaluateConst(const UOpRef& expr, const Bindings& bindings) {
  absl::flat_hash_map<const UOp*, ConstValue> done;
  std::vector<std::pair<const UOp*, size_t>> stack{{expr.get(), 0}};
  std::vector<ConstValue> args;
  while (!stack.empty()) {
    const UOp* n = stack.back().first;
    const size_t i = stack.back().second;
    if (i == 0) {
      if (done.contains(n)) {
        stack.pop_back();
        continue;
      }
      if (const auto it = bindings.find(UOpRef(n)); it != bindings.end()) {
        done.emplace(n, it->second);
        stack.pop_back();
        continue;
      }
      if (n->IsConst()) {
        done.emplace(n, n->value());
        stack.pop_back();
        continue;
      }
      US_CHECK(IsAlu(n->op())) << "evaluating " << uop::Infix(expr) << ": no value for "
                               << uop::Infix(UOpRef(n));
    }
    if (i < n->num_src()) {
      ++stack.back().second;
      if (!done.contains(n->src(i).get())) stack.emplace_back(n->src(i).get(), 0);
      continue;
    }
    args.clear();
    for (const UOpRef& s : n->src()) args.push_back(done.at(s.get()));
    done.emplace(n, uop::EvalNode(*n, args));
    stack.pop_back();
  }
  return done.at(expr.get());
}

int64_t Evaluate(const UOpRef& expr, const Bindings& bindings) {
  return std::get<int64_t>(EvaluateConst(expr, bindings));
}

}  // namespace understudy::symbolic
