// From objects to answers: the shape and format that were negotiated, warnings, standard headers.
// Pure.
#pragma once

#include "api/server/media.h"
#include "api/server/routes.h"
#include "api/server/table.h"

namespace krater::api {

// Negotiates for single objects (or lists) of this request.
Result<Media> negotiate_for(const Exchange& exchange, bool list, bool table = true);

// One `Warning: 299 - "…"` for each distinct text, bounded as Kubernetes bounds them.
void add_warnings(Response& response, const std::vector<std::string>& warnings);

Response render_object(const Exchange& exchange, const Media& media, const ObjectPtr& object,
                       int status, WallTime now);
Response render_list(const Exchange& exchange, const Media& media, const ListResult& result,
                     WallTime now);

}  // namespace krater::api
