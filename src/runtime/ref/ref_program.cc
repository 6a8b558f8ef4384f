// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/ref/ref_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/uop/eval.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

ConstValue ReduceIdentity(Op op, DType t) {
  switch (op) {
    case Op::kAdd:
      return Canonical(t, int64_t{0});
    case Op::kMul:
      return Canonical(t, int64_t{1});
    case Op::kMax:
    case Op::kMin: {
      const bool max = op == Op::kMax;
      if (t.IsFloat() && FormatOf(t).has_inf) {
        const double inf = std::numeric_limits<double>::infinity();
        return max ? -inf : inf;
      }
      return max ? MinValue(t) : MaxValue(t);
    }
    default:
      US_CHECK(false) << "REDUCE with " << OpName(op);
      return int64_t{0};
  }
}

double CanonicalF32(double v) { return std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v; }

}  // namespace

// Places every node in the innermost loop that it depends on. A node that several loops need (a value that
// varies with a range that two reductions run over) is compiled once in each.
class RefCompiler {
 public:
  explicit RefCompiler(RefProgram* program) : p_(*program) {}

  absl::Status Compile(const UOpRef& kernel) {
    if (kernel->op() != Op::kSink)
      return absl::InvalidArgumentError(
          absl::StrCat("kernel is a ", OpName(kernel->op()), ", expected SINK"));
    for (const UOp* n : uop::Toposort(kernel)) US_RETURN_IF_ERROR(Declare(n));
    std::sort(p_.vars_.begin(), p_.vars_.end(),
              [](const auto& a, const auto& b) { return a.arg.name < b.arg.name; });
    for (size_t i = 1; i < p_.vars_.size(); ++i) {
      if (p_.vars_[i].arg.name == p_.vars_[i - 1].arg.name) {
        return absl::InvalidArgumentError(absl::StrCat("two VARs named ", p_.vars_[i].arg.name));
      }
    }
    levels_.push_back({nullptr, {}, {}});
    for (size_t i = 0, end; i < kernel->num_src(); i = end) {
      end = i + 1;
      while (end < kernel->num_src() && SameRanges(*kernel->src(i), *kernel->src(end))) ++end;
      US_RETURN_IF_ERROR(CompileStores(kernel->src().subspan(i, end - i)));
    }
    p_.blocks_[0].code = std::move(levels_[0].code);
    return absl::OkStatus();
  }

 private:
  using Code = RefProgram::Code;
  using Instruction = RefProgram::Instruction;
  struct Level {
    UOpRef range;
    absl::flat_hash_map<const UOp*, int> registers;
    std::vector<Instruction> code;
  };

  int NewRegister() {
    p_.initial_.emplace_back();
    return static_cast<int>(p_.initial_.size()) - 1;
  }

  int Constant(DType t, const ConstValue& v) {
    const int r = NewRegister();
    if (t.IsFloat()) {
      p_.initial_[r].d = std::get<double>(v);
    } else {
      p_.initial_[r].i = std::get<int64_t>(v);
    }
    return r;
  }

  // What a node depends on, and the registers that hold a value before the kernel starts.
  absl::Status Declare(const UOp* n) {
    std::set<int64_t> free;
    for (const UOpRef& s : n->src()) free.insert(ranges_[s.get()].begin(), ranges_[s.get()].end());
    if (n->dtype().lanes != 1)
      return absl::UnimplementedError(
          absl::StrCat(OpName(n->op()), " of ", n->dtype().Name(), ": REF evaluates scalars"));
    switch (n->op()) {
      case Op::kConst:
        fixed_[n] = Constant(n->dtype(), n->value());
        break;
      case Op::kVar:
        fixed_[n] = NewRegister();
        p_.vars_.push_back({n->arg_as<VarArg>(), fixed_[n]});
        break;
      case Op::kRange: {
        const int64_t id = n->arg_as<RangeArg>().id;
        const auto [it, fresh] = range_ids_.emplace(id, n);
        if (!fresh && it->second != n)
          return absl::InvalidArgumentError(absl::StrCat("two RANGEs with id ", id));
        free.insert(id);
        break;
      }
      case Op::kReduce:
        for (size_t i = 1; i < n->num_src(); ++i) {
          if (n->src(i)->op() != Op::kRange)
            return absl::InvalidArgumentError(
                absl::StrCat("REDUCE over ", OpName(n->src(i)->op()), ", expected RANGE"));
          free.erase(n->src(i)->arg_as<RangeArg>().id);
        }
        break;
      case Op::kParam:
        if (!std::holds_alternative<int64_t>(n->arg()))
          return absl::InvalidArgumentError("PARAM with a shape in a kernel");
        p_.num_params_ = std::max(p_.num_params_, static_cast<int>(n->arg_as<int64_t>()) + 1);
        break;
      case Op::kIndex:
        if (n->src(0)->op() != Op::kParam)
          return absl::UnimplementedError(
              absl::StrCat("INDEX of ", OpName(n->src(0)->op()), ": REF reads PARAMs only"));
        break;
      case Op::kLoad:
      case Op::kStore:
        if (n->src(0)->op() != Op::kIndex)
          return absl::InvalidArgumentError(
              absl::StrCat(OpName(n->op()), " at ", OpName(n->src(0)->op()), ", expected INDEX"));
        break;
      case Op::kSink:
        break;
      default:
        if (!IsAlu(n->op()))
          return absl::UnimplementedError(
              absl::StrCat(OpName(n->op()), " in a kernel graph: REF does not evaluate it"));
    }
    ranges_[n] = std::move(free);
    return absl::OkStatus();
  }

  // The innermost open loop that `n` depends on.
  absl::StatusOr<size_t> LevelOf(const UOp* n) const {
    size_t level = 0, found = 0;
    for (size_t i = 1; i < levels_.size(); ++i) {
      if (ranges_.at(n).contains(levels_[i].range->arg_as<RangeArg>().id)) {
        level = i;
        ++found;
      }
    }
    if (found < ranges_.at(n).size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(OpName(n->op()), " uses a RANGE that no STORE or REDUCE around it runs over"));
    }
    return level;
  }

  // The register that holds `n` in the open loops.
  absl::StatusOr<int> Value(const UOpRef& node) {
    const UOp* n = node.get();
    if (const auto it = fixed_.find(n); it != fixed_.end()) return it->second;
    for (size_t i = levels_.size(); i-- > 0;) {
      if (const auto it = levels_[i].registers.find(n); it != levels_[i].registers.end()) return it->second;
    }
    US_ASSIGN_OR_RETURN(const size_t level, LevelOf(n));
    if (n->op() == Op::kRange) return absl::InternalError("a RANGE is open without a register");
    if (n->op() == Op::kReduce) return CompileReduce(node, level);
    Instruction in;
    in.node = node;
    in.dtype = n->dtype();
    if (n->op() == Op::kLoad) {
      const UOpRef& index = n->src(0);
      in.code = Code::kLoad;
      in.param = static_cast<int>(index->src(0)->arg_as<int64_t>());
      US_ASSIGN_OR_RETURN(in.src[0], Value(index->src(1)));
      if (index->num_src() > 2) {
        US_ASSIGN_OR_RETURN(in.src[1], Value(index->src(2)));
      }
    } else if (IsAlu(n->op())) {
      in.code = AluCode(*n);
      in.num_src = static_cast<uint8_t>(n->num_src());
      for (size_t i = 0; i < n->num_src(); ++i) {
        US_ASSIGN_OR_RETURN(in.src[i], Value(n->src(i)));
      }
    } else {
      return absl::InvalidArgumentError(absl::StrCat(OpName(n->op()), " used as a value"));
    }
    in.dst = NewRegister();
    levels_[level].registers[n] = in.dst;
    levels_[level].code.push_back(std::move(in));
    return levels_[level].registers[n];
  }

  static Code AluCode(const UOp& n) {
    const DType t = n.dtype();
    if (t == dtypes::kFloat32 && n.op() == Op::kAdd) return Code::kAddF32;
    if (t == dtypes::kFloat32 && n.op() == Op::kMul) return Code::kMulF32;
    if (t == dtypes::kIndex && n.op() == Op::kAdd) return Code::kAddIndex;
    if (t == dtypes::kIndex && n.op() == Op::kMul) return Code::kMulIndex;
    return Code::kAlu;
  }

  absl::Status Open(const UOpRef& range) {
    US_ASSIGN_OR_RETURN(const int end, Value(range->src(0)));
    Level level{range, {}, {}};
    level.registers[range.get()] = NewRegister();
    ends_.push_back(end);
    levels_.push_back(std::move(level));
    return absl::OkStatus();
  }

  // Closes the innermost loop and puts it at the end of the one around it.
  void Close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    const int counter = level.registers.at(level.range.get());
    p_.blocks_.push_back({level.range, counter, ends_.back(), std::move(level.code)});
    ends_.pop_back();
    Instruction loop;
    loop.code = Code::kLoop;
    loop.node = level.range;
    loop.block = static_cast<int>(p_.blocks_.size()) - 1;
    levels_.back().code.push_back(std::move(loop));
  }

  absl::StatusOr<int> CompileReduce(const UOpRef& node, size_t level) {
    const Op op = node->arg_as<Op>();
    // Loops deeper than `level` are not around this reduction: put them aside.
    std::vector<Level> aside(std::make_move_iterator(levels_.begin() + level + 1),
                             std::make_move_iterator(levels_.end()));
    levels_.resize(level + 1);
    const int acc = NewRegister();
    Instruction init;
    init.code = Code::kCopy;
    init.node = node;
    init.dtype = node->dtype();
    init.src[0] = Constant(node->dtype(), ReduceIdentity(op, node->dtype()));
    init.dst = acc;
    levels_.back().code.push_back(std::move(init));
    for (size_t i = 1; i < node->num_src(); ++i) US_RETURN_IF_ERROR(Open(node->src(i)));
    US_ASSIGN_OR_RETURN(const int value, Value(node->src(0)));
    Instruction step;
    step.node = UOp::Make(op, node->dtype(), {node->src(0), node->src(0)});
    step.code = AluCode(*step.node);
    step.dtype = node->dtype();
    step.num_src = 2;
    step.src[0] = acc;
    step.src[1] = value;
    step.dst = acc;
    levels_.back().code.push_back(std::move(step));
    for (size_t i = 1; i < node->num_src(); ++i) Close();
    levels_.back().registers[node.get()] = acc;
    for (Level& l : aside) levels_.push_back(std::move(l));
    return acc;
  }

  static bool SameRanges(const UOp& a, const UOp& b) {
    return a.op() == Op::kStore && b.op() == Op::kStore && a.src().subspan(2) == b.src().subspan(2);
  }

  // STOREs over the same ranges: at each step all values are computed before any is stored.
  absl::Status CompileStores(absl::Span<const UOpRef> stores) {
    for (const UOpRef& store : stores) {
      if (store->op() != Op::kStore)
        return absl::InvalidArgumentError(absl::StrCat("SINK of ", OpName(store->op()), ", expected STORE"));
    }
    const UOp& first = *stores[0];
    for (size_t i = 2; i < first.num_src(); ++i) {
      if (first.src(i)->op() != Op::kRange)
        return absl::InvalidArgumentError(
            absl::StrCat("STORE over ", OpName(first.src(i)->op()), ", expected RANGE"));
      US_RETURN_IF_ERROR(Open(first.src(i)));
    }
    std::vector<Instruction> instructions;
    for (const UOpRef& store : stores) {
      const UOpRef& index = store->src(0);
      Instruction in;
      in.code = Code::kStore;
      in.node = store;
      in.dtype = store->src(1)->dtype();
      in.param = static_cast<int>(index->src(0)->arg_as<int64_t>());
      US_ASSIGN_OR_RETURN(in.src[0], Value(index->src(1)));
      US_ASSIGN_OR_RETURN(in.src[1], Value(store->src(1)));
      if (index->num_src() > 2) {
        US_ASSIGN_OR_RETURN(in.src[2], Value(index->src(2)));
      }
      instructions.push_back(std::move(in));
    }
    for (Instruction& in : instructions) levels_.back().code.push_back(std::move(in));
    for (size_t i = 2; i < first.num_src(); ++i) Close();
    // A later STORE may read what these wrote.
    levels_[0].registers.clear();
    return absl::OkStatus();
  }

  RefProgram& p_;
  absl::flat_hash_map<const UOp*, std::set<int64_t>> ranges_;
  absl::flat_hash_map<int64_t, const UOp*> range_ids_;
  absl::flat_hash_map<const UOp*, int> fixed_;
  std::vector<Level> levels_;
  std::vector<int> ends_;
};

absl::StatusOr<std::unique_ptr<Program>> RefProgram::Create(const UOpRef& kernel) {
  auto program = std::make_unique<RefProgram>();
  program->kernel_ = kernel;
  if (const auto* arg = std::get_if<KernelArg>(&kernel->arg())) program->name_ = arg->name;
  program->blocks_.emplace_back();
  const absl::Status status = RefCompiler(program.get()).Compile(kernel);
  if (!status.ok())
    return absl::Status(status.code(),
                        absl::StrCat("kernel ", program->name_, ": ", std::string(status.message())));
  return std::unique_ptr<Program>(std::move(program));
}

absl::Status RefProgram::Run(absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars) {
  if (static_cast<int>(buffers.size()) < num_params_) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", name_, ": ", buffers.size(), " buffers, expected ", num_params_));
  }
  if (vars.size() != vars_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", name_, ": ", vars.size(), " variables, expected ", vars_.size()));
  }
  Frame frame{initial_, buffers};
  for (size_t i = 0; i < vars_.size(); ++i) {
    const VarArg& v = vars_[i].arg;
    if (vars[i] < v.min || vars[i] > v.max) {
      return absl::OutOfRangeError(absl::StrCat("kernel ", name_, ": variable ", v.name, " = ", vars[i],
                                                ", expected [", v.min, ", ", v.max, "]"));
    }
    frame.registers[vars_[i].reg].i = vars[i];
  }
  return RunBlock(blocks_[0], frame);
}

absl::Status RefProgram::RunBlock(const Block& block, Frame& frame) const {
  const int64_t end = block.range == nullptr ? 1 : frame.registers[block.end].i;
  for (int64_t i = 0; i < end; ++i) {
    if (block.range != nullptr) frame.registers[block.counter].i = i;
    Register* r = frame.registers.data();
    for (const Instruction& in : block.code) {
      switch (in.code) {
        case Code::kAddF32:
          r[in.dst].d = CanonicalF32(static_cast<float>(r[in.src[0]].d) + static_cast<float>(r[in.src[1]].d));
          break;
        case Code::kMulF32:
          r[in.dst].d = CanonicalF32(static_cast<float>(r[in.src[0]].d) * static_cast<float>(r[in.src[1]].d));
          break;
        case Code::kAddIndex:
          r[in.dst].i = static_cast<int64_t>(static_cast<uint64_t>(r[in.src[0]].i) +
                                             static_cast<uint64_t>(r[in.src[1]].i));
          break;
        case Code::kMulIndex:
          r[in.dst].i = static_cast<int64_t>(static_cast<uint64_t>(r[in.src[0]].i) *
                                             static_cast<uint64_t>(r[in.src[1]].i));
          break;
        case Code::kCopy:
          r[in.dst] = r[in.src[0]];
          break;
        case Code::kLoop:
          US_RETURN_IF_ERROR(RunBlock(blocks_[in.block], frame));
          break;
        default:
          US_RETURN_IF_ERROR(Step(in, frame));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RefProgram::Step(const Instruction& in, Frame& frame) const {
  Register* r = frame.registers.data();
  const DType t = in.dtype;
  if (in.code == Code::kAlu) {
    std::array<ConstValue, 3> args;
    for (int i = 0; i < in.num_src; ++i) {
      if (in.node->src(i)->dtype().IsFloat()) {
        args[i] = r[in.src[i]].d;
      } else {
        args[i] = r[in.src[i]].i;
      }
    }
    const ConstValue v = uop::EvalNode(*in.node, absl::MakeConstSpan(args.data(), in.num_src));
    if (t.IsFloat()) {
      r[in.dst].d = std::get<double>(v);
    } else {
      r[in.dst].i = std::get<int64_t>(v);
    }
    return absl::OkStatus();
  }
  const bool load = in.code == Code::kLoad;
  const int valid = load ? in.src[1] : in.src[2];
  if (valid >= 0 && r[valid].i == 0) {
    if (load) r[in.dst] = Register{};  // zero bits are 0, 0.0 and false
    return absl::OkStatus();
  }
  const int64_t index = r[in.src[0]].i;
  const Allocation& a = frame.buffers[in.param];
  const int bytes = t.SizeBytes();
  const auto size = static_cast<int64_t>(a.bytes / bytes);
  if (index < 0 || index >= size) return OutOfRange(in, index, size, frame);
  auto* p = reinterpret_cast<uint8_t*>(a.address) + index * bytes;
  if (load && t == dtypes::kFloat32) {
    float f;
    std::memcpy(&f, p, sizeof f);
    r[in.dst].d = CanonicalF32(f);
  } else if (load) {
    uint64_t bits = 0;
    std::memcpy(&bits, p, bytes);
    const ConstValue v = FromBits(t, bits);
    if (t.IsFloat()) {
      r[in.dst].d = std::get<double>(v);
    } else {
      r[in.dst].i = std::get<int64_t>(v);
    }
  } else {
    const uint64_t bits = ToBits(t, t.IsFloat() ? ConstValue(r[in.src[1]].d) : ConstValue(r[in.src[1]].i));
    std::memcpy(p, &bits, bytes);
  }
  return absl::OkStatus();
}

absl::Status RefProgram::OutOfRange(const Instruction& in, int64_t index, int64_t size,
                                    const Frame& frame) const {
  std::string where;
  for (const Block& b : blocks_) {
    if (b.range != nullptr) {
      absl::StrAppend(&where, where.empty() ? "" : ", ", "r", b.range->arg_as<RangeArg>().id, "=",
                      frame.registers[b.counter].i);
    }
  }
  return absl::OutOfRangeError(absl::StrCat("kernel ", name_, ": ", OpName(in.node->op()), " of buffer ",
                                            in.param, " (", in.dtype.Name(), ") at index ", index, ", size ",
                                            size, "; ", where));
}

}  // namespace understudy
