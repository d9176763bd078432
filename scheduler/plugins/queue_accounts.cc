#include "scheduler/plugins/queue_accounts.h"

#include <algorithm>

#include "model/keys.h"
#include "scheduler/explain.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

std::string quoted(const Session& session, QueueId queue) {
  return "queue \"" +
         (queue < session.queue_count() ? session.queue(queue).name.text()
                                        : std::string(keys::kRootQueue)) +
         "\"";
}

// Up to where jobs are admitted: what the queue may hold; or, where jobs are to wait for nodes that
// are still to come, what it says itself that it may hold.
std::int64_t admission_limit(const Session& session, const QueueAccount& account, QueueId queue,
                             Dim d) {
  if (!session.behaviors().enqueue_beyond_free_room) return account.real_capability.at(d);
  if (queue >= session.queue_count()) return kMostAmount;
  const std::int64_t cap = session.queue(queue).capability.at(d);
  const bool unset = cap == Bounds::kUnset || ((d == kCpu || d == kMemory) && cap <= 0);
  return unset ? kMostAmount : cap;
}

}  // namespace

Resource real_capability(const Resource& total, const Resource& all_guarantees,
                         const Resource& guarantee, const Bounds& capability) {
  Resource out = (total - all_guarantees).clamped() + guarantee;
  for (Dim d = 0; d < capability.dims(); ++d) {
    const std::int64_t cap = capability.at(d);
    if (cap == Bounds::kUnset || ((d == kCpu || d == kMemory) && cap <= 0)) continue;
    out.set(d, std::min(out.at(d), cap));
  }
  return out;
}

std::vector<QueueAccount> open_accounts(const Session& session) {
  std::vector<QueueAccount> out(session.queue_count());
  Resource guarantees;
  for (QueueId q = 0; q < session.queue_count(); ++q) guarantees += session.guarantee(q);
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    const QueueSums& sums = session.sums(q);
    out[q] = {sums.jobs > 0, sums.allocated, sums.request, sums.inqueue, sums.elastic, {}};
    out[q].real_capability = real_capability(session.total(), guarantees, session.guarantee(q),
                                             session.queue(q).capability);
  }
  return out;
}

Vote vote_on_admission(const Session& session, const QueueAccount& account, QueueId queue, JobId id,
                       const Resource& freed, Refusal& why) {
  const JobInfo& job = session.job(id);
  if (!job.min_resources) return Vote::Permit;
  const Resource& wanted = *job.min_resources;
  Shortage shortage(session.names());
  for (Dim d = 0; d < wanted.dims(); ++d) {
    if (d == kPods || wanted.at(d) <= 0) continue;
    // What is elastic and what can be freed may be the same.
    const std::int64_t after = wanted.at(d) + account.allocated.at(d) + account.inqueue.at(d) -
                               std::max(account.elastic.at(d), freed.at(d));
    const std::int64_t limit = admission_limit(session, account, queue, d);
    if (after <= limit) continue;
    shortage.add(d,
                 {{"requested", wanted.at(d)},
                  {"allocated", account.allocated.at(d)},
                  {"admitted", account.inqueue.at(d)},
                  {"limit", limit}},
                 after - limit);
  }
  if (shortage.empty()) return Vote::Permit;
  why = {"", "queue resource quota insufficient: " + shortage.names_after("insufficient"),
         quoted(session, queue) + ": " + shortage.figures(), codes::kQueueLimit,
         shortage.facts("queue " + session.queue(queue).name.text())};
  return Vote::Reject;
}

bool within(const Session& session, const QueueAccount& account, const Resource& request,
            const Resource& limit, std::string_view limit_name, QueueId queue, Refusal& why) {
  const auto short_of = [&](Dim d) {
    return d != kPods && request.at(d) > 0 && account.allocated.at(d) + request.at(d) > limit.at(d);
  };
  bool fits = true;
  for (Dim d = 0; d < request.dims(); ++d) fits = fits && !short_of(d);
  if (fits) return true;  // the common case builds no text
  Shortage shortage(session.names());
  for (Dim d = 0; d < request.dims(); ++d) {
    if (!short_of(d)) continue;
    shortage.add(d, {{"requested", request.at(d)},
                     {"taken", account.allocated.at(d)},
                     {limit_name, limit.at(d)}});
  }
  why = {"", "queue resource quota insufficient: " + shortage.names_after("insufficient"),
         quoted(session, queue) + ": " + shortage.figures(), codes::kQueueLimit,
         shortage.facts("queue " + session.queue(queue).name.text())};
  return false;
}

}  // namespace krater::scheduler
