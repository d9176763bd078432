// What the pods of each node refer to: secrets, config maps, service accounts. Follows the pods by
// a watch that is caught up at each question, so an answer is never older than the question and
// nothing runs while nobody asks. Any thread (one lock).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/auth/history.h"
#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::api {

struct PodReference {
  std::string resource;  // "secrets", "configmaps", "serviceaccounts"
  std::string name;
  friend auto operator<=>(const PodReference&, const PodReference&) = default;
};
// Everything a pod names in its volumes, environment and pull secrets. Pure.
std::set<PodReference> references_of(const Json& pod);

class NodeGraph {
 public:
  // `pods`: the history of all pods.
  explicit NodeGraph(History pods) : history_(std::move(pods)) {}

  // The nodes whose pods in `name_space` refer to the thing. Empty also when the pods cannot be
  // read.
  std::set<std::string> nodes_referring(std::string_view resource, std::string_view name_space,
                                        std::string_view name) const;

 private:
  struct Entry {
    std::string node;
    std::set<PodReference> references;
  };
  void apply(const ObjectChange& change) const;
  void count(const std::string& name_space, const Entry& entry, int by) const;

  History history_;
  mutable std::mutex mutex_;
  mutable bool started_ = false;
  mutable std::map<std::pair<std::string, std::string>, Entry> pods_;  // by namespace, name
  // (resource, namespace, name) -> node -> number of its pods
  mutable std::map<std::tuple<std::string, std::string, std::string>, std::map<std::string, int>>
      index_;
};

}  // namespace krater::api
