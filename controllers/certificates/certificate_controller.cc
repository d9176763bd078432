#include "controllers/certificates/certificate_controller.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "model/condition.h"

namespace krater::controllers {
namespace {

const Kind kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                    "certificatesigningrequests", false};

constexpr Duration kDecidedLife = std::chrono::hours(1);
constexpr Duration kPendingLife = std::chrono::hours(24);
constexpr std::int64_t kLongest_s = std::int64_t{365} * 24 * 3600;
constexpr Duration kSkew = std::chrono::minutes(5);

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> strings(const Json& object, JsonPath path) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(object, path)) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

class Pass {
 public:
  Pass(const ObjectView& request, const Signer& signer, WallTime now)
      : request_(request), signer_(signer), now_(now) {}

  Plan run() && {
    if (request_->deletion() || remove_old()) return std::move(plan_);
    const std::string name = text_at(request_.document(), {"spec", "signerName"});
    if (name != kClientSigner && name != kNodeClientSigner) return std::move(plan_);
    if (!has("Approved") && !has("Denied")) {
      if (name == kNodeClientSigner) approve();
    } else if (has("Approved") && !has("Failed") && certificate().empty()) {
      sign(name == kNodeClientSigner);
    }
    return std::move(plan_);
  }

 private:
  bool has(std::string_view type) const {
    return condition_of(request_.document(), type).has_value();
  }
  std::string certificate() const {
    return text_at(request_.document(), {"status", "certificate"});
  }
  std::string pem() const {
    return base64_decode(text_at(request_.document(), {"spec", "request"})).value_or("");
  }

  // Decided ones after an hour, others after a day.
  bool remove_old() {
    std::optional<WallTime> since = request_->created();
    Duration life = kPendingLife;
    for (const std::string_view type : {"Approved", "Denied", "Failed"}) {
      const auto found = condition_of(request_.document(), type);
      if (!found || (type == "Approved" && certificate().empty())) continue;
      life = kDecidedLife;
      if (found->last_transition) since = found->last_transition;
    }
    if (!since) return false;
    const Duration left = *since + life - now_;
    if (left > Duration(0)) {
      plan_.outcome = Outcome::requeue_after(left);
      return false;
    }
    client::DeleteWrite write{kRequest, "", request_->name()};
    write.only_uid = request_->uid();
    plan_.then({std::move(write), Code::NotFound, {}, {}});
    return true;
  }

  // A node that joins, or renews what it has.
  void approve() {
    const Result<RequestedIdentity> wanted = signer_.read(pem());
    if (!wanted || !node_problem(*wanted).empty()) return;
    const std::string user = text_at(request_.document(), {"spec", "username"});
    const std::vector<std::string> groups = strings(request_.document(), {"spec", "groups"});
    const auto in = [&](std::string_view group) {
      return std::find(groups.begin(), groups.end(), group) != groups.end();
    };
    const bool joins = in("system:bootstrappers");
    const bool renews = in("system:nodes") && user == wanted->common_name;
    if (!joins && !renews) return;
    write_condition("Approved", "AutoApproved",
                    joins ? "Auto approving kubelet client certificate after SubjectAccessReview."
                          : "Auto approving self kubelet client certificate after "
                            "SubjectAccessReview.",
                    "approval");
  }

  std::string node_problem(const RequestedIdentity& wanted) const {
    if (wanted.organizations != std::vector<std::string>{"system:nodes"})
      return "subject organization is not system:nodes";
    if (wanted.alternative_names) return "DNS subjectAltNames are not allowed";
    if (!wanted.common_name.starts_with("system:node:"))
      return "subject common name does not begin with system:node:";
    return {};
  }

  std::string usage_problem() const {
    const std::vector<std::string> usages = strings(request_.document(), {"spec", "usages"});
    bool client = false;
    for (const std::string& usage : usages) {
      client = client || usage == "client auth";
      if (!one_of(usage, {"client auth", "digital signature", "key encipherment"}))
        return "usages did not match the signer's: " + usage + " is not allowed";
    }
    return client ? std::string() : "usages did not match the signer's: client auth is missing";
  }

  void sign(bool of_node) {
    const std::string request = pem();
    const Result<RequestedIdentity> wanted = signer_.read(request);
    std::string problem = wanted ? usage_problem() : wanted.error().message;
    if (problem.empty() && of_node) problem = node_problem(*wanted);
    if (!problem.empty()) {
      return write_condition("Failed", "SignerValidationFailure", problem, "status");
    }
    const std::int64_t seconds =
        std::min(int_at(request_.document(), {"spec", "expirationSeconds"}).value_or(kLongest_s),
                 kLongest_s);
    const Result<std::string> made =
        signer_.sign(request, *wanted, now_ - kSkew, now_ + std::chrono::seconds(seconds));
    if (!made) return write_condition("Failed", "SigningError", made.error().message, "status");
    plan_.then(
        {client::PatchWrite{
             kRequest, "", request_->name(), client::PatchType::Merge,
             JsonObject{{"status", JsonObject{{"certificate", base64_encode(*made)}}}}, "status"},
         {},
         {},
         {}});
  }

  void write_condition(std::string_view type, std::string_view reason, const std::string& message,
                       std::string subresource) {
    JsonArray conditions;
    if (const JsonArray* before = array_at(request_.document(), {"status", "conditions"}))
      conditions = *before;
    conditions.push_back(JsonObject{{"type", type},
                                    {"status", "True"},
                                    {"reason", reason},
                                    {"message", message},
                                    {"lastUpdateTime", to_rfc3339(now_)},
                                    {"lastTransitionTime", to_rfc3339(now_)}});
    client::PatchWrite write{
        kRequest,
        "",
        request_->name(),
        client::PatchType::Merge,
        JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}},
        std::move(subresource)};
    write.only_if = request_->revision();
    plan_.then({std::move(write), {}, {}, {}});
  }

  const ObjectView& request_;
  const Signer& signer_;
  WallTime now_;
  Plan plan_{};
};

class CertificateController final : public Reconciler {
 public:
  explicit CertificateController(Signer signer) : signer_(std::move(signer)) {}

  std::string_view name() const override { return "csrsigning-controller"; }
  std::vector<Interest> interests() const override { return {{kRequest}}; }
  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectView request(cache.get(key));
    return request ? certificate_step(request, signer_, now) : Plan();
  }

 private:
  Signer signer_;
};

}  // namespace

Plan certificate_step(const ObjectView& request, const Signer& signer, WallTime now) {
  return Pass(request, signer, now).run();
}

std::unique_ptr<Reconciler> make_certificate_controller(Signer signer) {
  return std::make_unique<CertificateController>(std::move(signer));
}

}  // namespace krater::controllers
