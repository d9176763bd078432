#include "api/registry/continue_token.h"

#include "base/json.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

}  // namespace

std::string to_text(const ContinueToken& token) {
  JsonObject out;
  out["v"] = kVersion;
  out["rv"] = token.revision ? token.revision->number() : -1;
  out["start"] = token.after;
  return base64url_encode(to_json(out));
}

Result<ContinueToken> parse_continue(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return make_error(Code::BadRequest, "continue key is not valid: " + std::string(why));
  };
  const std::optional<std::string> decoded = base64url_decode(text);
  if (!decoded) return bad("illegal base64 data");
  const Result<Json> json = parse_json(*decoded);
  if (!json) return bad(json.error().message);
  if (text_at(*json, {"v"}) != kVersion)
    return bad("server does not recognize this encoded version");
  const std::optional<std::int64_t> revision = int_at(*json, {"rv"});
  ContinueToken out{std::nullopt, text_at(*json, {"start"})};
  if (!revision || *revision == 0 || *revision < -1)
    return bad("incorrect encoded start resourceVersion");
  if (out.after.empty()) return bad("encoded start key empty or missing");
  if (*revision > 0) out.revision = Revision(*revision);
  return out;
}

}  // namespace krater::api
