// Everything that is no resource: discovery, documents, health.
#include <chrono>
#include <memory>
#include <vector>

#include "api/registry/status.h"
#include "api/server/await.h"
#include "api/server/conditional.h"
#include "api/server/handlers.h"
#include "api/server/media.h"
#include "base/strings.h"

namespace krater::api::handlers {
namespace {

// The Kubernetes version whose behaviour is served. Its minor number stays within one of the
// clients we support.
constexpr std::string_view kKubernetesVersion = "v1.32.4";
constexpr auto kFreshWithin = std::chrono::milliseconds(200);
constexpr std::string_view kAggregated = "APIGroupDiscoveryList";

Response nothing_here() {
  return respond_error(
      make_error(Code::NotFound, "the server could not find the requested resource"));
}

// "v2" or "v2beta1" when the client prefers the aggregated document over the legacy one.
std::string aggregated_format(const Request& request) {
  for (const MediaRange& range : parse_accept(request.joined_header("Accept"))) {
    if (range.type != "application/json") continue;
    const std::string_view version = range.parameter("v");
    if (range.parameter("as") == kAggregated && range.parameter("g") == "apidiscovery.k8s.io" &&
        (version == "v2" || version == "v2beta1")) {
      return std::string(version);
    }
    if (range.parameter("as").empty()) return {};
  }
  return {};
}

Response aggregated_answer(const Deps& deps, const Request& request, bool core,
                           const std::string& format) {
  const auto document = deps.discovery.aggregated(core, format);
  return conditional(
      request, std::shared_ptr<const std::string>(document, &document->text), document->etag,
      "application/json;g=apidiscovery.k8s.io;v=" + format + ";as=" + std::string(kAggregated));
}

Response json_or_nothing(const std::optional<Json>& value) {
  return value ? respond_json(200, *value) : nothing_here();
}

Answering check_health(Deps& deps, Exchange& x, std::string_view endpoint) {
  if (x.segments.size() > 1) co_return respond(404, kTextType, "404 page not found\n");
  co_return health(endpoint, x.segments.empty() ? "" : x.segments[0], x.request.query, deps.health);
}

}  // namespace

Answering index(Deps& deps, Exchange&) {
  JsonArray paths{"/api", "/api/v1", "/apis"};
  std::string_view last;
  const auto versions = deps.discovery.versions();
  for (const DiscoveryVersion& version : *versions) {
    if (version.group.empty()) continue;
    if (version.group != last) paths.emplace_back("/apis/" + version.group);
    paths.emplace_back("/apis/" + version.api_version());
    last = version.group;
  }
  for (const std::string_view path :
       {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.emplace_back(path);
  }
  co_return respond_json(200, JsonObject{{"paths", std::move(paths)}});
}

Answering version(Deps& deps, Exchange&) {
  co_return respond_json(
      200, JsonObject{{"major", "1"},
                      {"minor", "32"},
                      {"gitVersion", std::string(kKubernetesVersion) + "+krater-" + deps.version},
                      {"gitCommit", ""},
                      {"gitTreeState", "clean"},
                      {"buildDate", "1970-01-01T00:00:00Z"},
                      {"goVersion", "none"},
                      {"compiler", "c++"},
                      {"platform", "linux/amd64"}});
}

Answering healthz(Deps& deps, Exchange& x) {
  return check_health(deps, x, "healthz");
}
Answering livez(Deps& deps, Exchange& x) {
  return check_health(deps, x, "livez");
}
Answering readyz(Deps& deps, Exchange& x) {
  return check_health(deps, x, "readyz");
}

Answering metrics(Deps& deps, Exchange&) {
  const auto bell = std::make_shared<Bell>(co_await boost::asio::this_coro::executor);
  const std::vector<Metrics::Refresh> refreshes = deps.metrics.refreshes();
  for (const Metrics::Refresh& refresh : refreshes) {
    refresh([bell] { bell->ring(); });
    co_await bell->wait(kFreshWithin);
  }
  co_return respond(200, "text/plain; version=0.0.4; charset=utf-8", deps.metrics.text());
}

Answering discovery_core(Deps& deps, Exchange& x) {
  if (x.segments.empty()) {
    const std::string format = aggregated_format(x.request);
    if (!format.empty()) co_return aggregated_answer(deps, x.request, true, format);
    co_return respond_json(200, api_versions(deps.server_address));
  }
  if (x.segments.size() != 1) co_return nothing_here();
  co_return json_or_nothing(api_resource_list(*deps.discovery.versions(), "", x.segments[0]));
}

Answering discovery_groups(Deps& deps, Exchange& x) {
  const auto versions = deps.discovery.versions();
  if (x.segments.empty()) {
    const std::string format = aggregated_format(x.request);
    if (!format.empty()) co_return aggregated_answer(deps, x.request, false, format);
    co_return respond_json(200, api_group_list(*versions));
  }
  if (x.segments.size() == 1) co_return json_or_nothing(api_group(*versions, x.segments[0]));
  if (x.segments.size() != 2 || x.segments[0].empty()) co_return nothing_here();
  co_return json_or_nothing(api_resource_list(*versions, x.segments[0], x.segments[1]));
}

Answering openapi_v2(Deps& deps, Exchange& x) {
  co_return deps.openapi.v2(x.request);
}

Answering openapi_v3(Deps& deps, Exchange& x) {
  if (x.segments.empty()) co_return deps.openapi.index(x.request);
  co_return deps.openapi.v3(krater::join(x.segments, "/"), x.request);
}

Answering token_keys(Deps& deps, Exchange&) {
  co_return respond(200, "application/jwk-set+json", to_json(deps.tokens.public_keys()));
}

Answering token_issuer(Deps& deps, Exchange&) {
  co_return respond_json(
      200, JsonObject{{"issuer", deps.tokens.settings().issuer},
                      {"jwks_uri", "https://" + deps.server_address + "/openid/v1/jwks"},
                      {"response_types_supported", JsonArray{"id_token"}},
                      {"subject_types_supported", JsonArray{"public"}},
                      {"id_token_signing_alg_values_supported", JsonArray{"ES256"}}});
}

}  // namespace krater::api::handlers
