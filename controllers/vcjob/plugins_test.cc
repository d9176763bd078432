// What the job plugins inject.
#include "controllers/vcjob/plugins/plugins.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/pod_builder.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

struct PluginsTest : ::testing::Test {
  Observed seen;

  void job(const std::string& plugins, const std::string& tasks) {
    const std::string text =
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j",)"
        R"("namespace":"n","uid":"u"},"spec":{"plugins":)" +
        plugins + R"(,"tasks":[)" + tasks + "]}}";
    seen.job =
        VolcanoJobView(*Object::parse(ObjectKey::of(kinds::kVolcanoJob, "n", "j"), Revision(1),
                                      std::make_shared<const std::string>(text)));
    seen.tasks = seen.job.tasks();
    seen.child = [](const Kind&, const std::string&) { return nullptr; };
    seen.served = [](const Kind&) { return false; };
    seen.priority = [](const std::string&) { return 0; };
  }
  static std::string task(const std::string& name, int replicas, const std::string& spec = "") {
    return R"({"name":")" + name + R"(","replicas":)" + std::to_string(replicas) +
           R"(,"template":{"spec":{"containers":[{"name":")" + name + R"("}],"initContainers":[)" +
           R"({"name":"i"}])" + spec + "}}}";
  }
  Json pod(const std::string& task, std::int64_t index) const {
    return build_pod(seen, *seen.task(task), index);
  }
  static const Json& container(const Json& pod, std::string_view list = "containers") {
    return array_at(pod, {"spec", list})->front();
  }
  static std::string variable_of(const Json& container, std::string_view name) {
    const JsonArray* env = array_at(container, {"env"});
    if (env == nullptr) return "(none)";
    for (const Json& one : *env) {
      if (string_at(one, {"name"}) != name) continue;
      const std::string key = text_at(one, {"valueFrom", "configMapKeyRef", "key"});
      return key.empty() ? text_at(one, {"value"}) : "from " + key;
    }
    return "(none)";
  }
  std::map<std::string, Json> objects() const {
    std::map<std::string, Json> out;
    for (const PlannedWrite& write : sync_plugin_objects(seen).writes) {
      const auto& made = std::get<client::CreateWrite>(write.write);
      out.emplace(made.kind.kind + "/" + text_at(made.object, {"metadata", "name"}), made.object);
    }
    return out;
  }
};

TEST(PluginArguments, AreReadAsGoReadsFlags) {
  const Arguments read({"--port=5", "-master", "m", "--quiet", "--bad=x", "stop", "--late=1"},
                       {"quiet"});
  EXPECT_EQ(read.number("port", 1), 5);
  EXPECT_EQ(read.text("master", ""), "m");
  EXPECT_TRUE(read.flag("quiet", false));
  EXPECT_EQ(read.number("bad", 7), 7);
  EXPECT_EQ(read.text("late", "none"), "none");
}

TEST_F(PluginsTest, EnvTellsEveryContainerItsIndex) {
  job(R"({"env":[]})", task("w", 2));
  const Json made = pod("w", 1);
  for (const std::string_view list : {"containers", "initContainers"}) {
    EXPECT_EQ(variable_of(container(made, list), "VC_TASK_INDEX"), "1");
    EXPECT_EQ(variable_of(container(made, list), "VK_TASK_INDEX"), "1");
  }
}

TEST_F(PluginsTest, SvcMakesPodsFindEachOther) {
  job(R"({"svc":[]})", task("ps-node", 2) + "," + task("w", 1, R"(,"hostname":"fixed")"));
  const Json made = pod("ps-node", 1);
  EXPECT_EQ(text_at(made, {"spec", "hostname"}), "j-ps-node-1");
  EXPECT_EQ(text_at(made, {"spec", "subdomain"}), "j");
  EXPECT_EQ(variable_of(container(made), "VC_PS_NODE_HOSTS"), "from VC_PS_NODE_HOSTS");
  EXPECT_EQ(variable_of(container(made, "initContainers"), "VC_W_NUM"), "from VC_W_NUM");
  EXPECT_EQ(text_at(array_at(container(made), {"volumeMounts"})->front(), {"mountPath"}),
            "/etc/volcano");
  const auto made_objects = objects();
  ASSERT_EQ(made_objects.size(), 2U) << "no NetworkPolicy where there is no such kind";
  const Json& config = made_objects.at("ConfigMap/j-svc");
  EXPECT_EQ(text_at(config, {"data", "ps_node.host"}), "j-ps-node-0.j\nj-ps-node-1.j");
  EXPECT_EQ(text_at(config, {"data", "VC_PS_NODE_HOSTS"}), "j-ps-node-0.j,j-ps-node-1.j");
  EXPECT_EQ(text_at(config, {"data", "VC_W_HOSTS"}), "fixed.j");
  EXPECT_EQ(text_at(config, {"data", "VC_W_NUM"}), "1");
  const Json& service = made_objects.at("Service/j");
  EXPECT_EQ(text_at(service, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(text_at(service, {"spec", "selector", keys::kVolcanoJobName}), "j");
  EXPECT_EQ(find(service, {"spec", "publishNotReadyAddresses"}), nullptr);
}

TEST_F(PluginsTest, SvcDoesAsItsArgumentsSay) {
  job(R"({"svc":["--publish-not-ready-addresses","--inject-hosts-env=false"]})", task("w", 1));
  seen.served = [](const Kind&) { return true; };
  EXPECT_EQ(variable_of(container(pod("w", 0)), "VC_W_HOSTS"), "(none)");
  const auto made = objects();
  EXPECT_EQ(bool_at(made.at("Service/j"), {"spec", "publishNotReadyAddresses"}), true);
  EXPECT_EQ(made.count("NetworkPolicy/j"), 1U);
  job(R"({"svc":["--disable-network-policy=true"]})", task("w", 1));
  seen.served = [](const Kind&) { return true; };
  EXPECT_EQ(objects().count("NetworkPolicy/j"), 0U);
}

TEST_F(PluginsTest, SshMountsAKeyThatMustBeMadeFirst) {
  job(R"({"ssh":["--ssh-port=2222"]})", task("w", 2));
  EXPECT_TRUE(sync_plugin_objects(seen).needs_key);
  EXPECT_TRUE(objects().empty());
  seen.ssh_key = SshKey{"PRIVATE", "PUBLIC"};
  const Json secret = objects().at("Secret/j-ssh");
  EXPECT_EQ(text_at(secret, {"data", "authorized_keys"}), "UFVCTElD");
  const Json made = pod("w", 0);
  const Json& volume = array_at(made, {"spec", "volumes"})->front();
  EXPECT_EQ(int_at(volume, {"secret", "defaultMode"}), 0600);
  EXPECT_EQ(text_at(array_at(container(made), {"volumeMounts"})->front(), {"mountPath"}),
            "/root/.ssh");
  job(R"({"ssh":["--ssh-private-key=K","--ssh-key-file-path=/home/me/.ssh"]})", task("w", 1));
  seen.ssh_key.reset();
  EXPECT_FALSE(sync_plugin_objects(seen).needs_key) << "the user's own";
  const Json other = pod("w", 0);
  EXPECT_EQ(int_at(array_at(other, {"spec", "volumes"})->front(), {"secret", "defaultMode"}), 0644);
}

TEST_F(PluginsTest, MpiTellsTheMasterItsWorkers) {
  job(R"({"mpi":["--master=boss","--port=2022"]})", task("boss", 1) + "," + task("worker", 2));
  EXPECT_EQ(variable_of(container(pod("boss", 0)), "MPI_HOST"), "j-worker-0.j,j-worker-1.j");
  const Json worker = pod("worker", 0);
  EXPECT_EQ(variable_of(container(worker), "MPI_HOST"), "(none)");
  EXPECT_EQ(int_at(array_at(container(worker), {"ports"})->front(), {"containerPort"}), 2022);
}

TEST_F(PluginsTest, PytorchKnowsRankAndWorld) {
  job(R"({"pytorch":["--wait-master-enabled"]})", task("master", 1) + "," + task("worker", 2));
  const Json master = pod("master", 0), worker = pod("worker", 1);
  EXPECT_EQ(variable_of(container(master), "RANK"), "0");
  EXPECT_EQ(variable_of(container(worker), "RANK"), "2");
  EXPECT_EQ(variable_of(container(worker), "WORLD_SIZE"), "3");
  EXPECT_EQ(variable_of(container(worker), "MASTER_ADDR"), "j-master-0.j");
  EXPECT_EQ(variable_of(container(worker), "MASTER_PORT"), "23456");
  EXPECT_EQ(array_at(worker, {"spec", "initContainers"})->size(), 2U);
  EXPECT_EQ(array_at(master, {"spec", "initContainers"})->size(), 1U);
}

TEST_F(PluginsTest, OnTheNodesNetworkAPortIsOpenedOnce) {
  const auto ports = [&](const std::string& first, const std::string& second, bool on_host) {
    job(R"({"pytorch":[]})", R"({"name":"master","replicas":1,"template":{"spec":{"hostNetwork":)" +
                                 std::string(on_host ? "true" : "false") +
                                 R"(,"containers":[{"name":"a")" + first + R"(},{"name":"b")" +
                                 second + "}]}}}");
    std::vector<std::size_t> out;
    const Json made = pod("master", 0);
    for (const Json& container : *array_at(made, {"spec", "containers"})) {
      const JsonArray* list = array_at(container, {"ports"});
      out.push_back(list == nullptr ? 0 : list->size());
    }
    return out;
  };
  using Sizes = std::vector<std::size_t>;
  const std::string own = R"(,"ports":[{"containerPort":23456}])";
  EXPECT_EQ(ports("", "", false), (Sizes{1, 1}));
  EXPECT_EQ(ports("", "", true), (Sizes{1, 0}));
  EXPECT_EQ(ports("", own, true), (Sizes{0, 1}));
}

TEST_F(PluginsTest, WhatSomebodyElseHoldsIsTold) {
  job(R"({"svc":[],"ssh":[]})", task("w", 1));
  std::string owner;
  seen.child = [&](const Kind& kind, const std::string& name) -> ObjectPtr {
    const std::string text = R"({"apiVersion":"v1","kind":")" + kind.kind +
                             R"(","metadata":{"name":")" + name + R"(","namespace":"n")" + owner +
                             "}}";
    return *Object::parse(ObjectKey::of(kind, "n", name), Revision(1),
                          std::make_shared<const std::string>(text));
  };
  using Names = std::vector<std::string>;
  const PluginPlan plan = sync_plugin_objects(seen);
  EXPECT_EQ(plan.held, (Names{"ConfigMap j-svc", "Service j", "Secret j-ssh"}));
  EXPECT_FALSE(plan.has_predecessors);
  EXPECT_TRUE(plan.writes.empty());
  owner = R"(,"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",)"
          R"("name":"j","uid":"earlier","controller":true}])";
  EXPECT_TRUE(sync_plugin_objects(seen).has_predecessors);
  EXPECT_TRUE(sync_plugin_objects(seen).held.empty());
}

TEST_F(PluginsTest, HostsOfLaterReplicasAreInTheConfigurationOfSsh) {
  job(R"({"ssh":[]})", task("w", 2));
  Json stored = *parse_json(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"j-ssh","namespace":"n",)"
      R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j",)"
      R"("uid":"u","controller":true}]},"data":{"id_rsa":"S0VZ","config":"b2xk"}})");
  seen.child = [&](const Kind& kind, const std::string& name) -> ObjectPtr {
    return *Object::parse(ObjectKey::of(kind, "n", name), Revision(1),
                          std::make_shared<const std::string>(to_json(stored)));
  };
  const PluginPlan plan = sync_plugin_objects(seen);
  ASSERT_EQ(plan.writes.size(), 1U);
  const Json data = *find(std::get<client::PatchWrite>(plan.writes[0].write).patch, {"data"});
  ASSERT_EQ(data.get_object().size(), 1U) << "the key stays, though nobody remembers it";
  stored.get_object()["data"].get_object()["config"] = *find(data, {"config"});
  EXPECT_TRUE(sync_plugin_objects(seen).writes.empty());
}

TEST_F(PluginsTest, WhatPytorchAddsGetsWhatTheOthersGiveToEach) {
  job(R"({"env":[],"pytorch":["--wait-master-enabled"],"ssh":[],"svc":[]})",
      task("master", 1) + "," + task("worker", 2));
  seen.ssh_key = SshKey{"PRIVATE", "PUBLIC"};
  const Json worker = pod("worker", 1);
  const Json& wait = array_at(worker, {"spec", "initContainers"})->back();
  ASSERT_EQ(text_at(wait, {"name"}), "wait-for-master");
  EXPECT_EQ(variable_of(wait, "VC_TASK_INDEX"), "1");
  EXPECT_EQ(variable_of(wait, "VC_MASTER_HOSTS"), "from VC_MASTER_HOSTS");
  const auto mounted = [&](std::string_view path) {
    const JsonArray* mounts = array_at(wait, {"volumeMounts"});
    return mounts != nullptr && std::ranges::any_of(*mounts, [&](const Json& mount) {
             return text_at(mount, {"mountPath"}) == path;
           });
  };
  EXPECT_TRUE(mounted("/etc/volcano"));
  EXPECT_TRUE(mounted("/root/.ssh"));
}

TEST_F(PluginsTest, TensorflowKnowsTheCluster) {
  job(R"({"tensorflow":["--ps=server"]})", task("server", 1) + "," + task("worker", 2));
  EXPECT_EQ(variable_of(container(pod("worker", 1)), "TF_CONFIG"),
            R"({"cluster":{"ps":["j-server-0.j:2222"],"worker":["j-worker-0.j:2222",)"
            R"("j-worker-1.j:2222"]},"task":{"type":"worker","index":1}})");
  EXPECT_NE(variable_of(container(pod("server", 0)), "TF_CONFIG").find(R"("type":"ps")"),
            std::string::npos);
  job(R"({"tensorflow":[]})", task("worker", 1));
  EXPECT_EQ(variable_of(container(pod("worker", 0)), "TF_CONFIG"), "(none)");
}

TEST_F(PluginsTest, RayStartsHeadAndWorkers) {
  job(R"({"ray":[]})", task("head", 1) + "," + task("worker", 1));
  const Json head = pod("head", 0), worker = pod("worker", 0);
  EXPECT_NE(to_json(container(head)).find("ray start --head --block"), std::string::npos);
  EXPECT_EQ(array_at(container(head), {"ports"})->size(), 3U);
  EXPECT_NE(to_json(container(worker)).find("--address=j-head-0.j:6379"), std::string::npos);
  const Json service = objects().at("Service/j-head-svc");
  EXPECT_EQ(array_at(service, {"spec", "ports"})->size(), 3U);
}

TEST_F(PluginsTest, HcclrankFollowsPytorchOrTheTasks) {
  job(R"({"hcclrank":[],"pytorch":[]})", task("master", 1) + "," + task("worker", 2));
  EXPECT_EQ(text_at(pod("worker", 1), {"metadata", "annotations", "hccl/rankIndex"}), "2");
  job(R"({"hcclrank":[]})", task("master", 2) + "," + task("worker", 2));
  EXPECT_EQ(text_at(pod("worker", 1), {"metadata", "annotations", "hccl/rankIndex"}), "3");
  EXPECT_EQ(text_at(pod("master", 1), {"metadata", "annotations", "hccl/rankIndex"}), "1");
}

}  // namespace
}  // namespace krater::controllers::vcjob
