// Which pods are bound to which node: an index of what the cache shows. Control loop only.
#pragma once

#include <map>
#include <set>
#include <string>

#include "model/pod.h"

namespace krater::controllers {

class PodsByNode {
 public:
  // Exactly one of the two may be null. The node's name when the pod has just come to it, else "".
  std::string observe(const ObjectPtr& before, const ObjectPtr& after) {
    const std::string old = before ? place_of_[before->key()] : std::string();
    const std::string now = after ? PodView(after).node_name().text() : std::string();
    if (old == now) {
      if (!after) place_of_.erase(before->key());
      return {};
    }
    const ObjectKey& key = (after ? after : before)->key();
    if (!old.empty()) {
      auto place = pods_.find(old);
      place->second.erase(key);
      if (place->second.empty()) pods_.erase(place);
    }
    if (now.empty()) {
      place_of_.erase(key);
    } else {
      pods_[now].insert(key);
      place_of_[key] = now;
    }
    return now;
  }

  const std::set<ObjectKey>& on(const std::string& node) const {
    static const std::set<ObjectKey> none;
    const auto place = pods_.find(node);
    return place == pods_.end() ? none : place->second;
  }

  std::string node_of(const ObjectKey& pod) const {
    const auto place = place_of_.find(pod);
    return place == place_of_.end() ? std::string() : place->second;
  }

 private:
  std::map<std::string, std::set<ObjectKey>> pods_;
  std::map<ObjectKey, std::string> place_of_;
};

}  // namespace krater::controllers
