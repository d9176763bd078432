// Each case: a document, a patch, and what comes out: a document, or the start of an error.
#include "api/machinery/patch.h"

#include <gtest/gtest.h>

#include "api/machinery/schema.h"
#include "base/strings.h"

namespace krater::api {
namespace {

Json parse(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *std::move(parsed) : Json();
}

struct Case {
  std::string_view rule, target, patch, want;  // want: JSON, or "code: start of message"
};

std::string told(const Result<void>& result, const Json& document) {
  if (result) return to_json(document);
  const Error& error = result.error();
  std::string why = error.causes.empty() ? error.message : error.causes[0].message;
  const std::string_view status = error.code == Code::BadRequest ? "400"
                                  : error.code == Code::Invalid  ? "422"
                                                                 : "other";
  return std::string(status) + ": " + why;
}

template <typename Apply>
void check(const Case& item, Apply apply) {
  Json document = parse(item.target);
  const Result<void> result = apply(document, parse(item.patch));
  const std::string outcome = told(result, document);
  if (result) {
    EXPECT_EQ(outcome, to_json(parse(item.want))) << item.rule;
  } else {
    EXPECT_EQ(outcome.substr(0, item.want.size()), item.want) << item.rule << "\n" << outcome;
  }
}

TEST(JsonPatch, FollowsRfc6902) {
  const Case cases[] = {
      {"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {"add replaces a member", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])",
       R"({"a":2})"},
      {"add into a list shifts", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
       R"({"a":[1,2,3]})"},
      {"dash appends", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])",
       R"({"a":[1,2]})"},
      {"add beyond the end", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])",
       "422: add operation does not apply"},
      {"add without parent", R"({})", R"([{"op":"add","path":"/a/b","value":2}])",
       "422: add operation does not apply"},
      {"remove", R"({"a":1,"b":2,"c":3})", R"([{"op":"remove","path":"/b"}])", R"({"a":1,"c":3})"},
      {"remove from a list", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])",
       R"({"a":[2]})"},
      {"remove what is absent", R"({})", R"([{"op":"remove","path":"/a"}])",
       "422: remove operation does not apply"},
      {"replace", R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":"x"}])",
       R"({"a":{"b":"x"}})"},
      {"replace of an absent member adds it", R"({"a":{}})",
       R"([{"op":"replace","path":"/a/b","value":1}])", R"({"a":{"b":1}})"},
      {"replace of an absent item fails", R"({"a":[]})",
       R"([{"op":"replace","path":"/a/0","value":1}])", "422: replace operation does not apply"},
      {"replace the whole", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])",
       R"({"b":2})"},
      {"move", R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       R"({"a":{},"c":{"d":1}})"},
      {"move into itself", R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       "422: move operation"},
      {"copy", R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])",
       R"({"a":[1],"b":[1]})"},
      {"test holds", R"({"a":{"x":[1,"y"]}})",
       R"([{"op":"test","path":"/a","value":{"x":[1,"y"]}}])", R"({"a":{"x":[1,"y"]}})"},
      {"test fails", R"({"a":1})",
       R"([{"op":"test","path":"/a","value":2},{"op":"remove","path":"/a"}])",
       "422: testing path /a failed"},
      {"escapes", R"({"a/b":1,"c~d":2})",
       R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/c~0d"}])", R"({})"},
      {"leading zeros are no index", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])",
       "422: remove operation"},
      {"unknown operation", R"({})", R"([{"op":"frobnicate","path":"/a"}])",
       "400: unexpected JSON patch operation"},
      {"no list", R"({})", R"({"op":"add"})", "400: a JSON patch is a list"},
      {"whole numbers stay whole", R"({})",
       R"([{"op":"add","path":"/a","value":9007199254740993}])", R"({"a":9007199254740993})"},
  };
  for (const Case& item : cases) check(item, json_patch);
}

TEST(JsonPatch, RefusesTooManyOperations) {
  JsonArray patch(10'001, Json(JsonObject{{"op", "test"}, {"path", ""}, {"value", JsonObject()}}));
  Json document = JsonObject();
  const auto result = json_patch(document, Json(std::move(patch)));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::TooLarge);
}

// Forty copies of the whole document would be a document of a thousand gigabytes.
TEST(JsonPatch, RefusesCopiesThatGrowWithoutEnd) {
  JsonArray patch;
  for (int i = 0; i < 40; ++i) {
    patch.push_back(
        JsonObject{{"op", "copy"}, {"from", "/data"}, {"path", "/data/x" + std::to_string(i)}});
  }
  Json document = JsonObject{{"data", JsonObject{{"x", std::string(1000, 'y')}}}};
  const auto result = json_patch(document, Json(std::move(patch)));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::TooLarge);
  EXPECT_EQ(result.error().message.find("Unable to complete the copy, the accumulated size"), 0U);
}

TEST(MergePatch, FollowsRfc7386) {
  const Case cases[] = {
      {"null deletes, objects merge", R"({"a":{"x":1,"y":2},"b":1})",
       R"({"a":{"x":null,"z":3},"b":2})", R"({"a":{"y":2,"z":3},"b":2})"},
      {"null for an absent key is not stored", R"({})", R"({"a":null,"b":{"c":null}})",
       R"({"b":{}})"},
      {"lists are replaced", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {"an object replaces a scalar", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {"no object", R"({})", R"([])", "400: a merge patch is a JSON object"},
  };
  for (const Case& item : cases) check(item, merge_patch);
}

TEST(StrategicMerge, FollowsTheMergeKeysOfPods) {
  const auto schemas = make_builtin_schemas();
  const KindSchemaPtr pod = schemas->find("", "v1", "pods");
  const Case cases[] = {
      {"containers merge by name",
       R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"z"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"z"}]}})"},
      {"an unknown item comes before the server's own", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"c","image":null}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"a"}]}})"},
      {"items stand as the patch names them, the server's own where they stood before them",
       R"({"spec":{"containers":[{"name":"a"},{"name":"own"},{"name":"b"},{"name":"last"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"x"},{"name":"new"},{"name":"a","image":"y"}]}})",
       R"({"spec":{"containers":[{"name":"own"},{"name":"b","image":"x"},{"name":"new"},{"name":"a","image":"y"},{"name":"last"}]}})"},
      {"$patch: delete removes an item", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"$patch: delete of nothing is nothing", R"({"spec":{"containers":[{"name":"b"}]}})",
       R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"$patch: replace replaces the list",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})",
       R"({"spec":{"containers":[{"name":"c"}]}})"},
      {"$patch: replace replaces a map", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","c":"3"}}})",
       R"({"metadata":{"labels":{"c":"3"}}})"},
      {"$patch: delete removes a map", R"({"metadata":{"labels":{"a":"1"},"name":"p"}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{"name":"p"}})"},
      {"null deletes a map entry", R"({"metadata":{"annotations":{"a":"1","b":"2"}}})",
       R"({"metadata":{"annotations":{"a":null}}})", R"({"metadata":{"annotations":{"b":"2"}}})"},
      {"atomic lists are replaced", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"spec":{"tolerations":[{"key":"b"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"},
      {"lists of scalars are united", R"({"metadata":{"finalizers":["a/x","b/y"]}})",
       R"({"metadata":{"finalizers":["b/y","c/z"]}})",
       R"({"metadata":{"finalizers":["a/x","b/y","c/z"]}})"},
      {"scalars are deleted from lists", R"({"metadata":{"finalizers":["a/x","b/y"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a/x"]}})",
       R"({"metadata":{"finalizers":["b/y"]}})"},
      {"$setElementOrder sorts; the server's own item stays before what it stood before",
       R"({"spec":{"containers":[{"name":"a"},{"name":"own"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"z"}]}})",
       R"({"spec":{"containers":[{"name":"own"},{"name":"b","image":"z"},{"name":"a"}]}})"},
      {"items without a key are scalars", R"({"metadata":{"finalizers":["a/b"]}})",
       R"({"metadata":{"finalizers":[{"name":"c","$patch":"merge"}]}})",
       "400: cannot merge lists without merge key"},
      {"$setElementOrder and the list disagree", R"({"spec":{"containers":[]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})",
       "400: The order in patch list:"},
      {"$retainKeys drops the other source of a volume",
       R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/x"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}})"},
      {"$retainKeys must name what the patch sets", R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"emptyDir":{}}]}})",
       "400: the patch has the key \"emptyDir\""},
      {"an item without its key", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"image":"x"}]}})",
       "400: map: {\"image\":\"x\"} does not contain declared merge key: name"},
      {"an unknown directive", R"({"spec":{}})", R"({"spec":{"$patch":"explode"}})",
       "400: unknown patch type: explode"},
      {"directives never reach the document", R"({})",
       R"({"spec":{"containers":[{"name":"a","$setElementOrder/env":[{"name":"E"}],"env":[{"name":"E","value":"1"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"E","value":"1"}]}]}})"},
      {"ports of unlike protocols stay two",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP","name":"dns"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP","name":"dns"}]}]}})"},
      {"no object", R"({})", R"([])", "400: a strategic merge patch is a JSON object"},
  };
  for (const Case& item : cases) {
    check(item,
          [&pod](Json& target, const Json& patch) { return pod->strategic_merge(target, patch); });
  }
}

TEST(StrategicMerge, FindsEachOfVeryManyItems) {
  constexpr int kMany = 30'000;  // looked for one by one this takes minutes
  const auto item = [](int i, const char* more) {
    return R"({"name":"c)" + std::to_string(i) + '"' + more + '}';
  };
  std::vector<std::string> held, patched, order;
  for (int i = 0; i < kMany; ++i) {
    held.push_back(item(i, R"(,"image":"a")"));
    patched.push_back(
        item(kMany - 1 - i, i % 2 == 0 ? R"(,"image":"b")" : R"(,"$patch":"delete")"));
    if (i % 2 == 0) order.push_back(item(kMany - 1 - i, ""));
  }
  Json target = parse(R"({"spec":{"containers":[)" + join(held, ",") + "]}}");
  const Json patch = parse(R"({"spec":{"$setElementOrder/containers":[)" + join(order, ",") +
                           R"(],"containers":[)" + join(patched, ",") + "]}}");
  const auto schemas = make_builtin_schemas();
  ASSERT_TRUE(schemas->find("", "v1", "pods")->strategic_merge(target, patch));
  const JsonArray& left = *array_at(target, {"spec", "containers"});
  ASSERT_EQ(left.size(), kMany / 2U);
  EXPECT_EQ(to_json(left.front()), R"({"name":"c29999","image":"b"})");
  EXPECT_EQ(to_json(left.back()), R"({"name":"c1","image":"b"})");
}

TEST(StrategicMerge, IsNotForCustomKinds) {
  const auto schemas = make_builtin_schemas();
  Json target = JsonObject();
  const auto result =
      schemas->find("ray.io", "v1", "rayjobs")->strategic_merge(target, JsonObject());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::UnsupportedMedia);
}

}  // namespace
}  // namespace krater::api
