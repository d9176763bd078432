// Kubernetes' protobuf bodies to JSON, by the field numbers in the schemas. Pure; sizes are bounded
// by the body, depth by a constant.
#pragma once

#include <string>
#include <string_view>

#include "api/machinery/schema_node.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// "k8s\0" and the message Unknown: what is inside, and its type.
struct ProtobufEnvelope {
  std::string api_version, kind;
  std::string_view raw;  // points into the body
};

// Code::BadRequest when it is none.
Result<ProtobufEnvelope> read_envelope(std::string_view body);

// A whole body: apiVersion and kind from the envelope, then the fields of `node`.
Result<Json> decode_protobuf_object(const SchemaNode& node, std::string_view body);

}  // namespace krater::api
