#include "base/json_fields.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

std::string fields_of(std::string_view text, const std::vector<JsonFieldPath>& paths) {
  const Result<Json> out = parse_json_fields(text, paths);
  return out ? to_json(*out) : "error";
}

TEST(JsonFields, OnlyWhatIsAskedForIsThere) {
  constexpr std::string_view kPod =
      R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},"uid":"1"},"spec":{"n":[1,{}]}})";
  EXPECT_EQ(fields_of(kPod, {{"kind"}, {"metadata", "labels"}, {"metadata", "uid"}}),
            R"({"kind":"Pod","metadata":{"labels":{"a":"b"},"uid":"1"}})");
  EXPECT_EQ(fields_of(kPod, {{"spec"}}), R"({"spec":{"n":[1,{}]}})");
  EXPECT_EQ(fields_of(kPod, {{"status"}, {"kind", "deeper"}, {"metadata", "none"}}),
            R"({"metadata":{}})");
}

TEST(JsonFields, TheLastOfTwoKeysCounts) {
  EXPECT_EQ(fields_of(R"({"a":1,"a":2})", {{"a"}}), R"({"a":2})");
}

TEST(JsonFields, OtherThanObjectsHaveNone) {
  EXPECT_EQ(fields_of("[1]", {{"a"}}), "{}");
  EXPECT_EQ(fields_of("1", {{"a"}}), "{}");
}

// What is read by halves first is read whole later, and must not fail then.
TEST(JsonFields, WhatTheWholeParserRefusesIsRefused) {
  for (const char* innermost : {"", "1", "{}"}) {
    for (const int depth : {253, 254, 255, 256, 257, 300}) {
      const std::string text = R"({"a":)" + std::string(static_cast<std::size_t>(depth), '[') +
                               innermost + std::string(static_cast<std::size_t>(depth), ']') + "}";
      EXPECT_EQ(parse_json_fields(text, {{"b"}}).has_value(), parse_json(text).has_value())
          << depth << innermost;
    }
  }
  for (const char* text : {"", "{", "{\"a\":}", "nul", "{\"a\":1}x", "{\"a\":\"\xff\"}"})
    EXPECT_EQ(parse_json_fields(text, {{"b"}}).error().code, Code::BadRequest) << text;
}

}  // namespace
}  // namespace krater
