#include "base/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace krater {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 100'000;  // aliases can multiply a short text without end

bool is_one_of(std::string_view text, const auto& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

Json scalar(const std::string& text) {
  static constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 9> kTrue{"true", "True", "TRUE", "yes", "Yes",
                                                         "YES",  "on",   "On",   "ON"};
  static constexpr std::array<std::string_view, 9> kFalse{"false", "False", "FALSE", "no", "No",
                                                          "NO",    "off",   "Off",   "OFF"};
  if (is_one_of(text, kNull)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc() && read.ptr == end)
    return whole;
  const bool number_like = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  double real = 0;
  if (const auto read = std::from_chars(text.data(), end, real);
      number_like && read.ec == std::errc() && read.ptr == end) {
    return real;
  }
  return Json(text);
}

// The library takes bytes as they come; what is no UTF-8 could not be written as JSON.
bool is_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; })) return true;
  std::string quoted;
  append_json_string(quoted, text);
  return parse_json(quoted).has_value();
}

class Converter {
 public:
  Result<Json> convert(const YAML::Node& node, int depth) {
    if (depth > kMaxDepth) return make_error(Code::BadRequest, "YAML is nested too deeply");
    if (++nodes_ > kMaxNodes)
      return make_error(Code::BadRequest, "YAML aliases expand to too much");
    if (node.IsScalar() && !is_utf8(node.Scalar()))
      return make_error(Code::BadRequest, "YAML is not UTF-8");
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return Json(nullptr);
      // Plain scalars carry the tag "?", quoted ones "!".
      case YAML::NodeType::Scalar:
        return node.Tag() == "!" ? Json(node.Scalar()) : scalar(node.Scalar());
      case YAML::NodeType::Sequence:
        return sequence(node, depth);
      case YAML::NodeType::Map:
        return mapping(node, depth);
    }
    return make_error(Code::BadRequest, "unexpected YAML node");
  }

 private:
  Result<Json> sequence(const YAML::Node& node, int depth) {
    JsonArray out;
    for (const YAML::Node& entry : node) {
      TRY_ASSIGN(Json value, convert(entry, depth + 1));
      out.push_back(std::move(value));
    }
    return Json(std::move(out));
  }

  Result<Json> mapping(const YAML::Node& node, int depth) {
    JsonObject out;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar())
        return make_error(Code::BadRequest, "YAML keys must be plain text");
      if (!is_utf8(entry.first.Scalar())) return make_error(Code::BadRequest, "YAML is not UTF-8");
      TRY_ASSIGN(Json value, convert(entry.second, depth + 1));
      out[entry.first.Scalar()] = std::move(value);
    }
    return Json(std::move(out));
  }

  std::size_t nodes_ = 0;
};

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  // The library throws; nothing of it leaves this function.
  try {
    return Converter().convert(YAML::Load(std::string(text)), 0);
  } catch (const YAML::Exception& problem) {
    return make_error(Code::BadRequest, "YAML: " + std::string(problem.what()));
  }
}

}  // namespace krater
