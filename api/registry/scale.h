// The scale subresource: an autoscaling/v1 Scale is a window on the size of an object that runs
// pods. It is not stored: reading makes it from the object, writing changes the object's replicas.
#pragma once

#include "api/registry/prepare.h"

namespace krater::api {

inline constexpr std::string_view kScale = "scale";

// Code::Internal for an object of a user's kind that has no size where its definition says.
Result<Json> scale_of(const KindSchema& schema, const Object& object);
Result<Json> scale_of(const KindSchema& schema, const Json& document);
// Where the size of an object stands.
std::optional<std::int64_t> replicas_in(const KindSchema& schema, const Json& object);
void set_replicas(const KindSchema& schema, Json& object, std::int64_t replicas);

// The body of an update, or what a patch of the present Scale comes to, as an update of the object.
Result<Change> prepare_scale(const client::UpdateWrite& write, const PrepareInput& in);
Result<Change> prepare_scale(const client::PatchWrite& write, const PrepareInput& in);

}  // namespace krater::api
