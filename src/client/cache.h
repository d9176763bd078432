// Informer cache: what one Loop knows of some kinds, kept current by watches, indexed by namespace
// and owner. Lives on one loop; no locks. Reads are immutable objects and never wait.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/object_client.h"

namespace krater::client {

class Cache {
 public:
  // Exactly one of the two may be null: an addition has no `before`, a removal no `after`; its
  // `before` is the last state there was.
  using Handler = std::function<void(const ObjectPtr& before, const ObjectPtr& after)>;

  explicit Cache(ObjectClient& client) : client_(client) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Starts watching. At most once for a kind.
  void add(WatchQuery query);
  // Forgets a kind that is not served any more: handlers see its objects go, and are gone then
  // themselves. Whoever waits for it is told.
  void drop(std::string_view resource);
  // Goes on with the same objects in another version of their kind, which must be watched.
  void follow(const Kind& kind);
  // Handlers run after the change is visible here, in order of registration.
  void on_change(const Kind& kind, Handler handler);
  // True when every added kind has been listed once.
  bool synced() const;
  // Runs once when synced() turns true (at once if it is).
  void when_synced(std::function<void()> ready);

  ObjectPtr get(const Kind& kind, std::string_view name_space, std::string_view name) const;
  ObjectPtr get(const ObjectKey& key) const;
  // By name order. An empty namespace lists all.
  std::vector<ObjectPtr> list(const Kind& kind, std::string_view name_space = {}) const;
  // Objects of `kind` whose controller reference has this uid, by name order.
  std::vector<ObjectPtr> controlled_by(const Kind& kind, const Uid& owner) const;
  std::size_t count(const Kind& kind) const;
  // Newest revision applied for the kind (from an event, a list or a bookmark).
  Revision seen(const Kind& kind) const;
  Revision seen(std::string_view resource) const;
  bool watches(std::string_view resource) const;
  // Runs once when seen() has reached `revision` (at once if it has), after the handlers.
  void when_seen(std::string_view resource, Revision revision, std::function<void()> ready);

 private:
  using Place = std::pair<std::string, std::string>;  // namespace, name
  struct Table {
    std::map<Place, ObjectPtr> objects;
    std::unordered_map<Uid, std::set<Place>> by_controller;
    std::vector<Handler> handlers;
    std::unique_ptr<Subscription> subscription;
    Revision seen;
    bool listed = false;
    std::multimap<Revision, std::function<void()>> awaited;
  };

  void subscribe(Table& table, WatchQuery query);
  void replace(Table& table, std::vector<ObjectPtr> all, Revision at);
  void upsert(Table& table, ObjectPtr object);
  // `last`: as it was in the end, where that is known.
  void remove(Table& table, const Place& place, ObjectPtr last = nullptr);
  void index(Table& table, const Object& object, bool present);
  void advance(Table& table, Revision at);
  void announce_if_synced();
  const Table* table_of(const Kind& kind) const;

  ObjectClient& client_;
  std::map<std::string, Table, std::less<>> tables_;  // by Kind::resource(); addresses are stable
  std::vector<std::function<void()>> waiting_;
};

}  // namespace krater::client
