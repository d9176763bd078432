#include "model/queue.h"

#include "base/check.h"

namespace krater {

std::string_view to_text(QueueState state) {
  switch (state) {
    case QueueState::Open:
      return "Open";
    case QueueState::Closed:
      return "Closed";
    case QueueState::Closing:
      return "Closing";
    case QueueState::Unknown:
      return "Unknown";
  }
  CHECK(false);
}

QueueState QueueView::state() const {
  const std::string_view state = string({"status", "state"}).value_or("");
  if (state.empty()) return QueueState::Open;
  for (const QueueState known : {QueueState::Open, QueueState::Closed, QueueState::Closing}) {
    if (state == to_text(known)) return known;
  }
  return QueueState::Unknown;
}

}  // namespace krater
