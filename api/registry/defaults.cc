#include "api/registry/defaults.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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
  return out;
}

// One after the other; a restart finds them there.
struct Chain : std::enable_shared_from_this<Chain> {
  Chain(Registry& target, std::function<void(Result<void>)> when_done)
      : registry(target), done(std::move(when_done)), writes(wanted()) {}

  void step() {
    if (next == writes.size()) return done({});
    RequestInfo info;
    info.user = "system:apiserver";
    info.in_process = true;
    registry.write(writes[next++], std::move(info),
                   [self = shared_from_this()](Result<Answer> answer) {
                     if (!answer && answer.error().code != Code::AlreadyExists)
                       return self->done(std::move(answer).error());
                     self->step();
                   });
  }

  Registry& registry;
  std::function<void(Result<void>)> done;
  std::vector<client::CreateWrite> writes;
  std::size_t next = 0;
};

}  // namespace

void create_default_objects(Registry& registry, std::function<void(Result<void>)> done) {
  std::make_shared<Chain>(registry, std::move(done))->step();
}

}  // namespace krater::api
