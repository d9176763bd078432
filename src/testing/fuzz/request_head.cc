// Lines: target, Accept, Content-Type, subprotocols. Whatever a client puts there is understood or
// refused; what is understood keeps what it promises.
#include <array>
#include <cstdint>
#include <string_view>

#include "api/registry/continue_token.h"
#include "api/server/media.h"
#include "api/server/query.h"
#include "api/server/resource_path.h"
#include "base/check.h"
#include "base/strings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace api = krater::api;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 3> lines;
  std::size_t at = 0;
  for (const std::string_view line : krater::split(text, '\n')) {
    if (at < lines.size()) lines[at++] = line;
  }
  const std::size_t question = lines[0].find('?');
  const auto path = api::parse_resource_path(lines[0].substr(0, question));
  const auto query = api::Query::parse(
      question == std::string_view::npos ? std::string_view() : lines[0].substr(question + 1));
  if (path && *path) {
    CHECK(!(*path)->resource.empty() && (*path)->name.find('/') == std::string::npos);
    if (query) (void)api::verb_of("GET", **path, *query);
  }
  if (query) {
    (void)query->integer("limit", 0);
    if (const auto token = api::parse_continue(query->first("continue"))) {
      const auto again = api::parse_continue(api::to_text(*token));
      CHECK(again && again->after == token->after && again->revision == token->revision);
    }
    (void)api::pinned_field(query->first("fieldSelector"), "metadata.name");
  }
  for (const bool table : {false, true}) {
    api::Offer offer;
    offer.table = table;
    offer.protobuf = true;
    const auto media = api::negotiate(lines[1], offer);
    if (media) CHECK(table || media->shape != api::Shape::Table);
    if (media && media->format == api::Format::Protobuf) CHECK(api::reads_only_protobuf(lines[1]));
  }
  (void)api::body_format(lines[2]);
  (void)api::patch_type(lines[2]);
  return 0;
}
