// sla: a job that has waited as long as it may is admitted (volcano.md 4.11); and of all such jobs
// the one that has waited longest is served first, and what there is for it is held until its gang
// is complete, so that small jobs do not overtake a large one for ever. The limit is the plugin's
// argument or an annotation of the PodGroup.
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

class Sla final : public Plugin,
                  public JobOrderHook,
                  public EnqueueHook,
                  public JobPipelinedHook,
                  public OverdueHook {
 public:
  explicit Sla(std::optional<Duration> limit) : limit_(limit) {}

  void open(const Session& session) override { now_ = session.now(); }

  // Who has a limit goes first, by when it ends.
  int job_order(const Session& session, JobId a, JobId b) const override {
    const auto left = deadline(session.job(a)), right = deadline(session.job(b));
    if (left && right) return *left < *right ? -1 : *left > *right ? 1 : 0;
    return left ? -1 : right ? 1 : 0;
  }
  Vote may_enqueue(const Session& session, JobId job, Refusal&) const override {
    return overdue(session.job(job)) ? Vote::Permit : Vote::Abstain;
  }
  void enqueued(const Session&, JobId) override {}
  Vote job_pipelined(const JobInfo& job) const override {
    return overdue(job) ? Vote::Permit : Vote::Abstain;
  }

  std::optional<WallTime> overdue_since(const JobInfo& job) const override {
    return overdue(job) ? deadline(job) : std::nullopt;
  }

  // Time alone will change the answer for those who still have some.
  void close(Session& session) override {
    for (JobId id = 0; id < session.job_count(); ++id) {
      const auto end = deadline(session.job(id));
      if (end && now_ < *end) session.look_again(id, *end);
    }
  }

 private:
  std::optional<WallTime> deadline(const JobInfo& job) const {
    const auto limit = job.waiting_limit ? job.waiting_limit : limit_;
    return limit ? std::optional(job.created + *limit) : std::nullopt;
  }
  bool overdue(const JobInfo& job) const {
    const auto end = deadline(job);
    return end && *end <= now_;
  }

  std::optional<Duration> limit_;
  WallTime now_;
};

}  // namespace

Result<PluginFactory> configure_sla(Arguments& arguments, const EnableFlags& flags) {
  TRY_ASSIGN(const std::string text, arguments.string("sla-waiting-time", ""));
  const std::optional<Duration> limit = text.empty() ? std::nullopt : parse_go_duration(text);
  if (!text.empty() && (!limit || *limit <= Duration(0))) {
    return make_error(Code::Invalid, "argument \"sla-waiting-time\" must be a time such as 1h30m");
  }
  return PluginFactory([limit](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Sla>(limit), enabled);
  });
}

}  // namespace krater::scheduler
