#include "scheduler/feed.h"

#include <algorithm>
#include <set>

#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::scheduler {

using Place = std::pair<std::string, std::string>;  // namespace, name

struct Feed::Table {
  std::function<void(const ObjectPtr&)> set;
  std::function<void(const std::string& name_space, const std::string& name)> remove;
  std::function<std::vector<Place>()> known;
};

namespace {

std::vector<Place> cluster_scoped(const std::vector<std::string>& names) {
  std::vector<Place> out;
  for (const std::string& name : names) out.emplace_back("", name);
  return out;
}

}  // namespace

void Feed::watch_surroundings(const std::function<bool(const Kind&)>& served) {
  for (const Kind& kind :
       {kinds::kPodDisruptionBudget, kinds::kResourceQuota, kHyperNodeKind, kNumatopologyKind}) {
    if (served && !served(kind)) continue;
    watch({kind}, {[this](const ObjectPtr& one) { cache_.set_surrounding(one); },
                   [this, kind](const std::string& name_space, const std::string& name) {
                     cache_.remove_surrounding(kind, name_space, name);
                   },
                   [this, kind] { return cache_.surrounding_names(kind); }});
  }
}

void Feed::watch_volume_limits(const std::function<bool(const Kind&)>& served) {
  const auto limits = [this]() -> VolumeLimits& { return cache_.edit_volumes().edit_limits(); };
  if (!served || served(kCsiNodeKind)) {
    watch(
        {kCsiNodeKind},
        {[limits](const ObjectPtr& one) { limits().set_csi_node(one); },
         [limits](const std::string&, const std::string& name) { limits().remove_csi_node(name); },
         [this] { return cluster_scoped(cache_.volumes().limits().csi_node_names()); }});
  }
  if (!served || served(kVolumeAttachmentKind)) {
    watch({kVolumeAttachmentKind},
          {[limits](const ObjectPtr& one) { limits().set_attachment(one); },
           [limits](const std::string&, const std::string& name) {
             limits().remove_attachment(name);
           },
           [this] { return cluster_scoped(cache_.volumes().limits().attachment_names()); }});
  }
}

void Feed::watch_spread_defaults(const std::function<bool(const Kind&)>& served) {
  for (const Kind& kind :
       {kinds::kService, kinds::kReplicaSet, kinds::kStatefulSet, kReplicationControllerKind}) {
    if (served && !served(kind)) continue;
    watch({kind}, {[this](const ObjectPtr& one) { cache_.edit_spread_defaults().set(one); },
                   [this, kind](const std::string& name_space, const std::string& name) {
                     cache_.edit_spread_defaults().remove(kind, name_space, name);
                   },
                   [this, kind] { return cache_.spread_defaults().names(kind); }});
  }
}

void Feed::watch_nodes(LabelPairs wanted) {
  const auto set = [this, wanted = std::move(wanted)](const ObjectPtr& one) {
    const bool ours =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&one](const auto& label) {
          return one->label(label.first) == label.second;
        });
    ours ? cache_.set_node(one) : cache_.remove_node(one->name());
  };
  watch({kinds::kNode},
        {set, [this](const std::string&, const std::string& name) { cache_.remove_node(name); },
         [this] { return cluster_scoped(cache_.node_names()); }});
}

void Feed::start(const ConfigPlace& config, const std::function<bool(const Kind&)>& served,
                 LabelPairs nodes) {
  // Classes and queues first: jobs are read in their light.
  watch(
      {kinds::kPriorityClass},
      {[this](const ObjectPtr& one) { cache_.set_priority_class(one); },
       [this](const std::string&, const std::string& name) { cache_.remove_priority_class(name); },
       [this] { return cluster_scoped(cache_.priority_class_names()); }});
  watch({kinds::kNamespace},
        {[this](const ObjectPtr& one) { cache_.set_namespace(one); },
         [this](const std::string&, const std::string& name) { cache_.remove_namespace(name); },
         [this] { return cluster_scoped(cache_.namespace_names()); }});
  watch({kinds::kQueue},
        {[this](const ObjectPtr& one) { cache_.set_queue(one); },
         [this](const std::string&, const std::string& name) { cache_.remove_queue(name); },
         [this] { return cluster_scoped(cache_.queue_names()); }});
  watch({kinds::kStorageClass},
        {[this](const ObjectPtr& one) { cache_.edit_volumes().set_class(one); },
         [this](const std::string&, const std::string& name) {
           cache_.edit_volumes().remove_class(name);
         },
         [this] { return cluster_scoped(cache_.volumes().class_names()); }});
  watch({kinds::kPersistentVolume},
        {[this](const ObjectPtr& one) { cache_.edit_volumes().set_volume(one); },
         [this](const std::string&, const std::string& name) {
           cache_.edit_volumes().remove_volume(name);
         },
         [this] { return cluster_scoped(cache_.volumes().volume_names()); }});
  watch({kinds::kPersistentVolumeClaim},
        {[this](const ObjectPtr& one) { cache_.edit_volumes().set_claim(one); },
         [this](const std::string& name_space, const std::string& name) {
           cache_.edit_volumes().remove_claim(name_space, name);
         },
         [this] { return cache_.volumes().claim_names(); }});
  watch_nodes(std::move(nodes));
  watch({kinds::kPodGroup}, {[this](const ObjectPtr& one) { cache_.set_group(one); },
                             [this](const std::string& name_space, const std::string& name) {
                               cache_.remove_group(name_space, name);
                             },
                             [this] { return cache_.group_names(); }});
  watch({kinds::kPod}, {[this](const ObjectPtr& one) { set_pod(one); },
                        [this](const std::string& name_space, const std::string& name) {
                          cache_.remove_pod(name_space, name);
                        },
                        [this] { return cache_.pod_names(); }});
  watch_surroundings(served);
  watch_spread_defaults(served);
  watch_volume_limits(served);
  watch_config(config);
}

// Of those that were there before, nobody knows when they were seen first.
void Feed::set_pod(const ObjectPtr& pod) {
  const bool fresh = synced() && !cache_.knows_pod(*pod);
  cache_.set_pod(pod);
  if (!fresh || !handlers_.arrived) return;
  if (const TaskSpecPtr task = cache_.pending_task(*pod)) handlers_.arrived(*task);
}

void Feed::listed() {
  if (unlisted_ > 0) --unlisted_;
}

void Feed::watch(client::WatchQuery query, Table table) {
  ++unlisted_;
  client::WatchHandlers handlers;
  handlers.on_replace = [this, table, first = true](const std::vector<ObjectPtr>& all,
                                                    Revision) mutable {
    std::set<Place> gone;
    for (Place& place : table.known()) gone.insert(std::move(place));
    for (const ObjectPtr& object : all) {
      gone.erase({object->name_space(), object->name()});
      table.set(object);
    }
    for (const Place& place : gone) table.remove(place.first, place.second);
    if (std::exchange(first, false)) listed();
    handlers_.changed();
  };
  handlers.on_upsert = [this, table](const ObjectPtr& object) {
    table.set(object);
    handlers_.changed();
  };
  handlers.on_remove = [this, table](const ObjectPtr& object) {
    table.remove(object->name_space(), object->name());
    handlers_.changed();
  };
  subscriptions_.push_back(client_.watch(std::move(query), std::move(handlers)));
}

void Feed::watch_config(const ConfigPlace& place) {
  ++unlisted_;
  client::WatchQuery query{kinds::kConfigMap, place.name_space, "", "metadata.name=" + place.name};
  client::WatchHandlers handlers;
  handlers.on_replace = [this, place, first = true](const std::vector<ObjectPtr>& all,
                                                    Revision) mutable {
    ObjectPtr found;
    for (const ObjectPtr& object : all) {
      if (object->name() == place.name) found = object;
    }
    handlers_.config(found);
    if (std::exchange(first, false)) listed();
    handlers_.changed();
  };
  handlers.on_upsert = [this, place](const ObjectPtr& object) {
    if (object->name() != place.name) return;
    handlers_.config(object);
    handlers_.changed();
  };
  handlers.on_remove = [this, place](const ObjectPtr& object) {
    if (object->name() != place.name) return;
    handlers_.config(nullptr);
    handlers_.changed();
  };
  subscriptions_.push_back(client_.watch(std::move(query), std::move(handlers)));
}

}  // namespace krater::scheduler
