// The opaque token of a paged list: the snapshot it reads, and the last key that was given out.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace krater::api {

struct ContinueToken {
  // nullopt: whatever is newest, once the snapshot is gone.
  std::optional<Revision> revision;
  std::string after;  // store key
};

std::string to_text(const ContinueToken& token);
// Code::BadRequest `continue key is not valid: …`.
Result<ContinueToken> parse_continue(std::string_view text);

}  // namespace krater::api
