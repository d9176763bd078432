#include "controllers/hypernode/hypernode_controller.h"

#include "controllers/hypernode/discovery.h"
#include "controllers/loop/event_source.h"
#include "model/hyper_node.h"
#include "model/hyper_node_book.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kNamespace = "volcano-system";
constexpr std::string_view kConfigMap = "volcano-controller-configmap";
constexpr std::string_view kConfigKey = "volcano-controller.conf";

using hypernode::DiscoveryConfig;

ObjectKey config_key() {
  return ObjectKey::of(kinds::kConfigMap, kNamespace, kConfigMap);
}

// They live as long as what is in the cache now.
std::map<std::string, const Labels*> labels_of_nodes(const client::Cache& cache) {
  std::map<std::string, const Labels*> out;
  for (const ObjectPtr& node : cache.list(kinds::kNode)) {
    if (!node->deletion()) out.emplace(node->name(), &node->labels());
  }
  return out;
}

// What is said of it by others than this controller.
bool same_said(const Object& a, const Object& b) {
  const auto left = a.document(), right = b.document();
  const Json* one = find(*left, {"spec"});
  const Json* other = find(*right, {"spec"});
  return one != nullptr && other != nullptr && *one == *other && a.labels() == b.labels() &&
         a.deletion() == b.deletion();
}

class HyperNodeController final : public Reconciler, public VolcanoEventSource {
 public:
  std::string_view name() const override { return "hypernode-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kHyperNode,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               const Object& one = after ? *after : *before;
               if (before && after && same_said(*before, *after))
                 return std::vector<ObjectKey>{one.key()};
               // Others may hold it.
               return keys_of(after ? book_.put(one.name(), *one.document())
                                    : book_.remove(one.name()));
             }},
            {kinds::kNode,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               if (before && after && before->labels() == after->labels() &&
                   before->deletion() == after->deletion()) {
                 return std::vector<ObjectKey>();
               }
               const bool there = after && !after->deletion();
               return keys_of(there ? book_.put_node(after->name(), after->labels())
                                    : book_.remove_node((after ? after : before)->name()));
             }},
            {kinds::kConfigMap, [](const ObjectPtr& before, const ObjectPtr& after) {
               const ObjectKey key = (after ? after : before)->key();
               return key == config_key() ? std::vector<ObjectKey>{key} : std::vector<ObjectKey>();
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    return key == config_key() ? discover(cache) : count(key, cache);
  }

 private:
  // Their nodes are to be counted, and what the labels of nodes tell may be another thing.
  static std::vector<ObjectKey> keys_of(const HyperNodeBook::Names& hyper_nodes) {
    std::vector<ObjectKey> out;
    for (const std::string& name : hyper_nodes)
      out.push_back(ObjectKey::of(kinds::kHyperNode, "", name));
    out.push_back(config_key());
    return out;
  }

  Plan count(const ObjectKey& key, const client::Cache& cache) const {
    Plan plan;
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || object->deletion()) return plan;
    const std::int64_t found = book_.count(key.name);
    if (int_at(*object->document(), {"status", "nodeCount"}).value_or(0) == found) return plan;
    client::PatchWrite write;
    write.kind = kinds::kHyperNode;
    write.name = key.name;
    write.patch = JsonObject{{"status", JsonObject{{"nodeCount", found}}}};
    write.subresource = "status";
    plan.then({std::move(write), Code::NotFound, {}, {}});
    return plan;
  }

  // Without a configuration nothing is made, and what was made stays.
  Plan discover(const client::Cache& cache) {
    Plan plan;
    const ObjectPtr map = cache.get(config_key());
    if (map == nullptr || map->deletion()) return plan;
    const auto document = map->document();
    const auto text = string_at(*document, {"data", kConfigKey});
    if (!text) return plan;
    Result<DiscoveryConfig> config = hypernode::parse_discovery(*text);
    if (!config) {
      complain(*map, {config.error().message}, plan);
      return plan;
    }
    complain(*map, config->complaints, plan);
    if (config->enabled) settle(*config, cache, plan);
    return plan;
  }

  // Once for each form of the configuration.
  void complain(const Object& map, const std::vector<std::string>& complaints, Plan& plan) {
    if (told_ == map.revision()) return;
    told_ = map.revision();
    for (const std::string& one : complaints) {
      plan.events.push_back({EventNote::Type::Warning, "InvalidNetworkTopologyDiscovery",
                             std::string(kConfigKey) + ": " + one});
    }
  }

  static void settle(const DiscoveryConfig& config, const client::Cache& cache, Plan& plan) {
    const std::vector<ObjectPtr> existing = cache.list(kinds::kHyperNode);
    auto wanted = hypernode::discover(config, labels_of_nodes(cache), existing);
    std::vector<PlannedWrite> writes;
    for (const ObjectPtr& one : existing) {
      const auto place = wanted.find(one->name());
      if (place == wanted.end()) {
        if (one->label(hypernode::kSourceLabel) != hypernode::kSource || one->deletion()) continue;
        client::DeleteWrite write{kinds::kHyperNode, "", one->name()};
        write.only_uid = one->uid();
        writes.push_back({std::move(write), Code::NotFound, {}, {}});
        continue;
      }
      Json object = hypernode::hyper_node_object(place->first, place->second);
      wanted.erase(place);
      const auto document = one->document();
      const Json* said = find(*document, {"spec"});
      const Json* spec = find(object, {"spec"});
      const Json* labels = find(object, {"metadata", "labels"});
      bool labelled = true;
      for (const auto& label : labels->get_object()) {
        labelled =
            labelled && one->label(std::string_view(label.key().data(), label.key().size())) ==
                            view(label.value().get_string());
      }
      if (labelled && said != nullptr && *said == *spec) continue;
      client::PatchWrite write;
      write.kind = kinds::kHyperNode;
      write.name = one->name();
      write.patch = JsonObject{{"metadata", JsonObject{{"labels", *labels}}}, {"spec", *spec}};
      writes.push_back({std::move(write), Code::NotFound, {}, {}});
    }
    for (const auto& [name, found] : wanted) {
      writes.push_back(
          {client::CreateWrite{kinds::kHyperNode, "", hypernode::hyper_node_object(name, found)},
           Code::AlreadyExists,
           {},
           {}});
    }
    if (!writes.empty()) plan.steps.push_back(std::move(writes));
  }

  mutable HyperNodeBook book_;  // as of the cache
  Revision told_{};
};

}  // namespace

std::unique_ptr<Reconciler> make_hyper_node_controller() {
  return std::make_unique<HyperNodeController>();
}

}  // namespace krater::controllers
