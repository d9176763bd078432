#include "controllers/endpoints/endpoints_controller.h"

#include <algorithm>
#include <map>

#include "controllers/endpoints/publish.h"

namespace krater::controllers {
namespace {

ObjectKey key_of_service(std::string_view name_space, std::string_view name) {
  return ObjectKey::of(kinds::kService, name_space, name);
}

bool matches(const Labels& selector, const Labels& labels) {
  return std::ranges::all_of(selector, [&](const auto& wanted) {
    const auto place = labels.find(wanted.first);
    return place != labels.end() && place->second == wanted.second;
  });
}

// What of a pod reaches an endpoint. Everything else that happens to a pod wakes no service.
bool same_endpoint(const PodView& a, const PodView& b) {
  return a->uid() == b->uid() && a->labels() == b->labels() && a.pod_ip() == b.pod_ip() &&
         a.ready() == b.ready() && a.finished() == b.finished() && a.deleting() == b.deleting() &&
         a.node_name() == b.node_name();
}

class EndpointsController final : public Reconciler {
 public:
  std::string_view name() const override { return "endpoint-controller"; }

  std::vector<Interest> interests() const override {
    const auto of_endpoints = [](const ObjectPtr& before, const ObjectPtr& after) {
      const Object& object = after ? *after : *before;
      return std::vector<ObjectKey>{key_of_service(object.name_space(), object.name())};
    };
    const auto of_slice = [](const ObjectPtr& before, const ObjectPtr& after) {
      const Object& object = after ? *after : *before;
      const std::string_view service = object.label(keys::kServiceName);
      if (service.empty()) return std::vector<ObjectKey>();
      return std::vector<ObjectKey>{key_of_service(object.name_space(), service)};
    };
    return {{kinds::kService, [this](const ObjectPtr& before,
                                     const ObjectPtr& after) { return on_service(before, after); }},
            {kinds::kPod, [this](const ObjectPtr& before,
                                 const ObjectPtr& after) { return on_pod(before, after); }},
            {kinds::kEndpoints, of_endpoints},
            {kinds::kEndpointSlice, of_slice}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    Plan plan;
    const ServiceView service(cache.get(key));
    // What belonged to a service that is gone has it as its owner.
    if (!service || service->deletion() || service.external_name()) return plan;
    const Labels selector = service.selector();
    if (selector.empty()) return plan;  // its endpoints are somebody else's
    std::vector<Target> targets;
    for (const ObjectPtr& pod : cache.list(kinds::kPod, key.name_space)) {
      if (!matches(selector, pod->labels())) continue;
      if (auto target = target_of(service, PodView(pod))) targets.push_back(*std::move(target));
    }
    std::vector<ObjectPtr> slices;
    for (const ObjectPtr& slice : cache.controlled_by(kinds::kEndpointSlice, service->uid()))
      slices.push_back(slice);
    std::vector<PlannedWrite> writes = publish_slices(service, targets, slices);
    if (auto write = publish_endpoints(service, targets,
                                       cache.get(kinds::kEndpoints, key.name_space, key.name))) {
      writes.push_back(*std::move(write));
    }
    plan.steps.push_back(std::move(writes));
    return plan;
  }

 private:
  std::vector<ObjectKey> on_service(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectKey& key = (after ? after : before)->key();
    const Labels selector = after ? ServiceView(after).selector() : Labels();
    auto& services = selectors_[key.name_space];
    if (selector.empty()) {
      services.erase(key.name);
    } else {
      services[key.name] = selector;
    }
    if (services.empty()) selectors_.erase(key.name_space);
    return {key};
  }

  std::vector<ObjectKey> on_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    const std::string& name_space = (after ? after : before)->name_space();
    const auto services = selectors_.find(name_space);
    if (services == selectors_.end()) return out;
    for (const auto& [name, selector] : services->second) {
      const bool was = before && matches(selector, before->labels());
      const bool is = after && matches(selector, after->labels());
      if (was || is) out.push_back(key_of_service(name_space, name));
    }
    if (!out.empty() && before && after && same_endpoint(PodView(before), PodView(after)))
      out.clear();
    return out;
  }

  // Namespace -> service -> selector: an index of what the cache shows.
  mutable std::map<std::string, std::map<std::string, Labels>> selectors_;
};

}  // namespace

std::unique_ptr<Reconciler> make_endpoints_controller() {
  return std::make_unique<EndpointsController>();
}

}  // namespace krater::controllers
