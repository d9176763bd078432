#include "base/json.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/json_converter.h"
#include "base/json_same.h"

namespace krater {
namespace {

// Above this a float without a fraction would read back as an integer that no 64 bits hold.
constexpr double kLargestPlain = 9e18;

// encoding/json: 'f' form unless the exponent is below -6 or the number is larger than any int64;
// then 'e' without a padded exponent.
void append_double(std::string& out, double number) {
  if (number == 0) number = 0;  // no negative zero: it would read back as an integer
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char buffer[400];
  const double magnitude = std::fabs(number);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= kLargestPlain);
  const auto done =
      std::to_chars(buffer, buffer + sizeof buffer, number,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string_view text(buffer, static_cast<std::size_t>(done.ptr - buffer));
  if (scientific && text.size() >= 4 && text[text.size() - 4] == 'e' &&
      text[text.size() - 3] == '-' && text[text.size() - 2] == '0') {
    out.append(text.substr(0, text.size() - 2));
    out += text.back();
    return;
  }
  out.append(text);
}

template <typename Number>
void append_number(std::string& out, Number number) {
  char buffer[24];
  const auto done = std::to_chars(buffer, buffer + sizeof buffer, number);
  out.append(buffer, done.ptr);
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonParseOptions& options) {
  return with_parsed(
      text, [&](simdjson::dom::element root) { return Converter(options).convert(root, 0); });
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t clean_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(clean_from, i - clean_from));
    clean_from = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default: {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
        out += buffer;
      }
    }
  }
  out.append(text.substr(clean_from));
  out += '"';
}

void append_json(std::string& out, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      return;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case boost::json::kind::int64:
      append_number(out, value.get_int64());
      return;
    case boost::json::kind::uint64:
      append_number(out, value.get_uint64());
      return;
    case boost::json::kind::double_:
      append_double(out, value.get_double());
      return;
    case boost::json::kind::string:
      append_json_string(out, view(value.get_string()));
      return;
    case boost::json::kind::array: {
      out += '[';
      bool first = true;
      for (const Json& item : value.get_array()) {
        if (!first) out += ',';
        first = false;
        append_json(out, item);
      }
      out += ']';
      return;
    }
    case boost::json::kind::object: {
      out += '{';
      bool first = true;
      for (const auto& member : value.get_object()) {
        if (!first) out += ',';
        first = false;
        append_json_string(out, {member.key().data(), member.key().size()});
        out += ':';
        append_json(out, member.value());
      }
      out += '}';
      return;
    }
  }
}

std::string to_json(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}

const Json* find(const JsonObject& root, JsonPath path) {
  const JsonObject* at = &root;
  const Json* value = nullptr;
  for (std::string_view key : path) {
    if (at == nullptr) return nullptr;
    value = at->if_contains(key);
    if (value == nullptr) return nullptr;
    at = value->if_object();
  }
  return value;
}

const Json* find(const Json& root, JsonPath path) {
  if (path.size() == 0) return &root;
  const JsonObject* object = root.if_object();
  return object == nullptr ? nullptr : find(*object, path);
}

Json* find(Json& root, JsonPath path) {
  return const_cast<Json*>(find(static_cast<const Json&>(root), path));
}

std::optional<std::string_view> string_at(const Json& root, JsonPath path) {
  const Json* value = find(root, path);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return view(value->get_string());
}

std::string text_at(const Json& root, JsonPath path) {
  return std::string(string_at(root, path).value_or(""));
}

std::optional<std::int64_t> as_int(const Json& value) {
  if (const auto* i = value.if_int64()) return *i;
  if (const auto* u = value.if_uint64()) {
    return *u <= INT64_MAX ? std::optional(static_cast<std::int64_t>(*u)) : std::nullopt;
  }
  if (const auto* d = value.if_double()) {
    if (*d == std::floor(*d) && std::fabs(*d) < 9.2e18) return static_cast<std::int64_t>(*d);
  }
  return std::nullopt;
}

std::optional<std::int64_t> int_at(const Json& root, JsonPath path) {
  const Json* value = find(root, path);
  return value == nullptr ? std::nullopt : as_int(*value);
}

std::optional<bool> bool_at(const Json& root, JsonPath path) {
  const Json* value = find(root, path);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

const JsonObject* object_at(const Json& root, JsonPath path) {
  const Json* value = find(root, path);
  return value == nullptr ? nullptr : value->if_object();
}

const JsonArray* array_at(const Json& root, JsonPath path) {
  const Json* value = find(root, path);
  return value == nullptr ? nullptr : value->if_array();
}

void set_path(Json& root, JsonPath path, Json value) {
  Json* at = &root;
  for (std::string_view key : path) {
    if (!at->is_object()) at->emplace_object();
    at = &at->get_object()[key];
  }
  *at = std::move(value);
}

void erase_path(Json& root, JsonPath path) {
  Json* at = &root;
  std::size_t left = path.size();
  for (std::string_view key : path) {
    JsonObject* object = at->if_object();
    if (object == nullptr) return;
    if (--left == 0) {
      const auto place = object->find(key);
      if (place != object->end()) object->stable_erase(place);
      return;
    }
    at = object->if_contains(key);
    if (at == nullptr) return;
  }
}

Json merge_difference(const Json& before, const Json& after) {
  JsonObject patch;
  const JsonObject& old_members = before.get_object();
  const JsonObject& new_members = after.get_object();
  for (const auto& member : old_members) {
    if (!new_members.contains(member.key())) patch[member.key()] = nullptr;
  }
  for (const auto& member : new_members) {
    const Json* old_value = old_members.if_contains(member.key());
    if (old_value != nullptr && same_json(*old_value, member.value())) continue;
    if (old_value != nullptr && old_value->is_object() && member.value().is_object()) {
      patch[member.key()] = merge_difference(*old_value, member.value());
    } else {
      patch[member.key()] = member.value();
    }
  }
  return patch;
}

Json with_sorted_keys(const Json& value) {
  if (value.is_array()) {
    JsonArray out;
    for (const Json& entry : value.get_array()) out.push_back(with_sorted_keys(entry));
    return out;
  }
  if (!value.is_object()) return value;
  std::map<std::string_view, const Json*> members;
  for (const auto& member : value.get_object()) members[member.key()] = &member.value();
  JsonObject out;
  for (const auto& [key, member] : members) out[key] = with_sorted_keys(*member);
  return out;
}

}  // namespace krater
