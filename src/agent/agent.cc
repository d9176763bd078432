#include "agent/agent.h"

#include <utility>

#include "agent/content/builder.h"
#include "agent/pod/adopt.h"
#include "base/check.h"
#include "base/log.h"

namespace krater::agent {
namespace {

// Volumes follow their sources at this pace, as a kubelet's sync does.
constexpr Duration kRefreshBeat = std::chrono::seconds(30);
constexpr Duration kLeaseSpread = std::chrono::seconds(10);
constexpr Duration kRetry = std::chrono::seconds(1);

}  // namespace

Agent::Agent(AgentDeps deps, std::vector<NodeFacts> nodes, NodeInfo info) : deps_(deps) {
  CHECK(!nodes.empty());
  for (NodeFacts& facts : nodes) {
    Node& node = nodes_[facts.name];
    node.facts = std::move(facts);
    node.events = std::make_unique<client::EventRecorder>(deps.client, deps.loop, deps.clock,
                                                          "kubelet", node.facts.name);
    node.context = std::make_unique<Context>(
        Context{deps.client, deps.loop, deps.clock, deps.rng, deps.runtime, *node.events,
                node.facts, deps.http, deps.dialer, deps.grpc, deps.content,
                [this, alive = std::weak_ptr<bool>(alive_)](const std::string& uid) {
                  if (!alive.expired()) pod_over(uid);
                }});
    node.registrar = std::make_unique<Registrar>(deps.client, deps.loop, deps.clock, *node.events,
                                                 node.facts, info, deps.node_watch);
  }
}

Agent::~Agent() {
  deps_.loop.cancel(refresh_timer_);
  deps_.runtime.set_listener(nullptr);
}

void Agent::pod_over(const std::string& uid) {
  const auto place = workers_.find(uid);
  if (place == workers_.end() || !place->second->over()) return;
  if (deps_.content != nullptr) deps_.content->forget(uid);
  workers_.erase(place);
  if (workers_.empty() && all_ended_) std::exchange(all_ended_, nullptr)();
}

void Agent::end_pods(std::function<void()> done) {
  ending_ = true;
  pods_.reset();
  if (workers_.empty()) return deps_.loop.post(std::move(done));
  all_ended_ = std::move(done);
  for (auto& [uid, worker] : workers_) worker->removed();
}

void Agent::start() {
  deps_.runtime.set_listener(this);
  std::size_t index = 0;
  for (auto& [name, node] : nodes_) {
    node.registrar->start(kLeaseSpread / static_cast<std::int64_t>(nodes_.size()) *
                          static_cast<std::int64_t>(index++));
  }
  deps_.runtime.list(
      [this, alive = std::weak_ptr<bool>(alive_)](Result<std::vector<Sandbox>> found) {
        if (alive.expired()) return;
        if (!found) {
          log::error("agent.adoption_failed", {{"why", found.error().message}});
        } else {
          for (Sandbox& one : *found) {
            std::string uid = one.uid;
            adoptable_.emplace(std::move(uid), std::move(one));
          }
        }
        watch();
      });
  refresh_timer_ = deps_.loop.after(kRefreshBeat, [this] { refresh_contents(); });
}

void Agent::watch() {
  if (ending_) return;
  const bool single = nodes_.size() == 1;
  const std::string& name = nodes_.begin()->first;
  client::WatchHandlers pods;
  pods.on_replace = [this](const std::vector<ObjectPtr>& all, Revision) { pods_replaced(all); };
  pods.on_upsert = [this](const ObjectPtr& pod) { pod_changed(pod); };
  pods.on_remove = [this](const ObjectPtr& pod) { pod_removed(pod); };
  pods_ = deps_.client.watch(
      {kinds::kPod, {}, {}, single ? "spec.nodeName=" + name : std::string()}, std::move(pods));

  client::WatchHandlers nodes;
  const auto registrar_of = [this](const ObjectPtr& object) -> Registrar* {
    const auto place = nodes_.find(object->name());
    return place == nodes_.end() ? nullptr : place->second.registrar.get();
  };
  nodes.on_replace = [registrar_of](const std::vector<ObjectPtr>& all, Revision) {
    for (const ObjectPtr& one : all) {
      if (Registrar* registrar = registrar_of(one)) registrar->seen(one);
    }
  };
  nodes.on_upsert = [registrar_of](const ObjectPtr& object) {
    if (Registrar* registrar = registrar_of(object)) registrar->seen(object);
  };
  nodes.on_remove = [registrar_of](const ObjectPtr& object) {
    if (Registrar* registrar = registrar_of(object)) registrar->removed();
  };
  node_watch_ = deps_.client.watch(
      {kinds::kNode, {}, {}, single ? "metadata.name=" + name : std::string()}, std::move(nodes));
}

Agent::Node* Agent::node_of(const Object& pod) {
  const std::shared_ptr<const Json> document = pod.document();
  const auto name = string_at(*document, {"spec", "nodeName"});
  const auto place = name ? nodes_.find(std::string(*name)) : nodes_.end();
  return place == nodes_.end() ? nullptr : &place->second;
}

void Agent::pods_replaced(const std::vector<ObjectPtr>& all) {
  std::map<std::string, bool> there;
  for (const ObjectPtr& pod : all) there[pod->uid().text()] = true;
  for (auto& [uid, worker] : workers_) {
    if (!there.contains(uid)) worker->removed();
  }
  for (const ObjectPtr& pod : all) pod_changed(pod);
  if (!listed_) {
    listed_ = true;
    early_.clear();
    clear_orphans();
  }
}

void Agent::pod_changed(const ObjectPtr& pod) {
  const auto place = workers_.find(pod->uid().text());
  if (place != workers_.end()) return place->second->update(pod);
  Node* node = node_of(*pod);
  if (node == nullptr) return;
  const auto remains = adoptable_.find(pod->uid().text());
  const Sandbox* adopted = remains == adoptable_.end() ? nullptr : &remains->second;
  // Only what ran before this agent's time can be recalled.
  std::optional<ToldByApi> told;
  if (adopted == nullptr && !listed_) told = told_by_api(PodView(pod));
  if (told) {
    SandboxSpec spec;
    spec.uid = pod->uid().text();
    spec.annotations = PodView(pod).annotations();
    if (deps_.runtime.recall(spec, told->sandbox.ip, told->running)) adopted = &told->sandbox;
  }
  auto worker = std::make_unique<PodWorker>(*node->context, pod, adopted);
  PodWorker& started = *worker;
  workers_.emplace(pod->uid().text(), std::move(worker));
  if (remains != adoptable_.end()) adoptable_.erase(remains);
  started.start();
  const auto early = early_.find(pod->uid().text());
  if (early == early_.end()) return;
  const EarlyNews news = std::move(early->second);
  early_.erase(early);
  for (const EarlyNews::End& end : news.ends)
    started.container_exited(end.container, end.attempt, end.exit);
  if (news.lost) started.sandbox_lost();
}

void Agent::pod_removed(const ObjectPtr& pod) {
  if (const auto place = workers_.find(pod->uid().text()); place != workers_.end())
    place->second->removed();
}

// What the runtime has and the API does not know any more.
void Agent::clear_orphans() {
  std::map<std::string, Sandbox> orphans;
  orphans.swap(adoptable_);
  for (const auto& [uid, sandbox] : orphans) {
    log::info("agent.orphan", {{"uid", uid}});
    remove_orphan(uid);
  }
}

void Agent::remove_orphan(const std::string& uid) {
  deps_.runtime.remove_sandbox(
      uid, [this, uid, alive = std::weak_ptr<bool>(alive_)](Result<bool> removed) {
        if (alive.expired()) return;
        if (removed) return deps_.runtime.forget(uid);
        log::warn("agent.orphan_stays", {{"uid", uid}, {"why", removed.error().message}});
        deps_.loop.after(kRetry, [this, uid, alive] {
          if (!alive.expired()) remove_orphan(uid);
        });
      });
}

void Agent::refresh_contents() {
  refresh_timer_ = deps_.loop.after(kRefreshBeat, [this] { refresh_contents(); });
  for (auto& [uid, worker] : workers_) {
    worker->refresh_content();
    worker->check_limits();
  }
}

const PodWorker* Agent::worker(const std::string& uid) const {
  const auto place = workers_.find(uid);
  return place == workers_.end() ? nullptr : place->second.get();
}

void Agent::on_container_exit(const std::string& uid, const std::string& container, int attempt,
                              const ExitInfo& exit) {
  if (const auto place = workers_.find(uid); place != workers_.end())
    return place->second->container_exited(container, attempt, exit);
  if (!listed_) early_[uid].ends.push_back({container, attempt, exit});
}

void Agent::on_sandbox_lost(const std::string& uid) {
  if (const auto place = workers_.find(uid); place != workers_.end())
    return place->second->sandbox_lost();
  if (!listed_) early_[uid].lost = true;
}

}  // namespace krater::agent
