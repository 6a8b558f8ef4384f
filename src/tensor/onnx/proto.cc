// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/proto.h"

#include "absl/strings/str_join.h"

namespace understudy::onnx {
namespace {

// One function a message: reads the fields that the importer needs, skips the rest.
absl::Status Read(WireReader r, TensorProto* out);
absl::Status Read(WireReader r, GraphProto* out);
absl::Status Read(WireReader r, TypeProto* out);
absl::Status Read(WireReader r, AttributeProto* out);
absl::Status Read(WireReader r, NodeProto* out);
absl::Status Read(WireReader r, Dimension* out);
absl::Status Read(WireReader r, ValueInfoProto* out);
absl::Status Read(WireReader r, FunctionProto* out);

template <class T>
absl::Status Append(const WireReader& r, const WireField& f, const char* message, std::vector<T>* out) {
  US_ASSIGN_OR_RETURN(const WireReader inside, r.Inside(f, message));
  out->emplace_back();
  return Read(inside, &out->back());
}
template <class T>
absl::Status Single(const WireReader& r, const WireField& f, const char* message,
                    std::shared_ptr<const T>* out) {
  US_ASSIGN_OR_RETURN(const WireReader inside, r.Inside(f, message));
  auto value = std::make_shared<T>();
  US_RETURN_IF_ERROR(Read(inside, value.get()));
  *out = std::move(value);
  return absl::OkStatus();
}

absl::Status ReadStringPair(const WireReader& r, const WireField& f,
                            std::map<std::string, std::string>* out) {
  US_ASSIGN_OR_RETURN(WireReader inside, r.Inside(f, "StringStringEntryProto"));
  std::string key, value;
  US_RETURN_IF_ERROR(inside.Each([&](const WireField& g) -> absl::Status {
    if (g.number == 1) return g.Text(&key);
    if (g.number == 2) return g.Text(&value);
    return absl::OkStatus();
  }));
  (*out)[key] = value;
  return absl::OkStatus();
}

absl::Status ReadOpset(const WireReader& r, const WireField& f, OpsetImports* out) {
  US_ASSIGN_OR_RETURN(WireReader inside, r.Inside(f, "OperatorSetIdProto"));
  std::string domain;
  int64_t version = 0;
  US_RETURN_IF_ERROR(inside.Each([&](const WireField& g) -> absl::Status {
    if (g.number == 1) return g.Text(&domain);
    if (g.number == 2) return g.Int(&version);
    return absl::OkStatus();
  }));
  (*out)[domain == "ai.onnx" ? "" : domain] = version;
  return absl::OkStatus();
}

absl::Status Read(WireReader r, TensorProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return f.Ints(&out->dims);
      case 2:
        return f.Int(&out->data_type);
      case 3:
        return f.Error("segments are not read");
      case 4:
        return f.Floats(&out->floats);
      case 5:
        return f.Ints(&out->int32s);
      case 6:
        return f.Texts(&out->strings);
      case 7:
        return f.Ints(&out->int64s);
      case 8:
        return f.Text(&out->name);
      case 9:
        out->raw.emplace();
        return f.Raw(&*out->raw);
      case 10:
        return f.Doubles(&out->doubles);
      case 11:
        return f.Ints(&out->uint64s);
      case 13:
        return ReadStringPair(r, f, &out->external_data);
      case 14: {
        int32_t location = 0;
        US_RETURN_IF_ERROR(f.Int(&location));
        out->external = location == 1;
        return absl::OkStatus();
      }
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, AttributeProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return f.Text(&out->name);
      case 2:
        return f.Float(&out->f);
      case 3:
        return f.Int(&out->i);
      case 4:
        return f.Text(&out->s);
      case 5:
        return Single(r, f, "TensorProto", &out->t);
      case 6:
        return Single(r, f, "GraphProto", &out->g);
      case 7:
        return f.Floats(&out->floats);
      case 8:
        return f.Ints(&out->ints);
      case 9:
        return f.Texts(&out->strings);
      case 10:
        return Append(r, f, "TensorProto", &out->tensors);
      case 14:
        return Single(r, f, "TypeProto", &out->tp);
      case 20:
        return f.Int(&out->type);
      case 21:
        return f.Text(&out->ref_attr_name);
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, NodeProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return f.Texts(&out->inputs);
      case 2:
        return f.Texts(&out->outputs);
      case 3:
        return f.Text(&out->name);
      case 4:
        return f.Text(&out->op_type);
      case 5:
        return Append(r, f, "AttributeProto", &out->attributes);
      case 7:
        US_RETURN_IF_ERROR(f.Text(&out->domain));
        if (out->domain == "ai.onnx") out->domain.clear();
        return absl::OkStatus();
      case 8:
        return f.Text(&out->overload);
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, Dimension* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        out->value.emplace();
        return f.Int(&*out->value);
      case 2:
        return f.Text(&out->param);
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status ReadTensorType(WireReader r, TypeProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    if (f.number == 1) return f.Int(&out->elem_type);
    if (f.number != 2) return absl::OkStatus();
    US_ASSIGN_OR_RETURN(WireReader shape, r.Inside(f, "TensorShapeProto"));
    out->dims.emplace();
    return shape.Each([&](const WireField& g) -> absl::Status {
      return g.number == 1 ? Append(shape, g, "Dimension", &*out->dims) : absl::OkStatus();
    });
  });
}

absl::Status Read(WireReader r, TypeProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    using Kind = TypeProto::Kind;
    switch (f.number) {
      case 1: {
        out->kind = Kind::kTensor;
        US_ASSIGN_OR_RETURN(const WireReader inside, r.Inside(f, "TypeProto.Tensor"));
        return ReadTensorType(inside, out);
      }
      case 4:
      case 9: {
        out->kind = f.number == 4 ? Kind::kSequence : Kind::kOptional;
        US_ASSIGN_OR_RETURN(WireReader inside, r.Inside(f, "TypeProto.Sequence"));
        return inside.Each([&](const WireField& g) -> absl::Status {
          return g.number == 1 ? Single(inside, g, "TypeProto", &out->elem) : absl::OkStatus();
        });
      }
      case 5:
        out->kind = Kind::kMap;
        return absl::OkStatus();
      case 7:
        out->kind = Kind::kOpaque;
        return absl::OkStatus();
      case 8:
        out->kind = Kind::kSparse;
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, ValueInfoProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    if (f.number == 1) return f.Text(&out->name);
    if (f.number != 2) return absl::OkStatus();
    US_ASSIGN_OR_RETURN(const WireReader inside, r.Inside(f, "TypeProto"));
    return Read(inside, &out->type);
  });
}

absl::Status Read(WireReader r, GraphProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return Append(r, f, "NodeProto", &out->nodes);
      case 2:
        return f.Text(&out->name);
      case 5:
        return Append(r, f, "TensorProto", &out->initializers);
      case 11:
        return Append(r, f, "ValueInfoProto", &out->inputs);
      case 12:
        return Append(r, f, "ValueInfoProto", &out->outputs);
      case 15:
        ++out->sparse_initializers;
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, FunctionProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return f.Text(&out->name);
      case 4:
        return f.Texts(&out->inputs);
      case 5:
        return f.Texts(&out->outputs);
      case 6:
        return f.Texts(&out->attributes);
      case 7:
        return Append(r, f, "NodeProto", &out->nodes);
      case 9:
        return ReadOpset(r, f, &out->opsets);
      case 10:
        US_RETURN_IF_ERROR(f.Text(&out->domain));
        if (out->domain == "ai.onnx") out->domain.clear();
        return absl::OkStatus();
      case 11:
        return Append(r, f, "AttributeProto", &out->attribute_defaults);
      case 13:
        return f.Text(&out->overload);
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status Read(WireReader r, ModelProto* out) {
  return r.Each([&](const WireField& f) -> absl::Status {
    switch (f.number) {
      case 1:
        return f.Int(&out->ir_version);
      case 2:
        return f.Text(&out->producer_name);
      case 3:
        return f.Text(&out->producer_version);
      case 7: {
        US_ASSIGN_OR_RETURN(const WireReader inside, r.Inside(f, "GraphProto"));
        if (!out->graph) out->graph.emplace();
        return Read(inside, &*out->graph);
      }
      case 8:
        return ReadOpset(r, f, &out->opsets);
      case 25:
        return Append(r, f, "FunctionProto", &out->functions);
      default:
        return absl::OkStatus();
    }
  });
}

}  // namespace

std::string TypeText(const TypeProto& t) {
  switch (t.kind) {
    case TypeProto::Kind::kNone:
      return "no type";
    case TypeProto::Kind::kSequence:
      return "sequence of " + (t.elem ? TypeText(*t.elem) : "no type");
    case TypeProto::Kind::kOptional:
      return "optional " + (t.elem ? TypeText(*t.elem) : "no type");
    case TypeProto::Kind::kMap:
      return "map";
    case TypeProto::Kind::kSparse:
      return "sparse tensor";
    case TypeProto::Kind::kOpaque:
      return "opaque";
    case TypeProto::Kind::kTensor:
      break;
  }
  std::string text = ElemTypeName(static_cast<ElemType>(t.elem_type));
  if (!t.dims) return text + "[...]";
  std::vector<std::string> dims;
  for (const Dimension& d : *t.dims) {
    dims.push_back(d.value ? absl::StrCat(*d.value) : d.param.empty() ? "?" : d.param);
  }
  return absl::StrCat(text, "[", absl::StrJoin(dims, ","), "]");
}

absl::StatusOr<ModelProto> ParseModel(Bytes file) {
  ModelProto model;
  US_RETURN_IF_ERROR(Read(WireReader(file, 0, "ModelProto"), &model));
  return model;
}

absl::StatusOr<TensorProto> ParseTensor(Bytes file) {
  TensorProto tensor;
  US_RETURN_IF_ERROR(Read(WireReader(file, 0, "TensorProto"), &tensor));
  return tensor;
}

}  // namespace understudy::onnx
