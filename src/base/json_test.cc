#include "base/json.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Json, RoundTripKeepsOrderAndNumbers) {
  const std::string text =
      R"({"b":1,"a":[true,null,-5,18446744073709551615,1.5,"x\"\n\u0001"],"c":{}})";
  auto parsed = parse_json(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(to_json(*parsed), text);
}

TEST(Json, FloatsAreWrittenAsGoWritesThem) {
  EXPECT_EQ(to_json(Json(1.0)), "1");
  EXPECT_EQ(to_json(Json(0.25)), "0.25");
  EXPECT_EQ(to_json(Json(1e21)), "1e+21");
  EXPECT_EQ(to_json(Json(1e-7)), "1e-7");
  EXPECT_EQ(to_json(Json(123456789.5)), "123456789.5");
}

// Go writes plain digits up to 1e21; our parser keeps integers exact and refuses those beyond 64 bits.
TEST(Json, LargeFloatsReadBackAsFloats) {
  const Json large(21111111133333333332.1);
  const auto again = parse_json(to_json(large));
  ASSERT_TRUE(again) << to_json(large);
  EXPECT_EQ(*again, large);
}

TEST(Json, DuplicateKeysAreReportedAndTheLastWins) {
  std::vector<std::string> duplicates;
  JsonParseOptions options;
  options.duplicates = &duplicates;
  auto parsed = parse_json(R"({"spec":{"a":1,"a":2},"list":[{"x":1,"x":1}]})", options);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(int_at(*parsed, {"spec", "a"}), 2);
  EXPECT_EQ(duplicates, (std::vector<std::string>{"spec.a", "list[0].x"}));
}

TEST(Json, DepthIsBounded) {
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  auto parsed = parse_json(deep);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::BadRequest);
  EXPECT_FALSE(parse_json(std::string(100'000, '[')));
}

TEST(Json, MalformedTextIsRefused) {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "nul", "{\"a\":1}x", "\"\xff\"", "'a'"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, PathsReadAndWrite) {
  Json root(boost::json::object_kind);
  set_path(root, {"metadata", "labels", "a"}, "b");
  EXPECT_EQ(text_at(root, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(string_at(root, {"metadata", "labels", "missing"}), std::nullopt);
  EXPECT_EQ(string_at(root, {"metadata", "labels", "a", "deeper"}), std::nullopt);
  erase_path(root, {"metadata", "labels", "a"});
  EXPECT_EQ(to_json(root), R"({"metadata":{"labels":{}}})");
}

}  // namespace
TEST(MergeDifference, NamesWhatChangedAndNullsWhatWent) {
  const Json before = *parse_json(R"({"a":1,"b":{"x":1,"y":2},"c":[1],"same":"s"})");
  const Json after = *parse_json(R"({"b":{"x":1,"z":3},"c":[1,2],"same":"s","d":true})");
  EXPECT_EQ(to_json(merge_difference(before, after)),
            R"({"a":null,"b":{"y":null,"z":3},"c":[1,2],"d":true})");
  EXPECT_EQ(to_json(merge_difference(after, after)), "{}");
}

}  // namespace krater
