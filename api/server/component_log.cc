#include "api/server/component_log.h"

#include <algorithm>

namespace krater::api {

void ComponentLog::append(WallTime time, std::string text) {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    bytes_ += text.size();
    lines_.push_back({time, std::move(text)});
    while (bytes_ > keep_bytes_ && lines_.size() > 1) {
      bytes_ -= lines_.front().text.size();
      lines_.pop_front();
      ++first_;
    }
    std::erase_if(listeners_, [&](const std::weak_ptr<Listener>& one) {
      if (auto alive = one.lock()) {
        listeners.push_back(std::move(alive));
        return false;
      }
      return true;
    });
  }
  for (const auto& one : listeners) one->told();
}

ComponentLog::Piece ComponentLog::read(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  Piece out;
  out.next = first_ + lines_.size();
  for (std::uint64_t i = std::max(from, first_); i < out.next; ++i)
    out.lines.push_back(lines_[static_cast<std::size_t>(i - first_)]);
  return out;
}

ComponentLog::Listening ComponentLog::listen(std::function<void()> told) {
  auto out = std::make_shared<Listener>(Listener{std::move(told)});
  const std::lock_guard lock(mutex_);
  listeners_.push_back(out);
  return out;
}

}  // namespace krater::api
