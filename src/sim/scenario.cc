#include "sim/scenario.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/yaml.h"

namespace krater::sim {
namespace {

constexpr std::array<std::string_view, 6> kAlways{
    "acknowledged_writes_are_kept", "gang_is_all_or_nothing",    "no_container_runs_twice",
    "no_node_overcommitted",        "one_pod_never_bound_twice", "revisions_only_grow"};
constexpr std::array<std::string_view, 7> kFinally{
    "every_job_finished",     "every_job_succeeded", "no_orphan_pods",
    "no_pod_group_left",      "queues_hold_nothing", "programs_run_within_limits",
    "watchers_know_the_truth"};

Error wrong(const std::string& what) {
  return make_error(Code::BadRequest, "scenario: " + what);
}

// Takes members out of a mapping, each once; what is left over at the end is an error.
class Members {
 public:
  Members(const Json& json, std::string where) : where_(std::move(where)) {
    if (const JsonObject* object = json.if_object()) {
      for (const auto& [key, value] : *object) members_.emplace(std::string(key), &value);
    } else if (!json.is_null()) {
      problem("must be a mapping");
    }
  }
  const Json* take(const std::string& name) {
    const auto member = members_.extract(name);
    return member.empty() ? nullptr : member.mapped();
  }
  void text(const std::string& name, std::string& out) {
    const Json* value = take(name);
    if (value == nullptr) return;
    if (value->is_string()) {
      out = krater::view(value->get_string());
    } else if (const auto number = as_int(*value)) {
      out = std::to_string(*number);
    } else {
      problem(name + " must be a string");
    }
  }
  template <typename Int>
  void number(const std::string& name, Int& out) {
    const Json* value = take(name);
    if (value == nullptr) return;
    const auto number = as_int(*value);
    if (number && *number >= 0) {
      out = static_cast<Int>(*number);
    } else {
      problem(name + " must be a number");
    }
  }
  void duration(const std::string& name, Duration& out) {
    std::string words;
    text(name, words);
    if (words.empty()) return;
    const auto duration = parse_go_duration(words);
    if (duration && *duration > Duration(0)) {
      out = *duration;
    } else {
      problem(name + " must be a duration such as 2s");
    }
  }
  // 0.05 is fifty in a thousand.
  void chance(const std::string& name, unsigned& in_thousand) {
    const Json* value = take(name);
    if (value == nullptr) return;
    const double chance = value->is_double()  ? value->get_double()
                          : value->is_int64() ? static_cast<double>(value->get_int64())
                                              : -1;
    if (chance < 0 || chance > 1) return problem(name + " must be between 0 and 1");
    in_thousand = static_cast<unsigned>(chance * 1000 + 0.5);
  }
  void flag(const std::string& name, bool& out) {
    const Json* value = take(name);
    if (value == nullptr) return;
    if (!value->is_bool()) return problem(name + " must be true or false");
    out = value->get_bool();
  }
  std::vector<const Json*> list(const std::string& name) {
    std::vector<const Json*> out;
    const Json* value = take(name);
    if (value == nullptr) return out;
    if (!value->is_array()) {
      problem(name + " must be a list");
      return out;
    }
    for (const Json& one : value->get_array()) out.push_back(&one);
    return out;
  }
  void problem(const std::string& what) {
    if (!problem_) problem_ = where_ + ": " + what;
  }
  Result<void> done() {
    if (!members_.empty()) problem("nobody knows \"" + members_.begin()->first + "\"");
    if (problem_) return wrong(*problem_);
    return {};
  }

 private:
  std::string where_;
  std::map<std::string, const Json*> members_;
  std::optional<std::string> problem_;
};

struct Named {
  std::string name;
  const Json* body;
};

// {submit_rayjobs: {…}}
Result<Named> single(const Json& entry) {
  if (!entry.is_object() || entry.get_object().size() != 1)
    return wrong("an entry of load and faults is a mapping of one word");
  const auto& only = *entry.get_object().begin();
  return Named{std::string(only.key()), &only.value()};
}

Result<Load> parse_load(const Json& entry) {
  static const std::map<std::string, Load::What> kWords{{"submit_rayjobs", Load::What::RayJobs},
                                                        {"submit_jobs", Load::What::Jobs},
                                                        {"submit_vcjobs", Load::What::VolcanoJobs},
                                                        {"submit_pods", Load::What::Pods}};
  TRY_ASSIGN(const Named named, single(entry));
  const auto word = kWords.find(named.name);
  if (word == kWords.end()) return wrong("nobody knows the load \"" + named.name + "\"");
  Load out;
  out.what = word->second;
  Members members(*named.body, named.name);
  std::int64_t per_second = 0;
  members.number("per_second", per_second);
  if (per_second > 0) out.every = Duration(1s) / per_second;
  members.duration("every", out.every);
  members.duration("for", out.during);
  members.text("queue", out.queue);
  members.number("workers", out.workers);
  members.text("cpu", out.cpu);
  members.duration("run_time", out.run_time);
  members.number("backoff_limit", out.backoff_limit);
  TRY(members.done());
  return out;
}

Result<Fault> parse_fault(const Json& entry) {
  static const std::map<std::string, Fault::What> kWords{
      {"kill_nodes", Fault::What::KillNodes},
      {"restart_agents", Fault::What::RestartAgents},
      {"restart_server", Fault::What::RestartServer},
      {"slow_store", Fault::What::SlowStore},
      {"failing_commits", Fault::What::FailingCommits},
      {"ambiguous_answers", Fault::What::AmbiguousAnswers},
      {"drop_watch", Fault::What::DropWatch}};
  TRY_ASSIGN(const Named named, single(entry));
  const auto word = kWords.find(named.name);
  if (word == kWords.end()) return wrong("nobody knows the fault \"" + named.name + "\"");
  Fault out;
  out.what = word->second;
  Members members(*named.body, named.name);
  if (out.what == Fault::What::KillNodes || out.what == Fault::What::RestartAgents ||
      out.what == Fault::What::RestartServer) {
    members.duration("every", out.every);
    members.duration("down", out.down);
    if (out.what == Fault::What::KillNodes) members.flag("forever", out.forever);
    if (out.every == Duration(0)) members.problem("needs every");
  } else {
    members.chance("chance", out.in_thousand);
    if (out.in_thousand == 0) members.problem("needs chance");
    if (out.what == Fault::What::SlowStore) members.duration("by", out.by);
  }
  TRY(members.done());
  return out;
}

template <typename Words>
Result<std::set<std::string>> names_of(const std::vector<const Json*>& list, const Words& known) {
  std::set<std::string> out;
  for (const Json* one : list) {
    const std::string name =
        one->is_string() ? std::string(krater::view(one->get_string())) : std::string();
    if (std::find(known.begin(), known.end(), name) == known.end())
      return wrong("nobody knows the rule \"" + name + "\"");
    out.insert(name);
  }
  return out;
}

}  // namespace

Duration Scenario::load_for() const {
  Duration out{};
  for (const Load& one : load) out = std::max(out, one.during);
  return out;
}

Result<Scenario> parse_scenario(std::string name, std::string_view yaml) {
  TRY_ASSIGN(const Json json, parse_yaml(yaml));
  Scenario out;
  out.name = std::move(name);
  Members top(json, out.name);
  top.number("seed", out.seed);
  if (const Json* given = top.take("given")) {
    Members members(*given, "given");
    members.number("nodes", out.nodes);
    members.number("cpu", out.cpu);
    members.text("memory", out.memory);
    members.chance("failing_rayjobs", out.failing_rayjobs_in_thousand);
    for (const Json* queue : members.list("queues"))
      out.queues.emplace_back(queue->is_string() ? krater::view(queue->get_string()) : "");
    if (out.nodes < 1 || out.nodes > 256) members.problem("nodes must be between 1 and 256");
    TRY(members.done());
  }
  for (const Json* entry : top.list("load")) {
    TRY_ASSIGN(Load load, parse_load(*entry));
    out.load.push_back(std::move(load));
  }
  for (const Json* entry : top.list("faults")) {
    TRY_ASSIGN(const Fault fault, parse_fault(*entry));
    out.faults.push_back(fault);
  }
  top.duration("faults_for", out.faults_for);
  top.duration("settle_within", out.settle_within);
  top.flag("delete_everything", out.delete_everything);
  TRY_ASSIGN(out.always, names_of(top.list("always"), kAlways));
  TRY_ASSIGN(out.finally, names_of(top.list("finally"), kFinally));
  TRY(top.done());
  return out;
}

}  // namespace krater::sim
