// THE ONE DOOR to objects: HTTP requests and in-process components come through here and nowhere
// else. A write runs decode -> defaults -> admission -> validation -> precondition -> one store
// transaction; what is answered is durable. Reads answer at once from the store's index.
//
// Threads: any. Reads and the checking of writes run on the caller's thread. A write's callback
// runs once: inline when the write is refused, changes nothing or is a dry run, else on the store's
// writer thread: hand over, do not work there. Work that must be redone after a lost race is handed
// to RegistryDeps::offload; what waits for webhooks goes on where their answers come in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/settings.h"
#include "api/machinery/schema.h"
#include "api/registry/request.h"
#include "api/registry/watch.h"
#include "base/env.h"
#include "client/object_client.h"
#include "storage/store.h"

namespace krater::api {

class HookCaller;

struct RegistryDeps {
  storage::Store& store;  // opened with object_decoder()
  const SchemaSet& schemas;
  const WallClock& clock;
  Rng& rng;
  // Where a write that lost a race is prepared again; null: on the store's writer thread.
  std::function<void(std::function<void()>)> offload{};
  AdmissionSettings admission{};
  // Asks admission webhooks, and goes on with the write where it answers; null: nobody is asked.
  HookCaller* hooks = nullptr;
};

class Registry {
 public:
  using Done = std::function<void(Result<Answer>)>;
  using ManyDone = std::function<void(Result<std::vector<Answer>>)>;

  virtual ~Registry() = default;

  // Create, update, patch, delete or bind (client/object_client.h). The kind names the served
  // version. Subresources of updates and patches: "", "status"; "finalize" for namespaces;
  // "ephemeralcontainers" for pods; "scale" (a Scale in, the scaled object out; scale.h) for kinds
  // that have it.
  virtual void write(client::Write write, RequestInfo info, Done done) = 0;
  // All writes in one store transaction, in order, each seeing the ones before it. The error of the
  // first write that cannot be done carries its index as causes[0].field "[i]".
  virtual void transact(std::vector<client::Write> writes, RequestInfo info, ManyDone done) = 0;
  // policy/v1 Eviction: a delete that the pod's disruption budget must allow.
  virtual void evict(client::DeleteWrite options, RequestInfo info, Done done) = 0;
  // Deletes what the query selects, one by one; what vanished meanwhile is left out of the answer.
  virtual void delete_collection(const Kind& kind, ListQuery query, client::DeleteWrite options,
                                 RequestInfo info, ManyDone done) = 0;

  // Code::NotFound when absent. `resource_version`: as in the query ("", "0" or a revision that
  // must have happened).
  virtual Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                                std::string_view name,
                                std::string_view resource_version = {}) const = 0;
  virtual Result<ListResult> list(const Kind& kind, const ListQuery& query) const = 0;
  // `notify` is called on the store's writer thread.
  virtual Result<std::unique_ptr<Watch>> watch(const Kind& kind, const WatchQuery& query,
                                               std::function<void()> notify) const = 0;

  // Creates the namespaces and priority classes that every cluster has, where missing. Once at
  // start, before serving.
  virtual void create_defaults(std::function<void(Result<void>)> done) = 0;
  // Deletes events that nobody touched for an hour. Call about every minute.
  virtual void expire_events() = 0;
  virtual const SchemaSet& schemas() const = 0;
  // Of the newest write that can be read.
  virtual Revision revision() const = 0;
};

std::unique_ptr<Registry> make_registry(RegistryDeps deps);

// The decoder the store must be opened with: makes an Object of every version.
storage::Decode object_decoder();

// The body of a delete's answer: the object while it is there (and for some kinds always), else a
// Status.
Bytes delete_body(const Kind& kind, const Answer& answer);
// The body of a deletecollection's answer.
std::string delete_collection_body(const KindSchema& schema, const std::vector<Answer>& answers,
                                   Revision at);

}  // namespace krater::api
