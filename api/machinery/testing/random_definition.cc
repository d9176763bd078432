#include "api/machinery/testing/random_definition.h"

#include <array>

#include "api/machinery/testing/random_object.h"

namespace krater::api::testing {
namespace {

constexpr std::array<std::string_view, 6> kNames{"a", "b", "size", "items", "x-y", "name"};
constexpr std::array<std::string_view, 7> kFormats{"date-time", "int32",    "int64",   "byte",
                                                   "ipv4",      "duration", "nonsense"};
constexpr std::array<std::string_view, 5> kPatterns{"^a+$", "^[a-z0-9-]*$", "(", "^.{0,5}$", "é"};
constexpr std::array<std::string_view, 9> kRules{"true",
                                                 "self.size() <= 3",
                                                 "self > 0",
                                                 "self == oldSelf",
                                                 "!has(self.a) || self.a != 'x'",
                                                 "self.all(x, x == self[0])",
                                                 "has(self.a) && has(self.b)",
                                                 "self.startsWith('a') || self.matches('^[a-z]+$')",
                                                 "self."};

class SchemaMaker {
 public:
  explicit SchemaMaker(Choices& choices) : choices_(choices) {}

  Json object(int depth) {
    JsonObject properties;
    for (std::size_t n = 1 + choices_.below(4); n > 0; --n)
      properties[choices_.any_of(kNames)] = any(depth + 1);
    JsonObject out{{"type", "object"}};
    if (choices_.one_in(4)) out["required"] = JsonArray{properties.begin()->key()};
    out["properties"] = std::move(properties);
    if (choices_.one_in(6)) out["x-kubernetes-preserve-unknown-fields"] = true;
    if (choices_.one_in(6))
      out["x-kubernetes-map-type"] = choices_.one_in(2) ? "atomic" : "granular";
    if (choices_.one_in(8)) out["maxProperties"] = choices_.below(4);
    return adorned(std::move(out));
  }

 private:
  Json any(int depth) {
    const bool leaf = depth > 4 || ++made_ > 40;
    switch (choices_.below(leaf ? 5 : 9)) {
      case 0:
        return text();
      case 1:
        return number();
      case 2:
        return adorned({{"type", "boolean"}});
      case 3:
        return adorned({{"x-kubernetes-int-or-string", true}});
      case 4:
        return adorned({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
      case 5:
        return list(depth);
      case 6:
        return adorned(
            {{"type", "object"},
             {"additionalProperties", choices_.one_in(8) ? Json(true) : any(depth + 1)}});
      case 7: {
        Json out = object(depth);
        if (choices_.one_in(6)) out.get_object()["x-kubernetes-embedded-resource"] = true;
        return out;
      }
      default:
        return object(depth);
    }
  }

  Json text() {
    JsonObject out{{"type", "string"}};
    if (choices_.one_in(4)) out["format"] = choices_.any_of(kFormats);
    if (choices_.one_in(6)) out["pattern"] = choices_.any_of(kPatterns);
    if (choices_.one_in(4)) out["maxLength"] = choices_.below(20);
    if (choices_.one_in(6)) out["enum"] = JsonArray{"a", "b", ""};
    return adorned(std::move(out));
  }

  Json number() {
    JsonObject out{{"type", choices_.one_in(3) ? "number" : "integer"}};
    if (choices_.one_in(4)) out["minimum"] = random_json(choices_, 6);
    if (choices_.one_in(4)) out["maximum"] = 5;
    if (choices_.one_in(6)) out["multipleOf"] = choices_.below(4);
    if (choices_.one_in(6)) out["exclusiveMinimum"] = true;
    if (choices_.one_in(4)) out["format"] = choices_.any_of(kFormats);
    return adorned(std::move(out));
  }

  Json list(int depth) {
    JsonObject out{{"type", "array"}};
    const std::size_t kind = choices_.below(4);
    if (kind == 1) {
      out["items"] = text();
      out["x-kubernetes-list-type"] = "set";
    } else if (kind == 2) {
      JsonObject properties{{"name", JsonObject{{"type", "string"}}}, {"size", any(depth + 2)}};
      if (choices_.one_in(3)) {
        properties["port"] = JsonObject{{"type", "integer"}, {"default", 80}};
        out["x-kubernetes-list-map-keys"] = JsonArray{"name", "port"};
      } else {
        out["x-kubernetes-list-map-keys"] = JsonArray{"name"};
      }
      out["items"] = JsonObject{{"type", "object"},
                                {"required", JsonArray{"name"}},
                                {"properties", std::move(properties)}};
      out["x-kubernetes-list-type"] = "map";
    } else {
      out["items"] = any(depth + 1);
      if (kind == 3) out["x-kubernetes-list-type"] = "atomic";
    }
    if (choices_.one_in(3)) out["maxItems"] = choices_.below(5);
    return adorned(std::move(out));
  }

  // What any type may have besides.
  Json adorned(JsonObject out) {
    const bool nullable = choices_.one_in(8);
    if (nullable) out["nullable"] = true;
    if (choices_.one_in(5)) out["default"] = random_value(out, choices_);
    if (choices_.one_in(8)) {
      out["x-kubernetes-validations"] =
          JsonArray{JsonObject{{"rule", choices_.any_of(kRules)}, {"message", "must hold"}}};
    }
    if (choices_.one_in(16)) {
      out["anyOf"] = JsonArray{JsonObject{{"minLength", 1}}, JsonObject{{"maximum", 3}},
                               JsonObject{{"required", JsonArray{"a"}}}};
    }
    if (choices_.one_in(24)) out["not"] = JsonObject{{"enum", JsonArray{"a", 1}}};
    return Json(std::move(out));
  }

  Choices& choices_;
  int made_ = 0;
};

}  // namespace

Json random_schema(Choices& choices) {
  SchemaMaker maker(choices);
  JsonObject properties{{"spec", maker.object(1)}};
  if (choices.one_in(2)) properties["status"] = maker.object(2);
  if (choices.one_in(8)) {
    properties["metadata"] = JsonObject{
        {"type", "object"},
        {"properties", JsonObject{{"name", JsonObject{{"type", "string"}, {"maxLength", 5}}}}}};
  }
  return JsonObject{{"type", "object"}, {"properties", std::move(properties)}};
}

Json random_definition(Choices& choices) {
  const Json names = JsonObject{
      {"plural", "things"}, {"singular", "thing"}, {"kind", "Thing"}, {"listKind", "ThingList"}};
  JsonObject version{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"schema", JsonObject{{"openAPIV3Schema", random_schema(choices)}}}};
  if (choices.one_in(2)) {
    JsonObject subresources{{"status", JsonObject()}};
    if (choices.one_in(3)) {
      subresources["scale"] = JsonObject{{"specReplicasPath", ".spec.size"},
                                         {"statusReplicasPath", ".status.size"},
                                         {"labelSelectorPath", ".status.a"}};
    }
    version["subresources"] = std::move(subresources);
  }
  if (choices.one_in(2)) {
    constexpr std::array<std::string_view, 5> kTypes{"string", "integer", "date", "number",
                                                     "boolean"};
    constexpr std::array<std::string_view, 6> kPaths{".spec.a",
                                                     ".spec.items[0].name",
                                                     ".status.size",
                                                     ".spec.items[?(@.name=='a')].size",
                                                     ".metadata.creationTimestamp",
                                                     ".spec..a"};
    version["additionalPrinterColumns"] = JsonArray{JsonObject{
        {"name", "A"}, {"type", choices.any_of(kTypes)}, {"jsonPath", choices.any_of(kPaths)}}};
  }
  if (choices.one_in(4))
    version["selectableFields"] = JsonArray{JsonObject{{"jsonPath", ".spec.a"}}};
  return JsonObject{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", JsonObject{{"name", "things.fuzz.example.com"}, {"uid", "u"}}},
      {"spec", JsonObject{{"group", "fuzz.example.com"},
                          {"scope", choices.one_in(2) ? "Cluster" : "Namespaced"},
                          {"conversion", JsonObject{{"strategy", "None"}}},
                          {"names", names},
                          {"versions", JsonArray{std::move(version)}}}},
      {"status", JsonObject{{"storedVersions", JsonArray{"v1"}},
                            {"acceptedNames", names},
                            {"conditions",
                             JsonArray{JsonObject{{"type", "Established"}, {"status", "True"}}}}}}};
}

Json random_thing(const Json& definition, Choices& choices) {
  const Json& version = array_at(definition, {"spec", "versions"})->front();
  Json out = random_value(*find(version, {"schema", "openAPIV3Schema"}), choices);
  if (!out.is_object()) out = JsonObject();
  JsonObject& members = out.get_object();
  members["apiVersion"] = "fuzz.example.com/v1";
  members["kind"] = "Thing";
  members["metadata"] = JsonObject{{"name", choices.one_in(4) ? "b.c" : "a-1"}};
  return out;
}

}  // namespace krater::api::testing
