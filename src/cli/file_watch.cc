#include "cli/file_watch.h"

#include "base/log.h"
#include "cli/files.h"

namespace krater::cli {
namespace {

constexpr Duration kPeriod = std::chrono::seconds(1);

}  // namespace

void FileWatch::start() {
  loop_.after(kPeriod, [this] {
    look();
    start();
  });
}

void FileWatch::look() {
  Result<std::string> text = read_file(path_);
  if (!text) {
    if (!std::exchange(missing_, true))
      log::warn("file.unreadable", {{"file", path_}, {"error", text.error().message}});
    return;
  }
  missing_ = false;
  if (*text == text_) return;
  text_ = *text;
  changed_(*std::move(text));
}

}  // namespace krater::cli
