#include "sim/judge.h"

#include <utility>

#include "base/strings.h"
#include "model/keys.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/pod_resources.h"
#include "model/podgroup.h"

namespace krater::sim {
namespace {

constexpr std::size_t kMostViolations = 100;

std::string version(const ObjectKey& key, Revision revision) {
  return key.text() + "@" + revision.text();
}

void erase_in(std::map<std::string, std::set<std::string>>& index, const std::string& place,
              const std::string& key) {
  const auto found = index.find(place);
  if (found == index.end()) return;
  found->second.erase(key);
  if (found->second.empty()) index.erase(found);
}

}  // namespace

void Judge::broken(const std::string& rule, const std::string& what) {
  if (rules_.contains(rule) && violations_.size() < kMostViolations)
    violations_.push_back(rule + " at revision " + newest_.text() + ": " + what);
}

void Judge::see(const storage::Event& event, const ObjectPtr& object) {
  const bool gone = event.what == storage::Event::What::Delete;
  ++events_;
  std::string trace = std::to_string(fingerprint_) + (gone ? "-" : "+") + event.record->key + "@" +
                      event.revision().text();
  if (event.record->value) trace += *event.record->value;
  fingerprint_ = fnv1a(trace);

  if (newest_ != Revision() && event.revision() != newest_.next())
    broken("revisions_only_grow", event.revision().text() + " follows " + newest_.text());
  newest_ = event.revision();
  if (gone) {
    latest_.erase(event.record->key);
  } else {
    latest_[event.record->key] = newest_;
  }
  if (!object) return;
  if (!gone) written_.insert(version(object->key(), newest_));
  if (!gone && text_at(*object->document(), {"metadata", "resourceVersion"}) != newest_.text())
    broken("revisions_only_grow", object->key().text() + " shows another revision than its own");

  const std::string& key = event.record->key;
  const std::string& resource = object->key().resource;
  if (resource == kinds::kPod.resource()) {
    if (gone) {
      forget_pod(key);
    } else {
      see_pod(key, object);
    }
  } else if (resource == kinds::kNode.resource()) {
    if (gone) {
      allocatable_.erase(object->name());
    } else {
      allocatable_[object->name()] = NodeView(object).allocatable();
    }
  } else if (resource == kinds::kPodGroup.resource()) {
    const std::string name = object->name_space() + "/" + object->name();
    if (gone) {
      min_member_.erase(name);
    } else {
      min_member_[name] = PodGroupView(object).min_member();
    }
  }
}

void Judge::see_pod(const std::string& key, const ObjectPtr& pod) {
  const PodView view(pod);
  const auto place = pods_.find(key);
  if (place != pods_.end() && place->second.uid != pod->uid()) forget_pod(key);
  PodFacts& facts = pods_[key];
  if (facts.uid.empty()) {
    facts.uid = pod->uid();
    facts.requests = pod_requests(view);
    if (const auto group = view.annotation(keys::kGroupName); !group.empty())
      facts.group = pod->name_space() + "/" + std::string(group);
    if (!facts.group.empty()) of_group_[facts.group].insert(key);
  }
  if (facts.finished && !view.finished())
    broken("one_pod_never_bound_twice", pod->key().text() + " lives again");
  facts.finished = view.finished();
  if (view.restart_policy() == "Never") judge_containers(view, facts);
  const std::string node = view.node_name().text();
  if (node != facts.node) {
    if (!facts.node.empty()) {
      broken("one_pod_never_bound_twice",
             pod->key().text() + " was on " + facts.node + " and is on \"" + node + "\"");
      erase_in(on_node_, facts.node, key);
    }
    facts.node = node;
    if (!node.empty()) {
      ++binds_;
      on_node_[node].insert(key);
      if (!facts.group.empty()) bound_groups_.insert(facts.group);
    }
  }
  if (!node.empty()) touched_nodes_.insert(node);
}

// A container that is not to be restarted has one run, whatever becomes of its node and agent. Runs
// are told apart by when they began.
void Judge::judge_containers(const PodView& pod, PodFacts& facts) {
  for (const ContainerStatus& status : pod.container_statuses()) {
    const std::optional<WallTime> began = status.running_since
                                              ? status.running_since
                                              : (status.exit ? status.exit->started : std::nullopt);
    if (!began) continue;
    const auto [place, is_new] = facts.runs.try_emplace(status.name, *began);
    if (is_new || place->second == *began) continue;
    broken("no_container_runs_twice", pod->key().text() + " runs " + status.name + " since " +
                                          to_rfc3339(*began) + ", and did since " +
                                          to_rfc3339(place->second));
    place->second = *began;
  }
}

void Judge::forget_pod(const std::string& key) {
  const auto place = pods_.find(key);
  if (place == pods_.end()) return;
  erase_in(on_node_, place->second.node, key);
  erase_in(of_group_, place->second.group, key);
  pods_.erase(place);
}

void Judge::acknowledged(const Object& object) {
  if (!written_.contains(version(object.key(), object.revision())))
    broken("acknowledged_writes_are_kept", object.key().text() + " was acknowledged at " +
                                               object.revision().text() + " and never written");
}

std::optional<std::string> Judge::differs_from(const storage::Snapshot& state) const {
  std::optional<std::string> out;
  std::size_t found = 0;
  const auto scanned = state.scan({}, std::nullopt, [&](const storage::RecordPtr& record) {
    const auto told = latest_.find(record->key);
    ++found;
    if (told == latest_.end()) {
      out = record->key + " is there, and no event told so";
    } else if (told->second != record->modified) {
      out = record->key + " stands at " + record->modified.text() + ", and was told at " +
            told->second.text();
    }
    return !out;
  });
  if (!scanned) return scanned.error().message;
  if (!out && found != latest_.size())
    out = std::to_string(latest_.size() - found) + " records that were written are lost";
  return out;
}

void Judge::end_of_transaction() {
  for (const std::string& node : std::exchange(touched_nodes_, {})) judge_node(node);
  for (const std::string& group : std::exchange(bound_groups_, {})) judge_gang(group);
}

void Judge::judge_node(const std::string& node) {
  const auto there = allocatable_.find(node);
  const auto pods = on_node_.find(node);
  if (there == allocatable_.end() || pods == on_node_.end()) return;
  ResourceList used;
  for (const std::string& key : pods->second) {
    const PodFacts& facts = pods_.at(key);
    if (!facts.finished) used += facts.requests;
  }
  for (const auto& [name, amount] : used.amounts()) {
    if (amount > there->second.at(name))
      broken("no_node_overcommitted", node + " holds " + resource_text(name, amount) + " " + name +
                                          " and has " +
                                          resource_text(name, there->second.at(name)));
  }
}

// Whenever a member is bound, enough of them are.
void Judge::judge_gang(const std::string& group) {
  const auto wanted = min_member_.find(group);
  const auto members = of_group_.find(group);
  if (wanted == min_member_.end() || members == of_group_.end()) return;
  std::int64_t bound = 0;
  for (const std::string& key : members->second) bound += pods_.at(key).node.empty() ? 0 : 1;
  if (bound < wanted->second)
    broken("gang_is_all_or_nothing", group + " has " + std::to_string(bound) + " of " +
                                         std::to_string(wanted->second) + " members bound");
}

}  // namespace krater::sim
