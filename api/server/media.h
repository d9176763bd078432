// Content negotiation: what an Accept header wants of what we can produce, and what a body claims
// to be. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/object_client.h"

namespace krater::api {

struct MediaRange {
  std::string type;                                             // lower case, "application/json"
  std::vector<std::pair<std::string, std::string>> parameters;  // without q
  double quality = 1;

  std::string_view parameter(std::string_view name) const;
};
// By quality, then in the order sent. Clauses that are no media range are left out.
std::vector<MediaRange> parse_accept(std::string_view header);

enum class Format { Json, Yaml, Protobuf };
// Full: the object or list as it is. The others transform it.
enum class Shape { Full, Table, PartialMetadata };

struct Media {
  Format format = Format::Json;
  Shape shape = Shape::Full;
  std::string content_type() const;
};

struct Offer {
  bool yaml = true;
  bool table = true;
  bool partial = true;
  bool list = false;  // PartialObjectMetadataList instead of PartialObjectMetadata
  bool protobuf = false;
};

// The first clause that we can produce; protobuf only where nothing else is acceptable, for JSON is
// what objects are kept in. Code::NotAcceptable when there is none.
Result<Media> negotiate(std::string_view accept, const Offer& offer);

// Whether a client reads protobuf and nothing else.
bool reads_only_protobuf(std::string_view accept);
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

enum class BodyFormat { Json, Yaml, Protobuf };
// Of POST, PUT and DELETE bodies; absent is JSON. Code::UnsupportedMedia otherwise.
Result<BodyFormat> body_format(std::string_view content_type);
// Of a PATCH.
Result<client::PatchType> patch_type(std::string_view content_type);

}  // namespace krater::api
