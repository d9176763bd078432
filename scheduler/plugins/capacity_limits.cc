#include "scheduler/plugins/capacity_limits.h"

#include <optional>

namespace krater::scheduler {
namespace {

// Of root without an own limit: what all nodes have.
bool is_cluster(const Session& session, const CapacityBook& book, const LimitSource& source,
                Dim dim) {
  if (source.queue != book.tree().root()) return false;
  return source.queue >= session.queue_count() ||
         !session.queue(source.queue).capability.has(dim) ||
         session.queue(source.queue).capability.at(dim) > source.amount;
}

}  // namespace

LimitSource source_of_limit(const Session& session, const CapacityBook& book, QueueId queue,
                            Dim dim) {
  LimitSource out;
  const std::vector<QueueId>& path = book.path(queue);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::int64_t limit = book.of(path[i]).account.real_capability.at(dim);
    out.queue = path[i];
    out.amount = limit;
    if (path[i] == book.tree().root()) return out;
    if (session.queue(path[i]).capability.at(dim) == limit) return out;
    for (const QueueId sibling : book.tree().children(path[i + 1])) {
      if (sibling != path[i]) out.guaranteed += session.guarantee(sibling).at(dim);
    }
  }
  return out;
}

void name_sources(const Session& session, const CapacityBook& book, QueueId queue, QueueId limited,
                  Refusal& why) {
  if (limited != queue)
    why.figures += "; it is above queue \"" + session.queue(queue).name.text() + "\"";
  for (Shortfall& one : why.shortfalls) {
    const std::optional<Dim> dim = session.names().find(one.resource);
    if (!dim) continue;
    const LimitSource source = source_of_limit(session, book, limited, *dim);
    if (source.queue == limited) continue;
    const bool cluster = is_cluster(session, book, source, *dim);
    const std::string name = cluster ? "" : session.queue(source.queue).name.text();
    one.set_by = cluster ? "cluster" : "queue " + name;
    one.guaranteed = source.guaranteed;
    why.figures +=
        "; " +
        (cluster ? std::string("the cluster has ") : "queue \"" + name + "\" above it may hold ") +
        session.names().text(*dim, source.amount);
    if (source.guaranteed > 0) {
      why.figures += ", of which " + resource_text(one.resource, source.guaranteed) +
                     " is guaranteed to other queues";
    }
  }
}

}  // namespace krater::scheduler
