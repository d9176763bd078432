#include "api/server/auditing.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <utility>

#include "api/server/body.h"
#include "api/server/media.h"
#include "api/server/metrics.h"
#include "api/server/routes.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

constexpr std::size_t kIdMax = 64;
constexpr std::size_t kUserAgentMax = 1024;

std::optional<std::string> address_of(std::string_view text) {
  boost::system::error_code wrong;
  const auto address = boost::asio::ip::make_address(std::string(trim(text)), wrong);
  if (wrong) return std::nullopt;
  return address.to_string();
}

// What proxies say about where a request comes from, then who really sent it.
std::vector<std::string> source_addresses(const Request& request) {
  std::vector<std::string> out;
  const std::string forwarded = request.joined_header("X-Forwarded-For");
  for (const std::string_view one : split(forwarded, ',')) {
    if (auto address = address_of(one)) out.push_back(*std::move(address));
  }
  const auto add = [&out](const std::optional<std::string>& address) {
    if (address && (out.empty() || out.back() != *address)) out.push_back(*address);
  };
  add(address_of(request.header("X-Real-Ip")));
  add(address_of(request.remote));
  return out;
}

// As the handlers read it; nothing where they refuse it.
std::optional<Json> request_object(const Exchange& x, const SchemaSet& schemas) {
  const Request& request = x.request;
  const auto value = [](Result<Json> read) {
    return read ? std::optional<Json>(*std::move(read)) : std::nullopt;
  };
  switch (x.verb) {
    case Verb::Get:
    case Verb::List:
    case Verb::Watch:
      return std::nullopt;
    case Verb::Delete:
    case Verb::DeleteCollection:
      return value(decode_delete_options(request, schemas));
    case Verb::Patch: {
      const Result<client::PatchType> type = patch_type(request.header("Content-Type"));
      if (!type) return std::nullopt;
      Result<DecodedBody> body = decode_patch(request, *type);
      return body ? std::optional<Json>(std::move(body->object)) : std::nullopt;
    }
    case Verb::Create:
    case Verb::Update:
      break;
  }
  const Result<BodyFormat> format = body_format(request.header("Content-Type"));
  if (!format) return std::nullopt;
  switch (*format) {
    case BodyFormat::Json:
      return value(parse_json(request.body));
    case BodyFormat::Yaml:
      return value(parse_yaml(request.body));
    case BodyFormat::Protobuf:
      break;
  }
  const bool own_kind = x.schema && (x.path.subresource.empty() || x.path.subresource == "status");
  return value(own_kind ? x.schema->decode_protobuf(request.body)
                        : schemas.decode_protobuf_message("", request.body));
}

}  // namespace

std::unique_ptr<audit::Trail> begin_trail(const Auditing& auditing, const WallClock& clock,
                                          const Request& request, const std::string& audit_id,
                                          const Identity* who, const Attributes& what) {
  const audit::Decision decision = audit::decide(auditing.policy, who, what);
  if (decision.level == audit::Level::None) return nullptr;
  audit::RequestFacts facts;
  facts.audit_id = audit_id;
  facts.uri = request.target;
  facts.user_agent = std::string(request.header("User-Agent").substr(0, kUserAgentMax));
  facts.source_ips = source_addresses(request);
  if (who != nullptr) facts.user = *who;
  facts.what = what;
  return std::make_unique<audit::Trail>(auditing.log, clock, decision, std::move(facts));
}

void tell_request(audit::Trail& trail, const Exchange& exchange, const SchemaSet& schemas) {
  if (exchange.request.body.empty() || exchange.path.resource.empty()) return;
  const bool names_new = exchange.verb == Verb::Create && exchange.what.name.empty();
  if (!trail.wants_request() && !names_new) return;
  if (std::optional<Json> object = request_object(exchange, schemas);
      object && (object->is_object() || object->is_array()))
    trail.request_object(*std::move(object));
}

void tell_response(audit::Trail& trail, const Response& response) {
  const bool failed = response.status >= 300;
  if (response.stream || response.upgrade || (!failed && !trail.wants_response())) return;
  const bool json =
      std::any_of(response.headers.begin(), response.headers.end(), [](const Header& header) {
        return header.first == "Content-Type" && header.second == kJsonType;
      });
  if (!json) return;
  if (Result<Json> object = parse_json(response.body.text()); object && object->is_object())
    trail.response_object(*std::move(object));
}

std::string audit_id_of(const Request& request, const std::string& fresh) {
  const std::string_view given = request.header("Audit-ID").substr(0, kIdMax);
  const bool plain =
      std::all_of(given.begin(), given.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  return given.empty() || !plain ? fresh : std::string(given);
}

void add_audit_metrics(Metrics& metrics, const Auditing& auditing) {
  const std::shared_ptr<const audit::AuditLog> log = auditing.log;
  metrics.add_gauge("apiserver_audit_event_total", "Audit events made.",
                    [log] { return static_cast<double>(log->counts().events); });
  metrics.add_gauge("apiserver_audit_requests_rejected_total",
                    "Requests refused because they could not be audited: never.",
                    [] { return 0.0; });
  metrics.add_family(
      "apiserver_audit_error_total",
      "Audit events that are not in the log: the queue was full or the disk refused.", "counter",
      [log] {
        const audit::LogCounts now = log->counts();
        return std::vector<Metrics::Sample>{
            {R"(plugin="log")", static_cast<double>(now.dropped + now.failed)}};
      });
  metrics.add_family("apiserver_audit_level_total", "Audit events by level.", "counter", [log] {
    const audit::LogCounts now = log->counts();
    std::vector<Metrics::Sample> out;
    for (const audit::Level level :
         {audit::Level::Metadata, audit::Level::Request, audit::Level::RequestResponse}) {
      out.push_back({"level=\"" + std::string(audit::level_name(level)) + "\"",
                     static_cast<double>(now.by_level[static_cast<std::size_t>(level)])});
    }
    return out;
  });
}

}  // namespace krater::api
