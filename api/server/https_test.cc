// The server as clients meet it: TLS, HTTP, who may do what, and what the answers look like.
#include <gtest/gtest.h>

#include "api/server/testing/test_server.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

using testing::Headers;
using testing::HttpsClient;
using testing::Reply;
using testing::TestServer;

constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
const std::string kPod =
    R"({"metadata":{"name":"p1"},"spec":{"containers":[{"name":"c","image":"busybox"}]}})";
const std::string kPodsPath(kPods);
const Headers kMerge{{"Content-Type", "application/merge-patch+json"}};
const Headers kTable{{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};

TEST(Https, SpeaksHttp11OverAlpnAndKeepsTheConnection) {
  TestServer server;
  HttpsClient client = server.admin();
  EXPECT_EQ(client.alpn(), "http/1.1");
  for (int i = 0; i < 3; ++i) {
    const Reply version = client.send("GET", "/version");
    EXPECT_EQ(version.status, 200);
    EXPECT_TRUE(text_at(version.json(), {"gitVersion"}).starts_with("v1.32."));
  }
  EXPECT_EQ(server.server().metrics().connections.load(), 1);
}

TEST(Https, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send_raw(
      "GET /version HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\nHEAD /version "
      "HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(text_at(client.receive().json(), {"major"}), "1");
  EXPECT_EQ(client.receive().body, "ok");
  const Reply head = client.receive(true);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.header("Content-Length"), "0");
  EXPECT_EQ(client.receive().body, "ok");
}

TEST(Https, Http10EndsWithTheConnection) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send_raw("GET /livez HTTP/1.0\r\n\r\n");
  const Reply reply = client.receive();
  EXPECT_EQ(reply.body, "ok");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_ANY_THROW(client.send("GET", "/livez"));
}

TEST(Https, ExpectContinueIsAnsweredBeforeTheBody) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send_raw("POST " + kPodsPath +
                  " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                  std::to_string(kPod.size()) + "\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 100);
  client.send_raw(kPod);
  EXPECT_EQ(client.receive().status, 201);
}

TEST(Https, ChunkedBodiesAreRead) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send_raw("POST " + kPodsPath +
                  " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" +
                  kPod.substr(0, 5) + "\r\n");
  char size[16];
  std::snprintf(size, sizeof size, "%zx", kPod.size() - 5);
  client.send_raw(std::string(size) + "\r\n" + kPod.substr(5) + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 201);
}

TEST(Https, ABodyAboveTheLimitIs413AndAHeadAboveItIs431) {
  TestServer server;
  const Reply large = server.admin().send("POST", kPodsPath, std::string((3 << 20) + 1, ' '));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.reason(), "RequestEntityTooLarge");
  const Reply head =
      server.admin().send("GET", "/livez", "", {{"X-Long", std::string(200'000, 'x')}});
  EXPECT_EQ(head.status, 431);
}

TEST(Https, TrailersAboveTheLimitAre431) {
  TestServer server;
  const std::string head =
      "POST " + kPodsPath + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  HttpsClient one = server.admin();
  one.send_raw(head + "X-Long: " + std::string(70'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(one.receive().status, 431);
  HttpsClient endless = server.admin();
  endless.send_raw(head);
  for (int i = 0; i < 10; ++i) endless.send_raw("X-More: " + std::string(9'000, 'x') + "\r\n");
  EXPECT_EQ(endless.receive().status, 431);
}

TEST(Https, AStrangersBodyIsNotWaitedFor) {
  TestServer server;
  HttpsClient client = server.anonymous();
  client.send_raw("POST " + kPodsPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n{");
  const Reply refused = client.receive();
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.header("Connection"), "close");
  HttpsClient polite = server.anonymous();
  polite.send_raw("POST " + kPodsPath +
                  " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(polite.receive().status, 403);  // and no 100 before it
}

TEST(Https, ASmallBodyOfARefusedRequestDoesNotEndTheConnection) {
  TestServer server;
  HttpsClient client = server.anonymous();
  EXPECT_EQ(client.send("POST", kPodsPath, kPod).status, 403);
  EXPECT_EQ(client.send("GET", "/livez").status, 200);
}

TEST(Https, TheAuthorityIsForEverybody) {
  TestServer server;
  const Reply ca = server.anonymous().send("GET", "/krater/v1/ca");
  EXPECT_EQ(ca.status, 200);
  EXPECT_EQ(ca.header("Content-Type"), "application/x-pem-file");
  EXPECT_EQ(ca.body, server.authority().certificate_pem());
  EXPECT_EQ(server.anonymous().send("POST", "/krater/v1/ca", "x").status, 403);
}

TEST(Https, RubbishIs400AndASilentClientIsLeft) {
  ServerLimits limits;
  limits.header = std::chrono::seconds(1);
  limits.idle = std::chrono::seconds(1);
  TestServer server(limits);
  HttpsClient client = server.admin();
  client.send_raw("NONSENSE\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  HttpsClient slow = server.admin();
  slow.send_raw("GET /livez HTT");
  EXPECT_ANY_THROW(slow.receive());
  HttpsClient idle = server.admin();
  EXPECT_ANY_THROW(idle.receive());
}

TEST(Https, AnObjectGoesThroughItsLife) {
  TestServer server;
  HttpsClient client = server.admin();
  const Reply created = client.send("POST", kPodsPath, kPod);
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(text_at(created.json(), {"kind"}), "Pod");
  EXPECT_EQ(client.send("POST", kPodsPath, kPod).reason(), "AlreadyExists");
  EXPECT_EQ(client.send("GET", kPodsPath + "/p1").json(), created.json());
  const Reply patched =
      client.send("PATCH", kPodsPath + "/p1", R"({"metadata":{"labels":{"a":"b"}}})", kMerge);
  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(text_at(patched.json(), {"metadata", "labels", "a"}), "b");
  const Reply list = client.send("GET", kPodsPath + "?labelSelector=a%3Db&limit=500");
  ASSERT_NE(array_at(list.json(), {"items"}), nullptr);
  EXPECT_EQ(array_at(list.json(), {"items"})->size(), 1u);
  EXPECT_EQ(
      client.send("DELETE", kPodsPath + "/p1", R"({"propagationPolicy":"Background"})").status,
      200);
  EXPECT_EQ(client.send("GET", kPodsPath + "/p1").reason(), "NotFound");
  EXPECT_EQ(client.send("GET", kPodsPath + "/p1").message(), "pods \"p1\" not found");
}

TEST(Https, YamlBodiesAndTablesAndMetadata) {
  TestServer server;
  HttpsClient client = server.admin();
  const Reply created =
      client.send("POST", kPodsPath,
                  "metadata: {name: p1}\nspec:\n  containers:\n  - {name: c, image: busybox}\n",
                  {{"Content-Type", "application/yaml"}});
  ASSERT_EQ(created.status, 201) << created.body;
  const Reply table = client.send("GET", kPodsPath + "?limit=500", "", kTable);
  EXPECT_EQ(text_at(table.json(), {"kind"}), "Table");
  const Json rows_of = table.json();
  const JsonArray* rows = array_at(rows_of, {"rows"});
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(text_at(rows->at(0), {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(rows->at(0).at("cells").at(0), Json("p1"));
  const Reply partial =
      client.send("GET", kPodsPath, "",
                  {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(text_at(partial.json(), {"kind"}), "PartialObjectMetadataList");
  EXPECT_EQ(client.send("GET", kPodsPath, "", {{"Accept", "text/html"}}).status, 406);
}

TEST(Https, AnswersAreYamlForWhoAsksForIt) {
  TestServer server;
  HttpsClient client = server.admin();
  const Headers yaml{{"Accept", "application/yaml"}};
  const Reply created = client.send("POST", kPodsPath, kPod, yaml);
  ASSERT_EQ(created.status, 201);
  EXPECT_EQ(created.header("Content-Type"), "application/yaml");
  EXPECT_EQ(created.body.rfind("apiVersion: v1\nkind: Pod\n", 0), 0u) << created.body;
  for (const std::string& path : {kPodsPath, kPodsPath + "/p1"}) {
    const Reply reply = client.send("GET", path, "", yaml);
    EXPECT_EQ(reply.header("Content-Type"), "application/yaml");
    EXPECT_EQ(*parse_yaml(reply.body), client.send("GET", path).json());
  }
  EXPECT_EQ(client.send("GET", kPodsPath + "/none", "", yaml).reason(), "NotFound");
  EXPECT_EQ(client.send("GET", kPodsPath + "?watch=true", "", yaml).status, 406);
}

TEST(Https, StrictValidationRefusesAndWarnValidationWarns) {
  TestServer server;
  HttpsClient client = server.admin();
  const std::string body =
      R"({"metadata":{"name":"p1"},"spec":{"foo":1,"containers":[{"name":"c","image":"busybox"}]}})";
  const Reply strict = client.send("POST", kPodsPath + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.status, 400);
  EXPECT_NE(strict.message().find(R"(strict decoding error: unknown field "spec.foo")"),
            std::string::npos)
      << strict.body;
  const Reply warned = client.send("POST", kPodsPath, body);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.all("Warning"),
            std::vector<std::string>{R"(299 - "unknown field \"spec.foo\"")"});
  EXPECT_EQ(client.send("POST", kPodsPath + "?fieldValidation=Maybe", body).status, 422);
  EXPECT_EQ(client.send("POST", kPodsPath + "?dryRun=Some", body).status, 422);
}

TEST(Https, ErrorsAreStatusObjects) {
  TestServer server;
  HttpsClient client = server.admin();
  struct Case {
    const char* method;
    std::string target;
    std::string body;
    Headers headers;
    int status;
    const char* reason;
  };
  const std::vector<Case> cases{
      {"GET", "/apis/nothing/v1/things", "", {}, 404, "NotFound"},
      {"GET", "/api/v1/things", "", {}, 404, "NotFound"},
      {"GET", "/apis/nothing", "", {}, 404, "NotFound"},
      {"GET", "/api/v1/namespaces/default/nodes", "", {}, 404, "NotFound"},
      {"POST", "/api/v1/pods", kPod, {}, 404, "NotFound"},
      {"PUT", kPodsPath, kPod, {}, 405, "MethodNotAllowed"},
      {"POST", kPodsPath + "/p1", kPod, {}, 405, "MethodNotAllowed"},
      {"OPTIONS", kPodsPath, "", {}, 405, "MethodNotAllowed"},
      {"POST", "/version", "", {}, 405, "MethodNotAllowed"},
      {"POST", kPodsPath, kPod, {{"Content-Type", "text/html"}}, 415, "UnsupportedMediaType"},
      {"PATCH",
       kPodsPath + "/p1",
       "{}",
       {{"Content-Type", "application/json"}},
       415,
       "UnsupportedMediaType"},
      {"POST", kPodsPath, "{not json", {}, 400, "BadRequest"},
      {"POST", kPodsPath, "[]", {}, 400, "BadRequest"},
      {"POST", kPodsPath, R"({"kind":"Secret","apiVersion":"v1"})", {}, 400, "BadRequest"},
      {"POST", kPodsPath, std::string(100'000, '['), {}, 400, "BadRequest"},
      {"GET", kPodsPath + "?labelSelector=%21%21", "", {}, 400, "BadRequest"},
      {"GET", kPodsPath + "?limit=many", "", {}, 400, "BadRequest"},
      {"GET", kPodsPath + "?sendInitialEvents=true", "", {}, 422, "Invalid"},
      {"GET", kPodsPath + "/a%2Fb", "", {}, 400, "BadRequest"},
      {"GET", kPodsPath + "?watch=true&resourceVersion=99999999", "", {}, 504, "Timeout"},
  };
  for (const Case& one : cases) {
    const Reply reply = client.send(one.method, one.target, one.body, one.headers);
    EXPECT_EQ(reply.status, one.status) << one.method << " " << one.target << " " << reply.body;
    EXPECT_EQ(reply.reason(), one.reason) << one.method << " " << one.target << " " << reply.body;
    EXPECT_EQ(text_at(reply.json(), {"kind"}), "Status");
  }
}

TEST(Https, WhoIsNobodyMayDoNothingAndWhoLiesIsUnauthorized) {
  TestServer server;
  HttpsClient client = server.anonymous();
  EXPECT_EQ(client.send("GET", "/livez").status, 200);
  EXPECT_EQ(client.send("GET", "/version").status, 200);
  const Reply pods = client.send("GET", kPodsPath);
  EXPECT_EQ(pods.status, 403);
  EXPECT_EQ(pods.message(),
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API "
            "group \"\" in the namespace \"default\"");
  EXPECT_EQ(client.send("GET", "/metrics").message(),
            "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
  EXPECT_EQ(client.send("GET", "/livez", "", {{"Authorization", "Bearer nonsense"}}).status, 401);
  EXPECT_EQ(client.send("GET", "/livez", "", {{"Authorization", "Basic YTpi"}}).status, 401);
}

TEST(Https, AForeignCertificateEndsTheHandshake) {
  TestServer server;
  const auto now = WallTime::from_unix_seconds(std::time(nullptr));
  const auto other = CertificateAuthority::create("other", {now - 1h, now + 1h});
  const auto key =
      other->issue_client({"kubernetes-admin", {"system:masters"}}, {now - 1h, now + 1h});
  EXPECT_ANY_THROW({
    HttpsClient client(server.server().port(), server.authority().certificate_pem(), &*key);
    client.send("GET", "/version");
  });
}

TEST(Https, DiscoveryHasBothForms) {
  TestServer server;
  HttpsClient client = server.admin();
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/"
      "json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  const Reply aggregated = client.send("GET", "/apis", "", {{"Accept", accept}});
  EXPECT_EQ(aggregated.header("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(text_at(aggregated.json(), {"kind"}), "APIGroupDiscoveryList");
  const Reply unchanged = client.send(
      "GET", "/apis", "", {{"Accept", accept}, {"If-None-Match", aggregated.header("Etag")}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.body, "");
  const Reply core = client.send("GET", "/api", "", {{"Accept", accept}});
  const Json groups = core.json();
  const JsonArray* items = array_at(groups, {"items"});
  ASSERT_NE(items, nullptr);
  EXPECT_EQ(items->size(), 1u);
  EXPECT_EQ(text_at(client.send("GET", "/api").json(), {"kind"}), "APIVersions");
  EXPECT_EQ(text_at(client.send("GET", "/apis").json(), {"kind"}), "APIGroupList");
  EXPECT_EQ(text_at(client.send("GET", "/apis/batch").json(), {"preferredVersion", "groupVersion"}),
            "batch/v1");
  const Json list = client.send("GET", "/api/v1").json();
  bool eviction = false;
  for (const Json& resource : *array_at(list, {"resources"})) {
    if (text_at(resource, {"name"}) != "pods/eviction") continue;
    eviction = true;
    EXPECT_EQ(text_at(resource, {"group"}), "policy");
    EXPECT_EQ(text_at(resource, {"kind"}), "Eviction");
    EXPECT_EQ(to_json(*find(resource, {"verbs"})), R"(["create"])");
  }
  EXPECT_TRUE(eviction);
}

TEST(Https, OpenApiIsCachedByHashAndItsProtobufIsEmpty) {
  TestServer server;
  HttpsClient client = server.admin();
  const Reply index = client.send("GET", "/openapi/v3");
  const std::string url = text_at(index.json(), {"paths", "api/v1", "serverRelativeURL"});
  ASSERT_FALSE(url.empty()) << index.body;
  EXPECT_EQ(client.send("GET", "/openapi/v3", "", {{"If-None-Match", index.header("Etag")}}).status,
            304);
  const Reply document = client.send("GET", url);
  EXPECT_EQ(document.status, 200);
  EXPECT_EQ(document.header("Cache-Control"), "public, immutable");
  const Reply stale = client.send("GET", "/openapi/v3/api/v1?hash=OLD");
  EXPECT_EQ(stale.status, 301);
  EXPECT_EQ(stale.header("Location"), url);
  const Reply v2 =
      client.send("GET", "/openapi/v2", "",
                  {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  EXPECT_EQ(v2.status, 200);
  EXPECT_EQ(v2.header("Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(v2.body.substr(0, 5), std::string("\x0a\x03") + "2.0");
}

TEST(Https, ReviewsAnswer201) {
  TestServer server;
  HttpsClient client = server.client_as("jane", {"dev"});
  const Reply self = client.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  EXPECT_EQ(self.status, 201);
  EXPECT_EQ(text_at(self.json(), {"status", "userInfo", "username"}), "jane");
  const std::string question =
      R"({"spec":{"resourceAttributes":{"verb":"list","resource":"pods","namespace":"default"}}})";
  const Reply may =
      client.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", question);
  EXPECT_EQ(may.status, 201);
  EXPECT_EQ(bool_at(may.json(), {"status", "allowed"}), false);
  const Reply admin = server.admin().send(
      "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", question);
  EXPECT_EQ(bool_at(admin.json(), {"status", "allowed"}), true);
  EXPECT_EQ(client.send("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews").status, 403);
  EXPECT_EQ(server.admin().send("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews").status,
            405);
}

TEST(Https, AServiceAccountTokenIsMadeAndHolds) {
  TestServer server;
  HttpsClient admin = server.admin();
  ASSERT_EQ(admin
                .send("POST", "/api/v1/namespaces/default/serviceaccounts",
                      R"({"metadata":{"name":"robot"}})")
                .status,
            201);
  const Reply made = admin.send("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token",
                                R"({"spec":{"expirationSeconds":600}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const Headers bearer{{"Authorization", "Bearer " + text_at(made.json(), {"status", "token"})}};
  HttpsClient client = server.anonymous();
  const Reply who =
      client.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", bearer);
  EXPECT_EQ(text_at(who.json(), {"status", "userInfo", "username"}),
            "system:serviceaccount:default:robot");
  EXPECT_EQ(client.send("GET", kPodsPath, "", bearer).status, 403);
  const Reply review = admin.send(
      "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
      to_json(Json(
          JsonObject{{"spec", JsonObject{{"token", text_at(made.json(), {"status", "token"})}}}})));
  EXPECT_EQ(bool_at(review.json(), {"status", "authenticated"}), true) << review.body;
  admin.send("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot");
  EXPECT_EQ(
      client.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", bearer).status,
      401);
}

TEST(Https, AnAgentJoinsWithATokenAndThenTouchesItsOwnNodeOnly) {
  TestServer server;
  const NewBootstrapToken token = new_bootstrap_token(server.harness().clock().now() + 1h);
  ASSERT_EQ(server.admin()
                .send("POST", "/api/v1/namespaces/kube-system/secrets", to_json(token.secret))
                .status,
            201);
  const auto request = make_certificate_request({"whoever"});
  const std::string body =
      to_json(Json(JsonObject{{"nodeName", "n1"}, {"csr", request->request_pem}}));
  HttpsClient nobody = server.anonymous();
  EXPECT_EQ(nobody.send("GET", "/krater/v1/ca").body, server.authority().certificate_pem());
  EXPECT_EQ(nobody.send("POST", "/krater/v1/join", body).status, 403);
  const Headers bearer{{"Authorization", "Bearer " + token.token}};
  const Reply joined = nobody.send("POST", "/krater/v1/join", body, bearer);
  ASSERT_EQ(joined.status, 201) << joined.body;
  EXPECT_EQ(nobody.send("GET", "/api/v1/nodes", "", bearer).status, 403);

  const CertifiedKey key{text_at(joined.json(), {"certificate"}), request->key_pem};
  HttpsClient node(server.server().port(), server.authority().certificate_pem(), &key);
  EXPECT_EQ(node.send("POST", "/api/v1/nodes", R"({"metadata":{"name":"n2"}})").status, 403);
  EXPECT_EQ(node.send("POST", "/api/v1/nodes", R"({"metadata":{"name":"n1"}})").status, 201);
  EXPECT_EQ(node.send("GET", "/api/v1/nodes/n1").status, 200);
  EXPECT_EQ(node.send("GET", "/api/v1/pods").status, 403);
  EXPECT_EQ(node.send("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1").status, 200);
  EXPECT_EQ(node.send("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2").status, 403);
  EXPECT_EQ(node.send("GET", "/api/v1/secrets").status, 403);
}

TEST(Https, ANodeReadsTheSecretsOfItsPods) {
  TestServer server;
  HttpsClient admin = server.admin();
  for (const char* name : {"s1", "s2"}) {
    ASSERT_EQ(admin
                  .send("POST", "/api/v1/namespaces/default/secrets",
                        std::string(R"({"metadata":{"name":")") + name + R"("}})")
                  .status,
              201);
  }
  const std::string pod =
      R"({"metadata":{"name":"p1"},"spec":{"nodeName":"n1","volumes":[{"name":"v","secret":{"secretName":"s1"}}],"containers":[{"name":"c","image":"busybox"}]}})";
  ASSERT_EQ(admin.send("POST", kPodsPath, pod).status, 201);
  HttpsClient node = server.node("n1");
  EXPECT_EQ(node.send("GET", "/api/v1/namespaces/default/secrets/s1").status, 200);
  EXPECT_EQ(node.send("GET", "/api/v1/namespaces/default/secrets/s2").status, 403);
  EXPECT_EQ(server.node("n2").send("GET", "/api/v1/namespaces/default/secrets/s1").status, 403);
  admin.send("DELETE", kPodsPath + "/p1", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(node.send("GET", "/api/v1/namespaces/default/secrets/s1").status, 403);
}

TEST(Https, BindingBindsOnce) {
  TestServer server;
  HttpsClient client = server.admin();
  ASSERT_EQ(client.send("POST", kPodsPath, kPod).status, 201);
  const std::string body = R"({"metadata":{"name":"p1"},"target":{"kind":"Node","name":"n1"}})";
  const Reply bound = client.send("POST", kPodsPath + "/p1/binding", body);
  EXPECT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(text_at(bound.json(), {"status"}), "Success");
  EXPECT_EQ(client.send("POST", "/api/v1/namespaces/default/bindings", body).status, 409);
  EXPECT_EQ(text_at(client.send("GET", kPodsPath + "/p1").json(), {"spec", "nodeName"}), "n1");
  EXPECT_EQ(client.send("POST", kPodsPath + "/p1/binding", R"({"target":{}})").status, 422);
}

TEST(Https, MetricsCountWhatWasAsked) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("GET", kPodsPath);
  const Reply metrics = client.send("GET", "/metrics");
  EXPECT_NE(
      metrics.body.find(
          R"(apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)"),
      std::string::npos)
      << metrics.body;
  EXPECT_NE(metrics.body.find("process_resident_memory_bytes"), std::string::npos);
  EXPECT_NE(metrics.body.find("\nkrater_store_revision " +
                              server.harness().store().revision().text() + "\n"),
            std::string::npos)
      << metrics.body;
}

}  // namespace
}  // namespace krater::api
