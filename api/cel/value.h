// A value of the expression language. Small values are copied, lists and maps are shared and never
// change; lists and maps that come from JSON are read in place: the document and the type they were
// made with must outlive them. A failure is a value too (Kind::Error), because `||` and `&&` may
// still absorb it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/cel/type.h"
#include "base/json.h"

namespace krater::cel {

class Value;
struct ListData;
struct MapData;

// Between 0001-01-01 and 9999-12-31, where checked.
struct Timestamp {
  std::int64_t seconds = 0;  // since 1970
  std::int32_t nanos = 0;    // 0..999999999
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};
struct Nanoseconds {
  std::int64_t count = 0;
  friend auto operator<=>(const Nanoseconds&, const Nanoseconds&) = default;
};

// Values of the Kubernetes libraries: quantities, addresses, URLs.
class Opaque {
 public:
  virtual ~Opaque() = default;
  virtual std::string_view type_name() const = 0;
  virtual bool equals(const Opaque& other) const = 0;  // of the same type name
  virtual std::uint64_t size() const { return 1; }     // for costs
};

// A map whose values are made when they are asked for.
class LazyFields {
 public:
  virtual ~LazyFields() = default;
  virtual std::optional<Value> field(std::string_view name) const = 0;  // nullopt: no such field
};

class Value {
 public:
  enum class Kind : std::uint8_t {
    Error,
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
    List,
    Map,
    Optional,
    Opaque,
    Unexposed,  // JSON that the schema preserves without a type: can only be compared
  };

  Value() = default;  // null
  static Value error(std::string message);
  static Value of(bool value) { return Value(Kind::Bool, value); }
  static Value of(std::int64_t value) { return Value(Kind::Int, value); }
  static Value of(std::uint64_t value) { return Value(Kind::Uint, value); }
  static Value of(double value) { return Value(Kind::Double, value); }
  static Value of(Timestamp value) { return Value(Kind::Timestamp, value); }
  static Value of(Nanoseconds value) { return Value(Kind::Duration, value); }
  static Value of(const char*) = delete;
  static Value string(std::string value);
  static Value bytes(std::string value);
  // Text that outlives the value.
  static Value string_view_of(std::string_view value);
  static Value type(std::string name);
  static Value list(std::vector<Value> items);
  // Of a repeated key the last entry stays.
  static Value map(std::vector<std::pair<Value, Value>> entries);
  static Value some(Value value);
  static Value none() { return Value(Kind::Optional, std::shared_ptr<const Value>()); }
  static Value opaque(std::shared_ptr<const Opaque> value);
  // Outlived by `fields`. Has no keys and no size; only its fields can be selected.
  static Value lazy(const LazyFields& fields);
  // `type` nullptr: as the JSON says it.
  static Value from_json(const Json& json, const Type* type);

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::Error; }
  bool is(bool truth) const { return kind_ == Kind::Bool && std::get<bool>(data_) == truth; }
  bool as_bool() const { return std::get<bool>(data_); }
  std::int64_t as_int() const { return std::get<std::int64_t>(data_); }
  std::uint64_t as_uint() const { return std::get<std::uint64_t>(data_); }
  double as_double() const { return std::get<double>(data_); }
  Timestamp as_timestamp() const { return std::get<Timestamp>(data_); }
  std::int64_t as_nanos() const { return std::get<Nanoseconds>(data_).count; }
  // Of a string, bytes, an error's message, a type's name.
  std::string_view text() const { return std::get<Text>(data_).view; }
  const Value* contained() const {  // of an optional; nullptr: none
    return std::get<std::shared_ptr<const Value>>(data_).get();
  }
  template <typename T>
  const T& opaque_as() const {
    return static_cast<const T&>(*std::get<std::shared_ptr<const Opaque>>(data_));
  }
  const Opaque& as_opaque() const { return *std::get<std::shared_ptr<const Opaque>>(data_); }
  const Json& unexposed() const { return *std::get<const Json*>(data_); }

  // Lists and maps.
  std::size_t size() const;
  Value at(std::size_t index) const;                        // of a list
  std::optional<Value> find(const Value& key) const;        // of a map; nullopt: no such key
  std::optional<Value> field(std::string_view name) const;  // of a map or an object
  std::vector<Value> keys() const;                          // of a map
  bool is_object() const;                                   // a map with declared fields
  const ListData& list_data() const { return *std::get<std::shared_ptr<const ListData>>(data_); }
  const MapData& map_data() const { return *std::get<std::shared_ptr<const MapData>>(data_); }

  // What size() and costs count: code points, bytes, items, entries; 1 for everything else.
  std::uint64_t cost_size() const;
  // The name that type() answers: "int", "google.protobuf.Timestamp".
  std::string type_name() const;

 private:
  struct Text {
    std::shared_ptr<const std::string> owned;
    std::string_view view;
  };
  using Data =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Text, Timestamp,
                   Nanoseconds, std::shared_ptr<const ListData>, std::shared_ptr<const MapData>,
                   std::shared_ptr<const Value>, std::shared_ptr<const Opaque>, const Json*>;
  template <typename T>
  Value(Kind kind, T value) : kind_(kind), data_(std::move(value)) {}
  static Value owned_text(Kind kind, std::string value);

  Kind kind_ = Kind::Null;
  Data data_;
};

// Equality as the language has it: numbers by their amount over types, NaN unlike everything,
// values of different types unlike. Never an error except where a part of either is one.
Value equal(const Value& a, const Value& b);
// -1, 0, 1; an error where there is no order.
Value compare(const Value& a, const Value& b);
// `a + b` of lists; lists of sets and maps merge as Kubernetes merges them.
Value concatenate(const Value& a, const Value& b);

std::uint64_t code_points(std::string_view text);

}  // namespace krater::cel
