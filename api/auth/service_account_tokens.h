// Service account tokens: made on TokenRequest, checked on every request that presents one. A token
// names its account (and pod) by uid, so it dies with them. Pure but for the object lookups it is
// given. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/auth/identity.h"
#include "api/auth/jwt.h"
#include "base/env.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::api {

// The object now, or Code::NotFound.
using ObjectLookup = std::function<Result<ObjectPtr>(const Kind& kind, std::string_view name_space,
                                                     std::string_view name)>;

struct TokenSettings {
  std::string issuer = "https://kubernetes.default.svc.cluster.local";
  std::string audience = "https://kubernetes.default.svc.cluster.local";  // of this API
};

struct IssuedToken {
  std::string token;
  WallTime expires;
  std::int64_t lifetime_seconds;
  std::vector<std::string> audiences;
};

class ServiceAccountTokens {
 public:
  ServiceAccountTokens(std::shared_ptr<const JwtSigner> signer, TokenSettings settings,
                       const WallClock& clock, Rng& rng)
      : signer_(std::move(signer)), settings_(std::move(settings)), clock_(clock), rng_(rng) {}

  // `spec` of a TokenRequest for `account`. Code::Invalid for a lifetime outside 10 minutes..2^32
  // s; Code::NotFound and Code::Conflict when the bound object is absent or has another uid.
  Result<IssuedToken> issue(const Object& account, const Json& spec,
                            const ObjectLookup& lookup) const;

  // Who presents `token` to one of `audiences` (empty: this API). Code::Unauthorized when it is not
  // (or no longer) good.
  Result<Identity> verify(std::string_view token, const std::vector<std::string>& audiences,
                          const ObjectLookup& lookup) const;
  // The audiences of a token that verify() accepted and that were asked for.
  std::vector<std::string> audiences_of(std::string_view token,
                                        const std::vector<std::string>& asked) const;

  const TokenSettings& settings() const { return settings_; }
  Json public_keys() const { return signer_->public_keys(); }

 private:
  std::shared_ptr<const JwtSigner> signer_;
  TokenSettings settings_;
  const WallClock& clock_;
  Rng& rng_;
};

}  // namespace krater::api
