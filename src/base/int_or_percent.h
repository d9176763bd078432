// Counts that users give as a number or as a percentage ("25%") of some whole.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"

namespace krater {

enum class Rounding { Down, Up };

// The number, or the share of `whole`; nullopt for null, negative percentages and anything else.
std::optional<std::int64_t> int_or_percent(const Json* value, std::int64_t whole,
                                           Rounding rounding);
// True for "25%" and the like: digits and a percent sign.
bool is_percent(std::string_view text);

}  // namespace krater
