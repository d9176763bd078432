#include "client/http_object_client.h"

#include <gtest/gtest.h>

#include <deque>

#include "testing/manual_loop.h"

namespace krater::client {
namespace {

// An HttpClient whose replies the test gives, with a memory of what was asked.
class ScriptedHttp final : public HttpClient {
 public:
  struct Handle final : HttpExchange {
    ~Handle() override { *dropped = true; }
    std::shared_ptr<bool> dropped = std::make_shared<bool>(false);
  };
  explicit ScriptedHttp(Loop& loop) : loop_(loop) {}
  std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) override {
    asked.push_back(request);
    auto handle = std::make_unique<Handle>();
    loop_.post([this, done = std::move(done), dropped = handle->dropped] {
      if (*dropped) return;
      ASSERT_FALSE(replies.empty());
      HttpResponse reply = replies.front();
      replies.pop_front();
      done(reply);
    });
    return handle;
  }
  std::unique_ptr<HttpExchange> stream(HttpRequest request, HttpStreamHandlers given) override {
    asked.push_back(request);
    handlers = std::move(given);
    return std::make_unique<Handle>();
  }
  Loop& loop_;
  std::vector<HttpRequest> asked;
  std::deque<HttpResponse> replies;
  HttpStreamHandlers handlers;
};

struct HttpObjectClientTest : ::testing::Test {
  testing::ManualLoop loop;
  ScriptedHttp http{loop};
  SeededRng rng{1};
  std::unique_ptr<ObjectClient> client = make_http_object_client(http, loop, rng, {"https://s:1"});
  std::vector<std::string> seen;

  // The client may open the next stream inside the handler.
  void end_stream() {
    const auto on_end = http.handlers.on_end;
    on_end({});
  }

  WatchHandlers recording() {
    WatchHandlers handlers;
    handlers.on_replace = [this](std::vector<ObjectPtr> all, Revision at) {
      std::string text = "replace@" + at.text();
      for (const ObjectPtr& object : all) text += " " + object->name() + ":" + object->kind();
      seen.push_back(text);
    };
    handlers.on_upsert = [this](ObjectPtr object) { seen.push_back("upsert " + object->name()); };
    handlers.on_remove = [this](ObjectPtr object) { seen.push_back("remove " + object->name()); };
    return handlers;
  }
};

constexpr const char* kList =
    R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","namespace":"d","resourceVersion":"3"}}]})";

TEST_F(HttpObjectClientTest, ListsThenWatchesAndResumesFromTheLastRevision) {
  http.replies.push_back({200, {}, kList});
  const auto subscription = client->watch({kinds::kPod, "", "", "spec.nodeName=n"}, recording());
  loop.run_ready();
  ASSERT_EQ(http.asked.size(), 2U);
  EXPECT_EQ(http.asked[0].url, "https://s:1/api/v1/pods?fieldSelector=spec.nodeName%3Dn");
  EXPECT_NE(http.asked[1].url.find("resourceVersion=5"), std::string::npos);
  // An event split over two reads.
  http.handlers.on_data(
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"b","namespace":"d","resourceVer)");
  http.handlers.on_data(
      "sion\":\"7\"}}}\n{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\","
      "\"namespace\":\"d\",\"resourceVersion\":\"8\"}}}\n");
  end_stream();
  EXPECT_EQ(seen, (std::vector<std::string>{"replace@5 a:Pod", "upsert b", "remove a"}));
  ASSERT_EQ(http.asked.size(), 3U);
  EXPECT_NE(http.asked[2].url.find("resourceVersion=8"), std::string::npos);
}

TEST_F(HttpObjectClientTest, ListsAgainAfterExpired) {
  http.replies.push_back({200, {}, kList});
  const auto subscription = client->watch({kinds::kPod}, recording());
  loop.run_ready();
  http.handlers.on_data(
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}"
      "\n");
  http.replies.push_back({200, {}, kList});
  end_stream();
  loop.advance(1s);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(http.asked.back().method, "GET");
}

TEST_F(HttpObjectClientTest, WhatIsTooMuchAtOnceWaitsForItsTurn) {
  std::vector<std::string> answered;
  for (int i = 0; i < 100; ++i) {
    http.replies.push_back({200, {}, R"({"kind":"Pod","metadata":{"name":"p"}})"});
    client->get(kinds::kPod, "d", "p" + std::to_string(i),
                [&answered, this](const Result<ObjectPtr>& done) {
                  ASSERT_TRUE(done);
                  answered.push_back(std::to_string(http.asked.size()));
                });
  }
  EXPECT_EQ(http.asked.size(), 32U);
  loop.run_ready();
  ASSERT_EQ(answered.size(), 100U);
  EXPECT_EQ(answered[0], "32") << "the next one goes out when this one is through";
  EXPECT_EQ(answered[1], "33");
  EXPECT_EQ(http.asked.back().url, "https://s:1/api/v1/namespaces/d/pods/p99");
}

TEST_F(HttpObjectClientTest, AClientMayBeDroppedWhileRequestsWait) {
  int answers = 0;
  for (int i = 0; i < 40; ++i) {
    http.replies.push_back({200, {}, R"({"kind":"Pod","metadata":{"name":"p"}})"});
    client->get(kinds::kPod, "d", "p", [&](const Result<ObjectPtr>&) {
      ++answers;
      client.reset();
    });
  }
  loop.run_ready();
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(http.asked.size(), 32U);
}

TEST_F(HttpObjectClientTest, StatusBecomesAnError) {
  http.replies.push_back(
      {409,
       {},
       R"({"kind":"Status","reason":"AlreadyExists","message":"pods \"a\" already exists","code":409})"});
  std::optional<Error> error;
  client->write(CreateWrite{kinds::kPod, "d", new_object(kinds::kPod, "d", "a")},
                [&](Result<ObjectPtr> done) { error = done.error(); });
  loop.run_ready();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::AlreadyExists);
  EXPECT_EQ(error->message, "pods \"a\" already exists");
  EXPECT_EQ(http.asked[0].url, "https://s:1/api/v1/namespaces/d/pods");
}

}  // namespace
}  // namespace krater::client
