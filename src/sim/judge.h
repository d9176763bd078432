// Watches every event of the store, in order, and says when a rule is broken that must hold after
// every transaction. Keeps its own small picture of nodes, pods and gangs, from the events alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/object.h"
#include "model/pod.h"
#include "model/resource_list.h"
#include "storage/store.h"

namespace krater::sim {

class Judge {
 public:
  // `rules`: names as in Scenario::always.
  explicit Judge(std::set<std::string> rules) : rules_(std::move(rules)) {}

  // `object`: what the record holds; null for what is no object.
  void see(const storage::Event& event, const ObjectPtr& object);
  void end_of_transaction();
  // A client was told that its write is there.
  void acknowledged(const Object& object);
  // Whether the store holds something else than its events have told.
  std::optional<std::string> differs_from(const storage::Snapshot& state) const;

  // The first hundred.
  const std::vector<std::string>& violations() const { return violations_; }
  // Of everything seen so far, byte by byte.
  std::uint64_t fingerprint() const { return fingerprint_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t binds() const { return binds_; }

 private:
  struct PodFacts {
    Uid uid;
    std::string node, group;  // group: namespace/name
    bool finished = false;
    ResourceList requests;
    std::map<std::string, WallTime> runs;  // began, by container; restartPolicy Never only
  };
  void see_pod(const std::string& key, const ObjectPtr& pod);
  void judge_containers(const PodView& pod, PodFacts& facts);
  void forget_pod(const std::string& key);
  void judge_node(const std::string& node);
  void judge_gang(const std::string& group);
  void broken(const std::string& rule, const std::string& what);

  const std::set<std::string> rules_;
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, std::set<std::string>> on_node_, of_group_;  // keys of pods
  std::map<std::string, ResourceList> allocatable_;
  std::map<std::string, std::int64_t> min_member_;
  std::set<std::string> touched_nodes_, bound_groups_;  // in this transaction
  std::map<std::string, Revision> latest_;              // by key: what is there
  std::unordered_set<std::string> written_;  // every version of every object: key@revision
  Revision newest_;
  std::uint64_t fingerprint_ = 0, events_ = 0, binds_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace krater::sim
