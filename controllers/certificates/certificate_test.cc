// Requests for certificates: who is approved without being asked about, what each signer takes,
// when requests go. The authority is one that writes down what it was asked.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "controllers/certificates/approver.h"
#include "controllers/certificates/cleaner.h"
#include "controllers/certificates/signer.h"
#include "controllers/loop/testing/world.h"
#include "model/condition.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kNodeUsages = R"(["client auth","digital signature"])";

struct CertificateTest : ::testing::Test {
  testing::World world;
  RequestedIdentity identity{"system:node:n1", {"system:nodes"}};
  std::vector<std::string> rights{"nodeclient", "selfnodeclient"}, asked_about;
  std::vector<std::string> signed_usages;
  Duration life{}, certificate_life = std::chrono::hours(24);

  void SetUp() override {
    const ReadRequest read = [this](const std::string& pem) -> Result<RequestedIdentity> {
      if (pem != "request") return make_error(Code::BadRequest, "no request");
      return identity;
    };
    ApproverDeps approver{read, [this](const Requester& who, std::string_view subresource) {
                            asked_about.push_back(who.user + " " + std::string(subresource));
                            return std::find(rights.begin(), rights.end(), subresource) !=
                                   rights.end();
                          }};
    SignerDeps signer{read, {}};
    signer.sign = [this](const std::string&, const std::vector<std::string>& usages, WallTime,
                         WallTime until) -> Result<std::string> {
      signed_usages = usages;
      life = until - world.loop.wall().now();
      return std::string("certificate");
    };
    world.controllers.add(make_certificate_approver(std::move(approver)));
    world.controllers.add(make_certificate_signer(std::move(signer)));
    world.controllers.add(make_certificate_cleaner(
        [this](const std::string&) { return world.loop.wall().now() + certificate_life; }));
    world.controllers.start();
    world.settle();
  }
  void ask(std::string_view signer, std::string_view user, std::string_view usages = kNodeUsages,
           std::string_view more = "") {
    world.put(kCertificateRequest, R"({"metadata":{"name":"r"},"spec":{"request":")" +
                                       base64_encode("request") + R"(","signerName":")" +
                                       std::string(signer) + R"(","username":")" +
                                       std::string(user) + R"(","groups":["g"],"usages":)" +
                                       std::string(usages) + std::string(more) + "}}");
    world.settle();
  }
  ObjectPtr request() const { return world.get(kCertificateRequest, "", "r"); }
  std::string certificate() const {
    return text_at(*request()->document(), {"status", "certificate"});
  }
  Condition condition(std::string_view type) const {
    return condition_of(*request()->document(), type).value_or(Condition{});
  }
  void decide(const std::string& type) {
    world.patch(*request(), kCertificateRequest,
                R"({"status":{"conditions":[{"type":")" + type +
                    R"(","status":"True","reason":"KubectlApprove","lastTransitionTime":")" +
                    to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
};

TEST_F(CertificateTest, ANodeThatJoinsIsApprovedAndSigned) {
  ask(kNodeClientSigner, "system:bootstrap:abc");
  EXPECT_EQ(condition("Approved").reason, "AutoApproved");
  EXPECT_EQ(condition("Approved").message,
            "Auto approving kubelet client certificate after SubjectAccessReview.");
  EXPECT_EQ(certificate(), base64_encode("certificate"));
  EXPECT_EQ(signed_usages, (std::vector<std::string>{"client auth", "digital signature"}));
  EXPECT_EQ(asked_about, std::vector<std::string>{"system:bootstrap:abc nodeclient"});
}

TEST_F(CertificateTest, ANodeRenewsItsOwnByAnotherRight) {
  rights = {"selfnodeclient"};
  ask(kNodeClientSigner, "system:node:n2");
  EXPECT_EQ(condition("Approved").reason, "");
  world.remove(kCertificateRequest, "", "r");
  ask(kNodeClientSigner, "system:node:n1");
  EXPECT_EQ(condition("Approved").message,
            "Auto approving self kubelet client certificate after SubjectAccessReview.");
}

TEST_F(CertificateTest, WhoHasNoRightWaitsUntilHeHasIt) {
  rights = {};
  ask(kNodeClientSigner, "system:bootstrap:abc");
  EXPECT_EQ(condition("Approved").reason, "");
  rights = {"nodeclient"};
  world.pass(std::chrono::minutes(1));
  EXPECT_EQ(condition("Approved").reason, "AutoApproved");
}

TEST_F(CertificateTest, OnlyWhatAnOrdinaryNodeAsksForIsApprovedByItself) {
  identity.dns_names = {"n1"};
  ask(kNodeClientSigner, "system:bootstrap:abc");
  EXPECT_EQ(condition("Approved").reason, "");
  EXPECT_TRUE(asked_about.empty());
}

TEST_F(CertificateTest, PeopleAreApprovedByPeople) {
  identity = {"jane", {"dev"}};
  ask(kClientSigner, "admin", R"(["client auth"])", R"(,"expirationSeconds":3600)");
  EXPECT_EQ(certificate(), "");
  decide("Approved");
  EXPECT_EQ(certificate(), base64_encode("certificate"));
  EXPECT_EQ(life, Duration(std::chrono::hours(1)));
}

TEST_F(CertificateTest, ALifeOfADayOrMoreCountsFromBeforeNow) {
  ask(kNodeClientSigner, "system:bootstrap:abc");
  EXPECT_EQ(life, Duration(std::chrono::hours(24 * 365) - std::chrono::minutes(5)));
}

TEST(CertificateRequest, WhatEachSignerTakes) {
  const std::vector<std::string> client{"client auth", "digital signature"};
  const std::vector<std::string> serving{"digital signature", "key encipherment", "server auth"};
  const RequestedIdentity node{"system:node:n1", {"system:nodes"}};
  const auto with = [&node](auto change) {
    RequestedIdentity out = node;
    change(out);
    return out;
  };
  const RequestedIdentity named = with([](auto& x) { x.dns_names = {"n1"}; });
  struct Case {
    std::string_view signer;
    RequestedIdentity wanted;
    std::vector<std::string> usages;
    std::string problem;
  };
  const std::vector<Case> cases{
      {kNodeClientSigner, node, client, ""},
      {kNodeClientSigner, with([](auto& x) { x.organizations.push_back("system:masters"); }),
       client, "subject organization is not system:nodes"},
      {kNodeClientSigner, named, client, "DNS subjectAltNames are not allowed"},
      {kNodeClientSigner, with([](auto& x) { x.ip_addresses = {"10.0.0.1"}; }), client,
       "IP subjectAltNames are not allowed"},
      {kNodeClientSigner, with([](auto& x) { x.mail_addresses = {"a@b"}; }), client,
       "Email subjectAltNames are not allowed"},
      {kNodeClientSigner, with([](auto& x) { x.uris = {"spiffe://x"}; }), client,
       "URI subjectAltNames are not allowed"},
      {kNodeClientSigner, with([](auto& x) { x.common_name = "jane"; }), client,
       "subject common name does not begin with system:node:"},
      {kNodeClientSigner,
       node,
       {"client auth"},
       "usages did not match [client auth digital signature key encipherment]"},
      {kNodeClientSigner, node, serving,
       "usages did not match [client auth digital signature key encipherment]"},
      {kNodeServingSigner, named, serving, ""},
      {kNodeServingSigner, named, {"server auth", "digital signature"}, ""},
      {kNodeServingSigner, node, serving, "DNS or IP subjectAltName is required"},
      {kNodeServingSigner, with([](auto& x) {
         x.ip_addresses = {"10.0.0.1"};
         x.organizations.clear();
       }),
       serving, "subject organization is not system:nodes"},
      {kNodeServingSigner, named, client,
       "usages did not match [digital signature key encipherment server auth]"},
      {kClientSigner, {"jane"}, {"client auth"}, ""},
      {kClientSigner,
       {"jane"},
       {"client auth", "server auth"},
       "invalid usage for client certificate: server auth"},
      {kClientSigner,
       {"jane"},
       {"digital signature"},
       "missing required usage for client certificate: client auth"},
      {kLegacySigner, {"anybody"}, {"code signing"}, ""},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(problem_for(one.signer, one.wanted, one.usages), one.problem)
        << one.signer << " " << one.wanted.common_name;
  }
}

TEST_F(CertificateTest, WhatASignerDoesNotTakeFailsAndSaysWhy) {
  identity = {"jane", {"dev"}};
  ask(kClientSigner, "jane", R"(["client auth","server auth"])");
  decide("Approved");
  EXPECT_EQ(certificate(), "");
  EXPECT_EQ(condition("Failed").reason, "SignerValidationFailure");
  EXPECT_EQ(condition("Failed").message, "invalid usage for client certificate: server auth");
  EXPECT_EQ(condition("Approved").status, "True");
}

TEST_F(CertificateTest, OtherSignersAreLeftAlone) {
  ask("example.com/signer", "jane");
  decide("Approved");
  EXPECT_EQ(certificate(), "");
  EXPECT_EQ(condition("Failed").reason, "");
}

TEST_F(CertificateTest, WhatIsDeniedIsNotSignedAndGoesAfterAnHour) {
  ask(kClientSigner, "jane");
  decide("Denied");
  EXPECT_EQ(certificate(), "");
  world.pass(std::chrono::minutes(59));
  EXPECT_NE(request(), nullptr);
  world.pass(std::chrono::minutes(1));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(CertificateTest, WhatNobodyDecidesGoesAfterADay) {
  ask(kClientSigner, "jane");
  world.pass(std::chrono::hours(23));
  EXPECT_NE(request(), nullptr);
  world.pass(std::chrono::hours(1));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(CertificateTest, WhatIsSignedGoesAfterAnHourOrWithItsCertificate) {
  ask(kNodeClientSigner, "system:bootstrap:abc");
  world.pass(std::chrono::minutes(61));
  EXPECT_EQ(request(), nullptr);
  certificate_life = Duration(0);
  ask(kNodeClientSigner, "system:bootstrap:abc");
  world.pass(std::chrono::seconds(1));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(CertificateTest, WhatIsApprovedForAnotherSignerWaitsForHim) {
  ask("example.com/signer", "jane");
  decide("Approved");
  world.pass(std::chrono::hours(48));
  EXPECT_NE(request(), nullptr);
}

}  // namespace
}  // namespace krater::controllers
