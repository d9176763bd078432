#include "base/yaml.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

std::string json_of(std::string_view yaml) {
  const Result<Json> read = parse_yaml(yaml);
  return read ? to_json(*read) : "error: " + read.error().message;
}

TEST(Yaml, TypesPlainScalarsAndLeavesQuotedOnesText) {
  EXPECT_EQ(json_of("a: 1\nb: '1'\nc: yes\nd: \"no\"\ne: 1.5\nf: ~\ng: 1.2.3\nh: v1"),
            R"({"a":1,"b":"1","c":true,"d":"no","e":1.5,"f":null,"g":"1.2.3","h":"v1"})");
}

TEST(Yaml, ReadsNestingAndEmptyText) {
  EXPECT_EQ(json_of("pip: [requests, numpy]\nenv_vars:\n  A: x"),
            R"({"pip":["requests","numpy"],"env_vars":{"A":"x"}})");
  EXPECT_EQ(json_of(""), "null");
}

TEST(Yaml, RefusesWhatIsNotYamlAndAliasBombs) {
  EXPECT_FALSE(parse_yaml("a: [1, 2").has_value());
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_FALSE(parse_yaml(bomb).has_value());
}

TEST(ToYaml, ReadsLikeKubectlsOutput) {
  const Json document = *parse_json(
      R"({"kind":"Pod","metadata":{"labels":{},"name":"p"},"spec":{"containers":[{"args":["a","1"],"name":"c"}]}})");
  EXPECT_EQ(to_yaml(document),
            "kind: Pod\nmetadata:\n  labels: {}\n  name: p\nspec:\n  containers:\n  - args:\n"
            "    - a\n    - \"1\"\n    name: c\n");
}

TEST(Yaml, WhatIsNoUtf8IsRefused) {
  for (const char* text : {"a: \xffx", "\xff: a", "- [\"\xc3\"]", "a: \xed\xa0\x80"})
    EXPECT_FALSE(parse_yaml(text)) << text;
  EXPECT_TRUE(parse_yaml("\xc3\xa4: \xf0\x9f\x98\x80"));
}

TEST(ToYaml, EverythingComesBackAsItWas) {
  for (
      const char* text :
      {R"({"a":"true","b":"null","c":"1","d":"1e3","e":"","f":"~","g":" x ","h":"a: b","i":"#c"})",
       R"({"a":"y","b":"no","c":"2026-01-01","d":"0x1f","e":"line\nline\n","f":"\u0001\"'\\","g":"-"})",
       R"({"a":[[1,[2]],[],{}],"b":[{"x":[{"y":null}]},[{"z":1}]],"c":1.5,"d":false,"e":-7})",
       R"({"true":"x","1":"y","a b":"z","":"w","*k":{"n":{"m":["&x","!t","@u","%v","`w"]}}})",
       R"(["a",["b"],{"c":["d"]}])", R"("text")", "7", "{}", "[]",
       R"({"a":"inf","b":".nan","c":"é"})"}) {
    const Json document = *parse_json(text);
    const Result<Json> back = parse_yaml(to_yaml(document));
    ASSERT_TRUE(back) << to_yaml(document);
    EXPECT_EQ(*back, document) << to_yaml(document);
  }
}

TEST(Yaml, KeysOfAnyLengthAreWrittenSoThatTheyCanBeRead) {
  for (const std::size_t length : {100, 999, 1000, 1025, 5000}) {
    const std::string key(length, 'k');
    JsonObject inner;
    inner[key] = JsonObject{{"a", 1}};
    inner["b"] = JsonArray{JsonObject{{key, "v"}, {"w", 2}}};
    const Json document(std::move(inner));
    const auto again = parse_yaml(to_yaml(document));
    ASSERT_TRUE(again.has_value()) << length;
    EXPECT_EQ(to_json(*again), to_json(document));
  }
}

}  // namespace
}  // namespace krater
