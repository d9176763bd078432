// overcommit: admits jobs as long as what they want fits into the cluster's allocatable times a
// factor (overcommit-factor, 1.2), less what is in use and what was admitted before
// (volcano.md 4.6). A queue with the annotation volcano.sh/overcommit-factor, and every queue above
// that has one, admits no more than that many times what it deserves besides (volcano.md 11, 4).
#include <algorithm>
#include <map>
#include <optional>

#include "scheduler/explain.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/queue_tree.h"
#include "scheduler/session.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

constexpr std::int64_t kDefaultFactorPerMille = 1200;

class Overcommit final : public Plugin, public EnqueueHook {
 public:
  explicit Overcommit(std::int64_t factor_per_mille) : factor_(factor_per_mille) {}

  void open(const Session& session) override {
    for (Dim d = 0; d < session.total().dims(); ++d)
      budget_.set(d, scale(session.total().at(d), factor_, 1000));
    used_ = session.used();
    admitted_ = session.admitted();
    open_queues(session);
  }

  Vote may_enqueue(const Session& session, JobId id, Refusal& why) const override {
    return fits_cluster(session, id, why) && fits_queues(session, id, why) ? Vote::Permit
                                                                           : Vote::Reject;
  }

  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (!job.min_resources) return;
    const Resource wanted = (*job.min_resources - job.gated_requests()).clamped();
    admitted_ += wanted;
    move(session.queue_of(id), wanted, 1);
  }

  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    move(session.queue_of(job), task.shape->request, 1);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    move(session.queue_of(job), task.shape->request, -1);
  }

 private:
  // Of a queue with a factor of its own: what it and those below it have and were promised.
  struct QueueBudget {
    Bounds limit{};
    Resource taken{};
  };

  // In what a queue says that it deserves, within what it may hold at all.
  static Bounds limit_of(const Session& session, QueueId queue, std::int64_t factor) {
    const QueueInfo& info = session.queue(queue);
    Bounds out;
    for (Dim d = 0; d < info.deserved.dims(); ++d) {
      if (!info.deserved.has(d) || info.deserved.at(d) <= 0) continue;
      const std::int64_t due = std::max(info.deserved.at(d), session.guarantee(queue).at(d));
      std::int64_t limit = scale(due, factor, 1000);
      if (info.capability.has(d) && info.capability.at(d) > 0)
        limit = std::min(limit, info.capability.at(d));
      out.set(d, limit);
    }
    return out;
  }

  void open_queues(const Session& session) {
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      if (const auto factor = session.queue(q).overcommit_per_mille)
        queues_[q].limit = limit_of(session, q, *factor);
    }
    if (queues_.empty()) return;
    tree_ = QueueTree::hierarchy(session);
    for (QueueId q = 0; q < session.queue_count(); ++q)
      move(q, session.sums(q).allocated + session.sums(q).inqueue, 1);
  }

  void move(QueueId queue, const Resource& amounts, int sign) {
    if (queues_.empty() || queue == kNoQueue) return;
    for (const QueueId above : tree_->path(queue)) {
      const auto place = queues_.find(above);
      if (place == queues_.end()) continue;
      sign > 0 ? place->second.taken += amounts : place->second.taken -= amounts;
    }
  }

  bool fits_cluster(const Session& session, JobId id, Refusal& why) const {
    if (session.behaviors().enqueue_beyond_free_room) return true;
    const Resource& wanted = *session.job(id).min_resources;
    const Resource taken = used_ + admitted_;
    std::optional<Resource> freed;
    Shortage shortage(session.names());
    for (Dim d = 0; d < wanted.dims(); ++d) {
      if (d == kPods || wanted.at(d) <= 0) continue;
      if (wanted.at(d) + taken.at(d) <= budget_.at(d)) continue;
      // Who can be made to leave for it does not keep it out.
      if (!freed) freed = session.preemptable_in_queue(id) + session.freeable(id);
      if (wanted.at(d) + taken.at(d) - freed->at(d) <= budget_.at(d)) continue;
      shortage.add(d,
                   {{"requested", wanted.at(d)},
                    {"in use", used_.at(d)},
                    {"admitted", admitted_.at(d)},
                    {"limit", budget_.at(d)}},
                   wanted.at(d) + taken.at(d) - freed->at(d) - budget_.at(d));
    }
    if (shortage.empty()) return true;
    why = {"", "resource in cluster is overused: " + shortage.names_after("overused"),
           shortage.figures(), codes::kClusterLimit, shortage.facts("cluster")};
    return false;
  }

  bool fits_queues(const Session& session, JobId id, Refusal& why) const {
    if (queues_.empty() || session.queue_of(id) == kNoQueue) return true;
    const Resource freed = session.preemptable_in_queue(id);
    for (const QueueId queue : tree_->path(session.queue_of(id))) {
      const auto place = queues_.find(queue);
      if (place != queues_.end() && !fits_queue(session, id, *place, freed, why)) return false;
    }
    return true;
  }

  static bool fits_queue(const Session& session, JobId id,
                         const std::pair<const QueueId, QueueBudget>& entry, const Resource& freed,
                         Refusal& why) {
    const auto& [queue, budget] = entry;
    const Resource& wanted = *session.job(id).min_resources;
    Shortage shortage(session.names());
    for (Dim d = 0; d < wanted.dims(); ++d) {
      if (d == kPods || wanted.at(d) <= 0 || !budget.limit.has(d)) continue;
      const std::int64_t beyond =
          wanted.at(d) + budget.taken.at(d) - freed.at(d) - budget.limit.at(d);
      if (beyond <= 0) continue;
      shortage.add(d,
                   {{"requested", wanted.at(d)},
                    {"taken", budget.taken.at(d)},
                    {"limit", budget.limit.at(d)}},
                   beyond);
    }
    if (shortage.empty()) return true;
    const std::string& name = session.queue(queue).name.text();
    why = {"", "queue \"" + name + "\" is overused: " + shortage.names_after("overused"),
           shortage.figures(), codes::kQueueLimit, shortage.facts("queue " + name)};
    return false;
  }

  std::int64_t factor_;
  Resource budget_, used_, admitted_;
  std::map<QueueId, QueueBudget> queues_;
  std::optional<QueueTree> tree_{};  // where a queue has a factor
};

}  // namespace

Result<PluginFactory> configure_overcommit(Arguments& arguments, const EnableFlags& flags) {
  TRY_ASSIGN(std::int64_t factor, arguments.per_mille("overcommit-factor", kDefaultFactorPerMille));
  if (factor < 1000) factor = kDefaultFactorPerMille;
  return PluginFactory([factor](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Overcommit>(factor), enabled);
  });
}

}  // namespace krater::scheduler
