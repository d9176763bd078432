// The one table of what can be asked: which resource, which subresource, which verb, and who
// answers. Discovery is made from it, so nothing can be served that is not announced, nor the other
// way round.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/auth/authorizer.h"
#include "api/server/deps.h"
#include "api/server/http.h"
#include "api/server/resource_path.h"

namespace krater::api {

// One request on its way through the handlers.
struct Exchange {
  const Request& request;
  Identity who;
  Attributes what;      // what it asks for, as authorization sees it
  ResourcePath path{};  // of a resource request
  Verb verb = Verb::Get;
  KindSchemaPtr schema{};  // of the stored kind it is about; null for reviews and plain paths
  std::vector<std::string> segments{};  // of a plain path
  std::shared_ptr<AuditNotes> notes{};  // for the audit log; null: there is none
};

using Answering = boost::asio::awaitable<Response>;
using Handler = Answering (*)(Deps&, Exchange&);

inline constexpr std::string_view kAnyResource = "*";

struct Endpoint {
  std::string_view group, resource;  // kAnyResource: every stored kind whose schema lists the verb
  std::string_view subresource;
  Verb verb;
  Handler handler;
};
std::span<const Endpoint> endpoints();

// Subresources by what they take or give; "" stands for the resource's own kind. kAnyResource: of
// every kind whose schema has it.
struct SubresourceKind {
  std::string_view group, resource, subresource;
  std::string_view kind_group, kind_version, kind;
};
std::span<const SubresourceKind> subresource_kinds();

// Resources that are answered and never stored.
struct VirtualResource {
  std::string_view group, version, resource, singular, kind;
  bool namespaced;
};
std::span<const VirtualResource> virtual_resources();

struct PathRoute {
  std::string_view path;  // "/apis"
  bool below;             // and everything below it; the rest stands in Exchange::segments
  std::string_view method;
  Handler handler;
};
std::span<const PathRoute> path_routes();

// The handler of a resource request. Nothing: `exists` says whether another verb would be answered
// (405) or not (404).
struct Found {
  Handler handler = nullptr;
  bool exists = false;
};
Found find_endpoint(const ResourcePath& path, Verb verb, const KindSchema* schema);
// Methods for Allow, of a path that exists with another verb.
std::string allowed_methods(const ResourcePath& path, const KindSchema* schema);

}  // namespace krater::api
