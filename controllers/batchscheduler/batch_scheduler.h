// What a Ray controller asks of a batch scheduler: keep one gang object per workload in the right
// size, and mark the children so that the scheduler finds them. Pure: everything returned is a
// write for the plan. Mirrors KubeRay's plug-in contract; differs where README.md of this folder
// says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/loop/plan.h"
#include "model/object.h"
#include "model/resource_list.h"

namespace krater::controllers {

// How many pods must start together, and what the workload asks for in all.
struct GangSize {
  std::int64_t members = 0;
  ResourceList resources{};
  friend bool operator==(const GangSize&, const GangSize&) = default;
};

// What a child is: where its scheduling marks go.
enum class ChildKind { Pod, PodTemplate, RayCluster };

class BatchScheduler {
 public:
  virtual ~BatchScheduler() = default;

  // The kind of the gang object, or nullptr when there is none; its name for an owner.
  virtual const Kind* gang_kind() const = 0;
  virtual std::string gang_name(const Object& owner) const = 0;
  // Makes the gang object of `owner` exist in this size and in the owner's queue. `existing`: as
  // cached, may be null. nullopt: nothing to do. An error names the field that is wrong.
  virtual Result<std::optional<PlannedWrite>> sync(const Object& owner, const GangSize& size,
                                                   const ObjectPtr& existing) const = 0;
  // Changes the size of an existing gang object; never makes one. nullopt: nothing to do.
  virtual std::optional<PlannedWrite> resize(const GangSize& size,
                                             const ObjectPtr& existing) const = 0;
  // Moves an existing gang object to the queue and priority the owner names now. nullopt: it is
  // there.
  virtual std::optional<PlannedWrite> follow_owner(const Object& owner,
                                                   const ObjectPtr& existing) const = 0;
  // Marks a child of `parent` before its creation. `group`: "headgroup", a worker group,
  // "submittergroup", or "" for a RayCluster.
  virtual void mark_child(const Object& parent, ChildKind kind, std::string_view group,
                          Json& child) const = 0;
};

// PodGroups of scheduling.volcano.sh/v1beta1.
std::unique_ptr<BatchScheduler> make_volcano_batch_scheduler();
// No gangs: pods go to whatever scheduler their template names.
std::unique_ptr<BatchScheduler> make_no_batch_scheduler();

}  // namespace krater::controllers
