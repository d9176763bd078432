#include "api/server/conditional.h"

#include "base/strings.h"

namespace krater::api {

Response conditional(const Request& request, Bytes text, const std::string& etag,
                     std::string_view content_type) {
  Response response;
  response.set("Etag", etag);
  response.set("Vary", "Accept");
  response.set("Cache-Control", "no-cache, private");
  const std::string wanted = request.joined_header("If-None-Match");
  for (const std::string_view candidate : split(wanted, ',')) {
    if (trim(candidate) == etag || trim(candidate) == "W/" + etag) {
      response.status = 304;
      return response;
    }
  }
  response.set("Content-Type", std::string(content_type));
  response.body.add(std::move(text));
  return response;
}

Response conditional(const Request& request, std::string text, const std::string& etag,
                     std::string_view content_type) {
  return conditional(request, std::make_shared<const std::string>(std::move(text)), etag,
                     content_type);
}

}  // namespace krater::api
