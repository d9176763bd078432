// Reading a PodGroup, and the status that the scheduler writes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/object.h"
#include "model/resource_list.h"

namespace krater {

enum class PodGroupPhase { Pending, Running, Unknown, Inqueue, Completed };
std::string_view to_text(PodGroupPhase phase);

struct PodGroupCondition {
  std::string type;    // "Unschedulable", "Scheduled"
  std::string status;  // "True", "False"
  std::string transition_id;
  std::optional<WallTime> last_transition{};
  std::string reason, message;

  // What a reader would notice; the transition's id and time are not part of it.
  bool same_news(const PodGroupCondition& other) const;
};

struct PodGroupStatus {
  PodGroupPhase phase = PodGroupPhase::Pending;
  std::vector<PodGroupCondition> conditions{};
  std::int64_t running = 0, succeeded = 0, failed = 0;

  bool same_news(const PodGroupStatus& other) const;
  // Replaces the condition of the same type or appends.
  void set(PodGroupCondition condition);
  const PodGroupCondition* condition(std::string_view type) const;
  // Counts that are zero are left out, as upstream serves them (explicit nulls, for a merge patch,
  // with `nulls`).
  Json to_json_value(bool nulls = false) const;
};

class PodGroupView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::int64_t min_member() const { return integer({"spec", "minMember"}).value_or(0); }
  std::map<std::string, std::int64_t> min_task_member() const;
  QueueName queue() const;  // "default" when absent
  std::string priority_class_name() const { return text({"spec", "priorityClassName"}); }
  std::optional<ResourceList> min_resources() const;
  // Absent or unknown text: Pending.
  PodGroupPhase phase() const;
  PodGroupStatus status() const;
};

}  // namespace krater
