#include "api/auth/authorizer.h"

#include <gtest/gtest.h>

#include <map>

#include "api/auth/node_rules.h"
#include "model/kinds.h"
#include "model/storage_kinds.h"

namespace krater::api {
namespace {

ObjectPtr pod(std::string_view name, std::string_view node, std::string_view spec_json = "{}") {
  Json json = new_object(kinds::kPod, "default", name);
  json.as_object()["spec"] = *parse_json(spec_json);
  set_path(json, {"spec", "nodeName"}, Json(node));
  return *Object::parse(ObjectKey::of(kinds::kPod, "default", name), Revision(1),
                        std::make_shared<const std::string>(to_json(json)));
}

class Policy : public ::testing::Test {
 protected:
  void add(const ObjectPtr& object) {
    pods_[object->name()] = object;
    changes_.push_back({object, false});
  }
  void remove(const std::string& name) {
    changes_.push_back({pods_.at(name), true});
    pods_.erase(name);
  }
  bool may(const Identity& who, Attributes what) { return authorizer_->decide(who, what).allowed; }

  std::map<std::string, ObjectPtr> pods_;
  std::vector<ObjectChange> changes_;
  ObjectLookup lookup_ = [this](const Kind&, std::string_view,
                                std::string_view name) -> Result<ObjectPtr> {
    const auto found = pods_.find(std::string(name));
    if (found == pods_.end()) return make_error(Code::NotFound, "absent");
    return found->second;
  };
  NodeGraph graph_{
      {[] { return Result<void>(); },
       [this]() -> Result<std::vector<ObjectChange>> { return std::exchange(changes_, {}); }}};
  std::unique_ptr<Authorizer> authorizer_ = make_built_in_authorizer(lookup_, graph_);
  const Identity n1_{"system:node:n1", {}, {"system:nodes", "system:authenticated"}, {}};
  const Identity robot_{"system:serviceaccount:default:robot",
                        {},
                        {"system:serviceaccounts", "system:authenticated"},
                        {}};
};

Attributes on(std::string verb, std::string resource, std::string name_space = "",
              std::string name = "", std::string group = "") {
  Attributes what{std::move(verb)};
  what.group = std::move(group);
  what.version = "v1";
  what.resource = std::move(resource);
  what.name_space = std::move(name_space);
  what.name = std::move(name);
  return what;
}

Attributes path(std::string verb, std::string where) {
  Attributes what{std::move(verb)};
  what.path = std::move(where);
  return what;
}

TEST_F(Policy, MastersMayDoEverything) {
  const Identity admin{"kubernetes-admin", {}, {"system:masters"}, {}};
  EXPECT_TRUE(may(admin, on("delete", "nodes", "", "n1")));
  EXPECT_TRUE(may(admin, path("post", "/anything")));
}

TEST_F(Policy, AnybodyMayAskForHealthAndVersionButNotForDiscovery) {
  EXPECT_TRUE(may(anonymous_identity(), path("get", "/readyz/ping")));
  EXPECT_TRUE(may(anonymous_identity(), path("get", "/version")));
  EXPECT_TRUE(may(anonymous_identity(), path("get", "/krater/v1/ca")));
  EXPECT_FALSE(may(anonymous_identity(), path("get", "/apis")));
  EXPECT_FALSE(may(anonymous_identity(), path("get", "/versionish")));
  EXPECT_FALSE(may(anonymous_identity(), on("list", "pods", "default")));
  EXPECT_FALSE(may(anonymous_identity(),
                   on("create", "selfsubjectreviews", "", "", "authentication.k8s.io")));
}

TEST_F(Policy, AServiceAccountMayDiscoverAndAskAboutItselfOnly) {
  EXPECT_TRUE(may(robot_, path("get", "/apis/batch/v1")));
  EXPECT_TRUE(
      may(robot_, on("create", "selfsubjectaccessreviews", "", "", "authorization.k8s.io")));
  EXPECT_FALSE(may(robot_, on("create", "subjectaccessreviews", "", "", "authorization.k8s.io")));
  EXPECT_FALSE(may(robot_, on("list", "pods", "default")));
  EXPECT_FALSE(may(robot_, path("get", "/metrics")));
  EXPECT_FALSE(may(robot_, path("get", "/krater/v1/tunnel")));
}

TEST_F(Policy, ARefusalIsWordedAsKubernetesWordsIt) {
  EXPECT_EQ(refusal(robot_, on("list", "pods", "default"), "").message,
            "pods is forbidden: User \"system:serviceaccount:default:robot\" cannot list resource "
            "\"pods\" in API group \"\" "
            "in the namespace \"default\"");
  EXPECT_EQ(refusal(robot_, on("get", "queues", "", "q", "scheduling.volcano.sh"), "").message,
            "queues.scheduling.volcano.sh \"q\" is forbidden: User "
            "\"system:serviceaccount:default:robot\" cannot get resource "
            "\"queues\" in API group \"scheduling.volcano.sh\" at the cluster scope");
  EXPECT_EQ(refusal(anonymous_identity(), path("get", "/metrics"), "").message,
            "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
}

TEST_F(Policy, ANodeTouchesItsOwnNodeAndLease) {
  EXPECT_TRUE(may(n1_, on("patch", "nodes", "", "n1")));
  EXPECT_FALSE(may(n1_, on("patch", "nodes", "", "n2")));
  EXPECT_FALSE(may(n1_, on("get", "nodes", "", "n2")));
  EXPECT_FALSE(may(n1_, on("delete", "nodes", "", "n1")));
  EXPECT_TRUE(may(n1_, on("update", "leases", "kube-node-lease", "n1", "coordination.k8s.io")));
  EXPECT_FALSE(may(n1_, on("update", "leases", "kube-node-lease", "n2", "coordination.k8s.io")));
  EXPECT_FALSE(may(n1_, on("update", "leases", "default", "n1", "coordination.k8s.io")));
}

TEST_F(Policy, ANodeTouchesOnlyPodsBoundToIt) {
  add(pod("mine", "n1"));
  add(pod("other", "n2"));
  Attributes status = on("patch", "pods", "default", "mine");
  status.subresource = "status";
  EXPECT_TRUE(may(n1_, status));
  status.name = "other";
  EXPECT_FALSE(may(n1_, status));
  EXPECT_TRUE(may(n1_, on("delete", "pods", "default", "mine")));
  EXPECT_FALSE(may(n1_, on("delete", "pods", "default", "other")));
  EXPECT_FALSE(may(n1_, on("patch", "pods", "default", "mine")));  // its spec is not the node's
  EXPECT_FALSE(may(n1_, on("list", "pods")));
  Attributes pinned = on("watch", "pods");
  pinned.pinned_node = "n1";
  EXPECT_TRUE(may(n1_, pinned));
  pinned.pinned_node = "n2";
  EXPECT_FALSE(may(n1_, pinned));
}

TEST_F(Policy, ANodeReadsWhatItsPodsReferToWhileTheyAreThere) {
  add(pod("mine", "n1", R"({"serviceAccountName":"robot",
      "volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"kube-root-ca.crt"}},{"secret":{"name":"s1"}}]}},
                 {"name":"w","secret":{"secretName":"s2"}}],
      "containers":[{"name":"c","envFrom":[{"secretRef":{"name":"s3"}}],"env":[{"name":"E","valueFrom":{"configMapKeyRef":{"name":"m1","key":"k"}}}]}],
      "imagePullSecrets":[{"name":"s4"}]})"));
  for (const char* name : {"s1", "s2", "s3", "s4"})
    EXPECT_TRUE(may(n1_, on("get", "secrets", "default", name))) << name;
  EXPECT_TRUE(may(n1_, on("watch", "configmaps", "default", "m1")));
  EXPECT_TRUE(may(n1_, on("get", "configmaps", "default", "kube-root-ca.crt")));
  EXPECT_FALSE(may(n1_, on("get", "secrets", "default", "s5")));
  EXPECT_FALSE(may(n1_, on("get", "secrets", "kube-system", "s1")));
  EXPECT_FALSE(may(n1_, on("list", "secrets", "default")));
  EXPECT_FALSE(may(n1_, on("update", "secrets", "default", "s1")));
  Attributes token = on("create", "serviceaccounts", "default", "robot");
  token.subresource = "token";
  EXPECT_TRUE(may(n1_, token));
  remove("mine");
  EXPECT_FALSE(may(n1_, on("get", "secrets", "default", "s1")));
  EXPECT_FALSE(may(n1_, token));
}

ObjectPtr volume(const std::string& name, const std::string& json) {
  return *Object::parse(ObjectKey::of(kinds::kPersistentVolume, "", name), Revision(1),
                        std::make_shared<const std::string>(json));
}

TEST_F(Policy, ANodeReadsTheVolumesOfItsPodsAndMarksThoseItKeeps) {
  add(pod("mine", "n1", R"({"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]})"));
  pods_["used"] = volume(
      "used",
      R"({"metadata":{"name":"used"},"spec":{"claimRef":{"namespace":"default","name":"c"}}})");
  pods_["other"] = volume(
      "other",
      R"({"metadata":{"name":"other"},"spec":{"claimRef":{"namespace":"default","name":"d"}}})");
  pods_["kept"] =
      volume("kept", R"({"metadata":{"name":"kept","annotations":{"krater.io/node":"n1"}}})");
  EXPECT_TRUE(may(n1_, on("get", "persistentvolumeclaims", "default", "c")));
  EXPECT_FALSE(may(n1_, on("get", "persistentvolumeclaims", "default", "d")));
  EXPECT_TRUE(may(n1_, on("get", "persistentvolumes", "", "used")));
  EXPECT_FALSE(may(n1_, on("patch", "persistentvolumes", "", "used")));
  EXPECT_FALSE(may(n1_, on("get", "persistentvolumes", "", "other")));
  EXPECT_TRUE(may(n1_, on("get", "persistentvolumes", "", "kept")));
  EXPECT_TRUE(may(n1_, on("patch", "persistentvolumes", "", "kept")));
  EXPECT_FALSE(may(n1_, on("delete", "persistentvolumes", "", "kept")));
  EXPECT_FALSE(may(n1_, on("list", "persistentvolumes")));
  EXPECT_TRUE(may(n1_, on("create", "certificatesigningrequests", "", "", "certificates.k8s.io")));
  EXPECT_FALSE(
      may(n1_, on("delete", "certificatesigningrequests", "", "x", "certificates.k8s.io")));
}

TEST_F(Policy, APoolStandsForItsNodesOnly) {
  const Identity pool{
      "system:node:sim", {}, {"system:nodes", "krater:node-pool:sim", "system:authenticated"}, {}};
  EXPECT_TRUE(may(pool, on("patch", "nodes", "", "sim-17")));
  EXPECT_FALSE(may(pool, on("patch", "nodes", "", "simple")));
  EXPECT_FALSE(may(pool, on("patch", "nodes", "", "n1")));
  EXPECT_TRUE(may(pool, on("watch", "pods")));
  EXPECT_FALSE(may(n1_, on("watch", "pods")));
}

TEST(NodeGraph, StartsAnewWhenHistoryIsGone) {
  int restarts = 0;
  bool expired = true;
  const ObjectPtr p = pod("p", "n1", R"({"volumes":[{"secret":{"secretName":"s"}}]})");
  NodeGraph graph({[&] {
                     ++restarts;
                     return Result<void>();
                   },
                   [&]() -> Result<std::vector<ObjectChange>> {
                     if (std::exchange(expired, false)) return make_error(Code::Expired, "too old");
                     return std::vector<ObjectChange>{{p, false}};
                   }});
  EXPECT_EQ(graph.nodes_referring("secrets", "default", "s"), std::set<std::string>{"n1"});
  EXPECT_EQ(restarts, 2);
}

}  // namespace
}  // namespace krater::api
