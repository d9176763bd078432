// Pods that state no topology spread and belong to a Service or a workload are spread all the same.
#include "scheduler/spread_defaults.h"

#include <gtest/gtest.h>

#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

Json service(const std::string& name, const std::string& selector) {
  Json out = new_object(kinds::kService, "d", name);
  set_path(out, {"spec", "selector"}, yaml(selector));
  return out;
}
Json replica_set(const std::string& name, const std::string& selector) {
  Json out = new_object(kinds::kReplicaSet, "d", name);
  set_path(out, {"spec", "selector"}, yaml(selector));
  return out;
}
ObjectPtr pod_of(testing::FakeClient& client, const std::string& labels,
                 const std::string& owner = {}) {
  Json pod = make_pod(yaml("{name: p, cpu: 1, labels: " + labels + "}"));
  if (!owner.empty()) {
    set_path(pod, {"metadata", "ownerReferences"},
             yaml("[{apiVersion: apps/v1, kind: ReplicaSet, name: " + owner +
                  ", uid: u, controller: true}]"));
  }
  return client.put(kinds::kPod, std::move(pod));
}

TEST(SpreadDefaults, AServiceAndAReplicaSetSelectTogether) {
  testing::ManualLoop loop;
  testing::FakeClient client(loop, loop.wall());
  SpreadDefaults defaults;
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: web}")), "");
  defaults.set(client.put(kinds::kService, service("web", "{app: web}")));
  defaults.set(client.put(kinds::kService, service("front", "{app: web, tier: front}")));
  defaults.set(client.put(kinds::kService, service("nobody", "{}")));
  defaults.set(
      client.put(kinds::kReplicaSet, replica_set("rs", "{matchLabels: {app: web, hash: x}}")));
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: web}")), "app=web");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: db}")), "");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: web, tier: front}")),
            "app=web,tier=front");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: web, hash: x}", "rs")),
            "app=web,app=web,hash=x");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: db}", "gone")), "");
  // It selects others now.
  defaults.set(client.put(kinds::kService, service("web", "{app: db}")));
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: web}")), "");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: db}")), "app=db");
  defaults.remove(kinds::kService, "d", "web");
  EXPECT_EQ(defaults.selector_for(*pod_of(client, "{app: db}")), "");
  EXPECT_EQ(defaults.names(kinds::kService).size(), 1U);
  EXPECT_EQ(defaults.names(kinds::kReplicaSet).size(), 1U);
}

// One node is so large that it would be taken for all of them.
std::string nodes_of(Harness& cluster, const std::string& labels, const std::string& weight = "2") {
  cluster.add(JsonObject{{"config", R"(
actions: "enqueue, allocate, backfill"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: nodeorder, arguments: {podtopologyspread.weight: )" +
                                        weight + "}}]}]\n"}});
  cluster.add(
      yaml("{queues: [{name: default}], nodes: [{name: large, cpu: 1000, labels: "
           "{kubernetes.io/hostname: large, topology.kubernetes.io/zone: z}}, {name: small, cpu: "
           "8, labels: "
           "{kubernetes.io/hostname: small, topology.kubernetes.io/zone: z}}], pods: [{name: one, "
           "cpu: 1, labels: " +
           labels + "}]}"));
  cluster.settle(1s);
  cluster.add(yaml("{pods: [{name: two, cpu: 1, labels: " + labels + "}]}"));
  cluster.settle(1s);
  return cluster.node_of("one") + " " + cluster.node_of("two");
}

TEST(SpreadDefaults, PodsOfAServiceGoToDifferentHosts) {
  Harness cluster;
  cluster.client.put(kinds::kService, service("web", "{app: web}"));
  EXPECT_EQ(nodes_of(cluster, "{app: web}"), "large small");
}

TEST(SpreadDefaults, PodsOfNoServiceGoWhereThereIsMostRoom) {
  Harness cluster;
  cluster.client.put(kinds::kService, service("web", "{app: web}"));
  EXPECT_EQ(nodes_of(cluster, "{app: db}"), "large large");
}

TEST(SpreadDefaults, WithoutWeightNobodyIsSpread) {
  Harness cluster;
  cluster.client.put(kinds::kService, service("web", "{app: web}"));
  EXPECT_EQ(nodes_of(cluster, "{app: web}", "0"), "large large");
}

TEST(SpreadDefaults, ALonelyServiceThatGoesSpreadsNobodyAnyMore) {
  Harness cluster;
  cluster.client.put(kinds::kService, service("web", "{app: web}"));
  ASSERT_TRUE(cluster.client.apply(client::DeleteWrite{kinds::kService, "d", "web"}).has_value());
  EXPECT_EQ(nodes_of(cluster, "{app: web}"), "large large");
}

}  // namespace
}  // namespace krater::scheduler
