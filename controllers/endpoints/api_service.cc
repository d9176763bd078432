#include "controllers/endpoints/endpoints_controller.h"
#include "controllers/endpoints/targets.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kNamespace = "default";
constexpr std::string_view kName = "kubernetes";

std::vector<ObjectKey> only_ours(const ObjectPtr& before, const ObjectPtr& after) {
  const Object& object = after ? *after : *before;
  if (object.name_space() != kNamespace || object.name() != kName) return {};
  return {ObjectKey::of(kinds::kService, kNamespace, kName)};
}

class ApiService final : public Reconciler {
 public:
  explicit ApiService(ApiAddress address) : address_(std::move(address)) {}

  std::string_view name() const override { return "kubernetes-service-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kService, only_ours},
            {kinds::kEndpoints, only_ours},
            {kinds::kEndpointSlice, only_ours}};
  }
  std::vector<ObjectKey> first_keys() const override {
    return {ObjectKey::of(kinds::kService, kNamespace, kName)};
  }

  Plan reconcile(const ObjectKey&, const client::Cache& cache, WallTime) override {
    Plan plan;
    plan.steps.emplace_back();
    keep(kinds::kService, cache, service(), {"spec", "ports"}, plan.steps.back());
    keep(kinds::kEndpoints, cache, endpoints(), {"subsets"}, plan.steps.back());
    keep(kinds::kEndpointSlice, cache, slice(), {"endpoints"}, plan.steps.back());
    return plan;
  }

 private:
  static Json named(const Kind& kind) {
    Json out = new_object(kind, kNamespace, kName);
    if (kind == kinds::kService) {
      set_path(out, {"metadata", "labels", "component"}, "apiserver");
      set_path(out, {"metadata", "labels", "provider"}, "kubernetes");
    } else if (kind == kinds::kEndpoints) {
      set_path(out, {"metadata", "labels", keys::kSkipMirror}, "true");
    } else {
      set_path(out, {"metadata", "labels", keys::kServiceName}, Json(kName));
    }
    return out;
  }

  Json service() const {
    Json out = named(kinds::kService);
    set_path(out, {"spec", "type"}, "ClusterIP");
    set_path(
        out, {"spec", "ports"},
        JsonArray{JsonObject{
            {"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", address_.port}}});
    return out;
  }
  Json endpoints() const {
    Json out = named(kinds::kEndpoints);
    set_path(out, {"subsets"},
             JsonArray{JsonObject{{"addresses", JsonArray{JsonObject{{"ip", address_.ip}}}},
                                  {"ports", JsonArray{port()}}}});
    return out;
  }
  Json slice() const {
    Json out = named(kinds::kEndpointSlice);
    set_path(out, {"addressType"}, address_.ip.find(':') == std::string::npos ? "IPv4" : "IPv6");
    set_path(out, {"endpoints"},
             JsonArray{JsonObject{{"addresses", JsonArray{Json(address_.ip)}},
                                  {"conditions", {{"ready", true}}}}});
    set_path(out, {"ports"}, JsonArray{port()});
    return out;
  }
  JsonObject port() const {
    return {{"name", "https"}, {"port", address_.port}, {"protocol", "TCP"}};
  }

  // Made when absent; when the address or port at `telling` is another, put right.
  static void keep(const Kind& kind, const client::Cache& cache, Json wanted, JsonPath telling,
                   std::vector<PlannedWrite>& out) {
    const ObjectPtr present = cache.get(kind, kNamespace, kName);
    if (present == nullptr) {
      out.push_back({client::CreateWrite{kind, std::string(kNamespace), std::move(wanted)},
                     Code::AlreadyExists,
                     {},
                     {}});
      return;
    }
    const auto document = present->document();
    const Json* has = find(*document, telling);
    if (present->deletion() || (has != nullptr && contains(*has, *find(wanted, telling)))) return;
    Json patch(boost::json::object_kind);
    for (const std::string_view field : {"spec", "subsets", "endpoints", "ports"}) {
      if (const Json* value = find(wanted, {field})) set_path(patch, {field}, *value);
    }
    out.push_back({client::PatchWrite{kind, std::string(kNamespace), std::string(kName),
                                      client::PatchType::Merge, std::move(patch)},
                   Code::NotFound,
                   {},
                   {}});
  }

  // The server may have added defaults to what we wrote.
  static bool contains(const Json& has, const Json& wanted) {
    if (wanted.is_object()) {
      if (!has.is_object()) return false;
      for (const auto& member : wanted.get_object()) {
        const auto place = has.get_object().find(member.key());
        if (place == has.get_object().end() || !contains(place->value(), member.value()))
          return false;
      }
      return true;
    }
    if (wanted.is_array()) {
      if (!has.is_array() || has.get_array().size() != wanted.get_array().size()) return false;
      for (std::size_t i = 0; i < wanted.get_array().size(); ++i) {
        if (!contains(has.get_array()[i], wanted.get_array()[i])) return false;
      }
      return true;
    }
    const auto a = as_int(has), b = as_int(wanted);
    return a && b ? *a == *b : has == wanted;
  }

  const ApiAddress address_;
};

}  // namespace

std::unique_ptr<Reconciler> make_api_service_controller(ApiAddress address) {
  return std::make_unique<ApiService>(std::move(address));
}

}  // namespace krater::controllers
