#include "api/auth/jwt.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>

#include <array>
#include <utility>

#include "api/auth/openssl.h"
#include "base/check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::size_t kCoordinate = 32;  // bytes of each half of a P-256 signature or point

using SignaturePtr = std::unique_ptr<ECDSA_SIG, openssl::Deleter<ECDSA_SIG_free>>;

Error refused(std::string why) {
  return make_error(Code::Unauthorized, "invalid token: " + std::move(why));
}

// OpenSSL signs in DER; a JWS wants r and s side by side.
Result<std::string> raw_from_der(std::string_view der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  std::string raw(2 * kCoordinate, '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  if (!signature || BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kCoordinate) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kCoordinate, kCoordinate) < 0) {
    return openssl::failure("cannot encode a signature");
  }
  return raw;
}

std::string der_from_raw(std::string_view raw) {
  const auto* in = reinterpret_cast<const unsigned char*>(raw.data());
  const SignaturePtr signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(in, kCoordinate, nullptr);
  BIGNUM* s = BN_bin2bn(in + kCoordinate, kCoordinate, nullptr);
  CHECK(ECDSA_SIG_set0(signature.get(), r, s) == 1);
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  CHECK(size > 0);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

std::string coordinate(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  CHECK(EVP_PKEY_get_bn_param(key, name, &number) == 1);
  std::string out(kCoordinate, '\0');
  CHECK(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), kCoordinate) > 0);
  BN_free(number);
  return out;
}

}  // namespace

struct JwtSigner::Key {
  openssl::KeyPtr pair;
  std::string x, y;  // of the public point
  std::string id;    // key id: a hash of the point, so that it is stable over restarts
};

JwtSigner::JwtSigner(std::unique_ptr<Key> key) : key_(std::move(key)) {}
JwtSigner::~JwtSigner() = default;

Result<std::unique_ptr<JwtSigner>> JwtSigner::make(std::string_view key_pem) {
  TRY_ASSIGN(openssl::KeyPtr pair, openssl::private_key(key_pem));
  if (EVP_PKEY_is_a(pair.get(), "EC") != 1 || EVP_PKEY_get_bits(pair.get()) != 256) {
    return make_error(Code::Internal, "the service account key must be an ECDSA P-256 key");
  }
  auto key = std::make_unique<Key>();
  key->x = coordinate(pair.get(), OSSL_PKEY_PARAM_EC_PUB_X);
  key->y = coordinate(pair.get(), OSSL_PKEY_PARAM_EC_PUB_Y);
  key->id = base64url_encode(openssl::sha256(key->x + key->y));
  key->pair = std::move(pair);
  return std::unique_ptr<JwtSigner>(new JwtSigner(std::move(key)));
}

Result<std::string> JwtSigner::sign(const Json& claims) const {
  const Json header(JsonObject{{"alg", "ES256"}, {"typ", "JWT"}, {"kid", key_->id}});
  std::string text = base64url_encode(to_json(header)) + "." + base64url_encode(to_json(claims));
  const openssl::DigestPtr digest(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::array<unsigned char, 128> der{};
  std::size_t size = der.size();
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pair.get()) != 1 ||
      EVP_DigestSign(digest.get(), der.data(), &size, bytes, text.size()) != 1) {
    return openssl::failure("cannot sign a token");
  }
  TRY_ASSIGN(std::string raw, raw_from_der({reinterpret_cast<const char*>(der.data()), size}));
  return text + "." + base64url_encode(raw);
}

Result<Json> JwtSigner::verify(std::string_view token) const {
  const std::vector<std::string_view> parts = split(token, '.');
  if (parts.size() != 3) return refused("not a JWT");
  const auto header_text = base64url_decode(parts[0]);
  const auto claims_text = base64url_decode(parts[1]);
  const auto raw = base64url_decode(parts[2]);
  if (!header_text || !claims_text || !raw || raw->size() != 2 * kCoordinate)
    return refused("not a JWT");
  const Result<Json> header = parse_json(*header_text);
  if (!header || text_at(*header, {"alg"}) != "ES256") return refused("not signed with ES256");
  const std::string der = der_from_raw(*raw);
  const std::string_view text = token.substr(0, parts[0].size() + 1 + parts[1].size());
  const openssl::DigestPtr digest(EVP_MD_CTX_new());
  const bool genuine =
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pair.get()) == 1 &&
      EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(der.data()), der.size(),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  if (!genuine) return refused(openssl::failure("signature").message);
  Result<Json> claims = parse_json(*claims_text);
  if (!claims || !claims->is_object()) return refused("claims are no JSON object");
  return claims;
}

Json JwtSigner::public_keys() const {
  return JsonObject{{"keys", JsonArray{JsonObject{{"use", "sig"},
                                                  {"kty", "EC"},
                                                  {"kid", key_->id},
                                                  {"crv", "P-256"},
                                                  {"alg", "ES256"},
                                                  {"x", base64url_encode(key_->x)},
                                                  {"y", base64url_encode(key_->y)}}}}};
}

}  // namespace krater::api
