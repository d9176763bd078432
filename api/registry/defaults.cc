#include "api/registry/defaults.h"

#include <array>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "api/registry/default_roles.h"
#include "api/registry/default_roles_upkeep.h"
#include "model/storage.h"

namespace krater::api {
namespace {

constexpr std::array<std::string_view, 5> kNamespaces{"default", "kube-system", "kube-public",
                                                      "kube-node-lease", "volcano-system"};

Json priority_class(std::string_view name, std::int64_t value, std::string_view description) {
  Json out = new_object(kinds::kPriorityClass, "", name);
  set_path(out, {"value"}, value);
  set_path(out, {"description"}, Json(description));
  return out;
}

// Directories on the node that the first pod is given.
Json standard_class() {
  Json out = new_object(kinds::kStorageClass, "", "standard");
  set_path(out, {"metadata", "annotations", keys::kDefaultClass}, Json("true"));
  set_path(out, {"provisioner"}, Json(keys::kDirectoryProvisioner));
  set_path(out, {"reclaimPolicy"}, "Delete");
  set_path(out, {"volumeBindingMode"}, "WaitForFirstConsumer");
  return out;
}

std::vector<client::CreateWrite> wanted() {
  std::vector<client::CreateWrite> out;
  for (const std::string_view name : kNamespaces) {
    out.push_back({kinds::kNamespace, "", new_object(kinds::kNamespace, "", name)});
  }
  out.push_back({kinds::kPriorityClass, "",
                 priority_class("system-cluster-critical", 2'000'000'000,
                                "Used for system critical pods that must run in the cluster, but "
                                "can be moved to another node if necessary.")});
  out.push_back(
      {kinds::kPriorityClass, "",
       priority_class(
           "system-node-critical", 2'000'001'000,
           "Used for system critical pods that must not be moved from their current node.")});
  out.push_back({kinds::kStorageClass, "", standard_class()});
  std::vector<client::CreateWrite> roles = default_roles();
  std::move(roles.begin(), roles.end(), std::back_inserter(out));
  return out;
}

// All at once, so that they share the disk's syncs; none needs another. A restart finds them there.
struct Batch {
  explicit Batch(std::function<void(Result<void>)> when_done) : done(std::move(when_done)) {}

  void answered(const Result<void>& answer) {
    {
      const std::lock_guard lock(mutex);
      if (!answer && answer.error().code != Code::AlreadyExists) result = answer.error();
      if (--open > 0) return;
    }
    done(std::move(result));
  }

  std::mutex mutex;
  std::function<void(Result<void>)> done;
  std::size_t open = 0;
  Result<void> result;
};

}  // namespace

void create_default_objects(Registry& registry, std::function<void(Result<void>)> done) {
  std::vector<std::vector<client::Write>> changes;
  for (client::CreateWrite& one : wanted()) {
    const Result<ObjectPtr> stored =
        registry.get(one.kind, "", text_at(one.object, {"metadata", "name"}));
    std::vector<client::Write> writes;
    if (stored) {
      writes = upkeep_of(one, **stored);
    } else {
      writes.push_back(std::move(one));
    }
    if (!writes.empty()) changes.push_back(std::move(writes));
  }
  if (changes.empty()) return done(Result<void>());
  const auto batch = std::make_shared<Batch>(std::move(done));
  batch->open = changes.size();
  for (std::vector<client::Write>& writes : changes) {
    RequestInfo info;
    info.user = "system:apiserver";
    info.in_process = true;
    info.unhooked = true;  // a webhook may need what is made here
    registry.transact(std::move(writes), std::move(info),
                      [batch](const Result<std::vector<Answer>>& answers) {
                        batch->answered(answers ? Result<void>() : answers.error());
                      });
  }
}

}  // namespace krater::api
