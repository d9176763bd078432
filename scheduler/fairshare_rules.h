// What the configuration asks of the plugin fairshare: whose usage is counted, of what, and how
// long it is remembered. Read once, shared by the sessions' plugins and by the book that counts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/time.h"
#include "scheduler/decay.h"
#include "scheduler/info.h"

namespace krater::scheduler {

struct FairshareRules {
  Duration half_life = std::chrono::hours(4);
  std::set<std::string> queues{};  // that it is about; none: all
  std::string resource = "nvidia.com/gpu";
  std::map<std::string, std::string> resource_of_queue{};
  // Of resources, per mille: what is counted is their weighted sum then, in cores, GiB and devices.
  std::map<std::string, std::int64_t> resource_weights{};
  std::string user_key{};                              // label or annotation; "": the namespace
  std::map<std::string, std::int64_t> user_weights{};  // per mille; others 1000
  bool gate = false;
  bool persist = true;
  std::string state_namespace = "volcano-system", state_name = "fairshare-usage-state";
  Duration flush_every = std::chrono::seconds(30);
  friend bool operator==(const FairshareRules&, const FairshareRules&) = default;

  bool about(const QueueName& queue) const {
    return queues.empty() || queues.contains(queue.text());
  }
  std::int64_t weight_of(const std::string& user) const;
  // What is counted in a queue, in one word: "cpu", "cpu=1000,memory=250".
  std::string measure(const QueueName& queue) const;
  // As people say it: "cpu", "weighted".
  std::string measure_name(const QueueName& queue) const;
  // Units: of one resource Volcano's (milli-cores, bytes of memory, thousandths of anything else),
  // of a weighted sum millionths. At most Decay::kMostRate.
  Wide units(const QueueName& queue, const Resource& amounts, const ResourceNames& names) const;
  // So many of them are a core, a GiB or a device.
  Wide units_of_one(const QueueName& queue) const;
  // The owner of a PodGroup, or of a pod without one.
  std::string user_of(const ObjectPtr& object) const;

 private:
  const std::string& resource_in(const QueueName& queue) const;
};

// "12 cpu-hours": two digits, never finer than a hundredth of an hour, so that it does not change
// all the time. `unit_seconds`: as above.
std::string usage_text(const FairshareRules& rules, const QueueName& queue, Wide unit_seconds);

}  // namespace krater::scheduler
