// Objects as kubectl prints them (Table) and as metadata alone (PartialObjectMetadata). Pure, any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "api/machinery/schema.h"
#include "api/registry/request.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace krater::api {

enum class IncludeObject { None, Metadata, Object };
// Code::BadRequest for anything but "", None, Metadata, Object.
Result<IncludeObject> include_object(std::string_view text);

class TableWriter {
 public:
  TableWriter(const KindSchema& schema, IncludeObject include, WallTime now)
      : schema_(schema), include_(include), now_(now) {}

  // Appends one row.
  void row(std::string& out, const Object& object) const;
  // Everything of a Table up to its first row. `columns` null on later events of a watch.
  void begin(std::string& out, const JsonObject& metadata, bool columns) const;
  static void end(std::string& out) { out += "]}"; }

  std::string list(const ListResult& result) const;
  std::string single(const Object& object, bool columns) const;
  // A table without rows: what a bookmark becomes.
  std::string empty(Revision at) const;

 private:
  const KindSchema& schema_;
  IncludeObject include_;
  WallTime now_;
};

// {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}
std::string partial_metadata(const Object& object);
std::string partial_metadata_list(const ListResult& result);

}  // namespace krater::api
