#include "api/encryption/sealer.h"

#include <algorithm>
#include <utility>

#include "api/encryption/cipher.h"
#include "api/registry/keys.h"
#include "base/strings.h"

namespace krater::api::encryption {
namespace {

constexpr std::string_view kPrefix = "k8s:enc:";
constexpr std::size_t kRewriteAtOnce = 100;
constexpr int kMostRaces = 100;

std::string prefix_of(Provider provider, const Key& key) {
  return std::string(kPrefix) + std::string(provider_name(provider)) + ":v1:" + key.name + ":";
}

// "aesgcm" and "key1" of a sealed value, for messages.
std::string described(std::string_view stored) {
  const std::vector<std::string_view> parts = split(stored.substr(0, 256), ':');
  if (parts.size() < 5) return "in a form that is not known";
  return "with key \"" + std::string(parts[4]) + "\" of provider " + std::string(parts[2]);
}

Error cannot_open(const ObjectKey& key, const std::string& why) {
  return make_error(Code::Internal, key.text() + " cannot be decrypted: " + why);
}

// AES-CBC knows no wrong keys, only wrong padding: what comes out must be an object as well.
bool plausible(Provider provider, const std::string& value) {
  return provider != Provider::AesCbc || parse_json(value).has_value();
}

}  // namespace

std::optional<std::string> ObjectSealer::seal(std::string_view key, std::string_view value) const {
  const std::optional<ObjectKey> object = object_key(key);
  const ConfigPtr config = configs().front();
  const ResourceKeys* entry = object ? config->find(object->resource) : nullptr;
  if (entry == nullptr || value.empty()) return std::nullopt;
  const ProviderKeys& first = entry->providers.front();
  if (first.provider == Provider::Identity) return std::nullopt;
  return prefix_of(first.provider, first.keys.front()) +
         encrypt(first.provider, first.keys.front(), key, value);
}

std::vector<ObjectSealer::ConfigPtr> ObjectSealer::configs() const {
  const std::lock_guard lock(mutex_);
  return configs_;
}

std::function<bool(std::string_view)> ObjectSealer::exchange(Config config) {
  const auto now = std::make_shared<const Config>(std::move(config));
  const std::lock_guard lock(mutex_);
  const ConfigPtr before = configs_.front();
  configs_.insert(configs_.begin(), now);
  return [before, now](std::string_view resource) {
    return !write_alike(before->find(resource), now->find(resource));
  };
}

Result<std::optional<std::string>> ObjectSealer::open(std::string_view key,
                                                      std::string_view stored) const {
  const std::vector<ConfigPtr> all = configs();
  Result<std::optional<std::string>> first = open_with(*all.front(), key, stored);
  for (std::size_t i = 1; !first && i < all.size(); ++i) {
    Result<std::optional<std::string>> earlier = open_with(*all[i], key, stored);
    if (earlier) return earlier;
  }
  return first;
}

Result<std::optional<std::string>> ObjectSealer::open_with(const Config& config,
                                                           std::string_view key,
                                                           std::string_view stored) const {
  const bool sealed = stored.starts_with(kPrefix);
  const std::optional<ObjectKey> object = object_key(key);
  if (!object) return std::optional<std::string>();
  const ResourceKeys* entry = config.find(object->resource);
  if (entry == nullptr) {
    if (!sealed) return std::optional<std::string>();
    return cannot_open(*object, "it was sealed " + described(stored) +
                                    ", and no provider is configured for " + object->resource);
  }
  const auto note_stale = [&](bool stale) {
    if (!stale) return;
    const std::lock_guard lock(mutex_);
    if (collecting_) stale_.emplace(key);
  };
  for (const ProviderKeys& provider : entry->providers) {
    const bool writes = &provider == &entry->providers.front();
    if (provider.provider == Provider::Identity) {
      if (sealed) continue;
      note_stale(!writes);
      return std::optional<std::string>();
    }
    for (const Key& one : provider.keys) {
      const std::string prefix = prefix_of(provider.provider, one);
      if (!stored.starts_with(prefix)) continue;
      std::optional<std::string> value =
          decrypt(provider.provider, one, key, stored.substr(prefix.size()));
      if (!value || !plausible(provider.provider, *value))
        return cannot_open(*object, "it does not open " + described(stored) +
                                        ": the key is another one, or the value is damaged");
      note_stale(!writes || &one != &provider.keys.front());
      return value;
    }
  }
  if (!sealed)
    return cannot_open(*object, "it is not encrypted, and provider identity is not configured");
  return cannot_open(*object, "it was sealed " + described(stored) + ", which is not configured");
}

std::vector<std::string> ObjectSealer::take_stale() const {
  const std::lock_guard lock(mutex_);
  collecting_ = false;
  std::vector<std::string> out(stale_.begin(), stale_.end());
  stale_.clear();
  return out;
}

namespace {

// Of the objects as they are now; those that are gone are left out.
Result<storage::Transaction> same_again(const storage::Store& store,
                                        const std::vector<std::string>& keys, std::size_t from,
                                        std::size_t to) {
  constexpr std::string_view kMember = "\"resourceVersion\":\"";
  const storage::SnapshotPtr snapshot = store.snapshot();
  storage::Transaction out;
  for (std::size_t i = from; i < to; ++i) {
    TRY_ASSIGN(const storage::RecordPtr record, snapshot->get(keys[i]));
    if (!record) continue;
    storage::Op op;
    op.key = keys[i];
    op.expect = storage::Expect::exactly(record->modified);
    op.value = *record->value;
    // Its own revision stands in the object, and is a new one.
    if (const std::size_t member = op.value.find(kMember); member != std::string::npos) {
      const std::size_t begin = member + kMember.size();
      op.value.erase(begin, op.value.find('"', begin) - begin);
      op.revision_at = begin;
    }
    out.ops.push_back(std::move(op));
  }
  return out;
}

}  // namespace

Result<std::size_t> rewrite(storage::Store& store, const std::vector<std::string>& keys) {
  std::size_t written = 0, from = 0;
  int lost = 0;  // races about the same objects, one after the other
  while (from < keys.size()) {
    const std::size_t to = std::min(from + kRewriteAtOnce, keys.size());
    TRY_ASSIGN(storage::Transaction transaction, same_again(store, keys, from, to));
    const std::size_t count = transaction.ops.size();
    if (count > 0) {
      const Result<storage::Committed> done =
          storage::commit_and_wait(store, std::move(transaction));
      if (!done && done.error().code == Code::Conflict && ++lost < kMostRaces) continue;
      if (!done) return done.error();
    }
    written += count;
    from = to;
    lost = 0;
  }
  return written;
}

}  // namespace krater::api::encryption
