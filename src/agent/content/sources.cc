#include "agent/content/sources.h"

#include "base/strings.h"
#include "model/storage.h"

namespace krater::agent {
namespace {

template <typename Visit>
void each(const Json& json, JsonPath path, Visit visit) {
  if (const JsonArray* list = array_at(json, path)) {
    for (const Json& one : *list) visit(one);
  }
}

void add(std::set<std::string>& names, std::optional<std::string_view> name) {
  if (name && !name->empty()) names.emplace(*name);
}

void needs_of_projection(const Json& source, Needs& out) {
  add(out.config_maps, string_at(source, {"configMap", "name"}));
  add(out.secrets, string_at(source, {"secret", "name"}));
  if (const Json* token = find(source, {"serviceAccountToken"})) {
    out.tokens.insert(
        {text_at(*token, {"audience"}), int_at(*token, {"expirationSeconds"}).value_or(3600)});
  }
}

std::map<std::string, std::string> plain(const Json& document, std::string_view field) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : string_map(find(document, {field}))) out.emplace(key, value);
  return out;
}

void add_decoded(const Json& document, std::string_view field,
                 std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : string_map(find(document, {field}))) {
    if (auto bytes = base64_decode(value)) out[key] = *std::move(bytes);
  }
}

std::optional<std::string> value_of(const std::map<std::string, std::string>& all,
                                    std::string_view key) {
  const auto place = all.find(std::string(key));
  return place == all.end() ? std::nullopt : std::optional(place->second);
}

}  // namespace

Needs needs_of(const Json& pod, const Json* container) {
  Needs out;
  each(pod, {"spec", "volumes"}, [&](const Json& volume) {
    add(out.config_maps, string_at(volume, {"configMap", "name"}));
    add(out.secrets, string_at(volume, {"secret", "secretName"}));
    each(volume, {"projected", "sources"},
         [&](const Json& source) { needs_of_projection(source, out); });
  });
  for (const PodClaim& one : pod_claims(pod)) out.claims.insert(one.claim);
  if (container == nullptr) return out;
  each(*container, {"envFrom"}, [&](const Json& from) {
    add(out.config_maps, string_at(from, {"configMapRef", "name"}));
    add(out.secrets, string_at(from, {"secretRef", "name"}));
  });
  each(*container, {"env"}, [&](const Json& entry) {
    add(out.config_maps, string_at(entry, {"valueFrom", "configMapKeyRef", "name"}));
    add(out.secrets, string_at(entry, {"valueFrom", "secretKeyRef", "name"}));
  });
  return out;
}

std::map<std::string, std::string> Sources::config_values(const std::string& name) const {
  const auto place = config_maps.find(name);
  if (place == config_maps.end()) return {};
  const std::shared_ptr<const Json> document = place->second->document();
  std::map<std::string, std::string> out = plain(*document, "data");
  add_decoded(*document, "binaryData", out);
  return out;
}

std::map<std::string, std::string> Sources::secret_values(const std::string& name) const {
  const auto place = secrets.find(name);
  if (place == secrets.end()) return {};
  std::map<std::string, std::string> out;
  add_decoded(*place->second->document(), "data", out);
  return out;
}

std::optional<std::string> Sources::config_value(const std::string& name,
                                                 std::string_view key) const {
  return value_of(config_values(name), key);
}

std::optional<std::string> Sources::secret_value(const std::string& name,
                                                 std::string_view key) const {
  return value_of(secret_values(name), key);
}

}  // namespace krater::agent
