#include <gtest/gtest.h>

#include "api/encryption/cipher.h"
#include "api/encryption/config.h"
#include "api/encryption/sealer.h"
#include "api/registry/keys.h"
#include "api/registry/registry.h"
#include "base/strings.h"
#include "storage/rocksdb_store.h"

namespace krater::api::encryption {
namespace {

const std::string kHead =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n";

std::string key(const std::string& name, char fill, std::size_t size = 32) {
  return "{name: " + name + ", secret: " + base64_encode(std::string(size, fill)) + "}";
}

std::string providers(const std::string& list) {
  return kHead + "- {resources: [secrets], providers: [" + list + "]}\n";
}

std::string failure(const std::string& text) {
  const Result<Config> out = parse_config(text);
  return out ? "" : out.error().message;
}

TEST(EncryptionConfig, NamesResourcesExactlyOrByGroup) {
  const Config config = *parse_config(
      kHead + "- {resources: [secrets], providers: [aescbc: {keys: [" + key("a", 'a') + "]}]}\n" +
      "- {resources: [\"*.ray.io\"], providers: [aesgcm: {keys: [" + key("b", 'b', 16) + "]}]}\n" +
      "- {resources: [\"*.\"], providers: [identity: {}]}\n");
  EXPECT_EQ(config.find("secrets")->providers[0].provider, Provider::AesCbc);
  EXPECT_EQ(config.find("rayjobs.ray.io")->providers[0].provider, Provider::AesGcm);
  EXPECT_EQ(config.find("pods")->providers[0].provider, Provider::Identity);
  EXPECT_EQ(config.find("queues.scheduling.volcano.sh"), nullptr);
  EXPECT_EQ(parse_config(kHead + "- {resources: [\"*.*\"], providers: [identity: {}]}")
                ->find("queues.scheduling.volcano.sh")
                ->providers.size(),
            1u);
}

TEST(EncryptionConfig, MistakesAreNamed) {
  EXPECT_NE(failure("kind: Secret"), "");
  EXPECT_EQ(failure(kHead + "- {providers: [identity: {}]}"),
            "resources[0].resources: Required value");
  EXPECT_EQ(failure(kHead + "- {resources: [secrets]}"), "resources[0].providers: Required value");
  EXPECT_EQ(failure(providers("aesgcm: {keys: [" + key("a", 'a', 15) + "]}")),
            "resources[0].providers[0].aesgcm.keys[0].secret: secret is not of the expected "
            "length, got 15, expected one of [16 24 32]");
  EXPECT_EQ(failure(providers("aesgcm: {keys: [{name: a, secret: \"?\"}]}")),
            "resources[0].providers[0].aesgcm.keys[0].secret: secret must be base64 encoded");
  EXPECT_EQ(failure(providers("aesgcm: {keys: [" + key("a", 'a') + ", " + key("a", 'b') + "]}")),
            "resources[0].providers[0].aesgcm.keys[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(failure(providers("identity: {}, kms: {name: k}")),
            "resources[0].providers[1]: provider kms is not available here; secretbox, aesgcm and "
            "aescbc are");
  EXPECT_EQ(failure(providers("secretbox: {keys: [" + key("a", 'a', 16) + "]}")),
            "resources[0].providers[0].secretbox.keys[0].secret: secret is not of the expected "
            "length, got 16, expected one of [32]");
  EXPECT_EQ(failure(providers("rot13: {}")),
            "resources[0].providers[0]: unknown provider \"rot13\"");
  EXPECT_NE(failure(kHead + "- {resources: [\"*\"], providers: [identity: {}]}"), "");
}

TEST(EncryptionConfig, TheDefaultIsOneFreshKeyForSecrets) {
  const std::string text = new_config_text();
  const Result<Config> config = parse_config(text);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const ResourceKeys* secrets = config->find("secrets");
  ASSERT_NE(secrets, nullptr);
  EXPECT_EQ(secrets->providers[0].provider, Provider::AesGcm);
  EXPECT_EQ(secrets->providers[0].keys[0].secret.size(), 32u);
  EXPECT_EQ(secrets->providers[1].provider, Provider::Identity);
  EXPECT_EQ(config->find("configmaps"), nullptr);
  EXPECT_NE(new_config_text(), text);
}

TEST(Cipher, OpensWhatItSealedAndNothingElse) {
  const std::string value = R"({"data":"hidden"})";
  for (const Provider provider : {Provider::AesCbc, Provider::AesGcm, Provider::Secretbox}) {
    for (const std::size_t size : {16u, 24u, 32u}) {
      if (provider == Provider::Secretbox && size != 32u) continue;
      const Key right{"a", std::string(size, 'a')}, other{"a", std::string(size, 'b')};
      const std::string sealed = encrypt(provider, right, "/secrets/x", value);
      EXPECT_EQ(sealed.find("hidden"), std::string::npos);
      EXPECT_NE(sealed, encrypt(provider, right, "/secrets/x", value));  // a fresh nonce each time
      EXPECT_EQ(decrypt(provider, right, "/secrets/x", sealed), value);
      EXPECT_NE(decrypt(provider, other, "/secrets/x", sealed), value);
      EXPECT_EQ(decrypt(provider, right, "/secrets/x", sealed.substr(0, 10)), std::nullopt);
    }
  }
}

TEST(Cipher, AesGcmNoticesEveryChange) {
  const Key key{"a", std::string(32, 'a')};
  const std::string sealed = encrypt(Provider::AesGcm, key, "/secrets/x", "value");
  EXPECT_EQ(decrypt(Provider::AesGcm, key, "/secrets/y", sealed), std::nullopt);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(decrypt(Provider::AesGcm, key, "/secrets/x", changed), std::nullopt);
  }
}

// As kube-apiserver 1.32 with the key of 32 times 'a' writes it: initialization vector of 16 times
// 'i', then AES-256-CBC with PKCS #7. Made with `openssl enc -aes-256-cbc`.
TEST(Cipher, AesCbcIsKubernetesForm) {
  const Key key{"a", std::string(32, 'a')};
  const std::string sealed =
      std::string(16, 'i') + *base64_decode("zjYT9bwH+aGGGVFJYw2ue0Fl4w6T9ULw0SphBoxV03U=");
  EXPECT_EQ(decrypt(Provider::AesCbc, key, "", sealed), R"({"kind":"Secret"})");
}

// As kube-apiserver writes it: a nonce of 24 times 'n', then what Go's nacl/secretbox makes of it.
TEST(Cipher, SecretboxIsNaClsForm) {
  const Key key{"a", std::string(32, 'k')};
  const std::string sealed =
      std::string(24, 'n') + *base64_decode("YO9Aghah/4ajW6Nla0JEKrPqO7z8TfCbfAeeCWN8ykAz");
  EXPECT_EQ(decrypt(Provider::Secretbox, key, "", sealed), R"({"kind":"Secret"})");
  const std::string own = encrypt(Provider::Secretbox, key, "", "value");
  EXPECT_EQ(own.size(), 24U + 16U + 5U);
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::string changed = own;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(decrypt(Provider::Secretbox, key, "", changed), std::nullopt);
  }
  EXPECT_EQ(decrypt(Provider::Secretbox, key, "", "short"), std::nullopt);
}

class Sealing : public ::testing::Test {
 protected:
  static std::shared_ptr<ObjectSealer> sealer(const std::string& list) {
    return std::make_shared<ObjectSealer>(*parse_config(providers(list)));
  }
  static std::string gcm(const std::string& keys) { return "aesgcm: {keys: [" + keys + "]}"; }
  const std::string value_ = R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})";
  const std::string place_ = "/secrets/default/s";
};

TEST_F(Sealing, OnlyWhatIsConfiguredIsSealed) {
  const auto s = sealer(gcm(key("k1", 'a')));
  const std::optional<std::string> sealed = s->seal(place_, value_);
  ASSERT_TRUE(sealed.has_value());
  EXPECT_TRUE(sealed->starts_with("k8s:enc:aesgcm:v1:k1:"));
  EXPECT_EQ(**s->open(place_, *sealed), value_);
  EXPECT_EQ(s->seal("/configmaps/default/s", value_), std::nullopt);
  EXPECT_EQ(s->seal("!claim/x", "v"), std::nullopt);
  EXPECT_EQ(*s->open("/configmaps/default/s", value_), std::nullopt);
  EXPECT_TRUE(s->take_stale().empty());
}

TEST_F(Sealing, EarlierKeysAndPlainTextAreReadAndStale) {
  const std::string old = *sealer(gcm(key("k1", 'a')))->seal(place_, value_);
  const auto s = sealer(gcm(key("k2", 'b') + ", " + key("k1", 'a')) + ", identity: {}");
  EXPECT_EQ(**s->open(place_, old), value_);
  EXPECT_EQ(*s->open("/secrets/default/plain", value_), std::nullopt);
  EXPECT_EQ(**s->open("/secrets/default/new", *s->seal("/secrets/default/new", value_)), value_);
  EXPECT_EQ(s->take_stale(), (std::vector<std::string>{"/secrets/default/plain", place_}));
  EXPECT_TRUE(s->seal(place_, value_)->starts_with("k8s:enc:aesgcm:v1:k2:"));
  // What history tells later is no news.
  EXPECT_EQ(**s->open(place_, old), value_);
  EXPECT_TRUE(s->take_stale().empty());
}

TEST_F(Sealing, AnExchangedConfigurationSealsAndTheEarlierOneStillOpens) {
  const auto s = sealer(gcm(key("k1", 'a')));
  const std::string old = *s->seal(place_, value_);
  const auto changed =
      s->exchange(*parse_config(providers("secretbox: {keys: [" + key("k2", 'b') + "]}") +
                                "- {resources: [pods], providers: [identity: {}]}\n"));
  EXPECT_TRUE(changed("secrets"));
  EXPECT_FALSE(changed("pods")) << "neither configuration seals it";
  const std::string now = *s->seal(place_, value_);
  EXPECT_TRUE(now.starts_with("k8s:enc:secretbox:v1:k2:"));
  EXPECT_EQ(**s->open(place_, now), value_);
  EXPECT_EQ(**s->open(place_, old), value_);
  EXPECT_FALSE(s->exchange(*parse_config(providers("secretbox: {keys: [" + key("k2", 'b') + ", " +
                                                   key("k3", 'c') + "]}")))("secrets"));
  const std::string other = *sealer(gcm(key("k9", 'z')))->seal(place_, value_);
  EXPECT_FALSE(s->open(place_, other));
}

TEST_F(Sealing, IdentityFirstTakesTheSealOff) {
  const std::string old = *sealer(gcm(key("k1", 'a')))->seal(place_, value_);
  const auto s = sealer("identity: {}, " + gcm(key("k1", 'a')));
  EXPECT_EQ(**s->open(place_, old), value_);
  EXPECT_EQ(s->take_stale(), std::vector<std::string>{place_});
  EXPECT_EQ(s->seal(place_, value_), std::nullopt);
}

TEST_F(Sealing, WhatCannotBeOpenedIsNamed) {
  const std::string old = *sealer(gcm(key("k1", 'a')))->seal(place_, value_);
  const auto message = [&](const std::string& list, const std::string& stored) {
    const auto out = sealer(list)->open(place_, stored);
    return out ? "" : out.error().message;
  };
  EXPECT_EQ(message(gcm(key("k1", 'b')), old),
            "secrets/default/s cannot be decrypted: it does not open with key \"k1\" of provider "
            "aesgcm: the key is another one, or the value is damaged");
  EXPECT_EQ(message(gcm(key("k2", 'a')), old),
            "secrets/default/s cannot be decrypted: it was sealed with key \"k1\" of provider "
            "aesgcm, which is not configured");
  EXPECT_EQ(message(gcm(key("k1", 'a')), value_),
            "secrets/default/s cannot be decrypted: it is not encrypted, and provider identity is "
            "not configured");
  const std::string cbc = *sealer("aescbc: {keys: [" + key("k1", 'a') + "]}")->seal(place_, value_);
  EXPECT_NE(message("aescbc: {keys: [" + key("k1", 'b') + "]}", cbc), "");
  const Config other =
      *parse_config(kHead + "- {resources: [configmaps], providers: [identity: {}]}");
  EXPECT_EQ(ObjectSealer(other).open(place_, old).error().message,
            "secrets/default/s cannot be decrypted: it was sealed with key \"k1\" of provider "
            "aesgcm, and no provider is configured for secrets");
}

TEST_F(Sealing, RewritingKeepsTheObjectAndGivesItANewRevision) {
  storage::OpenOptions options;
  options.in_memory = true;
  options.decode = object_decoder();
  const auto store = *storage::open_rocksdb(std::move(options));
  storage::Transaction transaction;
  storage::Op op;
  op.key = place_;
  op.value = R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","resourceVersion":""}})";
  op.revision_at = op.value.find("\"}}");
  transaction.ops.push_back(std::move(op));
  const Revision first = storage::commit_and_wait(*store, std::move(transaction))->revision;
  const Result<std::size_t> done = rewrite(*store, {place_, "/secrets/default/gone"});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(*done, 1u);
  const storage::RecordPtr now = *store->snapshot()->get(place_);
  EXPECT_GT(now->modified, first);
  EXPECT_EQ(*now->value,
            R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","resourceVersion":")" +
                now->modified.text() + "\"}}");
}

}  // namespace
}  // namespace krater::api::encryption
