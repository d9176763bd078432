// What the API offers, in both forms that clients read: the legacy lists and the aggregated
// document. Made from the schemas and the route table, kept until the schemas change. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema.h"
#include "base/json.h"

namespace krater::api {

// One version of one group and what it serves, in order of name.
struct DiscoverySubresource {
  std::string name;                  // "status"
  std::string group, version, kind;  // of what it takes or gives
  std::vector<std::string> verbs;
};
struct DiscoveryResource {
  std::string plural, singular, kind;
  bool namespaced = true;
  bool listable = true;
  std::vector<std::string> short_names, categories, verbs;
  std::vector<DiscoverySubresource> subresources;
};
struct DiscoveryVersion {
  std::string group, version;
  std::vector<DiscoveryResource> resources;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// Groups in the order of the schemas (core first), versions of a group side by side with the
// preferred one first.
std::vector<DiscoveryVersion> discover(const SchemaSet& schemas);

// Kubernetes' order of versions: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name.
bool version_before(std::string_view a, std::string_view b);

// Bodies. `address` is "host:port".
Json api_versions(std::string_view address);
Json api_group_list(const std::vector<DiscoveryVersion>& versions);
// Nothing for an unknown group or group version.
std::optional<Json> api_group(const std::vector<DiscoveryVersion>& versions,
                              std::string_view group);
std::optional<Json> api_resource_list(const std::vector<DiscoveryVersion>& versions,
                                      std::string_view group, std::string_view version);
// `core`: the one of /api, else that of /apis. `format` is "v2" or "v2beta1".
Json aggregated(const std::vector<DiscoveryVersion>& versions, bool core, std::string_view format);

// The documents above as served, each with its ETag.
class Discovery {
 public:
  struct Document {
    std::string text;
    std::string etag;  // quoted
  };
  explicit Discovery(const SchemaSet& schemas) : schemas_(schemas) {}

  std::shared_ptr<const std::vector<DiscoveryVersion>> versions() const;
  std::shared_ptr<const Document> aggregated(bool core, std::string_view format) const;

 private:
  const SchemaSet& schemas_;
  mutable std::mutex mutex_;
  mutable std::vector<KindSchemaPtr> seen_;  // what the kept documents were made from
  mutable std::shared_ptr<const std::vector<DiscoveryVersion>> versions_;
  mutable std::map<std::pair<bool, std::string>, std::shared_ptr<const Document>> documents_;
  void refresh() const;
};

// "\"<SHA-256 in hex, upper case>\"", as Kubernetes tags its documents.
std::string etag_of(std::string_view text);

}  // namespace krater::api
