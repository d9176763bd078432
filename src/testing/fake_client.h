// An ObjectClient in memory that enforces what the real one does: uids, revisions, conflicts,
// generation on spec changes, finalizers, the binding rule. No schemas, no admission; every patch
// is applied as a merge patch. Answers and events are posted to the loop. Any write can be failed
// on purpose.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::testing {

class FakeClient final : public client::ObjectClient {
 public:
  FakeClient(Loop& loop, const WallClock& clock) : loop_(loop), clock_(clock) {}

  void get(const Kind& kind, const std::string& name_space, const std::string& name,
           client::Callback<ObjectPtr> done) override;
  void write(client::Write write, client::Callback<ObjectPtr> done) override;
  void transact(std::vector<client::Write> writes,
                client::Callback<std::vector<ObjectPtr>> done) override;
  std::unique_ptr<client::Subscription> watch(client::WatchQuery query,
                                              client::WatchHandlers handlers) override;

  // At once, for arranging a test. CHECKs that it succeeds.
  ObjectPtr put(const Kind& kind, Json object);
  ObjectPtr read(const Kind& kind, const std::string& name_space, const std::string& name) const;
  std::vector<ObjectPtr> all(const Kind& kind) const;
  Result<ObjectPtr> apply(const client::Write& write);
  // Asked before every write(): an Error fails it.
  std::function<std::optional<Error>(const client::Write&)> fail{};
  // Asked before every get().
  std::function<std::optional<Error>(const ObjectKey&)> fail_get{};
  // Deleted pods that are on a node stay, marked, until they are deleted with no grace.
  bool graceful = false;
  // Every write that was asked for, in order.
  std::vector<client::Write> writes{};

 private:
  struct Watcher {
    client::WatchQuery query;
    client::WatchHandlers handlers;
  };
  struct Handle;
  Result<ObjectPtr> create(const client::CreateWrite& write);
  Result<ObjectPtr> update(const client::UpdateWrite& write);
  Result<ObjectPtr> patch(const client::PatchWrite& write);
  Result<ObjectPtr> remove(const client::DeleteWrite& write);
  Result<ObjectPtr> bind(const client::BindWrite& write);
  Result<ObjectPtr> store(const ObjectKey& key, Json object);
  ObjectPtr erase(const ObjectKey& key);
  void tell(const ObjectKey& key, const ObjectPtr& object, bool removed);

  Loop& loop_;
  const WallClock& clock_;
  std::map<ObjectKey, ObjectPtr> objects_;
  std::list<std::shared_ptr<Watcher>> watchers_;
  struct Told {
    ObjectKey key;
    ObjectPtr object;
    bool removed = false;
  };
  bool holding_ = false;  // in a transaction: changes are told when it is through
  std::vector<Told> held_;
  std::int64_t revision_ = 0;
};

// RFC 7386.
void merge_patch(Json& target, const Json& patch);

}  // namespace krater::testing
