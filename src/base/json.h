// The document type (boost::json's value, its order-keeping objects) with our parser and writer.
// Parser: simdjson, strict RFC 8259, bounded depth, duplicate keys reported (the last one wins).
// Writer: compact; integers exact; floats as Go writes them, so that objects look as Kubernetes
// serves them.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

struct JsonParseOptions {
  int max_depth = 256;                             // deeper is Code::BadRequest
  std::vector<std::string>* duplicates = nullptr;  // receives paths such as `metadata.labels.a`
};

// Code::BadRequest with a position-free message when the text is not JSON, is too deep, or is not
// UTF-8.
Result<Json> parse_json(std::string_view text, const JsonParseOptions& options = {});

std::string to_json(const Json& value);
void append_json(std::string& out, const Json& value);
void append_json_string(std::string& out, std::string_view text);

// Path of object keys; nullptr when any step is missing or not an object. JSON null is returned as
// it is.
using JsonPath = std::initializer_list<std::string_view>;
const Json* find(const Json& root, JsonPath path);
const Json* find(const JsonObject& root, JsonPath path);
Json* find(Json& root, JsonPath path);

// Value at a path when it has that type; integers also from integral doubles. No conversion from
// strings.
std::optional<std::string_view> string_at(const Json& root, JsonPath path);
std::optional<std::int64_t> int_at(const Json& root, JsonPath path);
std::optional<bool> bool_at(const Json& root, JsonPath path);
const JsonObject* object_at(const Json& root, JsonPath path);
const JsonArray* array_at(const Json& root, JsonPath path);
// string_at with "" when absent.
std::string text_at(const Json& root, JsonPath path);

std::optional<std::int64_t> as_int(const Json& value);

// Sets root[path...] = value, creating objects on the way (a non-object on the way is replaced).
void set_path(Json& root, JsonPath path, Json value);
// Removes the last key of the path if present, keeping the order of the others.
void erase_path(Json& root, JsonPath path);

// The RFC 7386 merge patch that turns `before` into `after`; an empty object when they are equal.
// Both are objects.
Json merge_difference(const Json& before, const Json& after);

// The same document with the keys of every object in byte order.
Json with_sorted_keys(const Json& value);

inline std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

}  // namespace krater
