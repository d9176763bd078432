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
  metrics.count_request({"list", "", "v1", "pods", ""}, 200, std::chrono::milliseconds(3));
  metrics.count_request({"list", "", "v1", "pods", ""}, 200, std::chrono::seconds(20));
  metrics.add_gauge("krater_store_revision", "Revision.", [] { return 7.0; });
  metrics.add_gauge("krater_binds_total", "Binds.", [] { return 3.0; });
  const std::string text = metrics.text();
  EXPECT_NE(
      text.find(
          R"(apiserver_request_total{verb="list",group="",version="v1",resource="pods",subresource="",code="200"} 2)"),
      std::string::npos);
  EXPECT_NE(text.find(R"(subresource="",le="0.0025"} 0)"), std::string::npos);
  EXPECT_NE(text.find(R"(subresource="",le="0.005"} 1)"), std::string::npos);
  EXPECT_NE(text.find(R"(subresource="",le="+Inf"} 2)"), std::string::npos);
  EXPECT_NE(text.find(" gauge\nkrater_store_revision 7\n"), std::string::npos);
  EXPECT_NE(text.find(" counter\nkrater_binds_total 3\n"), std::string::npos);
}

}  // namespace
}  // namespace krater::api
