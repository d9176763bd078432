// Acting as somebody else: the Impersonate-* headers of Kubernetes. Pure but for the authorizer's
// answers; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/auth/authorizer.h"
#include "api/auth/identity.h"

namespace krater::api {

struct Impersonation {
  std::string user{}, uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  bool asked() const { return !user.empty() || !uid.empty() || !groups.empty() || !extra.empty(); }
};

// Whom `who` acts as. Code::BadRequest when a group, uid or extra comes without a user;
// Code::Forbidden for the first part he may not impersonate. The new identity is authenticated, and
// a service account is in its groups, unless groups were named.
Result<Identity> impersonate(const Authorizer& authorizer, const Identity& who,
                             const Impersonation& wanted);

}  // namespace krater::api
