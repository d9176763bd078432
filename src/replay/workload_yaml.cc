#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "base/yaml.h"
#include "model/keys.h"
#include "model/resource_list.h"
#include "model/workload_kinds.h"
#include "replay/events.h"
#include "replay/formats.h"
#include "replay/job_templates.h"
#include "replay/object_checks.h"
#include "replay/readers.h"
#include "replay/workload.h"
#include "scheduler/surroundings.h"

namespace krater::replay {
namespace {

struct Document {
  std::size_t lines_before = 0;
  std::string text{};
};

// Documents that are divided by lines of three dashes.
std::vector<Document> documents_of(std::string_view text) {
  std::vector<Document> out(1);
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.starts_with("---")) {
      out.push_back({number});
    } else {
      out.back().text += std::string(line) + "\n";
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
  explicit Reader(const TraceOptions& options) : options_(options) {}

  // `where`: "cluster.yaml, document 2". `of`: the kind of the list it is in, where items have
  // none.
  Result<void> add(const Json& object, const std::string& where, const Json* list = nullptr) {
    if (!object.is_object()) return bad(where, "it is not an object");
    if (const JsonArray* items = array_at(object, {"items"}); items != nullptr) {
      for (std::size_t i = 0; i < items->size(); ++i)
        TRY(add((*items)[i], where + ", item " + std::to_string(i + 1), &object));
      return {};
    }
    std::string kind = text_at(object, {"kind"}), version = text_at(object, {"apiVersion"});
    if (kind.empty() && list != nullptr) {
      // As the API itself answers: {"kind":"PodList","apiVersion":"v1","items":[{"metadata":...
      const std::string of = text_at(*list, {"kind"});
      if (of.size() > 4 && of.ends_with("List")) {
        Json named = object;
        set_path(named, {"kind"}, Json(of.substr(0, of.size() - 4)));
        set_path(named, {"apiVersion"}, Json(text_at(*list, {"apiVersion"})));
        return add(named, where);
      }
    }
    if (kind.empty()) return bad(where, "kind is missing");
    if (version.empty()) return bad(where, "apiVersion is missing (of kind \"" + kind + "\")");
    if (EventLog::is_event(object)) return events_.add(object, where);
    if (name_of(object).empty())
      return bad(where, "an object of kind \"" + kind + "\" has no name");
    if (kind == scheduler::kHyperNodeKind.kind) {
      out_.cluster.emplace_back(scheduler::kHyperNodeKind, object);
      return {};
    }
    const Kind* known = find_kind(version, kind);
    if (known == nullptr) {
      ++out_.ignored[kind];
      return {};
    }
    return add_known(*known, object, where);
  }

  Result<Workload> finish() {
    for (const auto& [name, group] : groups_) {
      // Called as people call it: a group of a Job by the Job.
      const std::string owner = controller_of(group, place_of(group));
      Submission one{unique(owner.empty() ? name : owner.substr(owner.find('/') + 1), "PodGroup"),
                     text_at(group, {"spec", "queue"})};
      one.min = int_at(group, {"spec", "minMember"}).value_or(1);
      one.group = group;
      set_path(*one.group, {"metadata", "namespace"}, Json(place_of(group)));
      if (Json* status = find(*one.group, {"status"})) *status = JsonObject();
      when(group, one);
      by_group_.emplace(name, std::move(one));
    }
    for (const Json& pod : pods_) add_pod(pod);
    for (auto& [name, one] : by_group_) {
      if (one.pods.empty() && !stand_in(name, one)) {
        names_.erase(one.name);
        created_.erase(one.name);
        continue;
      }
      if (over_groups_.contains(name)) {
        // It once had more pods.
        one.min = std::min(one.min, static_cast<std::int64_t>(one.pods.size()));
      } else if (one.min > static_cast<std::int64_t>(one.pods.size()))
        out_.notes.push_back("PodGroup " + name + " wants " + std::to_string(one.min) + " pods, " +
                             std::to_string(one.pods.size()) + " are given: it cannot start");
      out_.submissions.push_back(std::move(one));
    }
    for (const Json& job : jobs_) {
      // Its pods are there: they stand for it.
      const std::string name = place_of(job) + "/" + name_of(job);
      if (!controllers_.contains("Job/" + name)) add_job(job);
    }
    add_events();
    if (stand_ins_ > 0)
      out_.notes.push_back(std::to_string(stand_ins_) +
                           " PodGroups have no pods: each is played as minMember equal pods");
    if (others_ > 0)
      out_.notes.push_back(std::to_string(others_) +
                           " pods wait for other schedulers: they are left out");
    if (over_ > 0)
      out_.notes.push_back(
          std::to_string(over_) +
          " pods and jobs have ended, or are suspended or deleted: they are left out");
    for (Submission& one : out_.submissions) {
      if (one.queue.empty()) one.queue = std::string(keys::kDefaultQueue);
    }
    order();
    return std::move(out_);
  }

 private:
  static Error bad(const std::string& where, const std::string& what) {
    return make_error(Code::BadRequest, where + ": " + what);
  }

  Result<void> add_known(const Kind& kind, const Json& object, const std::string& where) {
    const std::string what = std::string(kind.kind) + " \"" +
                             (kind.namespaced ? place_of(object) + "/" : "") + name_of(object) +
                             "\"";
    if (const std::string problem = object_problem(kind, object); !problem.empty())
      return bad(where, what + ": " + problem);
    const auto [seen, fresh] = seen_.emplace(what + " of " + std::string(kind.group), where);
    if (!fresh) return bad(where, what + " is there already, in " + seen->second);
    constexpr std::array<std::string_view, 6> kCluster{
        "ConfigMap", "Node", "PodDisruptionBudget", "PriorityClass", "Queue", "ResourceQuota"};
    if (std::find(kCluster.begin(), kCluster.end(), kind.kind) != kCluster.end()) {
      Json copy = object;
      if (kind.namespaced) set_path(copy, {"metadata", "namespace"}, Json(place_of(object)));
      out_.cluster.emplace_back(kind, std::move(copy));
    } else if (is_over(kind, object)) {
      ++over_;
      over(kind, object);
    } else if (kind == kinds::kPod) {
      if (const std::string owner = controller_of(object, place_of(object)); !owner.empty())
        controllers_.insert(owner);
      const std::string scheduler = text_at(object, {"spec", "schedulerName"});
      const bool mine = scheduler.empty() || scheduler == keys::kVolcanoScheduler ||
                        scheduler == keys::kDefaultScheduler;
      if (mine || !text_at(object, {"spec", "nodeName"}).empty()) {
        pods_.push_back(object);
      } else {
        ++others_;
      }
    } else if (kind == kinds::kPodGroup) {
      groups_.emplace(place_of(object) + "/" + name_of(object), object);
    } else if (kind == kinds::kVolcanoJob || kind == kinds::kJob) {
      jobs_.push_back(object);
    } else {
      ++out_.ignored[std::string(kind.kind)];
    }
    return {};
  }

  void when(const Json& object, Submission& out) {
    const auto at = parse_go_duration(text_at(object, {"metadata", "annotations", kSubmitAt}));
    if (at) {
      out.at = *at;
      return;
    }
    const auto created = parse_time(text_at(object, {"metadata", "creationTimestamp"}));
    if (created) created_[out.name] = *created;
  }

  // What has ended still says whose it was.
  void over(const Kind& kind, const Json& object) {
    const std::string name_space = place_of(object), name = name_space + "/" + name_of(object);
    if (kind == kinds::kJob || kind == kinds::kVolcanoJob) controllers_.insert("Job/" + name);
    if (kind != kinds::kPod) return;
    over_pods_.insert(name);
    over_groups_.insert(name_space + "/" +
                        text_at(object, {"metadata", "annotations", keys::kGroupName}));
    if (const std::string owner = controller_of(object, name_space); !owner.empty())
      controllers_.insert(owner);
  }

  // A name of its own in the report: a Job and a Pod may be named alike.
  std::string unique(const std::string& name, std::string_view kind) {
    std::string out = name;
    for (int i = 1; !names_.insert(out).second; ++i)
      out = name + " (" + std::string(kind) + (i == 1 ? "" : " " + std::to_string(i)) + ")";
    return out;
  }

  // For a group that waits to be admitted: nobody has made its pods yet, but how many there will be
  // and what they ask for together is known. False when something else stands for it, or nothing.
  bool stand_in(const std::string& name, Submission& group) {
    const std::string owner = controller_of(*group.group, place_of(*group.group));
    if (over_groups_.contains(name) || controllers_.contains(owner)) return false;
    for (const Json& job : jobs_) {
      if (owner == "Job/" + place_of(job) + "/" + name_of(job)) return false;
    }
    if (object_at(*group.group, {"spec", "minResources"}) == nullptr || group.min < 1) return false;
    GangShape shape;
    shape.name = name_of(*group.group);
    shape.name_space = place_of(*group.group);
    shape.min = group.min;
    PodShape pod;
    const ResourceList sum = ResourceList::from(find(*group.group, {"spec", "minResources"}));
    for (const auto& [resource, amount] : sum.amounts()) {
      // Not "count/pods", "requests.cpu" and the like: the same once more, for quotas.
      if (resource == resources::kPods || resource.starts_with("count/") ||
          resource.starts_with("requests.") || resource.starts_with("limits."))
        continue;
      pod.requests[resource] = resource_text(resource, (amount + group.min - 1) / group.min);
    }
    shape.pods.assign(static_cast<std::size_t>(group.min), pod);
    group.pods = make_gang(shape).pods;
    group.pods_wait = true;
    ++stand_ins_;
    return true;
  }

  // Of the pod, or as its events tell.
  std::optional<Duration> run_of(const Json& pod) const {
    if (const auto run =
            parse_go_duration(text_at(pod, {"metadata", "annotations", keys::kSimRunTime})))
      return run;
    return events_.ran(place_of(pod) + "/" + name_of(pod));
  }

  void add_pod(const Json& given) {
    Json pod = given;
    set_path(pod, {"metadata", "namespace"}, Json(place_of(given)));
    const std::string group = text_at(pod, {"metadata", "annotations", keys::kGroupName});
    const auto mine = by_group_.find(place_of(given) + "/" + group);
    PodPlan plan{pod, run_of(pod)};
    // Who has a node is there from the beginning.
    const bool there = !text_at(pod, {"spec", "nodeName"}).empty() &&
                       text_at(pod, {"metadata", "annotations", kSubmitAt}).empty();
    if (mine != by_group_.end()) {
      if (there && text_at(*mine->second.group, {"metadata", "annotations", kSubmitAt}).empty())
        created_.erase(mine->second.name);
      mine->second.pods.push_back(std::move(plan));
      return;
    }
    Submission one{unique(place_of(given) + "/" + name_of(given), "Pod"),
                   text_at(pod, {"metadata", "annotations", keys::kQueueName})};
    if (!there) when(given, one);
    one.pods.push_back(std::move(plan));
    out_.submissions.push_back(std::move(one));
  }

  // Pods that nobody has given are known from their events; the others only say when they ended.
  void add_events() {
    if (events_.empty()) return;
    std::set<std::string> known = over_pods_;
    for (const Submission& one : out_.submissions) {
      for (const PodPlan& plan : one.pods)
        known.insert(place_of(plan.pod) + "/" + name_of(plan.pod));
    }
    for (EventLog::Told& told : events_.jobs(known, options_, out_.notes)) {
      Submission one = make_gang(told.shape);
      one.name = unique(one.name, "events");
      created_[one.name] = told.came;
      out_.submissions.push_back(std::move(one));
    }
    bool nodes = false;
    for (const auto& [kind, object] : out_.cluster) nodes = nodes || kind == kinds::kNode;
    if (nodes || options_.nodes_given || events_.nodes().empty()) return;
    for (const std::string& name : events_.nodes())
      out_.cluster.emplace_back(kinds::kNode, node_object(name, {options_.cpu, options_.memory}));
    out_.notes.push_back("the events name " + std::to_string(events_.nodes().size()) +
                         " nodes: each has cpu " + options_.cpu + " and memory " + options_.memory);
  }

  void add_job(const Json& job) {
    const Kind* kind = find_kind(text_at(job, {"apiVersion"}), "Job");
    const std::string name_space = place_of(job), name = name_space + "/" + name_of(job);
    const RunOf run = [this](const Json& pod) { return run_of(pod); };
    Submission one = kind != nullptr && *kind == kinds::kVolcanoJob
                         ? from_volcano_job(job, name_space, run)
                         : from_batch_job(job, name_space, run);
    if (one.pods.empty()) {
      out_.notes.push_back("Job " + name + " has no pods: it is left out");
      return;
    }
    one.name = unique(name, "Job");
    when(job, one);
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

  const TraceOptions& options_;
  Workload out_;
  EventLog events_;
  std::vector<Json> pods_, jobs_;
  std::map<std::string, Json> groups_;
  std::set<std::string> controllers_, over_pods_, over_groups_, names_;
  std::map<std::string, std::string> seen_;  // kind and name, where
  std::size_t over_ = 0, others_ = 0, stand_ins_ = 0;
  std::map<std::string, Submission> by_group_;
  std::map<std::string, WallTime> created_;
};

}  // namespace

Result<Workload> read_objects(const std::vector<TraceFile>& files, const TraceOptions& options) {
  Reader reader(options);
  for (const TraceFile& file : files) {
    const std::string_view text = trim(file.text);
    if (!text.empty() && (text.front() == '{' || text.front() == '[')) {
      bool all = true;
      for (const JsonPiece& piece : json_pieces(file.text)) {
        const Result<Json> object = parse_json(piece.text);
        all = object.has_value();
        if (!all) break;  // YAML may begin like that too
        const std::string where = file.name + ", line " + std::to_string(piece.line);
        if (!object->is_array()) {
          TRY(reader.add(*object, where));
          continue;
        }
        for (const Json& one : object->get_array()) TRY(reader.add(one, where));
      }
      if (all) continue;
    }
    int number = 0;
    for (const Document& document : documents_of(file.text)) {
      const std::string where = file.name + ", document " + std::to_string(number + 1);
      const Result<Json> object = parse_yaml(document.text);
      if (!object) {
        // Once more, for the line in the file.
        const Result<Json> again =
            parse_yaml(std::string(document.lines_before, '\n') + document.text);
        return make_error(Code::BadRequest,
                          where + ": " + (again ? object : again).error().message);
      }
      if (object->is_null()) continue;  // nothing but comments
      ++number;
      TRY(reader.add(*object, where));
    }
  }
  return reader.finish();
}

Result<Workload> read_yaml(const std::vector<std::string>& files) {
  std::vector<TraceFile> named;
  for (const std::string& text : files)
    named.push_back({"file " + std::to_string(named.size() + 1), text});
  return read_objects(named, {});
}

}  // namespace krater::replay
