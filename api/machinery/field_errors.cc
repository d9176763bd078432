#include "api/machinery/field_errors.h"

#include <iterator>

namespace krater::api {
namespace {

std::string with_detail(std::string message, std::string_view detail) {
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  return message;
}

}  // namespace

void FieldErrors::add(const FieldPath& path, std::string_view reason, std::string message) {
  causes_.push_back({std::string(reason), std::move(message), path.text()});
}

void FieldErrors::forgive(const std::function<bool(const Cause&)>& is_no_mistake) {
  std::erase_if(causes_, is_no_mistake);
}

void FieldErrors::required(const FieldPath& path, std::string_view detail) {
  add(path, "FieldValueRequired", with_detail("Required value", detail));
}

void FieldErrors::invalid(const FieldPath& path, const Json& value, std::string_view detail) {
  add(path, "FieldValueInvalid", with_detail("Invalid value: " + to_json(value), detail));
}

void FieldErrors::invalid_type(const FieldPath& path, std::string_view value_type,
                               std::string_view detail) {
  add(path, "FieldValueTypeInvalid",
      with_detail("Invalid value: \"" + std::string(value_type) + '"', detail));
}

void FieldErrors::unsupported(const FieldPath& path, std::string_view value,
                              const std::vector<std::string>& supported) {
  std::string message = "Unsupported value: ";
  append_json_string(message, value);
  for (std::size_t i = 0; i < supported.size(); ++i) {
    message += i == 0 ? ": supported values: " : ", ";
    append_json_string(message, supported[i]);
  }
  add(path, "FieldValueNotSupported", std::move(message));
}

void FieldErrors::duplicate(const FieldPath& path, const Json& value) {
  add(path, "FieldValueDuplicate", "Duplicate value: " + to_json(value));
}

void FieldErrors::forbidden(const FieldPath& path, std::string_view detail) {
  add(path, "FieldValueForbidden", with_detail("Forbidden", detail));
}

void FieldErrors::too_long(const FieldPath& path, std::int64_t max_bytes) {
  add(path, "FieldValueTooLong",
      "Too long: may not be more than " + std::to_string(max_bytes) + " bytes");
}

void FieldErrors::too_many(const FieldPath& path, std::int64_t count, std::int64_t max_items) {
  add(path, "FieldValueTooMany",
      "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(max_items) +
          " items");
}

void FieldErrors::not_found(const FieldPath& path, const Json& value) {
  add(path, "FieldValueNotFound", "Not found: " + to_json(value));
}

void FieldErrors::append(std::vector<Cause> more) {
  causes_.insert(causes_.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

}  // namespace krater::api
