#include "api/registry/scale.h"

#include "api/machinery/custom/custom_kind.h"
#include "api/registry/status.h"
#include "base/strings.h"
#include "model/selector.h"

namespace krater::api {
namespace {

struct Size {
  std::int64_t wanted = 0, present = 0;
  std::string selector;
};

Size size_of(const Json& document) {
  Size out{int_at(document, {"spec", "replicas"}).value_or(0),
           int_at(document, {"status", "replicas"}).value_or(0),
           {}};
  if (const Json* selector = find(document, {"spec", "selector"})) {
    const Result<LabelSelector> parsed = LabelSelector::from_object(*selector);
    if (parsed && !parsed->empty()) out.selector = parsed->text();
  }
  return out;
}

Result<Size> size_of(const ScalePaths& paths, const Json& document) {
  Size out;
  const Json* wanted = at_simple_path(document, paths.spec_replicas);
  if (wanted == nullptr) {
    return internal_error("the spec replicas field \"" + paths.spec_replicas + "\" does not exist");
  }
  out.wanted = as_int(*wanted).value_or(0);
  if (const Json* present = at_simple_path(document, paths.status_replicas))
    out.present = as_int(*present).value_or(0);
  const Json* selector =
      paths.label_selector.empty() ? nullptr : at_simple_path(document, paths.label_selector);
  if (selector != nullptr && selector->is_string()) out.selector = view(selector->get_string());
  return out;
}

}  // namespace

Result<Json> scale_of(const KindSchema& schema, const Object& object) {
  return scale_of(schema, *object.document());
}

Result<Json> scale_of(const KindSchema& schema, const Json& document) {
  const CustomKind* custom = as_custom(schema);
  Size size;
  if (custom == nullptr) {
    size = size_of(document);
  } else {
    TRY_ASSIGN(size, size_of(custom->version().scale, document));
  }
  JsonObject metadata;
  for (const std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = find(document, {"metadata", field})) metadata[field] = *value;
  }
  JsonObject spec, status;
  if (size.wanted != 0) spec["replicas"] = size.wanted;
  status["replicas"] = size.present;
  if (!size.selector.empty()) status["selector"] = size.selector;
  return Json(JsonObject{{"kind", "Scale"},
                         {"apiVersion", "autoscaling/v1"},
                         {"metadata", std::move(metadata)},
                         {"spec", std::move(spec)},
                         {"status", std::move(status)}});
}

std::optional<std::int64_t> replicas_in(const KindSchema& schema, const Json& object) {
  const CustomKind* custom = as_custom(schema);
  if (custom == nullptr) return int_at(object, {"spec", "replicas"});
  const Json* value = at_simple_path(object, custom->version().scale.spec_replicas);
  return value == nullptr ? std::nullopt : as_int(*value);
}

void set_replicas(const KindSchema& schema, Json& object, std::int64_t replicas) {
  const CustomKind* custom = as_custom(schema);
  if (custom == nullptr) return set_path(object, {"spec", "replicas"}, replicas);
  Json* at = &object;
  const std::string& path = custom->version().scale.spec_replicas;
  for (const std::string_view step : split(std::string_view(path).substr(1), '.')) {
    if (!at->is_object()) *at = JsonObject();
    at = &at->get_object()[step];
  }
  *at = replicas;
}

}  // namespace krater::api
