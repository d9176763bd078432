#include "api/server/service.h"

#include <algorithm>
#include <chrono>

#include "api/auth/impersonation.h"
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

constexpr std::string_view kExtraHeader = "impersonate-extra-";

Impersonation impersonation_of(const Request& request) {
  Impersonation out;
  for (const auto& [name, value] : request.headers) {
    const std::string header = to_lower(name);
    if (header == "impersonate-user") out.user = value;
    if (header == "impersonate-uid") out.uid = value;
    if (header == "impersonate-group") out.groups.push_back(value);
    if (header.starts_with(kExtraHeader)) {
      const std::string key = header.substr(kExtraHeader.size());
      out.extra[percent_decode(key, false).value_or(key)].push_back(value);
    }
  }
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

Response method_not_allowed(std::string allowed) {
  Response response = respond_error(make_error(
      Code::MethodNotAllowed, "the server does not allow this method on the requested resource"));
  response.set("Allow", std::move(allowed));
  return response;
}

// Only what exists has a name to be changed by, and what is made is posted to its collection.
bool name_fits(const ResourcePath& path, Verb verb) {
  if (!path.subresource.empty()) return true;
  if (verb == Verb::Create) return path.name.empty();
  return !path.name.empty() || (verb != Verb::Update && verb != Verb::Patch);
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

Call Service::admit(const Request& request) const {
  Call call{Exchange{request, {}, {}}};
  call.begin = std::chrono::steady_clock::now();
  call.labels.verb = to_lower(request.method);
  Result<Identity> who = deps_.authenticator.authenticate(credentials_of(request));
  Result<std::optional<ResourcePath>> path = parse_resource_path(request.path);
  const bool known = who.has_value();
  if (known) {
    const Impersonation wanted = impersonation_of(request);
    if (wanted.asked()) who = impersonate(deps_.authorizer, *who, wanted);
  }
  if (!known) {
    call.refused = respond_error(make_error(Code::Unauthorized, "Unauthorized"));
  } else if (!who) {
    call.refused = respond_error(who.error());
  } else if (!path) {
    call.refused = respond_error(path.error());
  } else if (call.exchange.who = *std::move(who); *path) {
    call.exchange.path = **std::move(path);
    admit_resource(call);
  } else {
    admit_path(call);
  }
  return call;
}

void Service::admit_path(Call& call) const {
  Exchange& x = call.exchange;
  const Request& request = x.request;
  x.what.verb = call.labels.verb;
  x.what.path = request.path;
  const PathRoute* route = find_path(request.path, x.segments);
  const Authorizer::Verdict verdict = deps_.authorizer.decide(x.who, x.what);
  if (!verdict.allowed) {
    call.refused = respond_error(refusal(x.who, x.what, verdict.reason));
  } else if (route == nullptr) {
    const bool api = request.path.starts_with("/api");
    call.refused =
        api ? respond_error(not_found_error()) : respond(404, kTextType, "404 page not found\n");
  } else if (request.method != route->method &&
             !(request.method == "HEAD" && route->method == "GET")) {
    call.refused = method_not_allowed(std::string(route->method));
  } else {
    call.labels.resource = route->path;
    call.handler = route->handler;
  }
}

void Service::admit_resource(Call& call) const {
  Exchange& x = call.exchange;
  x.schema = deps_.registry.schemas().find(x.path.group, x.path.version, x.path.resource);
  const std::optional<Verb> verb = verb_of(x.request.method, x.path, x.request.query);
  if (!verb) {
    call.refused = method_not_allowed(allowed_methods(x.path, x.schema.get()));
    return;
  }
  x.verb = *verb;
  x.what = attributes_of(x.path, x.verb, x.request.query);
  call.labels = {x.what.verb, x.path.group, x.path.version, {}, {}};
  const Authorizer::Verdict verdict = deps_.authorizer.decide(x.who, x.what);
  if (!verdict.allowed) {
    call.refused = respond_error(refusal(x.who, x.what, verdict.reason));
    return;
  }
  const Found found = find_endpoint(x.path, x.verb, x.schema.get());
  const VirtualResource* const unstored = x.schema ? nullptr : find_virtual(x.path);
  const bool known = found.exists && (x.schema || unstored != nullptr) && x.path.rest.empty();
  if (!known) {
    call.refused = respond_error(not_found_error());
    return;
  }
  call.labels.resource = x.path.resource;
  call.labels.subresource = x.path.subresource;
  const bool namespaced = x.schema ? x.schema->kind().namespaced : unstored->namespaced;
  if (found.handler == nullptr || !name_fits(x.path, x.verb)) {
    call.refused = method_not_allowed(allowed_methods(x.path, x.schema.get()));
  } else if (!scope_fits(x.path, x.verb, namespaced)) {
    call.refused = respond_error(not_found_error());
  }
  // A Namespace is addressed with its own name as the namespace; it lives in none.
  if (x.schema && !namespaced) x.path.name_space.clear();
  call.handler = found.handler;
}

boost::asio::awaitable<Response> Service::handle(Call& call) {
  Response response;
  if (call.refused) {
    response = *std::move(call.refused);
  } else {
    response = co_await call.handler(deps_, call.exchange);
  }
  const auto took = std::chrono::steady_clock::now() - call.begin;
  deps_.metrics.count_request(call.labels, response.upgrade ? 101 : response.status, took);
  if (log::enabled(log::Level::Debug)) {
    log::debug("api.request",
               {{"method", call.exchange.request.method},
                {"path", call.exchange.request.path},
                {"status", response.status},
                {"us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}});
  }
  response.set("Audit-Id", deps_.rng.uuid());
  const bool cached = std::any_of(response.headers.begin(), response.headers.end(),
                                  [](const Header& h) { return h.first == "Cache-Control"; });
  if (!cached) response.set("Cache-Control", "no-cache, private");
  co_return response;
}

}  // namespace krater::api
