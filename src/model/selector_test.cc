#include "model/selector.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

bool matches(std::string_view selector, const Labels& labels) {
  auto parsed = LabelSelector::parse(selector);
  EXPECT_TRUE(parsed) << selector;
  return parsed && parsed->matches(labels);
}

TEST(LabelSelector, Grammar) {
  const Labels labels{{"app", "web"}, {"tier", "front"}, {"n", "5"}};
  EXPECT_TRUE(matches("", labels));
  EXPECT_TRUE(matches("app=web,tier==front", labels));
  EXPECT_TRUE(matches("app in (web, db), tier notin (back)", labels));
  EXPECT_TRUE(matches("app,!missing", labels));
  EXPECT_TRUE(matches("missing!=x", labels));
  EXPECT_TRUE(matches("n>4,n<6", labels));
  EXPECT_FALSE(matches("app=db", labels));
  EXPECT_FALSE(matches("!app", labels));
  EXPECT_TRUE(matches("example.com/a notin (b)", labels));
}

TEST(LabelSelector, Refused) {
  for (const char* text :
       {"a=b,", "a in b", "a in (b", "a b", ",a", "=b", "a=b=c", "a>x", "-a=b", "a=b c"}) {
    EXPECT_FALSE(LabelSelector::parse(text)) << text;
  }
}

TEST(LabelSelector, FromObject) {
  auto json = parse_json(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["d","e"]}]})");
  auto selector = LabelSelector::from_object(*json);
  ASSERT_TRUE(selector);
  EXPECT_TRUE(selector->matches({{"a", "b"}, {"c", "e"}}));
  EXPECT_FALSE(selector->matches({{"a", "b"}}));
  EXPECT_EQ(selector->text(), "a=b,c in (d,e)");
}

TEST(LabelSelector, TextIsInTheOrderOfTheKeys) {
  auto json = parse_json(
      R"({"matchLabels":{"z":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]})");
  EXPECT_EQ(LabelSelector::from_object(*json)->text(), "c,z=b");
}

}  // namespace
}  // namespace krater
