// From credentials to an identity. The first method that knows the credential decides; one that is
// presented and does not hold is Code::Unauthorized, never anonymous. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/auth/identity.h"
#include "api/auth/service_account_tokens.h"
#include "base/env.h"
#include "base/result.h"

namespace krater::api {

// Of a client certificate that the TLS layer has verified against our authority.
struct PresentedCertificate {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string sha256_hex;
};

struct Credentials {
  std::optional<PresentedCertificate> certificate{};
  std::optional<std::string>
      bearer{};  // of `Authorization: Bearer …`, or of any other scheme (which fails)
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual Result<Identity> authenticate(const Credentials& credentials) const = 0;
  // TokenReview asks for this one: a token alone, for the given audiences.
  virtual Result<Identity> authenticate_token(const std::string& token,
                                              const std::vector<std::string>& audiences) const = 0;
};

// Certificates, bootstrap tokens, service account tokens, else anonymous.
std::unique_ptr<Authenticator> make_authenticator(const ServiceAccountTokens& tokens,
                                                  ObjectLookup lookup, const WallClock& clock);

}  // namespace krater::api
