// Resource groups, as Volcano's pod webhook knows them: the pods of a namespace, or those with an
// annotation, are given nodes, tolerations and a scheduler. Read from a ConfigMap in the format of
// Volcano's volcano-admission.conf.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/machinery/schema.h"
#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::api {

struct ResourceGroup {
  std::string name{};
  // Who belongs to it: either pods of these namespaces, or pods with one of these annotations.
  std::vector<std::string> namespaces{};
  std::vector<std::pair<std::string, std::string>> annotations{};
  // What they are given.
  Json node_selector{};  // an object; null: nothing
  Json affinity{};       // an object; null: nothing
  JsonArray tolerations{};
  std::string scheduler_name{};

  bool holds(const Json& pod, std::string_view name_space) const;
  // Labels are added, and win over those of the pod; its own affinity is left alone; tolerations
  // are added; the scheduler is the group's where the pod has chosen none.
  void give(Json& pod) const;
};
using ResourceGroups = std::vector<ResourceGroup>;  // the first that holds a pod counts

// `pods`: their schema; what is given has to be good for one. Code::Invalid, with the place of what
// is wrong, for anything that Volcano would not understand.
Result<ResourceGroups> parse_resource_groups(std::string_view yaml, const KindSchema& pods);

struct ConfigMapPlace {
  std::string name_space, name, key;
};

// The groups in force: those of the newest form of the ConfigMap that could be read. Any thread.
class ResourceGroupBook {
 public:
  ResourceGroupBook(KindSchemaPtr pods, ConfigMapPlace place)
      : pods_(std::move(pods)), place_(std::move(place)) {}

  const ConfigMapPlace& place() const { return place_; }
  // `config_map` as it is now; null: there is none, and no group.
  std::shared_ptr<const ResourceGroups> read(const ObjectPtr& config_map);

  struct Look {
    std::size_t groups = 0;  // in force
    std::optional<std::string> refused{};
  };
  // The same, for those who tell of it.
  Look look(const ObjectPtr& config_map);

 private:
  void take(const Object& config_map);

  const KindSchemaPtr pods_;
  const ConfigMapPlace place_;
  std::mutex mutex_;
  Revision seen_{};
  std::shared_ptr<const ResourceGroups> groups_ = std::make_shared<const ResourceGroups>();
  std::optional<std::string> refused_{};  // why the text of revision seen_ is no good
};

}  // namespace krater::api
