// A file that is looked at once a second; when its text is another one, somebody is told. Lives on
// a loop that it may block.
#pragma once

#include <functional>
#include <string>

#include "base/env.h"

namespace krater::cli {

class FileWatch {
 public:
  // `text` as it is known already.
  FileWatch(std::string path, std::string text, Loop& loop,
            std::function<void(std::string)> changed)
      : path_(std::move(path)), text_(std::move(text)), loop_(loop), changed_(std::move(changed)) {}

  // On the loop, as look().
  void start();
  // A file that cannot be read changes nothing: it may be about to be replaced.
  void look();

 private:
  const std::string path_;
  std::string text_;
  Loop& loop_;
  std::function<void(std::string)> changed_;
  bool missing_ = false;
};

}  // namespace krater::cli
