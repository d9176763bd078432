#include "api/server/render.h"

#include <set>
#include <utility>

#include "api/server/protobuf_answer.h"
#include "base/check.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

constexpr std::size_t kWarningsMax = 4096;
constexpr std::size_t kWarningClip = 256;

// The text of a quoted-string; control characters would let a name forge headers.
std::string quoted_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

Response json_answer(int status, std::string text) {
  text += '\n';
  return respond(status, kJsonType, std::move(text));
}

// Whoever wants to read YAML gets the JSON answer written anew.
Response in_format(const Media& media, Response response) {
  if (media.format != Format::Yaml || response.status >= 300) return response;
  const Result<Json> document = parse_json(response.body.text());
  CHECK(document.has_value());
  Response out = respond(response.status, media.content_type(), to_yaml(*document));
  return out;
}

Response object_as_json(const Exchange& exchange, const Media& media, const ObjectPtr& object,
                        int status, WallTime now) {
  switch (media.shape) {
    case Shape::Table: {
      const Result<IncludeObject> include =
          include_object(exchange.request.query.first("includeObject"));
      if (!include) return respond_error(include.error());
      return json_answer(status,
                         TableWriter(*exchange.schema, *include, now).single(*object, true));
    }
    case Shape::PartialMetadata:
      return json_answer(status, partial_metadata(*object));
    case Shape::Full:
      break;
  }
  Response response;
  response.status = status;
  response.set("Content-Type", std::string(kJsonType));
  response.body.add(object->bytes());
  response.body.add_literal("\n");
  return response;
}

Response list_as_json(const Exchange& exchange, const Media& media, const ListResult& result,
                      WallTime now) {
  switch (media.shape) {
    case Shape::Table: {
      const Result<IncludeObject> include =
          include_object(exchange.request.query.first("includeObject"));
      if (!include) return respond_error(include.error());
      return json_answer(200, TableWriter(*exchange.schema, *include, now).list(result));
    }
    case Shape::PartialMetadata:
      return json_answer(200, partial_metadata_list(result));
    case Shape::Full:
      break;
  }
  Response response;
  response.set("Content-Type", std::string(kJsonType));
  response.body.add(std::string(result.head));
  bool first = true;
  for (const ObjectPtr& object : result.items) {
    if (!std::exchange(first, false)) response.body.add_literal(",");
    response.body.add(object->bytes());
  }
  response.body.add_literal(kListTail);
  response.body.add_literal("\n");
  return response;
}

}  // namespace

Result<Media> negotiate_for(const Exchange& exchange, bool list, bool table) {
  Offer offer;
  offer.yaml = exchange.verb != Verb::Watch;  // a stream of lines it cannot be
  offer.table = table && exchange.schema != nullptr;
  offer.partial = exchange.schema != nullptr;
  offer.list = list;
  offer.protobuf = has_protobuf(exchange);
  return negotiate(exchange.request.joined_header("Accept"), offer);
}

void add_warnings(Response& response, const std::vector<std::string>& warnings) {
  std::set<std::string> seen;
  std::size_t total = 0;
  for (const std::string& warning : warnings) total += warning.size();
  std::size_t sent = 0;
  for (std::string warning : warnings) {
    if (total > kWarningsMax && warning.size() > kWarningClip) warning.resize(kWarningClip);
    if (!seen.insert(warning).second || sent + warning.size() > kWarningsMax) continue;
    sent += warning.size();
    response.set("Warning", "299 - " + quoted_string(warning));
  }
}

Response render_object(const Exchange& exchange, const Media& media, const ObjectPtr& object,
                       int status, WallTime now) {
  return in_format(media, object_as_json(exchange, media, object, status, now));
}

Response render_list(const Exchange& exchange, const Media& media, const ListResult& result,
                     WallTime now) {
  return in_format(media, list_as_json(exchange, media, result, now));
}

}  // namespace krater::api
