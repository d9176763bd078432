// Continue tokens: the text as a client may send it, and the same bytes as what such a text
// encodes. Refused, or read again as they were.
#include "api/registry/continue_token.h"

#include <cstdint>

#include "base/check.h"
#include "base/strings.h"

namespace {

void check(std::string_view text) {
  const auto token = krater::api::parse_continue(text);
  if (!token) return;
  CHECK(!token->after.empty());
  const auto again = krater::api::parse_continue(krater::api::to_text(*token));
  CHECK(again && again->after == token->after && again->revision == token->revision);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  check(krater::base64url_encode(text));
  return 0;
}
