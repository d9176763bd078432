#include "storage/event_ring.h"

#include <utility>

#include "base/check.h"

namespace krater::storage {
namespace {

// What an event keeps alive, roughly: the version it replaced and some room for the bookkeeping. Its
// own version stands in the index until another event replaces it, which counts it then.
std::size_t weight(const Event& event) {
  constexpr std::size_t kOverhead = 256;
  std::size_t bytes = kOverhead + event.record->key.size();
  if (event.previous) bytes += event.previous->value->size();
  return bytes;
}

}  // namespace

void EventRing::push(EventPtr event) {
  CHECK(events_.empty() || event->revision() == events_.back()->revision().next());
  bytes_ += weight(*event);
  events_.push_back(std::move(event));
  while (events_.size() > limits_.events || (bytes_ > limits_.bytes && events_.size() > 1)) {
    bytes_ -= weight(*events_.front());
    events_.pop_front();
  }
}

const EventPtr& EventRing::at(Revision revision) const {
  const auto place = static_cast<std::size_t>(revision.number() - first().number());
  CHECK(place < events_.size());
  return events_[place];
}

}  // namespace krater::storage
