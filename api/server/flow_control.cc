#include "api/server/flow_control.h"

#include <algorithm>
#include <utility>

namespace krater::api {

FlowControl::Place::~Place() {
  if (owner_ != nullptr) owner_->leave(*this);
}

std::optional<FlowControl::Place> FlowControl::admit(FlowKind kind, const std::string& client) {
  const std::lock_guard lock(mutex_);
  Lane& lane = this->lane(kind);
  const auto own = lane.in_flight.find(client);
  const std::size_t has = own == lane.in_flight.end() ? 0 : own->second;
  const std::size_t clients = lane.in_flight.size() + (has == 0 ? 1 : 0);
  if (limit(kind) > 0 && has >= std::max<std::size_t>(1, limit(kind) / clients)) {
    ++lane.rejected;
    return std::nullopt;
  }
  ++lane.in_flight[client];
  ++lane.total;
  Place place;
  place.owner_ = this;
  place.kind_ = kind;
  place.client_ = client;
  return place;
}

FlowControl::Place FlowControl::admit_exempt(FlowKind kind) {
  const std::lock_guard lock(mutex_);
  ++lane(kind).total;
  Place place;
  place.owner_ = this;
  place.kind_ = kind;
  place.exempt_ = true;
  return place;
}

void FlowControl::leave(const Place& place) {
  const std::lock_guard lock(mutex_);
  Lane& lane = this->lane(place.kind_);
  --lane.total;
  if (place.exempt_) return;
  const auto own = lane.in_flight.find(place.client_);
  if (--own->second == 0) lane.in_flight.erase(own);
}

FlowControl::Counts FlowControl::counts() const {
  const std::lock_guard lock(mutex_);
  Counts out;
  for (std::size_t i = 0; i < 2; ++i) {
    out.in_flight[i] = lanes_[i].total;
    out.rejected[i] = lanes_[i].rejected;
  }
  return out;
}

}  // namespace krater::api
