// SPDX-License-Identifier: Apache-2.0
#pragma once
// An instruction's modifiers while a float executor is chosen for it: each is taken once, and what is left
// over at the end is a modifier that the choice did not understand. Used by float_find.cc and
// convert_find.cc.

#include <string>
#include <vector>

#include "emu/ptx/parse/module.h"
#include "emu/ptx/semantics/convert_plan.h"

namespace understudy::emu::ptx {

class FloatModifiers {
 public:
  explicit FloatModifiers(const Instruction& inst) {
    Type type;
    for (const std::string& m : inst.modifiers)
      if (!FindType(m, &type)) left_.push_back(m);
  }
  bool Take(const char* name) {
    for (size_t i = 0; i < left_.size(); ++i) {
      if (left_[i] != name) continue;
      left_.erase(left_.begin() + static_cast<ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  // .rn, .rz, .rm, .rp; false where there is none (nearest even then).
  bool TakeRound(Round* round) {
    *round = Round::kNearestEven;
    if (Take("rn")) return true;
    if (Take("rz")) return *round = Round::kToZero, true;
    if (Take("rm")) return *round = Round::kDown, true;
    if (Take("rp")) return *round = Round::kUp, true;
    return false;
  }
  bool TakeIntegralRound(Round* round) {
    if (Take("rni")) return *round = Round::kNearestEven, true;
    if (Take("rzi")) return *round = Round::kToZero, true;
    if (Take("rmi")) return *round = Round::kDown, true;
    if (Take("rpi")) return *round = Round::kUp, true;
    return false;
  }
  bool empty() const { return left_.empty(); }
  const std::string& first() const { return left_.front(); }
  const std::vector<std::string>& left() const { return left_; }

 private:
  std::vector<std::string> left_;
};

}  // namespace understudy::emu::ptx
