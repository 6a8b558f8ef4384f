// SPDX-License-Identifier: Apache-2.0
// The metadata note: LLVM AMDGPUUsage, "Code Object V5 Metadata" (V4 and V6 differ in values, not in form).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/runtime/amd/code_object.h"
#include "src/runtime/amd/msgpack.h"

namespace understudy::amd {
namespace {

absl::Status Wrong(const std::string& where, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

const MsgValue* Find(const MsgValue::Map& map, const char* key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

absl::StatusOr<uint32_t> AsU32(const MsgValue& value, const std::string& where) {
  const int64_t* i = std::get_if<int64_t>(&value.v);
  if (i == nullptr || *i < 0 || *i > UINT32_MAX) {
    return Wrong(where,
                 absl::StrCat("is ", i ? absl::StrCat(*i) : value.TypeName(), ", expected 0 to 2^32-1"));
  }
  return static_cast<uint32_t>(*i);
}

absl::StatusOr<uint32_t> U32(const MsgValue::Map& map, const char* key, const std::string& where) {
  const MsgValue* v = Find(map, key);
  if (v == nullptr) return Wrong(where, absl::StrCat("no ", key));
  return AsU32(*v, absl::StrCat(where, " ", key));
}

absl::StatusOr<uint32_t> U32Or(const MsgValue::Map& map, const char* key, const std::string& where,
                               uint32_t otherwise) {
  return Find(map, key) == nullptr ? otherwise : U32(map, key, where);
}

absl::StatusOr<std::string> Text(const MsgValue::Map& map, const char* key, const std::string& where) {
  const MsgValue* v = Find(map, key);
  if (v == nullptr || v->string() == nullptr) return Wrong(where, absl::StrCat("no string ", key));
  return *v->string();
}

absl::StatusOr<KernelArgument> Argument(const MsgValue& value, const std::string& where,
                                        uint32_t kernarg_size) {
  if (value.map() == nullptr) return Wrong(where, absl::StrCat("is ", value.TypeName(), ", expected a map"));
  const MsgValue::Map& map = *value.map();
  KernelArgument arg;
  US_ASSIGN_OR_RETURN(arg.value_kind, Text(map, ".value_kind", where));
  US_ASSIGN_OR_RETURN(arg.offset, U32(map, ".offset", where));
  US_ASSIGN_OR_RETURN(arg.size, U32(map, ".size", where));
  US_ASSIGN_OR_RETURN(arg.pointee_align, U32Or(map, ".pointee_align", where, 0));
  if (const MsgValue* name = Find(map, ".name"); name != nullptr && name->string() != nullptr)
    arg.name = *name->string();
  if (arg.size > kernarg_size || arg.offset > kernarg_size - arg.size) {
    return Wrong(where, absl::StrCat("offset ", arg.offset, " and size ", arg.size,
                                     " exceed the kernarg segment of ", kernarg_size, " bytes"));
  }
  if (arg.pointee_align != 0 && (!IsPow2(arg.pointee_align) || arg.pointee_align > 65536)) {
    return Wrong(where,
                 absl::StrCat(".pointee_align is ", arg.pointee_align, ", expected a power of two to 65536"));
  }
  return arg;
}

absl::Status ApplyKernel(const MsgValue::Map& map, const std::string& where, KernelSymbol& kernel) {
  // The descriptor is what the hardware obeys; metadata that contradicts it describes another kernel.
  US_ASSIGN_OR_RETURN(const uint32_t kernarg_size, U32(map, ".kernarg_segment_size", where));
  if (kernel.descriptor.kernarg_size != 0 && kernel.descriptor.kernarg_size != kernarg_size) {
    return Wrong(where, absl::StrCat(".kernarg_segment_size is ", kernarg_size,
                                     ", the kernel descriptor says ", kernel.descriptor.kernarg_size));
  }
  kernel.descriptor.kernarg_size = kernarg_size;
  US_ASSIGN_OR_RETURN(const uint32_t wave, U32(map, ".wavefront_size", where));
  if (wave != (kernel.descriptor.wave32() ? 32u : 64u)) {
    return Wrong(where, absl::StrCat(".wavefront_size is ", wave, ", the kernel descriptor says ",
                                     kernel.descriptor.wave32() ? 32 : 64));
  }
  US_ASSIGN_OR_RETURN(kernel.kernarg_align, U32(map, ".kernarg_segment_align", where));
  if (!IsPow2(kernel.kernarg_align) || kernel.kernarg_align > 4096) {
    return Wrong(where, absl::StrCat(".kernarg_segment_align is ", kernel.kernarg_align,
                                     ", expected a power of two to 4096"));
  }
  US_ASSIGN_OR_RETURN(kernel.max_flat_workgroup_size, U32Or(map, ".max_flat_workgroup_size", where, 1024));
  if (const MsgValue* reqd = Find(map, ".reqd_workgroup_size")) {
    if (reqd->array() == nullptr || reqd->array()->size() != 3) {
      return Wrong(where, ".reqd_workgroup_size is not an array of 3");
    }
    std::array<uint32_t, 3> size;
    for (int i = 0; i < 3; ++i) {
      US_ASSIGN_OR_RETURN(size[i], AsU32((*reqd->array())[i], absl::StrCat(where, " .reqd_workgroup_size")));
    }
    kernel.reqd_workgroup_size = size;
  }
  const MsgValue* args = Find(map, ".args");
  if (args == nullptr) return absl::OkStatus();
  if (args->array() == nullptr)
    return Wrong(where, absl::StrCat(".args is ", args->TypeName(), ", expected an array"));
  for (size_t i = 0; i < args->array()->size(); ++i) {
    US_ASSIGN_OR_RETURN(KernelArgument arg,
                        Argument((*args->array())[i], absl::StrCat(where, " argument ", i), kernarg_size));
    kernel.args.push_back(std::move(arg));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyMetadata(absl::Span<const uint8_t> msgpack, std::vector<KernelSymbol>* kernels) {
  US_ASSIGN_OR_RETURN(const MsgValue root, ParseMsgPack(msgpack));
  if (root.map() == nullptr) return Wrong("root", absl::StrCat("is ", root.TypeName(), ", expected a map"));
  const MsgValue* version = Find(*root.map(), "amdhsa.version");
  if (version == nullptr || version->array() == nullptr || version->array()->size() != 2) {
    return Wrong("amdhsa.version", "missing, expected an array of 2");
  }
  US_ASSIGN_OR_RETURN(const uint32_t major, AsU32((*version->array())[0], "amdhsa.version major"));
  US_ASSIGN_OR_RETURN(const uint32_t minor, AsU32((*version->array())[1], "amdhsa.version minor"));
  if (major != 1 || minor < 1) {
    return absl::UnimplementedError(
        absl::StrCat("amdhsa.version is ", major, ".", minor, ", expected 1.1 or later"));
  }
  std::vector<bool> described(kernels->size());
  if (const MsgValue* list = Find(*root.map(), "amdhsa.kernels")) {
    if (list->array() == nullptr) return Wrong("amdhsa.kernels", "is not an array");
    for (size_t i = 0; i < list->array()->size(); ++i) {
      const std::string where = absl::StrCat("amdhsa.kernels[", i, "]");
      const MsgValue::Map* map = (*list->array())[i].map();
      if (map == nullptr) return Wrong(where, "is not a map");
      US_ASSIGN_OR_RETURN(const std::string symbol, Text(*map, ".symbol", where));
      const auto it = std::find_if(kernels->begin(), kernels->end(),
                                   [&](const KernelSymbol& k) { return k.name + ".kd" == symbol; });
      if (it == kernels->end())
        return Wrong(where, absl::StrCat(".symbol '", symbol, "' is not a kernel descriptor"));
      if (described[it - kernels->begin()])
        return Wrong(where, absl::StrCat("'", symbol, "' is described twice"));
      described[it - kernels->begin()] = true;
      US_RETURN_IF_ERROR(ApplyKernel(*map, absl::StrCat(where, " (", it->name, ")"), *it));
    }
  }
  for (size_t i = 0; i < kernels->size(); ++i) {
    if (!described[i])
      return Wrong("amdhsa.kernels", absl::StrCat("kernel '", (*kernels)[i].name, "' is missing"));
  }
  return absl::OkStatus();
}

}  // namespace understudy::amd
