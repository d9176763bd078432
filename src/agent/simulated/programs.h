// How programs end on simulated nodes: a list that the node is given, by command line. First match
// wins. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater::agent {

struct Program {
  std::string match;              // of the command line; "*" stands for any text
  std::optional<Duration> lasts;  // unset: until it is stopped
  int exit_code = 0;
};

class Programs {
 public:
  Programs() = default;
  explicit Programs(std::vector<Program> list) : list_(std::move(list)) {}
  // programs: [{match: "mpiexec *", lasts: 2s}, {match: "sh missing.sh", lasts: 0s, exitCode: 127},
  // {match: "*sshd -D*"}] Code::Invalid with the entry at fault.
  static Result<Programs> parse_yaml(const std::string& text);

  // The words of a command, joined by blanks; null: nobody knows it.
  const Program* find(std::string_view command_line) const;

 private:
  std::vector<Program> list_;
};

}  // namespace krater::agent
