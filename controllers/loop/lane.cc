#include "controllers/loop/lane.h"

#include <algorithm>
#include <exception>
#include <variant>

#include "base/check.h"
#include "base/log.h"
#include "controllers/loop/event_source.h"

namespace krater::controllers {
namespace {

constexpr Duration kLongPass = std::chrono::milliseconds(2);
constexpr int kRestPerPass = 4;
constexpr Duration kLongestRest = std::chrono::milliseconds(100);

// The server's word that nothing new may come into a namespace that is being deleted.
bool namespace_ends(const Error& error) {
  return error.code == Code::Forbidden && std::ranges::any_of(error.causes, [](const Cause& cause) {
           return cause.reason == "NamespaceTerminating";
         });
}

}  // namespace

// A plan under way.
struct ControllerLoop::Lane::Pass {
  ObjectKey key;
  ObjectPtr about;  // the reconciled object as the pass began, for events after it is gone
  Plan plan;
  std::size_t step = 0;
  std::size_t next = 0;  // next write of the step to launch
  std::size_t in_flight = 0;
  std::size_t failed = 0;
  bool conflicted = false;
  std::size_t too_late = 0;  // of the failed: creates in a namespace that ends
  bool launching = false;
  std::map<std::string, Revision> wrote;  // by resource
  std::size_t unseen = 0;                 // resources whose revision the cache has not reached
  Loop::TimerId give_up = 0;
  Duration took{};                     // to decide
  std::optional<std::string> phase{};  // of the object, as this pass wrote it last
};

void ControllerLoop::Lane::set(std::unique_ptr<Reconciler> reconciler) {
  CHECK(reconciler != nullptr);
  reconciler_ = std::move(reconciler);
  counters_.name = reconciler_->name();
  if (owner_.options_.log_of) log_ = owner_.options_.log_of(counters_.name);
  const auto* source = dynamic_cast<const EventSource*>(reconciler_.get());
  events_ = std::make_unique<client::EventRecorder>(
      client_, owner_.loop_, owner_.clock_,
      source == nullptr ? counters_.name : std::string(source->event_source()));
  queue_ = std::make_unique<client::WorkQueue>(owner_.loop_, owner_.options_.backoff,
                                               [this](const ObjectKey& key) { run(key); });
}

Enqueue ControllerLoop::Lane::enqueue() {
  return [this, alive = alive_](const ObjectKey& key) {
    if (*alive) add(key);
  };
}

void ControllerLoop::Lane::add(const ObjectKey& key) {
  if (stopped_) return;
  if (open_) return queue_->add(key);
  early_.insert(key);
}

void ControllerLoop::Lane::open() {
  open_ = true;
  for (const ObjectKey& key : reconciler_->first_keys()) queue_->add(key);
  for (const ObjectKey& key : std::exchange(early_, {})) queue_->add(key);
}

void ControllerLoop::Lane::stop() {
  stopped_ = true;
  early_.clear();
  *alive_ = false;
}

ControllerCounters ControllerLoop::Lane::counters() const {
  ControllerCounters out = counters_;
  out.queued = queue_->depth();
  out.pending = queue_->pending() + early_.size();
  return out;
}

void ControllerLoop::Lane::run(const ObjectKey& key) {
  if (stopped_) return;
  ++counters_.passes;
  auto pass = std::make_shared<Pass>();
  pass->key = key;
  pass->about = owner_.cache_.get(key);
  const SteadyTime begin = owner_.loop_.now();
  pass->plan = decide(key);
  pass->took = owner_.loop_.now() - begin;
  go_on(pass);
}

Plan ControllerLoop::Lane::decide(const ObjectKey& key) {
  try {
    return reconciler_->reconcile(key, owner_.cache_, owner_.clock_.now());
  } catch (const std::exception& thrown) {
    ++counters_.failures;
    log::error("controller.exception",
               {{"controller", counters_.name}, {"key", key.text()}, {"what", thrown.what()}});
    Plan plan;
    plan.outcome = Outcome::retry("exception");
    return plan;
  }
}

void ControllerLoop::Lane::go_on(const PassPtr& pass) {
  while (pass->step < pass->plan.steps.size() && pass->plan.steps[pass->step].empty()) ++pass->step;
  if (pass->step == pass->plan.steps.size()) {
    for (const EventNote& note : pass->plan.events) tell(*pass, note);
    return conclude(pass);
  }
  pass->next = 0;
  launch(pass);
}

// Whether the object of the pass has gone, or begun to go, since the pass began.
bool ControllerLoop::Lane::is_over(const Pass& pass) const {
  if (pass.about == nullptr) return false;
  const ObjectPtr now = owner_.cache_.get(pass.key);
  return now == nullptr || now->uid() != pass.about->uid() ||
         (now->deletion() && !pass.about->deletion());
}

// Keeps up to writes_at_once of the step in flight. A client may answer from within write().
void ControllerLoop::Lane::launch(const PassPtr& pass) {
  if (std::exchange(pass->launching, true)) return;
  const std::size_t step = pass->step;
  const std::vector<PlannedWrite>& writes = pass->plan.steps[step];
  while (pass->next < writes.size() && pass->in_flight < owner_.options_.writes_at_once &&
         pass->failed < owner_.options_.failures_at_most) {
    const std::size_t index = pass->next++;
    // A long plan may outlive what it is for.
    if (std::holds_alternative<client::CreateWrite>(writes[index].write) && is_over(*pass))
      continue;
    ++pass->in_flight;
    ++counters_.writes;
    client_.write(writes[index].write,
                  [this, alive = alive_, pass, step, index](const Result<ObjectPtr>& result) {
                    if (*alive) answered(pass, step, index, result);
                  });
  }
  pass->launching = false;
  const bool all_asked =
      pass->next == writes.size() || pass->failed >= owner_.options_.failures_at_most;
  if (!all_asked || pass->in_flight > 0) return;
  if (pass->failed > 0) return conclude(pass);
  ++pass->step;
  go_on(pass);
}

void ControllerLoop::Lane::answered(const PassPtr& pass, std::size_t step, std::size_t index,
                                    const Result<ObjectPtr>& result) {
  --pass->in_flight;
  const PlannedWrite& planned = pass->plan.steps[step][index];
  const ObjectKey target = client::key_of(planned.write);
  if (result) {
    if (*result != nullptr) {
      Revision& newest = pass->wrote[target.resource];
      newest = std::max(newest, (*result)->revision());
      if (log_) log_phase(*pass, target, *result);
    }
    if (planned.on_done) tell(*pass, *planned.on_done);
  } else if (planned.fine_if != result.error().code) {
    ++pass->failed;
    if (result.error().code == Code::Conflict) {
      pass->conflicted = true;
      ++counters_.conflicts;
    } else if (namespace_ends(result.error())) {
      if (pass->too_late++ == 0) {
        log::debug(
            "controller.namespace_ends",
            {{"controller", counters_.name}, {"key", pass->key.text()}, {"target", target.text()}});
      }
    } else {
      ++counters_.failures;
      reconciler_->write_failed(pass->key, planned, result.error());
      if (pass->failed == 1) {  // one line a pass: the others mostly say the same
        log::warn("controller.write_failed", {{"controller", counters_.name},
                                              {"key", pass->key.text()},
                                              {"target", target.text()},
                                              {"error", result.error().message}});
      }
      if (planned.on_failed) {
        EventNote note = *planned.on_failed;
        note.message +=
            note.message.empty() ? result.error().message : ": " + result.error().message;
        tell(*pass, note);
      }
    }
  }
  launch(pass);
}

void ControllerLoop::Lane::log_phase(Pass& pass, const ObjectKey& target, const ObjectPtr& now) {
  if (target != pass.key) return;
  if (!pass.phase) pass.phase = pass.about ? phase_of(*pass.about) : std::string();
  std::string phase = phase_of(*now);
  if (phase == *pass.phase) return;
  log_(phase_line(counters_.name, target, *pass.phase, phase));
  pass.phase = std::move(phase);
}

void ControllerLoop::Lane::conclude(const PassPtr& pass) {
  for (auto at = pass->wrote.begin(); at != pass->wrote.end();) {
    const bool seen =
        !owner_.cache_.watches(at->first) || owner_.cache_.seen(at->first) >= at->second;
    at = seen ? pass->wrote.erase(at) : std::next(at);
  }
  if (pass->wrote.empty()) return finish(pass);
  wait_until_seen(pass);
}

void ControllerLoop::Lane::wait_until_seen(const PassPtr& pass) {
  pass->unseen = pass->wrote.size();
  pass->give_up = owner_.loop_.after(owner_.options_.see_within, [this, alive = alive_, pass] {
    if (!*alive) return;
    pass->give_up = 0;
    ++counters_.unseen;
    log::warn("controller.unseen", {{"controller", counters_.name}, {"key", pass->key.text()}});
    finish(pass);
  });
  for (const auto& [resource, revision] : pass->wrote) {
    owner_.cache_.when_seen(resource, revision, [this, alive = alive_, pass] {
      if (!*alive || pass->give_up == 0 || --pass->unseen > 0) return;
      owner_.loop_.cancel(std::exchange(pass->give_up, 0));
      finish(pass);
    });
  }
}

void ControllerLoop::Lane::finish(const PassPtr& pass) {
  const ObjectKey& key = pass->key;
  const bool failed = pass->failed > 0;
  const Outcome& outcome = pass->plan.outcome;
  if (failed && pass->failed == pass->too_late) {
    // Nothing to be told and nothing to be tried: the object goes with its namespace, and its
    // deletion wakes the key. The pause is for objects that somebody holds.
    queue_->forget(key);
    queue_->add_after(key, owner_.options_.ending_namespace_pause);
  } else if (failed || outcome.what == Outcome::What::Retry) {
    ++counters_.retries;
    if (!failed) {
      log::debug("controller.retry",
                 {{"controller", counters_.name}, {"key", key.text()}, {"why", outcome.reason}});
    }
    queue_->retry(key);
  } else {
    queue_->forget(key);
    if (outcome.what == Outcome::What::RequeueAfter) queue_->add_after(key, outcome.after);
  }
  rest(pass);
}

// A job of ten thousand pods hears of each of them: who takes long to decide that there is nothing
// to do takes in more at once.
void ControllerLoop::Lane::rest(const PassPtr& pass) {
  const bool wrote = std::ranges::any_of(
      pass->plan.steps, [](const std::vector<PlannedWrite>& step) { return !step.empty(); });
  if (pass->took < kLongPass || wrote) return queue_->done(pass->key);
  owner_.loop_.after(std::min(kRestPerPass * pass->took, kLongestRest),
                     [this, alive = alive_, key = pass->key] {
                       if (*alive) queue_->done(key);
                     });
}

void ControllerLoop::Lane::tell(const Pass& pass, const EventNote& note) {
  // The newest state, or what was there when the pass began: it may have deleted its object.
  ObjectPtr about = note.about ? note.about : owner_.cache_.get(pass.key);
  if (about == nullptr) about = pass.about;
  if (about == nullptr) return;  // nobody to tell it about
  if (log_) log_(event_line(counters_.name, about->key(), note));
  const auto type = note.type == EventNote::Type::Warning ? client::EventType::Warning
                                                          : client::EventType::Normal;
  events_->record(*about, {type, note.reason, note.message, note.action, {}, note.current});
}

}  // namespace krater::controllers
