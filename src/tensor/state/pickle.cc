// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/pickle.h"

#include <bit>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "src/tensor/state/byte_reader.h"

namespace understudy::state {
namespace {

using Kind = PickleNode::Kind;

// Opcodes of protocols 2 to 5 (CPython's Lib/pickletools.py), those that torch.save's pickler emits.
enum Opcode : uint8_t {
  kProto = 0x80,
  kStop = '.',
  kMark = '(',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kBinGet = 'h',
  kLongBinGet = 'j',
  kSetItem = 's',
  kSetItems = 'u',
  kAppend = 'a',
  kAppends = 'e',
  kBinPersId = 'Q',
  kFrame = 0x95,
};

bool IsKnownGlobal(const std::string& name) {
  for (const char* known :
       {"collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3",
        "torch._utils._rebuild_parameter", "torch.Size", "torch.device", "torch.storage.UntypedStorage"}) {
    if (name == known) return true;
  }
  // Storages and element types are names only.
  if (!absl::StartsWith(name, "torch.") || name.find('.', 6) != std::string::npos) return false;
  if (absl::EndsWith(name, "Storage")) return true;
  for (const char* type : {"float", "bfloat", "int", "uint", "bool", "complex", "half", "double", "long",
                           "short", "qint", "quint"}) {
    if (absl::StartsWith(name.substr(6), type)) return true;
  }
  return false;
}

class Machine {
 public:
  explicit Machine(absl::Span<const uint8_t> bytes) : in_(bytes, "pickle") {}

  absl::StatusOr<Pickle> Run() {
    for (;;) {
      offset_ = in_.at();
      US_ASSIGN_OR_RETURN(const uint8_t op, in_.Number<uint8_t>());
      if (op == kStop) break;
      US_RETURN_IF_ERROR(Do(op));
    }
    if (stack_.size() != 1 || stack_[0]->kind == Kind::kMark) {
      return in_.Error("STOP with ", stack_.size(), " values on the stack, expected one");
    }
    out_.root = stack_[0];
    return std::move(out_);
  }

 private:
  PickleNode* New(Kind kind) {
    out_.nodes.push_back(std::make_unique<PickleNode>());
    out_.nodes.back()->kind = kind;
    out_.nodes.back()->offset = offset_;
    return out_.nodes.back().get();
  }
  absl::Status PushInt(int64_t v) {
    PickleNode* n = New(Kind::kInt);
    n->integer = v;
    stack_.push_back(n);
    return absl::OkStatus();
  }
  absl::Status PushText(uint64_t size) {
    US_ASSIGN_OR_RETURN(std::string text, in_.Text(size));
    PickleNode* n = New(Kind::kText);
    n->text = std::move(text);
    stack_.push_back(n);
    return absl::OkStatus();
  }
  absl::Status PushGlobal(const std::string& name) {
    if (!IsKnownGlobal(name)) {
      return absl::UnimplementedError(absl::StrCat("pickle: offset ", offset_, ": the global ", name,
                                                   " is not among those that files of tensors need"));
    }
    PickleNode* n = New(Kind::kGlobal);
    n->text = name;
    stack_.push_back(n);
    return absl::OkStatus();
  }
  absl::Status Need(size_t n) {
    if (stack_.size() < n) return Bad("needs ", n, " values on the stack, has ", stack_.size());
    for (size_t i = stack_.size() - n; i < stack_.size(); ++i) {
      if (stack_[i]->kind == Kind::kMark) return Bad("takes a mark for a value");
    }
    return absl::OkStatus();
  }
  PickleNode* Pop() {
    PickleNode* n = stack_.back();
    stack_.pop_back();
    return n;
  }
  // What lies above the last mark, which goes too.
  absl::StatusOr<std::vector<const PickleNode*>> PopToMark() {
    size_t at = stack_.size();
    while (at > 0 && stack_[at - 1]->kind != Kind::kMark) --at;
    if (at == 0) return Bad("needs a mark on the stack");
    std::vector<const PickleNode*> items(stack_.begin() + static_cast<ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    return items;
  }
  absl::Status PushTuple(size_t n) {
    US_RETURN_IF_ERROR(Need(n));
    PickleNode* t = New(Kind::kTuple);
    t->items.assign(stack_.end() - static_cast<ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    stack_.push_back(t);
    return absl::OkStatus();
  }
  absl::Status Put(uint64_t key) {
    US_RETURN_IF_ERROR(Need(1));
    memo_[key] = stack_.back();
    return absl::OkStatus();
  }
  absl::Status Get(uint64_t key) {
    const auto it = memo_.find(key);
    if (it == memo_.end()) return Bad("memo ", key, " is empty");
    stack_.push_back(it->second);
    return absl::OkStatus();
  }
  // The container on top of the stack, of this kind.
  absl::StatusOr<PickleNode*> Top(Kind kind, const char* what) {
    US_RETURN_IF_ERROR(Need(1));
    if (stack_.back()->kind != kind) return Bad("needs a ", what, " on the stack");
    return stack_.back();
  }
  absl::Status SetItems(const std::vector<const PickleNode*>& items) {
    US_ASSIGN_OR_RETURN(PickleNode * dict, Top(Kind::kDict, "dict"));
    if (items.size() % 2 != 0) return Bad("a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) dict->pairs.emplace_back(items[i], items[i + 1]);
    return absl::OkStatus();
  }
  absl::Status Reduce() {
    US_RETURN_IF_ERROR(Need(2));
    PickleNode* arguments = Pop();
    PickleNode* function = Pop();
    if (function->kind != Kind::kGlobal || arguments->kind != Kind::kTuple)
      return Bad("calls what is no global");
    if (function->text == "collections.OrderedDict") {
      if (!arguments->items.empty()) return Bad("OrderedDict with arguments");
      stack_.push_back(New(Kind::kDict));
      return absl::OkStatus();
    }
    PickleNode* call = New(Kind::kCall);
    call->text = function->text;
    call->items = arguments->items;
    stack_.push_back(call);
    return absl::OkStatus();
  }

  absl::Status Do(uint8_t op) {
    switch (op) {
      case kProto: {
        US_ASSIGN_OR_RETURN(const uint8_t version, in_.Number<uint8_t>());
        if (version >= 2 && version <= 5) return absl::OkStatus();
        return absl::UnimplementedError(absl::StrCat("pickle: protocol ", version, ", expected 2 to 5"));
      }
      case kFrame:
        return in_.Number<uint64_t>().status();
      case kMark:
        stack_.push_back(New(Kind::kMark));
        return absl::OkStatus();
      case kNone:
        stack_.push_back(New(Kind::kNone));
        return absl::OkStatus();
      case kEmptyDict:
        stack_.push_back(New(Kind::kDict));
        return absl::OkStatus();
      case kEmptyList:
        stack_.push_back(New(Kind::kList));
        return absl::OkStatus();
      case kEmptyTuple:
        stack_.push_back(New(Kind::kTuple));
        return absl::OkStatus();
      case kNewTrue:
      case kNewFalse: {
        PickleNode* n = New(Kind::kBool);
        n->integer = op == kNewTrue;
        stack_.push_back(n);
        return absl::OkStatus();
      }
      case kBinInt: {
        US_ASSIGN_OR_RETURN(const int32_t v, in_.Number<int32_t>());
        return PushInt(v);
      }
      case kBinInt1: {
        US_ASSIGN_OR_RETURN(const uint8_t v, in_.Number<uint8_t>());
        return PushInt(v);
      }
      case kBinInt2: {
        US_ASSIGN_OR_RETURN(const uint16_t v, in_.Number<uint16_t>());
        return PushInt(v);
      }
      case kLong1: {
        US_ASSIGN_OR_RETURN(const uint8_t n, in_.Number<uint8_t>());
        if (n > 8)
          return absl::UnimplementedError(
              absl::StrCat("pickle: offset ", offset_, ": an integer of ", n, " bytes"));
        US_ASSIGN_OR_RETURN(const auto b, in_.Bytes(n));
        uint64_t v = n > 0 && (b[n - 1] & 0x80) ? ~uint64_t{0} : 0;  // two's complement
        for (size_t i = n; i-- > 0;) v = v << 8 | b[i];
        return PushInt(static_cast<int64_t>(v));
      }
      case kBinFloat: {
        US_ASSIGN_OR_RETURN(const uint64_t v, in_.Number<uint64_t>());
        PickleNode* n = New(Kind::kFloat);
        n->number = std::bit_cast<double>(__builtin_bswap64(v));
        stack_.push_back(n);
        return absl::OkStatus();
      }
      case kBinUnicode: {
        US_ASSIGN_OR_RETURN(const uint32_t n, in_.Number<uint32_t>());
        return PushText(n);
      }
      case kShortBinUnicode: {
        US_ASSIGN_OR_RETURN(const uint8_t n, in_.Number<uint8_t>());
        return PushText(n);
      }
      case kBinUnicode8: {
        US_ASSIGN_OR_RETURN(const uint64_t n, in_.Number<uint64_t>());
        return PushText(n);
      }
      case kTuple: {
        US_ASSIGN_OR_RETURN(auto items, PopToMark());
        PickleNode* t = New(Kind::kTuple);
        t->items = std::move(items);
        stack_.push_back(t);
        return absl::OkStatus();
      }
      case kTuple1:
        return PushTuple(1);
      case kTuple2:
        return PushTuple(2);
      case kTuple3:
        return PushTuple(3);
      case kGlobal: {
        US_ASSIGN_OR_RETURN(const std::string module, in_.Line());
        US_ASSIGN_OR_RETURN(const std::string name, in_.Line());
        return PushGlobal(module + "." + name);
      }
      case kStackGlobal: {
        US_RETURN_IF_ERROR(Need(2));
        const PickleNode* name = Pop();
        const PickleNode* module = Pop();
        if (name->kind != Kind::kText || module->kind != Kind::kText)
          return Bad("a global whose name is no text");
        return PushGlobal(module->text + "." + name->text);
      }
      case kReduce:
        return Reduce();
      case kBuild: {
        // OrderedDict's attributes (torch's `_metadata`) have no part in the values.
        US_RETURN_IF_ERROR(Need(2));
        Pop();
        return Top(Kind::kDict, "dict").status();
      }
      case kBinPut: {
        US_ASSIGN_OR_RETURN(const uint8_t k, in_.Number<uint8_t>());
        return Put(k);
      }
      case kLongBinPut: {
        US_ASSIGN_OR_RETURN(const uint32_t k, in_.Number<uint32_t>());
        return Put(k);
      }
      case kMemoize:
        return Put(memo_.size());
      case kBinGet: {
        US_ASSIGN_OR_RETURN(const uint8_t k, in_.Number<uint8_t>());
        return Get(k);
      }
      case kLongBinGet: {
        US_ASSIGN_OR_RETURN(const uint32_t k, in_.Number<uint32_t>());
        return Get(k);
      }
      case kSetItem: {
        US_RETURN_IF_ERROR(Need(3));
        const PickleNode* value = Pop();
        const PickleNode* key = Pop();
        return SetItems({key, value});
      }
      case kSetItems: {
        US_ASSIGN_OR_RETURN(const auto items, PopToMark());
        return SetItems(items);
      }
      case kAppend: {
        US_RETURN_IF_ERROR(Need(2));
        const PickleNode* item = Pop();
        US_ASSIGN_OR_RETURN(PickleNode * list, Top(Kind::kList, "list"));
        list->items.push_back(item);
        return absl::OkStatus();
      }
      case kAppends: {
        US_ASSIGN_OR_RETURN(const auto items, PopToMark());
        US_ASSIGN_OR_RETURN(PickleNode * list, Top(Kind::kList, "list"));
        list->items.insert(list->items.end(), items.begin(), items.end());
        return absl::OkStatus();
      }
      case kBinPersId: {
        US_RETURN_IF_ERROR(Need(1));
        const PickleNode* id = Pop();
        if (id->kind != Kind::kTuple) return Bad("a persistent id that is no tuple");
        PickleNode* n = New(Kind::kPersistent);
        n->items = id->items;
        stack_.push_back(n);
        return absl::OkStatus();
      }
      default:
        return absl::UnimplementedError(absl::StrCat("pickle: offset ", offset_, ": opcode 0x", absl::Hex(op),
                                                     " is not one that files of tensors have"));
    }
  }

  template <class... A>
  absl::Status Bad(const A&... a) {
    return absl::InvalidArgumentError(absl::StrCat("pickle: offset ", offset_, ": ", a...));
  }

  ByteReader in_;
  size_t offset_ = 0;
  Pickle out_;
  std::vector<PickleNode*> stack_;
  absl::flat_hash_map<uint64_t, PickleNode*> memo_;
};

}  // namespace

absl::StatusOr<Pickle> ReadPickle(absl::Span<const uint8_t> bytes) { return Machine(bytes).Run(); }

}  // namespace understudy::state
