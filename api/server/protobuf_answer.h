// Answers for clients that read protobuf and nothing else: the JSON answer written anew, as YAML
// is. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/registry/request.h"
#include "api/server/media.h"
#include "api/server/routes.h"

namespace krater::api {

// Whether what this request is answered with has a protobuf form: objects and lists of the kinds
// that have one upstream, not those of custom kinds.
bool has_protobuf(const Exchange& exchange);

// A whole answer. What has no protobuf form stays as it is.
Response to_protobuf(const Exchange& exchange, Response response);

// An event of a watch as streams frame it: its length in 4 bytes, big endian, then a WatchEvent.
// `object`: the event's "object" in JSON.
std::string protobuf_frame(const KindSchema& schema, std::string_view type, const Json& object);

}  // namespace krater::api
