// drf: the job with the smallest dominant share of the cluster goes first, and may take places of
// jobs whose share stays at least as large (volcano.md 4.7); but where priorities decide who goes,
// nobody takes a place from his equals or betters by it.
#include <map>
#include <vector>

#include "model/keys.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/capacity_rules.h"
#include "scheduler/plugins/fair_tree.h"
#include "scheduler/plugins/holder_words.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

class Drf final : public Plugin, public JobOrderHook, public PreemptableHook {
 public:
  void open(const Session& session) override { joined(session, 0); }
  void joined(const Session& session, JobId first) override {
    shares_.resize(session.job_count());
    held_.resize(session.job_count());
    for (JobId id = first; id < session.job_count(); ++id) {
      held_[id] = session.job(id).allocated;
      refresh(session, id);
    }
  }
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    const Share mine = dominant_share(
        held_[claimant.job] + session.task(claimant).spec->shape->request, session.total());
    const PluginChoice* priority = session.config().plugin("priority");
    const bool ranked = session.behaviors().drf_honors_priority && priority != nullptr &&
                        priority->flags.on("enablePreemptable");
    std::map<JobId, Resource> left;
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      if (ranked && session.job(one.job).priority >= session.job(claimant.job).priority) continue;
      Resource& rest = left.try_emplace(one.job, held_[one.job]).first->second;
      // Whoever is looked at counts as gone, chosen or not: as upstream.
      rest -= session.task(one).spec->shape->request;
      if (Share::compare(mine, dominant_share(rest, session.total())) <= 0) out.push_back(one);
    }
    return out;
  }
  int job_order(const Session& session, JobId a, JobId b) const override {
    return Share::compare(shares_[a], shares_[b]);
  }
  void measure(const Session&, SessionFigures& out) const override { out.counts_shares = true; }
  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    held_[job] += task.shape->request;
    refresh(session, job);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    held_[job] -= task.shape->request;
    refresh(session, job);
  }

 private:
  void refresh(const Session& session, JobId job) {
    shares_[job] = dominant_share(held_[job], session.total());
  }

  std::vector<Resource> held_;  // promised places included
  std::vector<Share> shares_;
};

// With enableHierarchy: the same among queues, in the tree of their annotations. A queue's jobs
// count together.
class HierarchicalDrf final : public Plugin,
                              public QueueOrderHook,
                              public ReclaimableHook,
                              public WhyHook {
 public:
  void open(const Session& session) override {
    tree_.emplace(session.total());
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      const QueueInfo& queue = session.queue(q);
      const ObjectView view(queue.object);
      const auto path = FairTree::path_of(queue.name.text(), view.annotation(keys::kHierarchy),
                                          view.annotation(keys::kHierarchyWeights));
      leaves_.push_back(tree_->add(path, session.sums(q).allocated, session.sums(q).request));
    }
    tree_->weigh();
  }
  int queue_order(const Session&, QueueId a, QueueId b) const override {
    return tree_->compare(leaves_[a], leaves_[b]);
  }
  bool moves_others() const override { return true; }
  // Whoever, with the claimant served and the victim gone, is still better off gives.
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    FairTree after = *tree_;
    const FairTree::Leaf to = leaves_[session.queue_of(claimant.job)];
    after.move(to, session.task(claimant).spec->shape->request, 1);
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      const FairTree::Leaf from = leaves_[session.queue_of(one.job)];
      const Resource& given = session.task(one).spec->shape->request;
      after.move(from, given, -1);
      after.weigh();
      if (after.compare(to, from) < 0) {
        out.push_back(one);
      } else {
        after.move(from, given, 1);
      }
    }
    return out;
  }
  // What others hold beside the job's queue, which by the tree comes before them or after them. A
  // plugin that knows what queues deserve says it better.
  void say_why(const Session& session, JobId id, Circumstances& out) const override {
    const Resource lacking = lacking_request(session, id);
    if (!session.reclaims() || lacking.is_zero() || session.config().plugin("capacity")) return;
    const QueueId mine = session.queue_of(id);
    FairTree after = *tree_;
    after.move(leaves_[mine], lacking, 1);
    after.weigh();
    std::vector<std::string> lines;
    bool in_vain = true;
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      const Resource held = only(session.sums(q).allocated, lacking).clamped();
      if (q == mine || held.is_zero()) continue;
      const bool more = after.compare(leaves_[mine], leaves_[q]) < 0;
      const bool gives = session.queue(q).reclaimable;
      in_vain = in_vain && !more;
      out.holdings.push_back({session.queue(q).name.text(), held, Holding::Title::Holds, gives});
      lines.push_back(quoted_queue(session, q) + " holds " + amounts_text(session.names(), held) +
                      (more ? ", and its share is the larger one" : "") +
                      (more && !gives ? "; it gives nothing back" : ""));
    }
    if (lines.empty()) return;
    if (in_vain) {
      out.lines.push_back(quoted_queue(session, mine) +
                          " would have the larger share, so nothing is taken from others");
    }
    add_named(std::move(lines), out);
  }
  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    move(session, job, task, 1);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    move(session, job, task, -1);
  }

 private:
  void move(const Session& session, JobId job, const TaskSpec& task, int sign) {
    tree_->move(leaves_[session.queue_of(job)], task.shape->request, sign);
    tree_->weigh();
  }

  std::optional<FairTree> tree_{};
  std::vector<FairTree::Leaf> leaves_;  // by queue
};

}  // namespace

Result<PluginFactory> configure_drf(Arguments& arguments, const EnableFlags& flags) {
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Drf>(), enabled);
    if (enabled.on("enableHierarchy")) plugins.add(std::make_unique<HierarchicalDrf>(), enabled);
  });
}

}  // namespace krater::scheduler
