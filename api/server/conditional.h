// Answers that carry an ETag: 304 when the client has the text already. Pure.
#pragma once

#include <string>

#include "api/server/http.h"

namespace krater::api {

Response conditional(const Request& request, Bytes text, const std::string& etag,
                     std::string_view content_type = kJsonType);
Response conditional(const Request& request, std::string text, const std::string& etag,
                     std::string_view content_type = kJsonType);

}  // namespace krater::api
