// From a request's body and options to values. Pure but for the schemas; any thread.
#pragma once

#include <string>
#include <vector>

#include "api/machinery/schema.h"
#include "api/registry/request.h"
#include "api/server/routes.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

struct DecodedBody {
  Json object;
  std::vector<std::string> duplicates{};  // JsonParseOptions::duplicates
};

// A whole object of `schema`'s kind: JSON, YAML or protobuf. apiVersion and kind may be absent;
// others than the schema's are Code::BadRequest.
Result<DecodedBody> decode_object(const Request& request, const KindSchema& schema);
// A message that is no stored kind: `name` is its Kind ("TokenRequest"), `api_version` what it must
// claim to be.
Result<DecodedBody> decode_message(const Request& request, const SchemaSet& schemas,
                                   std::string_view api_version, std::string_view name);
// Any Kind, any apiVersion, or none: DeleteOptions as clients really send them. An empty body is an
// empty object.
Result<Json> decode_delete_options(const Request& request, const SchemaSet& schemas);
// A PATCH body.
Result<DecodedBody> decode_patch(const Request& request, client::PatchType type);

// dryRun, fieldValidation and fieldManager of the query. `options_kind` ("CreateOptions") words the
// errors.
Result<RequestInfo> request_info(const Exchange& exchange, std::string_view options_kind,
                                 std::vector<std::string> duplicates = {});

// What a PATCH of this type must and must not say besides: an apply names its manager, and nothing
// else may be forced. Answers whether it is.
Result<bool> patch_force(const Exchange& exchange, client::PatchType type);

// Body over query, as upstream. dryRun in either is reported through `dry_run`.
struct DeleteRequest {
  client::DeleteWrite write;
  bool dry_run = false;
};
Result<DeleteRequest> delete_request(const Exchange& exchange, const SchemaSet& schemas,
                                     const Kind& kind);

// The query of a list, and of a watch.
Result<ListQuery> list_query(const Exchange& exchange);
Result<WatchQuery> watch_query(const Exchange& exchange);

}  // namespace krater::api
