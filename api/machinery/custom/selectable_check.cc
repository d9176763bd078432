// Fields that selectors may use.
#include <set>

#include "api/machinery/custom/definition_check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::size_t kMaxSelectable = 8;

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '$' || c == '-';
    if (!fine) return false;
  }
  return true;
}

// The schema at a path; nullptr and why not.
const Json* schema_at(const Json& root, std::string_view path, std::string& problem) {
  if (!path.starts_with('.')) {
    problem = "does not start with '.'";
    return nullptr;
  }
  const Json* at = &root;
  for (const std::string_view step : split(path.substr(1), '.')) {
    if (!is_name(step)) {
      problem = "expected a field name, got: \"" + std::string(step) + "\"";
      return nullptr;
    }
    const Json* next = find(*at, {"properties", step});
    if (next == nullptr) next = find(*at, {"additionalProperties"});
    if (next == nullptr || !next->is_object()) {
      problem = "does not refer to a valid field";
      return nullptr;
    }
    at = next;
  }
  return at;
}

}  // namespace

void check_selectable(const JsonArray& fields, const Json& schema, const FieldPath& path,
                      FieldErrors& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldPath item = path.index(i);
    const FieldPath here = item.field("jsonPath");
    const std::string text = text_at(fields[i], {"jsonPath"});
    if (text.empty()) {
      errors.required(here);
      continue;
    }
    std::string problem;
    const bool metadata = text == ".metadata" || text.starts_with(".metadata.");
    const Json* found = metadata ? nullptr : schema_at(schema, text, problem);
    if (metadata) {
      errors.invalid(here, Json(text), "must not point to fields in metadata");
    } else if (found == nullptr) {
      errors.invalid(here, Json(text), "is an invalid path: " + problem);
      continue;
    }
    const std::string type = found == nullptr ? "" : text_at(*found, {"type"});
    if (found != nullptr && type != "string" && type != "boolean" && type != "integer") {
      errors.invalid(here, Json(text),
                     "must point to a field of type string, boolean or integer. Enum string fields "
                     "and strings with formats are allowed.");
    }
    if (!seen.insert(text).second) errors.duplicate(here, Json(text));
  }
  if (seen.size() > kMaxSelectable) {
    errors.too_many(path, static_cast<std::int64_t>(seen.size()),
                    static_cast<std::int64_t>(kMaxSelectable));
  }
}

}  // namespace krater::api
