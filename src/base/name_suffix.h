// The ends of derived names.
#pragma once

#include <cstdint>
#include <string>

namespace krater {

// A hash as consonants and digits that spell nothing, as Kubernetes ends generated names.
std::string name_suffix(std::uint64_t hash, int length = 5);

}  // namespace krater
