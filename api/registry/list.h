// Lists: which snapshot a query reads (Kubernetes' resourceVersion rules) and what of it, page by
// page. Any thread.
#pragma once

#include <string_view>

#include "api/machinery/schema.h"
#include "api/registry/request.h"
#include "base/result.h"
#include "storage/store.h"

namespace krater::api {

Result<ListResult> read_list(const storage::Store& store, const KindSchemaPtr& schema,
                             const ListQuery& query);

// A resourceVersion of a query. Code::BadRequest unless "" (nullopt) or a decimal number.
Result<std::optional<Revision>> parse_revision(std::string_view text);
// The newest snapshot; Code::Timeout with cause ResourceVersionTooLarge when it is older than asked
// for.
Result<storage::SnapshotPtr> snapshot_not_older(const storage::Store& store,
                                                std::optional<Revision> asked);

}  // namespace krater::api
