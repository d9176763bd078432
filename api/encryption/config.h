// apiserver.config.k8s.io/v1 EncryptionConfiguration: which resources are sealed on disk, with
// which keys. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater::api::encryption {

enum class Provider : std::uint8_t { Identity, AesCbc, AesGcm, Secretbox };
std::string_view provider_name(Provider provider);

struct Key {
  std::string name;
  std::string secret;  // raw bytes: 16, 24 or 32; of secretbox 32
};

struct ProviderKeys {
  Provider provider = Provider::Identity;
  std::vector<Key> keys{};  // of identity: none. The first one writes, all read
};

struct ResourceKeys {
  std::vector<std::string> resources;   // "secrets", "rayjobs.ray.io", "*.apps", "*.", "*.*"
  std::vector<ProviderKeys> providers;  // the first one writes, all read
};

struct Config {
  std::vector<ResourceKeys> resources;
  // The first entry that names it; nullptr when none does. `resource` as Kind::resource().
  const ResourceKeys* find(std::string_view resource) const;
};

// Whether both write the same thing: provider and key are the same, or neither seals. nullptr: an
// entry that there is not.
bool write_alike(const ResourceKeys* a, const ResourceKeys* b);

// YAML or JSON. Code::Invalid with the field that is wrong. Provider kms is refused by name.
Result<Config> parse_config(std::string_view text);

// What a server without a configuration of its own writes beside its store: Secrets, with one fresh
// key of AES-GCM; what is there in plain text can be read.
std::string new_config_text();

}  // namespace krater::api::encryption
