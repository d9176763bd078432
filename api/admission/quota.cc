#include "api/admission/quota.h"

#include <algorithm>
#include <array>
#include <set>

#include "api/admission/rules.h"
#include "base/strings.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

Usage amounts_at(const Json& quota, JsonPath path) {
  Usage out;
  const Json* list = find(quota, path);
  if (list == nullptr || !list->is_object()) return out;
  for (const auto& entry : list->get_object()) {
    const std::string text = entry.value().is_string()
                                 ? std::string(view(entry.value().get_string()))
                                 : to_json(entry.value());
    if (const Result<Quantity> amount = Quantity::parse(text))
      out[std::string(entry.key())] = *amount;
  }
  return out;
}

JsonObject to_json_object(const Usage& usage) {
  JsonObject out;
  for (const auto& [name, amount] : usage) out[name] = amount.text();
  return out;
}

// "pods=1,requests.cpu=2"
std::string shown(const Usage& usage, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const auto place = usage.find(name);
    out.push_back(name + "=" + (place == usage.end() ? "0" : place->second.text()));
  }
  return join(out, ",");
}

bool crosses_namespaces(const Json& pod) {
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    for (const std::string_view list : {"requiredDuringSchedulingIgnoredDuringExecution",
                                        "preferredDuringSchedulingIgnoredDuringExecution"}) {
      const JsonArray* terms = array_at(pod, {"spec", "affinity", kind, list});
      if (terms == nullptr) continue;
      for (const Json& entry : *terms) {
        const Json* inner = find(entry, {"podAffinityTerm"});
        const Json& term = inner == nullptr ? entry : *inner;
        const JsonArray* spaces = array_at(term, {"namespaces"});
        if ((spaces != nullptr && !spaces->empty()) || find(term, {"namespaceSelector"}) != nullptr)
          return true;
      }
    }
  }
  return false;
}

bool in_scope(const Json& pod, std::string_view scope) {
  const bool best_effort = text_at(pod, {"status", "qosClass"}) == "BestEffort";
  const bool ends = int_at(pod, {"spec", "activeDeadlineSeconds"}).has_value();
  if (scope == "BestEffort") return best_effort;
  if (scope == "NotBestEffort") return !best_effort;
  if (scope == "Terminating") return ends;
  if (scope == "NotTerminating") return !ends;
  if (scope == "PriorityClass") return !text_at(pod, {"spec", "priorityClassName"}).empty();
  return scope == "CrossNamespacePodAffinity" && crosses_namespaces(pod);
}

bool meets(const Json& pod, const Json& requirement) {
  const std::string scope = text_at(requirement, {"scopeName"});
  const std::string op = text_at(requirement, {"operator"});
  if (scope != "PriorityClass" || op == "Exists") return in_scope(pod, scope);
  const std::string name = text_at(pod, {"spec", "priorityClassName"});
  if (op == "DoesNotExist") return name.empty();
  const JsonArray* values = array_at(requirement, {"values"});
  const bool listed = values != nullptr && std::ranges::any_of(*values, [&](const Json& value) {
                        return value.is_string() && view(value.get_string()) == name;
                      });
  return op == "In" ? !name.empty() && listed : op == "NotIn" && !listed;
}

// Quotas with scopes are about pods alone.
bool concerns(const Json& quota, const Kind& kind, const Json& object) {
  const JsonArray* scopes = array_at(quota, {"spec", "scopes"});
  const JsonArray* selector = array_at(quota, {"spec", "scopeSelector", "matchExpressions"});
  const bool scoped =
      (scopes != nullptr && !scopes->empty()) || (selector != nullptr && !selector->empty());
  if (!scoped) return true;
  if (kind != kinds::kPod && kind.resource() != "pods") return false;
  if (scopes != nullptr) {
    for (const Json& scope : *scopes) {
      if (!scope.is_string() || !in_scope(object, view(scope.get_string()))) return false;
    }
  }
  return selector == nullptr || std::ranges::all_of(*selector, [&](const Json& requirement) {
           return meets(object, requirement);
         });
}

// Where a quota limits a compute resource, every container must say what it needs of it.
Result<void> check_specified(const Json& pod, const Usage& hard, const std::string& quota) {
  struct Demand {
    std::string_view name, list, resource;
  };
  constexpr std::array kDemands{Demand{"cpu", "requests", "cpu"},
                                Demand{"limits.cpu", "limits", "cpu"},
                                Demand{"limits.memory", "limits", "memory"},
                                Demand{"memory", "requests", "memory"},
                                Demand{"requests.cpu", "requests", "cpu"},
                                Demand{"requests.memory", "requests", "memory"}};
  std::vector<std::string> missing;
  for (const Demand& demand : kDemands) {
    if (!hard.contains(demand.name)) continue;
    std::set<std::string> silent;
    for (const std::string_view list : {"initContainers", "containers"}) {
      const JsonArray* containers = array_at(pod, {"spec", list});
      if (containers == nullptr) continue;
      for (const Json& container : *containers) {
        if (find(container, {"resources", demand.list, demand.resource}) == nullptr &&
            find(pod, {"spec", "resources", demand.list, demand.resource}) == nullptr)
          silent.insert(text_at(container, {"name"}));
      }
    }
    if (silent.empty()) continue;
    missing.push_back(std::string(demand.name) +
                      " for: " + join({silent.begin(), silent.end()}, ","));
  }
  if (missing.empty()) return {};
  return refusal("failed quota: " + quota + ": must specify " + join(missing, "; "));
}

Result<std::optional<QuotaCharge>> charge_one(const Admission& admission, const ObjectPtr& quota,
                                              const Usage& wanted) {
  const std::shared_ptr<const Json> document = quota->document();
  if (!concerns(*document, admission.kind, admission.object)) return std::optional<QuotaCharge>();
  const Usage hard = amounts_at(*document, {"status", "hard"});
  if (admission.kind == kinds::kPod && admission.old == nullptr)
    TRY(check_specified(admission.object, hard, quota->name()));
  Usage used = amounts_at(*document, {"status", "used"});
  std::vector<std::string> exceeded, unknown;
  bool charged = false;
  const Usage before = used;
  for (const auto& [name, limit] : hard) {
    const auto asked = wanted.find(name);
    if (asked == wanted.end() || asked->second.sign() <= 0) continue;
    if (!before.contains(name)) unknown.push_back(name);
    used[name] += asked->second;
    charged = true;
    if (used[name] > limit) exceeded.push_back(name);
  }
  if (!unknown.empty()) {
    return refusal("status unknown for quota: " + quota->name() +
                   ", resources: " + join(unknown, ","));
  }
  if (!exceeded.empty()) {
    return refusal("exceeded quota: " + quota->name() + ", requested: " + shown(wanted, exceeded) +
                   ", used: " + shown(before, exceeded) + ", limited: " + shown(hard, exceeded));
  }
  if (!charged) return std::optional<QuotaCharge>();
  QuotaCharge out{quota, *document};
  set_path(out.after, {"status", "used"}, to_json_object(used));
  return std::optional(std::move(out));
}

// The kind whose objects a name counts: "requests.cpu" those of pods, "count/jobs.batch" jobs.
Kind counted_kind(std::string_view name) {
  constexpr std::string_view kCount = "count/";
  if (name.starts_with(kCount)) {
    name.remove_prefix(kCount.size());
    const std::size_t dot = name.find('.');
    const std::string_view group = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    return {std::string(group), "", "", std::string(name.substr(0, dot)), true};
  }
  if (name.starts_with("services")) return kinds::kService;
  if (name == "requests.storage" || name.find(".storageclass.storage.k8s.io/") != name.npos)
    return kinds::kPersistentVolumeClaim;
  for (const std::string_view plural : {"configmaps", "secrets", "resourcequotas",
                                        "replicationcontrollers", "persistentvolumeclaims"}) {
    if (name == plural) return {"", "v1", "", std::string(plural), true};
  }
  return kinds::kPod;
}

// All that a new object uses; of a changed one what it uses more than before.
Usage wanted_by(const Admission& admission) {
  Usage out = usage_of(admission.kind, admission.object);
  if (admission.old == nullptr) return out;
  for (const auto& [name, amount] : usage_of(admission.kind, *admission.old)) {
    if (const auto place = out.find(name); place != out.end()) place->second -= amount;
  }
  return out;
}

}  // namespace

Result<std::vector<QuotaCharge>> charge_quotas(const Admission& admission) {
  std::vector<QuotaCharge> out;
  if (!admission.kind.namespaced || admission.kind == kinds::kEvent) return out;
  TRY_ASSIGN(const std::vector<ObjectPtr> quotas,
             admission.reader.list(kinds::kResourceQuota, admission.name_space));
  if (quotas.empty()) return out;
  const Usage wanted = wanted_by(admission);
  for (const ObjectPtr& quota : quotas) {
    TRY_ASSIGN(std::optional<QuotaCharge> charge, charge_one(admission, quota, wanted));
    if (charge) out.push_back(*std::move(charge));
  }
  return out;
}

Result<Usage> count_usage(const Json& quota, std::string_view name_space,
                          const ObjectReader& reader) {
  const Usage hard = amounts_at(quota, {"spec", "hard"});
  Usage out;
  std::map<std::string, Kind> counted;
  for (const auto& [name, limit] : hard) {
    out[name] = Quantity::from_value(0);
    const Kind kind = counted_kind(name);
    counted.emplace(kind.resource(), kind);
  }
  for (const auto& [resource, kind] : counted) {
    TRY_ASSIGN(const std::vector<ObjectPtr> objects, reader.list(kind, name_space));
    for (const ObjectPtr& object : objects) {
      const std::shared_ptr<const Json> document = object->document();
      if (!concerns(quota, kind, *document)) continue;
      for (const auto& [name, amount] : usage_of(kind, *document)) {
        if (const auto place = out.find(name); place != out.end()) place->second += amount;
      }
    }
  }
  return out;
}

// A quota tells at once what is used: whoever writes it, its status is counted from the objects it
// is judged with. A creation that is charged meanwhile changes the quota, and this write is made
// anew.
Result<void> mutate_resource_quota(Admission& admission) {
  TRY_ASSIGN(Usage used, count_usage(admission.object, admission.name_space, admission.reader));
  // A quota that counts quotas counts itself.
  if (admission.operation == Operation::Create) {
    for (const std::string_view name : {"resourcequotas", "count/resourcequotas"}) {
      if (const auto place = used.find(name); place != used.end())
        place->second += Quantity::from_value(1);
    }
  }
  const Json* hard = find(admission.object, {"spec", "hard"});
  JsonObject status;
  if (hard != nullptr) {
    status["hard"] = *hard;
    status["used"] = to_json_object(used);
  }
  set_path(admission.object, {"status"}, std::move(status));
  return {};
}

}  // namespace krater::api
