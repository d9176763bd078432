// Runs a program with a text as its standard input and waits without blocking. On the loop whose
// io_context it is given.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent {

struct CommandOutcome {
  int exit_code = 0;   // 128 + signal when a signal ended it
  std::string output;  // standard output and error, at most 64 KiB
};

// Code::NotFound when there is no such program on PATH. `done` runs on the io_context, never from
// inside the call.
void run_command(boost::asio::io_context& io, const std::vector<std::string>& argv,
                 const std::string& input, std::function<void(Result<CommandOutcome>)> done);

}  // namespace krater::agent
