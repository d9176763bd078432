#include "api/machinery/rules/rules.h"
#include "base/quantity.h"

namespace krater::api::rules {
namespace {

void check_host_path(const Json& volume, const FieldPath& path, FieldErrors& errors) {
  const auto host_path = string_at(volume, {"hostPath", "path"});
  if (host_path && host_path->find("..") != std::string_view::npos) {
    errors.invalid(path.field("hostPath").field("path"), Json(std::string(*host_path)),
                   "must not contain '..'");
  }
}

void check_projection_sources(const Json& volume, const FieldPath& path, FieldErrors& errors) {
  const JsonArray* sources = array_at(volume, {"projected", "sources"});
  if (sources == nullptr) return;
  const FieldPath projected = path.field("projected");
  const FieldPath list = projected.field("sources");
  for (std::size_t i = 0; i < sources->size(); ++i) {
    const FieldPath here = list.index(i);
    const auto* fields = (*sources)[i].if_object();
    if (fields == nullptr) continue;
    if (fields->size() > 1) errors.forbidden(here, "may not specify more than 1 volume type");
    const Json& source = (*sources)[i];
    for (std::string_view kind : {"secret", "configMap"}) {
      if (find(source, {kind}) != nullptr && text_at(source, {kind, "name"}).empty()) {
        errors.required(here.field(kind).field("name"));
      }
    }
  }
}

}  // namespace

void volume(const RuleInput& in, FieldErrors& errors) {
  const JsonObject& fields = in.value.as_object();
  bool seen = false;
  for (const auto& entry : fields) {
    const std::string_view name = entry.key();
    if (name == "name") continue;
    if (seen) errors.forbidden(in.path.field(name), "may not specify more than 1 volume type");
    seen = true;
  }
  if (!seen) errors.required(in.path, "must specify a volume type");
  check_host_path(in.value, in.path, errors);
  if (const auto share = string_at(in.value, {"nfs", "path"}); share && !share->starts_with('/')) {
    const FieldPath nfs = in.path.field("nfs");
    errors.invalid(nfs.field("path"), Json(*share), "must be an absolute path");
  }
  if (find(in.value, {"ephemeral"}) != nullptr &&
      find(in.value, {"ephemeral", "volumeClaimTemplate"}) == nullptr) {
    const FieldPath ephemeral = in.path.field("ephemeral");
    errors.required(ephemeral.field("volumeClaimTemplate"));
  }
  if (const auto limit = string_at(in.value, {"emptyDir", "sizeLimit"})) {
    const auto size = Quantity::parse(*limit);
    const FieldPath directory = in.path.field("emptyDir");
    if (size && size->sign() < 0)
      errors.forbidden(directory.field("sizeLimit"),
                       "SizeLimit field must be a valid resource quantity");
  }
  check_projection_sources(in.value, in.path, errors);
}

}  // namespace krater::api::rules
