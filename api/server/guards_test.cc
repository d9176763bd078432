// What stands between clients and the server: how watches may begin, how much at once, and what is
// written about it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/server/testing/test_server.h"
#include "testing/manual_loop.h"

namespace krater::api {
namespace {

using testing::Headers;
using testing::HttpsClient;
using testing::Reply;
using testing::TestServer;

const std::string kSecrets = "/api/v1/namespaces/default/secrets";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kWatchList =
    "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

std::string named(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"("}})";
}

// WatchList

TEST(WatchList, ChecksItsOptions) {
  TestServer server;
  HttpsClient client = server.admin();
  const std::string head = "ListOptions.meta.k8s.io \"\" is invalid: ";
  struct Case {
    std::string query, message;
  };
  const Case cases[] = {
      {"?watch=true&sendInitialEvents=true",
       head + "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
              "resourceVersionMatch to NotOlderThan"},
      {"?watch=true&sendInitialEvents=false&resourceVersionMatch=Exact",
       head + "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
              "resourceVersionMatch to NotOlderThan"},
      {"?watch=true&resourceVersionMatch=NotOlderThan",
       head + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
              "sendInitialEvents is provided"},
      {"?sendInitialEvents=true",
       head + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
  };
  for (const Case& c : cases) {
    const Reply reply = client.send("GET", kConfigMaps + c.query);
    EXPECT_EQ(reply.status, 422) << c.query;
    EXPECT_EQ(reply.message(), c.message) << c.query;
  }
}

TEST(WatchList, BeginsWithAStateNotOlderThanAsked) {
  TestServer server;
  HttpsClient client = server.admin();
  const Json made = client.send("POST", kConfigMaps, named("a")).json();
  const std::string revision = text_at(made, {"metadata", "resourceVersion"});
  for (const std::string& from : {std::string(), std::string("0"), revision}) {
    HttpsClient watcher = server.admin();
    watcher.open_stream(kConfigMaps + kWatchList + "&resourceVersion=" + from);
    const Json added = *parse_json(watcher.next_line());
    EXPECT_EQ(text_at(added, {"type"}), "ADDED");
    EXPECT_EQ(text_at(added, {"object", "metadata", "name"}), "a");
    const Json end = *parse_json(watcher.next_line());
    EXPECT_EQ(text_at(end, {"type"}), "BOOKMARK");
    EXPECT_EQ(text_at(end, {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
              "true");
    EXPECT_EQ(text_at(end, {"object", "metadata", "resourceVersion"}), revision);
  }
  EXPECT_EQ(client.send("GET", kConfigMaps + kWatchList + "&resourceVersion=999999").status, 504);
}

TEST(WatchList, OfNothingIsItsBookmarkAlone) {
  TestServer server;
  HttpsClient watcher = server.admin();
  watcher.open_stream(kConfigMaps + kWatchList + "&labelSelector=no%3Dbody");
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"type"}), "BOOKMARK");
  server.admin().send("POST", kConfigMaps, R"({"metadata":{"name":"b","labels":{"no":"body"}}})");
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"type"}), "ADDED");
}

TEST(WatchList, WithoutBookmarksHasNoMark) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kConfigMaps, named("a"));
  HttpsClient watcher = server.admin();
  watcher.open_stream(kConfigMaps +
                      "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"type"}), "ADDED");
  client.send("POST", kConfigMaps, named("b"));
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"type"}), "ADDED");
}

TEST(WatchList, WithoutInitialEventsBeginsNowWithABookmark) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kConfigMaps, named("a"));
  HttpsClient watcher = server.admin();
  watcher.open_stream(kConfigMaps +
                      "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&"
                      "allowWatchBookmarks=true");
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"type"}), "BOOKMARK");
  client.send("POST", kConfigMaps, named("b"));
  EXPECT_EQ(text_at(*parse_json(watcher.next_line()), {"object", "metadata", "name"}), "b");
}

TEST(WatchList, HasNoTables) {
  TestServer server;
  const Headers table{{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  EXPECT_EQ(server.admin().send("GET", kConfigMaps + kWatchList, "", table).status, 406);
}

// How much at once

ServerLimits narrow() {
  ServerLimits limits;
  limits.flow = {4, 2};
  return limits;
}

std::string in_flight(TestServer& server, const std::string& kind) {
  const std::string text = server.server().metrics().text();
  const std::string name = "\napiserver_current_inflight_requests{request_kind=\"" + kind + "\"} ";
  const std::size_t at = text.find(name) + name.size();
  return text.substr(at, text.find('\n', at) - at);
}

TEST(Flow, RequestsBeyondAShareAre429WithRetryAfter) {
  TestServer server(narrow());
  HttpsClient admin = server.admin();
  admin.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
             R"({"metadata":{"name":"lab"},"rules":[{"apiGroups":[""],"resources":["configmaps"],)"
             R"("verbs":["*"]}]})");
  admin.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
             R"({"metadata":{"name":"lab"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
             R"("kind":"ClusterRole","name":"lab"},"subjects":[{"kind":"Group","name":"lab",)"
             R"("apiGroup":"rbac.authorization.k8s.io"}]})");
  const std::string half =
      "POST " + kConfigMaps + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
  HttpsClient first = server.client_as("ann", {"lab"});
  HttpsClient second = server.client_as("ann", {"lab"});
  first.send_raw(half);
  second.send_raw(half);
  for (int i = 0; i < 1000 && in_flight(server, "mutating") != "2"; ++i)
    admin.send("GET", "/livez");
  ASSERT_EQ(in_flight(server, "mutating"), "2");

  HttpsClient third = server.client_as("ann", {"lab"});
  const Reply refused = third.send("POST", kConfigMaps, named("a"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(refused.reason(), "TooManyRequests");
  EXPECT_EQ(refused.message(), "Too many requests, please try again later.");
  // Reads are another matter, others have their share, and what keeps things alive always goes.
  EXPECT_EQ(third.send("GET", kConfigMaps).status, 200);
  EXPECT_EQ(third.send("GET", "/livez").status, 200);
  EXPECT_EQ(third.open_stream(kConfigMaps + "?watch=true").status, 200);
  EXPECT_EQ(server.client_as("bob", {"lab"}).send("POST", kConfigMaps, named("b")).status, 201);
  EXPECT_EQ(admin.send("POST", kConfigMaps, named("c")).status, 201);
  EXPECT_NE(
      server.server().metrics().text().find("apiserver_request_terminations_total{code=\"429\""),
      std::string::npos);

  first.send_raw(std::string(99, ' '));
  EXPECT_EQ(first.receive().status, 400);  // it was no object after all
  for (int i = 0; i < 1000 && in_flight(server, "mutating") != "1"; ++i)
    admin.send("GET", "/livez");
  EXPECT_EQ(server.client_as("ann", {"lab"}).send("POST", kConfigMaps, named("a")).status, 201);
}

TEST(Flow, ASlowBodyIsCutOffAndFreesItsPlace) {
  ServerLimits limits = narrow();
  limits.body = std::chrono::seconds(1);
  TestServer server(limits);
  HttpsClient slow = server.admin();
  slow.send_raw("POST " + kConfigMaps + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_ANY_THROW(slow.receive());
  HttpsClient admin = server.admin();
  for (int i = 0; i < 1000 && in_flight(server, "mutating") != "0"; ++i)
    admin.send("GET", "/livez");
  EXPECT_EQ(in_flight(server, "mutating"), "0");
}

TEST(Flow, NoMoreConnectionsThanAllowed) {
  ServerLimits limits;
  limits.connections = 2;
  TestServer server(limits);
  HttpsClient a = server.admin();
  HttpsClient b = server.admin();
  EXPECT_EQ(a.send("GET", "/livez").status, 200);
  EXPECT_ANY_THROW(server.admin());
  EXPECT_EQ(b.send("GET", "/livez").status, 200);
}

// What is written about it

class Audited : public ::testing::Test {
 protected:
  Audited() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "krater-audited-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    audit::LogSettings settings;
    settings.path = (folder_ / "audit.log").string();
    auditing_.log = *audit::AuditLog::open(settings, loop_, loop_.wall());
    auditing_.policy = *audit::parse_policy(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/livez*"]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse, omitManagedFields: true, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
)");
  }
  ~Audited() override { std::filesystem::remove_all(folder_); }

  // Of everything answered so far.
  std::vector<Json> events() {
    auditing_.log->flush();
    std::vector<Json> out;
    std::ifstream in(folder_ / "audit.log");
    for (std::string line; std::getline(in, line);) out.push_back(*parse_json(line));
    return out;
  }

  std::filesystem::path folder_;
  // Its tasks are never run: the test flushes by itself.
  struct NoLoop final : Loop {
    void post(Task) override {}
    TimerId after(Duration, Task) override { return 0; }
    void cancel(TimerId) override {}
    SteadyTime now() const override { return {}; }
    bool on_loop_thread() const override { return true; }
    WallClock& wall() { return clock; }
    krater::testing::ManualLoop time;
    WallClock& clock = time.wall();
  };
  NoLoop loop_;
  Auditing auditing_;
};

TEST_F(Audited, ARequestIsToldWithWhoWhatAndHowItEnded) {
  TestServer server({}, &auditing_);
  HttpsClient client = server.admin();
  const Reply made = client.send("POST", kConfigMaps + "?fieldManager=t",
                                 R"({"metadata":{"name":"a"},"data":{"k":"v"}})",
                                 {{"User-Agent", "test/1"}, {"Audit-ID", "my-id"}});
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(made.header("Audit-Id"), "my-id");
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 1u);
  const Json& event = all[0];
  EXPECT_EQ(text_at(event, {"auditID"}), "my-id");
  EXPECT_EQ(text_at(event, {"stage"}), "ResponseComplete");
  EXPECT_EQ(text_at(event, {"requestURI"}), kConfigMaps + "?fieldManager=t");
  EXPECT_EQ(text_at(event, {"verb"}), "create");
  EXPECT_EQ(text_at(event, {"user", "username"}), "kubernetes-admin");
  EXPECT_EQ(to_json(*find(event, {"sourceIPs"})), R"(["127.0.0.1"])");
  EXPECT_EQ(text_at(event, {"userAgent"}), "test/1");
  EXPECT_EQ(to_json(*find(event, {"objectRef"})),
            R"({"resource":"configmaps","namespace":"default","name":"a","apiVersion":"v1"})");
  EXPECT_EQ(int_at(event, {"responseStatus", "code"}), 201);
  EXPECT_EQ(text_at(event, {"requestObject", "data", "k"}), "v");
  EXPECT_EQ(text_at(event, {"responseObject", "data", "k"}), "v");
  EXPECT_FALSE(text_at(event, {"responseObject", "metadata", "uid"}).empty());
  EXPECT_EQ(find(event, {"responseObject", "metadata", "managedFields"}), nullptr);
  EXPECT_EQ(text_at(event, {"annotations", "authorization.k8s.io/decision"}), "allow");
  EXPECT_NE(find(event, {"annotations", "authorization.k8s.io/reason"}), nullptr);
}

TEST_F(Audited, SecretsStayOutWhereThePolicySaysMetadata) {
  TestServer server({}, &auditing_);
  HttpsClient client = server.admin();
  client.send("POST", kSecrets, R"({"metadata":{"name":"s"},"stringData":{"k":"hidden-word"}})");
  client.send("GET", kSecrets);
  client.send("GET", "/livez");
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(text_at(all[0], {"objectRef", "name"}), "s");
  for (const Json& event : all) {
    EXPECT_EQ(text_at(event, {"level"}), "Metadata");
    EXPECT_EQ(to_json(event).find("hidden-word"), std::string::npos);
    EXPECT_EQ(find(event, {"responseObject"}), nullptr);
  }
}

TEST_F(Audited, RefusalsSayWhy) {
  TestServer server({}, &auditing_);
  server.client_as("ann", {}).send("GET", kSecrets + "/s");
  server.anonymous().send("GET", kSecrets, "", {{"Authorization", "Bearer nonsense"}});
  server.admin().send("GET", kSecrets + "/none", "",
                      {{"Impersonate-User", "bob"}, {"Impersonate-Group", "system:masters"}});
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(text_at(all[0], {"annotations", "authorization.k8s.io/decision"}), "forbid");
  EXPECT_EQ(int_at(all[0], {"responseStatus", "code"}), 403);
  EXPECT_EQ(text_at(all[0], {"responseStatus", "reason"}), "Forbidden");
  EXPECT_EQ(text_at(all[1], {"stage"}), "ResponseStarted");
  EXPECT_EQ(int_at(all[1], {"responseStatus", "code"}), 401);
  EXPECT_EQ(text_at(all[1], {"responseStatus", "message"}),
            "Authentication failed, attempted: bearer");
  EXPECT_EQ(text_at(all[2], {"user", "username"}), "kubernetes-admin");
  EXPECT_EQ(text_at(all[2], {"impersonatedUser", "username"}), "bob");
  EXPECT_EQ(int_at(all[2], {"responseStatus", "code"}), 404);
}

TEST_F(Audited, AWatchHasABeginningAndAnEnd) {
  TestServer server({}, &auditing_);
  HttpsClient watcher = server.admin();
  watcher.open_stream(kSecrets + "?watch=true&timeoutSeconds=1");
  EXPECT_EQ(events().size(), 1u);
  EXPECT_EQ(text_at(events()[0], {"stage"}), "ResponseStarted");
  EXPECT_EQ(watcher.next_line(), "");
  server.stop();
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(text_at(all[1], {"stage"}), "ResponseComplete");
  EXPECT_EQ(text_at(all[1], {"auditID"}), text_at(all[0], {"auditID"}));
}

TEST_F(Audited, ForwardedAddressesComeBeforeTheLast) {
  TestServer server({}, &auditing_);
  server.admin().send("GET", kSecrets, "",
                      {{"X-Forwarded-For", "10.1.2.3, nonsense, 2001:db8::1"}});
  EXPECT_EQ(to_json(*find(events().at(0), {"sourceIPs"})),
            R"(["10.1.2.3","2001:db8::1","127.0.0.1"])");
}

TEST_F(Audited, MetricsCountTheEvents) {
  TestServer server({}, &auditing_);
  server.admin().send("GET", kSecrets);
  const std::string text = server.server().metrics().text();
  EXPECT_NE(text.find("\napiserver_audit_event_total 1\n"), std::string::npos);
  EXPECT_NE(text.find("\napiserver_audit_level_total{level=\"Metadata\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace krater::api
