// Services and slices for the tests of this folder.
#pragma once

#include "client/cache.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::agent::testing {

struct World {
  krater::testing::ManualLoop loop;
  krater::testing::FakeClient fake{loop, loop.wall()};
  client::Cache cache{fake};

  World() {
    cache.add({kinds::kService});
    cache.add({kinds::kEndpointSlice});
    put(kinds::kService,
        R"({"metadata":{"name":"web","namespace":"d"},"spec":{"clusterIP":"10.96.0.10","ports":[{"name":"http","port":80,"protocol":"TCP","nodePort":30080}]}})");
    put(kinds::kEndpointSlice,
        R"({"metadata":{"name":"web-1","namespace":"d","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
        "ports":[{"name":"http","port":8080,"protocol":"TCP"}],"endpoints":[{"addresses":["10.88.0.5"],"conditions":{"ready":true}},
        {"addresses":["10.88.0.6"],"conditions":{"ready":false}},{"addresses":["10.88.0.7"]}]})");
    put(kinds::kService,
        R"({"metadata":{"name":"head","namespace":"d"},"spec":{"clusterIP":"None","ports":[{"name":"gcs","port":6379}]}})");
    put(kinds::kEndpointSlice,
        R"({"metadata":{"name":"head-1","namespace":"d","labels":{"kubernetes.io/service-name":"head"}},"addressType":"IPv4",
        "ports":[{"name":"gcs","port":6379}],"endpoints":[{"addresses":["10.88.0.9"],"hostname":"zero"}]})");
    put(kinds::kService,
        R"({"metadata":{"name":"none","namespace":"d"},"spec":{"clusterIP":"10.96.0.11","ports":[{"port":5,"protocol":"UDP"}]}})");
    put(kinds::kService,
        R"({"metadata":{"name":"out","namespace":"d"},"spec":{"type":"ExternalName","externalName":"example.com"}})");
    loop.run_ready();
  }
  void put(const Kind& kind, const std::string& text) { fake.put(kind, *parse_json(text)); }
};

}  // namespace krater::agent::testing
