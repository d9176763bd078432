// overcommit: admits jobs as long as what they want fits into the cluster's allocatable times a
// factor (overcommit-factor, 1.2), less what is in use and what was admitted before
// (volcano.md 4.6).
#include <optional>

#include "scheduler/explain.h"
#include "scheduler/plugins/plugins.h"
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
  }

  Vote may_enqueue(const Session& session, JobId id, Refusal& why) const override {
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
    if (shortage.empty()) return Vote::Permit;
    why = {"", "resource in cluster is overused: " + shortage.names_after("overused"),
           shortage.figures(), codes::kClusterLimit, shortage.facts("cluster")};
    return Vote::Reject;
  }

  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (job.min_resources) admitted_ += (*job.min_resources - job.gated_requests()).clamped();
  }

 private:
  std::int64_t factor_;
  Resource budget_, used_, admitted_;
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
