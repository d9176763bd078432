#include "controllers/rbac/aggregation.h"

#include <algorithm>
#include <map>

#include "model/rbac_kinds.h"
#include "model/selector.h"

namespace krater::controllers {
namespace {

bool aggregates(const Object& role) {
  const std::shared_ptr<const Json> document = role.document();
  return find(*document, {"aggregationRule"}) != nullptr;
}

class AggregationController final : public Reconciler {
 public:
  std::string_view name() const override { return "clusterrole-aggregation-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kClusterRole, [this](const ObjectPtr& before, const ObjectPtr& after) {
               const ObjectKey key = (after ? after : before)->key();
               if (after && aggregates(*after)) {
                 collectors_.insert(key);
               } else {
                 collectors_.erase(key);
               }
               // Whatever changed may be chosen, or no longer be chosen, by any collector: there
               // are few of them.
               return std::vector<ObjectKey>(collectors_.begin(), collectors_.end());
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    Plan plan;
    const ObjectPtr role = cache.get(key);
    if (role == nullptr || !aggregates(*role)) return plan;
    JsonArray rules = collected_rules(*role, cache.list(kinds::kClusterRole));
    const std::shared_ptr<const Json> document = role->document();
    const JsonArray* held = array_at(*document, {"rules"});
    if ((held == nullptr && rules.empty()) || (held != nullptr && *held == rules)) return plan;
    client::PatchWrite write;
    write.kind = kinds::kClusterRole;
    write.name = key.name;
    write.type = client::PatchType::Merge;
    write.patch = JsonObject{{"rules", std::move(rules)}};
    write.only_if = role->revision();
    plan.then({std::move(write), Code::NotFound, {}, {}});
    return plan;
  }

 private:
  mutable std::set<ObjectKey> collectors_;
};

}  // namespace

JsonArray collected_rules(const Object& role, const std::vector<ObjectPtr>& others) {
  const std::shared_ptr<const Json> document = role.document();
  const JsonArray* selectors = array_at(*document, {"aggregationRule", "clusterRoleSelectors"});
  JsonArray out;
  if (selectors == nullptr) return out;
  std::map<std::string, ObjectPtr> chosen;
  for (const Json& text : *selectors) {
    const Result<LabelSelector> selector = LabelSelector::from_object(text);
    if (!selector) continue;
    for (const ObjectPtr& other : others) {
      if (other->name() != role.name() && selector->matches(other->labels()))
        chosen.emplace(other->name(), other);
    }
  }
  for (const auto& [name, other] : chosen) {
    const std::shared_ptr<const Json> source = other->document();
    const JsonArray* rules = array_at(*source, {"rules"});
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      if (std::find(out.begin(), out.end(), (*rules)[i]) == out.end()) out.push_back((*rules)[i]);
    }
  }
  return out;
}

std::unique_ptr<Reconciler> make_role_aggregation_controller() {
  return std::make_unique<AggregationController>();
}

}  // namespace krater::controllers
