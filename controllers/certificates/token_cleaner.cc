#include "controllers/certificates/token_cleaner.h"

#include "base/strings.h"
#include "model/kinds.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kType = "bootstrap.kubernetes.io/token";

bool is_token(const Object& secret) {
  return secret.name_space() == kNamespace && text_at(*secret.document(), {"type"}) == kType;
}

class TokenCleaner final : public Reconciler {
 public:
  std::string_view name() const override { return "tokencleaner-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kSecret, [](const ObjectPtr&, const ObjectPtr& after) {
               std::vector<ObjectKey> out;
               if (after && is_token(*after)) out.push_back(after->key());
               return out;
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    Plan plan;
    const ObjectPtr secret = cache.get(key);
    if (secret == nullptr || secret->deletion()) return plan;
    const std::optional<WallTime> end = token_ends(*secret);
    if (!end) return plan;
    if (*end > now) {
      plan.outcome = Outcome::requeue_after(*end - now);
      return plan;
    }
    client::DeleteWrite write{kinds::kSecret, secret->name_space(), secret->name()};
    write.only_uid = secret->uid();
    plan.then({std::move(write), Code::NotFound, {}, {}});
    return plan;
  }
};

}  // namespace

std::optional<WallTime> token_ends(const Object& secret) {
  if (!is_token(secret)) return std::nullopt;
  const std::shared_ptr<const Json> document = secret.document();
  const std::string time = base64_decode(text_at(*document, {"data", "expiration"})).value_or("");
  if (time.empty()) return std::nullopt;
  const std::optional<WallTime> end = parse_rfc3339(time);
  return end ? *end : WallTime::from_unix_seconds(0);
}

std::unique_ptr<Reconciler> make_token_cleaner() {
  return std::make_unique<TokenCleaner>();
}

}  // namespace krater::controllers
