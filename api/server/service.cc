#include "api/server/service.h"

#include <algorithm>
#include <chrono>

#include "api/registry/status.h"
#include "api/server/routes.h"
#include "base/log.h"
#include "base/strings.h"

namespace krater::api {
namespace {

Credentials credentials_of(const Request& request) {
  Credentials out;
  out.certificate = request.certificate;
  const std::string_view header = request.header("Authorization");
  if (header.empty()) return out;
  const std::size_t space = header.find(' ');
  const bool bearer =
      space != std::string_view::npos && to_lower(header.substr(0, space)) == "bearer";
  // Another scheme is a credential that does not hold, not the lack of one.
  out.bearer = bearer ? std::string(trim(header.substr(space + 1))) : std::string();
  return out;
}

// The route of a plain path, and the segments below it.
const PathRoute* find_path(std::string_view path, std::vector<std::string>& below) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (const PathRoute& route : path_routes()) {
    if (path == route.path) return &route;
    if (!route.below || !path.starts_with(route.path) || path[route.path.size()] != '/') continue;
    for (const std::string_view segment : split(path.substr(route.path.size() + 1), '/'))
      below.emplace_back(segment);
    return &route;
  }
  return nullptr;
}

Error not_found_error() {
  return make_error(Code::NotFound, "the server could not find the requested resource");
}

Attributes attributes_of(const ResourcePath& path, Verb verb, const Query& query) {
  Attributes out{std::string(verb_name(verb))};
  out.group = path.group;
  out.version = path.version;
  out.resource = path.resource;
  out.subresource = path.subresource;
  out.name_space = path.name_space;
  out.name = path.name;
  const bool selects = verb == Verb::List || verb == Verb::Watch || verb == Verb::DeleteCollection;
  if (selects) {
    const std::string_view selector = query.first("fieldSelector");
    // A collection pinned to one name is authorized as that name.
    if (verb != Verb::DeleteCollection) out.name = pinned_field(selector, "metadata.name");
    out.pinned_node = pinned_field(selector, "spec.nodeName");
  }
  return out;
}

Response method_not_allowed(const ResourcePath& path, const KindSchema* schema) {
  Response response = respond_error(make_error(
      Code::MethodNotAllowed, "the server does not allow this method on the requested resource"));
  response.set("Allow", allowed_methods(path, schema));
  return response;
}

// A request that fits no scope: a namespaced kind without its namespace can only be listed or
// watched.
bool scope_fits(const ResourcePath& path, Verb verb, bool namespaced) {
  if (!namespaced) return path.name_space.empty() || path.resource == "namespaces";
  return !path.name_space.empty() || verb == Verb::List || verb == Verb::Watch;
}

const VirtualResource* find_virtual(const ResourcePath& path) {
  for (const VirtualResource& v : virtual_resources()) {
    if (v.group == path.group && v.version == path.version && v.resource == path.resource)
      return &v;
  }
  return nullptr;
}

}  // namespace

boost::asio::awaitable<Response> Service::handle(const Request& request) {
  const auto begin = std::chrono::steady_clock::now();
  Metrics::Labels labels;
  labels.verb = to_lower(request.method);
  Response response = co_await answer(request, labels);
  const auto took = std::chrono::steady_clock::now() - begin;
  deps_.metrics.count_request(labels, response.upgrade ? 101 : response.status, took);
  if (log::enabled(log::Level::Debug)) {
    log::debug("api.request",
               {{"method", request.method},
                {"path", request.path},
                {"status", response.status},
                {"us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}});
  }
  response.set("Audit-Id", deps_.rng.uuid());
  const bool cached = std::any_of(response.headers.begin(), response.headers.end(),
                                  [](const Header& h) { return h.first == "Cache-Control"; });
  if (!cached) response.set("Cache-Control", "no-cache, private");
  co_return response;
}

boost::asio::awaitable<Response> Service::answer(const Request& request, Metrics::Labels& labels) {
  const Result<Identity> who = deps_.authenticator.authenticate(credentials_of(request));
  if (!who) co_return respond_error(make_error(Code::Unauthorized, "Unauthorized"));
  const Result<std::optional<ResourcePath>> path = parse_resource_path(request.path);
  if (!path) co_return respond_error(path.error());

  if (!*path) {
    Exchange x{request, *who, {}};
    x.what.verb = labels.verb;
    x.what.path = request.path;
    const PathRoute* route = find_path(request.path, x.segments);
    const Authorizer::Verdict verdict = deps_.authorizer.decide(x.who, x.what);
    if (!verdict.allowed) co_return respond_error(refusal(x.who, x.what, verdict.reason));
    if (route == nullptr) {
      const bool api = request.path.starts_with("/api");
      co_return api ? respond_error(not_found_error())
                    : respond(404, kTextType, "404 page not found\n");
    }
    if (request.method != route->method && !(request.method == "HEAD" && route->method == "GET")) {
      Response response = respond_error(
          make_error(Code::MethodNotAllowed,
                     "the server does not allow this method on the requested resource"));
      response.set("Allow", std::string(route->method));
      co_return response;
    }
    labels.resource = route->path;
    co_return co_await route->handler(deps_, x);
  }

  Exchange x{request, *who, {}, **path};
  x.schema = deps_.registry.schemas().find(x.path.group, x.path.version, x.path.resource);
  const std::optional<Verb> verb = verb_of(request.method, x.path, request.query);
  if (!verb) co_return method_not_allowed(x.path, x.schema.get());
  x.verb = *verb;
  x.what = attributes_of(x.path, x.verb, request.query);
  labels = {x.what.verb, x.path.group, x.path.version, {}, {}};
  const Authorizer::Verdict verdict = deps_.authorizer.decide(x.who, x.what);
  if (!verdict.allowed) co_return respond_error(refusal(x.who, x.what, verdict.reason));
  const Found found = find_endpoint(x.path, x.verb, x.schema.get());
  const VirtualResource* const unstored = x.schema ? nullptr : find_virtual(x.path);
  const bool known = found.exists && (x.schema || unstored != nullptr);
  if (!known || !x.path.rest.empty()) co_return respond_error(not_found_error());
  labels.resource = x.path.resource;
  labels.subresource = x.path.subresource;
  if (found.handler == nullptr ||
      (x.verb == Verb::Create && !x.path.name.empty() && x.path.subresource.empty())) {
    co_return method_not_allowed(x.path, x.schema.get());
  }
  const bool namespaced = x.schema ? x.schema->kind().namespaced : unstored->namespaced;
  if (!scope_fits(x.path, x.verb, namespaced)) co_return respond_error(not_found_error());
  // A Namespace is addressed with its own name as the namespace; it lives in none.
  if (x.schema && !x.schema->kind().namespaced) x.path.name_space.clear();
  co_return co_await found.handler(deps_, x);
}

}  // namespace krater::api
