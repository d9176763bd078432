#include "model/index_set.h"

#include <algorithm>

#include "base/strings.h"

namespace krater {

IndexSet IndexSet::parse(std::string_view text, std::int64_t completions) {
  IndexSet out;
  if (text.empty()) return out;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t dash = piece.find('-');
    const auto first = parse_int(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *first >= completions) continue;
    out.add(*first, std::min(*last, completions - 1));
  }
  return out;
}

void IndexSet::add(std::int64_t first, std::int64_t last) {
  auto at = intervals_.upper_bound(first);
  if (at != intervals_.begin()) {
    const auto before = std::prev(at);
    if (before->second >= first - 1) {
      first = before->first;
      last = std::max(last, before->second);
      intervals_.erase(before);
    }
  }
  while (at != intervals_.end() && at->first <= last + 1) {
    last = std::max(last, at->second);
    at = intervals_.erase(at);
  }
  intervals_.emplace(first, last);
}

void IndexSet::add(const IndexSet& other) {
  for (const auto& [first, last] : other.intervals_) add(first, last);
}

bool IndexSet::contains(std::int64_t index) const {
  const auto after = intervals_.upper_bound(index);
  return after != intervals_.begin() && std::prev(after)->second >= index;
}

std::int64_t IndexSet::count() const {
  std::int64_t out = 0;
  for (const auto& [first, last] : intervals_) out += last - first + 1;
  return out;
}

std::int64_t IndexSet::count_below(std::int64_t completions) const {
  std::int64_t out = 0;
  for (const auto& [first, last] : intervals_)
    out += std::max<std::int64_t>(0, std::min(last, completions - 1) - first + 1);
  return out;
}

// Two neighbours are written apart ("0,1"), three and more as a range.
std::string IndexSet::text() const {
  std::string out;
  for (const auto& [first, last] : intervals_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last > first) out += (last == first + 1 ? ',' : '-') + std::to_string(last);
  }
  return out;
}

std::vector<std::int64_t> IndexSet::missing(std::int64_t limit, std::int64_t completions) const {
  std::vector<std::int64_t> out;
  std::int64_t candidate = 0;
  const auto take_until = [&](std::int64_t end) {
    for (; candidate < std::min(end, completions) && std::ssize(out) < limit; ++candidate) {
      out.push_back(candidate);
    }
  };
  for (const auto& [first, last] : intervals_) {
    take_until(first);
    candidate = last + 1;
  }
  take_until(completions);
  return out;
}

}  // namespace krater
