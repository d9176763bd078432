#include "storage/topic.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace krater::storage {

void Topic::trim(const EventRing& ring) {
  while (!revisions.empty() && revisions.front() < ring.first()) {
    known_after = revisions.front();
    revisions.pop_front();
  }
}

TopicMap::Shape TopicMap::shape(const KeyRange& range) {
  if (range.end.size() == range.begin.size() + 1 && range.end.back() == '\0' &&
      range.end.compare(0, range.begin.size(), range.begin) == 0) {
    return Shape::Key;
  }
  return range.end == KeyRange::prefix(range.begin).end ? Shape::Prefix : Shape::Other;
}

Topic* TopicMap::find(const KeyRange& range) const {
  const Shape kind = shape(range);
  if (kind != Shape::Other) {
    const ByText& topics = kind == Shape::Key ? keys_ : prefixes_;
    const auto at = topics.find(range.begin);
    return at == topics.end() ? nullptr : at->second.get();
  }
  const auto at = std::find_if(others_.begin(), others_.end(), [&range](const auto& topic) {
    return topic->range.begin == range.begin && topic->range.end == range.end;
  });
  return at == others_.end() ? nullptr : at->get();
}

Topic& TopicMap::add(KeyRange range) {
  CHECK(find(range) == nullptr);
  auto topic = std::make_unique<Topic>();
  Topic& added = *topic;
  added.range = std::move(range);
  const std::string& begin = added.range.begin;
  switch (shape(added.range)) {
    case Shape::Key:
      keys_.emplace(begin, std::move(topic));
      break;
    case Shape::Prefix:
      if (prefix_lengths_.size() <= begin.size()) prefix_lengths_.resize(begin.size() + 1);
      ++prefix_lengths_[begin.size()];
      prefixes_.emplace(begin, std::move(topic));
      break;
    case Shape::Other:
      others_.push_back(std::move(topic));
      break;
  }
  return added;
}

void TopicMap::remove(const Topic& topic) {
  const std::string begin = topic.range.begin;  // the topic dies below
  switch (shape(topic.range)) {
    case Shape::Key:
      keys_.erase(begin);
      break;
    case Shape::Prefix:
      --prefix_lengths_[begin.size()];
      prefixes_.erase(begin);
      break;
    case Shape::Other:
      std::erase_if(others_, [&topic](const auto& other) { return other.get() == &topic; });
      break;
  }
}

void TopicMap::for_each(std::string_view key, const std::function<void(Topic&)>& visit) const {
  const auto visit_named = [&visit](const ByText& topics, std::string_view text) {
    const auto at = topics.find(text);
    if (at != topics.end()) visit(*at->second);
  };
  visit_named(keys_, key);
  const std::size_t longest = std::min(prefix_lengths_.size(), key.size() + 1);
  for (std::size_t length = 0; length < longest; ++length) {
    if (prefix_lengths_[length] > 0) visit_named(prefixes_, key.substr(0, length));
  }
  for (const auto& topic : others_) {
    if (topic->range.contains(key)) visit(*topic);
  }
}

}  // namespace krater::storage
