#include <gtest/gtest.h>

#include <map>

#include "api/auth/authenticator.h"
#include "api/auth/bootstrap_token.h"
#include "api/auth/jwt.h"
#include "api/auth/openssl.h"
#include "api/auth/service_account_tokens.h"
#include "base/strings.h"
#include "model/kinds.h"
#include "testing/manual_loop.h"

namespace krater::api {
namespace {

ObjectPtr object(const Kind& kind, std::string_view name_space, std::string_view name,
                 std::string_view uid, Json more = JsonObject{}) {
  Json json = new_object(kind, name_space, name);
  for (const auto& member : more.as_object()) json.as_object()[member.key()] = member.value();
  set_path(json, {"metadata", "uid"}, Json(uid));
  auto made = Object::parse(ObjectKey::of(kind, name_space, name), Revision(1),
                            std::make_shared<const std::string>(to_json(json)));
  EXPECT_TRUE(made);
  return *made;
}

std::shared_ptr<const JwtSigner> new_signer() {
  const auto key = openssl::new_p256_key();
  auto signer = JwtSigner::make(*openssl::to_pem(key->get()));
  EXPECT_TRUE(signer);
  return *std::move(signer);
}

class Tokens : public ::testing::Test {
 protected:
  Tokens() {
    put(object(kinds::kServiceAccount, "default", "robot", "sa-1"));
    put(object(kinds::kPod, "default", "p", "pod-1",
               JsonObject{{"spec", JsonObject{{"nodeName", "n1"}}}}));
    put(object(kinds::kNode, "", "n1", "node-1"));
  }
  void put(const ObjectPtr& o) { objects_[o->key()] = o; }
  void drop(const Kind& kind, std::string_view name_space, std::string_view name) {
    objects_.erase(ObjectKey::of(kind, name_space, name));
  }
  ObjectLookup lookup() {
    return [this](const Kind& kind, std::string_view name_space,
                  std::string_view name) -> Result<ObjectPtr> {
      const auto found = objects_.find(ObjectKey::of(kind, name_space, name));
      if (found == objects_.end()) return make_error(Code::NotFound, "absent");
      return found->second;
    };
  }
  std::string issue(Json spec) {
    const auto token = tokens_.issue(
        *objects_.at(ObjectKey::of(kinds::kServiceAccount, "default", "robot")), spec, lookup());
    EXPECT_TRUE(token) << token.error().message;
    return token->token;
  }

  testing::ManualLoop loop_;
  SeededRng rng_{1};
  std::map<ObjectKey, ObjectPtr> objects_;
  std::shared_ptr<const JwtSigner> signer_ = new_signer();
  ServiceAccountTokens tokens_{signer_, {}, loop_.wall(), rng_};
};

TEST_F(Tokens, ATokenNamesItsAccountItsPodAndItsNode) {
  const std::string token = issue(
      JsonObject{{"boundObjectRef", JsonObject{{"kind", "Pod"}, {"name", "p"}, {"uid", "pod-1"}}}});
  const auto who = tokens_.verify(token, {}, lookup());
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(who->user, "system:serviceaccount:default:robot");
  EXPECT_EQ(who->uid, "sa-1");
  EXPECT_TRUE(who->in("system:serviceaccounts:default"));
  EXPECT_TRUE(who->in(kAuthenticatedGroup));
  EXPECT_EQ(who->extra.at("authentication.kubernetes.io/pod-name"), std::vector<std::string>{"p"});
  EXPECT_EQ(who->extra.at("authentication.kubernetes.io/node-uid"),
            std::vector<std::string>{"node-1"});
}

TEST_F(Tokens, ATokenEndsWithTime) {
  const std::string token = issue(JsonObject{{"expirationSeconds", 600}});
  loop_.advance(599s);
  EXPECT_TRUE(tokens_.verify(token, {}, lookup()));
  loop_.advance(1s);
  EXPECT_FALSE(tokens_.verify(token, {}, lookup()));
}

TEST_F(Tokens, ATokenDiesWithItsAccountAndItsPod) {
  const std::string plain = issue(JsonObject{});
  const std::string bound =
      issue(JsonObject{{"boundObjectRef", JsonObject{{"kind", "Pod"}, {"name", "p"}}}});
  put(object(kinds::kPod, "default", "p", "pod-2"));
  EXPECT_FALSE(tokens_.verify(bound, {}, lookup()));
  EXPECT_TRUE(tokens_.verify(plain, {}, lookup()));
  put(object(kinds::kServiceAccount, "default", "robot", "sa-2"));
  EXPECT_FALSE(tokens_.verify(plain, {}, lookup()));
  drop(kinds::kServiceAccount, "default", "robot");
  EXPECT_FALSE(tokens_.verify(plain, {}, lookup()));
}

TEST_F(Tokens, ATokenForAnotherAudienceIsRefusedHere) {
  const std::string token = issue(JsonObject{{"audiences", JsonArray{"vault"}}});
  EXPECT_FALSE(tokens_.verify(token, {}, lookup()));
  EXPECT_TRUE(tokens_.verify(token, {"vault", "x"}, lookup()));
  EXPECT_EQ(tokens_.audiences_of(token, {"vault", "x"}), std::vector<std::string>{"vault"});
}

TEST_F(Tokens, ALifetimeBelowTenMinutesIsInvalid) {
  const auto token =
      tokens_.issue(*objects_.begin()->second, JsonObject{{"expirationSeconds", 599}}, lookup());
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, Code::Invalid);
}

TEST_F(Tokens, AnotherUidOfTheBoundObjectIsAConflict) {
  const Json spec(
      JsonObject{{"boundObjectRef", JsonObject{{"kind", "Pod"}, {"name", "p"}, {"uid", "old"}}}});
  const auto token = tokens_.issue(
      *objects_.at(ObjectKey::of(kinds::kServiceAccount, "default", "robot")), spec, lookup());
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, Code::Conflict);
}

TEST_F(Tokens, ADamagedOrForeignTokenIsRefused) {
  std::string token = issue(JsonObject{});
  EXPECT_FALSE(tokens_.verify(token.substr(0, token.size() - 2), {}, lookup()));
  EXPECT_FALSE(tokens_.verify(base64url_encode(R"({"alg":"none"})") + token.substr(token.find('.')),
                              {}, lookup()));
  const std::size_t middle = token.find('.') + 5;
  token[middle] = token[middle] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(tokens_.verify(token, {}, lookup()));
  EXPECT_FALSE(new_signer()->verify(issue(JsonObject{})));
}

TEST_F(Tokens, ABootstrapTokenIsKeptAsAHashAndExpires) {
  const NewBootstrapToken made = new_bootstrap_token(loop_.wall().now() + 1h, "for n1");
  EXPECT_TRUE(looks_like_bootstrap_token(made.token));
  EXPECT_EQ(to_json(made.secret).find(base64_encode(made.token.substr(7))), std::string::npos);
  Json more = made.secret;
  const std::string name = text_at(made.secret, {"metadata", "name"});
  EXPECT_EQ(name, bootstrap_secret_name(made.token));
  more.as_object().erase("metadata");
  put(object(kinds::kSecret, "kube-system", name, "s", more));
  const auto authenticator = make_authenticator(tokens_, lookup(), loop_.wall());
  const auto who = authenticator->authenticate({{}, made.token});
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(who->user, "system:bootstrap:" + made.token.substr(0, 6));
  EXPECT_TRUE(who->in(kBootstrappersGroup));
  std::string wrong = made.token;
  wrong.back() = wrong.back() == 'a' ? 'b' : 'a';
  EXPECT_FALSE(authenticator->authenticate({{}, wrong}));
  loop_.advance(1h);
  EXPECT_FALSE(authenticator->authenticate({{}, made.token}));
}

TEST_F(Tokens, NothingPresentedIsAnonymousButAWrongTokenIsNot) {
  const auto authenticator = make_authenticator(tokens_, lookup(), loop_.wall());
  EXPECT_TRUE(authenticator->authenticate({})->anonymous());
  EXPECT_EQ(authenticator->authenticate({{}, "nonsense"}).error().code, Code::Unauthorized);
  EXPECT_EQ(authenticator->authenticate({{}, "abcdef.0123456789abcdef"}).error().code,
            Code::Unauthorized);
  EXPECT_EQ(authenticator->authenticate({PresentedCertificate{"", {}, ""}, {}}).error().code,
            Code::Unauthorized);
  const auto admin =
      authenticator->authenticate({PresentedCertificate{"jane", {"system:masters"}, "ab"}, {}});
  ASSERT_TRUE(admin);
  EXPECT_EQ(admin->groups, (std::vector<std::string>{"system:masters", "system:authenticated"}));
}

}  // namespace
}  // namespace krater::api
