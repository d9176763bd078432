// Who has used how much of late, for the plugin fairshare: by queue and user, a sum that decays and
// that grows with what the user's jobs hold. Nothing is counted by the second: an account is
// brought up to date when what it holds changes, and looked at as of any moment. Part of the Cache;
// on the scheduler's loop.
//
// Always holds: an account holds exactly what its jobs' tasks in an allocated status ask for, as of
// the last set() of each; accounts without jobs and with less than one unit-second are dropped by
// sweep().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/fairshare_rules.h"
#include "scheduler/fairshare_state.h"

namespace krater::scheduler {

class FairshareBook {
 public:
  struct Account {
    QueueName queue;
    std::string user;
    std::int64_t jobs = 0;
    Resource held{};
    Wide rate = 0;   // units in use
    Wide usage = 0;  // parts, as of `at`
    SteadyTime at{};
  };

  // Null: nobody is counted, and what was is forgotten. True when they are new: every job is to be
  // set again.
  bool use(std::shared_ptr<const FairshareRules> rules);
  const FairshareRules* rules() const { return rules_.get(); }
  // From now on everything is as of then. Time does not go back.
  void set_time(SteadyTime now) { now_ = std::max(now_, now); }
  // The job as it is now; null: it is gone.
  void set(const JobKey& key, const JobInfo* job, const ResourceNames& names);

  // Of a job that is known and in a queue that it is about; null otherwise. Stays where it is until
  // the next set, load or sweep.
  const Account* account_of(const JobKey& key) const;
  // Unit-seconds, now or some time from now, should nothing change.
  Wide used(const Account& account, Duration from_now = {}) const;
  // By queue and user.
  std::vector<const Account*> accounts() const;
  bool anybody_holds() const { return holding_ > 0; }
  // Grows whenever an account changes otherwise than by time.
  std::uint64_t changes() const { return changes_; }

  void sweep();
  FairshareState state(WallTime now) const;
  // In place of all that was used before: what the file says, decayed and grown since it was
  // written. What was counted in another measure is left out.
  void load(const FairshareState& state, WallTime now);

 private:
  using Name = std::pair<QueueName, std::string>;
  struct Entry {
    Account* account = nullptr;
    Resource held{};
    ObjectPtr named_by{};  // whose labels told the user
    std::string user{};
  };

  void settle(Account& account);
  void hold(Account& account, const Resource& amounts, int sign, const ResourceNames& names);
  void leave(const JobKey& key, const ResourceNames& names);
  std::string user_of(const Entry* before, const JobInfo& job, ObjectPtr& named_by) const;

  std::shared_ptr<const FairshareRules> rules_{};
  std::unique_ptr<Decay> decay_{};
  SteadyTime now_{};
  std::map<Name, Account> accounts_;
  std::map<JobKey, Entry> entries_;
  std::size_t holding_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace krater::scheduler
