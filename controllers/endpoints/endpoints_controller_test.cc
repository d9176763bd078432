#include "controllers/endpoints/endpoints_controller.h"

#include <gtest/gtest.h>

#include <set>

#include "controllers/endpoints/publish.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

struct EndpointsTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_endpoints_controller());
    world.controllers.start();
    world.settle();
  }
  void service(const std::string& spec) {
    world.put(kinds::kService,
              R"({"metadata":{"name":"s","namespace":"d"},"spec":{)" + spec + "}}");
    world.settle();
  }
  void put_pod(const std::string& name, const std::string& ip, bool ready,
               const std::string& spec = "", const std::string& phase = "Running") {
    world.put(kinds::kPod, R"({"metadata":{"name":")" + name +
                               R"(","namespace":"d","labels":{"app":"x"}},"spec":{"nodeName":"n1",
        "containers":[{"name":"m","ports":[{"name":"web","containerPort":)" +
                               (name == "b" ? "9090" : "8080") + "}]}]" + spec +
                               R"(},"status":{"phase":")" + phase + R"(","podIP":")" + ip +
                               R"(","conditions":[{"type":"Ready","status":")" +
                               (ready ? "True" : "False") + R"("}]}})");
  }
  template <typename... Rest>
  void pod(const Rest&... rest) {
    put_pod(rest...);
    world.settle();
  }
  Json endpoints() const {
    const ObjectPtr found = world.get(kinds::kEndpoints, "d", "s");
    return found ? *found->document() : Json();
  }
  // "ip:port" of ready, "!ip:port" of not ready addresses.
  std::set<std::string> addresses() const {
    std::set<std::string> out;
    const Json all = endpoints();
    const JsonArray* subsets = array_at(all, {"subsets"});
    if (subsets == nullptr) return out;
    for (const Json& subset : *subsets) {
      const JsonArray* ports = array_at(subset, {"ports"});
      const std::string port = ports ? ":" + std::to_string(*int_at(ports->at(0), {"port"})) : "";
      for (const auto& [list, mark] :
           {std::pair("addresses", ""), std::pair("notReadyAddresses", "!")}) {
        const JsonArray* entries = array_at(subset, {list});
        if (entries == nullptr) continue;
        for (const Json& entry : *entries) out.insert(mark + text_at(entry, {"ip"}) + port);
      }
    }
    return out;
  }
  std::vector<Json> slices() const {
    std::vector<Json> out;
    for (const ObjectPtr& slice : world.fake.all(kinds::kEndpointSlice))
      out.push_back(*slice->document());
    return out;
  }
  using Set = std::set<std::string>;
};

TEST_F(EndpointsTest, FollowPodsAndTheirReadiness) {
  service(
      R"("selector":{"app":"x"},"clusterIP":"10.0.0.5","ports":[{"port":80,"targetPort":8080}])");
  EXPECT_TRUE(addresses().empty());
  pod("a", "10.1.0.1", true);
  pod("c", "10.1.0.2", false);
  EXPECT_EQ(addresses(), (Set{"10.1.0.1:8080", "!10.1.0.2:8080"}));
  pod("c", "10.1.0.2", true);
  EXPECT_EQ(addresses(), (Set{"10.1.0.1:8080", "10.1.0.2:8080"}));
  pod("a", "10.1.0.1", false, "", "Succeeded");
  EXPECT_EQ(addresses(), (Set{"10.1.0.2:8080"}));
  ASSERT_EQ(slices().size(), 1U);
  const Json slice = slices()[0];
  EXPECT_EQ(text_at(slice, {"metadata", "labels", keys::kServiceName}), "s");
  EXPECT_EQ(text_at(slice, {"metadata", "labels", keys::kSliceManagedBy}),
            "endpointslice-controller.k8s.io");
  EXPECT_EQ(text_at(slice, {"addressType"}), "IPv4");
  const Json endpoint = array_at(slice, {"endpoints"})->at(0);
  EXPECT_EQ(bool_at(endpoint, {"conditions", "ready"}), true);
  EXPECT_EQ(text_at(endpoint, {"targetRef", "name"}), "c");
  EXPECT_EQ(text_at(endpoint, {"nodeName"}), "n1");
  EXPECT_EQ(world.get(kinds::kEndpoints, "d", "s")->owners()[0].name, "s");
}

TEST_F(EndpointsTest, NamedPortsAreEachPodsOwn) {
  service(R"("selector":{"app":"x"},"ports":[{"port":80,"targetPort":"web"}])");
  pod("a", "10.1.0.1", true);
  pod("b", "10.1.0.2", true);
  EXPECT_EQ(addresses(), (Set{"10.1.0.1:8080", "10.1.0.2:9090"}));
  EXPECT_EQ(slices().size(), 2U);
}

TEST_F(EndpointsTest, HeadlessWithoutPortsStillHasAddresses) {
  service(R"("selector":{"app":"x"},"clusterIP":"None")");
  pod("a", "10.1.0.1", true, R"(,"hostname":"h","subdomain":"s")");
  EXPECT_EQ(addresses(), (Set{"10.1.0.1"}));
  const auto labels = world.get(kinds::kEndpoints, "d", "s")->labels();
  EXPECT_TRUE(labels.contains(keys::kHeadless));
  EXPECT_EQ(text_at(array_at(slices()[0], {"endpoints"})->at(0), {"hostname"}), "h");
}

TEST_F(EndpointsTest, NotReadyOnesArePublishedWhenAskedFor) {
  service(R"("selector":{"app":"x"},"clusterIP":"None","publishNotReadyAddresses":true)");
  pod("a", "10.1.0.1", false);
  EXPECT_EQ(addresses(), (Set{"10.1.0.1"}));
}

TEST_F(EndpointsTest, ATerminatingPodServesNobodyNew) {
  service(R"("selector":{"app":"x"},"ports":[{"port":80}])");
  pod("a", "10.1.0.1", true);
  world.patch(*world.get(kinds::kPod, "d", "a"), kinds::kPod,
              R"({"metadata":{"finalizers":["x/y"]}})");
  world.remove(kinds::kPod, "d", "a");
  world.settle();
  EXPECT_TRUE(addresses().empty());
  const Json endpoint = array_at(slices()[0], {"endpoints"})->at(0);
  EXPECT_EQ(bool_at(endpoint, {"conditions", "ready"}), false);
  EXPECT_EQ(bool_at(endpoint, {"conditions", "serving"}), true);
  EXPECT_EQ(bool_at(endpoint, {"conditions", "terminating"}), true);
}

TEST_F(EndpointsTest, AServiceWithoutSelectorIsLeftToOthers) {
  service(R"("ports":[{"port":80}])");
  world.put(
      kinds::kEndpoints,
      R"({"metadata":{"name":"s","namespace":"d"},"subsets":[{"addresses":[{"ip":"192.0.2.1"}]}]})");
  world.settle();
  EXPECT_EQ(addresses(), (Set{"192.0.2.1"}));
}

TEST_F(EndpointsTest, ManyEndpointsAreCutIntoSlicesAndShrinkAgain) {
  service(R"("selector":{"app":"x"},"ports":[{"port":80}])");
  for (int i = 0; i < 250; ++i) {
    put_pod("p" + std::to_string(i),
            "10.2." + std::to_string(i / 200) + "." + std::to_string(i % 200 + 1), true);
  }
  world.settle();
  EXPECT_EQ(slices().size(), 3U);
  std::size_t count = 0;
  for (const Json& slice : slices()) {
    count += array_at(slice, {"endpoints"})->size();
    EXPECT_LE(array_at(slice, {"endpoints"})->size(), 100U);
  }
  EXPECT_EQ(count, 250U);
  for (int i = 0; i < 249; ++i) world.remove(kinds::kPod, "d", "p" + std::to_string(i));
  world.settle();
  EXPECT_EQ(slices().size(), 1U);
}

TEST_F(EndpointsTest, WhatIsTamperedWithIsPutRightAndNothingElseIsWritten) {
  service(R"("selector":{"app":"x"},"ports":[{"port":80}])");
  pod("a", "10.1.0.1", true);
  world.patch(*world.get(kinds::kEndpoints, "d", "s"), kinds::kEndpoints, R"({"subsets":null})");
  world.settle();
  EXPECT_EQ(addresses(), (Set{"10.1.0.1:80"}));
  world.fake.writes.clear();
  world.patch(*world.get(kinds::kPod, "d", "a"), kinds::kPod,
              R"({"metadata":{"annotations":{"x":"y"}}})");
  world.settle();
  EXPECT_TRUE(world.fake.writes.empty());
}

TEST(ApiService, IsKept) {
  testing::World world;
  world.controllers.add(make_api_service_controller({"192.0.2.7", 6443}));
  world.controllers.start();
  world.settle();
  ASSERT_NE(world.get(kinds::kService, "default", "kubernetes"), nullptr);
  const auto ip = [&] {
    const Json doc = *world.get(kinds::kEndpoints, "default", "kubernetes")->document();
    return text_at(array_at(array_at(doc, {"subsets"})->at(0), {"addresses"})->at(0), {"ip"});
  };
  EXPECT_EQ(ip(), "192.0.2.7");
  world.remove(kinds::kEndpointSlice, "default", "kubernetes");
  world.patch(*world.get(kinds::kEndpoints, "default", "kubernetes"), kinds::kEndpoints,
              R"({"subsets":[{"addresses":[{"ip":"192.0.2.8"}]}]})");
  world.settle();
  EXPECT_EQ(ip(), "192.0.2.7");
  EXPECT_NE(world.get(kinds::kEndpointSlice, "default", "kubernetes"), nullptr);
}

}  // namespace
}  // namespace krater::controllers
