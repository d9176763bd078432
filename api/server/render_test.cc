#include "api/server/render.h"

#include <gtest/gtest.h>

#include "api/server/health.h"
#include "api/server/metrics.h"

namespace krater::api {
namespace {

std::vector<std::string> warnings_of(const std::vector<std::string>& texts) {
  Response response;
  add_warnings(response, texts);
  std::vector<std::string> out;
  for (const auto& [name, value] : response.headers) out.push_back(name + ": " + value);
  return out;
}

TEST(Warnings, AreQuotedOncePerTextAndCannotForgeHeaders) {
  EXPECT_EQ(warnings_of({R"(unknown field "spec.foo")", R"(unknown field "spec.foo")",
                         "a\r\nSet-Cookie: x"}),
            (std::vector<std::string>{R"(Warning: 299 - "unknown field \"spec.foo\"")",
                                      R"(Warning: 299 - "aSet-Cookie: x")"}));
}

TEST(Warnings, AreClippedWhenTheyAreTooMuch) {
  std::vector<std::string> many;
  for (char c = 'a'; c <= 'z'; ++c) many.push_back(std::string(1000, c));
  const std::vector<std::string> sent = warnings_of(many);
  EXPECT_EQ(sent.size(), 16u);  // 16 * 256 = 4096
  EXPECT_EQ(sent[0].size(), std::string_view("Warning: 299 - \"\"").size() + 256);
}

std::string body(const Response& response) {
  return std::to_string(response.status) + " " + response.body.text();
}

TEST(Health, NamesItsChecks) {
  const std::vector<HealthCheck> checks{
      {"store", [] { return std::optional<std::string>("disk full"); }},
      {"loop", [] { return std::nullopt; }}};
  const Query none;
  EXPECT_EQ(body(health("readyz", "", none, checks)),
            "500 [+]ping ok\n[-]store failed: disk full\n[+]loop ok\nreadyz check failed\n");
  EXPECT_EQ(body(health("readyz", "ping", none, checks)), "200 ok");
  EXPECT_EQ(body(health("readyz", "loop", *Query::parse("verbose"), checks)),
            "200 [+]loop ok\nreadyz check passed\n");
  EXPECT_EQ(body(health("readyz", "", *Query::parse("exclude=store"), checks)), "200 ok");
  EXPECT_EQ(health("readyz", "nothing", none, checks).status, 404);
}

TEST(Metrics, CountRequestsByLabelsAndTime) {
  Metrics metrics;
  const Metrics::Labels pods{"LIST", "", "", "v1", "pods", "", "namespace"};
  metrics.count_request(pods, 200, std::chrono::milliseconds(3), 2000);
  metrics.count_request(pods, 200, std::chrono::seconds(70));
  metrics.count_request({"POST", "All", "", "v1", "pods", "", "resource"}, 201,
                        std::chrono::seconds(1), 2000);
  metrics.count_termination(pods, 429);
  metrics.count_authentication("success", "other", std::chrono::milliseconds(1));
  metrics.count_authorization("denied", std::chrono::milliseconds(3));
  *metrics.watch_events("", "v1", "Pod") += 3;
  const Metrics::LongRunning watch(metrics, {"WATCH", "", "", "v1", "pods", "", "cluster"});
  { const Metrics::LongRunning over(metrics, {"WATCH", "", "", "v1", "pods", "", "cluster"}); }
  metrics.add_family("krater_shares", "Shares.", "gauge", [] {
    return std::vector<Metrics::Sample>{{R"(queue="a")", 1}, {R"(queue="b")", 2.5}};
  });
  metrics.add_gauge("krater_store_revision", "Revision.", [] { return 7.0; });
  metrics.add_gauge("krater_binds_total", "Binds.", [] { return 3.0; });
  const std::string text = metrics.text();
  // Names, labels and their order are what dashboards for kube-apiserver are written for.
  for (
      const std::string line : {
          R"(apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 2)",
          R"(apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 1)",
          R"(apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)",
          R"(apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",le="0.005",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)",
          R"(apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",le="60",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)",
          R"(apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",le="+Inf",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 2)",
          R"(apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 2)",
          R"(apiserver_response_sizes_bucket{component="apiserver",group="",le="10000",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)",
          R"(apiserver_response_sizes_count{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1)",
          R"(apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 1)",
          R"(apiserver_watch_events_total{group="",kind="Pod",version="v1"} 3)",
          R"(authentication_attempts{result="success"} 1)",
          R"(authenticated_user_requests{username="other"} 1)",
          R"(authentication_duration_seconds_bucket{le="0.001",result="success"} 1)",
          R"(authorization_attempts_total{result="denied"} 1)",
          R"(authorization_duration_seconds_bucket{le="0.004",result="denied"} 1)",
          R"(krater_shares{queue="b"} 2.5)",
          R"(# TYPE krater_store_revision gauge)",
          R"(krater_store_revision 7)",
          R"(# TYPE krater_binds_total counter)",
          R"(krater_binds_total 3)",
      }) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace krater::api
