// What a webhook is asked: an AdmissionRequest, as text and without the uid that each asking has
// anew. Equal questions have equal texts. Pure.
#pragma once

#include <string>

#include "api/registry/hook_review.h"

namespace krater::api {

// `kind`: the resource as the webhook's rules know it.
std::string hook_request(const HookSubject& subject, const Kind& kind, const Json* object,
                         const Json* old, const RequestInfo& info);

}  // namespace krater::api
