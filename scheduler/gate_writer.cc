#include "scheduler/gate_writer.h"

#include "base/log.h"

namespace krater::scheduler {

bool GateWriter::lift(const TaskSpec& task) {
  const Uid uid = task.pod->uid();
  if (!under_way_.insert(uid).second) return false;
  client::PatchWrite write{kinds::kPod, task.name_space(), task.name(), client::PatchType::Merge,
                           JsonObject{{"spec", JsonObject{{"schedulingGates", nullptr}}}}};
  write.only_if = task.pod->revision();
  client_.write(std::move(write), [this, alive = alive_, uid, job = task.job,
                                   pod = task.pod](const Result<ObjectPtr>& done) {
    if (!*alive) return;
    under_way_.erase(uid);
    if (!done && done.error().code != Code::Conflict) {
      log::warn("scheduler.gate.failed",
                {{"pod", pod->name_space() + "/" + pod->name()}, {"why", done.error().message}});
    }
    if (!done && done.error().code != Code::NotFound) failed_(job);
  });
  return true;
}

}  // namespace krater::scheduler
