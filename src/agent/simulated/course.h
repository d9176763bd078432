// What a simulated container does, read off its command: sleep, exit, true, false, echo and their
// like, alone or in a shell's script. What is not understood runs until it is stopped. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/simulated/programs.h"
#include "base/time.h"

namespace krater::agent {

struct Course {
  std::optional<Duration> lasts;  // unset: until it is stopped
  int exit_code = 0;
  bool ignores_term = false;  // trap '' TERM: only SIGKILL ends it
};

// `argv`: command and args; empty: the image's own, which nobody knows.
Course read_course(const std::vector<std::string>& argv, const Programs& programs);

}  // namespace krater::agent
