// Errors as Kubernetes words them, and their way out: the table Code -> HTTP status and reason, and
// the Status object. Clients branch on code and reason; people read the message. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/kinds.h"

namespace krater::api {

int http_status(Code code);
std::string_view status_reason(Code code);  // "NotFound", "InternalError", …

// Of an error on the wire: http_status() of its code, or what somebody else has said.
int http_status(const Error& error);
// A refusal in the words of somebody else (a webhook): the Status goes out as it is.
Error verbatim(const Json& status);

// {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",…}
Json failure_status(const Error& error);
// {"kind":"Status",…,"status":"Success"}; `details` is left out when null.
Json success_status(Json details = nullptr);

// `pods "p" not found`. With an empty name: the server could not find the requested resource.
Error not_found(const Kind& kind, std::string_view name);
Error already_exists(const Kind& kind, std::string_view name);
// `Operation cannot be fulfilled on pods "p": <why>`
Error conflict(const Kind& kind, std::string_view name, std::string_view why);
Error modified_conflict(const Kind& kind,
                        std::string_view name);  // the object has been modified; …
// `pods "p" is forbidden: <why>`; without a name `pods is forbidden: <why>`.
Error forbidden(const Kind& kind, std::string_view name, std::string_view why,
                std::vector<Cause> causes = {});
// `Pod "p" is invalid: <e>` or `[<e1>, <e2>]`; `causes` must not be empty.
Error invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes);
// Errors of query parameters: `ListOptions.meta.k8s.io "" is invalid: …`.
Error invalid_options(std::string_view options_kind, std::vector<Cause> causes);
Error bad_request(std::string message);
Error internal_error(std::string_view why);
// 504 with cause ResourceVersionTooLarge.
Error revision_too_large(std::int64_t asked, std::int64_t current);

}  // namespace krater::api
