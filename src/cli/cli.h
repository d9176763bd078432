// The command line: verbs, their options, and which function runs each.
#pragma once

namespace krater::cli {

// The process's exit code: 0 done, 1 failed (told on standard error), 2 wrong usage.
int run(int argc, char** argv);

}  // namespace krater::cli
