#include "base/json_fields.h"

#include "base/json_converter.h"

namespace krater {
namespace {

using Paths = std::vector<const JsonFieldPath*>;

// More than the converter accepts: the parser does not count a container that is empty.
constexpr std::size_t kMaxDepthOfParser = 1000;
constexpr std::size_t kKeepCapacity = 1 << 20;

// Whether the converter would take it: recursion ends where it ends there.
bool too_deep(simdjson::dom::element element, int depth) {
  static const int max_depth = JsonParseOptions().max_depth;
  if (element.is_object()) {
    if (depth >= max_depth) return true;
    const simdjson::dom::object members = element.get_object().value_unsafe();
    for (const auto& [key, value] : members) {
      if (too_deep(value, depth + 1)) return true;
    }
  } else if (element.is_array()) {
    if (depth >= max_depth) return true;
    const simdjson::dom::array items = element.get_array().value_unsafe();
    for (const simdjson::dom::element value : items) {
      if (too_deep(value, depth + 1)) return true;
    }
  }
  return false;
}

// `paths` agree with the way to `source`, which is `depth` keys long.
Result<Json> pick(simdjson::dom::object source, const Paths& paths, std::size_t depth) {
  static const JsonParseOptions plain;
  Json out(boost::json::object_kind);
  for (const auto& [key, element] : source) {
    Paths deeper;
    for (const JsonFieldPath* path : paths) {
      if ((*path)[depth] == key) deeper.push_back(path);
    }
    if (deeper.empty()) continue;
    Json value;
    if (deeper.front()->size() == depth + 1) {
      TRY_ASSIGN(value, Converter(plain).convert(element, static_cast<int>(depth) + 1));
    } else if (element.is_object()) {
      TRY_ASSIGN(value, pick(element.get_object().value_unsafe(), deeper, depth + 1));
    } else {
      continue;
    }
    out.get_object().insert_or_assign(key, std::move(value));
  }
  return out;
}

}  // namespace

Result<Json> parse_json_fields(std::string_view text, const std::vector<JsonFieldPath>& paths) {
  thread_local simdjson::dom::parser parser;
  const simdjson::error_code allocated =
      parser.allocate(std::max<std::size_t>(text.size(), 1), kMaxDepthOfParser);
  if (allocated != simdjson::SUCCESS)
    return make_error(Code::Internal, simdjson::error_message(allocated));
  const auto parsed = parser.parse(text.data(), text.size(), /*realloc_if_needed=*/true);
  if (parsed.error() != simdjson::SUCCESS) {
    return make_error(Code::BadRequest,
                      std::string("invalid JSON: ") + simdjson::error_message(parsed.error()));
  }
  Paths wanted;
  for (const JsonFieldPath& path : paths) wanted.push_back(&path);
  if (too_deep(parsed.value_unsafe(), 0)) return make_error(Code::BadRequest, "exceeded max depth");
  Result<Json> out = parsed.value_unsafe().is_object()
                         ? pick(parsed.value_unsafe().get_object().value_unsafe(), wanted, 0)
                         : Result<Json>(Json(boost::json::object_kind));
  if (text.size() > kKeepCapacity) parser = simdjson::dom::parser();
  return out;
}

}  // namespace krater
