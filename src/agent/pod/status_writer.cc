#include "agent/pod/status_writer.h"

#include <algorithm>

#include "base/log.h"

namespace krater::agent {
namespace {

constexpr Duration kGather = std::chrono::milliseconds(5);

}  // namespace

void StatusWriter::seen(ObjectPtr object) {
  if (object_ && object_->revision() >= object->revision()) return;
  object_ = std::move(object);
}

void StatusWriter::flush(std::function<void()> settled) {
  if (settled) waiting_.push_back(std::move(settled));
  dirty_ = true;
  if (in_flight_ || retry_ != 0) return;
  if (!waiting_.empty()) return write();
  if (gather_ != 0) return;
  gather_ = loop_.after(kGather, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    gather_ = 0;
    if (!in_flight_ && retry_ == 0) write();
  });
}

void StatusWriter::write() {
  dirty_ = false;
  const std::shared_ptr<const Json> document = object_->document();
  Json wanted = compute_(*document);
  const Json* current = find(*document, {"status"});
  // Equal to what the API answered, or to what was sent and came back in another shape.
  const bool same = current != nullptr && *current == wanted;
  if (gone_ || same || wanted == last_sent_) return settle();
  last_sent_ = wanted;
  // Merge patches leave out what should vanish unless told.
  JsonObject status = wanted.get_object();
  if (current != nullptr && current->is_object()) {
    for (const auto& member : current->get_object()) {
      if (!wanted.get_object().contains(member.key())) status[member.key()] = nullptr;
    }
  }
  in_flight_ = true;
  client_.write(client::PatchWrite{kinds::kPod, object_->name_space(), object_->name(),
                                   client::PatchType::Merge, Json{{"status", std::move(status)}},
                                   "status", object_->revision()},
                [this, alive = std::weak_ptr<bool>(alive_)](Result<ObjectPtr> result) {
                  if (!alive.expired()) answered(std::move(result));
                });
}

void StatusWriter::answered(Result<ObjectPtr> result) {
  in_flight_ = false;
  if (result) {
    failures_ = 0;
    seen(*result);
    return dirty_ ? write() : settle();
  }
  last_sent_ = Json();
  if (result.error().code == Code::NotFound) {
    gone_ = true;
    return settle();
  }
  // Conflict: the watch (or a read) brings the newer object; anything else: the server is away or
  // refuses.
  const bool conflict = result.error().code == Code::Conflict;
  if (!conflict) {
    log::warn("agent.status_failed",
              {{"pod", object_->key().text()}, {"why", result.error().message}});
  }
  const Duration delay = std::min<Duration>(
      std::chrono::milliseconds(conflict ? 20 : 200) * (1 << std::min(failures_++, 6)),
      std::chrono::seconds(10));
  dirty_ = true;
  retry_ = loop_.after(delay, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    retry_ = 0;
    if (!in_flight_) write();
  });
}

void StatusWriter::settle() {
  std::vector<std::function<void()>> ready;
  ready.swap(waiting_);
  for (std::function<void()>& one : ready) one();
}

}  // namespace krater::agent
