// What a controller decides and the loop carries out. Deciding is pure: no client, no clock, no
// log.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "client/cache.h"
#include "client/object_client.h"

namespace krater::controllers {

// An Event for the user. `about` null means the reconciled object.
struct EventNote {
  enum class Type { Normal, Warning };
  Type type = Type::Normal;
  std::string reason, message;
  std::string action{};
  ObjectPtr about{};
  bool current = false;  // one Event for all that is said under the reason, with the newest message
};

// A write, and whether its failure with this code is fine (AlreadyExists for a create with a
// derived name, NotFound for a delete). `on_done`, `on_failed`: told to the user when it happened
// (for a failure the error's message is appended).
struct PlannedWrite {
  client::Write write;
  std::optional<Code> fine_if{};
  std::optional<EventNote> on_done{};
  std::optional<EventNote> on_failed{};
};

struct Outcome {
  enum class What { Done, RequeueAfter, Retry };  // Retry: with the key's back-off
  What what = What::Done;
  Duration after{};
  std::string reason{};
  static Outcome done() { return {}; }
  static Outcome requeue_after(Duration after) { return {What::RequeueAfter, after, {}}; }
  static Outcome retry(std::string reason) { return {What::Retry, {}, std::move(reason)}; }
};

struct Plan {
  // Steps run in order, the writes of one step at once. A failed write that is not fine ends the
  // plan and retries the key with back-off (Code::Conflict without a warning: the next pass reads
  // the newer object).
  std::vector<std::vector<PlannedWrite>> steps{};
  std::vector<EventNote> events{};  // told when all steps are done
  Outcome outcome{};

  // Appends a step of one write.
  Plan& then(PlannedWrite write) {
    steps.push_back({std::move(write)});
    return *this;
  }
};

// Which objects wake which keys. `map` null: the object's own key.
struct Interest {
  Kind kind;
  std::function<std::vector<ObjectKey>(const ObjectPtr& before, const ObjectPtr& after)> map{};
};

// One controller. Level-triggered: reconcile() sees the cache as it is now and may be called at any
// time. The loop guarantees: one pass of a key at a time; the next pass of a key starts only when
// the cache has seen the revision of the key's own last writes, so a controller never acts on a
// past it has changed itself.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual std::string_view name() const = 0;  // "rayjob-controller": event source and log name
  virtual std::vector<Interest> interests() const = 0;
  // Keys to reconcile once at the start, whether their objects exist or not.
  virtual std::vector<ObjectKey> first_keys() const { return {}; }
  virtual Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) = 0;
  // Told of each write of a pass that failed and was not fine (conflicts excepted), before the key
  // is retried: for controllers that report failures in their object's status.
  virtual void write_failed(const ObjectKey&, const PlannedWrite&, const Error&) {}
};

}  // namespace krater::controllers
