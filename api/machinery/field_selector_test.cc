#include "api/machinery/field_selector.h"

#include <gtest/gtest.h>

#include "api/machinery/schema.h"

namespace krater::api {
namespace {

TEST(FieldSelector, MatchesByAllItsTerms) {
  const auto schemas = make_builtin_schemas();
  const KindSchemaPtr pods = schemas->find("", "v1", "pods");
  auto pod = parse_json(
      R"({"metadata":{"name":"p","namespace":"d"},"spec":{"nodeName":"n1","hostNetwork":true},"status":{"phase":"Running","podIPs":[{"ip":"1.1.1.1"}]}})");
  const auto matches = [&](std::string_view text) {
    auto selector = FieldSelector::parse(text);
    EXPECT_TRUE(selector.has_value()) << text;
    EXPECT_TRUE(selector->check(*pods).has_value()) << text;
    return selector->matches(*pods, *pod);
  };
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("metadata.name=p,metadata.namespace==d"));
  EXPECT_TRUE(matches("spec.nodeName!=n2"));
  EXPECT_FALSE(matches("spec.nodeName="));
  EXPECT_FALSE(matches("status.phase!=Running"));
  EXPECT_TRUE(matches("spec.hostNetwork=true,status.podIPs=1.1.1.1"));
}

TEST(FieldSelector, RefusesWhatItCannotRead) {
  EXPECT_EQ(FieldSelector::parse("a").error().message,
            "invalid selector: 'a'; can't understand it");
  EXPECT_FALSE(FieldSelector::parse("=b").has_value());
  EXPECT_FALSE(FieldSelector::parse("a=b=c").has_value());
  EXPECT_EQ(FieldSelector::parse(R"(a=x\,y\=z)")->requirements().at(0).value, "x,y=z");
  const auto schemas = make_builtin_schemas();
  const auto checked = FieldSelector::parse("spec.nope=1")->check(*schemas->find("", "v1", "pods"));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().message, "field label not supported: spec.nope");
}

TEST(FieldSelector, KnowsTheLabelsThatAreNoPaths) {
  const auto schemas = make_builtin_schemas();
  auto event = parse_json(R"({"reportingComponent":"x"})");
  EXPECT_EQ(schemas->find("", "v1", "events")->field_value(*event, "source"), "x");
  EXPECT_EQ(schemas->find("", "v1", "nodes")->field_value(JsonObject(), "spec.unschedulable"),
            "false");
  EXPECT_EQ(*FieldSelector::parse("metadata.name=a,b!=c")->required_value("metadata.name"), "a");
  EXPECT_EQ(FieldSelector::parse("metadata.name!=a")->required_value("metadata.name"), nullptr);
}

}  // namespace
}  // namespace krater::api
