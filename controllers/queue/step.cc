#include "controllers/queue/step.h"

#include <algorithm>
#include <array>
#include <optional>

#include "model/keys.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

struct Count {
  PodGroupPhase phase;
  std::string_view field;
};
constexpr std::array<Count, 5> kCounts{{{PodGroupPhase::Unknown, "unknown"},
                                        {PodGroupPhase::Pending, "pending"},
                                        {PodGroupPhase::Running, "running"},
                                        {PodGroupPhase::Inqueue, "inqueue"},
                                        {PodGroupPhase::Completed, "completed"}}};

bool is_root(const QueueObserved& seen) {
  return seen.queue->name() == keys::kRootQueue;
}
bool is_open(const QueueView& queue) {
  return queue.state() == QueueState::Open;
}
bool closed_by_parent(const QueueView& queue) {
  return queue.annotation(kClosedByParent) == "true";
}

std::int64_t group_count(const QueueObserved& seen) {
  std::int64_t out = 0;
  for (const auto& [phase, count] : seen.groups) out += count;
  return out;
}

// What it should be, and the mark that goes with it when that has to change.
struct Target {
  QueueState state;
  std::optional<bool> mark{};
};

Target target_of(const QueueObserved& seen) {
  const QueueView& queue = seen.queue;
  const QueueState closed = group_count(seen) > 0 ? QueueState::Closing : QueueState::Closed;
  if (is_root(seen)) return {QueueState::Open};
  const bool parent_open = !seen.parent || is_open(seen.parent);
  switch (queue.state()) {
    case QueueState::Open:
      if (!parent_open) return {closed, true};
      return closed_by_parent(queue) ? Target{QueueState::Open, false} : Target{QueueState::Open};
    case QueueState::Closed:
    case QueueState::Closing:
      return closed_by_parent(queue) && parent_open ? Target{QueueState::Open, false}
                                                    : Target{closed};
    case QueueState::Unknown:
      return {QueueState::Unknown};
  }
  return {QueueState::Unknown};
}

// Only our fields: `allocated` is the scheduler's (the schema wants it to be there).
std::optional<Json> status_patch(const QueueObserved& seen, QueueState state) {
  const Json& document = seen.queue.document();
  JsonObject status;
  if (text_at(document, {"status", "state"}) != to_text(state)) status["state"] = to_text(state);
  for (const auto& [phase, field] : kCounts) {
    const auto place = seen.groups.find(phase);
    const std::int64_t count = place == seen.groups.end() ? 0 : place->second;
    if (int_at(document, {"status", field}).value_or(0) == count) continue;
    status[field] = count == 0 ? Json(nullptr) : Json(count);
  }
  if (find(document, {"status", "allocated"}) == nullptr) status["allocated"] = JsonObject();
  if (status.empty()) return std::nullopt;
  return Json(JsonObject{{"status", std::move(status)}});
}

bool closes(const QueueView& queue, QueueState next) {
  return next != queue.state() && (next == QueueState::Closed || next == QueueState::Closing);
}

// Volcano tells of a queue that is closed by an order or with its parent; of one that opens it says
// nothing.
EventNote told_closed() {
  return {EventNote::Type::Normal, "CloseQueue", "Close queue succeed"};
}

PlannedWrite patch(const QueueView& queue, Json body, std::string subresource) {
  client::PatchWrite write{kinds::kQueue,   "",
                           queue->name(),   client::PatchType::Merge,
                           std::move(body), std::move(subresource)};
  // A command that came in between must be seen first.
  write.only_if = queue->revision();
  return {std::move(write), Code::NotFound, {}, {}};
}

}  // namespace

Plan step(const QueueObserved& seen) {
  Plan plan;
  if (seen.queue->deletion()) return plan;
  const Target target = target_of(seen);
  Json body(boost::json::object_kind);
  if (!is_root(seen) && seen.queue.parent().empty())
    set_path(body, {"spec", "parent"}, Json(keys::kRootQueue));
  if (target.mark && closed_by_parent(seen.queue) != *target.mark) {
    set_path(body, {"metadata", "annotations", kClosedByParent}, *target.mark ? "true" : "false");
  }
  std::optional<Json> status = status_patch(seen, target.state);
  // One write a pass, in an order that can be broken off: closing, the mark comes before the state;
  // opening, after it.
  const bool opening = target.state == QueueState::Open && !is_open(seen.queue);
  if (!body.get_object().empty() && !opening)
    return std::move(plan.then(patch(seen.queue, std::move(body), "")));
  if (status) {
    PlannedWrite write = patch(seen.queue, *std::move(status), "status");
    if (is_open(seen.queue) && closes(seen.queue, target.state)) write.on_done = told_closed();
    plan.then(std::move(write));
  }
  return plan;
}

Plan discard(const Object& order) {
  client::DeleteWrite gone{kinds::kCommand, order.name_space(), order.name()};
  gone.only_uid = order.uid();
  Plan plan;
  return std::move(plan.then({std::move(gone), Code::NotFound, {}, {}}));
}

Plan obey(const QueueObserved& seen, const Object& order) {
  const std::string action = text_at(*order.document(), {"action"});
  const bool open = action == "OpenQueue";
  std::string problem;
  if (!open && action != "CloseQueue") {
    problem = "is no order to a queue";
  } else if (is_root(seen) && !open) {
    problem = "the root queue can not be closed";
  } else if (open && seen.parent && !is_open(seen.parent)) {
    problem = "its parent queue " + seen.parent->name() + " is " +
              std::string(to_text(seen.parent.state()));
  }
  Plan plan;
  if (problem.empty() && !open && closed_by_parent(seen.queue)) {
    // It stays closed when its parent opens; the order is obeyed when that is written down.
    Json body(boost::json::object_kind);
    set_path(body, {"metadata", "annotations", kClosedByParent}, "false");
    return std::move(plan.then(patch(seen.queue, std::move(body), "")));
  }
  if (problem.empty()) {
    // Both are harmless when repeated, so the order goes last: it is not lost.
    const QueueState closed = group_count(seen) > 0 ? QueueState::Closing : QueueState::Closed;
    Json status(boost::json::object_kind);
    set_path(status, {"status", "state"}, Json(to_text(open ? QueueState::Open : closed)));
    if (find(seen.queue.document(), {"status", "allocated"}) == nullptr)
      set_path(status, {"status", "allocated"}, JsonObject());
    PlannedWrite write = patch(seen.queue, std::move(status), "status");
    if (!open && closes(seen.queue, closed)) write.on_done = told_closed();
    plan.then(std::move(write));
  } else {
    plan.events.push_back(
        {EventNote::Type::Warning, action, action + " queue failed for " + problem});
  }
  plan.steps.push_back(std::move(discard(order).steps.front()));
  return plan;
}

Json initial_queue(std::string_view name) {
  Json out = new_object(kinds::kQueue, "", name);
  set_path(out, {"spec", "weight"}, 1);
  set_path(out, {"spec", "reclaimable"}, name != keys::kRootQueue);
  if (name != keys::kRootQueue) set_path(out, {"spec", "parent"}, Json(keys::kRootQueue));
  return out;
}

}  // namespace krater::controllers
