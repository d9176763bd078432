// What stands between values and the disk: some are written in another form than they are used in.
// In memory, to readers and watchers, values are as they were given; log, tables and files on disk
// hold the other form only. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krater::storage {

class Sealer {
 public:
  virtual ~Sealer() = default;
  // What is written for this value; nothing: the value itself.
  virtual std::optional<std::string> seal(std::string_view key, std::string_view value) const = 0;
  // The value of what was written; nothing: that is the value. The error says which key cannot be
  // opened, and why; whoever asked for it fails with it.
  virtual Result<std::optional<std::string>> open(std::string_view key,
                                                  std::string_view stored) const = 0;
};

}  // namespace krater::storage
