// What watches need from the disk once memory has forgotten it. Any thread.
#pragma once

#include <vector>

#include "storage/store.h"

namespace krater::storage {

class History {
 public:
  virtual ~History() = default;

  struct Events {
    std::vector<EventPtr> events;
    Revision upto;  // nothing of the range was left out up to here
  };
  // Up to `limit` events of the range with after < revision <= upto. Code::Expired when `after` has
  // been compacted.
  virtual Result<Events> events(const KeyRange& range, Revision after, Revision upto,
                                std::size_t limit) const = 0;
};

}  // namespace krater::storage
