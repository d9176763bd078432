#include "api/machinery/custom/whole_object.h"

#include <functional>

#include "api/machinery/check_types.h"
#include "api/machinery/field_errors.h"
#include "api/machinery/prune.h"
#include "api/machinery/validate.h"
#include "base/check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

// Calls `visit(path, value)` for every embedded object below `value`.
template <typename Value, typename Visit>
void for_each_embedded(const Structural& schema, Value& value, const FieldPath& path,
                       const Visit& visit) {
  if (auto* object = value.if_object()) {
    for (auto& entry : *object) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const Structural* member = schema.property(name);
      if (member == nullptr) member = schema.values.get();
      if (member == nullptr) continue;
      const FieldPath here = path.field(name);
      if (member->embedded && entry.value().is_object()) visit(here, entry.value());
      for_each_embedded(*member, entry.value(), here, visit);
    }
  } else if (auto* items = value.if_array(); items != nullptr && schema.items != nullptr) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      const FieldPath here = path.index(i);
      if (schema.items->embedded && (*items)[i].is_object()) visit(here, (*items)[i]);
      for_each_embedded(*schema.items, (*items)[i], here, visit);
    }
  }
}

// Most schemas embed nothing; found out once a kind would do, but the walk is over the schema only.
bool embeds(const Structural& schema) {
  if (schema.embedded) return true;
  if (schema.items != nullptr && embeds(*schema.items)) return true;
  if (schema.values != nullptr && embeds(*schema.values)) return true;
  for (const Structural::Member& member : schema.properties) {
    if (embeds(member.schema)) return true;
  }
  return false;
}

// Users' kinds may have finalizers without a path; their clients are only warned.
bool is_only_unqualified(const Cause& cause) {
  return cause.message.ends_with(
      "name is neither a standard finalizer name nor is it fully qualified");
}

void check_api_version(const Json& value, const FieldPath& path, FieldErrors& errors) {
  const std::string text = value.is_string() ? std::string(view(value.get_string())) : "";
  if (!value.is_string()) return errors.invalid(path, value, "must be a string");
  if (text.empty()) return errors.invalid(path, value, "must not be empty");
  if (split(text, '/').size() > 2)
    errors.invalid(path, value, "unexpected GroupVersion string: " + text);
}

void check_kind(const Json& value, const FieldPath& path, FieldErrors& errors) {
  if (!value.is_string()) return errors.invalid(path, value, "must be a string");
  const std::string text(view(value.get_string()));
  if (text.empty()) return errors.invalid(path, value, "must not be empty");
  if (const std::string problem = check_dns1035_label(to_lower(text)); !problem.empty()) {
    errors.invalid(path, value, "may have mixed case, but should otherwise match: " + problem);
  }
}

void check_embedded(const JsonObject& object, const FieldPath& path, FieldErrors& errors) {
  const FieldPath version = path.field("apiVersion"), kind = path.field("kind");
  if (const Json* value = object.if_contains("apiVersion")) {
    check_api_version(*value, version, errors);
  } else {
    errors.required(version, "must not be empty");
  }
  if (const Json* value = object.if_contains("kind")) {
    check_kind(*value, kind, errors);
  } else {
    errors.required(kind, "must not be empty");
  }
}

}  // namespace

WholeObject::WholeObject(KindSchemaPtr known) : known_(std::move(known)) {
  const Property* metadata = known_->root().property("metadata");
  CHECK(metadata != nullptr);
  head_.type = NodeType::Object;
  head_.preserve_unknown = true;
  Property property;
  property.name = "metadata";
  property.node = metadata->node;
  head_.properties.push_back(std::move(property));
}

void WholeObject::prune(const Structural& schema, Json& object,
                        std::vector<FieldProblem>& problems) const {
  prune_object(head_, false, object, problems);
  if (!embeds(schema)) return;
  for_each_embedded(schema, object, FieldPath(), [&](const FieldPath& path, Json& value) {
    std::vector<FieldProblem> found;
    prune_object(head_, false, value, found);
    for (FieldProblem& problem : found) {
      std::string where = path.text() + "." + problem.path;
      std::string message = "unknown field \"" + where + '"';
      problems.push_back({std::move(where), std::move(message)});
    }
  });
}

Result<void> WholeObject::check_types(const Json& object) const {
  return check_object_types(head_, false, object);
}

std::vector<Cause> WholeObject::validate(const Structural& schema, const Json& object,
                                         const Json* old) const {
  FieldErrors errors;
  validate_object(head_, false, object, old, errors);
  std::vector<Cause> out = errors.take();
  std::erase_if(out, is_only_unqualified);
  if (!embeds(schema)) return out;
  for_each_embedded(schema, object, FieldPath(), [&](const FieldPath& path, const Json& value) {
    FieldErrors found;
    check_embedded(value.get_object(), path, found);
    for (Cause& cause : found.take()) out.push_back(std::move(cause));
    FieldErrors below;
    validate_object(head_, false, value, nullptr, below);
    for (Cause& cause : below.take()) {
      cause.field = path.text() + "." + cause.field;
      out.push_back(std::move(cause));
    }
  });
  return out;
}

}  // namespace krater::api
