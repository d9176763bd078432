// A node's certificate is renewed in time, with a new key each time, whatever goes wrong on the
// way. The cluster is a fake; who approves and signs is the test.
#include "agent/identity/certificate_keeper.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

const Kind kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                    "certificatesigningrequests", false};

struct CertificateKeeperTest : ::testing::Test {
  testing::ManualLoop loop;
  testing::FakeClient cluster{loop, loop.wall()};
  SeededRng rng{7};
  int keys = 0;
  std::vector<std::string> adopted;
  std::unique_ptr<CertificateKeeper> keeper;

  WallTime now() { return loop.wall().now(); }
  void SetUp() override {
    CertificateKeeperDeps deps{cluster, loop, loop.wall(), rng, {}, {}, {}};
    deps.make_request = [this]() -> Result<KeyAndRequest> {
      const std::string number = std::to_string(++keys);
      return KeyAndRequest{"key" + number, "request" + number};
    };
    deps.end_of = [this](const std::string&) -> Result<WallTime> { return now() + 1000s; };
    deps.adopt = [this](const std::string& key, const std::string& certificate) -> Result<void> {
      adopted.push_back(key + " " + certificate);
      return {};
    };
    keeper = std::make_unique<CertificateKeeper>(std::move(deps));
    keeper->start({now(), now() + 1000s});
  }
  std::vector<ObjectPtr> requests() const { return cluster.all(kRequest); }
  std::string asked() const {
    const auto all = requests();
    return all.empty()
               ? ""
               : base64_decode(text_at(*all.back()->document(), {"spec", "request"})).value_or("");
  }
  void set_status(const std::string& status) {
    for (const ObjectPtr& request : requests()) {
      ASSERT_TRUE(
          cluster.apply(client::PatchWrite{kRequest, "", request->name(), client::PatchType::Merge,
                                           *parse_json(R"({"status":)" + status + "}"), "status"}));
    }
  }
  void sign() {
    set_status(R"({"conditions":[{"type":"Approved","status":"True"}],"certificate":")" +
               base64_encode("certificate") + "\"}");
    loop.advance(5s);
  }
  void forget_requests() {
    for (const ObjectPtr& request : requests())
      ASSERT_TRUE(cluster.apply(client::DeleteWrite{kRequest, "", request->name()}));
  }
};

TEST_F(CertificateKeeperTest, ItAsksBetweenSeventyAndNinetyPercentOfTheLife) {
  loop.advance(699s);
  EXPECT_TRUE(requests().empty());
  loop.advance(202s);
  ASSERT_EQ(requests().size(), 1U);
  const auto document = requests().front()->document();
  EXPECT_EQ(text_at(*document, {"spec", "signerName"}),
            "kubernetes.io/kube-apiserver-client-kubelet");
  EXPECT_TRUE(requests().front()->name().starts_with("csr-"));
  EXPECT_EQ(asked(), "request1");
  EXPECT_TRUE(adopted.empty());
  sign();
  EXPECT_EQ(adopted, std::vector<std::string>{"key1 certificate"});
}

TEST_F(CertificateKeeperTest, ItGoesOnRenewingForAsLongAsItLives) {
  for (int round = 1; round <= 3; ++round) {
    loop.advance(901s);
    ASSERT_EQ(requests().size(), 1U) << round;
    sign();
    ASSERT_EQ(adopted.size(), static_cast<std::size_t>(round));
    forget_requests();
  }
  EXPECT_EQ(adopted.back(), "key3 certificate");
  keeper.reset();
  loop.advance(2000s);
  EXPECT_TRUE(requests().empty());
}

TEST_F(CertificateKeeperTest, WhatIsDeniedIsAskedForAgainWithAnotherKey) {
  loop.advance(901s);
  set_status(
      R"({"conditions":[{"type":"Denied","status":"True","reason":"No","message":"never"}]})");
  loop.advance(5s);
  EXPECT_TRUE(adopted.empty());
  loop.advance(10s);
  ASSERT_GE(requests().size(), 2U);
  forget_requests();
  loop.advance(10min);
  sign();
  ASSERT_EQ(adopted.size(), 1U);
  EXPECT_NE(adopted.front(), "key1 certificate");
}

TEST_F(CertificateKeeperTest, AServerThatIsAwayIsWaitedFor) {
  cluster.fail = [](const client::Write&) { return make_error(Code::Unavailable, "down"); };
  loop.advance(950s);
  EXPECT_TRUE(requests().empty());
  cluster.fail = {};
  loop.advance(3min);
  ASSERT_EQ(requests().size(), 1U);
  cluster.fail_get = [](const ObjectKey&) { return make_error(Code::Unavailable, "down"); };
  loop.advance(1min);
  cluster.fail_get = {};
  sign();
  EXPECT_EQ(adopted.size(), 1U);
}

TEST_F(CertificateKeeperTest, WhatNobodyDecidesIsGivenUpAfterAWhile) {
  loop.advance(901s);
  loop.advance(16min);
  EXPECT_GE(requests().size(), 2U);
  EXPECT_TRUE(adopted.empty());
}

TEST(CertificateAsker, ARequestThatIsThereAlreadyIsWaitedFor) {
  testing::ManualLoop loop;
  testing::FakeClient cluster(loop, loop.wall());
  cluster.put(kRequest, *parse_json(R"({"metadata":{"name":"node-csr-x"},"status":{
      "conditions":[{"type":"Approved","status":"True"}],"certificate":"eA=="}})"));
  CertificateAsker asker(cluster, loop, 1min);
  std::string got;
  asker.ask("node-csr-x", "request",
            [&](const Result<std::string>& pem) { got = pem.value_or("?"); });
  loop.run_ready();
  EXPECT_EQ(got, "x");
}

TEST(CertificateAsker, ADenialSaysWhy) {
  testing::ManualLoop loop;
  testing::FakeClient cluster(loop, loop.wall());
  cluster.put(kRequest, *parse_json(R"({"metadata":{"name":"n"},"status":{"conditions":[
      {"type":"Denied","status":"True","reason":"KubectlDeny","message":"not you"}]}})"));
  CertificateAsker asker(cluster, loop, 1min);
  Result<std::string> got = std::string();
  asker.ask("n", "request", [&](Result<std::string> pem) { got = std::move(pem); });
  loop.run_ready();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::Forbidden);
  EXPECT_EQ(got.error().message,
            "certificate signing request is denied, reason: KubectlDeny, message: not you");
}

}  // namespace
}  // namespace krater::agent
