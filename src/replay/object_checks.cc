#include "replay/object_checks.h"

#include <algorithm>
#include <array>

#include "model/keys.h"
#include "model/workload_kinds.h"
#include "replay/trace.h"

namespace krater::replay {
namespace {

constexpr std::int64_t kMostPods = 100'000;
constexpr Duration kMostTime = std::chrono::hours(100 * 365 * 24);

std::string quoted(const Json& value) {
  return value.is_string() ? "\"" + std::string(view(value.get_string())) + "\"" : to_json(value);
}

// The first problem wins; later checks do nothing.
class Check {
 public:
  std::string problem() { return std::move(problem_); }

  void time(const Json& object, const std::string& at, std::string_view key) {
    const Json* value = find(object, {"metadata", "annotations", key});
    if (!open() || value == nullptr) return;
    const std::optional<Duration> time =
        value->is_string() ? parse_go_duration(view(value->get_string())) : std::nullopt;
    const std::string field = at + "metadata.annotations[" + std::string(key) + "]";
    if (!time) {
      say(field, quoted(*value) + " is not a time such as 90s or 2h");
    } else if (*time < Duration(0) || *time > kMostTime) {
      say(field, quoted(*value) + " must be zero or more, a hundred years at most");
    }
  }

  void created(const Json& object) {
    const Json* value = find(object, {"metadata", "creationTimestamp"});
    if (!open() || value == nullptr || value->is_null()) return;
    if (!value->is_string() || !parse_time(view(value->get_string())))
      say("metadata.creationTimestamp", quoted(*value) + " is not a time");
  }

  void amounts(const Json& object, JsonPath path, const std::string& field) {
    const Json* list = find(object, path);
    if (!open() || list == nullptr || list->is_null()) return;
    if (!list->is_object()) return say(field, "is not an object");
    for (const auto& [name, value] : list->get_object()) {
      const std::string resource(name);
      const std::string wrong = value.is_string()
                                    ? amount_problem(resource, view(value.get_string()))
                                : value.is_number() ? amount_problem(resource, to_json(value))
                                                    : "is not a quantity";
      if (!wrong.empty()) return say(field + "[" + resource + "]", quoted(value) + " " + wrong);
    }
  }

  // The number, or `otherwise`.
  std::int64_t count(const Json& object, JsonPath path, const std::string& field,
                     std::int64_t otherwise, std::int64_t most) {
    const Json* value = find(object, path);
    if (!open() || value == nullptr || value->is_null()) return otherwise;
    const std::optional<std::int64_t> number = as_int(*value);
    if (!number || *number < 0 || *number > most) {
      say(field, quoted(*value) + " must be a whole number, 0 to " + std::to_string(most));
      return otherwise;
    }
    return *number;
  }

  void pod(const Json& spec, const std::string& at) {
    amounts(spec, {"overhead"}, at + "overhead");
    amounts(spec, {"resources", "requests"}, at + "resources.requests");
    for (const std::string_view list : {"containers", "initContainers"}) {
      const JsonArray* all = array_at(spec, {list});
      for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
        const std::string one = at + std::string(list) + "[" + std::to_string(i) + "].resources.";
        amounts((*all)[i], {"resources", "requests"}, one + "requests");
        amounts((*all)[i], {"resources", "limits"}, one + "limits");
      }
    }
  }

  void pod_template(const Json& parent, const std::string& at) {
    const Json* given = find(parent, {"template"});
    if (given == nullptr) return;
    time(*given, at + "template.", keys::kSimRunTime);
    if (const Json* spec = find(*given, {"spec"})) pod(*spec, at + "template.spec.");
  }

  void volcano_job(const Json& job) {
    std::int64_t pods = 0;
    const JsonArray* tasks = array_at(job, {"spec", "tasks"});
    for (std::size_t i = 0; open() && tasks != nullptr && i < tasks->size(); ++i) {
      const std::string at = "spec.tasks[" + std::to_string(i) + "].";
      const Json& task = (*tasks)[i];
      const std::int64_t replicas = count(task, {"replicas"}, at + "replicas", 1, kMostPods);
      const std::int64_t least =
          count(task, {"minAvailable"}, at + "minAvailable", replicas, kMostPods);
      if (open() && least > replicas)
        say(at + "minAvailable",
            std::to_string(least) + " is more than replicas, " + std::to_string(replicas));
      pods += replicas;
      pod_template(task, at);
    }
    const std::int64_t least =
        count(job, {"spec", "minAvailable"}, "spec.minAvailable", 0, kMostPods);
    if (open() && least > pods)
      say("spec.minAvailable",
          std::to_string(least) + " is more than the pods, " + std::to_string(pods));
    if (open() && pods > kMostPods)
      say("spec.tasks", std::to_string(pods) + " pods are more than " + std::to_string(kMostPods));
  }

 private:
  bool open() const { return problem_.empty(); }
  void say(const std::string& field, const std::string& what) { problem_ = field + ": " + what; }

  std::string problem_;
};

}  // namespace

std::optional<WallTime> parse_time(std::string_view text) {
  if (text < "1970" || text > "2200") return std::nullopt;
  return parse_rfc3339(text);
}

std::string object_problem(const Kind& kind, const Json& object) {
  Check check;
  check.created(object);
  check.time(object, "", kSubmitAt);
  if (kind == kinds::kNode) {
    check.amounts(object, {"status", "allocatable"}, "status.allocatable");
  } else if (kind == kinds::kQueue) {
    check.amounts(object, {"spec", "capability"}, "spec.capability");
    check.amounts(object, {"spec", "deserved"}, "spec.deserved");
    check.amounts(object, {"spec", "guarantee", "resource"}, "spec.guarantee.resource");
  } else if (kind == kinds::kPod) {
    check.time(object, "", keys::kSimRunTime);
    if (const Json* spec = find(object, {"spec"})) check.pod(*spec, "spec.");
  } else if (kind == kinds::kPodGroup) {
    check.count(object, {"spec", "minMember"}, "spec.minMember", 1, kMostPods);
    check.amounts(object, {"spec", "minResources"}, "spec.minResources");
  } else if (kind == kinds::kVolcanoJob) {
    check.volcano_job(object);
  } else if (kind == kinds::kJob) {
    check.count(object, {"spec", "parallelism"}, "spec.parallelism", 1, kMostPods);
    check.count(object, {"spec", "completions"}, "spec.completions", 1, 1'000'000'000);
    if (const Json* spec = find(object, {"spec"})) check.pod_template(*spec, "spec.");
  }
  return check.problem();
}

bool is_over(const Kind& kind, const Json& object) {
  if (!text_at(object, {"metadata", "deletionTimestamp"}).empty()) return true;
  if (kind == kinds::kPod) {
    const std::string phase = text_at(object, {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
  }
  if (kind == kinds::kVolcanoJob) {
    constexpr std::array<std::string_view, 7> kEnds{
        "Completed", "Completing", "Failed", "Aborted", "Aborting", "Terminated", "Terminating"};
    const std::string phase = text_at(object, {"status", "state", "phase"});
    return std::find(kEnds.begin(), kEnds.end(), phase) != kEnds.end();
  }
  if (kind == kinds::kPodGroup) return text_at(object, {"status", "phase"}) == "Completed";
  if (kind != kinds::kJob) return false;
  if (bool_at(object, {"spec", "suspend"}).value_or(false)) return true;
  const JsonArray* conditions = array_at(object, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const std::string type = text_at((*conditions)[i], {"type"});
    if ((type == "Complete" || type == "Failed") && text_at((*conditions)[i], {"status"}) == "True")
      return true;
  }
  return false;
}

std::string controller_of(const Json& pod, const std::string& name_space) {
  const JsonArray* owners = array_at(pod, {"metadata", "ownerReferences"});
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    if (bool_at((*owners)[i], {"controller"}).value_or(false))
      return text_at((*owners)[i], {"kind"}) + "/" + name_space + "/" +
             text_at((*owners)[i], {"name"});
  }
  return "";
}

}  // namespace krater::replay
