// JSON to Kubernetes' protobuf, by the field numbers in the schemas: the way back of protobuf.h,
// for clients that read nothing else. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema_node.h"
#include "base/json.h"

namespace krater::api {

// The fields of `object` that `node` numbers, as one message; what it does not number is left out.
std::string encode_protobuf_message(const SchemaNode& node, const JsonObject& object);

// "k8s\0" and the message Unknown around a message.
std::string protobuf_envelope(std::string_view api_version, std::string_view kind,
                              std::string_view message);

// <Kind>List of messages that are encoded already. `metadata`: of the list.
std::string protobuf_list(const JsonObject& metadata, const std::vector<std::string>& items);

// metav1.Status, in its envelope.
std::string protobuf_status(const Json& status);

// metav1.WatchEvent as streams carry it: bare, its object in an envelope of its own.
std::string protobuf_watch_event(std::string_view type, std::string_view object);

}  // namespace krater::api
