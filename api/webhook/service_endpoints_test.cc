// Where services are reached from the server itself.
#include "api/webhook/service_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"

namespace krater::api {
namespace {

using ::testing::ElementsAre;

class Objects final : public ObjectReader {
 public:
  void add(const Kind& kind, std::string_view json) {
    Result<Json> document = parse_json(json);
    CHECK_MSG(document.has_value(), json);
    const ObjectKey key = ObjectKey::of(kind, text_at(*document, {"metadata", "namespace"}),
                                        text_at(*document, {"metadata", "name"}));
    Result<ObjectPtr> object =
        Object::parse(key, Revision(1), std::make_shared<const std::string>(to_json(*document)));
    CHECK(object.has_value());
    objects_.emplace_back(kind.plural, *object);
  }
  Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                        std::string_view name) const override {
    for (const auto& [plural, object] : objects_) {
      if (plural == kind.plural && object->name_space() == name_space && object->name() == name)
        return object;
    }
    return ObjectPtr();
  }
  Result<std::vector<ObjectPtr>> list(const Kind& kind, std::string_view) const override {
    std::vector<ObjectPtr> out;
    for (const auto& [plural, object] : objects_) {
      if (plural == kind.plural) out.push_back(object);
    }
    return out;
  }
  Result<bool> claimed(std::string_view) const override { return false; }

 private:
  std::vector<std::pair<std::string, ObjectPtr>> objects_;
};

constexpr std::string_view kService =
    R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"n"},
        "spec":{"clusterIP":"10.96.0.9","selector":{"a":"b"},"ports":[{"port":443,"targetPort":9443},
        {"name":"other","port":80}]}})";
const HookService kWanted{"n", "s", 443};

std::string problem(const Objects& objects, const HookService& service = kWanted) {
  const auto found = service_endpoints(service, objects);
  return found ? "" : found.error().message;
}

TEST(ServiceEndpoints, AreTheReadyOnesOfThePort) {
  Objects objects;
  objects.add(kinds::kService, kService);
  objects.add(
      kinds::kEndpointSlice,
      R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"s-1",
      "namespace":"n","labels":{"kubernetes.io/service-name":"s"}},"ports":[{"name":"","port":9443},
      {"name":"other","port":8080}],"endpoints":[{"addresses":["10.0.0.1"]},
      {"addresses":["10.0.0.2"],"conditions":{"ready":false}},
      {"addresses":["10.0.0.3"],"conditions":{"ready":true}}]})");
  objects.add(kinds::kEndpoints,
              R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"s","namespace":"n"},
      "subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"10.0.0.4"}],"ports":[{"port":9443}]}]})");
  const auto found = service_endpoints(kWanted, objects);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_THAT(*found, ElementsAre(HostPort{"10.0.0.1", 9443}, HostPort{"10.0.0.3", 9443},
                                  HostPort{"10.0.0.4", 9443}));
}

TEST(ServiceEndpoints, AServiceWithoutAnybodyWhoListsThemIsItsAddress) {
  Objects objects;
  objects.add(kinds::kService,
              R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"n"},
      "spec":{"clusterIP":"10.96.0.9","ports":[{"port":443}]}})");
  const auto found = service_endpoints(kWanted, objects);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(HostPort{"10.96.0.9", 443}));
}

TEST(ServiceEndpoints, AnExternalNameIsThatName) {
  Objects objects;
  objects.add(kinds::kService,
              R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"n"},
      "spec":{"type":"ExternalName","externalName":"hooks.example.com"}})");
  const auto found = service_endpoints(kWanted, objects);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(HostPort{"hooks.example.com", 443}));
}

TEST(ServiceEndpoints, WhatIsMissingIsTold) {
  Objects objects;
  EXPECT_EQ(problem(objects), "service \"s\" not found");
  objects.add(kinds::kService, kService);
  EXPECT_EQ(problem(objects), "no endpoints available for service \"s\"");
  EXPECT_EQ(problem(objects, {"n", "s", 444}), "no service port 444 found for service \"s\"");
}

}  // namespace
}  // namespace krater::api
