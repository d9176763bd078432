// What a node may ask for and what it may write, as a table. Node n1 runs the pod `mine`; `other`
// runs on n2.
#include <gtest/gtest.h>

#include <map>

#include "api/auth/authorizer.h"
#include "api/auth/node_restriction.h"
#include "base/strings.h"
#include "model/kinds.h"

namespace krater::api {
namespace {

const Identity kNode1{"system:node:n1", {}, {"system:nodes", "system:authenticated"}, {}};

ObjectPtr pod(const std::string& name, const std::string& node) {
  const std::string text =
      R"({"metadata":{"name":")" + name + R"(","namespace":"default","uid":"uid-of-)" + name +
      R"("},"spec":{"nodeName":")" + node +
      R"(","serviceAccountName":"robot","volumes":[{"secret":{"secretName":"s-)" + name +
      R"("}},{"configMap":{"name":"c-)" + name +
      R"("}},{"persistentVolumeClaim":{"claimName":"v-)" + name + R"("}}]}})";
  return *Object::parse(ObjectKey::of(kinds::kPod, "default", name), Revision(1),
                        std::make_shared<const std::string>(text));
}

struct NodeRulesTest : ::testing::Test {
  std::map<std::string, ObjectPtr> pods{{"mine", pod("mine", "n1")}, {"other", pod("other", "n2")}};
  ObjectLookup lookup = [this](const Kind&, std::string_view,
                               std::string_view name) -> Result<ObjectPtr> {
    const auto found = pods.find(std::string(name));
    if (found == pods.end()) return make_error(Code::NotFound, "absent");
    return found->second;
  };
  NodeGraph graph{{[] { return Result<void>(); },
                   [this, told = false]() mutable -> Result<std::vector<ObjectChange>> {
                     std::vector<ObjectChange> out;
                     if (!std::exchange(told, true)) {
                       for (const auto& [name, object] : pods) out.push_back({object, false});
                     }
                     return out;
                   }}};
  std::unique_ptr<Authorizer> authorizer = make_built_in_authorizer(lookup, graph);
};

// "group/resource/subresource", "-" for the core group.
Attributes asked(std::string verb, std::string_view resource, std::string name_space = "",
                 std::string name = "") {
  const std::vector<std::string_view> parts = split(resource, '/');
  Attributes out{std::move(verb)};
  out.group = parts[0] == "-" ? "" : parts[0];
  out.resource = parts[1];
  if (parts.size() > 2) out.subresource = parts[2];
  out.name_space = std::move(name_space);
  out.name = std::move(name);
  return out;
}

TEST_F(NodeRulesTest, WhatANodeMayAskFor) {
  struct Case {
    Attributes what;
    bool allowed;
    std::string reason = "";
  };
  const std::string lease = "coordination.k8s.io/leases";
  const std::string csr = "certificates.k8s.io/certificatesigningrequests";
  const std::string csi = "storage.k8s.io/csinodes";
  const std::vector<Case> cases{
      {asked("get", "-/nodes", "", "n1"), true},
      {asked("get", "-/nodes", "", "n2"), false,
       "node 'n1' cannot read 'n2', only its own Node object"},
      {asked("list", "-/nodes"), false,
       "node 'n1' cannot read all nodes, only its own Node object"},
      {asked("create", "-/nodes"), true},
      {asked("watch", "-/pods", "default", "not there"), false,
       "can only list/watch pods with spec.nodeName field selector"},
      {asked("get", "-/pods", "default", "not there"), true},
      {asked("patch", "-/nodes/status", "", "n1"), true},
      {asked("patch", "-/nodes/status", "", "n2"), false},
      {asked("delete", "-/nodes", "", "n1"), false},
      {asked("get", "-/nodes/proxy", "", "n1"), false},
      {asked("get", "-/pods", "default", "mine"), true},
      {asked("get", "-/pods", "default", "other"), false, "the pod is not bound to this node"},
      {asked("list", "-/pods"), false,
       "can only list/watch pods with spec.nodeName field selector"},
      {asked("update", "-/pods", "default", "mine"), false},
      {asked("patch", "-/pods/status", "default", "mine"), true},
      {asked("create", "-/pods/eviction", "default", "mine"), true},
      {asked("create", "-/pods/eviction", "default", "other"), false,
       "the pod is not bound to this node"},
      {asked("create", "-/pods/exec", "default", "mine"), false,
       "no rule of the node authorizer allows it"},
      {asked("get", "-/secrets", "default", "s-mine"), true},
      {asked("watch", "-/secrets", "default", "s-mine"), true},
      {asked("get", "-/secrets", "default", "s-other"), false,
       "no relationship found between node 'n1' and this object"},
      {asked("list", "-/secrets", "default"), false, "No Object name found"},
      {asked("list", "-/secrets"), false, "can only read namespaced object of this type"},
      {asked("update", "-/secrets", "default", "s-mine"), false,
       "can only read resources of this type"},
      {asked("get", "-/configmaps", "default", "c-mine"), true},
      {asked("get", "-/configmaps", "default", "c-other"), false,
       "no relationship found between node 'n1' and this object"},
      {asked("get", "-/persistentvolumeclaims", "default", "v-mine"), true},
      {asked("get", "-/persistentvolumeclaims", "default", "v-other"), false,
       "no relationship found between node 'n1' and this object"},
      {asked("create", "-/serviceaccounts/token", "default", "robot"), true},
      {asked("create", "-/serviceaccounts/token", "default", "admin"), false,
       "no relationship found between node 'n1' and this object"},
      {asked("create", "-/serviceaccounts", "default"), false,
       "can only create tokens for individual service accounts"},
      {asked("update", lease, "kube-node-lease", "n1"), true},
      {asked("update", lease, "kube-node-lease", "n2"), false,
       "can only access node lease with the same name as the requesting node"},
      {asked("get", lease, "default", "n1"), false,
       "can only access leases in the \"kube-node-lease\" system namespace"},
      {asked("create", csr), true},
      {asked("update", csr + "/approval", "", "x"), false},
      {asked("create", csr + "/nodeclient"), false},
      {asked("update", csi, "", "n1"), true},
      {asked("update", csi, "", "n2"), false,
       "can only access CSINode with the same name as the requesting node"},
      {asked("list", csi), false, "can only get, create, update, patch, or delete a CSINode"},
      {asked("watch", "node.k8s.io/runtimeclasses"), true},
      {asked("list", "storage.k8s.io/csidrivers"), true},
      {asked("delete", "storage.k8s.io/csidrivers", "", "d"), false},
      {asked("create", "authentication.k8s.io/tokenreviews"), true},
      {asked("create", "authorization.k8s.io/subjectaccessreviews"), true},
      {asked("list", "-/services"), true},
      {asked("update", "-/services", "default", "s"), false},
      {asked("create", "-/events", "default"), true},
      {asked("list", "-/events"), false},
      {asked("get", "apps/deployments", "default", "d"), false,
       "no rule of the node authorizer allows it"},
  };
  for (const Case& one : cases) {
    const Authorizer::Verdict verdict = authorizer->decide(kNode1, one.what);
    const std::string name =
        one.what.verb + " " + one.what.resource + "/" + one.what.subresource + " " + one.what.name;
    EXPECT_EQ(verdict.allowed, one.allowed) << name;
    if (!one.reason.empty()) {
      EXPECT_EQ(verdict.reason, one.reason) << name;
    }
  }
}

TEST_F(NodeRulesTest, WhatANodeMayWrite) {
  struct Case {
    Attributes what;
    std::string_view old, object;  // old "": created
    std::string refusal;           // "": allowed
  };
  const std::string lease = "coordination.k8s.io/leases";
  const std::string_view plain = R"({"metadata":{"name":"n1","labels":{"a":"1"}}})";
  const std::string_view on_n1 =
      R"({"metadata":{"name":"mine","labels":{"a":"1"}},"spec":{"nodeName":"n1"}})";
  const std::vector<Case> cases{
      {asked("create", "-/nodes"), "",
       R"({"metadata":{"name":"n1","labels":{"kubernetes.io/hostname":"n1","kubernetes.io/os":"linux",
           "x.node.kubernetes.io/y":"1","node.kubernetes.io/z":"1","kubelet.kubernetes.io/w":"1","example.com/any":"1"}}})",
       ""},
      {asked("create", "-/nodes"), "", R"({"metadata":{"name":"n2"}})",
       "node \"n1\" is not allowed to modify node \"n2\""},
      {asked("create", "-/nodes"), "",
       R"({"metadata":{"name":"n1","labels":{"node-restriction.kubernetes.io/tier":"1","node-role.kubernetes.io/control-plane":"","foo.k8s.io/bar":"1"}}})",
       "node \"n1\" is not allowed to set the following labels: "
       "foo.k8s.io/bar, node-restriction.kubernetes.io/tier, "
       "node-role.kubernetes.io/control-plane"},
      {asked("patch", "-/nodes", "", "n1"), plain,
       R"({"metadata":{"name":"n1","labels":{"a":"1"},"ownerReferences":[{"uid":"u"}]}})",
       "node \"n1\" is not allowed to modify ownerReferences"},
      {asked("create", "-/nodes"), "",
       R"({"metadata":{"name":"n1","ownerReferences":[{"uid":"u"}]}})",
       "node \"n1\" is not allowed to modify ownerReferences"},
      {asked("patch", "-/nodes", "", "n1"), plain,
       R"({"metadata":{"name":"n1","labels":{"a":"2","kubernetes.io/arch":"arm64"}}})", ""},
      {asked("patch", "-/nodes", "", "n1"), plain,
       R"({"metadata":{"name":"n1","labels":{"a":"1","node-restriction.kubernetes.io/tier":"1"}}})",
       "is not allowed to modify labels: "
       "node-restriction.kubernetes.io/tier"},
      {asked("patch", "-/nodes/status", "", "n1"),
       R"({"metadata":{"name":"n1","labels":{"x.node-restriction.kubernetes.io/tier":"1"}}})",
       R"({"metadata":{"name":"n1"}})",
       "is not allowed to modify labels: "
       "x.node-restriction.kubernetes.io/tier"},
      {asked("patch", "-/nodes", "", "n1"),
       R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"k"}]}})",
       R"({"metadata":{"name":"n1"},"spec":{}})", "node \"n1\" is not allowed to modify taints"},
      {asked("patch", "-/nodes", "", "n1"),
       R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"k"}]}})",
       R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"k"}],"podCIDR":"10.0.0.0/24"}})", ""},
      {asked("patch", "-/pods/status", "default", "mine"), on_n1, on_n1, ""},
      {asked("patch", "-/pods/status", "default", "mine"), on_n1,
       R"({"metadata":{"name":"mine"},"spec":{"nodeName":"n1"}})",
       "node \"n1\" cannot update labels through pod status"},
      {asked("patch", "-/pods/status", "default", "other"),
       R"({"metadata":{"name":"other"},"spec":{"nodeName":"n2"}})",
       R"({"metadata":{"name":"other"},"spec":{"nodeName":"n2"}})",
       "node \"n1\" can only update pod status for pods with "
       "spec.nodeName set to itself"},
      {asked("update", "-/pods", "default", "mine"), on_n1, on_n1,
       "unexpected operation \"UPDATE\", node \"n1\" can only report "
       "the status of pods"},
      {asked("patch", "-/pods/ephemeralcontainers", "default", "mine"), on_n1, on_n1,
       "unexpected pod subresource \"ephemeralcontainers\", only "
       "'status' and 'eviction' are allowed"},
      {asked("create", lease, "kube-node-lease"), "", R"({"metadata":{"name":"n1"}})", ""},
      {asked("create", lease, "kube-node-lease"), "", R"({"metadata":{"name":"n2"}})",
       "can only access node lease with the same "
       "name as the requesting node"},
      {asked("update", lease, "default", "n1"), R"({"metadata":{"name":"n1"}})",
       R"({"metadata":{"name":"n1"}})",
       "can only access leases in the "
       "\"kube-node-lease\" system namespace"},
      {asked("create", "storage.k8s.io/csinodes"), "", R"({"metadata":{"name":"n2"}})",
       "can only access CSINode with the same name as "
       "the requesting node"},
      {asked("update", "-/persistentvolumeclaims", "default", "v"), R"({"metadata":{"name":"v"}})",
       R"({"metadata":{"name":"v"}})", "may only update PVC status"},
      {asked("create", "-/events", "default"), "", R"({"metadata":{"name":"e"}})", ""},
  };
  for (const Case& one : cases) {
    const Json old = one.old.empty() ? Json() : *parse_json(one.old);
    const Result<void> done = check_node_write(
        AskingNode(kNode1), one.what, *parse_json(one.object), one.old.empty() ? nullptr : &old);
    EXPECT_EQ(done ? "" : done.error().message, one.refusal);
    if (!done) {
      EXPECT_EQ(done.error().code, Code::Forbidden);
    }
  }
}

TEST_F(NodeRulesTest, WhatANodeMayDelete) {
  const AskingNode scope(kNode1);
  EXPECT_TRUE(check_node_delete(scope, asked("delete", "-/pods", "default", "mine"), lookup));
  EXPECT_EQ(check_node_delete(scope, asked("delete", "-/pods", "default", "other"), lookup)
                .error()
                .message,
            "pods \"other\" is forbidden: node \"n1\" can only delete pods with spec.nodeName set "
            "to itself");
  EXPECT_EQ(
      check_node_delete(scope, asked("delete", "-/pods", "default", "gone"), lookup).error().code,
      Code::NotFound);
  EXPECT_FALSE(check_node_delete(scope, asked("delete", "-/nodes", "", "n2"), lookup));
  EXPECT_FALSE(check_node_delete(
      scope, asked("delete", "coordination.k8s.io/leases", "kube-node-lease", "n2"), lookup));
}

TEST_F(NodeRulesTest, WhatTokensANodeMayHave) {
  struct Case {
    std::string_view reference;
    std::string refusal;
  };
  const std::string start = "serviceaccounts \"robot\" is forbidden: ";
  const std::vector<Case> cases{
      {R"({"apiVersion":"v1","kind":"Pod","name":"mine","uid":"uid-of-mine"})", ""},
      {R"({"apiVersion":"v1","kind":"Secret","name":"s","uid":"u"})",
       start + "node requested token not bound to a pod"},
      {R"(null)", start + "node requested token not bound to a pod"},
      {R"({"apiVersion":"v1","kind":"Pod","name":"mine"})",
       start + "node requested token with a pod binding without a uid"},
      {R"({"apiVersion":"v1","kind":"Pod","name":"mine","uid":"old"})",
       start + "the UID in the bound object reference (old) does not match the UID in record. The "
               "object might have been deleted and then recreated"},
      {R"({"apiVersion":"v1","kind":"Pod","name":"other","uid":"uid-of-other"})",
       start + "node requested token bound to a pod scheduled on a different node"},
      {R"({"apiVersion":"v1","kind":"Pod","name":"gone","uid":"u"})", "absent"},
  };
  for (const Case& one : cases) {
    const Json request =
        *parse_json(R"({"spec":{"boundObjectRef":)" + std::string(one.reference) + "}}");
    const Result<void> done = check_node_token(
        AskingNode(kNode1), asked("create", "-/serviceaccounts/token", "default", "robot"), request,
        lookup);
    EXPECT_EQ(done ? "" : done.error().message, one.refusal) << one.reference;
  }
}

}  // namespace
}  // namespace krater::api
