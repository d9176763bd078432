#include <gtest/gtest.h>

#include "api/registry/registry.h"
#include "api/registry/testing/harness.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::text_of;
using Type = WatchEvent::Type;

class ListWatchTest : public ::testing::Test {
 protected:
  void make(const std::string& name, const std::string& color) {
    const Result<Answer> made =
        h.create(kinds::kConfigMap, R"({"metadata":{"name":")" + name + R"(","labels":{"color":")" +
                                        color + R"("}}})");
    ASSERT_TRUE(made.has_value()) << text_of(made);
  }
  void paint(const std::string& name, const std::string& color) {
    const Result<Answer> done =
        h.merge(kinds::kConfigMap, name, R"({"metadata":{"labels":{"color":")" + color + R"("}}})");
    ASSERT_TRUE(done.has_value()) << text_of(done);
  }
  Result<ListResult> list(ListQuery query) {
    query.name_space = "default";
    return h.registry().list(kinds::kConfigMap, query);
  }
  std::unique_ptr<Watch> watch(WatchQuery query) {
    query.name_space = "default";
    Result<std::unique_ptr<Watch>> out = h.registry().watch(kinds::kConfigMap, query, [] {});
    EXPECT_TRUE(out.has_value()) << (out ? "" : out.error().message);
    return out ? *std::move(out) : nullptr;
  }
  std::string told(Watch& watch) {
    std::string out;
    for (;;) {
      const Result<std::vector<WatchEvent>> events = watch.next(100);
      if (!events) return out + "!" + events.error().message;
      if (events->empty()) return out;
      for (const WatchEvent& event : *events) {
        out += out.empty() ? "" : " ";
        switch (event.type) {
          case Type::Added:
            out += "+";
            break;
          case Type::Modified:
            out += "~";
            break;
          case Type::Deleted:
            out += "-";
            break;
          case Type::Bookmark:
            out += "B";
            break;
          case Type::Error:
            out += "E";
            break;
        }
        if (event.object) out += event.object->name();
      }
    }
  }
  Harness h;
};

ListQuery page(std::int64_t limit, std::string token = {}) {
  ListQuery out;
  out.limit = limit;
  out.continue_token = std::move(token);
  return out;
}

std::string names(const ListResult& list) {
  std::string out;
  for (const ObjectPtr& object : list.items) out += (out.empty() ? "" : " ") + object->name();
  return out;
}

TEST_F(ListWatchTest, PagesStayOnTheSnapshotTheyBeganWith) {
  for (const char* name : {"a", "b", "c", "d", "e"}) make(name, "red");
  const Result<ListResult> first = list(page(2));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(names(*first), "a b");
  EXPECT_EQ(first->remaining, 3);
  make("aa", "red");
  ASSERT_TRUE(h.remove(kinds::kConfigMap, "d").has_value());
  const Result<ListResult> second = list(page(2, first->continue_token));
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(names(*second), "c d");
  EXPECT_EQ(second->revision, first->revision);
  const Result<ListResult> third = list(page(2, second->continue_token));
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(names(*third), "e");
  EXPECT_TRUE(third->continue_token.empty());
  EXPECT_FALSE(third->remaining.has_value());
  const std::string body = third->head + *third->items[0]->bytes() + std::string(kListTail);
  const Json whole = Harness::parsed(body);
  EXPECT_EQ(text_at(whole, {"kind"}), "ConfigMapList");
  EXPECT_EQ(text_at(whole, {"metadata", "resourceVersion"}), first->revision.text());
}

TEST_F(ListWatchTest, AnExpiredPageCanBeContinuedInconsistently) {
  for (const char* name : {"a", "b", "c"}) make(name, "red");
  const Result<ListResult> first = list(page(1));
  ASSERT_TRUE(first.has_value());
  paint("b", "blue");
  ASSERT_TRUE(h.store().compact(h.store().revision()).has_value());
  const Result<ListResult> late = list(page(1, first->continue_token));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::Expired);
  ASSERT_FALSE(late.error().continue_token.empty());
  const Result<ListResult> rest = list(page(0, late.error().continue_token));
  ASSERT_TRUE(rest.has_value()) << rest.error().message;
  EXPECT_EQ(names(*rest), "b c");
}

TEST_F(ListWatchTest, SelectorsFillThePage) {
  for (const char* name : {"a", "b", "c", "d"})
    make(name, std::string_view("ac").find(name) != std::string_view::npos ? "red" : "blue");
  ListQuery query = page(1);
  query.label_selector = "color=blue";
  const Result<ListResult> first = list(query);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(names(*first), "b");
  EXPECT_FALSE(first->remaining.has_value());
  query.continue_token = first->continue_token;
  const Result<ListResult> second = list(query);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(names(*second), "d");
  EXPECT_TRUE(second->continue_token.empty());
  ListQuery by_name;
  by_name.field_selector = "metadata.name!=a,metadata.name!=b";
  const Result<ListResult> third = list(by_name);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(names(*third), "c d");
  by_name.field_selector = "spec.x=1";
  EXPECT_EQ(list(by_name).error().message, "field label not supported: spec.x");
}

TEST_F(ListWatchTest, RevisionRulesOfLists) {
  make("a", "red");
  const std::string before = h.store().revision().text();
  make("b", "red");
  ListQuery query;
  query.resource_version = before;
  query.resource_version_match = "Exact";
  const Result<ListResult> exact = list(query);
  ASSERT_TRUE(exact.has_value()) << exact.error().message;
  EXPECT_EQ(names(*exact), "a");
  query.resource_version_match = "NotOlderThan";
  EXPECT_EQ(names(*list(query)), "a b");
  query.resource_version = "999999";
  EXPECT_EQ(list(query).error().code, Code::Timeout);
  query.resource_version.clear();
  EXPECT_EQ(list(query).error().message,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch is forbidden unless "
            "resourceVersion is provided");
  query.resource_version = "0";
  query.resource_version_match = "Exact";
  EXPECT_EQ(list(query).error().code, Code::Invalid);
  query = {};
  query.resource_version = "x";
  EXPECT_EQ(list(query).error().code, Code::BadRequest);
  query.resource_version = "5";
  query.continue_token = "abc";
  EXPECT_EQ(list(query).error().message,
            "specifying resource version is not allowed when using continue");
}

TEST_F(ListWatchTest, AWatchWithoutRevisionBeginsWithTheState) {
  make("a", "red");
  make("b", "blue");
  const auto watching = watch({.label_selector = "color=red"});
  EXPECT_EQ(told(*watching), "+a");
  make("c", "red");
  make("d", "blue");
  EXPECT_EQ(told(*watching), "+c");
}

TEST_F(ListWatchTest, ObjectsEnterAndLeaveASelection) {
  make("a", "red");
  const auto watching =
      watch({.label_selector = "color=blue", .resource_version = h.store().revision().text()});
  paint("a", "blue");
  ASSERT_TRUE(h.merge(kinds::kConfigMap, "a", R"({"data":{"x":"1"}})").has_value());
  EXPECT_EQ(told(*watching), "+a ~a");
  paint("a", "red");
  const Result<std::vector<WatchEvent>> left = watching->next(10);
  ASSERT_TRUE(left.has_value());
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().type, Type::Deleted);
  // The state before the change, at the revision of the change.
  EXPECT_EQ(left->front().object->label("color"), "blue");
  EXPECT_EQ(left->front().revision, h.store().revision());
  EXPECT_EQ(text_at(*left->front().object->document(), {"metadata", "resourceVersion"}),
            h.store().revision().text());
  ASSERT_TRUE(h.remove(kinds::kConfigMap, "a").has_value());
  EXPECT_EQ(told(*watching), "");
}

TEST_F(ListWatchTest, WatchListEndsItsStateWithABookmark) {
  make("a", "red");
  const auto watching = watch(
      {.resource_version_match = "NotOlderThan", .send_initial_events = true, .bookmarks = true});
  EXPECT_FALSE(watching->bookmark().has_value());
  const Result<std::vector<WatchEvent>> events = watching->next(10);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ(events->back().type, Type::Bookmark);
  const Json bookmark = Harness::parsed(*events->back().json);
  EXPECT_EQ(text_at(bookmark, {"metadata", "annotations", "k8s.io/initial-events-end"}), "true");
  EXPECT_EQ(text_at(bookmark, {"metadata", "resourceVersion"}), h.store().revision().text());
  ASSERT_TRUE(watching->bookmark().has_value());
}

TEST_F(ListWatchTest, ContradictingWatchParametersAreInvalid) {
  const auto code = [&](WatchQuery query) {
    const auto out = h.registry().watch(kinds::kConfigMap, query, [] {});
    return out.has_value() ? std::string("ok") : std::string(out.error().message);
  };
  EXPECT_NE(code({.send_initial_events = true})
                .find("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
            std::string::npos);
  EXPECT_NE(code({.resource_version_match = "NotOlderThan"})
                .find("forbidden for watch unless sendInitialEvents is provided"),
            std::string::npos);
  EXPECT_NE(code({.resource_version = "99999"}).find("Too large resource version"),
            std::string::npos);
}

TEST_F(ListWatchTest, AWatchBelowTheCompactionIsExpired) {
  make("a", "red");
  const std::string old = h.store().revision().text();
  make("b", "red");
  make("c", "red");
  ASSERT_TRUE(h.store().compact(h.store().revision()).has_value());
  const auto out = h.registry().watch(kinds::kConfigMap, {.resource_version = old}, [] {});
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().code, Code::Expired);
  EXPECT_EQ(text_at(Harness::parsed(*failure_event(out.error()).json), {"reason"}), "Expired");
}

TEST_F(ListWatchTest, TheLineOnTheWireSharesTheStoredBytes) {
  const auto watching = watch({.resource_version = h.store().revision().text()});
  make("a", "red");
  const Result<std::vector<WatchEvent>> events = watching->next(10);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().json, (*h.registry().get(kinds::kConfigMap, "default", "a"))->bytes());
  std::string line;
  for (const std::string_view piece : events->front().pieces()) line += piece;
  EXPECT_TRUE(line.starts_with(R"({"type":"ADDED","object":{"apiVersion":"v1")"));
  EXPECT_TRUE(line.ends_with("}\n"));
  EXPECT_EQ(text_at(Harness::parsed(line), {"object", "metadata", "name"}), "a");
}

}  // namespace
}  // namespace krater::api
