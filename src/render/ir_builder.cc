// SPDX-License-Identifier: Apache-2.0
#include "src/render/ir_builder.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy {
namespace {

constexpr unsigned kGlobalSpace = 1, kLocalSpace = 3;  // amdgcn's address spaces

class IrBuilder {
 public:
  // `streamed`: the stores that write past the caches.
  IrBuilder(const LinearKernel& kernel, const std::string& symbol, const std::string& isa,
            llvm::Module& module, absl::flat_hash_set<const UOp*> streamed = {})
      : k_(kernel),
        symbol_(symbol),
        amdgcn_(isa != "host"),
        m_(module),
        b_(module.getContext()),
        streamed_(std::move(streamed)) {}

  absl::Status Build() {
    Begin();
    for (const UOpRef& op : k_.ops) {
      US_RETURN_IF_ERROR(Emit(*op));
    }
    if (!loops_.empty()) return absl::InternalError("a loop is not closed");
    // Stores past the caches have no order of their own.
    if (!streamed_.empty()) b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    b_.CreateRetVoid();
    return absl::OkStatus();
  }

  // The host's `void symbol(void* const* buffers, const int64_t* vars, int64_t workgroup)`, which runs
  // `streamed` (may be null) where all buffers lie on cache lines, else this one.
  void Wrap(const IrBuilder* streamed) {
    auto* type =
        llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false);
    auto* wrapper = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, m_);
    wrapper->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(m_.getContext(), "entry", wrapper));
    std::vector<llvm::Value*> args;
    for (const KernelParam& p : k_.params) {
      args.push_back(b_.CreateLoad(
          b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), wrapper->getArg(0), p.position)));
    }
    llvm::Value* low_bits = b_.getInt64(0);
    for (llvm::Value* buffer : args)
      low_bits = b_.CreateOr(low_bits, b_.CreatePtrToInt(buffer, b_.getInt64Ty()));
    for (size_t i = 0; i < k_.vars.size(); ++i) {
      args.push_back(b_.CreateLoad(b_.getInt64Ty(),
                                   b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), wrapper->getArg(1), i)));
    }
    args.push_back(wrapper->getArg(2));
    if (streamed != nullptr) {
      auto* aligned = llvm::BasicBlock::Create(m_.getContext(), "aligned", wrapper);
      auto* other = llvm::BasicBlock::Create(m_.getContext(), "other", wrapper);
      b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateAnd(low_bits, kLineBytes - 1), b_.getInt64(0)), aligned,
                      other);
      b_.SetInsertPoint(aligned);
      b_.CreateCall(streamed->f_, args);
      b_.CreateRetVoid();
      b_.SetInsertPoint(other);
    }
    b_.CreateCall(f_, args);
    b_.CreateRetVoid();
  }

  // The stores that may be streamed where buffers lie on cache lines: whole aligned vectors.
  static absl::flat_hash_set<const UOp*> Streamable(const LinearKernel& kernel) {
    absl::flat_hash_set<const UOp*> found;
    absl::flat_hash_map<const UOp*, int> zeros;
    for (const UOpRef& op : kernel.ops) {
      zeros[op.get()] = TrailingZeros(*op, zeros);
      if (op->op() != Op::kStore || op->src(0)->src(0)->op() != Op::kParam) continue;
      const int64_t param = op->src(0)->src(0)->arg_as<int64_t>();
      const bool wanted = std::any_of(kernel.params.begin(), kernel.params.end(), [&](const KernelParam& p) {
        return p.position == param && p.streamed;
      });
      const DType t = op->src(1)->dtype();
      const int64_t bytes = t.SizeBytes();
      const int bits = __builtin_ctzll(static_cast<uint64_t>(t.ScalarBytes()));
      const int known = zeros.at(op->src(0)->src(1).get()) + bits;
      if (wanted && bytes >= 16 && bytes <= kLineBytes && IsPow2(static_cast<uint64_t>(bytes)) &&
          (int64_t{1} << std::min(known, 20)) >= bytes)
        found.insert(op.get());
    }
    return found;
  }

 private:
  static constexpr int64_t kLineBytes = 64;

  // Low bits of an index that are zero for all values of what it hangs on.
  static int TrailingZeros(const UOp& n, const absl::flat_hash_map<const UOp*, int>& known) {
    const auto of = [&](size_t i) { return known.at(n.src(i).get()); };
    switch (n.op()) {
      case Op::kConst:
        if (n.dtype().lanes != 1 || !n.dtype().IsInt()) return 0;
        return n.const_int() == 0 ? 32 : __builtin_ctzll(static_cast<uint64_t>(n.const_int()));
      case Op::kAdd:
      case Op::kSub:
      case Op::kMin:
      case Op::kMax:
        return n.dtype().IsInt() ? std::min(of(0), of(1)) : 0;
      case Op::kMul:
        return n.dtype().IsInt() ? std::min(of(0) + of(1), 32) : 0;
      case Op::kShl:
        return n.src(1)->IsConst() ? std::min<int>(of(0) + static_cast<int>(n.src(1)->const_int()), 32) : 0;
      case Op::kCast:
        return n.dtype().IsInt() && n.src(0)->dtype().IsInt() ? of(0) : 0;
      default:
        return 0;
    }
  }

  struct Loop {
    llvm::PHINode* counter;
    llvm::BasicBlock *header, *exit;
    const UOp* range;
  };
  struct Place {
    llvm::Value* pointer;
    llvm::Value* valid;  // null: always
  };

  // --- the function's frame

  void Begin() {
    const llvm::Type* void_type = b_.getVoidTy();
    std::vector<llvm::Type*> types;
    for (size_t i = 0; i < k_.params.size(); ++i) types.push_back(b_.getPtrTy(amdgcn_ ? kGlobalSpace : 0));
    for (size_t i = 0; i < k_.vars.size(); ++i) types.push_back(b_.getInt64Ty());
    if (!amdgcn_) types.push_back(b_.getInt64Ty());  // the workgroup's number
    auto* type = llvm::FunctionType::get(const_cast<llvm::Type*>(void_type), types, false);
    f_ = llvm::Function::Create(type,
                                amdgcn_ ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
                                amdgcn_ ? symbol_ : symbol_ + (streamed_.empty() ? ".body" : ".stream"), m_);
    f_->addFnAttr(llvm::Attribute::NoUnwind);
    // Each PARAM is storage of its own.
    for (size_t i = 0; i < k_.params.size(); ++i) {
      f_->addParamAttr(i, llvm::Attribute::NoAlias);
      if (!k_.params[i].written) f_->addParamAttr(i, llvm::Attribute::ReadOnly);
      f_->getArg(i)->setName(absl::StrCat("p", k_.params[i].position));
      params_[k_.params[i].position] = f_->getArg(i);
    }
    for (size_t i = 0; i < k_.vars.size(); ++i) {
      llvm::Argument* a = f_->getArg(k_.params.size() + i);
      a->setName(k_.vars[i].name);
      vars_[k_.vars[i].name] = a;
    }
    if (amdgcn_) {
      f_->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
      const int64_t items = k_.local[0] * k_.local[1] * k_.local[2];
      f_->addFnAttr("amdgpu-flat-work-group-size", absl::StrCat(items, ",", items));
      f_->addFnAttr("uniform-work-group-size", "true");
      f_->addFnAttr("denormal-fp-math", "ieee,ieee");
      f_->addFnAttr("denormal-fp-math-f32", "ieee,ieee");
      // The kernel takes nothing but its arguments.
      f_->addFnAttr("amdgpu-implicitarg-num-bytes", "0");
      m_.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
    } else {
      f_->addFnAttr(llvm::Attribute::AlwaysInline);
    }
    entry_ = llvm::BasicBlock::Create(m_.getContext(), "entry", f_);
    b_.SetInsertPoint(entry_);
  }

  // --- types

  llvm::Type* Scalar_(DType t) {
    switch (t.scalar) {
      case Scalar::kBool:
        return b_.getInt1Ty();
      case Scalar::kFloat16:
        return b_.getHalfTy();
      case Scalar::kFloat32:
        return b_.getFloatTy();
      case Scalar::kFloat64:
        return b_.getDoubleTy();
      default:
        return b_.getIntNTy(t.BitWidth());
    }
  }
  llvm::Type* WithLanes(llvm::Type* t, int lanes) {
    return lanes == 1 ? t : llvm::FixedVectorType::get(t, lanes);
  }
  llvm::Type* Type(DType t) { return WithLanes(Scalar_(t), t.lanes); }
  // In memory a bool is a byte.
  llvm::Type* MemoryType(DType t) { return t.IsBool() ? WithLanes(b_.getInt8Ty(), t.lanes) : Type(t); }

  static absl::Status Refuse(const UOp& n) {
    return absl::UnimplementedError(absl::StrCat("the LLVM renderer has no ", OpName(n.op()), " of ",
                                                 n.dtype().Name(), n.num_src() > 0 ? " from " : "",
                                                 n.num_src() > 0 ? n.src(0)->dtype().Name() : ""));
  }

  llvm::Value* V(const UOpRef& n) {
    const auto it = values_.find(n.get());
    US_CHECK(it != values_.end()) << OpName(n->op()) << " is used before it is computed";
    return it->second;
  }

  // --- nodes

  absl::Status Emit(const UOp& n) {
    switch (n.op()) {
      case Op::kSink:
        return absl::OkStatus();
      case Op::kConst:
        values_[&n] = Constant(n);
        return absl::OkStatus();
      case Op::kParam:
        values_[&n] = params_.at(n.arg_as<int64_t>());
        return absl::OkStatus();
      case Op::kVar:
        values_[&n] = b_.CreateIntCast(vars_.at(n.arg_as<VarArg>().name), Type(n.dtype()), true);
        return absl::OkStatus();
      case Op::kSpecial:
        return Special(n);
      case Op::kDefineReg:
        return Register(n);
      case Op::kDefineLocal:
        return Local(n);
      case Op::kAfter:
        values_[&n] = n.src(0)->dtype().IsVoid() ? nullptr : V(n.src(0));
        return absl::OkStatus();
      case Op::kRange:
        OpenLoop(n);
        return absl::OkStatus();
      case Op::kEnd:
        return CloseLoop(n);
      case Op::kIf: {
        auto* then = llvm::BasicBlock::Create(m_.getContext(), "if", f_);
        branches_.push_back(llvm::BasicBlock::Create(m_.getContext(), "endif", f_));
        b_.CreateCondBr(V(n.src(0)), then, branches_.back());
        b_.SetInsertPoint(then);
        return absl::OkStatus();
      }
      case Op::kEndIf:
        if (branches_.empty()) return absl::InternalError("an ENDIF without an IF");
        b_.CreateBr(branches_.back());
        b_.SetInsertPoint(branches_.back());
        branches_.pop_back();
        return absl::OkStatus();
      case Op::kBarrier:
        return Barrier(n);
      case Op::kIndex:
        Index(n);
        return absl::OkStatus();
      case Op::kLoad:
        Load(n);
        return absl::OkStatus();
      case Op::kStore:
        Store(n);
        return absl::OkStatus();
      case Op::kVectorize:
        Vectorize(n);
        return absl::OkStatus();
      case Op::kWmma:
        return TensorCore(n);
      case Op::kGep:
        values_[&n] = n.src(0)->dtype().lanes == 1
                          ? V(n.src(0))
                          : b_.CreateExtractElement(V(n.src(0)), n.arg_as<int64_t>());
        return absl::OkStatus();
      default:
        break;
    }
    if (!IsAlu(n.op())) return Refuse(n);
    llvm::Value* v = Alu(n);
    if (v == nullptr) return Refuse(n);
    values_[&n] = v;
    return absl::OkStatus();
  }

  llvm::Value* Constant(const UOp& n) {
    const DType t = n.dtype();
    llvm::Constant* c;
    if (t.IsFloat()) {
      c = llvm::ConstantFP::get(Scalar_(t), std::get<double>(n.value()));
    } else {
      c = llvm::ConstantInt::get(Scalar_(t), static_cast<uint64_t>(n.const_int()), /*IsSigned=*/false,
                                 /*ImplicitTrunc=*/true);
    }
    return t.lanes == 1 ? c : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(t.lanes), c);
  }

  absl::Status Special(const UOp& n) {
    const std::string& name = n.arg_as<std::string>();
    if (!amdgcn_) {
      if (name != "g0") return Refuse(n);
      values_[&n] = b_.CreateZExtOrTrunc(f_->getArg(k_.params.size() + k_.vars.size()), Type(n.dtype()));
      return absl::OkStatus();
    }
    static constexpr llvm::Intrinsic::ID kIds[2][3] = {
        {llvm::Intrinsic::amdgcn_workgroup_id_x, llvm::Intrinsic::amdgcn_workgroup_id_y,
         llvm::Intrinsic::amdgcn_workgroup_id_z},
        {llvm::Intrinsic::amdgcn_workitem_id_x, llvm::Intrinsic::amdgcn_workitem_id_y,
         llvm::Intrinsic::amdgcn_workitem_id_z}};
    llvm::CallInst* id = b_.CreateIntrinsic(b_.getInt32Ty(), kIds[name[0] == 'l'][name[1] - '0'], {});
    const int64_t end = n.src(0)->const_int();
    id->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, static_cast<uint64_t>(end))));
    values_[&n] = b_.CreateZExtOrTrunc(id, Type(n.dtype()));
    return absl::OkStatus();
  }

  absl::Status Register(const UOp& n) {
    const int64_t size = n.arg_as<std::vector<int64_t>>()[1];
    llvm::IRBuilder<> entry(entry_, entry_->begin());
    // Accumulators are one vector; what is longer is an array in memory.
    constexpr int64_t kLongestVector = 64;
    if (size > kLongestVector) {
      llvm::AllocaInst* array = entry.CreateAlloca(
          llvm::ArrayType::get(MemoryType(n.dtype().Element()), static_cast<uint64_t>(size)));
      array->setAlignment(llvm::Align(64));
      values_[&n] = array;
      return absl::OkStatus();
    }
    values_[&n] = entry.CreateAlloca(MemoryType(n.dtype().Element().WithLanes(static_cast<int>(size))));
    return absl::OkStatus();
  }

  absl::Status Local(const UOp& n) {
    if (!amdgcn_) return Refuse(n);
    const auto& arg = n.arg_as<std::vector<int64_t>>();
    auto* type = llvm::ArrayType::get(MemoryType(n.dtype().Element()), static_cast<uint64_t>(arg[1]));
    auto* global = new llvm::GlobalVariable(
        m_, type, false, llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
        absl::StrCat(symbol_, ".local", arg[0]), nullptr, llvm::GlobalValue::NotThreadLocal, kLocalSpace);
    global->setAlignment(llvm::Align(16));
    values_[&n] = global;
    return absl::OkStatus();
  }

  void OpenLoop(const UOp& n) {
    llvm::Value* end = V(n.src(0));
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* header =
        llvm::BasicBlock::Create(m_.getContext(), absl::StrCat("loop", n.arg_as<RangeArg>().id), f_);
    auto* body = llvm::BasicBlock::Create(m_.getContext(), "body", f_);
    auto* exit = llvm::BasicBlock::Create(m_.getContext(), "end", f_);
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    llvm::PHINode* counter = b_.CreatePHI(Type(n.dtype()), 2);
    counter->addIncoming(llvm::ConstantInt::get(counter->getType(), 0), before);
    b_.CreateCondBr(b_.CreateICmpSLT(counter, end), body, exit);
    b_.SetInsertPoint(body);
    values_[&n] = counter;
    loops_.push_back({counter, header, exit, &n});
  }

  absl::Status CloseLoop(const UOp& n) {
    for (size_t i = n.num_src(); i-- > 1;) {
      if (loops_.empty() || loops_.back().range != n.src(i).get())
        return absl::InternalError("an END closes a loop that is not the innermost");
      const Loop loop = loops_.back();
      loops_.pop_back();
      llvm::Value* next = b_.CreateAdd(loop.counter, llvm::ConstantInt::get(loop.counter->getType(), 1), "",
                                       /*HasNUW=*/true, /*HasNSW=*/true);
      loop.counter->addIncoming(next, b_.GetInsertBlock());
      b_.CreateBr(loop.header);
      b_.SetInsertPoint(loop.exit);
    }
    return absl::OkStatus();
  }

  absl::Status Barrier(const UOp& n) {
    if (!amdgcn_) return Refuse(n);
    const llvm::SyncScope::ID scope = m_.getContext().getOrInsertSyncScopeID("workgroup");
    b_.CreateFence(llvm::AtomicOrdering::Release, scope);
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::amdgcn_s_barrier, {});
    b_.CreateFence(llvm::AtomicOrdering::Acquire, scope);
    return absl::OkStatus();
  }

  // An index that is used is never negative, so that a 32-bit one extends with zeros: amdgcn addresses by an
  // unsigned 32-bit offset for free.
  void Index(const UOp& n) {
    llvm::Value* offset = b_.CreateZExt(V(n.src(1)), b_.getInt64Ty());
    if (n.dtype().space == AddrSpace::kLocal) offset = b_.CreateTrunc(offset, b_.getInt32Ty());
    llvm::Value* pointer = b_.CreateGEP(MemoryType(n.dtype().Element()), V(n.src(0)), offset);
    places_[&n] = {pointer, n.num_src() > 2 ? V(n.src(2)) : nullptr};
  }

  // Runs `body` where `valid`; afterwards the insertion point is the joint.
  template <class Body>
  std::pair<llvm::BasicBlock*, llvm::BasicBlock*> Guarded(llvm::Value* valid, Body body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* then = llvm::BasicBlock::Create(m_.getContext(), "valid", f_);
    auto* join = llvm::BasicBlock::Create(m_.getContext(), "join", f_);
    b_.CreateCondBr(valid, then, join);
    b_.SetInsertPoint(then);
    body();
    llvm::BasicBlock* after = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    return {before, after};
  }

  void Load(const UOp& n) {
    const Place place = places_.at(n.src(0).get());
    llvm::Type* type = MemoryType(n.dtype());
    const llvm::Align align(n.dtype().ScalarBytes());
    llvm::Value* v = nullptr;
    const auto load = [&] { v = b_.CreateAlignedLoad(type, place.pointer, align); };
    if (place.valid == nullptr) {
      load();
    } else {
      const auto [before, after] = Guarded(place.valid, load);
      llvm::PHINode* phi = b_.CreatePHI(type, 2);
      phi->addIncoming(llvm::Constant::getNullValue(type), before);
      phi->addIncoming(v, after);
      v = phi;
    }
    values_[&n] = n.dtype().IsBool() ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(type)) : v;
  }

  void Store(const UOp& n) {
    const Place place = places_.at(n.src(0).get());
    const DType t = n.src(1)->dtype();
    llvm::Value* v = V(n.src(1));
    if (t.IsBool()) v = b_.CreateZExt(v, MemoryType(t));
    const bool streamed = streamed_.contains(&n);
    const auto store = [&] {
      llvm::StoreInst* s =
          b_.CreateAlignedStore(v, place.pointer, llvm::Align(streamed ? t.SizeBytes() : t.ScalarBytes()));
      if (!streamed) return;
      llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
      s->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(m_.getContext(), {one}));
    };
    if (place.valid == nullptr) {
      store();
    } else {
      Guarded(place.valid, store);
    }
  }

  void Vectorize(const UOp& n) {
    if (n.num_src() == 1) {
      values_[&n] = V(n.src(0));
      return;
    }
    bool splat = true;
    for (const UOpRef& s : n.src()) splat &= s == n.src(0);
    llvm::Value* v;
    if (splat) {
      v = b_.CreateVectorSplat(n.dtype().lanes, V(n.src(0)));
    } else {
      v = llvm::PoisonValue::get(Type(n.dtype()));
      for (size_t i = 0; i < n.num_src(); ++i) v = b_.CreateInsertElement(v, V(n.src(i)), i);
    }
    values_[&n] = v;
  }

  // A fragment as the intrinsic of that name wants it: packed into `type`.
  llvm::Value* Packed(llvm::Value* fragment, llvm::Type* type) {
    return fragment->getType() == type ? fragment : b_.CreateBitCast(fragment, type);
  }

  absl::Status TensorCore(const UOp& n) {
    const std::string& name = n.arg_as<std::string>();
    const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID("llvm.amdgcn." + name);
    if (!amdgcn_ || id == llvm::Intrinsic::not_intrinsic)
      return absl::UnimplementedError(absl::StrCat("the LLVM renderer has no tensor core '", name, "'"));
    const DType in = n.src(0)->dtype();
    llvm::Value *a = V(n.src(0)), *b = V(n.src(1)), *c = V(n.src(2));
    // Integers and 8-bit floats go in dwords, or in one 64-bit value; bf16 in 16-bit integers before gfx950.
    const int bits = in.BitWidth() * in.lanes;
    llvm::Type* side = a->getType();
    const bool mfma = name.rfind("mfma.", 0) == 0;
    if (in.BitWidth() == 8) {
      side = mfma && bits <= 64 ? b_.getIntNTy(bits) : WithLanes(b_.getInt32Ty(), bits / 32);
    } else if (name == "mfma.f32.16x16x32.bf16") {
      side = WithLanes(b_.getBFloatTy(), in.lanes);
    }
    a = Packed(a, side);
    b = Packed(b, side);
    std::vector<llvm::Value*> args;
    std::vector<llvm::Type*> overloads;
    if (mfma) {
      llvm::Value* zero = b_.getInt32(0);
      args = {a, b, c, zero, zero, zero};
    } else if (name.find("iu8") != std::string::npos) {
      llvm::Value* is_signed = b_.getInt1(in.IsSigned());
      args = {is_signed, a, is_signed, b, c, b_.getInt1(false)};
      overloads = {c->getType(), side};
    } else {
      args = {a, b, c};
      overloads = {c->getType(), side};
    }
    values_[&n] = b_.CreateIntrinsic(id, overloads, args);
    return absl::OkStatus();
  }

  // Null when the renderer has no such op.
  llvm::Value* Alu(const UOp& n) {
    if (n.op() == Op::kCast) return Cast(V(n.src(0)), n.src(0)->dtype(), n.dtype());
    if (n.op() == Op::kBitcast) return b_.CreateBitCast(V(n.src(0)), Type(n.dtype()));
    if (n.op() == Op::kWhere) return b_.CreateSelect(V(n.src(0)), V(n.src(1)), V(n.src(2)));
    const DType t = n.src(0)->dtype();
    llvm::Value* x = V(n.src(0));
    llvm::Value* y = n.num_src() > 1 ? V(n.src(1)) : nullptr;
    if (t.scalar == Scalar::kFloat32 || t.scalar == Scalar::kFloat64) return FloatAlu(n, x, y);
    if (t.IsFloat()) return nullptr;
    return IntAlu(n, t.IsSigned(), x, y);
  }

  llvm::Value* FloatAlu(const UOp& n, llvm::Value* x, llvm::Value* y) {
    using llvm::Intrinsic::ID;
    switch (n.op()) {
      case Op::kNeg:
        return b_.CreateFNeg(x);
      case Op::kSqrt:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
      case Op::kTrunc:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
      case Op::kAdd:
        return b_.CreateFAdd(x, y);
      case Op::kSub:
        return b_.CreateFSub(x, y);
      case Op::kMul:
        return b_.CreateFMul(x, y);
      case Op::kFDiv:
        return b_.CreateFDiv(x, y);
      case Op::kMax:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, y);
      case Op::kMin:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, y);
      case Op::kMulAcc:
        return b_.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, V(n.src(2))});
      case Op::kCmpLt:
        return b_.CreateFCmpOLT(x, y);
      case Op::kCmpEq:
        return b_.CreateFCmpOEQ(x, y);
      case Op::kCmpNe:
        return b_.CreateFCmpUNE(x, y);
      default:
        return nullptr;
    }
  }

  llvm::Value* IntAlu(const UOp& n, bool is_signed, llvm::Value* x, llvm::Value* y) {
    switch (n.op()) {
      case Op::kNeg:
        return b_.CreateNeg(x);
      case Op::kAdd:
        return b_.CreateAdd(x, y);
      case Op::kSub:
        return b_.CreateSub(x, y);
      case Op::kMul:
        return b_.CreateMul(x, y);
      case Op::kIDiv:
        return is_signed ? b_.CreateSDiv(x, y) : b_.CreateUDiv(x, y);
      case Op::kIMod:
        return is_signed ? b_.CreateSRem(x, y) : b_.CreateURem(x, y);
      case Op::kMax:
        return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
      case Op::kMin:
        return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
      case Op::kAnd:
        return b_.CreateAnd(x, y);
      case Op::kOr:
        return b_.CreateOr(x, y);
      case Op::kXor:
        return b_.CreateXor(x, y);
      case Op::kShl:
        return b_.CreateShl(x, y);
      case Op::kShr:
        return is_signed ? b_.CreateAShr(x, y) : b_.CreateLShr(x, y);
      case Op::kCmpLt:
        return is_signed ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
      case Op::kCmpEq:
        return b_.CreateICmpEQ(x, y);
      case Op::kCmpNe:
        return b_.CreateICmpNE(x, y);
      default:
        return nullptr;
    }
  }

  llvm::Value* Cast(llvm::Value* x, DType from, DType to) {
    llvm::Type* type = Type(to);
    if (to.IsBool()) {
      llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
      return from.IsFloat() ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
    }
    // LLVM selects f16(a * b) of f32 as V_FMA_MIXLO_F16 a, b, +0, which turns a product of -0 into +0. An
    // empty piece of assembly, which costs no instruction, keeps the two apart.
    if (amdgcn_ && from.scalar == Scalar::kFloat32 && to.scalar == Scalar::kFloat16)
      x = Opaque(x, from.lanes);
    if (from.IsFloat() && to.IsFloat()) return b_.CreateFPCast(x, type);
    if (from.IsFloat()) {
      // Saturating, NaN gives 0: the graph's own rule, and amdgcn's conversions'. LLVM takes it apart lane by
      // lane for x86, so that it is spelt out there.
      if (!amdgcn_) return SaturatingCast(x, type, to);
      return b_.CreateIntrinsic(to.IsSigned() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                {type, x->getType()}, {x});
    }
    const bool is_signed = from.IsSigned();
    if (to.IsFloat()) return is_signed ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
    return b_.CreateIntCast(x, type, is_signed);
  }

  // The same f32 value, of which LLVM no longer knows how it was made. A register a lane: wide tuples may not
  // be had.
  llvm::Value* Opaque(llvm::Value* x, int lanes) {
    llvm::Type* f32 = b_.getFloatTy();
    llvm::InlineAsm* keep = llvm::InlineAsm::get(llvm::FunctionType::get(f32, {f32}, false), "", "=v,0",
                                                 /*hasSideEffects=*/false);
    if (lanes == 1) return b_.CreateCall(keep, {x});
    llvm::Value* v = llvm::PoisonValue::get(x->getType());
    for (int i = 0; i < lanes; ++i)
      v = b_.CreateInsertElement(v, b_.CreateCall(keep, {b_.CreateExtractElement(x, i)}), i);
    return v;
  }

  // The plain conversion is poison outside the limits; the selects never take it there.
  llvm::Value* SaturatingCast(llvm::Value* x, llvm::Type* type, DType to) {
    const int bits = to.BitWidth();
    const auto limit = [&](int exponent, bool negative) {
      return llvm::ConstantFP::get(x->getType(), std::ldexp(negative ? -1.0 : 1.0, exponent));
    };
    llvm::Constant* zero = llvm::Constant::getNullValue(type);
    if (!to.IsSigned()) {
      llvm::Value* inside =
          b_.CreateSelect(b_.CreateFCmpOGT(x, limit(-1, false)), b_.CreateFPToUI(x, type), zero);
      return b_.CreateSelect(b_.CreateFCmpOGE(x, limit(bits, false)), llvm::Constant::getAllOnesValue(type),
                             inside);
    }
    const llvm::APInt least = llvm::APInt::getSignedMinValue(bits);
    llvm::Value* outside = b_.CreateSelect(b_.CreateFCmpUNO(x, x), zero, llvm::ConstantInt::get(type, least));
    llvm::Value* inside =
        b_.CreateSelect(b_.CreateFCmpOGE(x, limit(bits - 1, true)), b_.CreateFPToSI(x, type), outside);
    return b_.CreateSelect(b_.CreateFCmpOGE(x, limit(bits - 1, false)), llvm::ConstantInt::get(type, ~least),
                           inside);
  }

  const LinearKernel& k_;
  const std::string& symbol_;
  const bool amdgcn_;
  llvm::Module& m_;
  llvm::IRBuilder<> b_;
  llvm::Function* f_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<Loop> loops_;
  absl::flat_hash_map<const UOp*, llvm::Value*> values_;
  absl::flat_hash_map<const UOp*, Place> places_;
  absl::flat_hash_map<int64_t, llvm::Value*> params_;
  absl::flat_hash_map<std::string, llvm::Value*> vars_;
  std::vector<llvm::BasicBlock*> branches_;  // where open IFs go on
  const absl::flat_hash_set<const UOp*> streamed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::Module>> BuildModule(const LinearKernel& kernel,
                                                          const std::string& symbol, const std::string& isa,
                                                          const llvm::DataLayout& layout,
                                                          llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  module->setDataLayout(layout);
  IrBuilder plain(kernel, symbol, isa, *module);
  US_RETURN_IF_ERROR(plain.Build());
  if (isa == "host") {
    auto stores = IrBuilder::Streamable(kernel);
    const bool any = !stores.empty();
    IrBuilder streamed(kernel, symbol, isa, *module, std::move(stores));
    if (any) US_RETURN_IF_ERROR(streamed.Build());
    plain.Wrap(any ? &streamed : nullptr);
  }
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(*module, &stream))
    return absl::InternalError(absl::StrCat("the LLVM module is malformed: ", message));
  return module;
}

}  // namespace understudy
