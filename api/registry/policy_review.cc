#include "api/registry/policy_review.h"

#include "api/policy/policies.h"
#include "api/registry/commit.h"
#include "api/registry/status.h"
#include "api/webhook/check_configuration.h"
#include "model/policy_kinds.h"
#include "model/webhook_kinds.h"

namespace krater::api {
namespace {

std::string subresource_of(const client::Write& write) {
  struct Of {
    std::string operator()(const client::CreateWrite& w) const { return w.subresource; }
    std::string operator()(const client::UpdateWrite& w) const { return w.subresource; }
    std::string operator()(const client::PatchWrite& w) const { return w.subresource; }
    std::string operator()(const client::DeleteWrite&) const { return ""; }
    std::string operator()(const client::BindWrite&) const { return "binding"; }
  };
  return std::visit(Of{}, write);
}

Result<void> check_itself(const Change& change, const Json& object) {
  Causes causes;
  if (change.kind == kinds::kValidatingAdmissionPolicy) causes = check_policy(object);
  if (change.kind == kinds::kValidatingAdmissionPolicyBinding) {
    causes = check_policy_binding(object);
  }
  if (change.kind == kinds::kMutatingWebhookConfiguration ||
      change.kind == kinds::kValidatingWebhookConfiguration) {
    causes = check_webhook_configuration(object);
  }
  if (causes.empty()) return {};
  return invalid(change.kind, change.place.name, std::move(causes));
}

}  // namespace

Result<void> review(const client::Write& write, Change& change, const PrepareInput& in) {
  if (in.env.judge == nullptr || change.what == Change::What::Nothing) return {};
  // Nearly always there is nothing to ask, and then this costs nothing.
  if (change.kind.group != kinds::kValidatingAdmissionPolicy.group) {
    TRY_ASSIGN(const std::vector<ObjectPtr> bindings,
               in.view.list(kinds::kValidatingAdmissionPolicyBinding, ""));
    if (bindings.empty()) return {};
  }
  const bool deletes = std::holds_alternative<client::DeleteWrite>(write);
  // A delete that only marks the object is a delete all the same.
  const ObjectPtr after = deletes ? nullptr : outcome_of(change);
  const auto object = after ? after->document() : nullptr;
  const auto old = change.before ? change.before->document() : nullptr;
  if (object && change.what == Change::What::Put) TRY(check_itself(change, *object));
  PolicyRequest request{deletes         ? Operation::Delete
                        : change.before ? Operation::Update
                                        : Operation::Create,
                        change.kind,
                        change.place.name_space,
                        change.place.name,
                        subresource_of(write),
                        object.get(),
                        old.get(),
                        in.info.user,
                        in.info.groups,
                        in.info.dry_run};
  return in.env.judge->ask(request, in.view, in.env.schemas, change.warnings);
}

}  // namespace krater::api
