#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/registry/keys.h"
#include "base/check.h"
#include "base/log_count.h"
#include "base/quantity.h"
#include "sim/load.h"
#include "sim/outcome.h"
#include "sim/store_layers.h"
#include "sim/submitter.h"
#include "storage/rocksdb_store.h"

namespace krater::sim {
namespace {

// Before the first submission: nodes register, queues are there.
constexpr Duration kQuiet = 5s;
// A rule of the end holds when it has held for this long.
constexpr int kSteadySeconds = 3;

std::unique_ptr<storage::FaultyStore> open_store(Judge& judge, Rng& rng, Loop& lane) {
  storage::OpenOptions options;
  options.path = "/world";
  options.in_memory = true;
  options.writer_thread = false;
  options.decode = api::object_decoder();
  auto store = storage::open_rocksdb(std::move(options));
  CHECK(store.has_value());
  ObservedStore::Eyes eyes;
  eyes.event = [&judge](const storage::Event& event) {
    const bool is_object = api::object_key(event.record->key).has_value();
    judge.see(event, is_object ? api::object_of(event.record) : nullptr);
  };
  eyes.transaction = [&judge] { judge.end_of_transaction(); };
  return std::make_unique<storage::FaultyStore>(
      std::make_unique<ObservedStore>(*std::move(store), std::move(eyes)), rng, storage::Faults(),
      &lane);
}

Duration longest_run(const Scenario& scenario) {
  Duration out = 1s;
  for (const Load& load : scenario.load) {
    if (load.what == Load::What::RayJobs) out = std::max(out, load.run_time);
  }
  return out;
}

}  // namespace

std::string Report::text() const {
  return fmt::format(
      "seed={} fingerprint={:016x} submissions={} events={} binds={} tasks={} simulated={}s", seed,
      fingerprint, submissions, events, binds, tasks,
      std::chrono::duration_cast<std::chrono::seconds>(lasted).count());
}

World::World(const Scenario& scenario, std::uint64_t seed)
    : scenario_(scenario),
      seed_(seed),
      errors_before_(log::errors_written()),
      soft_checks_before_(soft_check_failures()),
      loop_(seed),
      server_rng_(seed + 1),
      node_rng_(seed + 2),
      fault_rng_(seed + 3),
      ray_rng_(seed + 4),
      schemas_(api::make_builtin_schemas()),
      judge_(scenario.always),
      disk_(loop_, "disk"),
      script_(loop_, "script"),
      store_(open_store(judge_, fault_rng_, disk_)),
      network_([this](const Object& object) { judge_.acknowledged(object); }),
      dashboards_(loop_.wall(), ray_rng_,
                  {longest_run(scenario), scenario.failing_rayjobs_in_thousand,
                   [this](const std::string& ip) {
                     return std::any_of(nodes_.begin(), nodes_.end(),
                                        [&](const auto& node) { return node->answers(ip); });
                   }}),
      user_(loop_, network_),
      witness_(loop_, network_) {
  const auto memory = Quantity::parse(scenario.memory);
  CHECK_MSG(memory.has_value(), scenario.memory);
  for (unsigned i = 0; i < scenario.nodes; ++i) {
    agent::NodeFacts facts{fmt::format("node-{:03}", i), fmt::format("192.168.0.{}", i),
                           scenario.cpu * 1000, memory->value(), std::int64_t{100} << 30};
    nodes_.push_back(
        std::make_unique<Node>(loop_, network_, node_rng_, i, std::move(facts),
                               [this](const std::string& name_space, const std::string& pod) {
                                 return run_program(name_space, pod);
                               }));
  }
}

World::~World() {
  server_.reset();
  for (auto& node : nodes_) node->kill();
}

Report World::run() {
  begin();
  submit_load();
  bring_faults();
  const SteadyTime busy_until = loop_.now() + std::max(scenario_.load_for(), scenario_.faults_for);
  while (loop_.now() < busy_until && live(1s)) {
  }
  calm();
  settle([this] { return unsettled(); });
  if (scenario_.delete_everything && problems_.empty()) {
    user_.delete_all();
    settle([this] {
      const std::optional<std::string> what = left_over(*store_->snapshot());
      return what ? std::vector{"left over: " + *what} : std::vector<std::string>();
    });
  }
  Report out{seed_, judge_.fingerprint(), judge_.violations()};
  const auto add = [&out](const std::vector<std::string>& more) {
    out.violations.insert(out.violations.end(), more.begin(), more.end());
  };
  if (const auto what = judge_.differs_from(*store_->snapshot()))
    out.violations.push_back("acknowledged_writes_are_kept: " + *what);
  add(problems_);
  add(witness_.complaints());
  add(user_.refusals());
  if (log::errors_written() != errors_before_) out.violations.push_back("errors were logged");
  if (soft_check_failures() != soft_checks_before_)
    out.violations.push_back("a SOFT_CHECK has failed");
  for (const std::uint64_t last :
       {server_rng_.next(), node_rng_.next(), fault_rng_.next(), ray_rng_.next()})
    out.fingerprint = out.fingerprint * 31 + last;
  out.events = judge_.events();
  out.binds = judge_.binds();
  out.tasks = loop_.tasks_run();
  out.submissions = user_.made().size();
  out.lasted = loop_.now().time_since_epoch();
  return out;
}

void World::begin() {
  start_server();
  for (auto& node : nodes_) node->boot();
  for (const std::string& queue : scenario_.queues)
    user_.create(kinds::kQueue, queue_object(queue));
  live(kQuiet);
}

void World::submit_load() {
  int number = 0;
  for (const Load& load : scenario_.load) {
    for (Duration at{}; at < load.during; at += load.every) {
      const std::string name = fmt::format("load-{}", number++);
      script_.after(at + loop_.moment(load.every), [this, &load, name] {
        Submission made = make_submission(load, name);
        user_.create(made.kind, std::move(made.object));
      });
    }
  }
}

void World::bring_faults() {
  faults_until_ = loop_.now() + scenario_.faults_for;
  storage::Faults faults;
  for (const Fault& fault : scenario_.faults) {
    switch (fault.what) {
      case Fault::What::KillNodes:
        repeat(fault.every, [this, &fault] { kill_a_node(fault); });
        break;
      case Fault::What::RestartAgents:
        repeat(fault.every, [this, &fault] { restart_an_agent(fault.down); });
        break;
      case Fault::What::RestartServer:
        repeat(fault.every, [this, &fault] { restart_server(fault.down); });
        break;
      case Fault::What::SlowStore:
        faults.delay = fault.in_thousand;
        faults.delay_max = fault.by;
        break;
      case Fault::What::FailingCommits:
        faults.fail_before = fault.in_thousand;
        break;
      case Fault::What::AmbiguousAnswers:
        faults.fail_after = fault.in_thousand;
        break;
      case Fault::What::DropWatch:
        faults.expire_watch = fault.in_thousand;
        break;
    }
  }
  store_->set_faults(faults);
}

void World::repeat(Duration every, std::function<void()> what) {
  const auto spread = static_cast<std::uint64_t>(every.count());
  const Duration next = every / 2 + Duration(static_cast<std::int64_t>(fault_rng_.below(spread)));
  script_.after(next, [this, every, what = std::move(what)] {
    if (loop_.now() >= faults_until_) return;
    what();
    repeat(every, what);
  });
}

void World::kill_a_node(const Fault& fault) {
  Node& node = *nodes_[fault_rng_.below(nodes_.size())];
  if (!node.up()) return;
  node.kill();
  if (fault.forever) {
    // Somebody clears up after a while. The machine is replaced by one of the same name when all is
    // well again.
    script_.after(fault.down, [this, &node] {
      if (!node.up()) user_.remove(kinds::kNode, "", node.name());
    });
    return;
  }
  script_.after(fault.down, [&node] {
    if (!node.up()) node.boot();
  });
}

void World::restart_an_agent(Duration down) {
  Node& node = *nodes_[fault_rng_.below(nodes_.size())];
  if (!node.up()) return;
  node.kill(Node::Start::WithItsPods);
  script_.after(down, [&node] {
    if (!node.up()) node.boot();
  });
}

void World::restart_server(Duration down) {
  if (!server_) return;
  server_.reset();
  script_.after(down, [this] {
    if (!server_) start_server();
  });
}

void World::start_server() {
  server_ = std::make_unique<Server>(
      ServerParts{loop_, *store_, *schemas_, server_rng_, network_, dashboards_});
  server_->start();
}

// From now on all is well.
void World::calm() {
  faults_until_ = loop_.now();
  store_->set_faults({});
  for (auto& node : nodes_) {
    if (!node->up()) node->boot();
  }
  if (!server_) start_server();
}

bool World::live(Duration time) {
  if (stuck_ || loop_.run_until(loop_.now() + time)) return !stuck_;
  stuck_ = true;
  problems_.push_back("the world runs in circles; there wait " + loop_.waiting());
  return false;
}

bool World::run_program(const std::string& name_space, const std::string& pod) {
  const storage::SnapshotPtr state = store_->snapshot();
  const ObjectPtr object = object_at(*state, kinds::kPod, name_space, pod);
  const auto submission = object ? submission_of(*object) : std::nullopt;
  if (!submission) return true;
  const auto head = address_of(*state, name_space, submission->service);
  return head && dashboards_.submit(*head, submission->id);
}

std::vector<std::string> World::unsettled() {
  std::vector<std::string> out;
  if (!user_.idle()) out.push_back("the user still waits for an answer");
  const storage::SnapshotPtr state = store_->snapshot();
  Elsewhere elsewhere{user_.made(), dashboards_.programs()};
  for (const Fault& fault : scenario_.faults)
    elsewhere.heads_die = elsewhere.heads_die || fault.what == Fault::What::KillNodes;
  for (const std::string& rule : scenario_.finally) {
    const auto what = rule == "watchers_know_the_truth" ? witness_.is_wrong_about(*state)
                                                        : missing(rule, *state, elsewhere);
    if (what) out.push_back(rule + ": " + *what);
  }
  return out;
}

template <typename Missing>
void World::settle(Missing look) {
  const SteadyTime patience = loop_.now() + scenario_.settle_within;
  std::vector<std::string> what;
  int steady = 0;
  while (loop_.now() < patience && steady < kSteadySeconds && live(1s)) {
    what = look();
    steady = what.empty() ? steady + 1 : 0;
  }
  if (what.empty()) return;
  problems_.insert(problems_.end(), what.begin(), what.end());
  problems_.push_back("there wait " + loop_.waiting());
}

}  // namespace krater::sim
