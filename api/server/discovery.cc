#include "api/server/discovery.h"

#include <algorithm>
#include <map>

#include "api/auth/openssl.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/server/routes.h"
#include "base/strings.h"

namespace krater::api {
namespace {

JsonArray words(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& word : list) out.emplace_back(word);
  return out;
}

std::vector<std::string> verbs_of(std::string_view group, std::string_view resource,
                                  std::string_view subresource) {
  std::vector<std::string> out;
  for (const Endpoint& endpoint : endpoints()) {
    const bool of_it = endpoint.resource == resource && endpoint.group == group;
    if (of_it && endpoint.subresource == subresource) out.emplace_back(verb_name(endpoint.verb));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool has_subresource(const KindSchema& schema, std::string_view name) {
  if (name == "status") return schema.subresources().status;
  return name == "scale" && schema.subresources().scale;
}

std::vector<DiscoverySubresource> subresources_of(const KindSchema& schema) {
  const Kind& kind = schema.kind();
  std::vector<DiscoverySubresource> out;
  for (const SubresourceKind& sub : subresource_kinds()) {
    if (sub.resource == kAnyResource) {
      if (!has_subresource(schema, sub.subresource)) continue;
      const Kind shown = sub.kind.empty()
                             ? kind
                             : Kind{std::string(sub.kind_group), std::string(sub.kind_version),
                                    std::string(sub.kind), kind.plural};
      out.push_back({std::string(sub.subresource), shown.group, shown.version, shown.kind,
                     verbs_of(kAnyResource, kAnyResource, sub.subresource)});
    } else if (sub.group == kind.group && sub.resource == kind.plural) {
      out.push_back({std::string(sub.subresource), std::string(sub.kind_group),
                     std::string(sub.kind_version), std::string(sub.kind),
                     verbs_of(sub.group, sub.resource, sub.subresource)});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

DiscoveryResource of_schema(const KindSchema& schema) {
  const Kind& kind = schema.kind();
  DiscoveryResource out{kind.plural, schema.singular(), kind.kind, kind.namespaced, true};
  out.short_names = schema.short_names();
  out.categories = schema.categories();
  out.verbs = schema.verbs();
  const CustomKind* custom = as_custom(schema);
  if (custom != nullptr && custom->terminating()) {
    std::erase_if(out.verbs, [](const std::string& verb) {
      return verb == "create" || verb == "patch" || verb == "update";
    });
  }
  std::sort(out.verbs.begin(), out.verbs.end());
  out.subresources = subresources_of(schema);
  return out;
}

DiscoveryVersion& version_of(std::vector<DiscoveryVersion>& versions, std::string_view group,
                             std::string_view version) {
  const auto found = std::find_if(versions.begin(), versions.end(), [&](const auto& v) {
    return v.group == group && v.version == version;
  });
  if (found != versions.end()) return *found;
  // Behind the last version of its group, so that groups keep the order they came in.
  auto place = versions.end();
  for (auto it = versions.begin(); it != versions.end(); ++it) {
    if (it->group == group) place = it + 1;
  }
  return *versions.insert(place, DiscoveryVersion{std::string(group), std::string(version), {}});
}

// "base64 of the first 8 bytes of SHA-256 over group/version/kind"
std::string storage_hash(const DiscoveryVersion& version, const DiscoveryResource& resource) {
  return base64_encode(
      openssl::sha256(version.group + "/" + version.version + "/" + resource.kind).substr(0, 8));
}

JsonObject legacy_entry(const DiscoveryVersion& version, const DiscoveryResource& resource) {
  JsonObject out{{"name", resource.plural},
                 {"singularName", resource.singular},
                 {"namespaced", resource.namespaced},
                 {"kind", resource.kind},
                 {"verbs", words(resource.verbs)}};
  if (!resource.short_names.empty()) out["shortNames"] = words(resource.short_names);
  if (!resource.categories.empty()) out["categories"] = words(resource.categories);
  if (resource.listable) out["storageVersionHash"] = storage_hash(version, resource);
  return out;
}

JsonObject legacy_entry(const DiscoveryVersion& version, const DiscoveryResource& resource,
                        const DiscoverySubresource& sub) {
  JsonObject out{{"name", resource.plural + "/" + sub.name},
                 {"singularName", ""},
                 {"namespaced", resource.namespaced},
                 {"kind", sub.kind},
                 {"verbs", words(sub.verbs)}};
  if (sub.group != version.group || sub.version != version.version) {
    if (!sub.group.empty()) out["group"] = sub.group;
    out["version"] = sub.version;
  }
  return out;
}

JsonObject response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

JsonObject aggregated_entry(const DiscoveryVersion& version, const DiscoveryResource& resource) {
  JsonObject out{{"resource", resource.plural},
                 {"responseKind", response_kind(version.group, version.version, resource.kind)},
                 {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                 {"singularResource", resource.singular},
                 {"verbs", words(resource.verbs)}};
  if (!resource.short_names.empty()) out["shortNames"] = words(resource.short_names);
  if (!resource.categories.empty()) out["categories"] = words(resource.categories);
  JsonArray subs;
  for (const DiscoverySubresource& sub : resource.subresources) {
    subs.push_back(JsonObject{{"subresource", sub.name},
                              {"responseKind", response_kind(sub.group, sub.version, sub.kind)},
                              {"verbs", words(sub.verbs)}});
  }
  if (!subs.empty()) out["subresources"] = std::move(subs);
  return out;
}

JsonObject group_entry(const std::vector<DiscoveryVersion>& versions, std::string_view group) {
  JsonArray served;
  for (const DiscoveryVersion& version : versions) {
    if (version.group == group)
      served.push_back(
          JsonObject{{"groupVersion", version.api_version()}, {"version", version.version}});
  }
  Json preferred = served.front();
  return {
      {"name", group}, {"versions", std::move(served)}, {"preferredVersion", std::move(preferred)}};
}

// Weight of "v1beta2": stage (GA, beta, alpha), then numbers. Nothing when it is not of that form.
struct VersionRank {
  int stage;
  std::int64_t major, minor;
};
std::optional<VersionRank> rank_of(std::string_view version) {
  if (!version.starts_with('v')) return std::nullopt;
  version.remove_prefix(1);
  for (const auto& [word, stage] : {std::pair<std::string_view, int>{"beta", 1}, {"alpha", 0}}) {
    const std::size_t at = version.find(word);
    if (at == std::string_view::npos) continue;
    const auto major = parse_int(version.substr(0, at));
    const auto minor = parse_int(version.substr(at + word.size()));
    if (!major || !minor) return std::nullopt;
    return VersionRank{stage, *major, *minor};
  }
  const auto major = parse_int(version);
  if (!major) return std::nullopt;
  return VersionRank{2, *major, 0};
}

}  // namespace

bool version_before(std::string_view a, std::string_view b) {
  const auto x = rank_of(a);
  const auto y = rank_of(b);
  if (x && y)
    return std::tuple(-x->stage, -x->major, -x->minor) <
           std::tuple(-y->stage, -y->major, -y->minor);
  if (x || y) return x.has_value();
  return a < b;
}

std::vector<DiscoveryVersion> discover(const SchemaSet& schemas) {
  std::vector<DiscoveryVersion> out;
  for (const KindSchemaPtr& schema : schemas.all()) {
    version_of(out, schema->kind().group, schema->kind().version)
        .resources.push_back(of_schema(*schema));
  }
  for (const VirtualResource& resource : virtual_resources()) {
    DiscoveryResource entry{std::string(resource.resource), std::string(resource.singular),
                            std::string(resource.kind), resource.namespaced, false};
    entry.verbs = verbs_of(resource.group, resource.resource, "");
    version_of(out, resource.group, resource.version).resources.push_back(std::move(entry));
  }
  for (DiscoveryVersion& version : out) {
    std::sort(version.resources.begin(), version.resources.end(),
              [](const auto& a, const auto& b) { return a.plural < b.plural; });
  }
  // Versions of one group stand side by side: order each run.
  for (auto from = out.begin(); from != out.end();) {
    const auto to =
        std::find_if(from, out.end(), [&](const auto& v) { return v.group != from->group; });
    std::stable_sort(from, to, [](const auto& a, const auto& b) {
      return version_before(a.version, b.version);
    });
    from = to;
  }
  return out;
}

Json api_versions(std::string_view address) {
  return JsonObject{
      {"kind", "APIVersions"},
      {"versions", JsonArray{"v1"}},
      {"serverAddressByClientCIDRs",
       JsonArray{JsonObject{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}}}};
}

Json api_group_list(const std::vector<DiscoveryVersion>& versions) {
  JsonArray groups;
  std::string_view last;
  for (const DiscoveryVersion& version : versions) {
    if (version.group.empty() || version.group == last) continue;
    last = version.group;
    groups.push_back(group_entry(versions, version.group));
  }
  return JsonObject{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<Json> api_group(const std::vector<DiscoveryVersion>& versions,
                              std::string_view group) {
  const bool served =
      !group.empty() && std::any_of(versions.begin(), versions.end(),
                                    [&](const auto& v) { return v.group == group; });
  if (!served) return std::nullopt;
  JsonObject out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  for (auto& member : group_entry(versions, group)) out[member.key()] = std::move(member.value());
  return Json(std::move(out));
}

std::optional<Json> api_resource_list(const std::vector<DiscoveryVersion>& versions,
                                      std::string_view group, std::string_view version) {
  const auto found = std::find_if(versions.begin(), versions.end(), [&](const auto& v) {
    return v.group == group && v.version == version;
  });
  if (found == versions.end()) return std::nullopt;
  JsonArray resources;
  for (const DiscoveryResource& resource : found->resources) {
    resources.push_back(legacy_entry(*found, resource));
    for (const DiscoverySubresource& sub : resource.subresources)
      resources.push_back(legacy_entry(*found, resource, sub));
  }
  return Json(JsonObject{{"kind", "APIResourceList"},
                         {"apiVersion", "v1"},
                         {"groupVersion", found->api_version()},
                         {"resources", std::move(resources)}});
}

Json aggregated(const std::vector<DiscoveryVersion>& versions, bool core, std::string_view format) {
  JsonArray items;
  for (const DiscoveryVersion& version : versions) {
    if (version.group.empty() != core) continue;
    JsonArray resources;
    for (const DiscoveryResource& resource : version.resources)
      resources.push_back(aggregated_entry(version, resource));
    JsonObject entry{{"version", version.version},
                     {"freshness", "Current"},
                     {"resources", std::move(resources)}};
    JsonObject* const last = items.empty() ? nullptr : items.back().if_object();
    if (last != nullptr && text_at(items.back(), {"metadata", "name"}) == version.group) {
      (*last)["versions"].as_array().push_back(std::move(entry));
      continue;
    }
    JsonObject metadata;
    if (!version.group.empty()) metadata["name"] = version.group;
    metadata["creationTimestamp"] = nullptr;
    items.push_back(
        JsonObject{{"metadata", std::move(metadata)}, {"versions", JsonArray{std::move(entry)}}});
  }
  return JsonObject{{"kind", "APIGroupDiscoveryList"},
                    {"apiVersion", "apidiscovery.k8s.io/" + std::string(format)},
                    {"metadata", JsonObject{}},
                    {"items", std::move(items)}};
}

std::string etag_of(std::string_view text) {
  std::string hex = hex_encode(openssl::sha256(text));
  for (char& c : hex) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return "\"" + hex + "\"";
}

void Discovery::refresh() const {
  std::vector<KindSchemaPtr> now = schemas_.all();
  if (versions_ && now == seen_) return;
  seen_ = std::move(now);
  versions_ = std::make_shared<const std::vector<DiscoveryVersion>>(discover(schemas_));
  documents_.clear();
}

std::shared_ptr<const std::vector<DiscoveryVersion>> Discovery::versions() const {
  const std::lock_guard lock(mutex_);
  refresh();
  return versions_;
}

std::shared_ptr<const Discovery::Document> Discovery::aggregated(bool core,
                                                                 std::string_view format) const {
  const std::lock_guard lock(mutex_);
  refresh();
  auto& kept = documents_[{core, std::string(format)}];
  if (!kept) {
    std::string text = to_json(api::aggregated(*versions_, core, format)) + "\n";
    std::string etag = etag_of(text);
    kept = std::make_shared<const Document>(Document{std::move(text), std::move(etag)});
  }
  return kept;
}

}  // namespace krater::api
