#include "controllers/ray/cluster_context.h"

#include "model/ray_keys.h"

namespace krater::controllers {

PodContext context_of(const RayClusterView& cluster, const ClusterOptions& options) {
  const std::string_view origin = cluster->label(ray_keys::kOriginKind);
  const bool known = origin == "RayJob" || origin == "RayService";
  return PodContext{.cluster = cluster->name(),
                    .name_space = cluster->name_space(),
                    .cluster_annotations = cluster.annotations(),
                    .origin_kind = known ? std::string(origin) : "RayCluster",
                    .cluster_domain = options.cluster_domain,
                    .version = options.version,
                    .spec = cluster.spec()};
}

Interest owned_by(const Kind& child, const Kind& owner) {
  return {child, [owner](const ObjectPtr& before, const ObjectPtr& after) {
            std::vector<ObjectKey> out;
            for (const ObjectPtr& state : {before, after}) {
              const OwnerReference* reference = state ? state->controller() : nullptr;
              if (reference == nullptr || reference->kind != owner.kind) continue;
              if (reference->api_version != owner.api_version()) continue;
              ObjectKey key = ObjectKey::of(owner, state->name_space(), reference->name);
              if (out.empty() || out.front() != key) out.push_back(std::move(key));
            }
            return out;
          }};
}

}  // namespace krater::controllers
