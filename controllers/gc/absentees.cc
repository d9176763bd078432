#include "controllers/gc/absentees.h"

namespace krater::controllers {

void Absentees::mark(const Uid& uid) {
  if (uid.empty() || !gone_.insert(uid).second) return;
  order_.push_back(uid);
  if (order_.size() <= kRemembered) return;
  gone_.erase(order_.front());
  order_.pop_front();
}

void Absentees::ask(const Kind& kind, const std::string& name_space, const std::string& name,
                    const Uid& uid, const ObjectKey& who) {
  std::vector<ObjectKey>& waiting = asking_[uid];
  waiting.push_back(who);
  if (waiting.size() > 1) return;
  client_.get(kind, name_space, name, [this, alive = alive_, uid](const Result<ObjectPtr>& found) {
    if (!*alive) return;
    const std::vector<ObjectKey> woken = std::move(asking_[uid]);
    asking_.erase(uid);
    if (!found && found.error().code != Code::NotFound) return;
    // Another object under the owner's name is not the owner.
    if (found && (*found)->uid() == uid) {
      present_.insert(uid);
    } else {
      mark(uid);
    }
    for (const ObjectKey& key : woken) wake_(key);
  });
}

}  // namespace krater::controllers
