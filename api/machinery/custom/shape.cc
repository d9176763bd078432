#include "api/machinery/custom/shape.h"

#include <algorithm>
#include <string>

#include "api/machinery/field_path.h"

#include "base/json_members.h"

namespace krater::api {
namespace {

bool is_meta_field(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

struct Pruner {
  std::vector<FieldProblem>& problems;

  // A null schema knows nothing: everything in objects goes.
  void walk(const Structural* schema, bool whole, Json& value, const FieldPath& path) {
    if (JsonObject* object = value.if_object()) return members(schema, whole, *object, path);
    JsonArray* items = value.if_array();
    if (items == nullptr) return;
    const Structural* item = schema == nullptr ? nullptr : schema->items.get();
    // What is kept as it is has no schema for its items unless one is written down.
    if (item == nullptr && schema != nullptr && schema->preserve_unknown) return;
    for (std::size_t i = 0; i < items->size(); ++i)
      walk(item, item != nullptr && item->embedded, (*items)[i], path.index(i));
  }

  void members(const Structural* schema, bool whole, JsonObject& object, const FieldPath& path) {
    std::vector<std::string> gone;
    for (auto& entry : object) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const FieldPath here = path.field(name);
      if (whole && is_meta_field(name)) continue;
      const Structural* property = schema == nullptr ? nullptr : schema->property(name);
      if (property != nullptr) {
        walk(property, property->embedded, entry.value(), here);
      } else if (schema != nullptr && (schema->values || schema->any_values)) {
        const Structural* values = schema->values.get();
        walk(values, values != nullptr && values->embedded, entry.value(), here);
      } else if (schema == nullptr || !schema->preserve_unknown) {
        std::string text = here.text();
        std::string message = "unknown field \"" + text + '"';
        problems.push_back({std::move(text), std::move(message)});
        gone.emplace_back(name);
      }
    }
    erase_members(object, gone);
  }
};

bool may_not_be_null(const Structural* schema) {
  return schema != nullptr && !schema->nullable;
}

// A null stands where the schema has a default for it, or is dropped.
void drop_nulls(const Structural& schema, Json& value) {
  if (JsonObject* object = value.if_object()) {
    std::vector<std::string> gone;
    for (auto& entry : *object) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const Structural* member = schema.property(name);
      if (member == nullptr) member = schema.values.get();
      if (entry.value().is_null() && may_not_be_null(member)) {
        if (member->default_value == nullptr) gone.emplace_back(name);
      } else if (member != nullptr) {
        drop_nulls(*member, entry.value());
      }
    }
    erase_members(*object, gone);
  } else if (JsonArray* items = value.if_array(); items != nullptr && schema.items != nullptr) {
    for (Json& item : *items) drop_nulls(*schema.items, item);
  }
}

void replace_null(const Structural* schema, Json& value) {
  if (value.is_null() && may_not_be_null(schema) && schema->default_value != nullptr)
    value = *schema->default_value;
}

void fill(const Structural& schema, Json& value) {
  if (JsonObject* object = value.if_object()) {
    for (const Structural::Member& member : schema.properties) {
      if (member.schema.default_value != nullptr && !object->contains(member.name))
        object->emplace(member.name, *member.schema.default_value);
    }
    for (auto& entry : *object) {
      const Structural* member =
          schema.property(std::string_view(entry.key().data(), entry.key().size()));
      if (member == nullptr) member = schema.values.get();
      replace_null(member, entry.value());
      if (member != nullptr) fill(*member, entry.value());
    }
  } else if (JsonArray* items = value.if_array(); items != nullptr && schema.items != nullptr) {
    for (Json& item : *items) {
      replace_null(schema.items.get(), item);
      fill(*schema.items, item);
    }
  }
}

}  // namespace

void prune_custom(const Structural& schema, bool whole, Json& value,
                  std::vector<FieldProblem>& problems) {
  Pruner{problems}.walk(&schema, whole, value, FieldPath());
  std::sort(problems.begin(), problems.end(),
            [](const FieldProblem& a, const FieldProblem& b) { return a.path < b.path; });
}

void default_custom(const Structural& schema, Json& value) {
  drop_nulls(schema, value);
  fill(schema, value);
}

}  // namespace krater::api
