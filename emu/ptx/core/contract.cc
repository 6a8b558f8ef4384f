// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/contract.h"

#include <algorithm>
#include <utility>

namespace understudy::emu::ptx {
namespace {

bool HasRounding(const Instruction& inst) {
  for (const char* m : {"rn", "rz", "rm", "rp", "rna", "rs"})
    if (inst.Has(m)) return true;
  return false;
}

bool HoldsProducts(Type type) {
  switch (type) {
    case Type::kF32:
    case Type::kF64:
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBf16:
    case Type::kBf16x2:
      return true;
    default:
      return false;
  }
}

bool IsOneType(const Instruction& inst) { return inst.types.size() == 1 && HoldsProducts(inst.types[0]); }

bool IsProduct(const Instruction& inst) {
  if (inst.has_guard || !IsOneType(inst) || inst.Has("sat")) return false;
  switch (inst.op) {
    case Op::kMul:
      return !HasRounding(inst);
    case Op::kDiv:
      return inst.type() == Type::kF32 && (inst.Has("full") || inst.Has("approx"));
    case Op::kRcp:
      // With .ftz there is no product: the unit's answer is the result.
      return inst.type() == Type::kF32 && inst.Has("approx") && !inst.Has("ftz");
    default:
      return false;
  }
}

bool IsSum(const Instruction& inst) {
  return (inst.op == Op::kAdd || inst.op == Op::kSub) && IsOneType(inst) && !HasRounding(inst);
}

// What passes a product on, as it is or with the other sign.
bool IsCopy(const Instruction& inst) {
  if (inst.has_guard || inst.types.size() != 1 || inst.operands.size() != 2) return false;
  if (inst.operands[1].kind != Operand::Kind::kRegister) return false;
  return (inst.op == Op::kNeg && HoldsProducts(inst.types[0])) || inst.op == Op::kMov;
}

bool WritesFirstOperand(const Instruction& inst) {
  switch (inst.op) {
    case Op::kSt:
    case Op::kRed:
    case Op::kBar:
    case Op::kBarrier:
    case Op::kBra:
    case Op::kBrx:
    case Op::kCp:
    case Op::kStmatrix:
    case Op::kPrefetch:
    case Op::kPrefetchu:
    case Op::kDiscard:
    case Op::kApplypriority:
    case Op::kNanosleep:
    case Op::kSust:
    case Op::kSured:
    case Op::kStackrestore:
    case Op::kTensormap:
      return false;
    case Op::kWmma:
      return !inst.Has("store");
    default:
      return !inst.operands.empty() && inst.operands[0].kind != Operand::Kind::kAddress;
  }
}

// A value that a register holds from one write to the next, within one block.
struct Web {
  int product = -1;       // the instruction; of copies that of the product they carry
  int root = -1;          // web of the product
  bool negated = false;   // against the product
  bool eligible = false;  // of roots: every use so far is a sum that may be fused
  bool keep = false;      // of roots: a factor has changed at a use
  int uses = 0;           // of roots: sums
};

class Finder {
 public:
  Finder(const Function& function, const std::vector<Flow>& flow) : f_(function) {
    const size_t n = f_.body.size();
    starts_.assign(n + 1, false);
    for (size_t i = 0; i < n; ++i) {
      for (const uint32_t target : flow[i].targets) starts_[target] = true;
      if (!flow[i].targets.empty() || flow[i].leaves || f_.body[i].op == Op::kCall) starts_[i + 1] = true;
    }
    current_.assign(f_.registers.size(), -1);
    writes_.assign(f_.registers.size(), 0);
    exposed_.assign(f_.registers.size(), false);
  }

  std::vector<Contraction> Run() {
    FindExposed();
    for (size_t i = 0; i < f_.body.size(); ++i) {
      if (starts_[i]) EndBlock();
      Visit(static_cast<int>(i));
    }
    EndBlock();
    return Choose();
  }

 private:
  // A sum's use of a root web.
  struct Use {
    int web = -1, operand = 0;
    bool negated = false;
  };
  struct Sum {
    int at = 0;
    std::vector<Use> uses;
  };

  template <class Fn>
  static void ForEachRegister(const Operand& o, Fn&& fn) {
    if (o.kind == Operand::Kind::kRegister ||
        (o.kind == Operand::Kind::kAddress && o.base_kind == Operand::Base::kRegister)) {
      if (o.index >= 0) fn(static_cast<size_t>(o.index));
    }
    for (const Operand& e : o.elements) ForEachRegister(e, fn);
  }
  // The first operand of wgmma is an accumulator; that of a guarded instruction keeps its old value in the
  // lanes that do not execute.
  static bool ReadsFirstOperand(const Instruction& inst) {
    return !WritesFirstOperand(inst) || inst.has_guard || inst.op == Op::kWgmma || inst.op == Op::kCall;
  }
  template <class Fn>
  static void ForEachRead(const Instruction& inst, Fn&& fn) {
    if (inst.has_guard && inst.guard >= 0) fn(static_cast<size_t>(inst.guard), -1);
    for (size_t k = 0; k < inst.operands.size(); ++k) {
      if (k == 0 && !ReadsFirstOperand(inst)) continue;
      const bool plain = inst.operands[k].kind == Operand::Kind::kRegister && k != 0;
      ForEachRegister(inst.operands[k], [&](size_t r) { fn(r, plain ? static_cast<int>(k) : -1); });
    }
  }
  template <class Fn>
  static void ForEachWrite(const Instruction& inst, Fn&& fn) {
    if (WritesFirstOperand(inst)) ForEachRegister(inst.operands[0], fn);
  }

  // Registers that some block reads before it writes them: those outlive blocks.
  void FindExposed() {
    std::vector<bool> written(f_.registers.size(), false);
    for (size_t i = 0; i < f_.body.size(); ++i) {
      if (starts_[i]) written.assign(written.size(), false);
      ForEachRead(f_.body[i], [&](size_t r, int) {
        if (!written[r]) exposed_[r] = true;
      });
      ForEachWrite(f_.body[i], [&](size_t r) { written[r] = true; });
    }
    for (const int r : f_.return_registers)
      if (r >= 0) exposed_[static_cast<size_t>(r)] = true;
  }

  void EndBlock() {
    for (size_t r = 0; r < current_.size(); ++r) {
      if (current_[r] >= 0 && exposed_[r]) Spoil(current_[r]);
      current_[r] = -1;
    }
  }
  void Spoil(int web) { webs_[static_cast<size_t>(webs_[static_cast<size_t>(web)].root)].eligible = false; }

  void Visit(int at) {
    const Instruction& inst = f_.body[static_cast<size_t>(at)];
    const bool is_sum = IsSum(inst), is_copy = IsCopy(inst);
    Sum sum;
    sum.at = at;
    int copied = -1;
    ForEachRead(inst, [&](size_t r, int operand) {
      const int web = current_[r];
      if (web < 0) return;
      const Web& w = webs_[static_cast<size_t>(web)];
      if (is_sum && operand > 0 && Fits(inst, w)) {
        sum.uses.push_back({w.root, operand, w.negated});
      } else if (is_copy && operand == 1) {
        copied = web;
      } else {
        Spoil(web);
      }
    });
    // x + x stays a sum.
    if (sum.uses.size() == 2 && sum.uses[0].web == sum.uses[1].web) {
      Spoil(sum.uses[0].web);
      sum.uses.clear();
    }
    for (const Use& use : sum.uses) {
      Web& root = webs_[static_cast<size_t>(use.web)];
      ++root.uses;
      root.keep = root.keep || FactorsHaveChanged(use.web);
    }
    if (!sum.uses.empty()) sums_.push_back(std::move(sum));

    if (copied >= 0 && !CopyFits(inst, webs_[static_cast<size_t>(copied)])) {
      Spoil(copied);
      copied = -1;
    }
    ForEachWrite(inst, [&](size_t r) {
      ++writes_[r];
      if (inst.has_guard && current_[r] >= 0) Spoil(current_[r]);
      current_[r] = -1;
      if (inst.operands[0].kind != Operand::Kind::kRegister) return;
      Web web;
      if (copied >= 0) {
        web = webs_[static_cast<size_t>(copied)];
        web.negated ^= inst.op == Op::kNeg;
      } else if (IsProduct(inst)) {
        web.product = at;
        web.root = static_cast<int>(webs_.size());
        web.eligible = true;
        Remember(inst, r);
      } else {
        return;
      }
      current_[r] = static_cast<int>(webs_.size());
      webs_.push_back(web);
    });
  }

  // Whether the factors still hold their values where a sum is. One that the product itself overwrites is
  // gone at once.
  void Remember(const Instruction& product, size_t result) {
    std::vector<std::pair<size_t, int>> factors;
    for (size_t k = 1; k < product.operands.size(); ++k)
      ForEachRegister(product.operands[k],
                      [&](size_t r) { factors.emplace_back(r, writes_[r] - (r == result ? 1 : 0)); });
    factors_.resize(webs_.size() + 1);
    factors_.back() = std::move(factors);
  }
  bool Fits(const Instruction& sum, const Web& web) const {
    const Instruction& product = f_.body[static_cast<size_t>(web.product)];
    return sum.types[0] == product.types[0] && sum.Has("ftz") == product.Has("ftz");
  }
  bool FactorsHaveChanged(int root) const {
    for (const auto& [r, writes] : factors_[static_cast<size_t>(root)])
      if (writes_[r] != writes) return true;
    return false;
  }
  bool CopyFits(const Instruction& copy, const Web& web) const {
    const Instruction& product = f_.body[static_cast<size_t>(web.product)];
    if (copy.op == Op::kMov) return TypeBits(copy.types[0]) == TypeBits(product.types[0]);
    // Seen on the card: a pair's neg stays an instruction of its own.
    if (copy.types[0] == Type::kBf16x2) return false;
    return copy.types[0] == product.types[0] && copy.Has("ftz") == product.Has("ftz");
  }

  std::vector<Contraction> Choose() {
    std::vector<Contraction> out;
    std::vector<int> fused_with(f_.body.size(), -1);  // root web, by sum
    std::vector<std::vector<const Sum*>> sums_of(webs_.size());
    for (const Sum& sum : sums_)
      for (const Use& use : sum.uses) sums_of[static_cast<size_t>(use.web)].push_back(&sum);
    const auto free = [&](int web) {
      const auto& sums = sums_of[static_cast<size_t>(web)];
      return webs_[static_cast<size_t>(web)].eligible &&
             std::all_of(sums.begin(), sums.end(), [&](const Sum* s) {
               const int with = fused_with[static_cast<size_t>(s->at)];
               return with < 0 || with == web;
             });
    };
    for (const Sum& sum : sums_) {
      const Use* best = nullptr;
      for (const Use& use : sum.uses) {
        if (!free(use.web)) continue;
        if (best == nullptr ||
            webs_[static_cast<size_t>(use.web)].uses < webs_[static_cast<size_t>(best->web)].uses)
          best = &use;
      }
      if (best == nullptr) continue;
      for (const Sum* s : sums_of[static_cast<size_t>(best->web)])
        fused_with[static_cast<size_t>(s->at)] = best->web;
      const bool subtracts = f_.body[static_cast<size_t>(sum.at)].op == Op::kSub;
      Contraction c;
      c.sum = sum.at;
      c.product = webs_[static_cast<size_t>(best->web)].product;
      c.keep_factors = webs_[static_cast<size_t>(best->web)].keep;
      c.addend = best->operand == 1 ? 2 : 1;
      c.negate_product = best->negated != (subtracts && best->operand == 2);
      c.negate_addend = subtracts && best->operand == 1;
      out.push_back(c);
    }
    return out;
  }

  const Function& f_;
  std::vector<bool> starts_, exposed_;
  std::vector<int> current_, writes_;  // by register: web, writes so far
  std::vector<Web> webs_;
  std::vector<std::vector<std::pair<size_t, int>>> factors_;  // by root web
  std::vector<Sum> sums_;
};

}  // namespace

std::vector<Contraction> FindContractions(const Function& function, const std::vector<Flow>& flow) {
  return Finder(function, flow).Run();
}

}  // namespace understudy::emu::ptx
