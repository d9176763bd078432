#include "scheduler/queue_writer.h"

#include "base/log.h"
#include "model/keys.h"

namespace krater::scheduler {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

}  // namespace

std::map<QueueName, ResourceList> queue_allocations(Cache& cache) {
  std::map<QueueName, Resource> sums;
  for (const auto& [name, queue] : cache.queues()) sums[name];
  for (const auto& [name, jobs] : cache.queue_sums()) {
    QueueName at = name;
    // A loop among parents ends where it began.
    for (std::size_t steps = 0; steps <= sums.size(); ++steps) {
      const QueueInfo* queue = cache.queue(at);
      if (queue == nullptr) break;
      sums[at] += jobs.allocated;
      if (at == QueueName(keys::kRootQueue)) break;
      at = queue->parent.empty() ? QueueName(keys::kRootQueue) : queue->parent;
    }
  }
  std::map<QueueName, ResourceList> out;
  for (const auto& [name, sum] : sums) {
    ResourceList list = sum.to_list(cache.names());
    for (const std::string_view always : {resources::kCpu, resources::kMemory}) {
      if (!list.find(always)) list.set(always, 0);
    }
    out.emplace(name, std::move(list));
  }
  return out;
}

void QueueWriter::flush() {
  for (const auto& [name, allocated] : queue_allocations(cache_)) {
    if (writing_.contains(name)) continue;
    const QueueInfo& queue = *cache_.queue(name);
    auto told = told_.find(name);
    if (told != told_.end() && queue.object->revision() >= told->second.revision) {
      told_.erase(told);  // what is stored is known
      told = told_.end();
    }
    const ResourceList& stored = told == told_.end() ? queue.reported : told->second.allocated;
    if (stored != allocated) write(name, allocated, stored);
  }
}

void QueueWriter::write(const QueueName& queue, const ResourceList& allocated,
                        const ResourceList& before) {
  Json list = allocated.to_json_object();
  for (const auto& [name, amount] : before.amounts()) {
    if (!allocated.find(name)) list.get_object()[name] = nullptr;
  }
  Json patch(boost::json::object_kind);
  set_path(patch, {"status", "allocated"}, std::move(list));
  writing_.insert(queue);
  client_.write(
      client::PatchWrite{kinds::kQueue, "", queue.text(), client::PatchType::Merge,
                         std::move(patch), "status"},
      [this, alive = alive_, queue, allocated](const Result<ObjectPtr>& done) {
        if (!*alive) return;
        writing_.erase(queue);
        if (done) {
          told_[queue] = {allocated, (*done)->revision()};
        } else if (done.error().code != Code::NotFound) {
          log::warn("scheduler.queue.failed", {{"queue", queue}, {"why", done.error().message}});
          loop_.after(kRetry, [this, alive] {
            if (*alive) flush();
          });
        }
      });
}

}  // namespace krater::scheduler
