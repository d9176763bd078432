#include "controllers/certificates/signer.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::controllers {
namespace {

// Clocks differ: a certificate is good from a little before it was made. What is good for a working
// day or longer loses that time at its end, shorter ones are not cut short for it.
constexpr Duration kBackdate = std::chrono::minutes(5);
constexpr Duration kShort = std::chrono::hours(8);
constexpr Duration kLeastAsked = std::chrono::minutes(10);

bool is_ours(std::string_view signer) {
  return signer == kClientSigner || signer == kNodeClientSigner || signer == kNodeServingSigner ||
         signer == kLegacySigner;
}

Duration life_of(const Json& request, Duration longest) {
  const auto asked = int_at(request, {"spec", "expirationSeconds"});
  if (!asked) return longest;
  const Duration wanted = std::chrono::seconds(*asked);
  if (wanted > longest) return longest;
  return std::max(wanted, kLeastAsked);
}

class CertificateSigner final : public Reconciler {
 public:
  explicit CertificateSigner(SignerDeps deps) : deps_(std::move(deps)) {}

  std::string_view name() const override { return "csrsigning-controller"; }
  std::vector<Interest> interests() const override { return {{kCertificateRequest}}; }
  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectView request(cache.get(key));
    return request ? sign_step(request, deps_, now) : Plan();
  }

 private:
  SignerDeps deps_;
};

}  // namespace

Plan sign_step(const ObjectView& object, const SignerDeps& deps, WallTime now) {
  Plan plan;
  const CertificateRequestView request(object);
  const std::string signer = request.signer();
  if (object->deletion() || !is_ours(signer) || !request.has("Approved") || request.has("Denied") ||
      request.has("Failed") || !request.certificate().empty())
    return plan;
  const std::string pem = request.pem();
  const std::vector<std::string> usages = request.usages();
  const Result<RequestedIdentity> wanted = deps.read(pem);
  const std::string problem =
      wanted ? problem_for(signer, *wanted, usages) : wanted.error().message;
  const auto fail = [&](std::string_view reason, const std::string& why) {
    return plan.then(request.with_condition("Failed", reason, why, "status", now));
  };
  if (!problem.empty()) return fail("SignerValidationFailure", problem);
  const Duration life = life_of(object.document(), deps.longest);
  const WallTime from = now - kBackdate;
  const Result<std::string> made =
      deps.sign(pem, usages, from, (life < kShort ? now : from) + life);
  if (!made) return fail("SigningError", made.error().message);
  plan.then(
      {client::PatchWrite{kCertificateRequest, "", object->name(), client::PatchType::Merge,
                          JsonObject{{"status", JsonObject{{"certificate", base64_encode(*made)}}}},
                          "status"},
       {},
       {},
       {}});
  return plan;
}

std::unique_ptr<Reconciler> make_certificate_signer(SignerDeps deps) {
  return std::make_unique<CertificateSigner>(std::move(deps));
}

}  // namespace krater::controllers
