#include <optional>

#include "controllers/namespace/namespace_controller.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kAccount = "default";
constexpr std::string_view kRootCa = "kube-root-ca.crt";

class Defaults final : public Reconciler {
 public:
  explicit Defaults(std::string ca_pem) : ca_pem_(std::move(ca_pem)) {}

  std::string_view name() const override { return "namespace-defaults-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kNamespace},
            only(kinds::kServiceAccount, kAccount),
            only(kinds::kConfigMap, kRootCa)};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    Plan plan;
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || object->deletion()) return plan;
    plan.steps.emplace_back();
    std::vector<PlannedWrite>& writes = plan.steps.back();
    if (cache.get(kinds::kServiceAccount, key.name, kAccount) == nullptr) {
      writes.push_back(
          create(kinds::kServiceAccount, new_object(kinds::kServiceAccount, key.name, kAccount)));
    }
    if (ca_pem_.empty()) return plan;
    const ObjectPtr published = cache.get(kinds::kConfigMap, key.name, kRootCa);
    if (published == nullptr) {
      Json map = new_object(kinds::kConfigMap, key.name, kRootCa);
      set_path(map, {"metadata", "annotations", "kubernetes.io/description"},
               "The certificate of the authority that signed this API server's certificate.");
      set_path(map, {"data", "ca.crt"}, Json(ca_pem_));
      writes.push_back(create(kinds::kConfigMap, std::move(map)));
    } else if (text_at(*published->document(), {"data", "ca.crt"}) != ca_pem_) {
      Json patch(boost::json::object_kind);
      set_path(patch, {"data", "ca.crt"}, Json(ca_pem_));
      writes.push_back({client::PatchWrite{kinds::kConfigMap, key.name, std::string(kRootCa),
                                           client::PatchType::Merge, std::move(patch)},
                        Code::NotFound,
                        {},
                        {}});
    }
    return plan;
  }

 private:
  static PlannedWrite create(const Kind& kind, Json object) {
    const std::string name_space = text_at(object, {"metadata", "namespace"});
    return {client::CreateWrite{kind, name_space, std::move(object)}, Code::AlreadyExists, {}, {}};
  }

  static Interest only(const Kind& kind, std::string_view name) {
    return {
        kind, [name](const ObjectPtr& before, const ObjectPtr& after) {
          const Object& object = after ? *after : *before;
          if (object.name() != name) return std::vector<ObjectKey>();
          return std::vector<ObjectKey>{ObjectKey::of(kinds::kNamespace, "", object.name_space())};
        }};
  }

  const std::string ca_pem_;
};

}  // namespace

std::unique_ptr<Reconciler> make_namespace_defaults_controller(std::string ca_pem) {
  return std::make_unique<Defaults>(std::move(ca_pem));
}

}  // namespace krater::controllers
