#include "api/machinery/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace krater::api {
namespace {

std::string bound_text(double bound) {
  return fmt::format("{}", static_cast<std::int64_t>(bound));
}

std::string native_range_message(const Limits& limits) {
  if (limits.range == "mode") return "must be a number between 0 and 0777 (octal), both inclusive";
  if (limits.minimum && limits.maximum) {
    const std::string low = bound_text(*limits.minimum), high = bound_text(*limits.maximum);
    return limits.range == "weight" ? "must be in the range " + low + "-" + high
                                    : "must be between " + low + " and " + high + ", inclusive";
  }
  if (limits.minimum) {
    return *limits.minimum == 1 ? "must be greater than 0"
                                : "must be greater than or equal to " + bound_text(*limits.minimum);
  }
  return "must be less than or equal to " + bound_text(*limits.maximum);
}

void check_number(const Limits& limits, bool native, const Json& value, const FieldPath& path,
                  FieldErrors& errors) {
  const double number = value.to_number<double>();
  const bool low = limits.minimum && number < *limits.minimum;
  const bool high = limits.maximum && number > *limits.maximum;
  if (!low && !high) return;
  if (native) return errors.invalid(path, value, native_range_message(limits));
  errors.invalid(path, value,
                 low ? path.text() + " in body should be greater than or equal to " +
                           bound_text(*limits.minimum)
                     : path.text() + " in body should be less than or equal to " +
                           bound_text(*limits.maximum));
}

void check_text(const Limits& limits, const Json& value, const FieldPath& path,
                FieldErrors& errors) {
  const std::string_view text = view(value.get_string());
  const auto size = static_cast<std::int64_t>(text.size());
  if (!limits.values.empty() &&
      !std::binary_search(limits.values.begin(), limits.values.end(), text)) {
    errors.unsupported(path, text, limits.values);
  }
  if (limits.max_length && size > *limits.max_length) errors.too_long(path, *limits.max_length);
  if (limits.min_length && size < *limits.min_length) {
    errors.invalid(path, value,
                   fmt::format("{} in body should be at least {} chars long", path.text(),
                               *limits.min_length));
  }
  if (limits.pattern &&
      !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *limits.pattern)) {
    errors.invalid(path, value,
                   fmt::format("{} in body should match '{}'", path.text(), limits.pattern_text));
  }
}

void check_list(const Limits& limits, const JsonArray& value, const FieldPath& path,
                FieldErrors& errors) {
  const auto count = static_cast<std::int64_t>(value.size());
  if (limits.max_items && count > *limits.max_items)
    errors.too_many(path, count, *limits.max_items);
  if (limits.min_items && count < *limits.min_items) {
    errors.invalid(
        path, Json(count),
        fmt::format("{} in body should have at least {} items", path.text(), *limits.min_items));
  }
}

}  // namespace

void check_limits(const SchemaNode& node, bool native, const Json& value, const FieldPath& path,
                  FieldErrors& errors) {
  if (node.limits == nullptr) return;
  if (value.is_number()) check_number(*node.limits, native, value, path, errors);
  if (value.is_string()) check_text(*node.limits, value, path, errors);
  if (value.is_array()) check_list(*node.limits, value.get_array(), path, errors);
}

}  // namespace krater::api
