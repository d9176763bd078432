// Small files of the data directory.
#pragma once

#include <string>

#include "base/result.h"

namespace krater::cli {

// Code::NotFound when absent, Code::Internal otherwise; the message names the file.
Result<std::string> read_file(const std::string& path);
// As a whole: temporary file, fsync, rename. `mode` as in chmod.
Result<void> write_file(const std::string& path, const std::string& text, unsigned mode);
Result<void> make_directory(const std::string& path, unsigned mode);  // parents too
bool exists(const std::string& path);

}  // namespace krater::cli
