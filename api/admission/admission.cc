#include "api/admission/admission.h"

#include <algorithm>
#include <array>

#include "api/admission/namespace_status.h"
#include "api/admission/rules.h"

namespace krater::api {
namespace {

struct Rules {
  std::string_view resource;
  Mutation mutate = nullptr;
  Validation validate = nullptr;
  Verdict admit = nullptr;
  Claims claims = nullptr;
  std::string_view webhook{};  // whose verdict the original's admission would have been
};

// The only list of kinds with rules of their own.
constexpr std::array kRules{
    Rules{"certificatesigningrequests.certificates.k8s.io", mutate_certificate_request},
    Rules{"cronjobs.batch.volcano.sh", nullptr, validate_volcano_cron_job, admit_volcano_cron_job,
          nullptr, "validatecronjob.volcano.sh"},
    Rules{"customresourcedefinitions.apiextensions.k8s.io", mutate_definition, validate_definition},
    Rules{"deployments.apps", nullptr, nullptr, admit_mirror},
    Rules{"ingresses.networking.k8s.io", mutate_ingress},
    Rules{"jobflows.flow.volcano.sh", nullptr, validate_job_flow, admit_job_flow, nullptr,
          "validatejobflow.volcano.sh"},
    Rules{"jobs.batch", mutate_job, validate_job},
    Rules{"jobs.batch.volcano.sh", mutate_volcano_job, validate_volcano_job, admit_volcano_job,
          nullptr, "validatejob.volcano.sh"},
    Rules{"jobtemplates.flow.volcano.sh", nullptr, validate_job_template},
    Rules{"namespaces", mutate_namespace, validate_namespace, admit_namespace},
    Rules{"persistentvolumeclaims", mutate_persistent_volume_claim, nullptr,
          admit_persistent_volume_claim},
    Rules{"persistentvolumes", mutate_persistent_volume},
    Rules{"podgroups.scheduling.volcano.sh", mutate_pod_group, nullptr, admit_pod_group, nullptr,
          "validatepodgroup.volcano.sh"},
    Rules{"pods", mutate_pod, validate_pod, admit_mirror},
    Rules{"priorityclasses.scheduling.k8s.io", nullptr, nullptr, admit_priority_class},
    Rules{"queues.scheduling.volcano.sh", mutate_queue, nullptr, admit_queue, nullptr,
          "validatequeue.volcano.sh"},
    Rules{"replicasets.apps", nullptr, nullptr, admit_mirror},
    Rules{"resourcequotas", mutate_resource_quota},
    Rules{"secrets", mutate_secret},
    Rules{"services", mutate_service, validate_service, nullptr, claims_of_service},
};
static_assert(std::ranges::is_sorted(kRules, {}, &Rules::resource));

const Rules* rules_of(const Kind& kind) {
  const std::string resource = kind.resource();
  const auto place =
      std::ranges::lower_bound(kRules, std::string_view(resource), {}, &Rules::resource);
  return place != kRules.end() && place->resource == resource ? &*place : nullptr;
}

void tell_of_refusal(const Admission& admission, std::string_view webhook,
                     const std::string& reason) {
  if (!admission.settings.refused) return;
  std::string line = "webhook=" + std::string(webhook) + " verdict=refused operation=";
  switch (admission.operation) {
    case Operation::Create:
      line += "create";
      break;
    case Operation::Update:
      line += "update";
      break;
    case Operation::Delete:
      line += "delete";
      break;
  }
  line += " kind=" + admission.kind.kind + " object=";
  if (!admission.name_space.empty()) line += admission.name_space + "/";
  line += admission.name + " reason=";
  append_json_string(line, reason);  // one line, whatever is in it
  admission.settings.refused(admission.now, std::move(line));
}

}  // namespace

Result<void> mutate(Admission& admission) {
  const Rules* rules = rules_of(admission.kind);
  if (rules == nullptr || rules->mutate == nullptr) return {};
  return rules->mutate(admission);
}

Causes validate(const Admission& admission) {
  Causes out;
  const Rules* rules = rules_of(admission.kind);
  if (rules != nullptr && rules->validate != nullptr) rules->validate(admission, out);
  return out;
}

Result<void> admit(const Admission& admission) {
  const Rules* rules = rules_of(admission.kind);
  if (rules == nullptr || rules->admit == nullptr) return {};
  Result<void> verdict = rules->admit(admission);
  if (!verdict && verdict.error().code == Code::Forbidden && !rules->webhook.empty()) {
    tell_of_refusal(admission, rules->webhook, verdict.error().message);
    return refusal("admission webhook \"" + std::string(rules->webhook) +
                   "\" denied the request: " + verdict.error().message);
  }
  return verdict;
}

std::set<std::string> claims_of(const Kind& kind, const Json& object) {
  const Rules* rules = rules_of(kind);
  if (rules == nullptr || rules->claims == nullptr) return {};
  return rules->claims(object);
}

}  // namespace krater::api
