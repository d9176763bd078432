// Definitions of kinds: names that are left out, versions that were ever stored, and what makes a
// definition acceptable (api/machinery/custom/definition_check.h).
#include <algorithm>
#include <set>

#include "api/admission/rules.h"
#include "api/machinery/custom/definition_check.h"
#include "api/machinery/custom/formats.h"
#include "base/strings.h"

namespace krater::api {
namespace {

void fill_names(Json& definition) {
  const std::string kind = text_at(definition, {"spec", "names", "kind"});
  if (kind.empty()) return;
  if (text_at(definition, {"spec", "names", "singular"}).empty())
    set_path(definition, {"spec", "names", "singular"}, Json(to_lower(kind)));
  if (text_at(definition, {"spec", "names", "listKind"}).empty())
    set_path(definition, {"spec", "names", "listKind"}, Json(kind + "List"));
}

void fill_conversion(Json& definition) {
  if (find(definition, {"spec", "conversion"}) == nullptr)
    set_path(definition, {"spec", "conversion", "strategy"}, "None");
  if (Json* service =
          find(definition, {"spec", "conversion", "webhook", "clientConfig", "service"});
      service != nullptr && find(*service, {"port"}) == nullptr) {
    set_path(*service, {"port"}, 443);
  }
}

// Every version that objects are or were stored in.
void note_storage(Json& definition) {
  JsonArray stored;
  if (const JsonArray* known = array_at(definition, {"status", "storedVersions"})) stored = *known;
  if (const JsonArray* versions = array_at(definition, {"spec", "versions"})) {
    for (const Json& version : *versions) {
      if (!bool_at(version, {"storage"}).value_or(false)) continue;
      const Json name(text_at(version, {"name"}));
      if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
      break;
    }
  }
  set_path(definition, {"status", "storedVersions"}, std::move(stored));
}

void collect_formats(const Json& schema, std::set<std::string>& out) {
  const JsonObject* members = schema.if_object();
  if (members == nullptr) return;
  const std::string format = text_at(schema, {"format"});
  if (!format.empty() && !is_known_format(json_type(text_at(schema, {"type"})), format))
    out.insert(format);
  for (const std::string_view key : {"items", "additionalProperties", "not"}) {
    if (const Json* below = members->if_contains(key)) collect_formats(*below, out);
  }
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) {
    const JsonArray* parts = array_at(schema, {key});
    for (std::size_t i = 0; parts != nullptr && i < parts->size(); ++i)
      collect_formats((*parts)[i], out);
  }
  if (const JsonObject* properties = object_at(schema, {"properties"})) {
    for (const auto& entry : *properties) collect_formats(entry.value(), out);
  }
}

std::set<std::string> unknown_formats(const Json& definition) {
  std::set<std::string> out;
  const JsonArray* versions = array_at(definition, {"spec", "versions"});
  for (std::size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    if (const Json* schema = find((*versions)[i], {"schema", "openAPIV3Schema"}))
      collect_formats(*schema, out);
  }
  return out;
}

}  // namespace

Result<void> mutate_definition(Admission& admission) {
  Json& definition = admission.object;
  fill_names(definition);
  fill_conversion(definition);
  if (admission.subresource.empty()) note_storage(definition);
  if (admission.operation == Operation::Create) {
    set_path(definition, {"status", "conditions"}, JsonArray());
    set_path(definition, {"status", "acceptedNames"}, JsonObject{{"plural", ""}, {"kind", ""}});
  }
  return {};
}

void validate_definition(const Admission& admission, Causes& causes) {
  Causes found = admission.subresource == "status"
                     ? check_definition_status(admission.object)
                     : check_definition(admission.object, admission.old);
  causes.insert(causes.end(), found.begin(), found.end());
  if (!causes.empty() || !admission.subresource.empty()) return;
  const std::set<std::string> before =
      admission.old == nullptr ? std::set<std::string>() : unknown_formats(*admission.old);
  for (const std::string& format : unknown_formats(admission.object)) {
    if (!before.contains(format))
      admission.warnings.push_back("unrecognized format " + quoted(format));
  }
}

}  // namespace krater::api
