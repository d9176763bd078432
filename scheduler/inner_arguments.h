// Maps within the arguments of a plugin, and arguments that are known and have no effect
// (docs/compatibility.md lists them): what is wrong in them is refused all the same.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "scheduler/config.h"

namespace krater::scheduler {

// Reads a map, null when there is none, to its last key; errors name its place.
template <typename Read>
Result<void> read_map(const JsonObject* given, std::string_view place, Read read) {
  Arguments arguments(given);
  Result<void> done = read(arguments);
  if (done) done = arguments.check_all_known();
  if (done) return {};
  return make_error(Code::Invalid,
                    "argument \"" + std::string(place) + "\": " + done.error().message);
}

template <typename Read>
Result<void> read_map(Arguments& arguments, std::string_view key, Read read) {
  TRY_ASSIGN(const JsonObject* given, arguments.object(key));
  return read_map(given, key, read);
}

using ArgumentNames = std::initializer_list<std::string_view>;

inline Result<void> ignore_booleans(Arguments& arguments, ArgumentNames keys) {
  for (const std::string_view key : keys) TRY(arguments.boolean(key, false));
  return {};
}

inline Result<void> ignore_integers(Arguments& arguments, ArgumentNames keys) {
  for (const std::string_view key : keys) TRY(arguments.integer(key, 0));
  return {};
}

inline Result<void> ignore_strings(Arguments& arguments, ArgumentNames keys) {
  for (const std::string_view key : keys) TRY(arguments.string(key, ""));
  return {};
}

}  // namespace krater::scheduler
