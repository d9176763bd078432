#include "agent/content/env.h"

#include <gtest/gtest.h>

#include "agent/content/downward.h"
#include "agent/content/service_env.h"
#include "agent/testing/pods.h"

namespace krater::agent {
namespace {

ObjectPtr object(const Kind& kind, const std::string& name, const std::string& rest,
                 const std::string& name_space = "ns") {
  Json json = *parse_json(rest);
  set_path(json, {"metadata", "name"}, Json(name));
  Result<ObjectPtr> made = Object::parse(ObjectKey::of(kind, name_space, name), Revision(1),
                                         std::make_shared<const std::string>(to_json(json)));
  CHECK(made.has_value());
  return *made;
}

const NodeFacts kNode{"n1", "192.0.2.1", 4000, std::int64_t{8} << 30, std::int64_t{100} << 30};

// The environment of container `index`.
Result<Environment> environment(const Json& pod, const Sources& sources,
                                const Environment& services = {}, std::size_t index = 0) {
  return container_environment(pod.at("spec").at("containers").at(index),
                               {pod, "10.88.0.5", "192.0.2.1", kNode}, sources, services);
}

std::string value(const Environment& env, std::string_view name) {
  for (const auto& [key, text] : env) {
    if (key == name) return text;
  }
  return "(unset)";
}

TEST(Expand, LeavesWhatItDoesNotKnowAndReadsTwoDollarsAsOne) {
  const Environment env{{"PORT", "80"}};
  const std::vector<std::pair<std::string, std::string>> cases{
      {"$(PORT)", "80"},  {"$(NOPE)", "$(NOPE)"}, {"$$(PORT)", "$(PORT)"},
      {"$PORT", "$PORT"}, {"$$$(PORT)", "$80"},   {"$(PORT", "$(PORT"},
      {"a$", "a$"},       {"$()", "$()"},         {"x$(PORT)y", "x80y"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(expand(text, env), expected) << text;
}

TEST(ContainerEnvironment, ExpandsInOrderAndLetsEnvWinOverEnvFrom) {
  Sources sources;
  sources.config_maps["base"] =
      object(kinds::kConfigMap, "base", R"({"data":{"HOST":"db","DUP":"1"}})");
  const Json pod = testing::pod_json(R"json({"containers":[{"name":"main",
    "envFrom":[{"configMapRef":{"name":"base"}}],"env":[
    {"name":"PORT","value":"80"},{"name":"URL","value":"http://$(HOST):$(PORT)"},
    {"name":"EARLY","value":"$(LATE)"},{"name":"LATE","value":"z"},
    {"name":"ESC","value":"$$(PORT)"},{"name":"UNK","value":"$(NOPE)"},
    {"name":"SELF","value":"$(SELF)"},{"name":"DUP","value":"2"}]}]})json");
  const Environment env = *environment(pod, sources);
  EXPECT_EQ(value(env, "URL"), "http://db:80");
  EXPECT_EQ(value(env, "EARLY"), "$(LATE)");
  EXPECT_EQ(value(env, "LATE"), "z");
  EXPECT_EQ(value(env, "ESC"), "$(PORT)");
  EXPECT_EQ(value(env, "UNK"), "$(NOPE)");
  EXPECT_EQ(value(env, "SELF"), "$(SELF)");
  EXPECT_EQ(value(env, "DUP"), "2");
}

TEST(ContainerEnvironment, DecodesSecretsAndNamesWhatIsMissing) {
  Sources sources;
  sources.secrets["s"] = object(kinds::kSecret, "s", R"({"data":{"k":"aGVsbG8="}})");
  const auto with = [&](const std::string& reference) {
    return environment(
        testing::pod_json(R"({"containers":[{"name":"a","env":[{"name":"X","valueFrom":)" +
                          reference + "}]}]}"),
        sources);
  };
  EXPECT_EQ(value(*with(R"({"secretKeyRef":{"name":"s","key":"k"}})"), "X"), "hello");
  EXPECT_EQ(with(R"({"secretKeyRef":{"name":"t","key":"k"}})").error().message,
            "secret \"t\" not found");
  EXPECT_EQ(with(R"({"secretKeyRef":{"name":"s","key":"q"}})").error().message,
            "couldn't find key q in Secret ns/s");
  EXPECT_EQ(value(*with(R"({"configMapKeyRef":{"name":"t","key":"k","optional":true}})"), "X"),
            "(unset)");
}

TEST(ContainerEnvironment, ResourcesRoundUpAndDefaultToWhatTheNodeGives) {
  const Json pod = testing::pod_json(
      R"({"containers":[{"name":"main","resources":{"requests":{"cpu":"125m","memory":"32Mi"},
    "limits":{"cpu":"250m","memory":"64Mi"}},"env":[
    {"name":"CPU_LIM","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}},
    {"name":"CPU_LIM_M","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}},
    {"name":"MEM_LIM","valueFrom":{"resourceFieldRef":{"resource":"limits.memory"}}},
    {"name":"MEM_LIM_MI","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}},
    {"name":"CPU_REQ_M","valueFrom":{"resourceFieldRef":{"resource":"requests.cpu","divisor":"1m"}}},
    {"name":"NOLIM_CPU","valueFrom":{"resourceFieldRef":{"containerName":"free","resource":"limits.cpu"}}}]},{"name":"free"}]})");
  const Environment env = *environment(pod, {});
  EXPECT_EQ(value(env, "CPU_LIM"), "1");
  EXPECT_EQ(value(env, "CPU_LIM_M"), "250");
  EXPECT_EQ(value(env, "MEM_LIM"), "67108864");
  EXPECT_EQ(value(env, "MEM_LIM_MI"), "64");
  EXPECT_EQ(value(env, "CPU_REQ_M"), "125");
  EXPECT_EQ(value(env, "NOLIM_CPU"), "4");
}

TEST(FieldValue, ReadsThePodAndRefusesUnknownPaths) {
  Json pod = testing::pod_json(R"({"containers":[]})");
  set_path(pod, {"metadata", "annotations", "example.com/note"}, Json("hello"));
  set_path(pod, {"metadata", "labels"}, Json{{"b", "2\"x"}, {"a", "1"}});
  const PodFacts facts{pod, "10.88.0.5", "192.0.2.1", kNode};
  EXPECT_EQ(*field_value("metadata.name", facts), "p");
  EXPECT_EQ(*field_value("metadata.annotations['example.com/note']", facts), "hello");
  EXPECT_EQ(*field_value("metadata.labels", facts), "a=\"1\"\nb=\"2\\\"x\"");
  EXPECT_EQ(*field_value("status.podIP", facts), "10.88.0.5");
  EXPECT_FALSE(field_value("spec.nothing", facts));
}

TEST(ServiceEnvironment, TellsOfServicesOfTheNamespaceAndTheApi) {
  const std::vector<ObjectPtr> services{
      object(kinds::kService, "my-db",
             R"({"spec":{"clusterIP":"10.96.0.7","ports":[{"name":"main","port":5432}]}})"),
      object(kinds::kService, "headless", R"({"spec":{"clusterIP":"None","ports":[{"port":1}]}})"),
      object(kinds::kService, "far", R"({"spec":{"clusterIP":"10.96.0.8","ports":[{"port":2}]}})",
             "other"),
      object(kinds::kService, "kubernetes",
             R"({"spec":{"clusterIP":"10.96.0.1","ports":[{"name":"https","port":443}]}})",
             "default")};
  const Environment env = service_environment(services, "ns", true);
  EXPECT_EQ(value(env, "MY_DB_SERVICE_HOST"), "10.96.0.7");
  EXPECT_EQ(value(env, "MY_DB_SERVICE_PORT_MAIN"), "5432");
  EXPECT_EQ(value(env, "MY_DB_PORT_5432_TCP"), "tcp://10.96.0.7:5432");
  EXPECT_EQ(value(env, "KUBERNETES_SERVICE_HOST"), "10.96.0.1");
  EXPECT_EQ(value(env, "HEADLESS_SERVICE_HOST"), "(unset)");
  EXPECT_EQ(value(env, "FAR_SERVICE_HOST"), "(unset)");
  EXPECT_EQ(value(service_environment(services, "ns", false), "MY_DB_SERVICE_HOST"), "(unset)");
  const Environment direct = api_environment("127.0.0.1", 6443);
  EXPECT_EQ(value(direct, "KUBERNETES_SERVICE_HOST"), "127.0.0.1");
  EXPECT_EQ(value(direct, "KUBERNETES_SERVICE_PORT"), "6443");
}

}  // namespace
}  // namespace krater::agent
