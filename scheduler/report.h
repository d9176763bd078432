// What a finished session has to say about its jobs: the phase and status of PodGroups, why pods
// wait, what is to be tried again only after a change. Pure; the writers carry it out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

struct PodReason {
  TaskSpecPtr task;
  std::string reason, message;
  bool promise_is_void = false;  // the node it was promised has no room for it any more
};

struct JobReport {
  JobKey key;
  ObjectPtr group;                         // null: a job of one
  std::optional<PodGroupStatus> status{};  // of the group
  std::vector<PodReason> waiting{};        // pods that are not placed
  std::string refusal{};                   // admission was refused: why
  std::string why{};                       // of a group that waits: why.h, as text
  std::string hyper_node{};                // around all that the group has placed
  std::string_view why_code{};
  QueueName queue{};
  bool unsatisfied = false;         // something of it waits
  bool can_park = false;            // and only a change can help it
  std::optional<WallTime> again{};  // or time, from then on
  bool fragmented = false;          // JobInfo::fragmented, as this session saw it
  bool bare = false;                // it was admitted and has no pods at all
  bool gathering = false;           // it waits, and members of its gang are not even there
  bool incomplete = false;          // they are not there, whether or not it waits
  bool starting = false;            // members have a node and do not run there yet
  std::uint64_t version = 0;
};

// The rule of volcano.md 2.7 for one job.
PodGroupPhase next_phase(const JobInfo& job, bool unschedulable_now,
                         const Behaviors& behaviors = {});

// Reports of the jobs that `wanted` names and of all that were tried. Pods take a moment to be
// made: of jobs without any it is said once `overdue` says that they should be there.
std::vector<JobReport> report(const Session& session,
                              const std::function<bool(const JobKey&)>& wanted,
                              const std::function<bool(const JobKey&)>& overdue);

// One job's binds, all or nothing.
struct GangBind {
  struct Member {
    TaskSpecPtr task;
    NodeSlot slot = kNoNode;
    std::string node;
    Labels annotations{};  // to be written on the pod with it
  };
  JobKey job;
  QueueName queue{};
  std::string action{};  // "allocate", "backfill"
  std::vector<Member> members{};
};
std::vector<GangBind> gang_binds(const Session& session);

// Those who have to leave for one job, all or nobody.
struct GangEviction {
  struct Victim {
    TaskSpecPtr task;
    ObjectPtr group;  // null: a job of one
  };
  struct Nominee {
    TaskSpecPtr task;
    std::string node;
  };
  JobKey claimant;
  QueueName queue;
  std::int64_t priority = 0;
  std::string action;      // "preempt", "reclaim"
  std::string offered_by;  // the plugins that gave up the victims: "gang, capacity"
  std::vector<Victim> victims{};
  std::vector<Nominee> nominees{};
};
std::vector<GangEviction> gang_evictions(const Session& session);

}  // namespace krater::scheduler
