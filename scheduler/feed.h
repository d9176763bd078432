// Watches to cache: subscribes to the kinds the scheduler looks at and keeps the Cache up with
// them. Lives on the client's loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "client/object_client.h"
#include "scheduler/cache.h"

namespace krater::scheduler {

class Feed {
 public:
  struct Handlers {
    std::function<void()> changed;  // the cache is not what it was
    std::function<void(const ObjectPtr& config)>
        config;  // the scheduler's ConfigMap; null: there is none
    std::function<void(const TaskSpec&)> arrived{};  // a pod that is new, and waits for a node
  };
  struct ConfigPlace {
    std::string name_space, name;
  };

  Feed(client::ObjectClient& client, Cache& cache, Handlers handlers)
      : client_(client), cache_(cache), handlers_(std::move(handlers)) {}
  using LabelPairs = std::vector<std::pair<std::string, std::string>>;
  // `served`: whether the server knows the kind, asked for those it need not know; null: it does.
  // `nodes`: those with one of these labels are there, all when it is empty.
  void start(const ConfigPlace& config, const std::function<bool(const Kind&)>& served,
             LabelPairs nodes = {});
  void stop() { subscriptions_.clear(); }
  // Every kind has been listed once.
  bool synced() const { return unlisted_ == 0 && !subscriptions_.empty(); }

 private:
  struct Table;  // how one kind enters and leaves the cache
  void watch(client::WatchQuery query, Table table);
  void watch_surroundings(const std::function<bool(const Kind&)>& served);
  void watch_volume_limits(const std::function<bool(const Kind&)>& served);
  void watch_spread_defaults(const std::function<bool(const Kind&)>& served);
  void watch_nodes(LabelPairs wanted);
  void watch_config(const ConfigPlace& config);
  void set_pod(const ObjectPtr& pod);
  void listed();

  client::ObjectClient& client_;
  Cache& cache_;
  Handlers handlers_;
  std::vector<std::unique_ptr<client::Subscription>> subscriptions_;
  int unlisted_ = 0;
};

}  // namespace krater::scheduler
