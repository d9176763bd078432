#include "api/registry/scale.h"

#include "model/selector.h"

namespace krater::api {

Json scale_of(const Object& object) {
  const std::shared_ptr<const Json> document = object.document();
  JsonObject metadata;
  for (const std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = find(*document, {"metadata", field})) metadata[field] = *value;
  }
  JsonObject spec, status;
  if (const std::int64_t replicas = int_at(*document, {"spec", "replicas"}).value_or(0);
      replicas != 0)
    spec["replicas"] = replicas;
  status["replicas"] = int_at(*document, {"status", "replicas"}).value_or(0);
  if (const Json* selector = find(*document, {"spec", "selector"})) {
    const Result<LabelSelector> parsed = LabelSelector::from_object(*selector);
    if (parsed && !parsed->empty()) status["selector"] = parsed->text();
  }
  return JsonObject{{"kind", "Scale"},
                    {"apiVersion", "autoscaling/v1"},
                    {"metadata", std::move(metadata)},
                    {"spec", std::move(spec)},
                    {"status", std::move(status)}};
}

}  // namespace krater::api
