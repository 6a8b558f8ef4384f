// SPDX-License-Identifier: Apache-2.0
#include "src/render/ptx.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/render/ptx_arithmetic.h"

namespace understudy {
namespace {

std::string Hex32(float v) { return absl::StrFormat("0f%08X", std::bit_cast<uint32_t>(v)); }
std::string Hex64(double v) { return absl::StrFormat("0d%016X", std::bit_cast<uint64_t>(v)); }

std::string Symbol(const std::string& name) {
  std::string out = "k_";
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

class Writer : private PtxArithmetic {
 public:
  Writer(const LinearKernel& kernel, const Target& target, const PtxOptions& options)
      : k_(kernel), target_(target), options_(options) {}

  absl::StatusOr<PtxKernel> Run() {
    FindRegisterArrays();
    scopes_.emplace_back();
    Parameters();
    for (const UOpRef& op : k_.ops) US_RETURN_IF_ERROR(Emit(*op));
    if (!loops_.empty() || !branches_.empty()) return absl::InternalError("a loop or branch is not closed");
    PtxKernel out;
    out.name = Symbol(k_.name);
    out.text = absl::StrCat(Head(out.name), Registers(), declarations_, "\n", body_, "  ret;\n}\n");
    out.global = k_.global;
    out.local = k_.local;
    out.local_bytes = k_.local_bytes;
    out.params = k_.params;
    out.vars = k_.vars;
    out.alignment = alignment_;
    return out;
  }

 private:
  struct Place {
    AddrSpace space = AddrSpace::kGlobal;
    std::string address;      // "%rd4+16", without brackets
    int known_zero_bits = 0;  // of the address, once the buffer is aligned
    std::string valid;        // a predicate, or "": always
    // Of an array in registers.
    Lanes* registers = nullptr;
    int64_t element = 0;
  };

  struct Loop {
    const UOp* range;
    std::string counter, end_label, head_label;
    DType type;
  };

  // --- the text around the body

  std::string Head(const std::string& name) const {
    std::vector<std::string> params;
    for (const KernelParam& p : k_.params) params.push_back(absl::StrCat("  .param .u64 p", p.position));
    for (size_t i = 0; i < k_.vars.size(); ++i) params.push_back(absl::StrCat("  .param .s64 var", i));
    const int sm = std::atoi(target_.isa.c_str() + 3);
    // The first version of PTX that knows the processor and every instruction used here.
    const char* version = sm > 100 ? "8.8" : sm == 100 ? "8.6" : sm >= 89 ? "8.4" : "7.0";
    return absl::StrCat(".version ", version, "\n.target ", target_.isa,
                        "\n.address_size 64\n\n.visible .entry ", name, "(\n", absl::StrJoin(params, ",\n"),
                        "\n)\n.reqntid ", k_.local[0], ", ", k_.local[1], ", ", k_.local[2], "\n{\n");
  }

  std::string Registers() const {
    std::string text;
    for (size_t bank = 0; bank < std::size(kBankType); ++bank) {
      if (count_[bank] > 0)
        absl::StrAppend(&text, "  .reg .", kBankType[bank], " ", kBankPrefix[bank], "<", count_[bank],
                        ">;\n");
    }
    return text;
  }

  void Parameters() {
    for (const KernelParam& p : k_.params) {
      const std::string raw = New(Bank::kLong), address = New(Bank::kLong);
      Line("ld.param.u64 ", raw, ", [p", p.position, "]");
      Line("cvta.to.global.u64 ", address, ", ", raw);
      params_[p.position] = address;
    }
    for (size_t i = 0; i < k_.vars.size(); ++i) {
      const std::string v = New(Bank::kLong);
      Line("ld.param.s64 ", v, ", [var", i, "]");
      vars_[k_.vars[i].name] = v;
    }
  }

  // Arrays of registers that are indexed by constants alone stay in registers; the others are local memory.
  void FindRegisterArrays() {
    constexpr int64_t kMost = 512;
    for (const UOpRef& op : k_.ops) {
      if (op->op() == Op::kDefineReg && op->arg_as<std::vector<int64_t>>()[1] <= kMost)
        in_registers_[op.get()] = true;
    }
    for (const UOpRef& op : k_.ops) {
      if (op->op() != Op::kIndex) continue;
      const UOp* array = Array(op->src(0).get());
      if (array->op() == Op::kDefineReg && op->src(1)->op() != Op::kConst) in_registers_[array] = false;
    }
  }
  static const UOp* Array(const UOp* n) {
    while (n->op() == Op::kAfter) n = n->src(0).get();
    return n;
  }

  const Lanes& V(const UOpRef& n) {
    const auto it = values_.find(n.get());
    US_CHECK(it != values_.end()) << OpName(n->op()) << " is used before it is computed";
    return it->second;
  }
  const std::string& V1(const UOpRef& n) { return V(n)[0]; }

  absl::Status Refuse(const UOp& n) const {
    return absl::UnimplementedError(absl::StrCat("the PTX renderer has no ", OpName(n.op()), " of ",
                                                 n.dtype().Name(), n.num_src() > 0 ? " from " : "",
                                                 n.num_src() > 0 ? n.src(0)->dtype().Name() : ""));
  }

  // An immediate, or for predicates and halves a register.
  std::string Literal(DType t, const ConstValue& value) {
    if (t.IsFloat()) {
      const double v = std::get<double>(value);
      if (t.scalar == Scalar::kFloat64) return Hex64(v);
      if (t.scalar == Scalar::kFloat32) return Hex32(static_cast<float>(v));
      const uint64_t bits = EncodeFloat(FormatOf(t), v);
      if (t.scalar == Scalar::kFloat16) return Make(Bank::kHalf, "mov.b16", ", ", bits);
      return absl::StrCat(bits);
    }
    const int64_t v = std::get<int64_t>(value);
    if (t.IsBool()) return Make(Bank::kPred, "setp.ne.s32", ", ", v != 0 ? 1 : 0, ", 0");
    if (v == std::numeric_limits<int64_t>::min()) return "0x8000000000000000";
    return absl::StrCat(v);
  }

  // --- nodes

  absl::Status Emit(const UOp& n) {
    switch (n.op()) {
      case Op::kSink:
        return absl::OkStatus();
      case Op::kConst: {
        const std::string one = Literal(n.dtype().Element(), n.value());
        values_[&n] = Lanes(n.dtype().lanes, one);
        return absl::OkStatus();
      }
      case Op::kParam:
        values_[&n] = {params_.at(n.arg_as<int64_t>())};
        return absl::OkStatus();
      case Op::kVar: {
        const std::string& v = vars_.at(n.arg_as<VarArg>().name);
        values_[&n] = {IsWide(n.dtype()) ? v : Op1(Bank::kWord, "cvt.u32.u64", v)};
        return absl::OkStatus();
      }
      case Op::kSpecial: {
        const std::string& name = n.arg_as<std::string>();
        const std::string v = Op1(Bank::kWord, "mov.u32",
                                  absl::StrCat(name[0] == 'g' ? "%ctaid." : "%tid.",
                                               std::string(1, static_cast<char>('x' + name[1] - '0'))));
        values_[&n] = {IsWide(n.dtype()) ? Op1(Bank::kLong, "cvt.u64.u32", v) : v};
        return absl::OkStatus();
      }
      case Op::kDefineReg:
      case Op::kDefineLocal:
        return Array(n);
      case Op::kAfter:
        if (!n.src(0)->dtype().IsVoid()) values_[&n] = Lanes(V(n.src(0)));
        return absl::OkStatus();
      case Op::kRange:
        return OpenLoop(n);
      case Op::kEnd:
        return CloseLoops(n);
      case Op::kIf:
        branches_.push_back(NewLabel("L"));
        Line("@!", V1(n.src(0)), " bra ", branches_.back());
        scopes_.emplace_back();
        return absl::OkStatus();
      case Op::kEndIf:
        if (branches_.empty()) return absl::InternalError("an ENDIF without an IF");
        scopes_.pop_back();
        Label(branches_.back());
        branches_.pop_back();
        return absl::OkStatus();
      case Op::kBarrier:
        Line("bar.sync 0");
        return absl::OkStatus();
      case Op::kIndex:
        return Index(n);
      case Op::kLoad:
        return Load(n);
      case Op::kStore:
        return Store(n);
      case Op::kVectorize: {
        Lanes lanes;
        for (const UOpRef& s : n.src()) lanes.push_back(V1(s));
        values_[&n] = std::move(lanes);
        return absl::OkStatus();
      }
      case Op::kGep: {
        const std::string lane = V(n.src(0))[n.arg_as<int64_t>()];
        values_[&n] = {lane};
        return absl::OkStatus();
      }
      case Op::kWmma:
        return TensorCore(n);
      default:
        break;
    }
    if (!IsAlu(n.op())) return Refuse(n);
    Lanes lanes;
    if (n.op() == Op::kBitcast && n.dtype().lanes != n.src(0)->dtype().lanes) return Refuse(n);
    for (int i = 0; i < n.dtype().lanes; ++i) {
      Lanes x;
      for (const UOpRef& s : n.src()) x.push_back(V(s)[s->dtype().lanes == 1 ? 0 : i]);
      const std::string value = Alu(n, x);
      if (value.empty()) return Refuse(n);
      lanes.push_back(value);
    }
    values_[&n] = std::move(lanes);
    return absl::OkStatus();
  }

  absl::Status Array(const UOp& n) {
    const auto& arg = n.arg_as<std::vector<int64_t>>();
    const DType element = n.dtype().Element();
    if (in_registers_.contains(&n) && in_registers_.at(&n)) {
      Lanes& registers = arrays_[&n];
      for (int64_t i = 0; i < arg[1]; ++i) registers.push_back(New(element));
      values_[&n] = {""};
      return absl::OkStatus();
    }
    const bool shared = n.op() == Op::kDefineLocal;
    const std::string name = absl::StrCat(shared ? "shared" : "array", arg[0]);
    absl::StrAppend(&declarations_, "  .", shared ? "shared" : "local", " .align 16 .b8 ", name, "[",
                    arg[1] * element.ScalarBytes(), "];\n");
    values_[&n] = {shared ? Op1(Bank::kWord, "mov.u32", name) : Op1(Bank::kLong, "mov.u64", name)};
    return absl::OkStatus();
  }

  absl::Status OpenLoop(const UOp& n) {
    const bool wide = IsWide(n.dtype());
    Loop loop{&n, New(n.dtype()), NewLabel("L"), NewLabel("L"), n.dtype()};
    Line(wide ? "mov.u64 " : "mov.u32 ", loop.counter, ", 0");
    Label(loop.head_label);
    // A range with a constant end runs at least once, and is tested at its end.
    const bool once = n.src(0)->op() == Op::kConst && n.src(0)->const_int() > 0;
    if (!once) {
      const std::string done =
          Op2(Bank::kPred, wide ? "setp.ge.s64" : "setp.ge.s32", loop.counter, V1(n.src(0)));
      Line("@", done, " bra ", loop.end_label);
    }
    values_[&n] = {loop.counter};
    loops_.push_back(std::move(loop));
    scopes_.emplace_back();
    return absl::OkStatus();
  }

  absl::Status CloseLoops(const UOp& n) {
    for (size_t i = n.num_src(); i-- > 1;) {
      if (loops_.empty() || loops_.back().range != n.src(i).get())
        return absl::InternalError("an END closes a loop that is not the innermost");
      const Loop loop = loops_.back();
      loops_.pop_back();
      scopes_.pop_back();
      const bool wide = IsWide(loop.type);
      Line(wide ? "add.s64 " : "add.s32 ", loop.counter, ", ", loop.counter, ", 1");
      const UOpRef& end = loop.range->src(0);
      if (end->op() == Op::kConst && end->const_int() > 0) {
        const std::string again =
            Op2(Bank::kPred, wide ? "setp.lt.s64" : "setp.lt.s32", loop.counter, V1(end));
        Line("@", again, " bra ", loop.head_label);
      } else {
        Line("bra ", loop.head_label);
        Label(loop.end_label);
      }
    }
    return absl::OkStatus();
  }

  // --- memory

  // How many low bits of an index are known to be zero.
  int ZeroBits(const UOp& n) {
    switch (n.op()) {
      case Op::kConst: {
        const int64_t v = n.const_int();
        return v == 0 ? 16 : std::countr_zero(static_cast<uint64_t>(v));
      }
      case Op::kMul:
        return std::min(16, ZeroBits(*n.src(0)) + ZeroBits(*n.src(1)));
      case Op::kAdd:
      case Op::kSub:
      case Op::kOr:
        return std::min(ZeroBits(*n.src(0)), ZeroBits(*n.src(1)));
      case Op::kAnd:
        return std::max(ZeroBits(*n.src(0)), ZeroBits(*n.src(1)));
      case Op::kShl:
        return n.src(1)->op() == Op::kConst
                   ? static_cast<int>(std::min<int64_t>(16, ZeroBits(*n.src(0)) + n.src(1)->const_int()))
                   : ZeroBits(*n.src(0));
      case Op::kCast:
        return n.src(0)->dtype().IsInt() ? ZeroBits(*n.src(0)) : 0;
      case Op::kWhere:
        return std::min(ZeroBits(*n.src(1)), ZeroBits(*n.src(2)));
      default:
        return 0;
    }
  }

  absl::Status Index(const UOp& n) {
    Place place;
    const UOp* array = Array(n.src(0).get());
    const DType element = n.dtype().Element();
    place.space = n.dtype().space;
    if (n.num_src() > 2) place.valid = V1(n.src(2));
    if (const auto it = arrays_.find(array); it != arrays_.end()) {
      place.registers = &it->second;
      place.element = n.src(1)->const_int();
      places_[&n] = place;
      return absl::OkStatus();
    }
    const int bytes = element.ScalarBytes();
    place.known_zero_bits =
        std::min(16, ZeroBits(*n.src(1)) + std::countr_zero(static_cast<unsigned>(bytes)));
    // x + c is at a fixed distance from x, whose address may be at hand.
    UOpRef index = n.src(1);
    int64_t distance = 0;
    while (index->op() == Op::kAdd && index->src(1)->op() == Op::kConst) {
      distance += index->src(1)->const_int();
      index = UOpRef(index->src(0));
    }
    if (index->op() == Op::kConst) {
      distance += index->const_int();
      index = UOpRef();
    }
    distance *= bytes;
    // PTX offsets are 32 bits wide.
    if (std::abs(distance) > (int64_t{1} << 30)) {
      index = n.src(1);
      distance = 0;
      if (index->op() == Op::kConst) {
        const std::string& base = V1(n.src(0));
        place.address = place.space == AddrSpace::kLocal
                            ? Op2(Bank::kWord, "add.s32", base, absl::StrCat(index->const_int() * bytes))
                            : Op2(Bank::kLong, "add.s64", base, absl::StrCat(index->const_int() * bytes));
        places_[&n] = place;
        return absl::OkStatus();
      }
    }
    std::string base = V1(n.src(0));
    if (index != nullptr) base = AddressOf(base, index, bytes, place.space);
    place.address = distance == 0 ? base : absl::StrCat(base, "+", distance);
    places_[&n] = place;
    return absl::OkStatus();
  }

  // base + index * bytes, computed once in each place that sees it.
  std::string AddressOf(const std::string& base, const UOpRef& index, int bytes, AddrSpace space) {
    const std::string key = absl::StrCat(base, "|", V1(index), "|", bytes);
    for (const auto& scope : scopes_) {
      const auto it = scope.find(key);
      if (it != scope.end()) return it->second;
    }
    const std::string& x = V1(index);
    std::string address;
    if (space == AddrSpace::kLocal) {
      const std::string i = IsWide(index->dtype()) ? Op1(Bank::kWord, "cvt.u32.u64", x) : x;
      address = Op3(Bank::kWord, "mad.lo.s32", i, absl::StrCat(bytes), base);
    } else if (IsWide(index->dtype())) {
      address = Op3(Bank::kLong, "mad.lo.s64", x, absl::StrCat(bytes), base);
    } else {
      address = Op3(Bank::kLong, "mad.wide.s32", x, absl::StrCat(bytes), base);
    }
    scopes_.back()[key] = address;
    return address;
  }

  static const char* SpaceName(AddrSpace space) {
    return space == AddrSpace::kGlobal ? "global" : space == AddrSpace::kLocal ? "shared" : "local";
  }

  // Lanes of `bytes` each that one access at this place may take.
  int LanesAtOnce(const Place& place, int lanes, int bytes) {
    int aligned = 1 << std::min(place.known_zero_bits, 4);
    if (place.space == AddrSpace::kGlobal) aligned = std::min(aligned, std::max(options_.alignment, bytes));
    const int n = static_cast<int>(std::bit_floor(
        static_cast<unsigned>(std::min({lanes, 4, 16 / bytes, std::max(1, aligned / bytes)}))));
    if (place.space == AddrSpace::kGlobal) alignment_ = std::max(alignment_, n * bytes);
    return n;
  }

  // fn(first lane, lanes, ".v4" or "") for each access of a load or store of `t` at the place.
  template <class Fn>
  void ForEachAccess(const Place& place, DType t, Fn fn) {
    const int step = LanesAtOnce(place, t.lanes, t.ScalarBytes());
    for (int first = 0; first < t.lanes;) {
      const int count =
          static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(step, t.lanes - first))));
      fn(first, count, count > 1 ? absl::StrCat(".v", count) : std::string());
      first += count;
    }
  }

  // The `first`-th element at a place.
  static std::string At(const Place& place, int first, int bytes) {
    if (first == 0) return absl::StrCat("[", place.address, "]");
    // An address with an offset already: "%rd1+8".
    const size_t sign = place.address.find('+');
    int64_t offset = int64_t{first} * bytes;
    std::string base = place.address;
    if (sign != std::string::npos) {
      offset += std::atoll(place.address.c_str() + sign + 1);
      base = place.address.substr(0, sign);
    }
    return offset == 0 ? absl::StrCat("[", base, "]") : absl::StrCat("[", base, "+", offset, "]");
  }

  // The type of a load into the register that holds such an element (or of a store from it).
  static std::string AccessType(DType t, bool load) {
    switch (BankOf(t)) {
      case Bank::kPred:
        return "u8";
      case Bank::kFloat:
        return "f32";
      case Bank::kDouble:
        return "f64";
      case Bank::kHalf:
        return "b16";
      case Bank::kLong:
        return "b64";
      case Bank::kWord:
        break;
    }
    return absl::StrCat(!load ? "b" : t.IsSigned() ? "s" : "u", t.BitWidth());
  }

  static std::string Braced(const Lanes& lanes, size_t first, size_t count) {
    if (count == 1) return lanes[first];
    return absl::StrCat("{", absl::StrJoin(lanes.begin() + first, lanes.begin() + first + count, ", "), "}");
  }

  absl::Status Load(const UOp& n) {
    const Place place = places_.at(n.src(0).get());
    const DType t = n.dtype();
    if (place.registers != nullptr) {
      Lanes lanes;
      for (int i = 0; i < t.lanes; ++i) {
        // A copy: the array changes later.
        const std::string& from = (*place.registers)[place.element + i];
        lanes.push_back(Copy(t, from));
      }
      values_[&n] = std::move(lanes);
      return absl::OkStatus();
    }
    const Bank bank = t.IsBool() ? Bank::kWord : BankOf(t);
    Lanes lanes;
    for (int i = 0; i < t.lanes; ++i) lanes.push_back(New(bank));
    const std::string guard = place.valid.empty() ? "" : absl::StrCat("@", place.valid, " ");
    if (!place.valid.empty()) {
      for (const std::string& lane : lanes) Line(MoveName(bank), " ", lane, ", ", ZeroOf(bank));
    }
    ForEachAccess(place, t, [&](int first, int count, const std::string& vector) {
      Line(guard, "ld.", SpaceName(place.space), vector, ".", AccessType(t, true), " ",
           Braced(lanes, first, count), ", ", At(place, first, t.ScalarBytes()));
    });
    if (t.IsBool()) {
      // Any byte but 0 is true.
      for (std::string& lane : lanes) lane = Op2(Bank::kPred, "setp.ne.u32", lane, "0");
    }
    values_[&n] = std::move(lanes);
    return absl::OkStatus();
  }

  absl::Status Store(const UOp& n) {
    const Place place = places_.at(n.src(0).get());
    const DType t = n.src(1)->dtype();
    Lanes lanes = V(n.src(1));
    const std::string guard = place.valid.empty() ? "" : absl::StrCat("@", place.valid, " ");
    if (place.registers != nullptr) {
      for (int i = 0; i < t.lanes; ++i)
        Line(guard, MoveName(BankOf(t)), " ", (*place.registers)[place.element + i], ", ", lanes[i]);
      return absl::OkStatus();
    }
    for (std::string& lane : lanes) {
      if (t.IsBool()) lane = Op3(Bank::kWord, "selp.u32", "1", "0", lane);
      // Stores take registers only.
      lane = InRegister(t.IsBool() ? Bank::kWord : BankOf(t), lane);
    }
    ForEachAccess(place, t, [&](int first, int count, const std::string& vector) {
      Line(guard, "st.", SpaceName(place.space), vector, ".", AccessType(t, false), " ",
           At(place, first, t.ScalarBytes()), ", ", Braced(lanes, first, count));
    });
    return absl::OkStatus();
  }

  std::string Copy(DType t, const std::string& from) { return Op1(BankOf(t), MoveName(BankOf(t)), from); }

  // --- tensor cores

  absl::Status TensorCore(const UOp& n) {
    const std::string& name = n.arg_as<std::string>();
    if (std::none_of(target_.tensor_cores.begin(), target_.tensor_cores.end(),
                     [&](const auto& core) { return core.name == name; }))
      return absl::UnimplementedError(absl::StrCat(target_.isa, " has no tensor core '", name, "'"));
    const Lanes a = Packed(n.src(0)), b = Packed(n.src(1));
    Lanes c = V(n.src(2)), d;
    const Bank bank = BankOf(n.dtype().Element());
    for (std::string& lane : c) lane = InRegister(bank, lane);
    for (size_t i = 0; i < c.size(); ++i) d.push_back(New(bank));
    const auto braces = [](const Lanes& x) { return absl::StrCat("{", absl::StrJoin(x, ", "), "}"); };
    Line(name, " ", braces(d), ", ", braces(a), ", ", braces(b), ", ", braces(c));
    values_[&n] = std::move(d);
    return absl::OkStatus();
  }

  // Elements narrower than 32 bits, several to a register, the first lowest.
  Lanes Packed(const UOpRef& fragment) {
    const DType t = fragment->dtype().Element();
    Lanes in = V(fragment);
    for (std::string& lane : in) lane = InRegister(BankOf(t), lane);
    if (t.BitWidth() >= 32) return in;
    Lanes out;
    if (t.scalar == Scalar::kFloat16) {
      for (size_t i = 0; i < in.size(); i += 2)
        out.push_back(Make(Bank::kWord, "mov.b32", ", {", in[i], ", ", in[i + 1], "}"));
      return out;
    }
    if (t.BitWidth() == 16) {
      for (size_t i = 0; i < in.size(); i += 2)
        out.push_back(Op3(Bank::kWord, "prmt.b32", in[i], in[i + 1], "0x5410"));
      return out;
    }
    for (size_t i = 0; i < in.size(); i += 4) {
      const std::string low = Op3(Bank::kWord, "prmt.b32", in[i], in[i + 1], "0x0040"),
                        high = Op3(Bank::kWord, "prmt.b32", in[i + 2], in[i + 3], "0x0040");
      out.push_back(Op3(Bank::kWord, "prmt.b32", low, high, "0x5410"));
    }
    return out;
  }

  const LinearKernel& k_;
  const Target& target_;
  const PtxOptions options_;
  std::string declarations_;
  int alignment_ = 1;
  absl::flat_hash_map<const UOp*, Lanes> values_;
  absl::flat_hash_map<const UOp*, Place> places_;
  std::unordered_map<const UOp*, Lanes> arrays_;  // in registers; pointers to elements stay valid
  absl::flat_hash_map<const UOp*, bool> in_registers_;
  absl::flat_hash_map<int64_t, std::string> params_;
  absl::flat_hash_map<std::string, std::string> vars_;
  std::vector<absl::flat_hash_map<std::string, std::string>> scopes_;  // addresses by base and index
  std::vector<Loop> loops_;
  std::vector<std::string> branches_;  // where open IFs go on
};

}  // namespace

absl::StatusOr<PtxKernel> RenderPtx(const LinearKernel& kernel, const Target& target,
                                    const PtxOptions& options) {
  absl::StatusOr<PtxKernel> out = Writer(kernel, target, options).Run();
  if (out.ok()) return out;
  return absl::Status(out.status().code(),
                      absl::StrCat("kernel ", kernel.name, ": ", std::string(out.status().message())));
}

absl::StatusOr<Target> NvidiaTarget(const std::string& isa) {
  char* end = nullptr;
  const long sm = isa.rfind("sm_", 0) == 0 && isa.size() > 3 ? std::strtol(isa.c_str() + 3, &end, 10) : 0;
  if (sm < 70 || sm > 129 || (*end != 0 && std::strcmp(end, "a") != 0))
    return absl::InvalidArgumentError(absl::StrCat(
        "'", isa, "' is no compute capability that the compiler knows; expected sm_70 to sm_129"));
  Target t;
  t.isa = isa;
  t.wave_size = 32;
  t.max_workgroup = 1024;
  t.max_grid = {INT32_MAX, 65535, 65535};
  t.local_bytes = 48 * 1024;  // of static shared memory
  t.has_local = true;
  t.max_vector_bytes = 16;
  t.max_buffers = 256;
  // max.NaN and min.NaN.
  if (sm >= 80) t.maximum = {Scalar::kFloat32};
  t.arithmetic = {Scalar::kBool,    Scalar::kInt8,    Scalar::kUInt8, Scalar::kInt16,  Scalar::kUInt16,
                  Scalar::kInt32,   Scalar::kUInt32,  Scalar::kInt64, Scalar::kUInt64, Scalar::kFloat16,
                  Scalar::kFloat32, Scalar::kFloat64, Scalar::kIndex};
  t.tensor_cores = NvidiaTensorCores(static_cast<int>(sm));
  return t;
}

}  // namespace understudy
