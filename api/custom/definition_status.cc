#include "api/custom/definition_status.h"

#include <algorithm>
#include <vector>

#include "api/machinery/custom/definition_check.h"
#include "model/condition.h"

namespace krater::api {
namespace {

class Conditions {
 public:
  Conditions(std::vector<Condition> list, WallTime now) : list_(std::move(list)), now_(now) {}

  const Condition* find(std::string_view type) const {
    const auto found = std::find_if(list_.begin(), list_.end(),
                                    [&](const Condition& one) { return one.type == type; });
    return found == list_.end() ? nullptr : &*found;
  }

  void set(std::string type, std::string status, std::string reason, std::string message) {
    const auto found = std::find_if(list_.begin(), list_.end(),
                                    [&](const Condition& one) { return one.type == type; });
    if (found == list_.end()) {
      list_.push_back(
          {std::move(type), std::move(status), std::move(reason), std::move(message), now_});
      return;
    }
    if (found->status != status) found->last_transition = now_;
    found->status = std::move(status);
    found->reason = std::move(reason);
    found->message = std::move(message);
  }

  const std::vector<Condition>& list() const { return list_; }

 private:
  std::vector<Condition> list_;
  WallTime now_;
};

void set_names(const Acceptance& acceptance, Conditions& conditions) {
  conditions.set("NamesAccepted", acceptance.accepted ? "True" : "False", acceptance.reason,
                 acceptance.message);
  const Condition* established = conditions.find("Established");
  // What is established stays so.
  if (established != nullptr && established->is_true()) return;
  if (acceptance.accepted) {
    conditions.set("Established", "True", "InitialNamesAccepted",
                   "the initial names have been accepted");
  } else {
    conditions.set("Established", "False", "NotAccepted", "not all names are accepted");
  }
}

void set_approval(const Json& definition, Conditions& conditions) {
  if (!is_protected_group(text_at(definition, {"spec", "group"}))) return;
  constexpr const char* kType = "KubernetesAPIApprovalPolicyConformant";
  const Approval approval = approval_of(definition);
  switch (approval.state) {
    case Approval::State::Invalid:
      return conditions.set(kType, "False", "InvalidAnnotation", approval.reason);
    case Approval::State::Missing:
      return conditions.set(kType, "False", "MissingAnnotation", approval.reason);
    case Approval::State::Bypassed:
      return conditions.set(kType, "False", "UnapprovedAnnotation", approval.reason);
    case Approval::State::Approved:
      return conditions.set(kType, "True", "ApprovedAnnotation", approval.reason);
  }
}

void set_ending(Ending ending, Conditions& conditions) {
  constexpr const char* kType = "Terminating";
  switch (ending) {
    case Ending::Not:
      return;
    case Ending::Deleting:
      return conditions.set(kType, "True", "InstanceDeletionInProgress",
                            "CustomResource deletion is in progress");
    case Ending::Gone:
      return conditions.set(kType, "False", "InstanceDeletionCompleted", "removed all instances");
    case Ending::BuiltIn:
      return conditions.set(kType, "False", "OverlappingBuiltInResource",
                            "instances overlap with built-in resources in storage");
    case Ending::NeverServed:
      return conditions.set(kType, "False", "NeverEstablished", "resource was never established");
  }
}

}  // namespace

std::optional<Json> with_status(const Json& definition, const Acceptance& acceptance, Ending ending,
                                WallTime now) {
  const std::vector<Condition> before = conditions_of(definition);
  Conditions conditions(before, now);
  set_names(acceptance, conditions);
  set_approval(definition, conditions);
  set_ending(ending, conditions);
  const Json names = to_json_value(acceptance.names);
  const Json* had = find(definition, {"status", "acceptedNames"});
  if (conditions.list() == before && had != nullptr && *had == names) return std::nullopt;
  JsonArray list;
  for (const Condition& condition : conditions.list()) list.push_back(to_json_value(condition));
  Json out = definition;
  set_path(out, {"status", "conditions"}, std::move(list));
  set_path(out, {"status", "acceptedNames"}, names);
  return out;
}

}  // namespace krater::api
