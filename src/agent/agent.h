// The node agent: registers its nodes, watches the pods bound to them, and keeps a PodWorker for
// each. One agent serves one real node, or thousands of simulated ones with one shared watch. Lives
// on one loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/context.h"
#include "agent/node/facts.h"
#include "agent/node/registrar.h"
#include "agent/pod/worker.h"
#include "agent/runtime.h"

namespace krater::agent {

struct AgentDeps {
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  Rng& rng;
  Runtime& runtime;
  HttpClient* http = nullptr;  // the four: null with the simulated runtime
  TcpDialer* dialer = nullptr;
  GrpcHealth* grpc = nullptr;
  ContentBuilder* content = nullptr;
  NodeWatch node_watch{};
};

class Agent final : public RuntimeListener {
 public:
  // At least one node. `info` is shared by all.
  Agent(AgentDeps deps, std::vector<NodeFacts> nodes, NodeInfo info);
  ~Agent() override;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Takes over what the runtime still has, then watches and registers.
  void start();
  // Ends every pod of these nodes, as `--stop-pods` asks; `done` runs when nothing of them is left
  // here. Their objects stay: a later agent tells what became of them. Nothing else may be asked of
  // this agent afterwards.
  void end_pods(std::function<void()> done);
  // For logs and exec: the pod by uid, or nullptr.
  const PodWorker* worker(const std::string& uid) const;
  std::size_t pods() const { return workers_.size(); }
  // True once every pod of an earlier life has a worker or has been cleaned up.
  bool caught_up() const { return listed_; }

  void on_container_exit(const std::string& uid, const std::string& container, int attempt,
                         const ExitInfo& exit) override;
  void on_sandbox_lost(const std::string& uid) override;

 private:
  struct Node {
    NodeFacts facts;
    std::unique_ptr<client::EventRecorder> events;
    std::unique_ptr<Context> context;
    std::unique_ptr<Registrar> registrar;
  };

  void watch();
  void pods_replaced(const std::vector<ObjectPtr>& all);
  void pod_changed(const ObjectPtr& pod);
  void pod_removed(const ObjectPtr& pod);
  void clear_orphans();
  void remove_orphan(const std::string& uid);
  void refresh_contents();
  void pod_over(const std::string& uid);
  Node* node_of(const Object& pod);

  AgentDeps deps_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::unique_ptr<PodWorker>> workers_;  // by uid
  std::map<std::string, Sandbox> adoptable_;  // by uid, until the first list of pods
  // What the runtime tells of pods that have no worker yet: an agent hears of ends while it still
  // waits for the first list. Told to the worker once there is one; dropped after the list.
  struct EarlyNews {
    struct End {
      std::string container;
      int attempt;
      ExitInfo exit;
    };
    std::vector<End> ends;
    bool lost = false;
  };
  std::map<std::string, EarlyNews> early_;  // by uid
  std::unique_ptr<client::Subscription> pods_, node_watch_;
  bool listed_ = false, ending_ = false;
  std::function<void()> all_ended_;  // of end_pods
  Loop::TimerId refresh_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
