// What a shell's script says, as far as simulated containers follow it: plain commands with quotes,
// one after the other. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krater::agent {

struct Statement {
  enum class When { Always, AfterSuccess, AfterFailure };  // ;  &&  ||
  When when = When::Always;
  std::vector<std::string> words;  // without quotes and redirections
  bool tested = false;             // its success is asked for by what follows
};

// nullopt: more than plain commands (pipes, loops, jobs in the background, here-documents, …).
std::optional<std::vector<Statement>> parse_script(std::string_view text);

}  // namespace krater::agent
