// Volcano's pod groups: the queue a namespace prefers, and queues that take nothing.
#include "api/admission/rules.h"
#include "model/keys.h"
#include "model/queue.h"
#include "model/queue_choice.h"

namespace krater::api {

Result<void> mutate_pod_group(Admission& admission) {
  if (admission.operation != Operation::Create) return {};
  TRY_ASSIGN(const ObjectPtr space,
             admission.reader.get(kinds::kNamespace, "", admission.name_space));
  const QueueName queue =
      queue_for(text_at(admission.object, {"spec", "queue"}),
                ObjectView(space).annotation(keys::kQueueName), admission.settings.default_queue);
  set_path(admission.object, {"spec", "queue"}, Json(queue.text()));
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
