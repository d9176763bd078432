// The one door to objects for controllers, scheduler and agent. Two implementations: in-process
// (api/) and over HTTPS (client/http_object_client). Each client is welded to one Loop: it is
// called on it and answers on it. Nothing here blocks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/object.h"

namespace krater::client {

enum class PatchType { Json, Merge, StrategicMerge, Apply };
enum class Propagation { Default, Background, Foreground, Orphan };

struct CreateWrite {
  Kind kind;
  std::string name_space;  // "" for cluster scope
  Json object;             // apiVersion and kind may be left out
  // A POST to a subresource of `name`, e.g. serviceaccounts/token; the answer is what it returns.
  std::string name{}, subresource{};
};
// Guarded by metadata.resourceVersion of `object` when it has one.
struct UpdateWrite {
  Kind kind;
  std::string name_space, name;
  Json object;
  std::string subresource{};  // "" or "status"
};
struct PatchWrite {
  Kind kind;
  std::string name_space, name;
  PatchType type = PatchType::Merge;
  Json patch;
  std::string subresource{};
  std::optional<Revision> only_if{};  // Code::Conflict when the object has moved on
};
// Absent objects are Code::NotFound; callers that want "gone" treat that as success.
struct DeleteWrite {
  Kind kind;
  std::string name_space, name;
  Propagation propagation = Propagation::Default;
  std::optional<Uid> only_uid{};
  std::optional<Revision> only_if{};
  std::optional<std::int64_t> grace_seconds{};
};
// pods/binding: sets spec.nodeName and the PodScheduled condition. Code::Conflict when already
// bound elsewhere.
struct BindWrite {
  std::string name_space, pod;
  Uid pod_uid;
  NodeName node;
  Labels annotations{};  // merged into the pod's
};
using Write = std::variant<CreateWrite, UpdateWrite, PatchWrite, DeleteWrite, BindWrite>;

ObjectKey key_of(const Write& write);  // a create with generateName has an empty name

// What a watch selects. Empty members select everything.
struct WatchQuery {
  Kind kind;
  std::string name_space{};
  std::string label_selector{};
  std::string field_selector{};
};

// All called on the client's loop, in revision order. The client lists, watches, resumes, and lists
// again after 410 by itself; on_replace tells the whole truth at `at`, everything not in it is
// gone.
struct WatchHandlers {
  std::function<void(std::vector<ObjectPtr> all, Revision at)> on_replace;
  std::function<void(ObjectPtr object)> on_upsert;
  // The last state, carrying the revision of the deletion.
  std::function<void(ObjectPtr object)> on_remove;
  // Everything up to `at` has been delivered (bookmark).
  std::function<void(Revision at)> on_progress{};
};

// Dropping it ends the watch; no handler runs afterwards.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

template <typename T>
using Callback = std::function<void(Result<T>)>;

class ObjectClient {
 public:
  virtual ~ObjectClient() = default;
  virtual void get(const Kind& kind, const std::string& name_space, const std::string& name,
                   Callback<ObjectPtr> done) = 0;
  // The object as stored afterwards; for a delete its last state.
  virtual void write(Write write, Callback<ObjectPtr> done) = 0;
  // All or nothing, in one commit, in order. Only in-process clients support it (others:
  // Code::MethodNotAllowed). The error of the first write that cannot be done; its index stands in
  // Error.causes[0].field as "[i]".
  virtual void transact(std::vector<Write> writes, Callback<std::vector<ObjectPtr>> done) = 0;
  virtual std::unique_ptr<Subscription> watch(WatchQuery query, WatchHandlers handlers) = 0;
};

}  // namespace krater::client
