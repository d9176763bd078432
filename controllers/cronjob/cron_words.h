// What the two controllers of CronJobs tell their users, each in the words of its original. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/loop/plan.h"
#include "model/object.h"

namespace krater::controllers {

class CronWords {
 public:
  virtual ~CronWords() = default;

  // nullopt: the original says nothing.
  virtual EventNote unknown_zone(const std::string& zone, const std::string& error) const = 0;
  virtual EventNote unreadable(const std::string& schedule, const std::string& error) const = 0;
  // A schedule that can be read and never comes.
  virtual EventNote never_due(const std::string& schedule) const = 0;
  virtual EventNote forbidden() const = 0;
  virtual std::optional<EventNote> replaced() const = 0;
  virtual EventNote created(const ObjectView& cron, const std::string& job) const = 0;
  virtual EventNote not_created() const = 0;
  virtual EventNote deleted(const std::string& job) const = 0;
  virtual EventNote not_deleted(const std::string& job) const = 0;
  virtual EventNote ended(const std::string& job, bool complete) const = 0;
  // A job of the active list that is not there any more; `now` is the uid of another one that has
  // its name.
  virtual EventNote missing(const std::string& job, const std::string& uid,
                            const std::string& now) const = 0;
  // It runs, and was not made for a moment of the schedule.
  virtual std::optional<EventNote> orphan(const Object& job) const = 0;
  // The name of the next job is held by one of somebody else.
  virtual std::optional<EventNote> foreign(const Object& job) const = 0;
};

const CronWords& words_of_kubernetes();
const CronWords& words_of_volcano();

// More moments have passed without a job than anybody has meant; the same in both.
EventNote too_many_missed();

}  // namespace krater::controllers
