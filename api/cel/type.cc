#include "api/cel/type.h"

#include <array>

namespace krater::cel {
namespace {

TypePtr make(TypeKind kind, std::string name, std::vector<TypePtr> params) {
  auto type = std::make_shared<Type>();
  type->kind = kind;
  type->name = std::move(name);
  type->params = std::move(params);
  return type;
}

std::string_view plain_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::Dyn:
      return "dyn";
    case TypeKind::Error:
      return "!error!";
    case TypeKind::Null:
      return "null";
    case TypeKind::Bool:
      return "bool";
    case TypeKind::Int:
      return "int";
    case TypeKind::Uint:
      return "uint";
    case TypeKind::Double:
      return "double";
    case TypeKind::String:
      return "string";
    case TypeKind::Bytes:
      return "bytes";
    case TypeKind::Timestamp:
      return "timestamp";
    case TypeKind::Duration:
      return "duration";
    case TypeKind::Type:
      return "type";
    case TypeKind::List:
      return "list";
    case TypeKind::Map:
      return "map";
    case TypeKind::Object:
    case TypeKind::Opaque:
    case TypeKind::Var:
      return "";
  }
  return "";
}

constexpr std::size_t kKinds = static_cast<std::size_t>(TypeKind::Var) + 1;

}  // namespace

TypePtr simple_type(TypeKind kind) {
  static const std::array<TypePtr, kKinds> types = [] {
    std::array<TypePtr, kKinds> out;
    for (std::size_t i = 0; i < kKinds; ++i) out[i] = make(static_cast<TypeKind>(i), "", {});
    return out;
  }();
  return types[static_cast<std::size_t>(kind)];
}

TypePtr list_type(TypePtr element) {
  return make(TypeKind::List, "", {std::move(element)});
}
TypePtr map_type(TypePtr key, TypePtr value) {
  return make(TypeKind::Map, "", {std::move(key), std::move(value)});
}
TypePtr optional_type(TypePtr value) {
  return make(TypeKind::Opaque, "optional_type", {std::move(value)});
}
TypePtr opaque_type(std::string name) {
  return make(TypeKind::Opaque, std::move(name), {});
}
TypePtr type_type(TypePtr of) {
  return make(TypeKind::Type, "", {std::move(of)});
}

bool is_optional(const Type& type) {
  return type.kind == TypeKind::Opaque && type.name == "optional_type";
}

std::string text_of(const Type& type) {
  std::string out = type.name.empty() ? std::string(plain_name(type.kind)) : type.name;
  if (type.params.empty()) return out;
  out += '(';
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    if (i > 0) out += ", ";
    out += text_of(*type.params[i]);
  }
  return out + ')';
}

bool same_type(const Type& a, const Type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.name != b.name || a.var != b.var ||
      a.params.size() != b.params.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!same_type(*a.params[i], *b.params[i])) return false;
  }
  return true;
}

}  // namespace krater::cel
