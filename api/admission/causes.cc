#include "api/admission/causes.h"

#include "base/json.h"
#include "base/strings.h"

namespace krater::api {
namespace {

std::string with_detail(std::string_view type, std::string_view detail) {
  std::string out(type);
  if (!detail.empty()) out.append(": ").append(detail);
  return out;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

Cause required_value(std::string field, std::string_view detail) {
  return {"FieldValueRequired", with_detail("Required value", detail), std::move(field)};
}

Cause invalid_value(std::string field, std::string_view shown, std::string_view detail) {
  return {"FieldValueInvalid", with_detail("Invalid value: " + std::string(shown), detail),
          std::move(field)};
}

Cause forbidden_value(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", with_detail("Forbidden", detail), std::move(field)};
}

Cause duplicate_value(std::string field, std::string_view shown) {
  return {"FieldValueDuplicate", "Duplicate value: " + std::string(shown), std::move(field)};
}

Cause unsupported_value(std::string field, std::string_view shown,
                        const std::vector<std::string>& supported) {
  std::vector<std::string> names;
  for (const std::string& name : supported) names.push_back(quoted(name));
  return {"FieldValueNotSupported",
          "Unsupported value: " + std::string(shown) + ": supported values: " + join(names, ", "),
          std::move(field)};
}

Cause value_not_found(std::string field, std::string_view shown) {
  return {"FieldValueNotFound", "Not found: " + std::string(shown), std::move(field)};
}

Cause too_long(std::string field, std::size_t limit_bytes) {
  return {"FieldValueTooLong",
          "Too long: may not be more than " + std::to_string(limit_bytes) + " bytes",
          std::move(field)};
}

std::string text_of(const Cause& cause) {
  return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

}  // namespace krater::api
