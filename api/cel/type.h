// Types of the expression language as the checker sees them, and the shape of the data behind them.
// A type made from a structural schema also says how JSON becomes a value (a string of format
// date-time is a timestamp) and how large it can get (for cost estimates). Immutable; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace krater::cel {

enum class TypeKind : std::uint8_t {
  Dyn,
  Error,  // of a part that did not check; agrees with everything so that it is reported once
  Null,
  Bool,
  Int,
  Uint,
  Double,
  String,
  Bytes,
  Timestamp,
  Duration,
  Type,
  List,    // params: element
  Map,     // params: key, value
  Object,  // named fields
  Opaque,  // optional_type (params: value), kubernetes.Quantity, net.IP, …
  Var,     // a type parameter
};

// How JSON of this type is read where the kind alone does not say it.
enum class DataForm : std::uint8_t { Plain, IntOrString, Date, Unexposed };
enum class ListShape : std::uint8_t { Atomic, Set, Map };

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Field {
  std::string json_name;
  TypePtr type;
  bool exposed = true;  // false: unknown to expressions, but compared
};

struct Type {
  TypeKind kind = TypeKind::Dyn;
  std::string name;  // Object, Opaque, Var
  std::vector<TypePtr> params;
  int var = -1;                                      // Var
  std::map<std::string, Field, std::less<>> fields;  // Object; by the name in expressions

  // Of types made from schemas.
  DataForm form = DataForm::Plain;
  ListShape shape = ListShape::Atomic;
  std::vector<std::string> map_keys;  // ListShape::Map
  bool nullable = false;
  std::int64_t max_elements = -1;        // bytes of a string, items, entries; -1: not known
  std::int64_t min_serialized_size = 1;  // bytes of JSON
};

TypePtr simple_type(TypeKind kind);  // shared; every kind without parameters
TypePtr list_type(TypePtr element);
TypePtr map_type(TypePtr key, TypePtr value);
TypePtr optional_type(TypePtr value);
TypePtr opaque_type(std::string name);
TypePtr type_type(TypePtr of);

bool is_optional(const Type& type);
// As messages show it: "map(string, int)".
std::string text_of(const Type& type);
bool same_type(const Type& a, const Type& b);

}  // namespace krater::cel
