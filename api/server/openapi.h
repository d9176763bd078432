// /openapi/v2 and /openapi/v3: the schemas' documents with the caching that clients rely on. Any
// thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema.h"
#include "api/server/http.h"

namespace krater::api {

class OpenApi {
 public:
  OpenApi(const SchemaSet& schemas, const WallClock& clock) : schemas_(schemas), clock_(clock) {}

  // The index of /openapi/v3: a URL with a hash for each group version.
  Response index(const Request& request) const;
  // One group version, "apis/batch/v1". With the right `hash` it may be kept for ever; with another
  // one: 301.
  Response v3(std::string_view path, const Request& request) const;
  // JSON, or protobuf where that is asked for.
  Response v2(const Request& request) const;

 private:
  struct Document {
    std::string text, etag;
    std::string hash() const { return etag.substr(1, etag.size() - 2); }
  };
  using DocumentPtr = std::shared_ptr<const Document>;
  DocumentPtr document(std::string_view path) const;
  std::optional<std::string> text_of(std::string_view path) const;

  const SchemaSet& schemas_;
  const WallClock& clock_;
  mutable std::mutex mutex_;
  mutable std::vector<KindSchemaPtr> seen_;
  mutable std::map<std::string, DocumentPtr, std::less<>> documents_;
};

}  // namespace krater::api
