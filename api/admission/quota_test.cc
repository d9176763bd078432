// Quotas and limit ranges: each case objects that are there, one that is to come, and the verdict.
#include "api/admission/quota.h"

#include "api/admission/testing/admission_fixture.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

Json parsed(std::string_view text) {
  Result<Json> out = parse_json(text);
  EXPECT_TRUE(out.has_value()) << text;
  return out ? *std::move(out) : Json();
}

Json pod(std::string_view resources, std::string_view more_spec = "",
         std::string_view status = R"({"phase":"Pending","qosClass":"Burstable"})") {
  return parsed(R"({"spec":{"containers":[{"name":"c","resources":)" + std::string(resources) +
                "}]" + std::string(more_spec) + R"(},"status":)" + std::string(status) + "}");
}

struct QuotaTest : testing::AdmissionTest {
  Admission admission(const Kind& kind, Json& made) {
    return {Operation::Create, kind,   "d",      "x", "",         made,
            nullptr,           reader, settings, rng, WallTime(), warnings};
  }
  void put(const Kind& kind, std::string_view name, const Json& there) {
    reader.put(kind, "d", name, to_json(there));
  }
  void quota(std::string_view spec, std::string_view status) {
    put(kinds::kResourceQuota, "q",
        parsed(R"({"spec":)" + std::string(spec) + R"(,"status":)" + std::string(status) + "}"));
  }
  // The refusal, or what is used afterwards.
  std::string charge(const Kind& kind, Json made) {
    const Admission one = admission(kind, made);
    const Result<std::vector<QuotaCharge>> charges = charge_quotas(one);
    if (!charges) return charges.error().message;
    if (charges->empty()) return "nothing";
    return to_json(*find((*charges)[0].after, {"status", "used"}));
  }
};

TEST_F(QuotaTest, ChargesOrRefuses) {
  const struct {
    std::string_view rule, spec, status;
    const Kind& kind;
    Json object;
    std::string_view want;
  } cases[] = {
      {"a pod is one pod", R"({"hard":{"pods":"2"}})",
       R"({"hard":{"pods":"2"},"used":{"pods":"1"}})", kinds::kPod, pod("{}"), R"({"pods":"2"})"},
      {"no more than the limit", R"({"hard":{"pods":"2"}})",
       R"({"hard":{"pods":"2"},"used":{"pods":"2"}})", kinds::kPod, pod("{}"),
       "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"},
      {"all that is exceeded is named", R"({"hard":{"pods":"1","requests.cpu":"1"}})",
       R"({"hard":{"pods":"1","requests.cpu":"1"},"used":{"pods":"1","requests.cpu":"600m"}})",
       kinds::kPod, pod(R"({"requests":{"cpu":"500m"}})"),
       "exceeded quota: q, requested: pods=1,requests.cpu=500m, used: pods=1,requests.cpu=600m, "
       "limited: pods=1,requests.cpu=1"},
      {"memory keeps its form", R"({"hard":{"memory":"2Gi"}})",
       R"({"hard":{"memory":"2Gi"},"used":{"memory":"1Gi"}})", kinds::kPod,
       pod(R"({"requests":{"memory":"512Mi"}})"), R"({"memory":"1536Mi"})"},
      {"limits are counted too", R"({"hard":{"limits.cpu":"3"}})",
       R"({"hard":{"limits.cpu":"3"},"used":{"limits.cpu":"1"}})", kinds::kPod,
       pod(R"({"limits":{"cpu":"2"}})"), R"({"limits.cpu":"3"})"},
      {"who does not say what it needs", R"({"hard":{"limits.cpu":"3","requests.cpu":"1"}})",
       R"({"hard":{"limits.cpu":"3","requests.cpu":"1"},"used":{"limits.cpu":"0","requests.cpu":"0"}})",
       kinds::kPod, pod("{}"),
       "failed quota: q: must specify limits.cpu for: c; requests.cpu for: c"},
      {"devices", R"({"hard":{"requests.example.com/gpu":"1"}})",
       R"({"hard":{"requests.example.com/gpu":"1"},"used":{"requests.example.com/gpu":"1"}})",
       kinds::kPod, pod(R"({"limits":{"example.com/gpu":"1"},"requests":{"example.com/gpu":"1"}})"),
       "exceeded quota: q, requested: requests.example.com/gpu=1, used: "
       "requests.example.com/gpu=1, limited: requests.example.com/gpu=1"},
      {"any kind by its name", R"({"hard":{"count/jobs.batch":"1"}})",
       R"({"hard":{"count/jobs.batch":"1"},"used":{"count/jobs.batch":"1"}})", kinds::kJob,
       parsed("{}"),
       "exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: "
       "count/jobs.batch=1"},
      {"other kinds are not concerned", R"({"hard":{"pods":"0"}})",
       R"({"hard":{"pods":"0"},"used":{"pods":"0"}})", kinds::kConfigMap, parsed("{}"), "nothing"},
      {"node ports", R"({"hard":{"services.nodeports":"3"}})",
       R"({"hard":{"services.nodeports":"3"},"used":{"services.nodeports":"1"}})", kinds::kService,
       parsed(R"({"spec":{"type":"NodePort","ports":[{"port":1},{"port":2}]}})"),
       R"({"services.nodeports":"3"})"},
      {"out of scope", R"({"hard":{"pods":"0"},"scopes":["BestEffort"]})",
       R"({"hard":{"pods":"0"},"used":{"pods":"0"}})", kinds::kPod, pod("{}"), "nothing"},
      {"in scope", R"({"hard":{"pods":"0"},"scopes":["Terminating","NotBestEffort"]})",
       R"({"hard":{"pods":"0"},"used":{"pods":"0"}})", kinds::kPod,
       pod("{}", R"(,"activeDeadlineSeconds":5)"),
       "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"},
      {"by priority class",
       R"({"hard":{"pods":"0"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}})",
       R"({"hard":{"pods":"0"},"used":{"pods":"0"}})", kinds::kPod,
       pod("{}", R"(,"priorityClassName":"low")"), "nothing"},
      {"nobody has counted yet", R"({"hard":{"pods":"2"}})", R"({"hard":{"pods":"2"}})",
       kinds::kPod, pod("{}"), "status unknown for quota: q, resources: pods"},
  };
  for (const auto& item : cases) {
    quota(item.spec, item.status);
    EXPECT_EQ(charge(item.kind, item.object), item.want) << item.rule;
  }
}

TEST_F(QuotaTest, CountsWhatIsThere) {
  put(kinds::kPod, "a", pod(R"({"requests":{"cpu":"500m"}})"));
  put(kinds::kPod, "b", pod(R"({"requests":{"cpu":"1"},"limits":{"cpu":"2"}})"));
  put(kinds::kPod, "done", pod(R"({"requests":{"cpu":"7"}})", "", R"({"phase":"Succeeded"})"));
  put(kinds::kConfigMap, "m", parsed("{}"));
  Json made = parsed(
      R"({"spec":{"hard":{"pods":"9","count/pods":"9","requests.cpu":"9","limits.cpu":"9","configmaps":"9","count/configmaps":"9","resourcequotas":"1","secrets":"1"}}})");
  Admission one = admission(kinds::kResourceQuota, made);
  ASSERT_TRUE(mutate(one).has_value());
  const Usage used = *count_usage(made, "d", reader);
  EXPECT_EQ(used.at("pods"), Quantity::from_value(2));
  EXPECT_EQ(used.at("count/pods"), Quantity::from_value(3));
  EXPECT_EQ(used.at("requests.cpu"), Quantity::from_milli(1500));
  EXPECT_EQ(used.at("limits.cpu"), Quantity::from_value(2));
  EXPECT_EQ(used.at("configmaps"), Quantity::from_value(1));
  EXPECT_EQ(used.at("secrets"), Quantity::from_value(0));
  EXPECT_EQ(text_at(made, {"status", "used", "resourcequotas"}), "1");
  EXPECT_EQ(text_at(made, {"status", "used", "requests.cpu"}), "1500m");
  EXPECT_EQ(text_at(made, {"status", "hard", "pods"}), "9");
}

struct LimitRangeTest : QuotaTest {
  std::string submit(std::string_view item, std::string_view resources, Json* out = nullptr) {
    put(kinds::kLimitRange, "l", parsed(R"({"spec":{"limits":[)" + std::string(item) + "]}}"));
    put(kinds::kServiceAccount, "default", parsed("{}"));
    Json made = pod(resources);
    Admission one = admission(kinds::kPod, made);
    const Result<void> verdict = mutate(one);
    if (out != nullptr) *out = made;
    return verdict ? "" : verdict.error().message;
  }
};

TEST_F(LimitRangeTest, FillsInWhatContainersDoNotSay) {
  Json made;
  EXPECT_EQ(
      submit(
          R"({"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"500m"}})",
          R"({"limits":{"memory":"2Gi"}})", &made),
      "");
  const Json& container = (*array_at(made, {"spec", "containers"}))[0];
  EXPECT_EQ(text_at(container, {"resources", "limits", "cpu"}), "1");
  EXPECT_EQ(text_at(container, {"resources", "limits", "memory"}), "2Gi");
  EXPECT_EQ(text_at(container, {"resources", "requests", "cpu"}), "500m");
  EXPECT_EQ(text_at(made, {"metadata", "annotations", "kubernetes.io/limit-ranger"}),
            "LimitRanger plugin set: cpu request for container c; cpu limit for container c");
}

TEST_F(LimitRangeTest, RefusesTooLittleAndTooMuch) {
  const struct {
    std::string_view item, resources, want;
  } cases[] = {
      {R"({"type":"Container","min":{"cpu":"100m"}})", R"({"requests":{"cpu":"50m"}})",
       "minimum cpu usage per Container is 100m, but request is 50m"},
      {R"({"type":"Container","min":{"cpu":"100m"}})", "{}",
       "minimum cpu usage per Container is 100m.  No request is specified"},
      {R"({"type":"Container","max":{"cpu":"1"}})", R"({"limits":{"cpu":"2"}})",
       "maximum cpu usage per Container is 1, but limit is 2"},
      {R"({"type":"Container","max":{"cpu":"1"}})", R"({"requests":{"cpu":"1"}})",
       "maximum cpu usage per Container is 1.  No limit is specified"},
      {R"({"type":"Pod","max":{"memory":"1Gi"}})", R"({"limits":{"memory":"2Gi"}})",
       "maximum memory usage per Pod is 1Gi, but limit is 2Gi"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})",
       R"({"requests":{"cpu":"500m"},"limits":{"cpu":"2"}})",
       "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"},
      {R"({"type":"Container","max":{"cpu":"1","memory":"1Gi"}})",
       R"({"limits":{"cpu":"2","memory":"2Gi"}})",
       "[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container "
       "is 1Gi, but limit is 2Gi]"},
      {R"({"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"}})",
       R"({"requests":{"cpu":"1"},"limits":{"cpu":"2"}})", ""},
  };
  for (const auto& item : cases) EXPECT_EQ(submit(item.item, item.resources), item.want);
}

}  // namespace
}  // namespace krater::api
