#include "api/webhook/hook.h"

#include "base/strings.h"

namespace krater::api {
namespace {

std::string known_version(const Json& webhook) {
  const JsonArray* versions = array_at(webhook, {"admissionReviewVersions"});
  if (versions == nullptr) return "";
  for (const Json& version : *versions) {
    if (version == "v1" || version == "v1beta1") return std::string(view(version.get_string()));
  }
  return "";
}

// As api/policy compiles them: a policy that has nothing but conditions.
std::shared_ptr<const CompiledPolicy> conditions_of(const Json& webhook) {
  const JsonArray* conditions = array_at(webhook, {"matchConditions"});
  if (conditions == nullptr || conditions->empty()) return nullptr;
  JsonObject spec;
  spec["matchConditions"] = *conditions;
  spec["failurePolicy"] = text_at(webhook, {"failurePolicy"});
  return compile_policy(JsonObject{{"spec", std::move(spec)}});
}

Json members(const Json& from, std::initializer_list<std::string_view> names) {
  JsonObject out;
  for (const std::string_view name : names) {
    if (const Json* value = find(from, {name})) out[name] = *value;
  }
  return out;
}

Hook read_hook(HookKind kind, const Object& configuration, const Json& webhook, std::size_t index) {
  Hook out;
  out.kind = kind;
  out.configuration = configuration.name();
  out.name = text_at(webhook, {"name"});
  out.id = configuration.uid().text() + "/" + configuration.revision().text() + "/" +
           std::to_string(index);
  out.review_version = known_version(webhook);
  out.side_effects = text_at(webhook, {"sideEffects"});
  out.fail = text_at(webhook, {"failurePolicy"}) != "Ignore";
  out.equivalent = text_at(webhook, {"matchPolicy"}) != "Exact";
  out.reinvoke = text_at(webhook, {"reinvocationPolicy"}) == "IfNeeded";
  out.timeout = std::chrono::seconds(int_at(webhook, {"timeoutSeconds"}).value_or(10));
  const JsonArray* rules = array_at(webhook, {"rules"});
  out.rules = JsonObject{{"resourceRules", rules == nullptr ? JsonArray() : *rules}};
  out.selectors = members(webhook, {"namespaceSelector", "objectSelector"});
  out.conditions = conditions_of(webhook);
  const Json* client = find(webhook, {"clientConfig"});
  out.address = read_address(client == nullptr ? Json(JsonObject()) : *client);
  return out;
}

}  // namespace

HookAddress read_address(const Json& client_config) {
  HookAddress out;
  if (const std::string bundle = text_at(client_config, {"caBundle"}); !bundle.empty()) {
    const std::optional<std::string> pem = base64_decode(bundle);
    out.ca_pem = pem.value_or("");
    if (!pem || out.ca_pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
      out.problem = "unable to load root certificates: unable to parse bytes as PEM block";
    }
  }
  const Json* service = find(client_config, {"service"});
  if (service != nullptr && service->is_object()) {
    HookService named{text_at(*service, {"namespace"}), text_at(*service, {"name"}),
                      static_cast<int>(int_at(*service, {"port"}).value_or(443))};
    std::string path = text_at(*service, {"path"});
    if (path.empty() || path.front() != '/') path.insert(path.begin(), '/');
    out.url = "https://" + named.name + "." + named.name_space +
              ".svc:" + std::to_string(named.port) + path;
    out.service = std::move(named);
    return out;
  }
  out.url = text_at(client_config, {"url"});
  if (out.url.empty()) out.problem = "webhook configuration must have either service or URL";
  return out;
}

std::vector<HookPtr> hooks_of(HookKind kind, const Object& configuration) {
  std::vector<HookPtr> out;
  const auto document = configuration.document();
  const JsonArray* webhooks = array_at(*document, {"webhooks"});
  for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    out.push_back(std::make_shared<const Hook>(read_hook(kind, configuration, (*webhooks)[i], i)));
  }
  return out;
}

}  // namespace krater::api
