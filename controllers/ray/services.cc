#include "controllers/ray/services.h"

#include <algorithm>
#include <array>

#include "controllers/ray/names.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

namespace rk = ray_keys;

Labels head_selector(const PodContext& context) {
  const Labels from_template =
      string_map(find(context.spec.head().pod_template(), {"metadata", "labels"}));
  const auto app = from_template.find(rk::kAppName);
  return {{std::string(rk::kCluster), context.cluster},
          {std::string(rk::kNodeType), std::string(rk::kHead)},
          {std::string(rk::kIdentifier), label_value(context.cluster + "-head")},
          {std::string(rk::kAppName),
           app == from_template.end() ? std::string(rk::kAppNameValue) : app->second},
          {std::string(rk::kCreatedBy), std::string(rk::kCreatedByValue)}};
}

Json port(std::string_view name, std::int64_t number) {
  return JsonObject{{"name", name}, {"port", number}, {"appProtocol", "tcp"}};
}

bool by_name(const Json& a, const Json& b) {
  return text_at(a, {"name"}) < text_at(b, {"name"});
}

JsonArray head_ports(const PodContext& context) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kDefaults{
      {{"client", 10001},
       {"gcs-server", 6379},
       {"dashboard", 8265},
       {"metrics", 8080},
       {"serve", 8000}}};
  JsonArray out;
  bool metrics = false;
  const auto add = [&](std::string_view name, std::int64_t number) {
    metrics |= name == "metrics";
    out.push_back(port(name, number));
  };
  const Json& container = context.spec.head().ray_container();
  const JsonArray* declared = array_at(container, {"ports"});
  if (declared == nullptr || declared->empty()) {
    for (const auto& [name, number] : kDefaults) add(name, number);
  } else {
    for (const Json& entry : *declared) {
      const std::int64_t number = int_at(entry, {"containerPort"}).value_or(0);
      const std::string name = text_at(entry, {"name"});
      add(name.empty() ? std::to_string(number) + "-port" : name, number);
    }
  }
  if (!metrics) add("metrics", 8080);
  std::sort(out.begin(), out.end(), by_name);
  return out;
}

// What the user asked for in headService, with our selector, ports and labels joined in.
Json from_user_service(const PodContext& context, const Json& user, Json generated) {
  Json out = user;
  for (const auto& member : find(generated, {"metadata", "labels"})->get_object()) {
    set_path(out, {"metadata", "labels", std::string_view(member.key())}, member.value());
  }
  for (const auto& [key, value] : context.spec.head_service_annotations()) {
    set_path(out, {"metadata", "annotations", key}, Json(value));
  }
  set_path(out, {"metadata", "name"}, *find(generated, {"metadata", "name"}));
  set_path(out, {"metadata", "namespace"}, Json(context.name_space));
  set_path(out, {"spec", "selector"}, *find(generated, {"spec", "selector"}));
  JsonArray ports;
  if (const JsonArray* own = array_at(user, {"spec", "ports"})) ports = *own;
  for (const Json& entry : *array_at(generated, {"spec", "ports"})) ports.push_back(entry);
  set_path(out, {"spec", "ports"}, std::move(ports));
  if (text_at(user, {"spec", "type"}).empty()) {
    const std::string type = context.spec.head().service_type();
    if (!type.empty()) set_path(out, {"spec", "type"}, Json(type));
  }
  return out;
}

}  // namespace

Json head_service_spec(const PodContext& context) {
  const std::string type = context.spec.head().service_type();
  JsonObject spec{{"selector", to_json_object(head_selector(context))},
                  {"ports", head_ports(context)}};
  if (!type.empty()) spec["type"] = type;
  if (type.empty() || type == "ClusterIP") {
    // Headless: workers must find the head before it is ready.
    spec["clusterIP"] = "None";
    spec["publishNotReadyAddresses"] = true;
  }
  return spec;
}

Json head_service(const PodContext& context) {
  Json out = new_object(kinds::kService, context.name_space,
                        head_service_name(context.cluster, context.spec));
  set_path(out, {"metadata", "labels"}, to_json_object(head_selector(context)));
  set_path(out, {"spec"}, head_service_spec(context));
  const Json* user = context.spec.head().head_service();
  if (user != nullptr && user->is_object())
    return from_user_service(context, *user, std::move(out));
  if (const Labels annotations = context.spec.head_service_annotations(); !annotations.empty()) {
    set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
  }
  return out;
}

bool wants_headless_service(const RayClusterSpec& spec) {
  const auto groups = spec.workers();
  return std::ranges::any_of(groups, [](const RayGroupSpec& group) { return group.hosts() > 1; });
}

Json headless_service(const PodContext& context) {
  Json out = new_object(kinds::kService, context.name_space, context.cluster + "-headless");
  set_path(out, {"metadata", "labels", rk::kHeadlessWorkerService}, Json(context.cluster));
  set_path(out, {"spec", "clusterIP"}, "None");
  set_path(out, {"spec", "publishNotReadyAddresses"}, true);
  set_path(out, {"spec", "selector", rk::kCluster}, Json(context.cluster));
  set_path(out, {"spec", "selector", rk::kNodeType}, Json(rk::kWorker));
  return out;
}

Result<Json> serve_service(const PodContext& context) {
  JsonArray ports;
  for (const Json& entry : head_ports(context)) {
    const std::string name = text_at(entry, {"name"});
    if (name != "serve" && !name.starts_with("serve-")) continue;
    ports.push_back(entry);
    ports.back().get_object().erase("appProtocol");
  }
  if (ports.empty()) {
    return make_error(Code::Invalid,
                      "the head container has no port named serve or serve-*, which annotation " +
                          std::string(rk::kEnableServeService) + " needs");
  }
  Json out = new_object(kinds::kService, context.name_space, context.cluster + "-serve-svc");
  set_path(out, {"metadata", "labels", rk::kOriginName}, Json(context.cluster));
  set_path(out, {"metadata", "labels", rk::kOriginKind}, Json(kinds::kRayCluster.kind));
  set_path(out, {"metadata", "labels", rk::kServe}, Json(context.cluster + "-serve"));
  set_path(out, {"spec", "selector", rk::kCluster}, Json(context.cluster));
  set_path(out, {"spec", "ports"}, std::move(ports));
  if (const std::string type = context.spec.head().service_type(); !type.empty()) {
    set_path(out, {"spec", "type"}, Json(type));
  }
  return out;
}

std::optional<std::int64_t> service_port(const Json& service, std::string_view name) {
  const JsonArray* ports = array_at(service, {"spec", "ports"});
  if (ports == nullptr) return std::nullopt;
  for (const Json& entry : *ports) {
    if (string_at(entry, {"name"}) == name) return int_at(entry, {"port"});
  }
  return std::nullopt;
}

}  // namespace krater::controllers
