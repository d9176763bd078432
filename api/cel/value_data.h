// What a list and a map are made of; for value*.cc and the evaluator.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "api/cel/value.h"

namespace krater::cel {

// Keys of different numeric types that are the same number are the same key.
struct MapKey {
  enum class Kind : std::uint8_t { Bool, Number, Fraction, Text } kind = Kind::Bool;
  __extension__ __int128 number = 0;
  std::string text;
  friend bool operator<(const MapKey& a, const MapKey& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.number != b.number) return a.number < b.number;
    return a.text < b.text;
  }
};
std::optional<MapKey> map_key(const Value& value);  // nullopt: cannot be a key

struct ListData {
  std::vector<Value> items;
  const JsonArray* json = nullptr;
  const Type* type = nullptr;  // the list's, with json
};

struct MapData {
  std::vector<std::pair<Value, Value>> entries;
  std::map<MapKey, std::size_t> index;
  const JsonObject* json = nullptr;
  const Type* type = nullptr;  // Map or Object, with json; nullptr: untyped JSON
  const LazyFields* lazy = nullptr;
};

}  // namespace krater::cel
