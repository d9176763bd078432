#include "api/auth/bootstrap_token.h"

#include <algorithm>
#include <optional>

#include "api/auth/openssl.h"
#include "base/strings.h"
#include "model/kinds.h"

namespace krater::api {
namespace {

constexpr std::size_t kIdLength = 6;
constexpr std::size_t kSecretLength = 16;
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

std::string random_word(std::size_t length) {
  std::string out;
  while (out.size() < length) {
    for (const char c : openssl::random_bytes(2 * length)) {
      const auto byte = static_cast<unsigned char>(c);
      // 252 = 7 * 36: what is above would favour the first letters.
      if (byte < 252 && out.size() < length) out.push_back(kAlphabet[byte % kAlphabet.size()]);
    }
  }
  return out;
}

std::optional<std::string> data_of(const Json& secret, std::string_view key) {
  const auto text = string_at(secret, {"data", key});
  return text ? base64_decode(*text) : std::nullopt;
}

Error refused(std::string why) {
  return make_error(Code::Unauthorized, "bootstrap token: " + std::move(why));
}

}  // namespace

NewBootstrapToken new_bootstrap_token(WallTime expires, std::string_view description) {
  const std::string id = random_word(kIdLength);
  const std::string secret = random_word(kSecretLength);
  Json object = new_object(kinds::kSecret, kBootstrapTokenNamespace, "bootstrap-token-" + id);
  object.as_object()["type"] = kBootstrapTokenType;
  JsonObject data{{"token-id", base64_encode(id)},
                  {"token-secret-sha256", base64_encode(hex_encode(openssl::sha256(secret)))},
                  {"expiration", base64_encode(to_rfc3339(expires))},
                  {"usage-bootstrap-authentication", base64_encode("true")},
                  {"auth-extra-groups", base64_encode(kNodeTokenGroup)}};
  if (!description.empty()) data["description"] = base64_encode(description);
  object.as_object()["data"] = std::move(data);
  return {id + "." + secret, std::move(object)};
}

bool looks_like_bootstrap_token(std::string_view token) {
  if (token.size() != kIdLength + 1 + kSecretLength || token[kIdLength] != '.') return false;
  return std::all_of(
             token.begin(), token.end(),
             [](char c) { return c == '.' || kAlphabet.find(c) != std::string_view::npos; }) &&
         std::count(token.begin(), token.end(), '.') == 1;
}

std::string bootstrap_secret_name(std::string_view token) {
  return "bootstrap-token-" + std::string(token.substr(0, kIdLength));
}

Result<Identity> check_bootstrap_token(std::string_view token, const Object& secret, WallTime now) {
  const std::shared_ptr<const Json> document = secret.document();
  if (text_at(*document, {"type"}) != kBootstrapTokenType)
    return refused("the secret has another type");
  if (secret.deletion()) return refused("revoked");
  const std::string_view id = token.substr(0, kIdLength);
  const std::string_view presented = token.substr(kIdLength + 1);
  if (data_of(*document, "token-id") != std::string(id)) return refused("unknown");
  const std::optional<std::string> hash = data_of(*document, "token-secret-sha256");
  const std::optional<std::string> plain = data_of(*document, "token-secret");
  const bool matches =
      hash    ? openssl::equal_in_constant_time(hex_encode(openssl::sha256(presented)), *hash)
      : plain ? openssl::equal_in_constant_time(presented, *plain)
              : false;
  if (!matches) return refused("wrong secret");
  if (const auto text = data_of(*document, "expiration"); text && !text->empty()) {
    const std::optional<WallTime> expires = parse_rfc3339(*text);
    if (!expires || *expires <= now) return refused("expired");
  }
  if (data_of(*document, "usage-bootstrap-authentication") != std::string("true"))
    return refused("not for authentication");
  Identity identity{"system:bootstrap:" + std::string(id)};
  identity.groups = {std::string(kBootstrappersGroup), std::string(kAuthenticatedGroup)};
  if (const auto more = data_of(*document, "auth-extra-groups")) {
    for (const std::string_view group : split(*more, ',')) {
      if (group.starts_with("system:bootstrappers:")) identity.groups.emplace_back(group);
    }
  }
  return identity;
}

}  // namespace krater::api
