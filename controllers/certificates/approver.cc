#include "controllers/certificates/approver.h"

namespace krater::controllers {
namespace {

// Rights are given later too.
constexpr Duration kAskAgain = std::chrono::seconds(30);

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& item : list.get_array()) {
    if (item.is_string()) out.emplace_back(view(item.get_string()));
  }
  return out;
}

Requester requester_of(const Json& request) {
  Requester out{text_at(request, {"spec", "username"}), text_at(request, {"spec", "uid"})};
  if (const Json* groups = find(request, {"spec", "groups"})) out.groups = strings(*groups);
  if (const JsonObject* extra = object_at(request, {"spec", "extra"})) {
    for (const auto& member : *extra)
      out.extra.emplace(std::string(member.key().data(), member.key().size()),
                        strings(member.value()));
  }
  return out;
}

class CertificateApprover final : public Reconciler {
 public:
  explicit CertificateApprover(ApproverDeps deps) : deps_(std::move(deps)) {}

  std::string_view name() const override { return "csrapproving-controller"; }
  std::vector<Interest> interests() const override { return {{kCertificateRequest}}; }
  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectView request(cache.get(key));
    return request ? approve_step(request, deps_, now) : Plan();
  }

 private:
  ApproverDeps deps_;
};

}  // namespace

Plan approve_step(const ObjectView& object, const ApproverDeps& deps, WallTime now) {
  Plan plan;
  const CertificateRequestView request(object);
  if (object->deletion() || request.signer() != kNodeClientSigner) return plan;
  if (request.has("Approved") || request.has("Denied") || !request.certificate().empty())
    return plan;
  const Result<RequestedIdentity> wanted = deps.read(request.pem());
  if (!wanted || !problem_for(kNodeClientSigner, *wanted, request.usages()).empty()) return plan;
  const Requester who = requester_of(object.document());
  std::string message;
  if (who.user == wanted->common_name && deps.may_create(who, "selfnodeclient")) {
    message = "Auto approving self kubelet client certificate after SubjectAccessReview.";
  } else if (deps.may_create(who, "nodeclient")) {
    message = "Auto approving kubelet client certificate after SubjectAccessReview.";
  } else {
    plan.outcome = Outcome::requeue_after(kAskAgain);
    return plan;
  }
  plan.then(
      request.with_condition("Approved", "AutoApproved", std::move(message), "approval", now));
  return plan;
}

std::unique_ptr<Reconciler> make_certificate_approver(ApproverDeps deps) {
  return std::make_unique<CertificateApprover>(std::move(deps));
}

}  // namespace krater::controllers
