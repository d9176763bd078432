// From a document to the bytes that are stored and served: apiVersion, kind, metadata first,
// metadata in Kubernetes' order, and the place where the store writes the revision. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/json.h"
#include "model/object.h"

namespace krater::api {

struct Encoded {
  std::string bytes;
  std::size_t revision_at;  // within `"resourceVersion":""`
};

// `object` has metadata (an object). A resourceVersion in it is left out.
Encoded encode_object(const Json& object);

// The same object at another revision: bytes of encode_object() with their revision exchanged.
std::string at_revision(const std::string& bytes, Revision revision);

}  // namespace krater::api
