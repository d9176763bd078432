#include "controllers/cronjob/cron_words.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

constexpr std::string_view kNoTimeBetween =
    "time difference between two schedules is less than 1 second";

EventNote note(Type type, std::string reason, std::string message) {
  return {type, std::move(reason), std::move(message)};
}
std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

class OfKubernetes final : public CronWords {
 public:
  EventNote unknown_zone(const std::string& zone, const std::string& error) const override {
    return note(Type::Warning, "UnknownTimeZone",
                "invalid timeZone: " + quoted(zone) + ": " + error);
  }
  EventNote unreadable(const std::string& schedule, const std::string& error) const override {
    return note(Type::Warning, "UnparseableSchedule",
                "unparseable schedule: " + quoted(schedule) + " : " + error);
  }
  EventNote never_due(const std::string& schedule) const override {
    return note(Type::Warning, "InvalidSchedule",
                "invalid schedule: " + schedule + " : " + std::string(kNoTimeBetween));
  }
  EventNote forbidden() const override {
    return note(
        Type::Normal, "JobAlreadyActive",
        "Not starting job because prior execution is running and concurrency policy is Forbid");
  }
  std::optional<EventNote> replaced() const override { return std::nullopt; }
  EventNote created(const ObjectView&, const std::string& job) const override {
    return note(Type::Normal, "SuccessfulCreate", "Created job " + job);
  }
  EventNote not_created() const override {
    return note(Type::Warning, "FailedCreate", "Error creating job");
  }
  EventNote deleted(const std::string& job) const override {
    return note(Type::Normal, "SuccessfulDelete", "Deleted job " + job);
  }
  EventNote not_deleted(const std::string&) const override {
    return note(Type::Warning, "FailedDelete", "Deleted job");
  }
  EventNote ended(const std::string& job, bool complete) const override {
    return note(Type::Normal, "SawCompletedJob",
                "Saw completed job: " + job + ", condition: " + (complete ? "Complete" : "Failed"));
  }
  EventNote missing(const std::string& job, const std::string&, const std::string&) const override {
    return note(Type::Normal, "MissingJob", "Active job went missing: " + job);
  }
  std::optional<EventNote> orphan(const Object&) const override { return std::nullopt; }
  std::optional<EventNote> foreign(const Object&) const override { return std::nullopt; }
};

class OfVolcano final : public CronWords {
 public:
  EventNote unknown_zone(const std::string& zone, const std::string& error) const override {
    return note(Type::Warning, "InvalidTimeZone",
                "Invalid time zone " + quoted(zone) + ": " + error);
  }
  EventNote unreadable(const std::string& schedule, const std::string&) const override {
    return note(Type::Warning, "UnParseableCronJobSchedule",
                "unparseable schedule for cronjob: " + schedule);
  }
  EventNote never_due(const std::string&) const override {
    return note(Type::Warning, "InvalidSchedule",
                "Error getting schedule time: " + std::string(kNoTimeBetween));
  }
  EventNote forbidden() const override {
    return note(Type::Warning, "ForbidConcurrent",
                "Skipping job creation because another job is already running");
  }
  std::optional<EventNote> replaced() const override {
    return note(Type::Warning, "ReplaceConcurrent", "Replacing active job for CronJob");
  }
  EventNote created(const ObjectView& cron, const std::string& job) const override {
    return note(Type::Normal, "SuccessfulCreate",
                "Created job " + job + " for CronJob " + cron->name_space() + "/" + cron->name());
  }
  EventNote not_created() const override {
    return note(Type::Warning, "FailedCreate", "Failed to create job");
  }
  EventNote deleted(const std::string& job) const override {
    return note(Type::Normal, "SuccessfulDelete", "Deleted job " + quoted(job));
  }
  EventNote not_deleted(const std::string& job) const override {
    return note(Type::Warning, "FailedDelete", "Error deleting job " + quoted(job));
  }
  EventNote ended(const std::string& job, bool) const override {
    return note(Type::Normal, "SawCompletedJob",
                "Saw completed job: " + job + " in active, remove");
  }
  EventNote missing(const std::string& job, const std::string& uid,
                    const std::string& now) const override {
    return note(Type::Warning, "StaleReference",
                now.empty() ? "Active job " + quoted(job) + " no longer exists (UID: " + uid + ")"
                            : "Active job reference " + quoted(job) +
                                  " points to a different UID (expected: " + uid +
                                  ", actual: " + now + ")");
  }
  std::optional<EventNote> orphan(const Object& job) const override {
    return note(Type::Warning, "OrphanedJob",
                "Detected orphaned job forgotten or not managed by controller: " + job.name() +
                    " (UID: " + job.uid().text() + ")");
  }
  std::optional<EventNote> foreign(const Object& job) const override {
    const OwnerReference* owner = job.controller();
    return note(Type::Warning, "ForeignJob",
                "Job " + job.name() + " exists but is not owned by this CronJob (current owner: " +
                    (owner == nullptr ? "none" : owner->name) + ")");
  }
};

}  // namespace

const CronWords& words_of_kubernetes() {
  static const OfKubernetes words;
  return words;
}
const CronWords& words_of_volcano() {
  static const OfVolcano words;
  return words;
}

EventNote too_many_missed() {
  return note(Type::Warning, "TooManyMissedTimes",
              "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
              "clock skew");
}

}  // namespace krater::controllers
