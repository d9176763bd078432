// OpenAPI documents over the served kinds. Made from the schema texts when first asked for, and
// kept.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema.h"

namespace krater::api {

class OpenApiDocuments {
 public:
  // `type_name` as in the schema files; `native` kinds offer strategic merge.
  void add_kind(const Kind& kind, const std::string& type_name, bool native);

  // "api/v1", "apis/batch/v1", … in discovery order.
  std::vector<std::string> v3_paths(const std::vector<KindSchemaPtr>& kinds) const;
  // nullopt for an unknown path.
  std::optional<std::string> v3(const std::vector<KindSchemaPtr>& kinds,
                                std::string_view path) const;
  std::string v2(const std::vector<KindSchemaPtr>& kinds) const;

 private:
  struct Entry {
    Kind kind;
    std::string type_name;
    bool native;
  };

  std::vector<Entry> entries_;
  mutable std::mutex mutex_;  // guards the texts below
  mutable std::map<std::string, std::string, std::less<>> v3_;
  mutable std::string v2_;
};

}  // namespace krater::api
