// The table of the states, as data.
#include "controllers/vcjob/machine.h"

#include <gtest/gtest.h>

namespace krater::controllers::vcjob {
namespace {

using Phase = VolcanoJobPhase;
using Action = VolcanoAction;

constexpr Phase kAllPhases[] = {
    Phase::Pending,    Phase::Aborting,  Phase::Aborted,     Phase::Running,    Phase::Restarting,
    Phase::Completing, Phase::Completed, Phase::Terminating, Phase::Terminated, Phase::Failed};

struct ActionCase {
  Action action;
  std::vector<Phase> works_in;
  Phase next;
  Scope scope;
  bool keep_finished;
};

TEST(Machine, EachActionWorksInItsPhasesAndNowhereElse) {
  const std::vector<Phase> active{Phase::Pending, Phase::Running, Phase::Restarting};
  const std::vector<ActionCase> cases{
      {Action::SyncJob, {}, Phase::Pending, Scope::Job, true},
      {Action::RestartJob, active, Phase::Restarting, Scope::Job, false},
      {Action::RestartTask, active, Phase::Restarting, Scope::Target, false},
      {Action::RestartPod, active, Phase::Restarting, Scope::Target, false},
      {Action::RestartPartition, active, Phase::Restarting, Scope::Target, false},
      {Action::AbortJob, active, Phase::Aborting, Scope::Job, true},
      {Action::CompleteJob, active, Phase::Completing, Scope::Job, true},
      {Action::TerminateJob, active, Phase::Terminating, Scope::Job, true},
      {Action::ResumeJob, {Phase::Aborting, Phase::Aborted}, Phase::Restarting, Scope::Job, true}};
  for (const ActionCase& one : cases) {
    for (const Phase phase : kAllPhases) {
      SCOPED_TRACE(std::string(to_text(one.action)) + " in " + std::string(to_text(phase)));
      const auto reaction = reaction_to(one.action, phase);
      const bool works =
          std::find(one.works_in.begin(), one.works_in.end(), phase) != one.works_in.end();
      ASSERT_EQ(reaction.has_value(), works);
      if (!works) continue;
      EXPECT_EQ(reaction->next, one.next);
      EXPECT_EQ(reaction->scope, one.scope);
      EXPECT_EQ(reaction->keep_finished, one.keep_finished);
      const bool restart = !one.keep_finished;
      EXPECT_EQ(reaction->costs_retry, restart && phase != Phase::Restarting);
    }
  }
}

struct CountCase {
  std::string name, spec, status;
  Counts counts;
  std::string want;  // "" no change
};

Counts counts(std::int64_t pending, std::int64_t running, std::int64_t succeeded,
              std::int64_t failed, std::int64_t terminating = 0) {
  Counts out;
  out.add("w", PodPhase::Pending, pending);
  out.add("w", PodPhase::Running, running);
  out.add("w", PodPhase::Succeeded, succeeded);
  out.add("w", PodPhase::Failed, failed);
  out.terminating = terminating;
  return out;
}

std::string running(const std::string& more = "") {
  return R"({"state":{"phase":"Running"},"minAvailable":2)" + more + "}";
}

TEST(Machine, CountsOfPodsLeadTheJob) {
  const std::string three = R"({"minAvailable":2,"tasks":[{"name":"w","replicas":3}]})";
  const std::string all =
      R"({"minAvailable":3,"tasks":[{"name":"w","replicas":3,"minAvailable":3}]})";
  const std::string one_will_do =
      R"({"minAvailable":2,"minSuccess":1,"tasks":[{"name":"w","replicas":3}]})";
  const std::string nothing = R"({"minAvailable":0,"tasks":[{"name":"w","replicas":0}]})";
  const std::string pending = R"({"state":{"phase":"Pending"},"minAvailable":2})";
  const auto in = [](std::string_view phase, std::string_view more = "") {
    return R"({"state":{"phase":")" + std::string(phase) + R"("},"minAvailable":2)" +
           std::string(more) + "}";
  };
  const std::vector<CountCase> cases{
      {"too few", three, pending, counts(2, 1, 0, 0), ""},
      {"enough run", three, pending, counts(1, 2, 0, 0), "Running"},
      {"ended pods count as started", three, pending, counts(1, 0, 1, 1), "Running"},
      {"some wait", three, running(), counts(1, 2, 0, 0), ""},
      {"too many wait", three, running(), counts(2, 1, 0, 0), "Pending"},
      {"all ended, enough succeeded", three, running(), counts(0, 0, 2, 1), "Completed"},
      {"all ended, too few succeeded", three, running(), counts(0, 0, 1, 2), "Failed"},
      {"a task misses its own minimum", all, running(), counts(0, 0, 2, 1), "Failed"},
      {"minSuccess ends it early", one_will_do, running(), counts(0, 2, 1, 0), "Completed"},
      {"minSuccess missed", one_will_do, running(), counts(0, 0, 0, 3), "Failed"},
      {"scaled to nothing it stays", nothing, running(), counts(0, 0, 0, 0), ""},
      {"old pods end first", three, in("Restarting"), counts(0, 0, 0, 0, 2), ""},
      {"then it starts again", three, in("Restarting"), counts(0, 0, 0, 0, 1), "Pending"},
      {"no try is left", three, in("Restarting", R"(,"retryCount":3)"), counts(0, 0, 0, 1, 2),
       "Failed"},
      {"still alive", three, in("Completing"), counts(0, 0, 1, 0, 2), ""},
      {"quiet", three, in("Completing"), counts(0, 0, 1, 1), "Completed"},
      {"quiet", three, in("Aborting"), counts(0, 0, 1, 1), "Aborted"},
      {"quiet", three, in("Terminating"), counts(0, 0, 0, 1), "Terminated"},
      {"aborted it waits for an order", three, in("Aborted"), counts(0, 0, 0, 0), ""},
      {"nothing leads out of the end", three, in("Failed"), counts(0, 3, 0, 0), ""}};
  for (const CountCase& one : cases) {
    SCOPED_TRACE(one.name + " " + one.status);
    const std::string text = R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",)"
                             R"("metadata":{"name":"j","namespace":"n","uid":"u"},"spec":)" +
                             one.spec + R"(,"status":)" + one.status + "}";
    Observed seen;
    seen.job =
        VolcanoJobView(*Object::parse(ObjectKey::of(kinds::kVolcanoJob, "n", "j"), Revision(1),
                                      std::make_shared<const std::string>(text)));
    seen.tasks = seen.job.tasks();
    seen.stored = seen.status = Status::of(seen.job);
    const auto change = follow_counts(seen, one.counts);
    EXPECT_EQ(change ? std::string(to_text(change->next)) : "", one.want);
    if (one.want == "Failed") {
      EXPECT_FALSE(change->message.empty());
    }
  }
}

TEST(Status, IsReadAsItWasWritten) {
  Status status;
  status.enter(Phase::Pending, "", "", WallTime::from_unix_seconds(10));
  status.enter(Phase::Running, "", "", WallTime::from_unix_seconds(20));
  status.enter(Phase::Pending, "RestartJob", "PodFailed of pod a", WallTime::from_unix_seconds(30));
  status.counts.add("w", PodPhase::Running, 2);
  status.counts.terminating = 1;
  status.version = 2;
  status.retry_count = 1;
  status.min_available = 3;
  status.running_duration = "30s";
  status.controlled["plugin-env"] = "env";
  status.add_succeeded_and_gone("w", 0);
  status.add_succeeded_and_gone("w", 1);
  EXPECT_EQ(status.controlled["succeeded-w"], "0,1");
  ASSERT_EQ(status.conditions.size(), 2U) << "one a phase";
  EXPECT_EQ(status.conditions[1].phase, "Pending") << "the newest last";
  Json object = new_object(kinds::kVolcanoJob, "n", "j");
  set_path(object, {"status"}, status.to_json_value());
  const auto stored = Object::parse(ObjectKey::of(kinds::kVolcanoJob, "n", "j"), Revision(1),
                                    std::make_shared<const std::string>(to_json(object)));
  EXPECT_EQ(Status::of(VolcanoJobView(*stored)), status);
  status.forget_succeeded();
  EXPECT_TRUE(status.succeeded_and_gone("w").empty());
  EXPECT_EQ(status.controlled.size(), 1U);
}

}  // namespace
}  // namespace krater::controllers::vcjob
