#include "api/machinery/custom/validate.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "api/machinery/custom/correlate.h"
#include "api/machinery/custom/formats.h"
#include "api/machinery/field_path.h"
#include "base/strings.h"

namespace krater::api {
namespace {

// What one schema has to say; `matches` tells which of several alternatives came closest.
struct Findings {
  std::vector<Cause> causes;
  int matches = 0;

  bool ok() const { return causes.empty(); }
  void merge(Findings&& more) {
    std::move(more.causes.begin(), more.causes.end(), std::back_inserter(causes));
    matches += more.matches;
  }
};

std::string_view word_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_null()) return "null";
  return value.is_double() ? "number" : "integer";
}

std::string_view format_of(const Json& value) {
  if (value.is_double()) return "float64";
  return value.is_number() ? "int64" : "";
}

bool is_integral(const Json& value) {
  return value.is_double() && std::trunc(value.get_double()) == value.get_double();
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

bool same_value(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (!a.is_double() && !b.is_double()) return a == b;
    return a.to_number<double>() == b.to_number<double>();
  }
  return a == b;
}

class Validator {
 public:
  Findings value(const Structural& schema, const Json& value, const Json* old,
                 const FieldPath& path) {
    Findings out;
    if (old != nullptr && *old == value) return out;
    add(out, type(schema, value, path));
    if (value.is_null()) {
      add(out, common(schema, value, path));
      return out;
    }
    if (schema.checks != nullptr) {
      add(out, junctors(*schema.checks, value, old, path));
      if (value.is_string()) add(out, text(schema, value, path));
      if (value.is_number()) add(out, number(schema, value, path));
    }
    if (value.is_array()) add(out, list(schema, value.get_array(), old, path));
    add(out, common(schema, value, path));
    if (value.is_object()) add(out, object(schema, value.get_object(), old, path));
    ++out.matches;
    return out;
  }

 private:
  static void add(Findings& to, Findings&& more) {
    to.merge(std::move(more));
    ++to.matches;
  }

  static void report(Findings& to, std::string_view reason, const FieldPath& path,
                     std::string message) {
    to.causes.push_back({std::string(reason), std::move(message), path.text()});
  }
  static void invalid(Findings& to, const FieldPath& path, std::string_view shown,
                      std::string_view message) {
    report(to, "FieldValueInvalid", path, fmt::format("Invalid value: {}: {}", shown, message));
  }
  // Findings about no single field.
  static void composite(Findings& to, std::string message) {
    to.causes.push_back(
        {"FieldValueInvalid", "Invalid value: \"\": " + std::move(message), "<nil>"});
  }

  static void wrong_type(Findings& to, const FieldPath& path, std::string_view wanted,
                         std::string_view found) {
    const std::string name = path.text();
    report(to, "FieldValueTypeInvalid", path,
           fmt::format("Invalid value: {}: {} in body must be of type {}: {}", quoted(found), name,
                       wanted, quoted(found)));
  }

  static bool accepts(const Structural& schema, std::string_view word) {
    if (schema.int_or_string) return word == "integer" || word == "string";
    return type_name(schema.type) == word;
  }

  static Findings type(const Structural& schema, const Json& value, const FieldPath& path) {
    Findings out;
    const std::string_view format =
        schema.checks == nullptr ? std::string_view() : schema.checks->format;
    const std::string_view wanted =
        schema.int_or_string ? std::string_view("integer,string") : type_name(schema.type);
    if (value.is_null()) {
      if (!wanted.empty() && !schema.nullable) wrong_type(out, path, wanted, "null");
      return out;
    }
    if (wanted.empty() && format.empty()) return out;
    const std::string_view word = word_of(value);
    const bool whole_float = is_integral(value) && accepts(schema, "integer");
    const bool int_for_float = word == "integer" && accepts(schema, "number");
    const bool textual = value.is_string() || value.is_array();
    if (!textual && !format.empty() && !accepts(schema, word) && !whole_float && !int_for_float) {
      wrong_type(out, path, format, format_of(value));
      return out;
    }
    // A format speaks for itself.
    if (textual && !format.empty() && !accepts(schema, "integer") && !accepts(schema, "number"))
      return out;
    if (!accepts(schema, word) && !whole_float && !int_for_float) {
      wrong_type(out, path, wanted, word);
      return out;
    }
    ++out.matches;
    return out;
  }

  Findings best_of(const std::vector<Structural>& schemas, const Json& value, const Json* old,
                   const FieldPath& path, int& valid) {
    std::optional<Findings> best, first;
    valid = 0;
    for (const Structural& schema : schemas) {
      Findings found = this->value(schema, value, old, path);
      if (found.ok()) {
        ++valid;
        best.reset();
        if (!first) first = std::move(found);
      } else if (valid == 0 && (!best || found.matches > best->matches)) {
        best = std::move(found);
      }
    }
    if (best) return *std::move(best);
    return first ? *std::move(first) : Findings();
  }

  Findings junctors(const ValueChecks& checks, const Json& value, const Json* old,
                    const FieldPath& path) {
    Findings out;
    int valid = 0;
    if (!checks.any_of.empty()) {
      Findings best = best_of(checks.any_of, value, old, path, valid);
      if (valid == 0)
        composite(out, quoted(path.text()) + " must validate at least one schema (anyOf)");
      out.merge(std::move(best));
    }
    if (!checks.one_of.empty()) {
      Findings best = best_of(checks.one_of, value, old, path, valid);
      if (valid != 1) {
        composite(out, fmt::format("{} must validate one and only one schema (oneOf). {}",
                                   quoted(path.text()),
                                   valid == 0 ? "Found none valid"
                                              : fmt::format("Found {} valid alternatives", valid)));
      }
      if (valid <= 1) out.merge(std::move(best));
    }
    if (!checks.all_of.empty()) {
      valid = 0;
      for (const Structural& schema : checks.all_of) {
        Findings found = this->value(schema, value, old, path);
        valid += found.ok();
        out.merge(std::move(found));
      }
      if (valid != static_cast<int>(checks.all_of.size())) {
        composite(out, fmt::format("{} must validate all the schemas (allOf){}",
                                   quoted(path.text()), valid == 0 ? ". None validated" : ""));
      }
    }
    if (checks.none_of != nullptr && this->value(*checks.none_of, value, old, path).ok())
      composite(out, quoted(path.text()) + " must not validate the schema (not)");
    ++out.matches;
    return out;
  }

  static Findings text(const Structural& schema, const Json& value, const FieldPath& path) {
    Findings out;
    const ValueChecks& checks = *schema.checks;
    const std::string_view text = view(value.get_string());
    const std::int64_t length = characters(text);
    if (checks.max_length && length > *checks.max_length) {
      report(out, "FieldValueTooLong", path,
             fmt::format("Too long: may not be more than {} bytes", *checks.max_length));
    }
    if (checks.min_length && length < *checks.min_length) {
      invalid(out, path, to_json(value),
              fmt::format("{} in body should be at least {} chars long", path.text(),
                          *checks.min_length));
    }
    if (checks.pattern != nullptr &&
        !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *checks.pattern)) {
      invalid(out, path, to_json(value),
              fmt::format("{} in body should match '{}'", path.text(), checks.pattern_text));
    }
    const bool numeric = schema.type == JsonType::Integer || schema.type == JsonType::Number;
    if (!checks.format.empty() && !numeric && !has_format(checks.format, text)) {
      report(out, "FieldValueTypeInvalid", path,
             fmt::format("Invalid value: {}: {} in body must be of type {}: {}", to_json(value),
                         path.text(), checks.format, to_json(value)));
    }
    out.matches += out.ok();
    return out;
  }

  // As an integer beside integers, where it is one of them.
  static std::string bound_text(double bound, const Json& value) {
    constexpr double kEnd = 9223372036854775808.0;  // 2^63
    const bool whole = !value.is_double() && bound >= -kEnd && bound < kEnd;
    return whole ? std::to_string(static_cast<std::int64_t>(bound)) : to_json(Json(bound));
  }

  static Findings number(const Structural& schema, const Json& value, const FieldPath& path) {
    Findings out;
    const ValueChecks& checks = *schema.checks;
    const double data = value.to_number<double>();
    if (checks.format == "int32" && schema.type == JsonType::Integer &&
        (data > std::numeric_limits<std::int32_t>::max() ||
         data < std::numeric_limits<std::int32_t>::min())) {
      composite(out, "Checked value must be of type integer with format int32 in " + path.text());
    }
    if (checks.multiple_of) {
      const double quotient =
          *checks.multiple_of < 1 ? 1 / *checks.multiple_of * data : data / *checks.multiple_of;
      if (std::trunc(quotient) != quotient) {
        invalid(out, path, to_json(value),
                fmt::format("{} in body should be a multiple of {}", path.text(),
                            bound_text(*checks.multiple_of, value)));
      }
    }
    if (checks.minimum &&
        (checks.minimum_excluded ? data <= *checks.minimum : data < *checks.minimum)) {
      invalid(out, path, to_json(value),
              fmt::format("{} in body should be greater than {}{}", path.text(),
                          checks.minimum_excluded ? "" : "or equal to ",
                          bound_text(*checks.minimum, value)));
    }
    if (checks.maximum &&
        (checks.maximum_excluded ? data >= *checks.maximum : data > *checks.maximum)) {
      invalid(out, path, to_json(value),
              fmt::format("{} in body should be less than {}{}", path.text(),
                          checks.maximum_excluded ? "" : "or equal to ",
                          bound_text(*checks.maximum, value)));
    }
    ++out.matches;
    return out;
  }

  static void too_many(Findings& out, const FieldPath& path, std::size_t count,
                       std::int64_t limit) {
    report(out, "FieldValueTooMany", path,
           fmt::format("Too many: {}: must have at most {} items", count, limit));
  }

  Findings list(const Structural& schema, const JsonArray& items, const Json* old,
                const FieldPath& path) {
    Findings out;
    if (schema.items != nullptr) {
      const OldItems before(schema, old);
      for (std::size_t i = 0; i < items.size(); ++i)
        out.merge(value(*schema.items, items[i], before.of(items[i]), path.index(i)));
    }
    const auto count = static_cast<std::int64_t>(items.size());
    if (schema.checks != nullptr) {
      const ValueChecks& checks = *schema.checks;
      if (checks.min_items && count < *checks.min_items) {
        invalid(out, path, std::to_string(count),
                fmt::format("{} in body should have at least {} items", path.text(),
                            *checks.min_items));
      }
      if (checks.max_items && count > *checks.max_items)
        too_many(out, path, items.size(), *checks.max_items);
    }
    ++out.matches;
    return out;
  }

  static Findings common(const Structural& schema, const Json& value, const FieldPath& path) {
    Findings out;
    if (schema.checks == nullptr || schema.checks->values.empty()) return out;
    for (const Json& allowed : schema.checks->values) {
      if (same_value(allowed, value)) return out;
    }
    std::string message = "Unsupported value: " + to_json(value);
    for (const Json& allowed : schema.checks->values) {
      message += &allowed == &schema.checks->values.front() ? ": supported values: " : ", ";
      message += allowed.is_string() ? to_json(allowed) : quoted(to_json(allowed));
    }
    report(out, "FieldValueNotSupported", path, std::move(message));
    return out;
  }

  Findings object(const Structural& schema, const JsonObject& value, const Json* old,
                  const FieldPath& path) {
    Findings out;
    if (schema.checks != nullptr) {
      const ValueChecks& checks = *schema.checks;
      const auto count = static_cast<std::int64_t>(value.size());
      if (checks.min_properties && count < *checks.min_properties) {
        invalid(out, path, std::to_string(count),
                fmt::format("{} in body should have at least {} properties", path.text(),
                            *checks.min_properties));
      }
      if (checks.max_properties && count > *checks.max_properties)
        too_many(out, path, value.size(), *checks.max_properties);
    }
    for (const auto& entry : value) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const Structural* member = schema.property(name);
      if (member == nullptr) member = schema.values.get();
      if (member == nullptr) continue;
      out.merge(
          this->value(*member, entry.value(), old_member(schema, old, name), path.field(name)));
    }
    if (schema.checks != nullptr) {
      for (const std::string& name : schema.checks->required) {
        if (!value.contains(name))
          report(out, "FieldValueRequired", path.field(name), "Required value");
      }
    }
    return out;
  }
};

}  // namespace

std::vector<Cause> validate_custom(const Structural& schema, const Json& value, const Json* old) {
  return Validator().value(schema, value, old, FieldPath()).causes;
}

}  // namespace krater::api
