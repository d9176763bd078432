// For controllers whose events carry another name than their own: that of the program which tells
// them in the original.
#pragma once

#include <string_view>

namespace krater::controllers {

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::string_view event_source() const = 0;
};

// Volcano's controllers tell as their manager.
class VolcanoEventSource : public EventSource {
 public:
  std::string_view event_source() const override { return "vc-controller-manager"; }
};

}  // namespace krater::controllers
