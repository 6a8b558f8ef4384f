// SPDX-License-Identifier: Apache-2.0
#include "src/render/c_text.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"

namespace understudy {
namespace {

// What CUDA's compilers declare themselves and clang alone has as builtins.
constexpr const char* kCudaHead = R"(#if defined(__clang__)
#define GROUP_X __nvvm_read_ptx_sreg_ctaid_x()
#define GROUP_Y __nvvm_read_ptx_sreg_ctaid_y()
#define GROUP_Z __nvvm_read_ptx_sreg_ctaid_z()
#define ITEM_X __nvvm_read_ptx_sreg_tid_x()
#define ITEM_Y __nvvm_read_ptx_sreg_tid_y()
#define ITEM_Z __nvvm_read_ptx_sreg_tid_z()
#define INF32 __builtin_inff()
#define INF64 __builtin_inf()
#define NAN32 __builtin_nanf("")
#define NAN64 __builtin_nan("")
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
#define truncf __builtin_truncf
#define trunc __builtin_trunc
#define fmaf __builtin_fmaf
#define fma __builtin_fma
#define memcpy __builtin_memcpy
#else
#define GROUP_X blockIdx.x
#define GROUP_Y blockIdx.y
#define GROUP_Z blockIdx.z
#define ITEM_X threadIdx.x
#define ITEM_Y threadIdx.y
#define ITEM_Z threadIdx.z
#define INF32 __int_as_float(0x7f800000)
#define INF64 __longlong_as_double(0x7ff0000000000000ll)
#define NAN32 __int_as_float(0x7fc00000)
#define NAN64 __longlong_as_double(0x7ff8000000000000ll)
#endif
)";

// A name that no language reserves.
std::string Identifier(const std::string& prefix, const std::string& name) {
  std::string out = prefix;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

// The type's name in the text; a bool is a byte of 0 or 1.
std::string TypeName(DType t) {
  t = DType(t.IsBool() ? Scalar::kUInt8 : t.scalar, t.lanes);
  return t.Name();
}

// A parameter's element: narrow floats are read and written as their bits.
std::string ElementName(DType t) {
  if (!t.IsFloat() || t.BitWidth() >= 32) return TypeName(t);
  return TypeName(t.BitWidth() == 8 ? dtypes::kUInt8 : dtypes::kUInt16);
}

bool Knows(DType t) {
  switch (t.scalar) {
    case Scalar::kBool:
    case Scalar::kInt8:
    case Scalar::kUInt8:
    case Scalar::kInt16:
    case Scalar::kUInt16:
    case Scalar::kInt32:
    case Scalar::kUInt32:
    case Scalar::kInt64:
    case Scalar::kUInt64:
    case Scalar::kFloat32:
    case Scalar::kFloat64:
      return true;
    default:
      return false;
  }
}

DType UnsignedOf(DType t) {
  switch (t.scalar) {
    case Scalar::kInt8:
      return DType(Scalar::kUInt8, t.lanes);
    case Scalar::kInt16:
      return DType(Scalar::kUInt16, t.lanes);
    case Scalar::kInt32:
      return DType(Scalar::kUInt32, t.lanes);
    case Scalar::kInt64:
      return DType(Scalar::kUInt64, t.lanes);
    default:
      return t;
  }
}

class Writer {
 public:
  Writer(const LinearKernel& kernel, CDialect dialect) : k_(kernel), dialect_(dialect) {}

  absl::StatusOr<RenderedText> Run() {
    for (const KernelParam& p : k_.params) Use(p.dtype);
    for (const UOpRef& op : k_.ops) US_RETURN_IF_ERROR(Emit(*op));
    if (indent_ != 1) return absl::InternalError("a loop is not closed");
    RenderedText out;
    // With a prefix that nothing else in the text has.
    out.name = Identifier("k_", k_.name);
    out.text = absl::StrCat(Prelude(), Signature(out.name), body_, "}\n", Wrapper(out.name));
    if (dialect_ == CDialect::kC) out.flags = "-std=c11 -O2 -ffp-contract=off -fno-math-errno";
    if (dialect_ == CDialect::kOpenCl) out.flags = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
    if (dialect_ == CDialect::kCuda) out.flags = "-fmad=false";
    if (dialect_ == CDialect::kHip)
      out.flags = "-O2 -ffp-contract=off -fhip-fp32-correctly-rounded-divide-sqrt";
    out.global = k_.global;
    out.local = k_.local;
    out.params = k_.params;
    out.vars = k_.vars;
    return out;
  }

 private:
  struct Place {
    std::string pointer, valid;  // valid "": always
  };

  // --- the text around the body

  std::string Prelude() const {
    const bool cl = dialect_ == CDialect::kOpenCl;
    const char* wide = cl ? "long" : "long long";
    const bool cuda = dialect_ == CDialect::kCuda;
    std::string text = cl     ? "#pragma OPENCL FP_CONTRACT OFF\n"
                       : cuda ? kCudaHead
                              : "#pragma STDC FP_CONTRACT OFF\n";
    if (cl && types_.contains(Scalar::kFloat64)) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    // OpenCL's char is signed, and vload knows no `signed char`.
    absl::StrAppend(&text, "typedef ", cl ? "char" : "signed char",
                    " i8;\ntypedef unsigned char u8;\ntypedef short i16;\n",
                    "typedef unsigned short u16;\ntypedef int i32;\ntypedef unsigned int u32;\ntypedef ",
                    wide, " i64;\ntypedef unsigned ", wide, " u64;\ntypedef float f32;\n");
    if (types_.contains(Scalar::kFloat64)) text += "typedef double f64;\n";
    for (const std::string& v : vectors_) {
      const std::string element = v.substr(0, v.find('x')), lanes = v.substr(v.find('x') + 1);
      if (cl) {
        static constexpr std::pair<const char*, const char*> kNames[] = {
            {"i8", "char"},  {"u8", "uchar"}, {"i16", "short"}, {"u16", "ushort"}, {"i32", "int"},
            {"u32", "uint"}, {"i64", "long"}, {"u64", "ulong"}, {"f32", "float"},  {"f64", "double"}};
        for (const auto& [ours, theirs] : kNames) {
          if (element == ours) absl::StrAppend(&text, "typedef ", theirs, lanes, " ", v, ";\n");
        }
      } else if (cuda) {
        // A structure aligned as its elements are, for accesses at any of them.
        const int n = std::atoi(lanes.c_str());
        std::vector<std::string> args, set;
        for (int i = 0; i < n; ++i) {
          args.push_back(absl::StrCat(element, " x", i));
          set.push_back(absl::StrCat("x", i));
        }
        absl::StrAppend(&text, "struct ", v, " { ", element, " s[", n, "]; };\ntypedef ", v, " ", v,
                        "_at;\n");
        absl::StrAppend(&text, "static inline __attribute__((device)) ", v, " make_", v, "(",
                        absl::StrJoin(args, ", "), ") { ", v, " v = {{", absl::StrJoin(set, ", "),
                        "}}; return v; }\n");
      } else {
        absl::StrAppend(&text, "typedef ", element, " ", v, " __attribute__((ext_vector_type(", lanes,
                        ")));\n");
        absl::StrAppend(&text, "typedef ", v, " ", v, "_at __attribute__((aligned(sizeof(", element,
                        "))));\n");
      }
    }
    for (const std::string& h : helpers_) text += h;
    return text + "\n";
  }

  std::string Signature(const std::string& name) const {
    std::vector<std::string> args;
    for (const KernelParam& p : k_.params) {
      const char* space = dialect_ == CDialect::kOpenCl ? "__global " : "";
      const bool cpp = dialect_ == CDialect::kHip || dialect_ == CDialect::kCuda;
      const char* restricted = cpp ? " __restrict__ " : " restrict ";
      args.push_back(absl::StrCat(space, p.written ? "" : "const ", ElementName(p.dtype), "*", restricted,
                                  "p", p.position));
    }
    for (const VarArg& v : k_.vars) args.push_back(absl::StrCat("i64 ", Identifier("var_", v.name)));
    if (dialect_ == CDialect::kC) args.push_back("i64 workgroup");
    const std::string list = absl::StrJoin(args, ", ");
    const int64_t items = k_.local[0] * k_.local[1] * k_.local[2];
    switch (dialect_) {
      case CDialect::kC:
        return absl::StrCat("static inline void ", name, "_body(", list, ") {\n");
      case CDialect::kOpenCl:
        return absl::StrCat("__kernel __attribute__((reqd_work_group_size(", k_.local[0], ", ", k_.local[1],
                            ", ", k_.local[2], ")))\nvoid ", name, "(", list, ") {\n");
      case CDialect::kCuda:
        return absl::StrCat("extern \"C\" __attribute__((global)) __attribute__((launch_bounds(", items,
                            ")))\nvoid ", name, "(", list, ") {\n");
      case CDialect::kHip:
        return absl::StrCat(
            "extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(", items, ", ",
            items, ")))\nvoid ", name, "(", list, ") {\n");
    }
    return "";
  }

  std::string Wrapper(const std::string& name) const {
    if (dialect_ != CDialect::kC) return "";
    std::vector<std::string> args;
    for (const KernelParam& p : k_.params) args.push_back(absl::StrCat("buffers[", p.position, "]"));
    for (size_t i = 0; i < k_.vars.size(); ++i) args.push_back(absl::StrCat("vars[", i, "]"));
    args.push_back("workgroup");
    return absl::StrCat("\nvoid ", name, "(void* const* buffers, const i64* vars, i64 workgroup) {\n  ", name,
                        "_body(", absl::StrJoin(args, ", "), ");\n}\n");
  }

  // --- names and types

  void Use(DType t) {
    types_.insert(t.scalar);
    if (t.lanes > 1) vectors_.insert(TypeName(t));
  }
  const std::string& V(const UOpRef& n) {
    const auto it = names_.find(n.get());
    US_CHECK(it != names_.end()) << OpName(n->op()) << " is used before it is computed";
    return it->second;
  }
  // Lane `i` of a value.
  std::string Lane(const UOpRef& n, int i) {
    const std::string& v = V(n);
    if (n->dtype().lanes == 1) return v;
    if (dialect_ == CDialect::kOpenCl) return absl::StrFormat("%s.s%x", v, i);
    if (dialect_ == CDialect::kCuda) return absl::StrCat(v, ".s[", i, "]");
    return absl::StrCat(v, "[", i, "]");
  }
  // A vector of these lanes, or the only one.
  std::string Make(DType t, const std::vector<std::string>& lanes) {
    if (t.lanes == 1) return lanes[0];
    if (dialect_ == CDialect::kCuda)
      return absl::StrCat("make_", TypeName(t), "(", absl::StrJoin(lanes, ", "), ")");
    const bool cl = dialect_ == CDialect::kOpenCl;
    return absl::StrCat("(", TypeName(t), ")", cl ? "(" : "{", absl::StrJoin(lanes, ", "), cl ? ")" : "}");
  }
  void Line(const std::string& text) { absl::StrAppend(&body_, std::string(2 * indent_, ' '), text, "\n"); }
  absl::Status Define(const UOp& n, const std::string& value) {
    const std::string name = absl::StrCat("v", counter_++);
    Line(absl::StrCat("const ", TypeName(n.dtype()), " ", name, " = ", value, ";"));
    names_[&n] = name;
    return absl::OkStatus();
  }
  absl::Status Refuse(const UOp& n) const {
    static constexpr const char* kNames[] = {"C", "OpenCL C", "HIP C++", "CUDA C++"};
    return absl::UnimplementedError(
        absl::StrCat(kNames[static_cast<int>(dialect_)], " has no ", OpName(n.op()), " of ", n.dtype().Name(),
                     n.num_src() > 0 ? " from " : "", n.num_src() > 0 ? n.src(0)->dtype().Name() : ""));
  }

  std::string Literal(DType t, const ConstValue& value) const {
    if (t.IsFloat()) {
      const double v = std::get<double>(value);
      const char* suffix = t.scalar == Scalar::kFloat32 ? "f" : "";
      // No headers, so no INFINITY and NAN but OpenCL's own.
      if (dialect_ == CDialect::kCuda && !std::isfinite(v)) {
        const char* width = t.scalar == Scalar::kFloat32 ? "32" : "64";
        return absl::StrCat(v < 0 ? "(-" : "(", std::isnan(v) ? "NAN" : "INF", width, ")");
      }
      if (std::isnan(v) || std::isinf(v)) {
        const std::string inf =
            t.scalar == Scalar::kFloat32
                ? std::string(dialect_ == CDialect::kOpenCl ? "INFINITY" : "__builtin_inff()")
                : std::string(dialect_ == CDialect::kOpenCl ? "((f64)INFINITY)" : "__builtin_inf()");
        if (std::isinf(v)) return v < 0 ? absl::StrCat("(-", inf, ")") : inf;
        if (dialect_ == CDialect::kOpenCl) return t.scalar == Scalar::kFloat32 ? "NAN" : "((f64)NAN)";
        return t.scalar == Scalar::kFloat32 ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
      }
      const std::string text = absl::StrFormat("%a%s", v, suffix);
      return std::signbit(v) ? absl::StrCat("(", text, ")") : text;
    }
    const int64_t v = std::get<int64_t>(value);
    if (t.IsBool()) return v != 0 ? "1" : "0";
    const bool wide = t.BitWidth() == 64;
    const char* suffix = !wide ? (t.IsSigned() ? "" : "u") : dialect_ == CDialect::kOpenCl ? "L" : "LL";
    if (!t.IsSigned() && wide) return absl::StrCat("(u64)", static_cast<uint64_t>(v), "u", suffix);
    if (!t.IsSigned()) return absl::StrCat("(", TypeName(t.Element()), ")", v, suffix);
    if (v == (wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min()))
      return absl::StrCat("(-",
                          v == std::numeric_limits<int64_t>::min() ? "9223372036854775807" : "2147483647",
                          suffix, " - 1)");
    return absl::StrCat("(", TypeName(t.Element()), ")(", v, suffix, ")");
  }

  // --- nodes

  absl::Status Emit(const UOp& n) {
    if (n.op() != Op::kSink && n.op() != Op::kEnd && n.op() != Op::kStore && n.op() != Op::kBarrier &&
        n.op() != Op::kAfter && n.op() != Op::kIf && n.op() != Op::kEndIf) {
      if (!Knows(n.dtype())) return Refuse(n);
      if (dialect_ == CDialect::kOpenCl && n.dtype().lanes > 16) return Refuse(n);
      Use(n.dtype().WithSpace(AddrSpace::kNone));
    }
    switch (n.op()) {
      case Op::kSink:
        return absl::OkStatus();
      case Op::kConst: {
        const std::string one = Literal(n.dtype().Element(), n.value());
        if (n.dtype().lanes == 1) {
          names_[&n] = one;
          return absl::OkStatus();
        }
        return Define(n, Make(n.dtype(), std::vector<std::string>(n.dtype().lanes, one)));
      }
      case Op::kParam:
        names_[&n] = absl::StrCat("p", n.arg_as<int64_t>());
        return absl::OkStatus();
      case Op::kVar:
        return Define(
            n, absl::StrCat("(", TypeName(n.dtype()), ")", Identifier("var_", n.arg_as<VarArg>().name)));
      case Op::kSpecial:
        return Special(n);
      case Op::kDefineReg:
      case Op::kDefineLocal:
        return Array(n);
      case Op::kAfter:
        names_[&n] = n.src(0)->dtype().IsVoid() ? "" : V(n.src(0));
        return absl::OkStatus();
      case Op::kRange: {
        const std::string name = absl::StrCat("r", n.arg_as<RangeArg>().id, "_", counter_++),
                          t = TypeName(n.dtype());
        Line(absl::StrCat("for (", t, " ", name, " = 0; ", name, " < ", V(n.src(0)), "; ++", name, ") {"));
        ++indent_;
        names_[&n] = name;
        return absl::OkStatus();
      }
      case Op::kEnd:
        for (size_t i = 1; i < n.num_src(); ++i) Close();
        return absl::OkStatus();
      case Op::kIf:
        Line(absl::StrCat("if (", V(n.src(0)), ") {"));
        ++indent_;
        return absl::OkStatus();
      case Op::kEndIf:
        Close();
        return absl::OkStatus();
      case Op::kBarrier:
        if (dialect_ == CDialect::kC) return Refuse(n);
        Line(dialect_ == CDialect::kOpenCl ? "barrier(CLK_LOCAL_MEM_FENCE);"
             : dialect_ == CDialect::kCuda
                 ? "__syncthreads();"
                 : "__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); "
                   "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");");
        return absl::OkStatus();
      case Op::kIndex:
        places_[&n] = {absl::StrCat("(", V(n.src(0)), " + ", V(n.src(1)), ")"),
                       n.num_src() > 2 ? V(n.src(2)) : ""};
        return absl::OkStatus();
      case Op::kLoad:
        return Load(n);
      case Op::kStore:
        return Store(n);
      case Op::kVectorize: {
        std::vector<std::string> lanes;
        for (const UOpRef& s : n.src()) lanes.push_back(V(s));
        return Define(n, Make(n.dtype(), lanes));
      }
      case Op::kGep:
        names_[&n] = Lane(n.src(0), static_cast<int>(n.arg_as<int64_t>()));
        return absl::OkStatus();
      default:
        break;
    }
    if (!IsAlu(n.op())) return Refuse(n);
    for (const UOpRef& s : n.src()) {
      if (!Knows(s->dtype())) return Refuse(n);
    }
    std::vector<std::string> lanes;
    for (int i = 0; i < n.dtype().lanes; ++i) {
      std::vector<std::string> src;
      for (const UOpRef& s : n.src()) src.push_back(Lane(s, i));
      const std::string value = Alu(n, src);
      if (value.empty()) return Refuse(n);
      lanes.push_back(value);
    }
    if (n.dtype().lanes > 1) {
      // Whole vectors where the language has the operation on them.
      const std::string whole = VectorAlu(n);
      if (!whole.empty()) return Define(n, whole);
    }
    return Define(n, Make(n.dtype(), lanes));
  }

  void Close() {
    --indent_;
    Line("}");
  }

  absl::Status Special(const UOp& n) {
    const std::string& name = n.arg_as<std::string>();
    const std::string t = absl::StrCat("(", TypeName(n.dtype()), ")");
    const bool group = name[0] == 'g';
    if (dialect_ == CDialect::kC) return name == "g0" ? Define(n, t + "workgroup") : Refuse(n);
    if (dialect_ == CDialect::kOpenCl)
      return Define(n, absl::StrCat(t, group ? "get_group_id(" : "get_local_id(", name.substr(1), ")"));
    if (dialect_ == CDialect::kCuda)
      return Define(n, absl::StrCat(t, group ? "GROUP_" : "ITEM_",
                                    std::string(1, static_cast<char>('X' + name[1] - '0'))));
    return Define(n,
                  absl::StrCat(t, group ? "__builtin_amdgcn_workgroup_id_" : "__builtin_amdgcn_workitem_id_",
                               std::string(1, static_cast<char>('x' + name[1] - '0')), "()"));
  }

  absl::Status Array(const UOp& n) {
    const bool local = n.op() == Op::kDefineLocal;
    if (local && dialect_ == CDialect::kC) return Refuse(n);
    const auto& arg = n.arg_as<std::vector<int64_t>>();
    const std::string name = absl::StrCat(local ? "local" : "reg", arg[0]);
    const char* space = !local                          ? ""
                        : dialect_ == CDialect::kOpenCl ? "__local "
                                                        : "static __attribute__((shared)) ";
    Line(absl::StrCat(space, TypeName(n.dtype().Element()), " ", name, "[", arg[1], "];"));
    names_[&n] = name;
    return absl::OkStatus();
  }

  static const char* Space(const DType& t, CDialect dialect) {
    if (dialect != CDialect::kOpenCl) return "";
    return t.space == AddrSpace::kGlobal ? "__global " : t.space == AddrSpace::kLocal ? "__local " : "";
  }

  absl::Status Load(const UOp& n) {
    const Place& at = places_.at(n.src(0).get());
    const DType t = n.dtype();
    std::string value;
    if (t.lanes == 1) {
      value = absl::StrCat("*", at.pointer);
    } else if (dialect_ == CDialect::kOpenCl) {
      value = absl::StrCat("vload", t.lanes, "(0, ", at.pointer, ")");
    } else {
      value = absl::StrCat("*(const ", TypeName(t), "_at*)", at.pointer);
    }
    if (t.IsBool()) {
      // Any byte but 0 is true.
      std::vector<std::string> lanes;
      for (int i = 0; i < t.lanes; ++i) lanes.push_back(absl::StrCat("(u8)(", at.pointer, "[", i, "] != 0)"));
      value = Make(t, lanes);
    }
    if (at.valid.empty()) return Define(n, value);
    // A select reads both arms of a vector; a statement reads where it may.
    const std::string name = absl::StrCat("v", counter_++);
    Line(absl::StrCat(TypeName(t), " ", name, " = ", Make(t, std::vector<std::string>(t.lanes, "0")), ";"));
    Line(absl::StrCat("if (", at.valid, ") ", name, " = ", value, ";"));
    names_[&n] = name;
    return absl::OkStatus();
  }

  absl::Status Store(const UOp& n) {
    const Place& at = places_.at(n.src(0).get());
    const DType t = n.src(1)->dtype();
    if (!Knows(t)) return Refuse(n);
    Use(t);
    const std::string guard = at.valid.empty() ? "" : absl::StrCat("if (", at.valid, ") ");
    if (t.lanes == 1) {
      Line(absl::StrCat(guard, "*", at.pointer, " = ", V(n.src(1)), ";"));
    } else if (dialect_ == CDialect::kOpenCl) {
      Line(absl::StrCat(guard, "vstore", t.lanes, "(", V(n.src(1)), ", 0, ", at.pointer, ");"));
    } else {
      Line(absl::StrCat(guard, "*(", TypeName(t), "_at*)", at.pointer, " = ", V(n.src(1)), ";"));
    }
    return absl::OkStatus();
  }

  // The operation on whole vectors, or "" when it is written lane by lane.
  std::string VectorAlu(const UOp& n) {
    const DType t = n.dtype();
    if (dialect_ == CDialect::kCuda) return "";
    const auto v = [&](int i) { return V(n.src(i)); };
    const char* symbol = nullptr;
    switch (n.op()) {
      case Op::kAdd:
        symbol = " + ";
        break;
      case Op::kSub:
        symbol = " - ";
        break;
      case Op::kMul:
        symbol = " * ";
        break;
      case Op::kFDiv:
        symbol = " / ";
        break;
      default:
        return "";
    }
    // Signed elements would overflow; small ones do not promote in vectors.
    return t.IsFloat() || t.IsUnsigned() ? absl::StrCat(v(0), symbol, v(1)) : "";
  }

  // One lane: "" when the dialect has no such operation.
  std::string Alu(const UOp& n, const std::vector<std::string>& x) {
    const DType t = n.dtype().Element(), in = n.src(0)->dtype().Element();
    const std::string type = TypeName(t);
    const auto cast = [](const std::string& to, const std::string& value) {
      return absl::StrCat("(", to, ")(", value, ")");
    };
    switch (n.op()) {
      case Op::kCast:
        return Cast(in, t, x[0]);
      case Op::kBitcast:
        return Bitcast(in, t, x[0]);
      case Op::kWhere:
        if (dialect_ == CDialect::kC && t.IsFloat()) {
          // clang 22 for Hexagon takes `x < y ? x : y` for sfmin, which drops a NaN and the sign of 0.
          helpers_.insert(
              "#ifdef __hexagon__\nstatic inline int choose(int c) { __asm__(\"\" : \"+r\"(c)); return c; }\n"
              "#else\n#define choose(c) (c)\n#endif\n");
          return absl::StrCat("(choose(", x[0], ") ? ", x[1], " : ", x[2], ")");
        }
        return absl::StrCat("(", x[0], " ? ", x[1], " : ", x[2], ")");
      case Op::kCmpLt:
        return cast("u8", absl::StrCat(x[0], " < ", x[1]));
      case Op::kCmpEq:
        return cast("u8", absl::StrCat(x[0], " == ", x[1]));
      case Op::kCmpNe:
        return cast("u8", absl::StrCat(x[0], " != ", x[1]));
      default:
        break;
    }
    if (t.IsFloat()) return FloatAlu(n.op(), t, x);
    // Wrapping arithmetic is that of the unsigned type, as wide as int at least.
    const std::string u = TypeName(t.BitWidth() < 32 ? dtypes::kUInt32 : UnsignedOf(t));
    const auto wrapped = [&](const char* symbol) {
      return cast(type, absl::StrCat("(", u, ")", x[0], symbol, "(", u, ")", x[1]));
    };
    switch (n.op()) {
      case Op::kNeg:
        return cast(type, absl::StrCat("0u - (", u, ")", x[0]));
      case Op::kAdd:
        return wrapped(" + ");
      case Op::kSub:
        return wrapped(" - ");
      case Op::kMul:
        return wrapped(" * ");
      case Op::kAnd:
        return cast(type, absl::StrCat(x[0], " & ", x[1]));
      case Op::kOr:
        return cast(type, absl::StrCat(x[0], " | ", x[1]));
      case Op::kXor:
        return cast(type, absl::StrCat(x[0], " ^ ", x[1]));
      case Op::kShl:
        return cast(type, absl::StrCat("(", u, ")", x[0], " << ", x[1]));
      case Op::kShr:
        return cast(type, absl::StrCat(x[0], " >> ", x[1]));
      case Op::kIDiv:
        return cast(type, absl::StrCat(x[0], " / ", x[1]));
      case Op::kIMod:
        return cast(type, absl::StrCat(x[0], " % ", x[1]));
      case Op::kMax:
        return absl::StrCat("(", x[0], " < ", x[1], " ? ", x[1], " : ", x[0], ")");
      case Op::kMin:
        return absl::StrCat("(", x[1], " < ", x[0], " ? ", x[1], " : ", x[0], ")");
      default:
        return "";
    }
  }

  std::string FloatAlu(Op op, DType t, const std::vector<std::string>& x) const {
    const bool f32 = t.scalar == Scalar::kFloat32;
    const auto call = [&](const char* name) {
      const bool cl = dialect_ == CDialect::kOpenCl;
      if (dialect_ == CDialect::kCuda)
        return absl::StrCat(name, f32 ? "f" : "", "(", absl::StrJoin(x, ", "), ")");
      return absl::StrCat(cl ? "" : "__builtin_", name, cl || !f32 ? "" : "f", "(", absl::StrJoin(x, ", "),
                          ")");
    };
    switch (op) {
      case Op::kNeg:
        return absl::StrCat("-", x[0]);
      case Op::kAdd:
        return absl::StrCat(x[0], " + ", x[1]);
      case Op::kSub:
        return absl::StrCat(x[0], " - ", x[1]);
      case Op::kMul:
        return absl::StrCat(x[0], " * ", x[1]);
      case Op::kFDiv:
        return absl::StrCat(x[0], " / ", x[1]);
      case Op::kSqrt:
        return call("sqrt");
      case Op::kTrunc:
        return call("trunc");
      case Op::kMulAcc:
        return call("fma");
      default:
        return "";
    }
  }

  // Saturating, NaN gives 0. The plain conversion is undefined outside the limits, and is not reached there.
  std::string Cast(DType from, DType to, const std::string& x) {
    if (to.IsBool()) return absl::StrCat("(u8)(", x, " != 0)");
    if (!from.IsFloat() || to.IsFloat()) return absl::StrCat("(", TypeName(to), ")", x);
    const std::string name = absl::StrCat("to_", to.Name(), "_", from.Name());
    const int bits = to.BitWidth();
    const auto power = [&](int e) {
      return absl::StrFormat("%a%s", std::ldexp(1.0, e), from == dtypes::kFloat32 ? "f" : "");
    };
    const std::string type = TypeName(to);
    const ConstValue most = MaxValue(to), least = MinValue(to);
    std::string body;
    if (to.IsSigned()) {
      body = absl::StrCat("x != x ? 0 : x < -", power(bits - 1), " ? ", Literal(to, least),
                          " : x >= ", power(bits - 1), " ? ", Literal(to, most), " : (", type, ")x");
    } else {
      body = absl::StrCat("!(x > 0) ? 0 : x >= ", power(bits), " ? ", Literal(to, most), " : (", type, ")x");
    }
    helpers_.insert(
        absl::StrCat(HelperPrefix(), type, " ", name, "(", TypeName(from), " x) { return ", body, "; }\n"));
    return absl::StrCat(name, "(", x, ")");
  }

  std::string Bitcast(DType from, DType to, const std::string& x) {
    if (from == to) return x;
    if (from.IsInt() && to.IsInt()) return absl::StrCat("(", TypeName(to), ")", x);
    if (dialect_ == CDialect::kOpenCl) {
      static constexpr const char* kAs[] = {"as_int",   "as_uint",  "as_long",
                                            "as_ulong", "as_float", "as_double"};
      const int i = to.IsFloat() ? (to.BitWidth() == 32 ? 4 : 5)
                                 : (to.BitWidth() == 32 ? 0 : 2) + (to.IsSigned() ? 0 : 1);
      return absl::StrCat(kAs[i], "(", x, ")");
    }
    const std::string name = absl::StrCat("bits_", to.Name(), "_", from.Name());
    helpers_.insert(absl::StrCat(HelperPrefix(), TypeName(to), " ", name, "(", TypeName(from), " x) { ",
                                 TypeName(to), " y; ", dialect_ == CDialect::kCuda ? "" : "__builtin_",
                                 "memcpy(&y, &x, sizeof y); return y; }\n"));
    return absl::StrCat(name, "(", x, ")");
  }

  const char* HelperPrefix() const {
    return dialect_ == CDialect::kHip || dialect_ == CDialect::kCuda
               ? "static inline __attribute__((device)) "
               : "static inline ";
  }

  const LinearKernel& k_;
  const CDialect dialect_;
  int indent_ = 1, counter_ = 0;
  std::string body_;
  std::set<Scalar> types_;
  std::set<std::string> vectors_, helpers_;
  absl::flat_hash_map<const UOp*, std::string> names_;
  absl::flat_hash_map<const UOp*, Place> places_;
};

}  // namespace

absl::StatusOr<RenderedText> RenderC(const LinearKernel& kernel, CDialect dialect) {
  absl::StatusOr<RenderedText> out = Writer(kernel, dialect).Run();
  if (out.ok()) return out;
  return absl::Status(out.status().code(),
                      absl::StrCat("kernel ", kernel.name, ": ", std::string(out.status().message())));
}

Target CTextTarget(CDialect dialect) {
  Target t;
  t.isa = dialect == CDialect::kC        ? "c"
          : dialect == CDialect::kOpenCl ? "opencl"
          : dialect == CDialect::kCuda   ? "cuda"
                                         : "hip";
  t.max_vector_bytes = 16;
  if (dialect == CDialect::kC) return t;
  t.has_local = true;
  t.wave_size = 32;
  t.max_workgroup = 256;
  t.local_bytes = 32 * 1024;
  return t;
}

}  // namespace understudy
