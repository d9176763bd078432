// Volcano's jobs: the defaults and checks of its job webhooks. All problems are told at once.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/admission/rules.h"
#include "api/admission/volcano_job_parts.h"
#include "base/strings.h"
#include "model/keys.h"
#include "model/queue.h"
#include "model/resource_list.h"

namespace krater::api {
namespace {

constexpr std::array<std::string_view, 8> kUserEvents{"*",          "PodFailed", "PodEvicted",
                                                      "PodPending", "Unknown",   "TaskCompleted",
                                                      "TaskFailed", "JobUpdated"};
constexpr std::array<std::string_view, 8> kUserActions{
    "AbortJob",         "RestartJob",   "RestartTask", "RestartPod",
    "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <std::size_t N>
std::string listed(const std::array<std::string_view, N>& words) {
  return join(std::vector<std::string>(words.begin(), words.end()), " ");
}

void check_policies(const Json& owner, std::string_view path, std::vector<std::string>& problems) {
  const JsonArray* policies = array_at(owner, {"policies"});
  if (policies == nullptr) return;
  const std::size_t before = problems.size();
  std::set<std::string> events;
  std::set<std::int64_t> codes;
  const auto problem = [&](const std::string& text) {
    problems.push_back(std::string(path) + ".policies: " + text);
  };
  for (const Json& policy : *policies) {
    std::set<std::string> named;  // twice in one policy is once
    if (const std::string event = text_at(policy, {"event"}); !event.empty()) named.insert(event);
    if (const JsonArray* list = array_at(policy, {"events"})) {
      for (const Json& event : *list) {
        if (event.is_string()) named.emplace(view(event.get_string()));
      }
    }
    const auto code = int_at(policy, {"exitCode"});
    if (!named.empty() && code) problem("must not specify event and exitCode simultaneously");
    if (named.empty() && !code) problem("either event and exitCode should be specified");
    for (const std::string& event : named) {
      if (!is_one_of(kUserEvents, event)) problem("invalid policy event: " + event);
      if (!events.insert(event).second)
        problem("duplicate event " + event + " across different policy");
    }
    if (const std::string action = text_at(policy, {"action"}); !is_one_of(kUserActions, action)) {
      problem("invalid policy action: " + action);
    }
    if (code && *code == 0) problem("0 is not a valid error code");
    if (code && !codes.insert(*code).second) problem("duplicate exitCode " + std::to_string(*code));
  }
  if (events.contains("*") && events.size() > 1)
    problem("if there's * here, no other policy should be here");
  if (problems.size() > before) {
    problems.push_back("valid events are [" + listed(kUserEvents) + "], valid actions are [" +
                       listed(kUserActions) + "]");
  }
}

// Whole NUMA nodes are given to whole CPUs.
void check_numa(const Json& task, std::size_t index, std::vector<std::string>& problems) {
  const std::string policy = text_at(task, {"topologyPolicy"});
  if (policy.empty() || policy == "none") return;
  // Init containers are counted after the others.
  std::size_t at = 0;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const JsonArray* containers = array_at(task, {"template", "spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i, ++at) {
      const Json& container = (*containers)[i];
      const ResourceList requests = ResourceList::from(find(container, {"resources", "requests"}));
      const ResourceList limits = ResourceList::from(find(container, {"resources", "limits"}));
      const std::int64_t cpu = (requests.empty() ? limits : requests).at(resources::kCpu);
      if (cpu > 0 && cpu % 1000 == 0) continue;
      problems.push_back("the cpu request isn't an integer in spec.task[" + std::to_string(index) +
                         "] container[" + std::to_string(at) + "].");
    }
  }
}

// Tasks that wait for others: every one named, no ring.
bool is_ordered(const JsonArray& tasks) {
  std::map<std::string, std::set<std::string>> waits;
  for (const Json& task : tasks) {
    std::set<std::string>& mine = waits[text_at(task, {"name"})];
    if (const JsonArray* names = array_at(task, {"dependsOn", "name"})) {
      for (const Json& name : *names) {
        if (name.is_string()) mine.emplace(view(name.get_string()));
      }
    }
  }
  for (const auto& [name, others] : waits) {
    for (const std::string& other : others) {
      if (!waits.contains(other)) return false;
    }
  }
  while (!waits.empty()) {
    const auto ready = std::find_if(waits.begin(), waits.end(),
                                    [](const auto& entry) { return entry.second.empty(); });
    if (ready == waits.end()) return false;
    const std::string name = ready->first;
    waits.erase(ready);
    for (auto& entry : waits) entry.second.erase(name);
  }
  return true;
}

void check_tasks(const Admission& admission, std::vector<std::string>& problems) {
  const JsonArray& tasks = tasks_of(admission.object);
  if (tasks.empty()) problems.emplace_back("No task specified in job spec");
  if (admission.name.size() > 63)
    problems.push_back("create job with name " + admission.name + " validate failed");
  std::set<std::string> names;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Json& task = tasks[i];
    const std::string path = "spec.task[" + std::to_string(i) + "]";
    const std::string name = text_at(task, {"name"});
    total += replicas_of(task);
    if (replicas_of(task) < 0) problems.push_back("'replicas' < 0 in task: " + name);
    if (const auto least = int_at(task, {"minAvailable"}); least && *least > replicas_of(task)) {
      problems.push_back("'minAvailable' is greater than 'replicas' in task: " + name +
                         ", job: " + admission.name);
    }
    if (!names.insert(name).second) problems.push_back("duplicated task name " + name);
    const std::string pod = admission.name + "-" + name + "-" + std::to_string(i);
    if (const std::string bad = check_dns1123_subdomain(pod); !bad.empty() || pod.size() > 63) {
      problems.push_back("create pod with name " + pod + " validate failed " + bad);
    }
    check_policies(task, path, problems);
    check_partitions(task, name, problems);
    check_numa(task, i, problems);
  }
  if (int_at(admission.object, {"spec", "minAvailable"}).value_or(0) > total) {
    problems.emplace_back("job 'minAvailable' should not be greater than total replicas in tasks");
  }
  if (!is_ordered(tasks))
    problems.emplace_back(
        "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)");
}

// Whether the pods of a task are made while those of no other are ready.
bool begins_at_once(const JsonArray& tasks, const Json& task) {
  const JsonArray* others = array_at(task, {"dependsOn", "name"});
  if (others == nullptr || others->empty()) return true;
  const auto needs_nobody = [&](const Json& name) {
    return std::any_of(tasks.begin(), tasks.end(), [&](const Json& other) {
      return name.is_string() && text_at(other, {"name"}) == view(name.get_string()) &&
             minimum_of(other) == 0;
    });
  };
  return text_at(task, {"dependsOn", "iteration"}) == "any"
             ? std::any_of(others->begin(), others->end(), needs_nobody)
             : std::all_of(others->begin(), others->end(), needs_nobody);
}

// A gang whose members are only made once other members run never starts; nobody says so later.
void warn_of_impossible_start(const Admission& admission) {
  const JsonArray& tasks = tasks_of(admission.object);
  std::int64_t at_once = 0;
  std::vector<std::string> waiting;
  for (const Json& task : tasks) {
    if (begins_at_once(tasks, task))
      at_once += replicas_of(task);
    else
      waiting.push_back(text_at(task, {"name"}));
  }
  const std::int64_t least = int_at(admission.object, {"spec", "minAvailable"}).value_or(0);
  if (waiting.empty() || least <= at_once) return;
  admission.warnings.push_back(
      "spec.minAvailable: the job waits for " + std::to_string(least) + " pods, but only " +
      std::to_string(at_once) + " are made before the tasks that depend on others (" +
      join(waiting, ", ") + "); it starts with a minAvailable of at most " +
      std::to_string(at_once));
}

void check_volumes(const Json& job, std::vector<std::string>& problems) {
  const JsonArray* volumes = array_at(job, {"spec", "volumes"});
  if (volumes == nullptr) return;
  std::set<std::string> places;
  for (const Json& volume : *volumes) {
    const std::string place = text_at(volume, {"mountPath"});
    if (place.empty()) problems.emplace_back("mountPath is required");
    if (!place.empty() && !places.insert(place).second)
      problems.push_back("duplicated mountPath: " + place);
    const bool named = !text_at(volume, {"volumeClaimName"}).empty();
    const bool given = object_at(volume, {"volumeClaim"}) != nullptr;
    if (!named && !given)
      problems.emplace_back("either VolumeClaim or VolumeClaimName must be specified");
    if (const std::string claim = text_at(volume, {"volumeClaimName"});
        named && !check_dns1123_subdomain(claim).empty())
      problems.push_back("invalid VolumeClaimName " + claim);
    if (named && given)
      problems.emplace_back(
          "conflict: If you want to use an existing PVC, just specify VolumeClaimName. If you want "
          "to create a new PVC, you do not need to specify VolumeClaimName");
  }
}

constexpr std::size_t kMostInLabel = 63;

Result<void> check_queue(const Admission& admission, bool must_be_open, Problems& problems) {
  const std::string name = text_at(admission.object, {"spec", "queue"});
  if (name == keys::kRootQueue) {
    problems.emplace_back("can not submit job to root queue");
    return {};
  }
  if (name.size() > kMostInLabel) {
    problems.push_back("queue `" + name +
                       "` cannot have jobs: its name is a label of their pods, " +
                       "which takes no more than 63 characters");
    return {};
  }
  TRY_ASSIGN(const std::vector<ObjectPtr> queues, admission.reader.list(kinds::kQueue, ""));
  ObjectPtr mine;
  std::size_t children = 0;
  for (const ObjectPtr& queue : queues) {
    if (queue->name() == name) mine = queue;
    if (QueueView(queue).parent() == QueueName(name)) ++children;
  }
  // The default queue is made by a controller right after the first start.
  if (!mine && name != admission.settings.default_queue)
    problems.push_back("unable to find job queue: queues.scheduling.volcano.sh \"" + name +
                       "\" not found");
  if (must_be_open && mine && QueueView(mine).state() != QueueState::Open) {
    problems.push_back("can only submit job to queue with state `Open`, queue `" + name +
                       "` status is `" + std::string(to_text(QueueView(mine).state())) + "`");
  }
  if (children > 0) {
    problems.push_back("can only submit job to leaf queue, queue `" + name + "` has " +
                       std::to_string(children) + " child queues");
  }
  return {};
}

void keep_what_was_filled_in(Admission& admission) {
  // Where nothing is said of the queue, the schema says "default".
  const std::string& filled_in = admission.settings.default_queue;
  if (text_at(admission.object, {"spec", "queue"}) == keys::kDefaultQueue &&
      text_at(*admission.old, {"spec", "queue"}) == filled_in)
    set_path(admission.object, {"spec", "queue"}, Json(filled_in));
  keep_what_is_left_out(*admission.old, admission.object);
}

// What Volcano's controller writes first comes with the job, as a pod's phase does.
void begin_status(Admission& admission) {
  const std::string now = to_rfc3339(admission.now);
  JsonObject status;
  status["state"] = JsonObject{{"phase", "Pending"}, {"lastTransitionTime", now}};
  const auto least = int_at(admission.object, {"spec", "minAvailable"}).value_or(0);
  if (least != 0) status["minAvailable"] = least;
  status["conditions"] = JsonArray{JsonObject{{"status", "Pending"}, {"lastTransitionTime", now}}};
  set_path(admission.object, {"status"}, std::move(status));
}

}  // namespace

Result<void> mutate_volcano_job(Admission& admission) {
  if (admission.operation == Operation::Update && admission.subresource.empty())
    keep_what_was_filled_in(admission);
  if (admission.operation != Operation::Create) return {};
  Json& job = admission.object;
  if (const std::string queue = text_at(job, {"spec", "queue"});
      queue.empty() || queue == keys::kDefaultQueue)
    set_path(job, {"spec", "queue"}, Json(admission.settings.default_queue));
  if (text_at(job, {"spec", "schedulerName"}).empty())
    set_path(job, {"spec", "schedulerName"}, Json(admission.settings.scheduler_names.front()));
  if (int_at(job, {"spec", "maxRetry"}).value_or(0) == 0) set_path(job, {"spec", "maxRetry"}, 3);
  std::int64_t least = 0;
  if (Json* tasks = find(job, {"spec", "tasks"}); tasks != nullptr && tasks->is_array()) {
    for (std::size_t i = 0; i < tasks->get_array().size(); ++i) {
      Json& task = tasks->get_array()[i];
      if (!task.is_object()) continue;
      complete_task(task, i);
      least += minimum_of(task);
    }
  }
  if (int_at(job, {"spec", "minAvailable"}).value_or(0) == 0)
    set_path(job, {"spec", "minAvailable"}, least);
  complete_plugins(job);
  begin_status(admission);
  return {};
}

Result<Problems> problems_of_job(const Admission& admission, bool at_once) {
  Problems problems;
  check_tasks(admission, problems);
  if (const Json* spec = find(admission.object, {"spec"})) check_policies(*spec, "spec", problems);
  check_job_plugins(admission, problems);
  check_volumes(admission.object, problems);
  TRY(check_queue(admission, at_once, problems));
  return problems;
}

Result<void> admit_volcano_job(const Admission& admission) {
  if (admission.operation == Operation::Delete || !admission.subresource.empty()) return {};
  Problems problems;
  if (admission.operation == Operation::Create) {
    TRY_ASSIGN(problems, problems_of_job(admission, true));
    if (problems.empty()) warn_of_impossible_start(admission);
  } else {
    check_job_update(admission, problems);
  }
  if (problems.empty()) return {};
  return refusal(join(problems, "; "));
}

}  // namespace krater::api
