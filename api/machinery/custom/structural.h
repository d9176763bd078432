// A structural schema in memory: what a user's definition says of one value, with all that lies
// below it. Pruning, defaulting, validation, ownership and rules walk along it. Immutable after
// reading; any thread.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace krater::api {

struct Structural;

enum class JsonType : std::uint8_t { None, Object, Array, String, Integer, Number, Boolean };
enum class ListKind : std::uint8_t { Atomic, Set, Map };

// "object", …; "" for None.
std::string_view type_name(JsonType type);
JsonType json_type(std::string_view name);

// What a value must fulfil beyond its type.
struct ValueChecks {
  std::string format;        // as written; "" where Kubernetes ignores it
  std::vector<Json> values;  // enum; empty: any
  std::optional<double> minimum, maximum, multiple_of;
  bool minimum_excluded = false, maximum_excluded = false;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::string pattern_text;
  std::unique_ptr<const re2::RE2> pattern;  // null when there is none, or it is no expression
  std::vector<std::string> required;
  std::vector<Structural> all_of, any_of, one_of;
  std::unique_ptr<const Structural> none_of;
};

struct Structural {
  struct Member;

  Structural();
  ~Structural();
  Structural(Structural&&) noexcept;
  Structural& operator=(Structural&&) noexcept;

  JsonType type = JsonType::None;
  ListKind list = ListKind::Atomic;
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded = false;    // a whole object: apiVersion, kind and metadata are legal
  bool any_values = false;  // additionalProperties: true
  bool atomic_map = false;
  std::vector<std::string> map_keys;          // of a list of kind Map
  std::vector<Member> properties;             // sorted by name
  std::unique_ptr<const Structural> items;    // of an array
  std::unique_ptr<const Structural> values;   // additionalProperties
  std::shared_ptr<const Json> default_value;  // null: none
  std::unique_ptr<const ValueChecks> checks;  // null: none

  const Structural* property(std::string_view name) const;
};

struct Structural::Member {
  std::string name;
  Structural schema;
};

// Reads an openAPIV3Schema. What is not structural is read as far as it goes: definitions are
// checked by check_definition() before.
Structural read_structural(const Json& schema);

}  // namespace krater::api
