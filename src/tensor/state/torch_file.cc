// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/state/torch_file.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/tensor/state/pickle.h"
#include "src/tensor/state/zip.h"

namespace understudy {
namespace {

using state::PickleNode;
using Kind = PickleNode::Kind;
using Bytes = absl::Span<const uint8_t>;

constexpr int kMaxDepth = 64;

template <class... A>
absl::Status Bad(const A&... a) {
  return absl::InvalidArgumentError(absl::StrCat("torch file: ", a...));
}
template <class... A>
absl::Status Refuse(const A&... a) {
  return absl::UnimplementedError(absl::StrCat("torch file: ", a...));
}

// Storage classes and torch.dtype names of one element type.
struct TypeRow {
  const char* storage;
  const char* dtype;
  DType type;
};
constexpr TypeRow kTypes[] = {
    {"torch.FloatStorage", "torch.float32", dtypes::kFloat32},
    {"torch.DoubleStorage", "torch.float64", dtypes::kFloat64},
    {"torch.HalfStorage", "torch.float16", dtypes::kFloat16},
    {"torch.BFloat16Storage", "torch.bfloat16", dtypes::kBFloat16},
    {"torch.ByteStorage", "torch.uint8", dtypes::kUInt8},
    {"torch.CharStorage", "torch.int8", dtypes::kInt8},
    {"torch.ShortStorage", "torch.int16", dtypes::kInt16},
    {"torch.IntStorage", "torch.int32", dtypes::kInt32},
    {"torch.LongStorage", "torch.int64", dtypes::kInt64},
    {"torch.BoolStorage", "torch.bool", dtypes::kBool},
    {"", "torch.uint16", dtypes::kUInt16},
    {"", "torch.uint32", dtypes::kUInt32},
    {"", "torch.uint64", dtypes::kUInt64},
    {"torch.Float8_e4m3fnStorage", "torch.float8_e4m3fn", dtypes::kFloat8E4M3},
    {"torch.Float8_e5m2Storage", "torch.float8_e5m2", dtypes::kFloat8E5M2},
    {"torch.Float8_e4m3fnuzStorage", "torch.float8_e4m3fnuz", dtypes::kFloat8E4M3Fnuz},
    {"torch.Float8_e5m2fnuzStorage", "torch.float8_e5m2fnuz", dtypes::kFloat8E5M2Fnuz},
};

bool IsInts(const PickleNode& n) {
  return n.kind == Kind::kTuple && std::all_of(n.items.begin(), n.items.end(),
                                               [](const PickleNode* i) { return i->kind == Kind::kInt; });
}
std::vector<int64_t> Ints(const PickleNode& n) {
  std::vector<int64_t> v;
  for (const PickleNode* i : n.items) v.push_back(i->integer);
  return v;
}

class Reader {
 public:
  Reader(const std::map<std::string, Bytes>& archive, std::string prefix)
      : archive_(archive), prefix_(std::move(prefix)) {}

  absl::Status Walk(const std::string& name, const PickleNode& n, int depth) {
    if (depth > kMaxDepth) return Bad("'", name, "' nests deeper than ", kMaxDepth);
    // A small file can name the same containers again and again.
    if (++visits_ > kMaxVisits) return Bad("more than ", kMaxVisits, " values");
    const auto below = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
    switch (n.kind) {
      case Kind::kNone:
        return Scalar(name, {});
      case Kind::kBool:
        return Scalar(name, n.integer != 0);
      case Kind::kInt:
        return Scalar(name, n.integer);
      case Kind::kFloat:
        return Scalar(name, n.number);
      case Kind::kText:
        return Scalar(name, n.text);
      case Kind::kGlobal:
        return Scalar(name, n.text);
      case Kind::kTuple:
      case Kind::kList:
        for (size_t i = 0; i < n.items.size(); ++i) {
          US_RETURN_IF_ERROR(Walk(below(absl::StrCat(i)), *n.items[i], depth + 1));
        }
        return absl::OkStatus();
      case Kind::kDict:
        for (const auto& [key, value] : n.pairs) {
          std::string text;
          if (key->kind == Kind::kText)
            text = key->text;
          else if (key->kind == Kind::kInt)
            text = absl::StrCat(key->integer);
          else
            return Refuse("'", name, "' has a key that is neither text nor an integer (pickle offset ",
                          key->offset, ")");
          US_RETURN_IF_ERROR(Walk(below(text), *value, depth + 1));
        }
        return absl::OkStatus();
      case Kind::kCall:
        return Call(name, n, depth);
      default:
        return Refuse("'", name, "' is a storage without a tensor (pickle offset ", n.offset, ")");
    }
  }

  TorchFile Take() { return std::move(out_); }

 private:
  static constexpr int64_t kMaxVisits = 1 << 22;

  absl::Status Own(const std::string& name) {
    if (!names_.insert(name).second) return Bad("two values are named '", name, "'");
    return absl::OkStatus();
  }
  absl::Status Scalar(const std::string& name, TorchScalar value) {
    US_RETURN_IF_ERROR(Own(name));
    out_.scalars.emplace(name, std::move(value));
    return absl::OkStatus();
  }

  absl::Status Call(const std::string& name, const PickleNode& n, int depth) {
    const auto& a = n.items;
    if (n.text == "torch._utils._rebuild_parameter" && !a.empty()) return Walk(name, *a[0], depth + 1);
    if (n.text == "torch.Size" && a.size() == 1) return Walk(name, *a[0], depth + 1);
    if (n.text == "torch.device" && !a.empty()) return Walk(name, *a[0], depth + 1);
    const bool v3 = n.text == "torch._utils._rebuild_tensor_v3";
    if (!v3 && n.text != "torch._utils._rebuild_tensor_v2") {
      return Refuse("'", name, "' is made by ", n.text, " (pickle offset ", n.offset, ")");
    }
    if (a.size() < (v3 ? 7u : 4u) || a[0]->kind != Kind::kPersistent || a[1]->kind != Kind::kInt ||
        !IsInts(*a[2]) || !IsInts(*a[3]) || (v3 && a[6]->kind != Kind::kGlobal)) {
      return Bad("'", name, "': a tensor with other arguments (pickle offset ", n.offset, ")");
    }
    TorchEntry e;
    e.name = name;
    e.offset = a[1]->integer;
    e.shape = Ints(*a[2]);
    e.strides = Ints(*a[3]);
    US_RETURN_IF_ERROR(SetStorage(*a[0], v3 ? a[6]->text : "", &e));
    US_RETURN_IF_ERROR(CheckView(e));
    US_RETURN_IF_ERROR(Own(name));
    out_.entries.push_back(std::move(e));
    return absl::OkStatus();
  }

  // ('storage', class, key, location, numel). `dtype`: of the tensor, where the storage is untyped.
  absl::Status SetStorage(const PickleNode& id, const std::string& dtype, TorchEntry* e) {
    const auto& p = id.items;
    if (p.size() != 5 || p[0]->kind != Kind::kText || p[0]->text != "storage" ||
        p[1]->kind != Kind::kGlobal || p[2]->kind != Kind::kText || p[4]->kind != Kind::kInt) {
      return Bad("'", e->name, "': a storage with other arguments (pickle offset ", id.offset, ")");
    }
    const std::string& type = dtype.empty() ? p[1]->text : dtype;
    for (const TypeRow& row : kTypes) {
      if (type == (dtype.empty() ? row.storage : row.dtype)) e->dtype = row.type;
    }
    if (e->dtype.IsVoid()) return Refuse("'", e->name, "' has elements of ", type);
    const auto it = archive_.find(prefix_ + "data/" + p[2]->text);
    if (it == archive_.end())
      return Bad("'", e->name, "': the archive has no entry ", prefix_, "data/", p[2]->text);
    e->storage = it->second;
    const uint64_t width = dtype.empty() ? e->dtype.SizeBytes() : 1;
    const auto numel = static_cast<uint64_t>(p[4]->integer);
    if (p[4]->integer < 0 || numel > e->storage.size() / width || numel * width != e->storage.size()) {
      return Bad("'", e->name, "': storage ", p[2]->text, " of ", p[4]->integer, " elements has ",
                 e->storage.size(), " bytes");
    }
    return absl::OkStatus();
  }

  static absl::Status CheckView(const TorchEntry& e) {
    const std::string what = "torch file: '" + e.name + "'";
    US_ASSIGN_OR_RETURN(const int64_t n, state::CheckedElements(what, e.shape));
    US_RETURN_IF_ERROR(state::CheckedBytes(what, e.shape, e.dtype.SizeBytes()).status());
    if (e.strides.size() != e.shape.size())
      return Bad("'", e.name, "': ", e.strides.size(), " strides of ", e.shape.size(), " axes");
    if (e.offset < 0) return Bad("'", e.name, "': begins at ", e.offset);
    int64_t last = e.offset;
    bool overflow = false;
    for (size_t i = 0; i < e.shape.size(); ++i) {
      if (e.strides[i] < 0) return Refuse("'", e.name, "' has a stride of ", e.strides[i]);
      int64_t reach = 0;
      overflow |= n > 0 && __builtin_mul_overflow(e.shape[i] - 1, e.strides[i], &reach);
      overflow |= n > 0 && __builtin_add_overflow(last, reach, &last);
    }
    const uint64_t have = e.storage.size() / static_cast<uint64_t>(e.dtype.SizeBytes());
    if (n > 0 && (overflow || static_cast<uint64_t>(last) >= have)) {
      return Bad("'", e.name, "': its view goes beyond the ", have, " elements of its storage");
    }
    return absl::OkStatus();
  }

  const std::map<std::string, Bytes>& archive_;
  const std::string prefix_;
  TorchFile out_;
  std::set<std::string> names_;
  int64_t visits_ = 0;
};

}  // namespace

absl::StatusOr<TorchFile> ParseTorchFile(Bytes file) {
  // The older format is a pickle of a magic number: PROTO 2, LONG1 of ten bytes.
  if (file.size() > 4 && file[0] == 0x80 && file[2] == 0x8a && file[3] == 10) {
    return Refuse("the format of PyTorch before 1.6 (no zip archive)");
  }
  US_ASSIGN_OR_RETURN(const auto archive, state::ReadZip(file));
  // All entries lie in one folder, named by who saved the file.
  std::optional<std::string> prefix;
  for (const auto& [name, bytes] : archive) {
    if (absl::EndsWith(name, "/data.pkl") && name.find('/') == name.size() - 9) {
      if (prefix) return Bad("the entries ", *prefix, "data.pkl and ", name);
      prefix = name.substr(0, name.size() - 8);
    }
  }
  if (!prefix) return Bad("the archive has no entry */data.pkl");
  if (archive.contains(*prefix + "constants.pkl")) return Refuse("a TorchScript program");
  if (const auto order = archive.find(*prefix + "byteorder"); order != archive.end()) {
    const std::string text(order->second.begin(), order->second.end());
    if (text != "little") return Refuse("byte order '", text, "', expected little");
  }
  US_ASSIGN_OR_RETURN(const state::Pickle pickle, state::ReadPickle(archive.at(*prefix + "data.pkl")));
  Reader reader(archive, *prefix);
  US_RETURN_IF_ERROR(reader.Walk("", *pickle.root, 0));
  return reader.Take();
}

absl::StatusOr<std::vector<uint8_t>> TorchElements(const TorchEntry& e, uint64_t most) {
  const auto width = static_cast<size_t>(e.dtype.SizeBytes());
  uint64_t n = 1;
  for (const int64_t d : e.shape) n *= static_cast<uint64_t>(d);
  if (n * width > most && n * width > e.storage.size()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("torch file: '", e.name, "' repeats its storage to ", n * width, " bytes"));
  }
  std::vector<uint8_t> out(n * width);
  if (n == 0) return out;
  // The longest contiguous run at the end is copied at once.
  size_t rank = e.shape.size();
  size_t run = 1;
  while (rank > 0 && (e.shape[rank - 1] == 1 || e.strides[rank - 1] == static_cast<int64_t>(run))) {
    run *= static_cast<size_t>(e.shape[--rank]);
  }
  std::vector<int64_t> at(rank, 0);
  int64_t place = e.offset;
  for (size_t i = 0; i < n; i += run) {
    std::memcpy(out.data() + i * width, e.storage.data() + static_cast<size_t>(place) * width, run * width);
    for (size_t k = rank; k-- > 0;) {
      place += e.strides[k];
      if (++at[k] < e.shape[k]) break;
      place -= e.strides[k] * e.shape[k];
      at[k] = 0;
    }
  }
  // Python's bool is one byte; only 0 and 1 are elements.
  if (e.dtype.IsBool()) {
    for (uint8_t& b : out) b = b != 0;
  }
  return out;
}

absl::StatusOr<StateDict> LoadTorchFile(const std::string& path, const std::string& device) {
  US_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  US_ASSIGN_OR_RETURN(const TorchFile parsed, ParseTorchFile(file.bytes()));
  StateDict out;
  for (const TorchEntry& e : parsed.entries) {
    US_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, TorchElements(e));
    Tensor t = Tensor::FromBytes(std::move(bytes), e.dtype, e.shape, device);
    US_RETURN_IF_ERROR(t.status());
    out.push_back({e.name, std::move(t)});
  }
  return out;
}

}  // namespace understudy
