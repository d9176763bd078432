// The traps that clients of Kubernetes set, by their numbers in the list of pitfalls (1 to 38):
// each has its test here, or where it is named (e2e: in the stories):
//
//    2  also Pipeline.QuantitiesAreStoredInCanonicalForm
//   11  also Flow.NoMoreConnectionsThanAllowed
//       e2e test_more_connections_than_descriptors_do_no_harm
//   12  Watch.HeadersComeBeforeAnyEvent
//   13  Gzip.*
//   15  Https.ExpectContinueIsAnsweredBeforeTheBody
//   16  also ResourcePath.EncodedSlashesAndBrokenEscapesAreBad
//   17  also Query.IsFormEncoded
//   19  CustomObjects.ADefinitionIsServedBeforeItSaysSo
//   24  RegistryTest.FinalizersHoldAnObjectUntilTheLastIsRemoved
//   29  Warnings.AreQuotedOncePerTextAndCannotForgeHeaders
//   30  Ownership.FollowsTheCases
//       e2e test_container_ports_without_protocol_match_those_with_it
//   31  Pipeline.EqualPortNumbersOfUnlikeProtocolsAreTwoPorts
//   34  Https.OpenApiIsCachedByHashAndItsProtobufIsEmpty
//   36  ListWatchTest.AWatchBelowTheCompactionIsExpired
//       e2e test_watchers_that_do_not_read_hold_nobody_up
//   37  also RegistryTest.OldEventsGo
//       PowerLoss.KeepsEveryAcknowledgedWriteAndNothingHalf
#include <gtest/gtest.h>

#include "api/machinery/protobuf_encode.h"
#include "api/server/testing/bare_service.h"
#include "api/server/testing/test_server.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using testing::BareService;
using testing::HttpsClient;
using testing::TestServer;

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kServices = "/api/v1/namespaces/default/services";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string kGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
const std::string kRayJobs = "/apis/ray.io/v1/namespaces/default/rayjobs";

struct Told {
  int status = 0;
  std::string body;
  std::vector<Header> headers{};

  Json json() const { return parse_json(body).value_or(Json(JsonObject())); }
  std::string reason() const { return text_at(json(), {"reason"}); }
  std::string at(JsonPath path) const {
    const Json document = json();
    const Json* found = find(document, path);
    return found == nullptr ? "absent" : to_json(*found);
  }
};

class Pitfalls : public ::testing::Test {
 protected:
  Told send(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& type = "application/json", const std::string& more = "") {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + more;
    if (!body.empty()) {
      text +=
          "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    }
    std::optional<Request> request = BareService::read(text + "\r\n" + body);
    CHECK_MSG(request.has_value(), text);
    Response response = service_.ask(*std::move(request));
    return {response.status, response.body.text(), std::move(response.headers)};
  }
  Told post(const std::string& target, const std::string& body) {
    return send("POST", target, body);
  }
  Told merge(const std::string& target, const std::string& body) {
    return send("PATCH", target, body, "application/merge-patch+json");
  }
  Told json_patch(const std::string& target, const std::string& body) {
    return send("PATCH", target, body, "application/json-patch+json");
  }

  BareService service_;
};

std::string pod_with(const std::string& container, const std::string& spec = "") {
  return R"({"metadata":{"name":"p"},"spec":{)" + spec +
         R"("containers":[{"name":"c","image":"x")" + container + "}]}}";
}

std::string service_with(const std::string& port) {
  return R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"targetPort":)" + port + "}]}}";
}

const Json& first_of(const Json& document, JsonPath path) {
  return array_at(document, path)->front();
}

TEST_F(Pitfalls, Line1_IntOrStringStaysWhatItWas) {
  const Told number = post(kServices, service_with("80"));
  EXPECT_EQ(to_json(*find(first_of(number.json(), {"spec", "ports"}), {"targetPort"})), "80");
  send("DELETE", kServices + "/s");
  const Told text = post(kServices, service_with("\"80\""));
  EXPECT_EQ(text.status, 422) << text.body;  // a name of a port, and none that is valid
  const Told named = post(kServices, service_with("\"web\""));
  EXPECT_EQ(to_json(*find(first_of(named.json(), {"spec", "ports"}), {"targetPort"})), "\"web\"");
  for (const char* port : {"80.5", "3000000000", "true", "[]"})
    EXPECT_EQ(post(kServices, service_with(port)).status, 400) << port;
}

TEST_F(Pitfalls, Line2_QuantitiesAreCanonicalInBuiltInKindsAndAsWrittenInOthers) {
  const struct {
    const char *written, *stored;
  } cases[] = {{"1", "1"},          {"1.5", "1500m"},      {"\"1000m\"", "1"},
               {"\"0.5\"", "500m"}, {"\"1024Mi\"", "1Gi"}, {"\"1.5Gi\"", "1536Mi"},
               {"\"1000\"", "1k"},  {"\"0.1G\"", "100M"},  {"\"1e3\"", "1e3"},
               {"\"1n\"", "1n"}};
  for (const auto& c : cases) {
    const Told made = post(
        kPods, pod_with(std::string(R"(,"resources":{"limits":{"memory":)") + c.written + "}}"));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(
        text_at(first_of(made.json(), {"spec", "containers"}), {"resources", "limits", "memory"}),
        c.stored)
        << c.written;
    send("DELETE", kPods + "/p?gracePeriodSeconds=0");
  }
  const Told group = post(kGroups, R"({"metadata":{"name":"g"},"spec":{"minMember":1,
    "minResources":{"cpu":"1000m","memory":1000}}})");
  EXPECT_EQ(group.at({"spec", "minResources"}), R"({"cpu":"1000m","memory":1000})");
}

TEST_F(Pitfalls, Line3_LargeNumbersSurviveAndNoneIsInfinite) {
  const Told made = post(kRayJobs, R"({"metadata":{"name":"j","generation":9007199254740993},
    "spec":{"entrypoint":"x","ttlSecondsAfterFinished":2147483647,"backoffLimit":1.0,
    "rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":
    [{"name":"h","image":"r"}]}}}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"spec", "backoffLimit"}), "1");
  const Told patched =
      json_patch("/api/v1/namespaces/default/events", "[]");  // a collection is not patched
  EXPECT_EQ(patched.status, 405);
  post(kDeployments, R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}],
    "activeDeadlineSeconds":1}}}})");
  const Told job =
      post("/apis/batch/v1/namespaces/default/jobs",
           R"({"metadata":{"name":"j"},"spec":{"activeDeadlineSeconds":9007199254740993,
    "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})");
  EXPECT_EQ(job.at({"spec", "activeDeadlineSeconds"}), "9007199254740993");
  const Told larger =
      json_patch("/apis/batch/v1/namespaces/default/jobs/j",
                 R"([{"op":"test","path":"/spec/activeDeadlineSeconds","value":9007199254740993},
          {"op":"replace","path":"/spec/activeDeadlineSeconds","value":9223372036854775807}])");
  EXPECT_EQ(larger.at({"spec", "activeDeadlineSeconds"}), "9223372036854775807");
  for (const char* number : {"NaN", "Infinity", "1e999", "-Infinity"}) {
    EXPECT_EQ(
        post(kMaps, R"({"metadata":{"name":"n","generation":)" + std::string(number) + "}}").status,
        400)
        << number;
  }
}

TEST_F(Pitfalls, Line4_NullsOfGoClientsAreAbsent) {
  const Told made = post(kDeployments, R"({"metadata":{"name":"d","creationTimestamp":null,
    "annotations":null},"spec":{"replicas":null,"strategy":{},"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"containers":
    [{"name":"c","image":"x","resources":{},"command":null}]}}},"status":{}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"spec", "replicas"}), "1");
  EXPECT_EQ(made.at({"metadata", "annotations"}), "absent");
  EXPECT_NE(made.at({"metadata", "creationTimestamp"}), "null");
  EXPECT_EQ(made.at({"spec", "template", "metadata", "creationTimestamp"}), "absent");

  post(kMaps, R"({"metadata":{"name":"m","labels":{"a":"b","c":"d"}},"data":{"k":"v"}})");
  const Told patched = merge(kMaps + "/m", R"({"metadata":{"labels":{"a":null}},"data":null})");
  EXPECT_EQ(patched.at({"metadata", "labels"}), R"({"c":"d"})");
  EXPECT_EQ(patched.at({"data"}), "absent");
}

TEST_F(Pitfalls, Line5_EmptyAndAbsentAreToldApartWhereTheOriginalDoes) {
  EXPECT_EQ(send("GET", kPods).at({"items"}), "[]");
  EXPECT_EQ(send("GET", kRayJobs).at({"items"}), "[]");
  const Told made = post(kDeployments, R"({"metadata":{"name":"d","labels":{}},"spec":{"replicas":0,
    "paused":false,"minReadySeconds":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":
    {"labels":{"a":"b"}},"spec":{"volumes":[{"name":"v","secret":{"secretName":"s","optional":false}}],
    "containers":[{"name":"c","image":"x","stdin":false,"tty":false,"workingDir":"","env":[]}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"spec", "replicas"}), "0");
  EXPECT_EQ(made.at({"spec", "paused"}), "absent");
  EXPECT_EQ(made.at({"metadata", "labels"}), "absent");
  EXPECT_EQ(made.at({"status"}), "{}");
  const Json document = made.json();
  const Json& container = first_of(document, {"spec", "template", "spec", "containers"});
  for (const char* gone : {"stdin", "tty", "workingDir", "env"})
    EXPECT_EQ(find(container, {gone}), nullptr) << gone;
  EXPECT_EQ(to_json(*find(container, {"resources"})), "{}");
  EXPECT_EQ(
      bool_at(first_of(document, {"spec", "template", "spec", "volumes"}), {"secret", "optional"}),
      false);
  post(kMaps, R"({"metadata":{"name":"m","labels":{"a":"b"}}})");
  EXPECT_EQ(merge(kMaps + "/m", R"({"metadata":{"labels":{"a":null}}})").at({"metadata", "labels"}),
            "absent");
}

TEST_F(Pitfalls, Line6_TheLastOfTwoKeysWins) {
  const auto twice = [](const std::string& name) {
    return R"({"metadata":{"name":")" + name + R"("},"data":{"k":"1","k":"2"}})";
  };
  const Told ignored = post(kMaps + "?fieldValidation=Ignore", twice("a"));
  EXPECT_EQ(ignored.status, 201);
  EXPECT_EQ(ignored.at({"data", "k"}), "\"2\"");
  const Told warned = post(kMaps + "?fieldValidation=Warn", twice("b"));
  EXPECT_EQ(warned.status, 201);
  std::string warning;
  for (const auto& [name, value] : warned.headers) {
    if (name == "Warning") warning += value;
  }
  EXPECT_NE(warning.find(R"(duplicate field \"data.k\")"), std::string::npos) << warning;
  const Told refused = post(kMaps + "?fieldValidation=Strict", twice("c"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find(R"(duplicate field \"data.k\")"), std::string::npos) << refused.body;
}

TEST_F(Pitfalls, Line7_ListsAreNoBodies) {
  const std::string list = R"({"apiVersion":"v1","kind":"List","items":[]})";
  for (const std::string& target :
       {kMaps, kPods, std::string("/api/v1"), std::string("/api/v1/namespaces")}) {
    const Told told = post(target, list);
    EXPECT_GE(told.status, 400) << target;
    EXPECT_LT(told.status, 500) << target;
  }
}

TEST_F(Pitfalls, Line8_ItemsOfListsAndObjectsOfWatchesAreTyped) {
  post(kRayJobs,
       R"({"metadata":{"name":"j"},"spec":{"entrypoint":"x","rayClusterSpec":{"headGroupSpec":
    {"rayStartParams":{},"template":{"spec":{"containers":[{"name":"h","image":"r"}]}}}}}})");
  const Told jobs = send("GET", kRayJobs);
  EXPECT_EQ(text_at(first_of(jobs.json(), {"items"}), {"kind"}), "RayJob");
  EXPECT_EQ(text_at(first_of(jobs.json(), {"items"}), {"apiVersion"}), "ray.io/v1");
  EXPECT_EQ(text_at(jobs.json(), {"kind"}), "RayJobList");

  TestServer server;
  HttpsClient watcher = server.admin();
  watcher.open_stream("/api/v1/namespaces?watch=true");
  const Json event = *parse_json(watcher.next_line());
  EXPECT_EQ(text_at(event, {"object", "kind"}), "Namespace");
  EXPECT_EQ(text_at(event, {"object", "apiVersion"}), "v1");
}

TEST_F(Pitfalls, Line9_TimesHaveTheFormOfTheirType) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const Told lease = post(leases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"h",
    "acquireTime":null,"renewTime":"2026-01-01T01:00:00.5+01:00"}})");
  ASSERT_EQ(lease.status, 201) << lease.body;
  EXPECT_EQ(lease.at({"spec", "renewTime"}), "\"2026-01-01T00:00:00.500000Z\"");
  EXPECT_EQ(lease.at({"spec", "acquireTime"}), "absent");
  post(kPods, pod_with(""));
  const Told started =
      merge(kPods + "/p/status", R"({"status":{"startTime":"2026-01-01T05:30:00.987+05:30"}})");
  EXPECT_EQ(started.at({"status", "startTime"}), "\"2026-01-01T00:00:00Z\"");
  EXPECT_EQ(merge(kPods + "/p/status", R"({"status":{"startTime":"yesterday"}})").status, 422);
}

TEST_F(Pitfalls, Line10_BytesAreBase64) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  for (const char* bad : {"?", "YQ", "YW=J", "ä"}) {
    EXPECT_EQ(post(secrets, R"({"metadata":{"name":"s"},"data":{"k":")" + std::string(bad) + "\"}}")
                  .status,
              400)
        << bad;
    EXPECT_EQ(
        post(kMaps, R"({"metadata":{"name":"m"},"binaryData":{"k":")" + std::string(bad) + "\"}}")
            .status,
        400)
        << bad;
  }
  const Told made = post(secrets, R"({"metadata":{"name":"s"},"data":{"a":"YQ==","b":""}})");
  EXPECT_EQ(made.at({"data"}), R"({"a":"YQ==","b":""})");
}

TEST(PitfallsOfConnections, Line11_AWatchOutlivesTheIdleLimit) {
  ServerLimits limits;
  limits.idle = std::chrono::seconds(1);
  TestServer server(limits);
  HttpsClient watcher = server.admin();
  const auto begin = std::chrono::steady_clock::now();
  watcher.open_stream(kMaps + "?watch=true&timeoutSeconds=2");
  EXPECT_EQ(watcher.next_line(), "");  // its own end, not a broken connection
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1900));
}

TEST_F(Pitfalls, Line14_HeadIsLikeGetAndOptionsIsNotAllowed) {
  EXPECT_EQ(send("HEAD", kPods).status, 200);
  EXPECT_EQ(send("HEAD", kPods + "/none").status, 404);
  EXPECT_EQ(send("HEAD", "/healthz").status, 200);
  for (const std::string& target : {kPods, std::string("/healthz"), std::string("/apis")})
    EXPECT_EQ(send("OPTIONS", target).status, 405) << target;
}

TEST_F(Pitfalls, Line16_NamesInPathsMayBeEscaped) {
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  ASSERT_EQ(post(roles, R"({"metadata":{"name":"a:b.c"},"rules":[]})").status, 201);
  EXPECT_EQ(send("GET", roles + "/a:b.c").status, 200);
  EXPECT_EQ(send("GET", roles + "/a%3Ab.c").status, 200);
  EXPECT_EQ(send("GET", roles + "/a%2Fb").status, 400);
  EXPECT_EQ(send("GET", roles + "/a%3").status, 400);
}

TEST_F(Pitfalls, Line17_UnknownAndEmptyParametersAreNothing) {
  post(kMaps, R"({"metadata":{"name":"m"}})");
  for (const char* query :
       {"fieldSelector=", "labelSelector=", "timeout=8m33s", "colour=red", "pretty=true",
        "fieldSelector=metadata.name%3Dm", "labelSelector=a+notin+%28b%29", "limit="}) {
    const Told listed = send("GET", kMaps + "?" + query);
    ASSERT_EQ(listed.status, 200) << query << listed.body;
    bool there = false;
    const Json document = listed.json();
    for (const Json& item : *array_at(document, {"items"}))
      there = there || text_at(item, {"metadata", "name"}) == "m";
    EXPECT_TRUE(there) << query;
  }
}

TEST_F(Pitfalls, Line18_PathsThatAreGoneAnswerWithAStatus) {
  for (const char* path : {"/apis/gone.example.com/v1/things", "/apis/apps/v1beta1/deployments",
                           "/api/v1/namespaces/default/gone", "/apis/gone.example.com/v1"}) {
    const Told told = send("GET", path);
    EXPECT_EQ(told.status, 404) << path;
    EXPECT_EQ(text_at(told.json(), {"message"}), "the server could not find the requested resource")
        << path;
    EXPECT_EQ(told.reason(), "NotFound") << path;
  }
}

TEST_F(Pitfalls, Line20_AWriteThatChangesNothingIsNoWrite) {
  const Told made = post(kMaps, R"({"metadata":{"name":"m"},"data":{"k":"v"}})");
  const Revision before = service_.registry().revision();
  const Told same = send("PUT", kMaps + "/m", made.body);
  EXPECT_EQ(same.at({"metadata", "resourceVersion"}), made.at({"metadata", "resourceVersion"}));
  EXPECT_EQ(merge(kMaps + "/m", R"({"data":{"k":"v"}})").at({"metadata", "resourceVersion"}),
            made.at({"metadata", "resourceVersion"}));
  EXPECT_EQ(merge(kMaps + "/m?fieldManager=other", "{}").status, 200);
  EXPECT_EQ(service_.registry().revision(), before);
}

TEST(PitfallsOfWatches, Line21And22_AWatchGoesOnWhereAWriteOrAListWas) {
  TestServer server;
  HttpsClient client = server.admin();
  const auto named = [](const std::string& name) {
    return R"({"metadata":{"name":")" + name + "\"}}";
  };
  const auto name_of = [](HttpsClient& from) {
    return text_at(*parse_json(from.next_line()), {"object", "metadata", "name"});
  };
  const std::string written =
      text_at(client.send("POST", kMaps, named("a")).json(), {"metadata", "resourceVersion"});
  HttpsClient after_write = server.admin();
  after_write.open_stream(kMaps + "?watch=true&resourceVersion=" + written);
  const std::string listed =
      text_at(client.send("GET", kMaps).json(), {"metadata", "resourceVersion"});
  client.send("POST", kMaps, named("b"));
  client.send("POST", kMaps, named("c"));
  HttpsClient after_list = server.admin();
  after_list.open_stream(kMaps + "?watch=true&resourceVersion=" + listed);
  for (HttpsClient* watcher : {&after_write, &after_list}) {
    EXPECT_EQ(name_of(*watcher), "b");
    EXPECT_EQ(name_of(*watcher), "c");
  }
}

TEST_F(Pitfalls, Line23_StatusAndTheRestHaveDoorsOfTheirOwn) {
  struct Case {
    std::string collection, body, spec_field;
  };
  const Case cases[] = {
      {kPods, pod_with(""), "priority"},
      {kRayJobs,
       R"({"metadata":{"name":"p"},"spec":{"entrypoint":"x","rayClusterSpec":{"headGroupSpec":
          {"rayStartParams":{},"template":{"spec":{"containers":[{"name":"h","image":"r"}]}}}}}})",
       "suspend"}};
  for (const Case& c : cases) {
    Json object = post(c.collection, c.body).json();
    const std::string path = c.collection + "/p";
    set_path(object, {"status", "message"}, "wiped");
    Json kept = send("PUT", path, to_json(object)).json();
    EXPECT_EQ(find(kept, {"status", "message"}), nullptr) << path;
    set_path(kept, {"status", "message"}, "said");
    set_path(kept, {"metadata", "labels"}, JsonObject{{"a", "b"}});
    set_path(kept, {"metadata", "annotations"}, JsonObject{{"c", "d"}});
    set_path(kept, {"spec", c.spec_field}, 7);
    if (c.spec_field == "suspend") set_path(kept, {"spec", "suspend"}, true);
    const Told told = send("PUT", path + "/status", to_json(kept));
    ASSERT_EQ(told.status, 200) << told.body;
    EXPECT_EQ(told.at({"status", "message"}), "\"said\"");
    // Built-in kinds let metadata come along, the kinds of definitions do not.
    const bool built_in = c.collection == kPods;
    EXPECT_EQ(told.at({"metadata", "labels"}), built_in ? R"({"a":"b"})" : "absent");
    EXPECT_EQ(told.at({"metadata", "annotations"}), built_in ? R"({"c":"d"})" : "absent");
    EXPECT_NE(told.at({"spec", c.spec_field}), "7");
    EXPECT_NE(told.at({"spec", c.spec_field}), "true");
  }
}

TEST_F(Pitfalls, Line25_EachRefusalHasItsCode) {
  const Told first = post(kMaps, R"({"metadata":{"name":"m"},"immutable":true,"data":{"a":"1"}})");
  const Told again = post(kMaps, R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.reason(), "AlreadyExists");
  const Told changed = merge(kMaps + "/m", R"({"data":{"a":"2"}})");
  EXPECT_EQ(changed.status, 422);
  EXPECT_EQ(changed.reason(), "Invalid");
  const Told stale = send("PUT", kMaps + "/m",
                          R"({"metadata":{"name":"m","resourceVersion":"1"},"immutable":true})");
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  const Told other = send("DELETE", kMaps + "/m", R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.reason(), "Conflict");
}

// One field of a protobuf message.
std::string field(int number, std::string_view bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} +
         std::string(bytes);
}
std::string field(int number, int value) {
  const std::string head = number < 16 ? std::string{static_cast<char>(number << 3)}
                                       : std::string{static_cast<char>((number << 3 & 0x7f) | 0x80),
                                                     static_cast<char>(number >> 4)};
  return head + static_cast<char>(value);
}

TEST_F(Pitfalls, Line26_ZerosOfProtobufAreThereOnlyWhereTheyMeanSomething) {
  const std::string container = field(1, "c") + field(2, "x") + field(16, 0) + field(18, 0);
  const std::string labels = field(11, field(1, "a") + field(2, "b"));
  const std::string spec = field(1, 0) + field(2, field(1, field(1, "a") + field(2, "b"))) +
                           field(3, field(1, labels) + field(2, field(2, container))) + field(5, 0);
  const std::string body = protobuf_envelope(
      "apps/v1", "Deployment", field(1, field(1, "d")) + field(2, spec) + field(3, ""));
  const Told made = send("POST", kDeployments, body, "application/vnd.kubernetes.protobuf");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"spec", "replicas"}), "0");
  EXPECT_EQ(made.at({"spec", "minReadySeconds"}), "absent");
  const Json document = made.json();
  const Json& first = first_of(document, {"spec", "template", "spec", "containers"});
  EXPECT_EQ(find(first, {"stdin"}), nullptr);
  EXPECT_EQ(find(first, {"tty"}), nullptr);
}

TEST_F(Pitfalls, Line27_DeleteOptionsComeInManyForms) {
  const std::string protobuf = "application/vnd.kubernetes.protobuf";
  const struct {
    std::string body, type;
  } cases[] = {
      {"", ""},
      {"{}", "application/json"},
      {R"({"propagationPolicy":"Background"})", "application/json"},
      {R"({"kind":"DeleteOptions","apiVersion":"apps/v1"})", "application/json"},
      {R"({"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","colour":"red"})",
       "application/json"},
      {R"({"kind":"V1DeleteOptions"})", "application/json"},
      {"gracePeriodSeconds: 0\n", "application/yaml"},
      {protobuf_envelope("v1", "DeleteOptions", ""), protobuf},
      {protobuf_envelope("apps/v1", "DeleteOptions", field(4, "Background")), protobuf},
  };
  for (const auto& c : cases) {
    post(kMaps, R"({"metadata":{"name":"m"}})");
    EXPECT_EQ(send("DELETE", kMaps + "/m", c.body, c.type).status, 200) << c.body;
    EXPECT_EQ(send("GET", kMaps + "/m").status, 404) << c.body;
  }
}

TEST_F(Pitfalls, Line28_WhoNamesNoManagerIsCalledByItsUserAgent) {
  const auto manager_of = [&](const std::string& name, const std::string& headers) {
    const Told made =
        send("POST", kMaps, R"({"metadata":{"name":")" + name + R"("},"data":{"k":"v"}})",
             "application/json", headers);
    return text_at(first_of(made.json(), {"metadata", "managedFields"}), {"manager"});
  };
  EXPECT_EQ(manager_of("a", "User-Agent: curl/7.88.1\r\n"), "curl");
  EXPECT_EQ(manager_of("b", "User-Agent: OpenAPI-Generator/31.0.0/python\r\n"),
            "OpenAPI-Generator");
  EXPECT_EQ(manager_of("c", ""), "unknown");
}

TEST_F(Pitfalls, Line32_SelectorsStayAndThoseOfJobsAreMade) {
  const std::string deployment =
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})";
  ASSERT_EQ(post(kDeployments, deployment).status, 201);
  EXPECT_EQ(merge(kDeployments + "/d", R"({"spec":{"selector":{"matchLabels":{"c":"d"}}}})").status,
            422);
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  const std::string job =
      R"("template":{"metadata":{"labels":{"x":"y"}},"spec":{"restartPolicy":"Never",
    "containers":[{"name":"c","image":"x"}]}}}})";
  const Told made = post(jobs, R"({"metadata":{"name":"j"},"spec":{)" + job);
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string uid = text_at(made.json(), {"metadata", "uid"});
  EXPECT_EQ(text_at(made.json(),
                    {"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}),
            uid);
  const std::string own = R"("selector":{"matchLabels":{"x":"y"}},)";
  EXPECT_EQ(post(jobs, R"({"metadata":{"name":"k"},"spec":{)" + own + job).status, 422);
  EXPECT_EQ(
      post(jobs, R"({"metadata":{"name":"l"},"spec":{"manualSelector":true,)" + own + job).status,
      201);
  EXPECT_EQ(merge(jobs + "/l", R"({"spec":{"selector":{"matchLabels":{"x":"z"}}}})").status, 422);
}

TEST_F(Pitfalls, Line33_StringDataIsWrittenAndNeverRead) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const Told made = post(
      secrets, R"({"metadata":{"name":"s"},"stringData":{"a":"b"},"data":{"a":"eA==","c":""}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"stringData"}), "absent");
  EXPECT_EQ(made.at({"data"}), R"({"a":"Yg==","c":""})");
  const Told applied =
      send("PATCH", secrets + "/t?fieldManager=m", R"({"apiVersion":"v1","kind":"Secret",
    "stringData":{"a":"b"}})",
           "application/apply-patch+yaml");
  ASSERT_EQ(applied.status, 201) << applied.body;
  EXPECT_EQ(applied.at({"data"}), R"({"a":"Yg=="})");
  EXPECT_EQ(applied.at({"stringData"}), "absent");
  EXPECT_NE(applied.body.find("f:stringData"), std::string::npos) << applied.body;
}

TEST_F(Pitfalls, Line35_AgesAreTheServers) {
  post(kMaps, R"({"metadata":{"name":"m","creationTimestamp":"2099-01-01T00:00:00Z"}})");
  const Told table =
      send("GET", kMaps + "/m", "", "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n");
  const Json document = table.json();
  const JsonArray& cells = *array_at(first_of(document, {"rows"}), {"cells"});
  EXPECT_EQ(to_json(cells.back()), "\"0s\"");
}

TEST_F(Pitfalls, Line37_LeasesAndEventsCountInTheSameRevisions) {
  const auto revision_of = [](const Told& told) {
    return parse_int(text_at(told.json(), {"metadata", "resourceVersion"})).value_or(-1);
  };
  const std::int64_t before = revision_of(post(kMaps, R"({"metadata":{"name":"a"}})"));
  const Told lease = post("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                          R"({"metadata":{"name":"l"},"spec":{}})");
  const Told event =
      post("/api/v1/namespaces/default/events",
           R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"},"type":"Normal"})");
  const Told after = post(kMaps, R"({"metadata":{"name":"b"}})");
  EXPECT_EQ(revision_of(lease), before + 1);
  EXPECT_EQ(revision_of(event), before + 2);
  EXPECT_EQ(revision_of(after), before + 3);
}

TEST_F(Pitfalls, Line38_FinalizeReplacesFinalizersAndNothingElse) {
  const std::string spaces = "/api/v1/namespaces";
  ASSERT_EQ(post(spaces, R"({"metadata":{"name":"n"}})").status, 201);
  for (const char* method : {"GET", "PATCH", "POST", "DELETE"})
    EXPECT_EQ(send(method, spaces + "/n/finalize", "{}").status, 405) << method;
  const Told put =
      send("PUT", spaces + "/n/finalize",
           R"({"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"finalizers":["x.example.com/y"]},
    "status":{"phase":"Terminating"}})");
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(put.at({"spec", "finalizers"}), R"(["x.example.com/y"])");
  EXPECT_EQ(put.at({"metadata", "labels", "a"}), "absent");
  EXPECT_EQ(put.at({"status", "phase"}), "\"Active\"");
}

}  // namespace
}  // namespace krater::api
