// A watch as its client sees it: the store's events narrowed to a selection, with the transitions
// of objects that enter or leave it, initial events, and bookmarks. A cursor: it is pulled, and
// costs nothing while nobody pulls. One reader at a time, any thread. Dropping it ends it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/registry/request.h"
#include "base/result.h"

namespace krater::api {

class Watch {
 public:
  virtual ~Watch() = default;
  // Up to about `limit` events in revision order. Empty: nothing yet, and the notify function will
  // be called once when there is. Code::Expired when history was compacted under the reader; the
  // server sends failure_event() and closes. Code::NotFound when the kind is not served any more, or
  // in another shape: the server just closes, whoever still wants it asks again.
  virtual Result<std::vector<WatchEvent>> next(std::size_t limit) = 0;
  // A bookmark for what has been returned so far (send one about every minute, and before the
  // timeout). Nothing while initial events are still to come.
  virtual std::optional<WatchEvent> bookmark() const = 0;
};

WatchEvent failure_event(const Error& error);

}  // namespace krater::api
