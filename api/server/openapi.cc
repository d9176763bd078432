#include "api/server/openapi.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "api/machinery/openapi_v2_wire.h"
#include "api/registry/status.h"
#include "api/server/conditional.h"
#include "api/server/discovery.h"
#include "api/server/media.h"
#include "base/check.h"
#include "base/env.h"

namespace krater::api {
namespace {

constexpr std::string_view kV2Key = "v2";
constexpr std::string_view kV2WireKey = "v2.protobuf";
// With a dot where clients ask with an `@`: that sign is no legal character of a media type.
constexpr std::string_view kV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

std::string http_date(WallTime time) {
  const std::time_t seconds = time.unix_seconds();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

bool asks_for_protobuf(std::string_view accept) {
  const std::vector<MediaRange> ranges = parse_accept(accept);
  return !ranges.empty() && ranges.front().type.find("proto-openapi.spec.v2") != std::string::npos;
}

}  // namespace

OpenApi::DocumentPtr OpenApi::document(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  if (std::vector<KindSchemaPtr> now = schemas_.all(); now != seen_) {
    seen_ = std::move(now);
    documents_.clear();
  }
  if (const auto kept = documents_.find(path); kept != documents_.end()) return kept->second;
  std::optional<std::string> text = text_of(path);
  if (!text) return nullptr;
  std::string etag = etag_of(*text);
  DocumentPtr made(new Document{*std::move(text), std::move(etag)});
  documents_.emplace(std::string(path), made);
  return made;
}

std::optional<std::string> OpenApi::text_of(std::string_view path) const {
  if (path == kV2Key) return schemas_.openapi_v2();
  if (path != kV2WireKey) return schemas_.openapi_v3(path);
  const auto parsed = parse_json(schemas_.openapi_v2());
  CHECK(parsed.has_value());
  return openapi_v2_wire(*parsed);
}

Response OpenApi::index(const Request& request) const {
  JsonObject paths;
  for (const std::string& path : schemas_.openapi_v3_paths()) {
    const DocumentPtr made = document(path);
    if (made)
      paths[path] =
          JsonObject{{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + made->hash()}};
  }
  std::string text = to_json(Json(JsonObject{{"paths", std::move(paths)}}));
  const std::string etag = etag_of(text);
  return conditional(request, std::move(text), etag);
}

Response OpenApi::v3(std::string_view path, const Request& request) const {
  const DocumentPtr found = document(path);
  if (!found || path == kV2Key || path == kV2WireKey)
    return respond_error(
        make_error(Code::NotFound, "the server could not find the requested resource"));
  const std::string_view hash = request.query.first("hash");
  if (!hash.empty() && hash != found->hash()) {
    Response moved;
    moved.status = 301;
    moved.set("Location", "/openapi/v3/" + std::string(path) + "?hash=" + found->hash());
    return moved;
  }
  Response response =
      conditional(request, std::shared_ptr<const std::string>(found, &found->text), found->etag);
  if (!hash.empty()) {
    std::erase_if(response.headers,
                  [](const Header& header) { return header.first == "Cache-Control"; });
    response.set("Cache-Control", "public, immutable");
    response.set("Expires", http_date(clock_.now() + 24h * 365));
  }
  return response;
}

Response OpenApi::v2(const Request& request) const {
  if (asks_for_protobuf(request.header("Accept"))) {
    const DocumentPtr wire = document(kV2WireKey);
    return conditional(request, std::shared_ptr<const std::string>(wire, &wire->text), wire->etag,
                       kV2Protobuf);
  }
  const DocumentPtr found = document(kV2Key);
  return conditional(request, std::shared_ptr<const std::string>(found, &found->text), found->etag);
}

}  // namespace krater::api
