#include "controllers/quota/quota_controller.h"

#include <map>
#include <set>

#include "model/pod.h"
#include "model/workload_kinds.h"

namespace krater::controllers {
namespace {

// Counting goes through all objects of a namespace: once a second is enough.
constexpr Duration kPause = std::chrono::seconds(1);
// What nothing woke it for, an event that came before the quota was seen, say.
constexpr Duration kAnyway = std::chrono::minutes(5);

// A pod that has ended uses nothing any more. A service may change its type. Everything else uses
// the same from its creation to its end.
bool uses_the_same(const Kind& kind, const ObjectPtr& before, const ObjectPtr& after) {
  if (before == nullptr || after == nullptr) return false;
  if (kind == kinds::kPod) return PodView(before).finished() == PodView(after).finished();
  if (kind != kinds::kService) return true;
  const auto spec = [](const ObjectPtr& service) {
    const std::shared_ptr<const Json> document = service->document();
    const Json* found = find(*document, {"spec"});
    return found == nullptr ? Json() : *found;
  };
  return spec(before) == spec(after);
}

class Counter final : public QuotaController {
 public:
  explicit Counter(std::vector<Kind> counted) : counted_(std::move(counted)) {}

  std::string_view name() const override { return "resourcequota-controller"; }

  std::vector<Interest> interests() const override {
    std::vector<Interest> out{
        {kinds::kResourceQuota, [this](const ObjectPtr& before, const ObjectPtr& after) {
           const ObjectKey& key = (after ? after : before)->key();
           if (after == nullptr) {
             quotas_[key.name_space].erase(key);
             counted_at_.erase(key);
           } else {
             quotas_[key.name_space].insert(key);
           }
           // A charge is no reason to count.
           return before && after ? std::vector<ObjectKey>() : quotas_in(key.name_space);
         }}};
    for (const Kind& kind : counted_) {
      if (kind != kinds::kResourceQuota) out.push_back(interest(kind));
    }
    return out;
  }

  Interest add_kind(const Kind& kind) override { return interest(kind); }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    Plan plan;
    const ObjectPtr quota = cache.get(key);
    if (quota == nullptr || quota->deletion()) return plan;
    const auto [last, first] = counted_at_.try_emplace(key, now);
    const Duration rest = last->second + kPause - now;
    if (!first && rest > Duration(0)) {
      plan.outcome = Outcome::requeue_after(rest);
      return plan;
    }
    last->second = now;
    Json object = *quota->document();
    erase_path(object, {"metadata", "resourceVersion"});  // charged meanwhile or not
    plan.then({client::UpdateWrite{kinds::kResourceQuota, key.name_space, key.name,
                                   std::move(object), "status"},
               Code::NotFound,
               {},
               {}});
    plan.outcome = Outcome::requeue_after(kAnyway);
    return plan;
  }

 private:
  Interest interest(const Kind& kind) const {
    return {kind, [this, kind](const ObjectPtr& before, const ObjectPtr& after) {
              return uses_the_same(kind, before, after)
                         ? std::vector<ObjectKey>()
                         : quotas_in((after ? after : before)->name_space());
            }};
  }

  std::vector<ObjectKey> quotas_in(const std::string& name_space) const {
    const auto place = quotas_.find(name_space);
    if (place == quotas_.end()) return {};
    return {place->second.begin(), place->second.end()};
  }

  std::vector<Kind> counted_;
  mutable std::map<std::string, std::set<ObjectKey>> quotas_;  // by namespace
  mutable std::map<ObjectKey, WallTime> counted_at_;
};

}  // namespace

std::unique_ptr<QuotaController> make_quota_controller(std::vector<Kind> counted) {
  return std::make_unique<Counter>(std::move(counted));
}

}  // namespace krater::controllers
