// Pods: what a new one is given, and its first status.
#include <algorithm>
#include <array>

#include "api/admission/pod_gang.h"
#include "api/admission/pod_steps.h"
#include "api/admission/rules.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::array<std::string_view, 2> kQosResources{"cpu", "memory"};
constexpr std::string_view kMinAvailable = "volcano.sh/jdb-min-available";
constexpr std::string_view kMaxUnavailable = "volcano.sh/jdb-max-unavailable";

bool is_positive(const Json* quantity) {
  if (quantity == nullptr) return false;
  const Result<Quantity> amount =
      Quantity::parse(quantity->is_string() ? view(quantity->get_string()) : to_json(*quantity));
  return amount && amount->sign() > 0;
}

bool same_amount(const Json* a, const Json* b) {
  if (a == nullptr || b == nullptr || !a->is_string() || !b->is_string()) return false;
  const Result<Quantity> left = Quantity::parse(view(a->get_string()));
  const Result<Quantity> right = Quantity::parse(view(b->get_string()));
  return left && right && *left == *right;
}

// Guaranteed: every container has limits for cpu and memory, equal to its requests. BestEffort:
// nobody asks for anything. Burstable: all else.
std::string_view qos_class(const Json& pod) {
  bool anything = false;
  bool guaranteed = true;
  for (const std::string_view list : {"initContainers", "containers"}) {
    const JsonArray* containers = array_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const Json& container : *containers) {
      for (const std::string_view resource : kQosResources) {
        const Json* request = find(container, {"resources", "requests", resource});
        const Json* limit = find(container, {"resources", "limits", resource});
        anything = anything || is_positive(request) || is_positive(limit);
        guaranteed = guaranteed && is_positive(limit) && same_amount(request, limit);
      }
    }
  }
  if (!anything) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

void validate_disruption(const Json& pod, std::string_view key, Causes& causes) {
  const auto text = string_at(pod, {"metadata", "annotations", key});
  if (!text) return;
  const bool percent = text->ends_with('%');
  const auto number = parse_int(percent ? text->substr(0, text->size() - 1) : *text);
  const std::string field = "metadata.annotations[" + std::string(key) + "]";
  if (percent && (!number || *number < 1 || *number > 99)) {
    causes.push_back(
        invalid_value(field, quoted(*text), "must be a percentage which between 1% ~ 99%"));
  } else if (!percent && (!number || *number <= 0)) {
    causes.push_back(invalid_value(field, quoted(*text), "must be a positive integer"));
  }
}

void validate_volcano_annotations(const Admission& admission, Causes& causes) {
  const Json& pod = admission.object;
  if (!admission.settings.is_volcano(text_at(pod, {"spec", "schedulerName"}))) return;
  validate_disruption(pod, kMinAvailable, causes);
  validate_disruption(pod, kMaxUnavailable, causes);
  if (string_at(pod, {"metadata", "annotations", kMinAvailable}) &&
      string_at(pod, {"metadata", "annotations", kMaxUnavailable})) {
    causes.push_back(invalid_value("metadata.annotations", "\"\"",
                                   "not allow configure multiple annotations <" +
                                       std::string(kMinAvailable) + ", " +
                                       std::string(kMaxUnavailable) + "> at same time"));
  }
}

bool same(const Json& a, const Json& b, JsonPath path) {
  const Json* left = find(a, path);
  const Json* right = find(b, path);
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

// Two fields have endpoints of their own; the schema's rules see the rest.
void validate_own_endpoints(const Admission& admission, Causes& causes) {
  const Json& pod = admission.object;
  const Json& old = *admission.old;
  if (!same(pod, old, {"spec", "nodeName"})) {
    causes.push_back(
        forbidden_value("spec.nodeName", "a pod is assigned to a node by pods/binding only"));
  }
  if (admission.subresource != "ephemeralcontainers") {
    if (!same(pod, old, {"spec", "ephemeralContainers"})) {
      causes.push_back(forbidden_value("spec.ephemeralContainers",
                                       "may be changed by pods/ephemeralcontainers only"));
    }
    return;
  }
  const JsonArray* now = array_at(pod, {"spec", "ephemeralContainers"});
  const JsonArray* before = array_at(old, {"spec", "ephemeralContainers"});
  if (before == nullptr) return;
  const bool kept =
      now != nullptr && std::all_of(before->begin(), before->end(), [&](const Json& container) {
        return std::find(now->begin(), now->end(), container) != now->end();
      });
  if (!kept)
    causes.push_back(forbidden_value(
        "spec.ephemeralContainers", "existing ephemeral containers may not be removed or changed"));
}

}  // namespace

Result<void> mutate_pod(Admission& admission) {
  // What every pod has stands again in one that is applied without it.
  if (admission.operation == Operation::Update && admission.subresource.empty())
    give_tolerations(admission);
  if (admission.operation != Operation::Create) return {};
  TRY(give_service_account(admission));
  TRY(give_runtime_class(admission));
  TRY(keep_in_limits(admission));
  TRY(give_priority(admission));
  give_tolerations(admission);
  TRY(enter_resource_group(admission));
  TRY(join_gang(admission));
  give_queue_gate(admission);
  set_path(admission.object, {"status"},
           JsonObject{{"phase", "Pending"}, {"qosClass", qos_class(admission.object)}});
  return {};
}

void validate_pod(const Admission& admission, Causes& causes) {
  if (admission.operation == Operation::Create) validate_volcano_annotations(admission, causes);
  if (admission.operation == Operation::Update) validate_own_endpoints(admission, causes);
}

}  // namespace krater::api
