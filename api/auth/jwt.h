// JSON Web Tokens signed with ES256 (RFC 7515, 7518): the form of service account tokens. Pure, any
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace krater::api {

class JwtSigner {
 public:
  // A P-256 private key, PEM.
  static Result<std::unique_ptr<JwtSigner>> make(std::string_view key_pem);
  ~JwtSigner();

  Result<std::string> sign(const Json& claims) const;
  // The claims of a token that this key signed; times and audiences are the caller's to judge.
  // Code::Unauthorized for anything else: other algorithms (`none` too), other keys, damaged text.
  Result<Json> verify(std::string_view token) const;
  // {"keys":[…]}: the public key as /openid/v1/jwks serves it.
  Json public_keys() const;

 private:
  struct Key;
  explicit JwtSigner(std::unique_ptr<Key> key);
  std::unique_ptr<Key> key_;
};

}  // namespace krater::api
