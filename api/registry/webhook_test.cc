// Admission webhooks over the whole way of a write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/registry/status.h"
#include "api/registry/testing/fake_hooks.h"
#include "api/registry/testing/harness.h"
#include "model/webhook_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using ::testing::ElementsAre;
using testing::FakeHooks;
using testing::Harness;

constexpr std::string_view kConfigMaps =
    R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["configmaps"]}])";

// One webhook of a configuration of its own.
std::string webhook(const std::string& name, std::string_view rules, const std::string& more = "") {
  return R"({"name":")" + name + R"(","rules":)" + std::string(rules) +
         R"(,"clientConfig":{"url":"https://127.0.0.1:1/x"},"sideEffects":"None",
            "admissionReviewVersions":["v1"])" +
         more + "}";
}

class Webhooks : public ::testing::Test {
 protected:
  void install(const Kind& kind, const std::string& name, const std::string& webhooks) {
    const auto made = harness_.create(
        kind, R"({"metadata":{"name":")" + name + R"("},"webhooks":[)" + webhooks + "]}");
    ASSERT_TRUE(made.has_value()) << made.error().message;
  }
  void mutating(const std::string& name, std::string_view rules = kConfigMaps,
                const std::string& more = "") {
    install(kinds::kMutatingWebhookConfiguration, name.substr(0, name.find('.')),
            webhook(name, rules, more));
  }
  void validating(const std::string& name, std::string_view rules = kConfigMaps,
                  const std::string& more = "") {
    install(kinds::kValidatingWebhookConfiguration, name.substr(0, name.find('.')),
            webhook(name, rules, more));
  }
  Result<Answer> put(const std::string& name, const std::string& metadata = "",
                     RequestInfo info = {}) {
    return harness_.create(
        kinds::kConfigMap,
        R"({"metadata":{"name":")" + name + "\"" + metadata + R"(},"data":{"a":"1"}})", "default",
        std::move(info));
  }
  std::string label(const std::string& name, std::string_view key) {
    return text_at(harness_.read(kinds::kConfigMap, name), {"metadata", "labels", key});
  }

  FakeHooks hooks_;
  Harness harness_{&hooks_};
};

constexpr std::string_view kLabels =
    R"([{"op":"add","path":"/metadata/labels","value":{"a":"1"}}])";

TEST_F(Webhooks, NobodyIsAskedWithoutConfigurations) {
  EXPECT_TRUE(put("a").has_value());
  EXPECT_TRUE(hooks_.asked.empty());
}

TEST_F(Webhooks, AMutatingWebhookChangesWhatIsStored) {
  mutating("m.example.com");
  hooks_.answer = [](const Hook&, const Json&) { return FakeHooks::patched(kLabels); };
  ASSERT_TRUE(put("a").has_value());
  EXPECT_EQ(label("a", "a"), "1");
  ASSERT_EQ(hooks_.asked.size(), 1U);
  const Json& request = hooks_.asked[0].request;
  EXPECT_EQ(text_at(request, {"operation"}), "CREATE");
  EXPECT_EQ(text_at(request, {"name"}), "a");
  EXPECT_EQ(text_at(request, {"namespace"}), "default");
  EXPECT_EQ(text_at(request, {"kind", "kind"}), "ConfigMap");
  EXPECT_EQ(text_at(request, {"requestResource", "resource"}), "configmaps");
  EXPECT_EQ(text_at(request, {"object", "data", "a"}), "1");
  EXPECT_TRUE(find(request, {"oldObject"})->is_null());
  EXPECT_EQ(text_at(request, {"options", "kind"}), "CreateOptions");
  EXPECT_EQ(bool_at(request, {"dryRun"}), false);
  // What a new object gets later.
  EXPECT_EQ(find(request, {"object", "metadata", "uid"}), nullptr);
  EXPECT_EQ(find(request, {"object", "metadata", "creationTimestamp"}), nullptr);
}

TEST_F(Webhooks, WhatAWebhookAddsIsDefaultedAndChecked) {
  mutating(
      "m.example.com",
      R"([{"apiGroups":[""],"apiVersions":["*"],"operations":["CREATE"],"resources":["pods"]}])");
  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::patched(
        R"([{"op":"add","path":"/spec/containers/0/ports","value":[{"containerPort":80}]},
            {"op":"add","path":"/spec/nonsense","value":1},
            {"op":"add","path":"/status","value":{"phase":"Running"}}])");
  };
  ASSERT_TRUE(harness_.create(kinds::kPod, testing::kPodJson).has_value());
  const Json pod = harness_.read(kinds::kPod, "p");
  const JsonArray* containers = array_at(pod, {"spec", "containers"});
  ASSERT_NE(containers, nullptr);
  EXPECT_EQ(to_json(*find((*containers)[0], {"ports"})),
            R"([{"containerPort":80,"protocol":"TCP"}])");
  EXPECT_EQ(find(pod, {"spec", "nonsense"}), nullptr);
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Pending");

  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::patched(
        R"([{"op":"add","path":"/spec/containers/0/ports","value":[{"containerPort":-1}]}])");
  };
  Json other = Harness::parsed(testing::kPodJson);
  set_path(other, {"metadata", "name"}, "q");
  const auto refused = harness_.create(kinds::kPod, to_json(other));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Invalid);
}

TEST_F(Webhooks, EachSeesWhatThoseBeforeItHaveMade) {
  mutating("b.example.com");
  mutating("a.example.com");
  hooks_.answer = [](const Hook& hook, const Json& request) {
    if (hook.name == "a.example.com") return FakeHooks::patched(kLabels);
    EXPECT_EQ(text_at(request, {"object", "metadata", "labels", "a"}), "1");
    return FakeHooks::patched(R"([{"op":"add","path":"/metadata/labels/b","value":"2"}])");
  };
  ASSERT_TRUE(put("x").has_value());
  EXPECT_THAT(hooks_.names(), ElementsAre("a.example.com", "b.example.com"));
  EXPECT_EQ(label("x", "b"), "2");
}

TEST_F(Webhooks, OnlyThoseThatWantToAreAskedAgain) {
  mutating("a.example.com", kConfigMaps, R"(,"reinvocationPolicy":"IfNeeded")");
  mutating("b.example.com");
  mutating("c.example.com", kConfigMaps, R"(,"reinvocationPolicy":"IfNeeded")");
  hooks_.answer = [](const Hook& hook, const Json&) {
    return hook.name == "b.example.com" ? FakeHooks::patched(kLabels) : FakeHooks::allowed();
  };
  ASSERT_TRUE(put("x").has_value());
  EXPECT_THAT(hooks_.names(),
              ElementsAre("a.example.com", "b.example.com", "c.example.com", "a.example.com"));
}

TEST_F(Webhooks, ADenialGoesOutInTheWebhooksOwnWords) {
  validating("v.example.com");
  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::denied(
        R"({"status":"Failure","message":"admission webhook \"v.example.com\" denied the request: no",
            "reason":"Teapot","code":418,"details":{"causes":[{"message":"short"}]}})");
  };
  const auto refused = put("a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(http_status(refused.error()), 418);
  EXPECT_EQ(refused.error().code, Code::Forbidden);
  EXPECT_EQ(to_json(failure_status(refused.error())),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"admission webhook \"v.example.com\" denied the request: no",)"
            R"("reason":"Teapot","details":{"causes":[{"message":"short"}]},"code":418})");
  EXPECT_TRUE(harness_.read(kinds::kConfigMap, "a").get_object().empty());
}

TEST_F(Webhooks, ValidatingWebhooksSeeTheObjectAsItIsStored) {
  validating("v.example.com");
  mutating("m.example.com");
  hooks_.answer = [](const Hook& hook, const Json&) {
    return hook.kind == HookKind::Mutating ? FakeHooks::patched(kLabels) : FakeHooks::allowed();
  };
  const auto made = harness_.create(kinds::kConfigMap, R"({"metadata":{"generateName":"x-"}})");
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(hooks_.asked.size(), 2U);
  EXPECT_EQ(find(hooks_.asked[0].request, {"object", "metadata", "name"}), nullptr);
  EXPECT_EQ(find(hooks_.asked[0].request, {"name"}), nullptr);
  const Json& seen = hooks_.asked[1].request;
  EXPECT_EQ(text_at(seen, {"name"}), made->object->name());
  EXPECT_EQ(text_at(seen, {"object", "metadata", "uid"}), made->object->uid().text());
  EXPECT_EQ(text_at(seen, {"object", "metadata", "labels", "a"}), "1");
}

HookVerdict unreachable() {
  return HookVerdict::failed("failed to call webhook: Post \"https://x\": EOF", 503);
}

TEST_F(Webhooks, AWebhookThatCannotBeAskedRefusesUnlessIgnored) {
  validating("v.example.com");
  hooks_.answer = [](const Hook&, const Json&) { return unreachable(); };
  const auto refused = put("a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Internal);
  EXPECT_EQ(refused.error().message,
            "Internal error occurred: failed calling webhook \"v.example.com\": failed to call "
            "webhook: Post \"https://x\": EOF");
}

TEST_F(Webhooks, AWebhookThatIsIgnoredRefusesNothing) {
  validating("v.example.com", kConfigMaps, R"(,"failurePolicy":"Ignore")");
  mutating("m.example.com", kConfigMaps, R"(,"failurePolicy":"Ignore")");
  hooks_.answer = [](const Hook&, const Json&) { return unreachable(); };
  RequestInfo info;
  info.notes = std::make_shared<AuditNotes>();
  EXPECT_TRUE(put("a", "", info).has_value());
  EXPECT_EQ((*info.notes)["failed-open.mutation.webhook.admission.k8s.io/round_0_index_0"],
            "m.example.com");
  EXPECT_EQ((*info.notes)["failed-open.validating.webhook.admission.k8s.io/round_0_index_0"],
            "v.example.com");
}

TEST_F(Webhooks, SideEffectsForbidDryRuns) {
  // Stored configurations cannot say so any more; older ones could.
  const auto refused =
      harness_.create(kinds::kValidatingWebhookConfiguration,
                      R"({"metadata":{"name":"v"},"webhooks":[)" +
                          webhook("v.example.com", kConfigMaps, R"(,"sideEffects":"Some")") + "]}");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("supported values: \"None\", \"NoneOnDryRun\""),
            std::string::npos)
      << refused.error().message;
  validating("n.example.com", kConfigMaps);
  RequestInfo info;
  info.dry_run = true;
  EXPECT_TRUE(put("a", "", info).has_value());
  ASSERT_EQ(hooks_.asked.size(), 1U);
  EXPECT_EQ(bool_at(hooks_.asked[0].request, {"dryRun"}), true);
  EXPECT_EQ(to_json(*find(hooks_.asked[0].request, {"options", "dryRun"})), R"(["All"])");
}

TEST_F(Webhooks, RulesNameOperationsResourcesAndSubresources) {
  validating(
      "v.example.com",
      R"([{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["deployments/scale"]},
          {"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"],"scope":"Namespaced"},
          {"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"],"scope":"Cluster"}])");
  ASSERT_TRUE(put("a").has_value());
  EXPECT_TRUE(hooks_.asked.empty());
  ASSERT_TRUE(harness_.remove(kinds::kConfigMap, "a").has_value());
  ASSERT_EQ(hooks_.asked.size(), 1U);
  EXPECT_TRUE(find(hooks_.asked[0].request, {"object"})->is_null());
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"oldObject", "metadata", "name"}), "a");

  ASSERT_TRUE(harness_
                  .create(kinds::kDeployment,
                          R"({"metadata":{"name":"d"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                  .has_value());
  ASSERT_TRUE(harness_.merge(kinds::kDeployment, "d", R"({"spec":{"paused":true}})").has_value());
  EXPECT_EQ(hooks_.asked.size(), 1U);
  ASSERT_TRUE(
      harness_.merge(kinds::kDeployment, "d", R"({"spec":{"replicas":3}})", "scale").has_value());
  ASSERT_EQ(hooks_.asked.size(), 2U);
  const Json& scaled = hooks_.asked[1].request;
  EXPECT_EQ(text_at(scaled, {"kind", "kind"}), "Scale");
  EXPECT_EQ(text_at(scaled, {"resource", "resource"}), "deployments");
  EXPECT_EQ(text_at(scaled, {"subResource"}), "scale");
  EXPECT_EQ(int_at(scaled, {"object", "spec", "replicas"}), 3);
  EXPECT_EQ(int_at(scaled, {"oldObject", "spec", "replicas"}), 1);
}

TEST_F(Webhooks, AScaleMayBeChangedOnItsWay) {
  mutating(
      "m.example.com",
      R"([{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["*"],"resources":["deployments/scale"]}])");
  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::patched(R"([{"op":"replace","path":"/spec/replicas","value":2}])");
  };
  ASSERT_TRUE(harness_
                  .create(kinds::kDeployment,
                          R"({"metadata":{"name":"d"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                  .has_value());
  ASSERT_TRUE(
      harness_.merge(kinds::kDeployment, "d", R"({"spec":{"replicas":9}})", "scale").has_value());
  EXPECT_EQ(int_at(harness_.read(kinds::kDeployment, "d"), {"spec", "replicas"}), 2);
}

TEST_F(Webhooks, SelectorsAndConditionsDecide) {
  validating("o.example.com", kConfigMaps, R"(,"objectSelector":{"matchLabels":{"ask":"me"}})");
  validating("n.example.com", kConfigMaps,
             R"(,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}})");
  validating(
      "c.example.com", kConfigMaps,
      R"(,"matchConditions":[{"name":"who","expression":"request.userInfo.username == 'bob'"}])");
  ASSERT_TRUE(put("a").has_value());
  EXPECT_TRUE(hooks_.asked.empty());
  ASSERT_TRUE(put("b", R"(,"labels":{"ask":"me"})").has_value());
  EXPECT_THAT(hooks_.names(), ElementsAre("o.example.com"));
  RequestInfo bob;
  bob.user = "bob";
  ASSERT_TRUE(put("c", "", bob).has_value());
  EXPECT_THAT(hooks_.names(), ElementsAre("o.example.com", "c.example.com"));
}

TEST_F(Webhooks, AConditionThatFailsRefusesUnlessIgnored) {
  const std::string condition =
      R"(,"matchConditions":[{"name":"x","expression":"object.nothing.here"}])";
  validating("c.example.com", kConfigMaps, condition);
  const auto refused = put("a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "configmaps \"a\" is forbidden: expression 'object.nothing.here' resulted in error: no "
            "such key: nothing");
  ASSERT_TRUE(harness_.remove(kinds::kValidatingWebhookConfiguration, "c").has_value());
  validating("d.example.com", kConfigMaps, condition + R"(,"failurePolicy":"Ignore")");
  EXPECT_TRUE(put("a").has_value());
  EXPECT_TRUE(hooks_.asked.empty());
}

TEST_F(Webhooks, AChangeThatChangesNothingIsAskedAboutToo) {
  ASSERT_TRUE(put("a").has_value());
  validating("v.example.com");
  mutating("m.example.com");
  ASSERT_TRUE(harness_.merge(kinds::kConfigMap, "a", R"({"data":{"a":"1"}})").has_value());
  EXPECT_THAT(hooks_.names(), ElementsAre("m.example.com", "v.example.com"));
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"operation"}), "UPDATE");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"oldObject", "data", "a"}), "1");
}

TEST_F(Webhooks, WhatAnUpdateMayNotChangeAWebhookMayNotEither) {
  ASSERT_TRUE(put("a").has_value());
  const std::string uid = text_at(harness_.read(kinds::kConfigMap, "a"), {"metadata", "uid"});
  mutating("m.example.com");
  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::patched(R"([{"op":"replace","path":"/metadata/uid","value":"x"},
                                  {"op":"add","path":"/data/b","value":"2"}])");
  };
  ASSERT_TRUE(harness_.merge(kinds::kConfigMap, "a", R"({"data":{"a":"5"}})").has_value());
  const Json stored = harness_.read(kinds::kConfigMap, "a");
  EXPECT_EQ(text_at(stored, {"metadata", "uid"}), uid);
  EXPECT_EQ(to_json(*find(stored, {"data"})), R"({"a":"5","b":"2"})");
}

TEST_F(Webhooks, ADeleteCannotBePatched) {
  ASSERT_TRUE(put("a").has_value());
  mutating("m.example.com");
  hooks_.answer = [](const Hook&, const Json&) { return FakeHooks::patched(kLabels); };
  const auto refused = harness_.remove(kinds::kConfigMap, "a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "Internal error occurred: admission webhook \"m.example.com\" attempted to modify the "
            "object, which is not supported for this operation");
}

TEST_F(Webhooks, APatchThatDoesNotFitIsAnInternalError) {
  mutating("m.example.com");
  hooks_.answer = [](const Hook&, const Json&) {
    return FakeHooks::patched(R"([{"op":"remove","path":"/data/nothing"}])");
  };
  const auto refused = put("a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Internal);
}

TEST_F(Webhooks, BindingsAndEvictionsAreWhatTheyAre) {
  validating(
      "v.example.com",
      R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["pods/*"]}])");
  ASSERT_TRUE(harness_.create(kinds::kPod, testing::kPodJson).has_value());
  EXPECT_THAT(hooks_.names(), ElementsAre("v.example.com"));  // "pods/*" is the pod too
  hooks_.asked.clear();
  ASSERT_TRUE(harness_.write(client::BindWrite{"default", "p", Uid(), NodeName("n")}).has_value());
  ASSERT_EQ(hooks_.asked.size(), 1U);
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"operation"}), "CREATE");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"kind", "kind"}), "Binding");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"subResource"}), "binding");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"object", "target", "name"}), "n");
  hooks_.asked.clear();
  std::promise<Result<Answer>> done;
  client::DeleteWrite eviction;
  eviction.name_space = "default";
  eviction.name = "p";
  harness_.registry().evict(eviction, {},
                            [&](Result<Answer> answer) { done.set_value(std::move(answer)); });
  ASSERT_TRUE(done.get_future().get().has_value());
  ASSERT_EQ(hooks_.asked.size(), 1U);
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"kind", "kind"}), "Eviction");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"kind", "group"}), "policy");
  EXPECT_EQ(text_at(hooks_.asked[0].request, {"operation"}), "CREATE");
}

TEST_F(Webhooks, ConfigurationsOfAdmissionAreNobodysToForbid) {
  const std::string everything =
      R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*/*"]}])";
  validating("v.example.com", everything);
  hooks_.answer = [](const Hook&, const Json&) { return unreachable(); };
  EXPECT_FALSE(put("a").has_value());
  EXPECT_TRUE(harness_.remove(kinds::kValidatingWebhookConfiguration, "v").has_value());
  EXPECT_TRUE(put("a").has_value());
}

TEST_F(Webhooks, OneThatDoesNotAnswerHoldsUpNobodyElse) {
  validating("v.example.com", kConfigMaps, R"(,"objectSelector":{"matchLabels":{"slow":"yes"}})");
  hooks_.hold = true;
  bool answered = false;
  harness_.registry().write(
      client::CreateWrite{kinds::kConfigMap, "default",
                          Harness::parsed(R"({"metadata":{"name":"s","labels":{"slow":"yes"}}})")},
      {}, [&](const Result<Answer>& answer) { answered = answer.has_value(); });
  EXPECT_TRUE(put("fast").has_value());
  EXPECT_FALSE(answered);
  EXPECT_TRUE(harness_.read(kinds::kConfigMap, "s").get_object().empty());
  hooks_.release();
  EXPECT_TRUE(put("after").has_value());  // the store has taken what came before
  EXPECT_TRUE(answered);
  EXPECT_EQ(hooks_.asked.size(), 1U);
}

TEST_F(Webhooks, ARequestWaitsAMinuteInAll) {
  mutating("a.example.com");
  mutating("b.example.com");
  hooks_.answer = [this](const Hook&, const Json&) {
    harness_.clock().advance(std::chrono::seconds(61));
    return FakeHooks::allowed();
  };
  const auto refused = put("a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Timeout);
  EXPECT_THAT(hooks_.names(), ElementsAre("a.example.com"));
}

TEST_F(Webhooks, ATransactionAsksAboutAllItsWritesAtOnce) {
  validating("v.example.com");
  hooks_.hold = true;
  std::vector<client::Write> writes;
  for (const char* name : {"a", "b", "c"}) {
    Json object = Harness::parsed(R"({"metadata":{}})");
    set_path(object, {"metadata", "name"}, name);
    writes.emplace_back(client::CreateWrite{kinds::kConfigMap, "default", std::move(object)});
  }
  std::promise<Result<std::vector<Answer>>> done;
  RequestInfo own;
  own.in_process = true;
  harness_.registry().transact(std::move(writes), own, [&](Result<std::vector<Answer>> answers) {
    done.set_value(std::move(answers));
  });
  EXPECT_EQ(hooks_.asked.size(), 3U);
  hooks_.release();
  EXPECT_TRUE(done.get_future().get().has_value());
  EXPECT_EQ(hooks_.asked.size(), 3U);
}

TEST_F(Webhooks, WarningsAndNotesComeAlong) {
  validating("v.example.com");
  mutating("m.example.com");
  hooks_.answer = [](const Hook& hook, const Json&) {
    if (hook.kind == HookKind::Mutating) return FakeHooks::patched(kLabels);
    HookVerdict out = FakeHooks::allowed();
    out.warnings = {"careful"};
    out.annotations = {{"seen", "yes"}};
    return out;
  };
  RequestInfo info;
  info.notes = std::make_shared<AuditNotes>();
  const auto made = put("a", "", info);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->warnings, ElementsAre("careful"));
  EXPECT_EQ((*info.notes)["v.example.com/seen"], "yes");
  EXPECT_EQ((*info.notes)["mutation.webhook.admission.k8s.io/round_0_index_0"],
            R"({"configuration":"m","webhook":"m.example.com","mutated":true})");
  EXPECT_NE((*info.notes)["patch.webhook.admission.k8s.io/round_0_index_0"].find("JSONPatch"),
            std::string::npos);
}

TEST_F(Webhooks, ManagersStayThoseOfTheRequest) {
  mutating("m.example.com");
  hooks_.answer = [](const Hook&, const Json& request) {
    EXPECT_EQ(find(request, {"object", "metadata", "managedFields"}), nullptr);
    return FakeHooks::patched(kLabels);
  };
  RequestInfo info;
  info.field_manager = "me";
  ASSERT_TRUE(put("a", "", info).has_value());
  const Json stored = harness_.read(kinds::kConfigMap, "a");
  const JsonArray* managers = array_at(stored, {"metadata", "managedFields"});
  ASSERT_NE(managers, nullptr);
  ASSERT_EQ(managers->size(), 1U);
  EXPECT_EQ(find((*managers)[0], {"fieldsV1", "f:metadata"}), nullptr);
  EXPECT_EQ(label("a", "a"), "1");
}

}  // namespace
}  // namespace krater::api
