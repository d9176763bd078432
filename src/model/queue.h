// Reading a Queue.
#pragma once

#include <string>

#include "model/object.h"
#include "model/resource_list.h"

namespace krater {

enum class QueueState { Open, Closed, Closing, Unknown };
std::string_view to_text(QueueState state);

class QueueView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::int64_t weight() const { return integer({"spec", "weight"}).value_or(1); }
  std::int64_t priority() const { return integer({"spec", "priority"}).value_or(0); }
  bool reclaimable() const { return boolean({"spec", "reclaimable"}).value_or(true); }
  QueueName parent() const { return QueueName(text({"spec", "parent"})); }
  // dequeueStrategy fifo: whoever waits in front is not overtaken.
  bool fifo() const { return text({"spec", "dequeueStrategy"}) == "fifo"; }
  // What is not listed is unlimited.
  ResourceList capability() const { return list({"spec", "capability"}); }
  ResourceList guarantee() const { return list({"spec", "guarantee", "resource"}); }
  ResourceList deserved() const { return list({"spec", "deserved"}); }
  // A queue without a state is new and counts as Open.
  QueueState state() const;
  ResourceList allocated() const { return list({"status", "allocated"}); }

 private:
  ResourceList list(JsonPath path) const { return ResourceList::from(find(document(), path)); }
};

}  // namespace krater
