// Requests for certificates, with a signer that writes down what it was asked.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "controllers/certificates/certificate_controller.h"
#include "controllers/loop/testing/world.h"
#include "model/condition.h"

namespace krater::controllers {
namespace {

const Kind kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                    "certificatesigningrequests", false};

struct CertificateTest : ::testing::Test {
  testing::World world;
  RequestedIdentity identity{"system:node:n1", {"system:nodes"}};
  std::string signed_for;
  Duration life{};

  void SetUp() override {
    Signer signer;
    signer.read = [this](const std::string& pem) -> Result<RequestedIdentity> {
      if (pem != "request") return make_error(Code::BadRequest, "no request");
      return identity;
    };
    signer.sign = [this](const std::string&, const RequestedIdentity& who, WallTime,
                         WallTime until) -> Result<std::string> {
      signed_for = who.common_name;
      life = until - world.loop.wall().now();
      return std::string("certificate");
    };
    world.controllers.add(make_certificate_controller(std::move(signer)));
    world.controllers.start();
    world.settle();
  }
  void ask(std::string_view signer, std::string_view user, std::string_view group,
           std::string_view more = R"(,"usages":["client auth","digital signature"])") {
    world.put(kRequest, R"({"metadata":{"name":"r"},"spec":{"request":")" +
                            base64_encode("request") + R"(","signerName":")" + std::string(signer) +
                            R"(","username":")" + std::string(user) + R"(","groups":[")" +
                            std::string(group) + R"("])" + std::string(more) + "}}");
    world.settle();
  }
  ObjectPtr request() const { return world.get(kRequest, "", "r"); }
  std::string certificate() const {
    return text_at(*request()->document(), {"status", "certificate"});
  }
  std::string condition(std::string_view type) const {
    const auto found = condition_of(*request()->document(), type);
    return found ? found->reason : "";
  }
  void decide(const std::string& type) {
    world.patch(*request(), kRequest,
                R"({"status":{"conditions":[{"type":")" + type +
                    R"(","status":"True","reason":"KubectlApprove","lastTransitionTime":")" +
                    to_rfc3339(world.loop.wall().now()) + R"("}]}})");
    world.settle();
  }
};

TEST_F(CertificateTest, ANodeThatJoinsIsApprovedAndSigned) {
  ask(kNodeClientSigner, "system:bootstrap:abc", "system:bootstrappers");
  EXPECT_EQ(condition("Approved"), "AutoApproved");
  EXPECT_EQ(certificate(), base64_encode("certificate"));
  EXPECT_EQ(signed_for, "system:node:n1");
}

TEST_F(CertificateTest, ANodeRenewsOnlyItsOwn) {
  ask(kNodeClientSigner, "system:node:n2", "system:nodes");
  EXPECT_EQ(condition("Approved"), "");
  world.remove(kRequest, "", "r");
  ask(kNodeClientSigner, "system:node:n1", "system:nodes");
  EXPECT_EQ(condition("Approved"), "AutoApproved");
}

TEST_F(CertificateTest, PeopleAreApprovedByPeople) {
  identity = {"jane", {"dev"}};
  ask(kClientSigner, "admin", "system:bootstrappers",
      R"(,"usages":["client auth"],"expirationSeconds":3600)");
  EXPECT_EQ(certificate(), "");
  decide("Approved");
  EXPECT_EQ(certificate(), base64_encode("certificate"));
  EXPECT_EQ(signed_for, "jane");
  EXPECT_EQ(life, Duration(std::chrono::hours(1)));
}

TEST_F(CertificateTest, WhatIsDeniedIsNotSignedAndGoesAfterAnHour) {
  ask(kClientSigner, "jane", "dev");
  decide("Denied");
  EXPECT_EQ(certificate(), "");
  world.pass(std::chrono::minutes(61));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(CertificateTest, WhatNobodyDecidesGoesAfterADay) {
  ask(kClientSigner, "jane", "dev");
  world.pass(std::chrono::hours(23));
  EXPECT_NE(request(), nullptr);
  world.pass(std::chrono::hours(2));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(CertificateTest, OtherUsagesFailAndSayWhy) {
  ask(kClientSigner, "jane", "dev", R"(,"usages":["client auth","server auth"])");
  decide("Approved");
  EXPECT_EQ(certificate(), "");
  EXPECT_EQ(condition("Failed"), "SignerValidationFailure");
}

TEST_F(CertificateTest, OtherSignersAreLeftAlone) {
  ask("example.com/signer", "jane", "system:bootstrappers");
  decide("Approved");
  EXPECT_EQ(certificate(), "");
  EXPECT_EQ(condition("Failed"), "");
}

}  // namespace
}  // namespace krater::controllers
