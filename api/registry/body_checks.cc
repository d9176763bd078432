#include "api/registry/body_checks.h"

#include "api/admission/causes.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/registry/status.h"

namespace krater::api {

Result<void> check_applied_type(const Kind& kind, const Json& config, bool whole) {
  const std::string version = text_at(config, {"apiVersion"});
  const std::string named = text_at(config, {"kind"});
  const auto fits = [whole](const std::string& said, const std::string& meant) {
    return said == meant || (said.empty() && !whole);
  };
  if (fits(version, kind.api_version()) && fits(named, kind.kind)) return {};
  const bool core = version.find('/') == std::string::npos;
  return bad_request("invalid object type: " + (core ? "/" + version : version) +
                     ", Kind=" + named);
}

Result<void> check_patched_uid(const Kind& kind, const Json& body, const Object& old) {
  const std::string uid = text_at(body, {"metadata", "uid"});
  if (uid.empty() || uid == old.uid().text()) return {};
  return invalid(kind, old.name(),
                 {invalid_value("metadata.uid", quoted(uid), "field is immutable")});
}

Result<void> check_shape(const KindSchema& schema, const RequestInfo& info, const Json& object) {
  if (schema.built_in() || as_custom(schema) != nullptr || info.in_process) return {};
  Causes causes = schema.validate(object, nullptr);
  std::erase_if(causes, [](const Cause& cause) { return cause.reason != "FieldValueTypeInvalid"; });
  if (causes.empty()) return {};
  return invalid(schema.kind(), text_at(object, {"metadata", "name"}), std::move(causes));
}

}  // namespace krater::api
