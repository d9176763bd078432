#include "controllers/certificates/cleaner.h"

#include <algorithm>

#include "model/condition.h"

namespace krater::controllers {
namespace {

constexpr Duration kDecidedLife = std::chrono::hours(1);
constexpr Duration kPendingLife = std::chrono::hours(24);

void keep_earlier(std::optional<WallTime>& best, std::optional<WallTime> other) {
  if (other && (!best || *other < *best)) best = other;
}

class CertificateCleaner final : public Reconciler {
 public:
  explicit CertificateCleaner(CertificateEnd end) : end_(std::move(end)) {}

  std::string_view name() const override { return "csrcleaner-controller"; }
  std::vector<Interest> interests() const override { return {{kCertificateRequest}}; }
  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    Plan plan;
    const ObjectView object(cache.get(key));
    if (!object || object->deletion()) return plan;
    const std::optional<WallTime> at = goes_at(CertificateRequestView(object), end_);
    if (!at) return plan;
    if (*at > now) {
      plan.outcome = Outcome::requeue_after(*at - now);
      return plan;
    }
    client::DeleteWrite write{kCertificateRequest, "", object->name()};
    write.only_uid = object->uid();
    plan.then({std::move(write), Code::NotFound, {}, {}});
    return plan;
  }

 private:
  CertificateEnd end_;
};

}  // namespace

std::optional<WallTime> goes_at(const CertificateRequestView& request, const CertificateEnd& end) {
  const ObjectView& object = request.object();
  const std::vector<Condition> conditions = conditions_of(object.document());
  const std::string certificate = request.certificate();
  std::optional<WallTime> out;
  if (conditions.empty() && object->created()) out = *object->created() + kPendingLife;
  for (const Condition& condition : conditions) {
    const bool approved = condition.type == "Approved";
    if (approved && certificate.empty()) continue;  // its signer may take its time
    if (!approved && condition.type != "Denied" && condition.type != "Failed") continue;
    if (condition.last_transition) keep_earlier(out, *condition.last_transition + kDecidedLife);
    if (approved) keep_earlier(out, end(certificate));
  }
  return out;
}

std::unique_ptr<Reconciler> make_certificate_cleaner(CertificateEnd end) {
  return std::make_unique<CertificateCleaner>(std::move(end));
}

}  // namespace krater::controllers
