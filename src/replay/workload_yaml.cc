#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "base/yaml.h"
#include "model/keys.h"
#include "model/pod_resources.h"
#include "model/workload_kinds.h"
#include "replay/workload.h"
#include "scheduler/surroundings.h"

namespace krater::replay {
namespace {

constexpr std::string_view kSubmitAt = "krater.io/sim-submit-at";

// Documents that are divided by lines of three dashes.
std::vector<std::string> documents_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("---")) {
      out.emplace_back();
    } else {
      out.back() += std::string(line) + "\n";
    }
  }
  return out;
}

std::string name_of(const Json& object) {
  return text_at(object, {"metadata", "name"});
}
std::string place_of(const Json& object) {
  const std::string given = text_at(object, {"metadata", "namespace"});
  return given.empty() ? "default" : given;
}

class Reader {
 public:
  Result<void> add(const Json& object) {
    if (object.is_null()) return {};
    if (const JsonArray* items = array_at(object, {"items"}); items != nullptr) {
      for (const Json& item : *items) TRY(add(item));
      return {};
    }
    const std::string kind = text_at(object, {"kind"}), version = text_at(object, {"apiVersion"});
    if (name_of(object).empty())
      return make_error(Code::BadRequest, "an object of kind \"" + kind + "\" has no name");
    if (kind == scheduler::kHyperNodeKind.kind) {
      out_.cluster.emplace_back(scheduler::kHyperNodeKind, object);
      return {};
    }
    const Kind* known = find_kind(version, kind);
    if (known == nullptr) {
      ++out_.ignored[kind];
      return {};
    }
    constexpr std::array<std::string_view, 6> kCluster{
        "ConfigMap", "Node", "PodDisruptionBudget", "PriorityClass", "Queue", "ResourceQuota"};
    if (std::find(kCluster.begin(), kCluster.end(), kind) != kCluster.end()) {
      Json copy = object;
      if (known->namespaced) set_path(copy, {"metadata", "namespace"}, Json(place_of(object)));
      out_.cluster.emplace_back(*known, std::move(copy));
    } else if (kind == "Pod") {
      pods_.push_back(object);
    } else if (kind == "PodGroup") {
      groups_.emplace(place_of(object) + "/" + name_of(object), object);
    } else if (*known == kinds::kVolcanoJob) {
      add_volcano_job(object);
    } else if (*known == kinds::kJob) {
      add_job(object);
    } else {
      ++out_.ignored[kind];
    }
    return {};
  }

  Result<Workload> finish() {
    for (const auto& [name, group] : groups_) {
      Submission one{name, text_at(group, {"spec", "queue"})};
      one.min = int_at(group, {"spec", "minMember"}).value_or(1);
      one.group = group;
      set_path(*one.group, {"metadata", "namespace"}, Json(place_of(group)));
      if (Json* status = find(*one.group, {"status"})) *status = JsonObject();
      when(group, one);
      by_group_.emplace(name, std::move(one));
    }
    for (const Json& pod : pods_) add_pod(pod);
    for (auto& [name, one] : by_group_) {
      // A group whose pods are not given has nothing to show.
      if (!one.pods.empty()) out_.submissions.push_back(std::move(one));
    }
    for (Submission& one : out_.submissions) {
      if (one.queue.empty()) one.queue = std::string(keys::kDefaultQueue);
    }
    order();
    return std::move(out_);
  }

 private:
  void when(const Json& object, Submission& out) {
    const auto at = parse_go_duration(text_at(object, {"metadata", "annotations", kSubmitAt}));
    if (at) {
      out.at = *at;
      return;
    }
    const auto created = parse_rfc3339(text_at(object, {"metadata", "creationTimestamp"}));
    if (created) created_[out.name] = *created;
  }

  static std::optional<Duration> run_of(const Json& pod) {
    return parse_go_duration(text_at(pod, {"metadata", "annotations", keys::kSimRunTime}));
  }

  void add_pod(const Json& given) {
    Json pod = given;
    set_path(pod, {"metadata", "namespace"}, Json(place_of(given)));
    const std::string group = text_at(pod, {"metadata", "annotations", keys::kGroupName});
    const auto mine = by_group_.find(place_of(given) + "/" + group);
    PodPlan plan{pod, run_of(pod)};
    if (mine != by_group_.end()) {
      mine->second.pods.push_back(std::move(plan));
      return;
    }
    Submission one{place_of(given) + "/" + name_of(given),
                   text_at(pod, {"metadata", "annotations", keys::kQueueName})};
    when(given, one);
    one.pods.push_back(std::move(plan));
    out_.submissions.push_back(std::move(one));
  }

  static Json pod_from(const Json& pod_template, const std::string& name_space,
                       const std::string& name) {
    Json pod = new_object(kinds::kPod, name_space, name);
    for (const std::string_view part : {"labels", "annotations"}) {
      if (const Json* given = find(pod_template, {"metadata", part}))
        set_path(pod, {"metadata", part}, *given);
    }
    if (const Json* spec = find(pod_template, {"spec"})) set_path(pod, {"spec"}, *spec);
    return pod;
  }

  void add_volcano_job(const Json& job) {
    const std::string name = name_of(job), name_space = place_of(job);
    Submission one{name_space + "/" + name, text_at(job, {"spec", "queue"})};
    one.pods_wait = true;
    when(job, one);
    Json group = new_object(kinds::kPodGroup, name_space, name);
    for (const std::string_view field : {"queue", "priorityClassName", "networkTopology"}) {
      if (const Json* given = find(job, {"spec", field})) set_path(group, {"spec", field}, *given);
    }
    if (const Json* given = find(job, {"metadata", "annotations"}))
      set_path(group, {"metadata", "annotations"}, *given);
    std::int64_t least = 0;
    const JsonArray* tasks = array_at(job, {"spec", "tasks"});
    for (std::size_t i = 0; tasks != nullptr && i < tasks->size(); ++i) {
      const Json& task = (*tasks)[i];
      std::string role = text_at(task, {"name"});
      if (role.empty()) role = "default" + std::to_string(i);
      const std::int64_t replicas = int_at(task, {"replicas"}).value_or(1);
      const std::int64_t minimum = int_at(task, {"minAvailable"}).value_or(replicas);
      least += minimum;
      set_path(group, {"spec", "minTaskMember", role}, Json(minimum));
      const Json* pod_template = find(task, {"template"});
      if (pod_template == nullptr) continue;
      for (std::int64_t k = 0; k < replicas; ++k) {
        Json pod = pod_from(*pod_template, name_space, name + "-" + role + "-" + std::to_string(k));
        set_path(pod, {"metadata", "annotations", keys::kGroupName}, Json(name));
        set_path(pod, {"metadata", "annotations", keys::kTaskSpec}, Json(role));
        set_path(pod, {"spec", "schedulerName"}, Json(keys::kVolcanoScheduler));
        one.pods.push_back({pod, run_of(pod)});
      }
    }
    one.min = int_at(job, {"spec", "minAvailable"}).value_or(0);
    if (one.min <= 0) one.min = least;
    set_path(group, {"spec", "minMember"}, Json(one.min));
    ResourceList sum;
    for (std::size_t i = 0; i < one.pods.size() && static_cast<std::int64_t>(i) < one.min; ++i) {
      if (const Json* spec = find(one.pods[i].pod, {"spec"})) sum += pod_spec_requests(*spec);
    }
    set_path(group, {"spec", "minResources"}, sum.to_json_object());
    one.group = std::move(group);
    out_.submissions.push_back(std::move(one));
  }

  // As many pods as may run at once; each does its part of the completions, one after another.
  void add_job(const Json& job) {
    const std::string name = name_of(job), name_space = place_of(job);
    Submission one{name_space + "/" + name, ""};
    when(job, one);
    const std::int64_t parallel =
        std::max<std::int64_t>(int_at(job, {"spec", "parallelism"}).value_or(1), 1);
    const std::int64_t all = int_at(job, {"spec", "completions"}).value_or(parallel);
    const std::int64_t count = std::min(parallel, all);
    const Json* pod_template = find(job, {"spec", "template"});
    if (pod_template == nullptr || count < 1) return;
    for (std::int64_t k = 0; k < count; ++k) {
      Json pod = pod_from(*pod_template, name_space, name + "-" + std::to_string(k));
      std::optional<Duration> run = run_of(pod);
      if (run) *run *= (all + count - 1) / count;
      one.queue = text_at(pod, {"metadata", "annotations", keys::kQueueName});
      one.pods.push_back({std::move(pod), run});
    }
    out_.submissions.push_back(std::move(one));
  }

  // Times of creation count from the first of them.
  void order() {
    std::optional<WallTime> first;
    for (const auto& [name, created] : created_)
      first = first ? std::min(*first, created) : created;
    for (Submission& one : out_.submissions) {
      if (const auto created = created_.find(one.name); created != created_.end())
        one.at = created->second - *first;
    }
    sort_by_time(out_);
  }

  Workload out_;
  std::vector<Json> pods_;
  std::map<std::string, Json> groups_;
  std::map<std::string, Submission> by_group_;
  std::map<std::string, WallTime> created_;
};

}  // namespace

Result<Workload> read_yaml(const std::vector<std::string>& files) {
  Reader reader;
  for (const std::string& text : files) {
    for (const std::string& document : documents_of(text)) {
      TRY_ASSIGN(const Json object, parse_yaml(document));
      TRY(reader.add(object));
    }
  }
  return reader.finish();
}

Result<Workload> read_directory(const std::string& path) {
  std::error_code failed;
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml") names.insert(entry.path().string());
  }
  if (failed) return make_error(Code::NotFound, path + ": " + failed.message());
  if (names.empty()) return make_error(Code::NotFound, path + ": there is no *.yaml");
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    files.push_back(text.str());
  }
  return read_yaml(files);
}

}  // namespace krater::replay
