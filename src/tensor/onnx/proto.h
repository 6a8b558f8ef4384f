// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's messages (onnx/onnx.proto of the ONNX project gives names and field numbers) as plain structs, read
// by wire.h. The importer and the test runner read them; nothing here knows operators or makes tensors.
// Elements stay where they are in the file: structs point into it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/dtype/dtype.h"
#include "src/tensor/onnx/wire.h"
#include "src/uop/uop.h"

namespace understudy::onnx {

// TensorProto.DataType. Types that the compiler lacks are held in the type of the last column, one value an
// element: integers below 8 bits in 8, FLOAT4E2M1 and FLOAT8E8M0 in a float that has all their values.
#define UNDERSTUDY_ONNX_TYPES(X)                                                                             \
  X(Float, 1, "FLOAT", 32, kFloat32)                                                                         \
  X(UInt8, 2, "UINT8", 8, kUInt8) X(Int8, 3, "INT8", 8, kInt8) X(UInt16, 4, "UINT16", 16, kUInt16)           \
      X(Int16, 5, "INT16", 16, kInt16) X(Int32, 6, "INT32", 32, kInt32) X(Int64, 7, "INT64", 64, kInt64)     \
          X(String, 8, "STRING", 0, kVoid) X(Bool, 9, "BOOL", 8, kBool)                                      \
              X(Float16, 10, "FLOAT16", 16, kFloat16) X(Double, 11, "DOUBLE", 64, kFloat64)                  \
                  X(UInt32, 12, "UINT32", 32, kUInt32) X(UInt64, 13, "UINT64", 64, kUInt64)                  \
                      X(Complex64, 14, "COMPLEX64", 0, kVoid) X(Complex128, 15, "COMPLEX128", 0, kVoid)      \
                          X(BFloat16, 16, "BFLOAT16", 16, kBFloat16)                                         \
                              X(Float8E4M3Fn, 17, "FLOAT8E4M3FN", 8, kFloat8E4M3)                            \
                                  X(Float8E4M3Fnuz, 18, "FLOAT8E4M3FNUZ", 8, kFloat8E4M3Fnuz)                \
                                      X(Float8E5M2, 19, "FLOAT8E5M2", 8, kFloat8E5M2)                        \
                                          X(Float8E5M2Fnuz, 20, "FLOAT8E5M2FNUZ", 8, kFloat8E5M2Fnuz)        \
                                              X(UInt4, 21, "UINT4", 4, kUInt8) X(Int4, 22, "INT4", 4, kInt8) \
                                                  X(Float4E2M1, 23, "FLOAT4E2M1", 4, kFloat16)               \
                                                      X(Float8E8M0, 24, "FLOAT8E8M0", 8, kFloat32)           \
                                                          X(UInt2, 25, "UINT2", 2, kUInt8)                   \
                                                              X(Int2, 26, "INT2", 2, kInt8)
enum class ElemType : int32_t {
  kUndefined = 0,
#define X(id, number, text, bits, held) k##id = number,
  UNDERSTUDY_ONNX_TYPES(X)
#undef X
};
std::string ElemTypeName(ElemType t);  // "FLOAT"; "type 99"
// What its elements are held in; kVoid for types that are refused.
DType HeldIn(ElemType t);
// Bits of an element in raw data; 0 for types that are refused.
int RawBits(ElemType t);
// The ONNX type of a compiler's type (every one has one but index and void).
ElemType ElemTypeOf(DType t);

struct TensorProto {
  std::string name;
  Shape dims;
  int32_t data_type = 0;
  std::optional<Bytes> raw;  // "raw_data"
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<uint64_t> uint64s;
  std::vector<std::string> strings;
  bool external = false;
  std::map<std::string, std::string> external_data;  // location, offset, length

  ElemType type() const { return static_cast<ElemType>(data_type); }
};

struct GraphProto;
struct TypeProto;

struct AttributeProto {
  std::string name, ref_attr_name;
  int32_t type = 0;  // 1 FLOAT, 2 INT, 3 STRING, 4 TENSOR, 5 GRAPH, 6 FLOATS, 7 INTS, 8 STRINGS ...
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::shared_ptr<const TensorProto> t;
  std::shared_ptr<const GraphProto> g;
  std::shared_ptr<const TypeProto> tp;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<TensorProto> tensors;
};

struct NodeProto {
  std::string name, op_type, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct Dimension {
  std::optional<int64_t> value;
  std::string param;
};
struct TypeProto {
  enum class Kind { kNone, kTensor, kSequence, kOptional, kMap, kSparse, kOpaque };
  Kind kind = Kind::kNone;
  int32_t elem_type = 0;                       // kTensor
  std::optional<std::vector<Dimension>> dims;  // kTensor; none: any rank
  std::shared_ptr<const TypeProto> elem;       // kSequence, kOptional
};
// "FLOAT[2,n]", "sequence of FLOAT[]".
std::string TypeText(const TypeProto& t);

struct ValueInfoProto {
  std::string name;
  TypeProto type;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  int64_t sparse_initializers = 0;
  std::vector<ValueInfoProto> inputs, outputs;
};

// Operator set versions by domain ("" is ONNX's own, also written "ai.onnx").
using OpsetImports = std::map<std::string, int64_t>;

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<AttributeProto> attribute_defaults;
  std::vector<NodeProto> nodes;
  OpsetImports opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string producer_name, producer_version;
  OpsetImports opsets;
  std::optional<GraphProto> graph;
  std::vector<FunctionProto> functions;
};

// The structs point into `file`, which must outlive them. InvalidArgument with offset, message and field.
absl::StatusOr<ModelProto> ParseModel(Bytes file);
absl::StatusOr<TensorProto> ParseTensor(Bytes file);

// The elements of a tensor as HeldIn(type) stores them, row-major. Refused with the tensor's name: types that
// are not held, counts that do not fit the dimensions, external data (unless `external` has its bytes).
absl::StatusOr<std::vector<uint8_t>> Elements(const TensorProto& t,
                                              std::optional<Bytes> external = std::nullopt);

}  // namespace understudy::onnx
