#include "model/volcano_job.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "model/keys.h"

namespace krater {

const Kind kinds::kCommand{"bus.volcano.sh", "v1alpha1", "Command", "commands", true};

namespace {

constexpr std::array<std::pair<VolcanoJobPhase, std::string_view>, 10> kPhases{{
    {VolcanoJobPhase::Pending, "Pending"},
    {VolcanoJobPhase::Aborting, "Aborting"},
    {VolcanoJobPhase::Aborted, "Aborted"},
    {VolcanoJobPhase::Running, "Running"},
    {VolcanoJobPhase::Restarting, "Restarting"},
    {VolcanoJobPhase::Completing, "Completing"},
    {VolcanoJobPhase::Completed, "Completed"},
    {VolcanoJobPhase::Terminating, "Terminating"},
    {VolcanoJobPhase::Terminated, "Terminated"},
    {VolcanoJobPhase::Failed, "Failed"},
}};

constexpr std::array<std::pair<VolcanoEvent, std::string_view>, 11> kEvents{{
    {VolcanoEvent::Any, "*"},
    {VolcanoEvent::PodPending, "PodPending"},
    {VolcanoEvent::PodRunning, "PodRunning"},
    {VolcanoEvent::PodFailed, "PodFailed"},
    {VolcanoEvent::PodEvicted, "PodEvicted"},
    {VolcanoEvent::Unknown, "Unknown"},
    {VolcanoEvent::TaskCompleted, "TaskCompleted"},
    {VolcanoEvent::TaskFailed, "TaskFailed"},
    {VolcanoEvent::OutOfSync, "OutOfSync"},
    {VolcanoEvent::CommandIssued, "CommandIssued"},
    {VolcanoEvent::JobUpdated, "JobUpdated"},
}};

constexpr std::array<std::pair<VolcanoAction, std::string_view>, 9> kActions{{
    {VolcanoAction::SyncJob, "SyncJob"},
    {VolcanoAction::AbortJob, "AbortJob"},
    {VolcanoAction::RestartJob, "RestartJob"},
    {VolcanoAction::RestartTask, "RestartTask"},
    {VolcanoAction::RestartPod, "RestartPod"},
    {VolcanoAction::RestartPartition, "RestartPartition"},
    {VolcanoAction::TerminateJob, "TerminateJob"},
    {VolcanoAction::CompleteJob, "CompleteJob"},
    {VolcanoAction::ResumeJob, "ResumeJob"},
}};

template <typename Words, typename Value>
std::string_view word_of(const Words& words, Value value) {
  for (const auto& [known, text] : words) {
    if (known == value) return text;
  }
  CHECK(false);
}

template <typename Value, std::size_t N>
std::optional<Value> value_of(const std::array<std::pair<Value, std::string_view>, N>& words,
                              std::string_view text) {
  for (const auto& [known, word] : words) {
    if (word == text) return known;
  }
  return std::nullopt;
}

void add_event(const Json& text, LifecyclePolicy& policy) {
  if (!text.is_string()) return;
  if (const auto event = value_of(kEvents, view(text.get_string())))
    policy.events.push_back(*event);
}

std::vector<LifecyclePolicy> policies_of(const Json& owner) {
  std::vector<LifecyclePolicy> out;
  const JsonArray* list = array_at(owner, {"policies"});
  if (list == nullptr) return out;
  for (const Json& json : *list) {
    const auto action = volcano_action(text_at(json, {"action"}));
    if (!action) continue;
    LifecyclePolicy policy{*action};
    if (const JsonArray* events = array_at(json, {"events"})) {
      for (const Json& event : *events) add_event(event, policy);
    }
    if (const Json* event = find(json, {"event"})) add_event(*event, policy);
    policy.exit_code = int_at(json, {"exitCode"});
    if (const auto timeout = string_at(json, {"timeout"}))
      policy.timeout = parse_go_duration(*timeout);
    out.push_back(std::move(policy));
  }
  return out;
}

std::vector<std::string> strings_of(const JsonArray* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const Json& text : *list) {
    if (text.is_string()) out.emplace_back(view(text.get_string()));
  }
  return out;
}

VolcanoTask task_of(const Json& json) {
  VolcanoTask out;
  out.name = text_at(json, {"name"});
  out.replicas = int_at(json, {"replicas"}).value_or(0);
  out.min_available = int_at(json, {"minAvailable"});
  if (const auto retries = int_at(json, {"maxRetry"}); retries && *retries != 0)
    out.max_retry = *retries;
  out.policies = policies_of(json);
  out.depends_on = strings_of(array_at(json, {"dependsOn", "name"}));
  out.depends_on_any = text_at(json, {"dependsOn", "iteration"}) == "any";
  out.topology_policy = text_at(json, {"topologyPolicy"});
  if (object_at(json, {"partitionPolicy"}) != nullptr) {
    out.partition =
        PartitionPolicy{int_at(json, {"partitionPolicy", "totalPartitions"}).value_or(0),
                        int_at(json, {"partitionPolicy", "partitionSize"}).value_or(0),
                        int_at(json, {"partitionPolicy", "minPartitions"}).value_or(0),
                        find(json, {"partitionPolicy", "networkTopology"})};
  }
  out.pod_template = find(json, {"template"});
  return out;
}

}  // namespace

std::string_view to_text(VolcanoJobPhase phase) {
  return word_of(kPhases, phase);
}
std::string_view to_text(VolcanoEvent event) {
  return word_of(kEvents, event);
}
std::string_view to_text(VolcanoAction action) {
  return word_of(kActions, action);
}
std::optional<VolcanoAction> volcano_action(std::string_view text) {
  return value_of(kActions, text);
}

std::int64_t VolcanoTask::minimum() const {
  if (min_available) return *min_available;
  if (partition && partition->minimum > 0 && partition->size > 0)
    return partition->minimum * partition->size;
  return replicas;
}

QueueName VolcanoJobView::queue() const {
  std::string name = text({"spec", "queue"});
  return name.empty() ? QueueName(keys::kDefaultQueue) : QueueName(std::move(name));
}

std::vector<VolcanoTask> VolcanoJobView::tasks() const {
  std::vector<VolcanoTask> out;
  if (const JsonArray* list = array_at(document(), {"spec", "tasks"})) {
    for (const Json& task : *list) out.push_back(task_of(task));
  }
  return out;
}

std::vector<LifecyclePolicy> VolcanoJobView::policies() const {
  const Json* spec = find(document(), {"spec"});
  return spec == nullptr ? std::vector<LifecyclePolicy>() : policies_of(*spec);
}

std::vector<VolcanoVolume> VolcanoJobView::volumes() const {
  std::vector<VolcanoVolume> out;
  if (const JsonArray* list = array_at(document(), {"spec", "volumes"})) {
    for (const Json& volume : *list) {
      out.push_back({text_at(volume, {"mountPath"}), text_at(volume, {"volumeClaimName"}),
                     find(volume, {"volumeClaim"})});
    }
  }
  return out;
}

std::map<std::string, std::vector<std::string>, std::less<>> VolcanoJobView::plugins() const {
  std::map<std::string, std::vector<std::string>, std::less<>> out;
  if (const JsonObject* plugins = object_at(document(), {"spec", "plugins"})) {
    for (const auto& plugin : *plugins) {
      out.emplace(std::string(plugin.key().data(), plugin.key().size()),
                  strings_of(plugin.value().if_array()));
    }
  }
  return out;
}

std::optional<VolcanoJobPhase> VolcanoJobView::phase() const {
  return value_of(kPhases, string({"status", "state", "phase"}).value_or(""));
}

std::string VolcanoJobView::pod_group_name() const {
  return object()->name() + "-" + object()->uid().text();
}

std::string to_go_duration(Duration duration) {
  const std::int64_t total = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const std::int64_t seconds = total < 0 ? -total : total;
  std::string out = total < 0 ? "-" : "";
  if (seconds >= 3600) out += std::to_string(seconds / 3600) + "h";
  if (seconds >= 60) out += std::to_string(seconds / 60 % 60) + "m";
  return out + std::to_string(seconds % 60) + "s";
}

std::string volcano_pod_name(std::string_view job, std::string_view task, std::int64_t index) {
  return std::string(job) + "-" + std::string(task) + "-" + std::to_string(index);
}

}  // namespace krater
