#include "api/auth/authenticator.h"

#include <utility>

#include "api/auth/bootstrap_token.h"
#include "model/kinds.h"

namespace krater::api {
namespace {

Identity from_certificate(const PresentedCertificate& certificate) {
  Identity identity{certificate.common_name};
  identity.groups = certificate.organizations;
  identity.groups.emplace_back(kAuthenticatedGroup);
  identity.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" +
                                                                  certificate.sha256_hex};
  return identity;
}

class BuiltInAuthenticator final : public Authenticator {
 public:
  BuiltInAuthenticator(const ServiceAccountTokens& tokens, ObjectLookup lookup,
                       const WallClock& clock)
      : tokens_(tokens), lookup_(std::move(lookup)), clock_(clock) {}

  Result<Identity> authenticate(const Credentials& credentials) const override {
    if (credentials.certificate) {
      // kubectl sends a token beside the certificate when both are configured; the certificate
      // wins, as upstream.
      if (!credentials.certificate->common_name.empty())
        return from_certificate(*credentials.certificate);
      return make_error(Code::Unauthorized, "Unauthorized");
    }
    if (credentials.bearer) return authenticate_token(*credentials.bearer, {});
    return anonymous_identity();
  }

  Result<Identity> authenticate_token(const std::string& token,
                                      const std::vector<std::string>& audiences) const override {
    if (!looks_like_bootstrap_token(token)) return tokens_.verify(token, audiences, lookup_);
    const Result<ObjectPtr> secret =
        lookup_(kinds::kSecret, kBootstrapTokenNamespace, bootstrap_secret_name(token));
    if (!secret) return make_error(Code::Unauthorized, "Unauthorized");
    return check_bootstrap_token(token, **secret, clock_.now());
  }

 private:
  const ServiceAccountTokens& tokens_;
  ObjectLookup lookup_;
  const WallClock& clock_;
};

}  // namespace

std::unique_ptr<Authenticator> make_authenticator(const ServiceAccountTokens& tokens,
                                                  ObjectLookup lookup, const WallClock& clock) {
  return std::make_unique<BuiltInAuthenticator>(tokens, std::move(lookup), clock);
}

}  // namespace krater::api
