#include "base/json_fields.h"

#include "base/json_converter.h"

namespace krater {
namespace {

using Paths = std::vector<const JsonFieldPath*>;

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
  Paths wanted;
  for (const JsonFieldPath& path : paths) wanted.push_back(&path);
  return with_parsed(text, [&](simdjson::dom::element root) -> Result<Json> {
    if (too_deep(root, 0)) return make_error(Code::BadRequest, "exceeded max depth");
    if (!root.is_object()) return Json(boost::json::object_kind);
    return pick(root.get_object().value_unsafe(), wanted, 0);
  });
}

}  // namespace krater
