// One watched range of keys: the revisions in the ring that belong to it, shared by all who watch
// the same range. A write touches the topics its key belongs to, not their watchers, so ten
// thousand idle watchers cost it nothing. Guarded by the watch hub's mutex.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/event_ring.h"
#include "storage/store.h"

namespace krater::storage {

struct WatchState;  // watch_hub.cc

struct Topic {
  KeyRange range;
  // Every event of the range after this revision is in `revisions` and in the ring. It moves only
  // when an event of the range leaves the ring: a watcher of a quiet range stays in memory for
  // ever, however fast the rest moves.
  Revision known_after;
  std::deque<Revision> revisions;
  std::vector<WatchState*> waiting;  // to be notified by the next event
  std::size_t watchers = 0;

  // Drops what the ring has dropped.
  void trim(const EventRing& ring);
};

// Finds the topics of a key. Ranges are almost always prefixes or single keys, and those are found
// by hashing.
class TopicMap {
 public:
  // Null when nobody watches exactly this range.
  Topic* find(const KeyRange& range) const;
  Topic& add(KeyRange range);
  void remove(const Topic& topic);
  void for_each(std::string_view key, const std::function<void(Topic&)>& visit) const;
  std::size_t size() const { return keys_.size() + prefixes_.size() + others_.size(); }

 private:
  enum class Shape { Key, Prefix, Other };
  static Shape shape(const KeyRange& range);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using ByText = std::unordered_map<std::string, std::unique_ptr<Topic>, Hash, std::equal_to<>>;

  ByText keys_;
  ByText prefixes_;
  std::vector<std::size_t> prefix_lengths_;  // how many watched prefixes have this length
  std::vector<std::unique_ptr<Topic>> others_;
};

}  // namespace krater::storage
