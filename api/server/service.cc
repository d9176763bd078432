#include "api/server/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "api/auth/impersonation.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/registry/status.h"
#include "api/server/media.h"
#include "api/server/protobuf_answer.h"
#include "api/server/render.h"
#include "api/server/routes.h"
#include "api/server/websocket.h"
#include "base/log.h"
#include "base/strings.h"

namespace krater::api {
namespace {

Credentials credentials_of(const Request& request) {
  Credentials out;
  out.certificate = request.certificate;
  const std::string_view header = request.header("Authorization");
  if (header.empty()) {
    out.bearer = bearer_of_protocols(request);
    return out;
  }
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

bool known_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods{"GET",   "HEAD",   "POST",   "PUT",
                                                     "PATCH", "DELETE", "OPTIONS"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

// kube-apiserver's names of verbs in metrics.
std::string label_of(Verb verb, const Request& request) {
  switch (verb) {
    case Verb::Get:
      return "GET";
    case Verb::List:
      return "LIST";
    case Verb::Watch:
      return "WATCH";
    case Verb::Create:
      return "POST";
    case Verb::Update:
      return "PUT";
    case Verb::Patch: {
      const Result<client::PatchType> type = patch_type(request.header("Content-Type"));
      return type && *type == client::PatchType::Apply ? "APPLY" : "PATCH";
    }
    case Verb::Delete:
      return "DELETE";
    case Verb::DeleteCollection:
      return "DELETECOLLECTION";
  }
  return "";
}

std::string scope_of(const ResourcePath& path, Verb verb) {
  if (!path.name.empty() || verb == Verb::Create) return "resource";
  return path.name_space.empty() ? "cluster" : "namespace";
}

// Classes, for names of users would let metrics grow without end.
std::string_view class_of(const Identity& who) {
  if (who.user == "kubernetes-admin" || who.user == "system:admin") return "admin";
  if (who.user.starts_with("system:serviceaccount:kube-system:"))
    return "kube-system service accounts";
  return "other";
}

std::string_view scheme_of(const Request& request) {
  const std::string_view header = request.header("Authorization");
  if (header.empty()) return "websocket protocol";
  return to_lower(header.substr(0, header.find(' '))) == "basic" ? "basic" : "bearer";
}

bool is_health(std::string_view path) {
  for (const std::string_view root : {"/healthz", "/livez", "/readyz"}) {
    if (path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/'))
      return true;
  }
  return false;
}

bool is_long_running(const Exchange& x) {
  constexpr std::array<std::string_view, 5> kStreams{"attach", "exec", "log", "portforward",
                                                     "proxy"};
  if (x.path.resource.empty()) return x.request.path == "/krater/v1/tunnel";
  return (x.verb == Verb::Watch && x.what.verb == "watch") ||
         std::find(kStreams.begin(), kStreams.end(), x.path.subresource) != kStreams.end();
}

// Strangers have only their addresses to be told apart by.
std::string flow_client(const Exchange& x) {
  return x.who.anonymous() ? "address:" + x.request.remote : "user:" + x.who.user;
}

Response too_many_requests() {
  Error error = make_error(Code::TooManyRequests, "Too many requests, please try again later.");
  error.retry_after_seconds = 1;
  return respond_error(error);
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

Result<Identity> Service::authenticate(const Request& request) const {
  const auto begin = std::chrono::steady_clock::now();
  Result<Identity> who = deps_.authenticator.authenticate(credentials_of(request));
  deps_.metrics.count_authentication(who ? "success" : "failure", who ? class_of(*who) : "",
                                     std::chrono::steady_clock::now() - begin);
  return who;
}

// What is asked for, as authorization, audit and metrics call it.
void Service::describe(Call& call) const {
  Exchange& x = call.exchange;
  const Request& request = x.request;
  call.labels.verb = known_method(request.method) ? request.method : "other";
  if (request.query.has("dryRun")) call.labels.dry_run = "All";
  x.what.verb = to_lower(request.method);
  if (x.path.resource.empty()) {
    x.what.path = request.path;
    return;
  }
  x.schema = deps_.registry.schemas().find(x.path.group, x.path.version, x.path.resource);
  if (const std::optional<Verb> verb = verb_of(request.method, x.path, request.query)) {
    x.verb = *verb;
    x.what = attributes_of(x.path, x.verb, request.query);
    call.labels.verb = label_of(x.verb, request);
  } else {
    x.what = attributes_of(x.path, Verb::Get, request.query);
    x.what.verb = to_lower(request.method);
  }
  call.labels.scope = scope_of(x.path, x.verb);
}

void Service::audit(Call& call, const Result<Identity>& who) const {
  if (deps_.auditing == nullptr) return;
  const Request& request = call.exchange.request;
  call.trail = begin_trail(*deps_.auditing, deps_.clock, request, call.audit_id,
                           who ? &*who : nullptr, call.exchange.what);
  if (!call.trail) return;
  call.exchange.notes = std::make_shared<AuditNotes>();
  if (who) return call.trail->received();
  const bool certificate = request.certificate.has_value();
  call.trail->unauthenticated("Authentication failed, attempted: " +
                              std::string(certificate ? "x509" : scheme_of(request)));
  call.trail.reset();
}

Call Service::admit(const Request& request) const {
  Call call{Exchange{request, {}, {}}};
  call.begin = std::chrono::steady_clock::now();
  call.audit_id = audit_id_of(request, deps_.rng.uuid());
  Result<Identity> who = authenticate(request);
  Result<std::optional<ResourcePath>> path = parse_resource_path(request.path);
  const bool resource = path && *path;
  if (resource) call.exchange.path = **path;
  describe(call);
  audit(call, who);
  const bool known = who.has_value();
  if (known) {
    const Impersonation wanted = impersonation_of(request);
    if (wanted.asked()) {
      who = impersonate(deps_.authorizer, *who, wanted);
      if (who && call.trail) call.trail->impersonated(*who);
    }
  }
  if (!known) {
    call.refused = respond_error(make_error(Code::Unauthorized, "Unauthorized"));
  } else if (!who) {
    call.refused = respond_error(who.error());
  } else if (!path) {
    call.refused = respond_error(path.error());
  } else if (call.exchange.who = *std::move(who); !take_place(call)) {
    call.refused = too_many_requests();
    deps_.metrics.count_termination(call.labels, call.refused->status);
  } else if (resource) {
    admit_resource(call);
  } else {
    admit_path(call);
  }
  return call;
}

// Masters repair, leases keep what lives alive, health is asked by who decides about restarts:
// those wait for nobody. What stays for long is bounded by the number of connections.
bool Service::take_place(Call& call) const {
  const Exchange& x = call.exchange;
  if (is_long_running(x)) return true;
  const bool read_only = x.what.verb == "get" || x.what.verb == "head" || x.what.verb == "list" ||
                         x.what.verb == "watch";
  const FlowKind kind = read_only ? FlowKind::ReadOnly : FlowKind::Mutating;
  const bool health = x.path.resource.empty() && is_health(x.request.path);
  const bool lease = x.path.group == "coordination.k8s.io" && x.path.resource == "leases";
  if (health || lease || x.who.in(kMastersGroup)) {
    call.place = deps_.flow.admit_exempt(kind);
    return true;
  }
  std::optional<FlowControl::Place> place = deps_.flow.admit(kind, flow_client(x));
  if (place) call.place = *std::move(place);
  return place.has_value();
}

bool Service::allowed(Call& call) const {
  const Exchange& x = call.exchange;
  const auto begin = std::chrono::steady_clock::now();
  const Authorizer::Verdict verdict = deps_.authorizer.decide(x.who, x.what);
  deps_.metrics.count_authorization(verdict.allowed ? "allowed" : "denied",
                                    std::chrono::steady_clock::now() - begin);
  if (call.trail) {
    call.trail->annotate("authorization.k8s.io/decision", verdict.allowed ? "allow" : "forbid");
    call.trail->annotate("authorization.k8s.io/reason", verdict.reason);
  }
  if (!verdict.allowed) call.refused = respond_error(refusal(x.who, x.what, verdict.reason));
  return verdict.allowed;
}

void Service::admit_path(Call& call) const {
  Exchange& x = call.exchange;
  const Request& request = x.request;
  const PathRoute* route = find_path(request.path, x.segments);
  if (!allowed(call)) return;
  if (route == nullptr) {
    const bool api = request.path.starts_with("/api");
    call.refused =
        api ? respond_error(not_found_error()) : respond(404, kTextType, "404 page not found\n");
  } else if (request.method != route->method &&
             !(request.method == "HEAD" && route->method == "GET")) {
    call.refused = method_not_allowed(std::string(route->method));
  } else {
    call.labels.subresource = route->path;
    call.handler = route->handler;
  }
}

void Service::admit_resource(Call& call) const {
  Exchange& x = call.exchange;
  if (!verb_of(x.request.method, x.path, x.request.query)) {
    call.refused = method_not_allowed(allowed_methods(x.path, x.schema.get()));
    return;
  }
  if (!allowed(call)) return;
  const Found found = find_endpoint(x.path, x.verb, x.schema.get());
  const VirtualResource* const unstored = x.schema ? nullptr : find_virtual(x.path);
  const bool known = found.exists && (x.schema || unstored != nullptr) && x.path.rest.empty();
  if (!known) {
    call.refused = respond_error(not_found_error());
    return;
  }
  // Only what exists is counted under its name: nobody can make up labels.
  call.labels.group = x.path.group;
  call.labels.version = x.path.version;
  call.labels.resource = x.path.resource;
  call.labels.subresource = x.path.subresource;
  const bool namespaced = x.schema ? x.schema->kind().namespaced : unstored->namespaced;
  if (found.handler == nullptr || !name_fits(x.path, x.verb)) {
    call.refused = method_not_allowed(allowed_methods(x.path, x.schema.get()));
  } else if (!scope_fits(x.path, x.verb, namespaced)) {
    call.refused = respond_error(not_found_error());
  } else if (reads_only_protobuf(x.request.joined_header("Accept")) && !has_protobuf(x)) {
    call.refused = respond_error(negotiate(kProtobufType, {}).error());
  }
  // A Namespace is addressed with its own name as the namespace; it lives in none.
  if (x.schema && !namespaced) x.path.name_space.clear();
  call.handler = found.handler;
}

boost::asio::awaitable<Response> Service::handle(Call& call) {
  Response response;
  std::string panic;
  if (call.refused) {
    response = *std::move(call.refused);
  } else {
    try {
      response = co_await call.handler(deps_, call.exchange);
    } catch (const std::exception& error) {
      panic = error.what();
    }
  }
  if (!panic.empty()) {
    log::error("api.panic", {{"path", call.exchange.request.path}, {"error", panic}});
    if (call.trail) call.trail->panicked(panic);
    call.trail.reset();
    response = respond_error(make_error(
        Code::Internal, "This request caused apiserver to panic. Look in the logs for details."));
  }
  if (const CustomKind* custom =
          call.exchange.schema ? as_custom(*call.exchange.schema) : nullptr) {
    if (std::string warning = custom->deprecation_warning(); !warning.empty())
      add_warnings(response, {std::move(warning)});
  }
  tell(call, response);
  if (reads_only_protobuf(call.exchange.request.joined_header("Accept")))
    response = to_protobuf(call.exchange, std::move(response));
  response.set("Audit-Id", call.audit_id);
  const bool cached = std::any_of(response.headers.begin(), response.headers.end(),
                                  [](const Header& h) { return h.first == "Cache-Control"; });
  if (!cached) response.set("Cache-Control", "no-cache, private");
  co_return response;
}

// Whoever is answered in one piece is done with here; of the others the end is told by finish().
void Service::tell(Call& call, const Response& response) const {
  const auto took = std::chrono::steady_clock::now() - call.begin;
  const int status = response.upgrade ? 101 : response.status;
  const bool goes_on = response.stream || response.upgrade;
  if (goes_on) {
    call.long_running = std::make_unique<Metrics::LongRunning>(deps_.metrics, call.labels);
  } else {
    deps_.metrics.count_request(call.labels, status, took, response.body.size());
  }
  if (call.trail) {
    for (const auto& [key, value] : *call.exchange.notes) {
      // A patch tells what the object is.
      if (call.trail->wants_request() || !key.starts_with("patch.webhook."))
        call.trail->annotate(key, value);
    }
    tell_request(*call.trail, call.exchange, deps_.registry.schemas());
    tell_response(*call.trail, response);
    if (is_long_running(call.exchange)) call.trail->started(status);
    if (!goes_on) call.trail->complete(status);
  }
  if (log::enabled(log::Level::Debug)) {
    log::debug("api.request",
               {{"method", call.exchange.request.method},
                {"path", call.exchange.request.path},
                {"status", status},
                {"us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}});
  }
}

void Service::finish(Call& call, const Response& response) const {
  if (!response.stream && !response.upgrade) return;
  const int status = response.upgrade ? 101 : response.status;
  deps_.metrics.count_request(call.labels, status, std::chrono::steady_clock::now() - call.begin);
  if (call.trail) call.trail->complete(status);
  call.long_running.reset();
}

}  // namespace krater::api
