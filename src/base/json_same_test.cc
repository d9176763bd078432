#include "base/json_same.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

bool same_text(const std::string& a, const std::string& b) {
  return same_json(*parse_json(a), *parse_json(b));
}

TEST(JsonSame, OrderOfMembersDoesNotCount) {
  EXPECT_TRUE(same_text(R"({"a":1,"b":{"c":[1,{"d":2,"e":3}]}})",
                        R"({"b":{"c":[1,{"e":3,"d":2}]},"a":1})"));
}

TEST(JsonSame, WhatDiffersIsSeenAtAnyDepth) {
  EXPECT_FALSE(same_text(R"({"a":{"b":[1,2]}})", R"({"a":{"b":[2,1]}})"));
  EXPECT_FALSE(same_text(R"({"a":{"b":1}})", R"({"a":{"c":1}})"));
  EXPECT_FALSE(same_text(R"({"a":1,"b":2})", R"({"a":1})"));
  EXPECT_FALSE(same_text(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same_text(R"([1])", R"([1,2])"));
  EXPECT_FALSE(same_text(R"({})", R"([])"));
  EXPECT_FALSE(same_text(R"({"a":null})", R"({"a":false})"));
}

TEST(JsonSame, JudgesScalarsAsTheLibraryDoes) {
  EXPECT_TRUE(same_json(Json(std::uint64_t{5}), Json(std::int64_t{5})));
  EXPECT_FALSE(same_json(Json("5"), Json(5)));
  EXPECT_TRUE(same_json(Json(nullptr), Json(nullptr)));
}

}  // namespace
}  // namespace krater
