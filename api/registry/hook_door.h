// Where webhooks stand on each way of preparing: mutating ones after this server's own rules and
// before validation, validating ones last.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/admission/admission.h"
#include "api/registry/prepare.h"

namespace krater::api {

// `keep_status`: a new object of this kind may have one.
Result<void> hooks_on_create(const KindSchema& schema, Admission& admission, const Change& change,
                             bool keep_status, const PrepareInput& in);

// Of what a webhook has made of an object, what this door may change.
using NarrowBody = std::function<Json(Json)>;
Result<void> hooks_on_update(const KindSchema& schema, Admission& admission,
                             const NarrowBody& narrow, const PrepareInput& in);

// The binding as webhooks leave it.
Result<client::BindWrite> hooks_on_bind(const client::BindWrite& write, const PrepareInput& in,
                                        std::vector<std::string>& warnings);

// The last word: validating webhooks, and all webhooks of deletes.
Result<void> review_by_hooks(const client::Write& write, Change& change, const PrepareInput& in);

}  // namespace krater::api
