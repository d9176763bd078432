// Which policy answers what happened, as data.
#include <gtest/gtest.h>

#include "controllers/vcjob/occurrence.h"

namespace krater::controllers::vcjob {
namespace {

Observed observed(const std::string& policies, const std::string& of_task) {
  const std::string text =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j",)"
      R"("namespace":"n","uid":"u"},"spec":{"policies":)" +
      policies + R"(,"tasks":[{"name":"w","replicas":2,"policies":)" + of_task +
      R"(}]},"status":{"version":2,"state":{"phase":"Running"}}})";
  Observed seen;
  seen.job = VolcanoJobView(*Object::parse(ObjectKey::of(kinds::kVolcanoJob, "n", "j"), Revision(1),
                                           std::make_shared<const std::string>(text)));
  seen.tasks = seen.job.tasks();
  seen.policies = seen.job.policies();
  seen.stored = seen.status = Status::of(seen.job);
  return seen;
}

struct Case {
  std::string name, policies, of_task;
  Occurrence what;
  VolcanoAction want;
  Duration delay{};
};

Occurrence happened(VolcanoEvent event, std::int64_t exit_code = 0, std::int64_t version = 2,
                    const std::string& task = "w") {
  Occurrence out;
  out.event = event;
  out.task = task;
  out.pod = "j-w-0";
  out.job_uid = Uid("u");
  out.version = version;
  if (exit_code != 0) out.exit_codes = {exit_code};
  return out;
}

TEST(Policies, TheFirstThatFitsAnswers) {
  using Event = VolcanoEvent;
  using Action = VolcanoAction;
  const std::string restart = R"([{"event":"PodFailed","action":"RestartJob"}])";
  const std::string any = R"([{"event":"*","action":"AbortJob"}])";
  const std::string list = R"([{"events":["PodEvicted","PodFailed"],"action":"TerminateJob"}])";
  const std::string code = R"([{"exitCode":3,"action":"RestartTask","timeout":"5s"}])";
  const std::string late = R"([{"event":"PodPending","action":"AbortJob","timeout":"1m"}])";
  const std::string hasty = R"([{"event":"PodPending","action":"AbortJob"}])";
  Occurrence several = happened(Event::PodFailed, 143);
  several.exit_codes.push_back(3);
  Occurrence other = happened(Event::PodFailed);
  other.job_uid = Uid("an earlier job of this name");
  Occurrence order = happened(Event::CommandIssued, 0, 0, "");
  order.ordered = Action::ResumeJob;
  const std::vector<Case> cases{
      {"of the job", restart, "[]", happened(Event::PodFailed), Action::RestartJob},
      {"of the task first", restart, list, happened(Event::PodFailed), Action::TerminateJob},
      {"of another task not", restart, list, happened(Event::PodFailed, 0, 2, "x"),
       Action::RestartJob},
      {"anything", any, "[]", happened(Event::Unknown), Action::AbortJob},
      {"pending is nothing that happened", any, "[]", happened(Event::PodPending), Action::SyncJob},
      {"nor with its own event", hasty, "[]", happened(Event::PodPending), Action::SyncJob},
      {"unless it lasts", late, "[]", happened(Event::PodPending), Action::AbortJob, 60s},
      {"by exit code", code, "[]", happened(Event::PodFailed, 3), Action::RestartTask, 5s},
      {"by the exit code of any container", code, "[]", several, Action::RestartTask, 5s},
      {"by another exit code", code, "[]", happened(Event::PodFailed, 4), Action::SyncJob},
      {"of a pod from before a restart", restart, "[]", happened(Event::PodFailed, 0, 1),
       Action::SyncJob},
      {"of a job that was", restart, "[]", other, Action::SyncJob},
      {"no policy", "[]", "[]", happened(Event::PodFailed), Action::SyncJob},
      {"an order needs none", "[]", "[]", order, Action::ResumeJob}};
  for (const Case& one : cases) {
    const Answer answer = answer_to(one.what, observed(one.policies, one.of_task));
    EXPECT_EQ(to_text(answer.action), to_text(one.want)) << one.name;
    EXPECT_EQ(answer.delay, one.delay) << one.name;
  }
}

}  // namespace
}  // namespace krater::controllers::vcjob
