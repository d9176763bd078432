#include "model/queue_choice.h"

#include "model/keys.h"

namespace krater {

QueueName queue_for(std::string_view named, std::string_view preferred,
                    std::string_view otherwise) {
  if (!named.empty() && named != keys::kDefaultQueue) return QueueName(named);
  return QueueName(preferred.empty() ? otherwise : preferred);
}

}  // namespace krater
