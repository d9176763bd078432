// string.format(): the clauses of a format string, for evaluation and for the check of literals.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater::cel {

struct FormatClause {
  std::string literal;  // text before the clause
  char verb = 0;        // s d f e b x X o; 0: the end
  std::optional<int> precision;
};

// Every clause in order, the rest of the text last. `arguments`: how many there are to use.
Result<std::vector<FormatClause>> parse_format(std::string_view format, std::size_t arguments);

// Says of a type's name why the verb cannot show it.
std::string refusal_of(char verb, std::string_view type_name);

}  // namespace krater::cel
