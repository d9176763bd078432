#include "api/machinery/custom/definition.h"

#include <algorithm>

namespace krater::api {
namespace {

std::vector<std::string> strings(const Json& value, std::string_view key) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(value, {key})) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

JsonArray words(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& word : list) out.emplace_back(word);
  return out;
}

DefinitionColumn read_column(const Json& column) {
  DefinitionColumn out;
  out.path = text_at(column, {"jsonPath"});
  out.column.name = text_at(column, {"name"});
  out.column.type = text_at(column, {"type"});
  out.column.format = text_at(column, {"format"});
  out.column.description = text_at(column, {"description"});
  if (out.column.description.empty())
    out.column.description = "Custom resource definition column (in JSONPath format): " + out.path;
  out.column.priority = static_cast<int>(int_at(column, {"priority"}).value_or(0));
  return out;
}

DefinitionVersion read_version(const Json& version) {
  DefinitionVersion out;
  out.name = text_at(version, {"name"});
  out.served = bool_at(version, {"served"}).value_or(false);
  out.storage = bool_at(version, {"storage"}).value_or(false);
  out.deprecated = bool_at(version, {"deprecated"}).value_or(false);
  out.deprecation_warning = text_at(version, {"deprecationWarning"});
  if (const Json* schema = find(version, {"schema", "openAPIV3Schema"})) out.schema = *schema;
  out.subresources.status = find(version, {"subresources", "status"}) != nullptr;
  if (const Json* scale = find(version, {"subresources", "scale"})) {
    out.subresources.scale = true;
    out.scale = {text_at(*scale, {"specReplicasPath"}), text_at(*scale, {"statusReplicasPath"}),
                 text_at(*scale, {"labelSelectorPath"})};
  }
  if (const JsonArray* columns = array_at(version, {"additionalPrinterColumns"})) {
    for (const Json& column : *columns) out.columns.push_back(read_column(column));
  }
  if (const JsonArray* fields = array_at(version, {"selectableFields"})) {
    for (const Json& field : *fields) out.selectable.push_back(text_at(field, {"jsonPath"}));
  }
  return out;
}

}  // namespace

DefinitionNames read_names(const Json& names) {
  return {text_at(names, {"plural"}),   text_at(names, {"singular"}), text_at(names, {"kind"}),
          text_at(names, {"listKind"}), strings(names, "shortNames"), strings(names, "categories")};
}

Json to_json_value(const DefinitionNames& names) {
  JsonObject out{{"plural", names.plural}};
  if (!names.singular.empty()) out["singular"] = names.singular;
  if (!names.short_names.empty()) out["shortNames"] = words(names.short_names);
  out["kind"] = names.kind;
  if (!names.list_kind.empty()) out["listKind"] = names.list_kind;
  if (!names.categories.empty()) out["categories"] = words(names.categories);
  return Json(std::move(out));
}

const DefinitionVersion* Definition::storage() const {
  for (const DefinitionVersion& version : versions) {
    if (version.storage) return &version;
  }
  return nullptr;
}

bool Definition::serves(const DefinitionVersion& version) const {
  const bool any = std::any_of(versions.begin(), versions.end(),
                               [](const DefinitionVersion& one) { return one.served; });
  if (deleting && !any) return version.storage;
  return version.served && (version.storage || !converted_elsewhere);
}

Definition read_definition(const Object& object) {
  const std::shared_ptr<const Json> document = object.document();
  Definition out;
  out.name = object.name();
  out.uid = object.uid();
  out.generation = object.generation();
  out.revision = object.revision();
  out.group = text_at(*document, {"spec", "group"});
  out.namespaced = text_at(*document, {"spec", "scope"}) == "Namespaced";
  out.established = condition_status(*document, "Established") == "True";
  out.converted_elsewhere = text_at(*document, {"spec", "conversion", "strategy"}) == "Webhook";
  out.deleting = object.deletion().has_value();
  if (const Json* names = find(*document, {"spec", "names"})) out.names = read_names(*names);
  if (const Json* names = find(*document, {"status", "acceptedNames"}))
    out.accepted = read_names(*names);
  if (const JsonArray* versions = array_at(*document, {"spec", "versions"})) {
    for (const Json& version : *versions) out.versions.push_back(read_version(version));
  }
  return out;
}

std::string condition_status(const Json& definition, std::string_view type) {
  if (const JsonArray* conditions = array_at(definition, {"status", "conditions"})) {
    for (const Json& condition : *conditions) {
      if (text_at(condition, {"type"}) == type) return text_at(condition, {"status"});
    }
  }
  return {};
}

}  // namespace krater::api
