// What only the writer's identity shows of a certificate request: whose it is, and who may decide
// on it.
#pragma once

#include "api/auth/identity.h"
#include "api/registry/request.h"
#include "api/server/handlers.h"

namespace krater::api {

bool is_certificate_request(const Exchange& x);
// The requester is who asks, whatever the body says.
void name_requester(const Identity& who, Json& request);
// Approving needs the verb `approve` on the signer, signing `sign`; nobody asks for the group that
// may do everything.
void guard_certificates(const Deps& deps, const Exchange& x, RequestInfo& info);

}  // namespace krater::api
