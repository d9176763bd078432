#include "api/encryption/config.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/auth/openssl.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::api::encryption {
namespace {

Error wrong(const std::string& field, std::string_view why) {
  return make_error(Code::Invalid, field + ": " + std::string(why));
}

// "*.apps" for a group, "*." for the core group, "*.*" for everything.
bool names(std::string_view pattern, std::string_view resource) {
  if (pattern == resource || pattern == "*.*") return true;
  if (!pattern.starts_with("*.")) return false;
  const std::size_t dot = resource.find('.');
  const std::string_view group =
      dot == std::string_view::npos ? std::string_view() : resource.substr(dot + 1);
  return pattern.substr(2) == group;
}

// Empty when it is right for the provider.
std::string length_problem(Provider provider, std::size_t size) {
  const bool box = provider == Provider::Secretbox;
  if (size == 32 || (!box && (size == 16 || size == 24))) return {};
  return "secret is not of the expected length, got " + std::to_string(size) +
         ", expected one of " + (box ? "[32]" : "[16 24 32]");
}

Result<std::vector<Key>> keys_of(const Json& provider, Provider kind, const std::string& field) {
  const JsonArray* list = array_at(provider, {"keys"});
  if (list == nullptr || list->empty())
    return wrong(field + ".keys", "at least one key is required");
  std::vector<Key> out;
  std::set<std::string> seen;
  for (const Json& entry : *list) {
    const std::string at = field + ".keys[" + std::to_string(out.size()) + "]";
    Key key{text_at(entry, {"name"}), {}};
    if (key.name.empty()) return wrong(at + ".name", "Required value");
    if (key.name.find(':') != std::string::npos) return wrong(at + ".name", "must not contain ':'");
    if (!seen.insert(key.name).second)
      return wrong(at + ".name", "Duplicate value: \"" + key.name + "\"");
    const std::optional<std::string> secret = base64_decode(text_at(entry, {"secret"}));
    if (!secret) return wrong(at + ".secret", "secret must be base64 encoded");
    if (const std::string problem = length_problem(kind, secret->size()); !problem.empty())
      return wrong(at + ".secret", problem);
    key.secret = *secret;
    out.push_back(std::move(key));
  }
  return out;
}

Result<ProviderKeys> provider_of(const Json& entry, const std::string& field) {
  if (!entry.is_object() || entry.get_object().size() != 1)
    return wrong(field, "exactly one provider must be named");
  const auto& member = *entry.get_object().begin();
  const std::string name(member.key().data(), member.key().size());
  if (name == "identity") return ProviderKeys{};
  for (const Provider provider : {Provider::AesCbc, Provider::AesGcm, Provider::Secretbox}) {
    if (name != provider_name(provider)) continue;
    ProviderKeys out{provider};
    TRY_ASSIGN(out.keys, keys_of(member.value(), provider, field + "." + name));
    return out;
  }
  if (name == "kms")
    return wrong(field, "provider kms is not available here; secretbox, aesgcm and aescbc are");
  return wrong(field, "unknown provider \"" + name + "\"");
}

Result<ResourceKeys> resource_of(const Json& entry, const std::string& field) {
  ResourceKeys out;
  if (const JsonArray* list = array_at(entry, {"resources"})) {
    for (const Json& name : *list) {
      if (!name.is_string()) return wrong(field + ".resources", "must be a list of strings");
      std::string text = to_lower(view(name.get_string()));
      if (text == "*")
        return wrong(field + ".resources",
                     "use '*.' to encrypt all the resources from core API "
                     "group or *.* to encrypt all resources");
      out.resources.push_back(std::move(text));
    }
  }
  if (out.resources.empty()) return wrong(field + ".resources", "Required value");
  if (const JsonArray* list = array_at(entry, {"providers"})) {
    for (const Json& provider : *list) {
      const std::string at = field + ".providers[" + std::to_string(out.providers.size()) + "]";
      TRY_ASSIGN(ProviderKeys keys, provider_of(provider, at));
      out.providers.push_back(std::move(keys));
    }
  }
  if (out.providers.empty()) return wrong(field + ".providers", "Required value");
  return out;
}

}  // namespace

std::string_view provider_name(Provider provider) {
  switch (provider) {
    case Provider::Identity:
      return "identity";
    case Provider::AesCbc:
      return "aescbc";
    case Provider::AesGcm:
      return "aesgcm";
    case Provider::Secretbox:
      return "secretbox";
  }
  return "";
}

const ResourceKeys* Config::find(std::string_view resource) const {
  for (const ResourceKeys& entry : resources) {
    if (std::any_of(entry.resources.begin(), entry.resources.end(),
                    [&](const std::string& pattern) { return names(pattern, resource); }))
      return &entry;
  }
  return nullptr;
}

bool write_alike(const ResourceKeys* a, const ResourceKeys* b) {
  const auto writer = [](const ResourceKeys* entry) -> const ProviderKeys* {
    if (entry == nullptr || entry->providers.front().provider == Provider::Identity) return nullptr;
    return &entry->providers.front();
  };
  const ProviderKeys* one = writer(a);
  const ProviderKeys* other = writer(b);
  if (one == nullptr || other == nullptr) return one == other;
  return one->provider == other->provider && one->keys.front().name == other->keys.front().name &&
         one->keys.front().secret == other->keys.front().secret;
}

Result<Config> parse_config(std::string_view text) {
  TRY_ASSIGN(const Json document, parse_yaml(text));
  if (text_at(document, {"apiVersion"}) != "apiserver.config.k8s.io/v1" ||
      text_at(document, {"kind"}) != "EncryptionConfiguration")
    return make_error(
        Code::Invalid,
        "must be apiVersion apiserver.config.k8s.io/v1, kind EncryptionConfiguration");
  Config out;
  if (const JsonArray* list = array_at(document, {"resources"})) {
    for (const Json& entry : *list) {
      TRY_ASSIGN(ResourceKeys one,
                 resource_of(entry, "resources[" + std::to_string(out.resources.size()) + "]"));
      out.resources.push_back(std::move(one));
    }
  }
  if (out.resources.empty()) return wrong("resources", "Required value");
  return out;
}

std::string new_config_text() {
  // The name is fresh as well: a lost file is then told apart from a damaged value.
  const std::string name = "key-" + hex_encode(openssl::random_bytes(4));
  return "# Secrets are sealed with this key. Without this file they cannot be read: keep a copy "
         "of\n"
         "# it apart from the copies of the store.\n"
         "apiVersion: apiserver.config.k8s.io/v1\n"
         "kind: EncryptionConfiguration\n"
         "resources:\n"
         "- resources: [secrets]\n"
         "  providers:\n"
         "  - aesgcm:\n"
         "      keys:\n"
         "      - name: " +
         name +
         "\n"
         "        secret: " +
         base64_encode(openssl::random_bytes(32)) +
         "\n"
         "  - identity: {}\n";
}

}  // namespace krater::api::encryption
