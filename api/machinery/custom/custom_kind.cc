#include "api/machinery/custom/custom_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "api/machinery/custom/shape.h"
#include "api/machinery/custom/validate.h"
#include "api/machinery/names.h"
#include "base/strings.h"

namespace krater::api {
namespace {

void append(std::vector<Cause>& to, std::vector<Cause> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

// Rules are not asked of an object whose shape is wrong.
bool blocks_rules(const Cause& cause) {
  return cause.reason == "FieldValueNotSupported" || cause.reason == "FieldValueRequired" ||
         cause.reason == "FieldValueTooLong" || cause.reason == "FieldValueTooMany" ||
         cause.reason == "FieldValueTypeInvalid";
}

const DefinitionColumn& name_column() {
  static const DefinitionColumn column{{"Name", "string", "name", "", 0}, ".metadata.name"};
  return column;
}

const DefinitionColumn& age_column() {
  static const DefinitionColumn column{{"Age", "date", "", "", 0}, ".metadata.creationTimestamp"};
  return column;
}

}  // namespace

CompiledVersion::CompiledVersion(const DefinitionVersion& from, const WholeObject& whole)
    : version(from),
      schema(read_structural(from.schema)),
      tree(schema, whole.metadata()),
      rules(cel::SchemaRules::compile(from.schema)) {
  std::vector<DefinitionColumn> shown{name_column()};
  shown.insert(shown.end(), from.columns.begin(), from.columns.end());
  if (from.columns.empty()) shown.push_back(age_column());
  for (const DefinitionColumn& column : shown) {
    Result<CellPath> path = CellPath::compile(column.path);
    if (!path) {
      // Whoever writes paths that cannot be read sees names only.
      columns.resize(1);
      cells.resize(1);
      return;
    }
    columns.push_back(column.column);
    cells.push_back(*std::move(path));
  }
}

CustomKind::CustomKind(CustomKindParts parts) : parts_(std::move(parts)) {}

const std::vector<std::string>& CustomKind::verbs() const {
  static const std::vector<std::string> verbs{"create", "delete", "deletecollection", "get",
                                              "list",   "patch",  "update",           "watch"};
  return verbs;
}

std::string CustomKind::deprecation_warning() const {
  if (!version().deprecated) return {};
  if (!version().deprecation_warning.empty()) return version().deprecation_warning;
  return parts_.kind.api_version() + " " + parts_.kind.kind + " is deprecated";
}

void CustomKind::reshape(Json& object) const {
  std::vector<FieldProblem> unknown;
  prune_custom(schema(), true, object, unknown);
  default_custom(schema(), object);
}

std::string CustomKind::check_name(std::string_view name, bool prefix) const {
  const NameRule rule = find_name_rule("dns1123-subdomain");
  return prefix ? check_generate_name(rule, name) : rule(name);
}

std::vector<FieldProblem> CustomKind::prune(Json& object) const {
  std::vector<FieldProblem> problems;
  parts_.whole->prune(schema(), object, problems);
  std::vector<FieldProblem> own;
  prune_custom(schema(), true, object, own);
  std::move(own.begin(), own.end(), std::back_inserter(problems));
  return problems;
}

Result<void> CustomKind::check_types(const Json& object) const {
  return parts_.whole->check_types(object);
}

void CustomKind::apply_defaults(Json& object) const {
  default_custom(schema(), object);
}

std::vector<Cause> CustomKind::validate(const Json& object, const Json* old) const {
  std::vector<std::string> warnings;
  return validate(object, old, warnings);
}

std::vector<Cause> CustomKind::validate(const Json& object, const Json* old,
                                        std::vector<std::string>& warnings) const {
  std::vector<Cause> causes = parts_.whole->validate(schema(), object, old);
  append(causes, validate_custom(schema(), object, old));
  validate_scale(object, causes);
  // Who had an item twice before may keep it.
  if (old == nullptr || validate_lists(schema(), *old).empty())
    append(causes, validate_lists(schema(), object));
  if (parts_.compiled->rules == nullptr) return causes;
  if (std::any_of(causes.begin(), causes.end(), blocks_rules)) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"null\": some validation rules were not checked because the "
                      "object was invalid; correct the existing errors to complete validation",
                      "<nil>"});
  } else {
    cel::RuleFindings found = parts_.compiled->rules->check(object, old);
    append(causes, std::move(found.causes));
    std::move(found.warnings.begin(), found.warnings.end(), std::back_inserter(warnings));
  }
  return causes;
}

void CustomKind::validate_scale(const Json& object, std::vector<Cause>& causes) const {
  if (!version().subresources.scale) return;
  const auto invalid = [&](const std::string& path, std::string_view shown,
                           std::string_view detail) {
    causes.push_back(
        {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", shown, detail), path});
  };
  for (const std::string& path : {version().scale.spec_replicas, version().scale.status_replicas}) {
    const Json* value = at_simple_path(object, path);
    if (value == nullptr) continue;
    const std::optional<std::int64_t> replicas = as_int(*value);
    if (!replicas) {
      invalid(path, "0",
              fmt::format("{} accessor error: {} is of the wrong type, expected int64", path,
                          to_json(*value)));
    } else if (*replicas < 0) {
      invalid(path, std::to_string(*replicas), "should be a non-negative integer");
    } else if (*replicas > std::numeric_limits<std::int32_t>::max()) {
      invalid(path, std::to_string(*replicas), "should be less than or equal to 2147483647");
    }
  }
  const std::string& path = version().scale.label_selector;
  const Json* selector = path.empty() ? nullptr : at_simple_path(object, path);
  if (selector != nullptr && !selector->is_string()) {
    invalid(path, "\"\"",
            fmt::format("{} accessor error: {} is of the wrong type, expected string", path,
                        to_json(*selector)));
  }
}

Result<void> CustomKind::strategic_merge(Json&, const Json&) const {
  return make_error(
      Code::UnsupportedMedia,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

Result<Json> CustomKind::decode_protobuf(std::string_view) const {
  return make_error(
      Code::UnsupportedMedia,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml");
}

JsonArray CustomKind::cells(const Json& object, WallTime now) const {
  JsonArray row;
  const CompiledVersion& compiled = *parts_.compiled;
  for (std::size_t i = 0; i < compiled.cells.size(); ++i)
    row.push_back(compiled.cells[i].cell(object, compiled.columns[i].type, now));
  return row;
}

bool CustomKind::supports_field(std::string_view label) const {
  if (label == "metadata.name" || (label == "metadata.namespace" && parts_.kind.namespaced))
    return true;
  return std::any_of(
      version().selectable.begin(), version().selectable.end(),
      [&](const std::string& path) { return std::string_view(path).substr(1) == label; });
}

std::string CustomKind::field_value(const Json& object, std::string_view label) const {
  const Json* value = at_simple_path(object, "." + std::string(label));
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? std::string(view(value->get_string())) : to_json(*value);
}

const CustomKind* as_custom(const KindSchema& schema) {
  return schema.built_in() ? nullptr : dynamic_cast<const CustomKind*>(&schema);
}

const Json* at_simple_path(const Json& object, std::string_view path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  const Json* at = &object;
  for (const std::string_view step : split(path, '.')) {
    const JsonObject* members = at->if_object();
    at = members == nullptr ? nullptr : members->if_contains(step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace krater::api
