#include "api/machinery/custom/custom_schemas.h"
#include "api/machinery/custom/definition_check.h"
#include "api/machinery/testing/laws.h"

namespace krater::api::testing {
namespace {

std::string told(std::string_view law, const Json& definition) {
  return std::string(law) + "\n  definition: " + to_json(definition);
}

Definition stored(const Json& definition) {
  const auto bytes = std::make_shared<const std::string>(to_json(definition));
  const Result<ObjectPtr> object = Object::parse({"customresourcedefinitions.apiextensions.k8s.io",
                                                  "", text_at(definition, {"metadata", "name"})},
                                                 Revision(1), bytes);
  return read_definition(**object);
}

}  // namespace

std::string broken_definition_law(const Json& definition, const Json& object, const Json& other) {
  static const std::unique_ptr<CustomSchemas> schemas = make_schemas();
  const KindSchemaPtr meta =
      schemas->find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (std::string law = broken_law(*meta, definition); !law.empty()) return law;
  Json whole = definition;
  meta->prune(whole);
  if (!meta->check_types(whole)) return "";
  meta->apply_defaults(whole);
  if (!meta->validate(whole, nullptr).empty() || !check_definition(whole, nullptr).empty())
    return "";
  if (!check_definition(whole, &whole).empty())
    return told("an accepted definition may stay", definition);

  schemas->publish({stored(whole)}, Revision(1));
  const KindSchemaPtr kind = schemas->find("fuzz.example.com", "v1", "things");
  if (!kind) return told("what is accepted is served", definition);
  const auto document = schemas->openapi_v3("apis/fuzz.example.com/v1");
  if (!document || !parse_json(*document)) return told("what is served has a document", definition);
  std::string law = broken_law(*kind, object);
  if (law.empty()) law = broken_apply_law(*kind, object, other, object);
  return law.empty() ? law : told(law, definition);
}

}  // namespace krater::api::testing
