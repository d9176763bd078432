#include "api/registry/pipeline.h"

#include "api/machinery/custom/custom_kind.h"
#include "api/machinery/defaults.h"
#include "api/machinery/keep_spelling.h"
#include "api/machinery/validate.h"
#include "api/registry/metadata.h"
#include "api/registry/status.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::size_t kMaxObjectBytes = 1'572'864;

// Built-in kinds know no null: a member that is null is a member that is absent. In custom kinds
// null may mean something below spec, but never in metadata.
void strip_nulls(Json& value) {
  if (value.is_array()) {
    for (Json& item : value.get_array()) strip_nulls(item);
  }
  if (!value.is_object()) return;
  JsonObject kept;
  bool dropped = false;
  for (auto& member : value.get_object()) {
    if (member.value().is_null()) {
      dropped = true;
    } else {
      strip_nulls(member.value());
    }
  }
  if (!dropped) return;
  for (auto& member : value.get_object()) {
    if (!member.value().is_null()) kept.emplace(member.key(), std::move(member.value()));
  }
  value = std::move(kept);
}

Result<void> report(const KindSchema& schema, const RequestInfo& info,
                    const std::vector<FieldProblem>& unknown, std::vector<std::string>& warnings) {
  if (info.field_validation == FieldValidation::Ignore) return {};
  std::vector<std::string> findings;
  for (const FieldProblem& problem : unknown) findings.push_back(problem.message);
  for (const std::string& path : info.duplicate_fields)
    findings.push_back("duplicate field \"" + path + "\"");
  if (findings.empty()) return {};
  if (info.field_validation == FieldValidation::Strict) {
    const std::string what = "strict decoding error: " + join(findings, ", ");
    const Kind& kind = schema.kind();
    if (!schema.built_in()) return bad_request(what);
    return bad_request(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                       kind.kind + ": " + what);
  }
  warnings.insert(warnings.end(), findings.begin(), findings.end());
  return {};
}

Causes validate_schema(const KindSchema& schema, const Admission& admission) {
  if (const CustomKind* custom = as_custom(schema))
    return custom->validate(admission.object, admission.old, admission.warnings);
  if (admission.old != nullptr && changes_status_alone(schema, admission.subresource)) {
    FieldErrors errors;
    validate_members(schema.root(), schema.built_in(), admission.object, *admission.old,
                     {"metadata", "status"}, errors);
    return errors.take();
  }
  return schema.validate(admission.object, admission.old);
}

}  // namespace

Result<void> decode_body(const KindSchema& schema, std::string_view name_space,
                         const RequestInfo& info, Json& object,
                         std::vector<std::string>& warnings) {
  TRY(place_body(schema, name_space, object));
  strip_nulls(schema.built_in() ? object : object.at("metadata"));
  TRY(schema.check_types(object));
  return report(schema, info, schema.prune(object), warnings);
}

Result<void> check_body_types(const KindSchema& schema, Json object) {
  strip_nulls(schema.built_in() ? object : object.at("metadata"));
  return schema.check_types(object);
}

void settle(const KindSchema& schema, Json& object, const Json* old) {
  schema.apply_defaults(object);
  schema.canonicalize(object);
  if (old != nullptr && schema.built_in()) keep_spelling(schema.root(), object, *old);
}

bool changes_status_alone(const KindSchema& schema, std::string_view subresource) {
  return subresource == "status" && as_custom(schema) == nullptr;
}

void settle_status(const KindSchema& schema, Json& object, const Json& old) {
  const bool native = schema.built_in();
  JsonObject& members = object.get_object();
  if (!members.contains("status")) return settle(schema, object, &old);
  for (const std::string_view name : {"metadata", "status"}) {
    const Property* property = schema.root().property(name);
    Json* value = members.if_contains(name);
    if (property == nullptr || value == nullptr) continue;
    default_object(*property->node, native, *value);
    canonicalize_object(*property->node, native, *value);
    const Json* before = old.get_object().if_contains(name);
    if (native && before != nullptr) keep_spelling(*property->node, *value, *before);
  }
}

Result<void> approve(const KindSchema& schema, const Admission& admission,
                     const RequestInfo& info) {
  Causes causes = validate_finalizers(admission.object, admission.old);
  for (Causes more : {validate_schema(schema, admission), validate(admission)}) {
    causes.insert(causes.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }
  if (!causes.empty()) return invalid(schema.kind(), admission.name, std::move(causes));
  if (Result<void> admitted = admit(admission); !admitted) {
    return explained(std::move(admitted).error(), schema.kind(), admission.name);
  }
  if (!info.permit) return {};
  if (Result<void> permitted = info.permit(schema.kind(), admission.object, admission.old);
      !permitted) {
    return explained(std::move(permitted).error(), schema.kind(), admission.name);
  }
  return {};
}

Error explained(Error error, const Kind& kind, std::string_view name) {
  if (error.code != Code::Forbidden) return error;
  return forbidden(kind, name, error.message, std::move(error.causes));
}

Result<void> check_size(std::size_t bytes) {
  if (bytes <= kMaxObjectBytes) return {};
  return make_error(Code::TooLarge,
                    "Request entity too large: limit is " + std::to_string(kMaxObjectBytes));
}

}  // namespace krater::api
