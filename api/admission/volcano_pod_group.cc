// Volcano's pod groups: the queue a namespace prefers, and queues that take nothing.
#include "api/admission/rules.h"
#include "model/keys.h"
#include "model/queue.h"

namespace krater::api {

Result<void> mutate_pod_group(Admission& admission) {
  if (admission.operation != Operation::Create) return {};
  const std::string queue = text_at(admission.object, {"spec", "queue"});
  if (!queue.empty() && queue != keys::kDefaultQueue) return {};
  TRY_ASSIGN(const ObjectPtr space,
             admission.reader.get(kinds::kNamespace, "", admission.name_space));
  const ObjectView view(space);
  const std::string_view preferred = view.annotation(keys::kQueueName);
  if (!preferred.empty()) {
    set_path(admission.object, {"spec", "queue"}, Json(preferred));
  } else if (admission.settings.default_queue != keys::kDefaultQueue) {
    set_path(admission.object, {"spec", "queue"}, Json(admission.settings.default_queue));
  }
  return {};
}

Result<void> admit_pod_group(const Admission& admission) {
  if (admission.operation != Operation::Create) return {};
  const std::string name = text_at(admission.object, {"spec", "queue"});
  if (name.empty()) return {};
  TRY_ASSIGN(const ObjectPtr queue, admission.reader.get(kinds::kQueue, "", name));
  // The default queue is made by a controller right after the first start.
  if (!queue && name == admission.settings.default_queue) return {};
  if (!queue)
    return refusal("unable to find queue: queues.scheduling.volcano.sh \"" + name + "\" not found");
  const QueueState state = QueueView(queue).state();
  if (state == QueueState::Open) return {};
  return refusal("can only submit PodGroup to queue with state `Open`, queue `" + name +
                 "` status is `" + std::string(to_text(state)) + "`");
}

}  // namespace krater::api
