// The one implementation of api::Watch: opens the store's watch where the query says, and narrows
// it.
#pragma once

#include <functional>
#include <memory>

#include "api/machinery/schema.h"
#include "api/registry/request.h"
#include "api/registry/watch.h"
#include "base/result.h"
#include "storage/store.h"

namespace krater::api {

// `notify` runs on the store's writer thread. Errors as Kubernetes': Code::Invalid for
// contradicting parameters, Code::Expired `too old resource version: N (M)`, Code::Timeout for a
// revision that has not happened.
Result<std::unique_ptr<Watch>> open_watch(storage::Store& store, KindSchemaPtr schema,
                                          const WatchQuery& query, std::function<void()> notify);

}  // namespace krater::api
