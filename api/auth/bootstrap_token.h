// Join tokens: `<id>.<secret>`, kept as Secret kube-system/bootstrap-token-<id> of type
// bootstrap.kubernetes.io/token. Ours hold only the SHA-256 of the secret (which has 82 bits of
// entropy, so no salt and no slow hash is needed); secrets made by other tools with a plain
// `token-secret` are accepted too. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/auth/identity.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "model/object.h"

namespace krater::api {

inline constexpr std::string_view kBootstrapTokenNamespace = "kube-system";
inline constexpr std::string_view kBootstrapTokenType = "bootstrap.kubernetes.io/token";

// Who is in it may ask for a node's certificate and is approved without being looked at: the group
// that kubeadm uses.
inline constexpr std::string_view kNodeTokenGroup =
    "system:bootstrappers:kubeadm:default-node-token";

struct NewBootstrapToken {
  std::string token;  // shown once
  Json secret;        // the v1 Secret to create
};
// For nodes that join.
NewBootstrapToken new_bootstrap_token(WallTime expires, std::string_view description = {});

// [a-z0-9]{6}.[a-z0-9]{16}
bool looks_like_bootstrap_token(std::string_view token);
std::string bootstrap_secret_name(std::string_view token);

// Who presents `token`, by the secret of its id. Code::Unauthorized when it does not match, has
// expired or is not meant for authentication.
Result<Identity> check_bootstrap_token(std::string_view token, const Object& secret, WallTime now);

}  // namespace krater::api
