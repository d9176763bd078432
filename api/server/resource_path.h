// What a path names: a resource (with verb, namespace, name and subresource) or a plain path. Pure,
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/server/query.h"
#include "base/result.h"

namespace krater::api {

// In the order of Kubernetes' request info; the first eight are what authorization calls them.
enum class Verb { Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection };
std::string_view verb_name(Verb verb);

struct ResourcePath {
  std::string group;  // "" for /api
  std::string version;
  std::string name_space;
  std::string resource;
  std::string name;
  std::string subresource;
  std::string rest;  // what follows the subresource (proxies)
};

// Nothing when the path does not name a resource (/version, /apis/batch/v1). Code::BadRequest for a
// broken escape or an encoded slash. An empty segment (a slash too many) names nothing.
Result<std::optional<ResourcePath>> parse_resource_path(std::string_view path);

// The verb of a request for a resource; nothing for a method that has none (OPTIONS, CONNECT).
std::optional<Verb> verb_of(std::string_view method, const ResourcePath& path, const Query& query);

// What a field selector pins a label to by `label=value` or `label==value`; "" when it does not.
std::string pinned_field(std::string_view field_selector, std::string_view label);

}  // namespace krater::api
