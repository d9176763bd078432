#include "replay/replay.h"

#include <set>

#include "base/check.h"
#include "model/keys.h"
#include "model/node.h"
#include "model/pod_resources.h"
#include "model/podgroup.h"
#include "scheduler/scheduler.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::replay {
namespace {

constexpr Duration kStart = std::chrono::milliseconds(500);  // from bound to running
constexpr Duration kLeave = std::chrono::seconds(1);         // from evicted to gone
constexpr Duration kStep = std::chrono::seconds(1);

class Play {
 public:
  Play(const Workload& workload, const ReplayOptions& options)
      : workload_(workload),
        options_(options),
        rng_(options.seed),
        scheduler_({client_,
                    loop_,
                    loop_.wall(),
                    rng_,
                    scheduler_options(options),
                    {},
                    [this](WallTime, std::string line) {
                      out_.decisions.push_back(seconds_text() + " " + std::move(line));
                    }}) {
    client_.graceful = true;
  }

  Result<Outcome> run() {
    put_cluster();
    read_fairshare();
    subscriptions_.push_back(client_.watch({kinds::kPod}, pod_handlers()));
    subscriptions_.push_back(client_.watch({kinds::kPodGroup}, group_handlers()));
    TRY(scheduler_.start());
    for (std::size_t i = 0; i < workload_.submissions.size(); ++i)
      loop_.after(workload_.submissions[i].at, [this, i] { submit(i); });
    std::size_t to_come = workload_.submissions.size();
    while (now() < options_.until) {
      loop_.advance(kStep);
      client_.writes.clear();
      to_come = workload_.submissions.size() - submitted_;
      if (to_come == 0 && (out_.tally.all_ended() || idle())) break;
    }
    scheduler_.stop();
    // Waiting for somebody in vain is not part of it, as long as nobody runs meanwhile.
    bool runs = false;
    for (const auto& [name, job] : out_.tally.jobs()) runs = runs || job.placed > 0;
    const bool in_vain = to_come == 0 && !runs && last_event_ > Duration(0);
    out_.lasted = in_vain ? last_event_ : now();
    out_.tally.watched(now());
    out_.tally.not_submitted(static_cast<std::int64_t>(to_come));
    return std::move(out_);
  }

 private:
  struct Player {
    std::size_t submission = 0, pod = 0;
    Uid uid{};
    std::int64_t cpu = 0;
    bool placed = false, leaving = false, over = false;
  };
  using Place = std::pair<std::string, std::string>;  // namespace, name

  static scheduler::Options scheduler_options(const ReplayOptions& options) {
    scheduler::Options out;
    out.config_text = options.config;
    if (!options.config.empty()) out.config_name = "none";  // that of the workload is not looked at
    return out;
  }

  Duration now() const { return loop_.now().time_since_epoch(); }
  std::string seconds_text() const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now()).count();
    std::string fraction = std::to_string(ms % 1000);
    return std::to_string(ms / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction;
  }
  // Nobody runs whose end is known, and nothing has happened for long.
  bool idle() const { return ending_ == 0 && now() - last_event_ > options_.patience; }

  // As fairshare would name the owner, where the configuration has it.
  std::string user_of(const Submission& one) const {
    const Json& named = one.group ? *one.group : one.pods.front().pod;
    const std::string key = fairshare_ == nullptr ? std::string() : fairshare_->user_key;
    for (const std::string_view list : {"labels", "annotations"}) {
      if (const std::string user = text_at(named, {"metadata", list, key}); !user.empty())
        return user;
    }
    return text_at(named, {"metadata", "namespace"});
  }

  void put_cluster() {
    std::int64_t cpu = 0;
    bool root = false, standard = false;
    for (const auto& [kind, object] : workload_.cluster) {
      client_.put(kind, object);
      const std::string name = text_at(object, {"metadata", "name"});
      if (kind == kinds::kNode) {
        const NodeView node(client_.read(kinds::kNode, "", name));
        cpu += node.allocatable().at(resources::kCpu);
      }
      if (kind == kinds::kPriorityClass) classes_[name] = int_at(object, {"value"}).value_or(0);
      root = root || (kind == kinds::kQueue && name == keys::kRootQueue);
      standard = standard || (kind == kinds::kQueue && name == keys::kDefaultQueue);
    }
    // As Volcano makes them when they are missing.
    if (!root) put_queue(keys::kRootQueue, false);
    if (!standard) put_queue(keys::kDefaultQueue, true);
    out_.tally.capacity(cpu);
  }
  void read_fairshare() {
    std::string text = options_.config;
    const scheduler::Options place = scheduler_options(options_);
    const ObjectPtr map =
        client_.read(kinds::kConfigMap, place.config_namespace, place.config_name);
    if (map != nullptr) text = text_at(*map->document(), {"data", place.config_key});
    const Result<scheduler::Config> config = scheduler::parse_config(text);
    if (config) fairshare_ = scheduler::fairshare_rules(*config);
  }
  void put_queue(std::string_view name, bool reclaimable) {
    Json queue = new_object(kinds::kQueue, "", name);
    set_path(queue, {"spec", "weight"}, Json(1));
    set_path(queue, {"spec", "reclaimable"}, Json(reclaimable));
    client_.put(kinds::kQueue, std::move(queue));
  }

  void submit(std::size_t index) {
    const Submission& one = workload_.submissions[index];
    CHECK(!one.pods.empty());
    ++submitted_;
    last_event_ = now();
    out_.tally.submitted(one.name, one.queue, user_of(one), now(), one.min,
                         static_cast<std::int64_t>(one.pods.size()));
    if (one.group) {
      client_.put(kinds::kPodGroup, *one.group);
      by_group_[{text_at(*one.group, {"metadata", "namespace"}),
                 text_at(*one.group, {"metadata", "name"})}] = index;
    }
    if (!one.pods_wait) make_pods(index);
  }

  void make_pods(std::size_t index) {
    if (!made_.insert(index).second) return;
    for (std::size_t i = 0; i < workload_.submissions[index].pods.size(); ++i)
      make_pod(index, i, /*anew=*/false);
  }

  // `anew`: it has run before, wherever that was.
  void make_pod(std::size_t index, std::size_t number, bool anew) {
    Json pod = workload_.submissions[index].pods[number].pod;
    if (anew) {
      if (Json* spec = find(pod, {"spec"}); spec != nullptr && spec->is_object())
        spec->get_object().erase("nodeName");
    }
    const bool there = !text_at(pod, {"spec", "nodeName"}).empty();
    set_path(pod, {"status"}, JsonObject{{"phase", there ? "Running" : "Pending"}});
    const auto priority = classes_.find(text_at(pod, {"spec", "priorityClassName"}));
    if (priority != classes_.end()) set_path(pod, {"spec", "priority"}, Json(priority->second));
    const Place place(text_at(pod, {"metadata", "namespace"}), text_at(pod, {"metadata", "name"}));
    // Told before it is put: the watch comes back at once.
    Player& player = players_[place];
    player = {index, number};
    if (const Json* spec = find(pod, {"spec"}))
      player.cpu = pod_spec_requests(*spec).at(resources::kCpu);
    player.uid = client_.put(kinds::kPod, std::move(pod))->uid();
  }

  client::WatchHandlers pod_handlers() {
    client::WatchHandlers out;
    out.on_replace = [](const std::vector<ObjectPtr>&, Revision) {};
    out.on_upsert = [this](const ObjectPtr& pod) { see(pod); };
    out.on_remove = [this](const ObjectPtr& pod) { gone(pod); };
    return out;
  }
  client::WatchHandlers group_handlers() {
    client::WatchHandlers out;
    out.on_replace = [](const std::vector<ObjectPtr>&, Revision) {};
    out.on_upsert = [this](const ObjectPtr& group) {
      const auto known = by_group_.find({group->name_space(), group->name()});
      if (known == by_group_.end() || made_.contains(known->second)) return;
      if (PodGroupView(group).phase() != PodGroupPhase::Pending) make_pods(known->second);
    };
    out.on_remove = [](const ObjectPtr&) {};
    return out;
  }

  Player* player_of(const Object& pod) {
    const auto known = players_.find({pod.name_space(), pod.name()});
    return known == players_.end() || known->second.uid != pod.uid() ? nullptr : &known->second;
  }
  const Submission& of(const Player& player) const {
    return workload_.submissions[player.submission];
  }

  void see(const ObjectPtr& object) {
    Player* player = player_of(*object);
    const PodView pod(object);
    if (player == nullptr || player->over || pod.node_name().empty()) return;
    if (object->deletion()) {
      if (!std::exchange(player->leaving, true))
        loop_.after(kLeave, [this, object] { drop(object); });
      return;
    }
    if (player->placed) return;
    player->placed = true;
    last_event_ = now();
    out_.tally.placed(of(*player).name, now(), player->cpu);
    const std::optional<Duration> run = of(*player).pods[player->pod].run;
    if (run) ++ending_;
    loop_.after(kStart, [this, object, run] {
      if (!set_phase(*object, "Running")) return;
      if (run) loop_.after(*run, [this, object] { finish(object); });
    });
  }

  // False when it is not there any more, or on its way out.
  bool set_phase(const Object& pod, std::string_view phase) {
    const ObjectPtr stored = client_.read(kinds::kPod, pod.name_space(), pod.name());
    if (stored == nullptr || stored->uid() != pod.uid() || stored->deletion()) return false;
    Json next = *stored->document();
    set_path(next, {"status", "phase"}, Json(phase));
    client_.put(kinds::kPod, std::move(next));
    return true;
  }

  void finish(const ObjectPtr& pod) {
    Player* player = player_of(*pod);
    if (player == nullptr || player->over || player->leaving || !set_phase(*pod, "Succeeded"))
      return;
    player->over = true;
    --ending_;
    last_event_ = now();
    out_.tally.done(of(*player).name, now(), player->cpu);
  }

  void drop(const ObjectPtr& pod) {
    client::DeleteWrite write{kinds::kPod, pod->name_space(), pod->name()};
    write.only_uid = pod->uid();
    write.grace_seconds = 0;
    const Result<ObjectPtr> done = client_.apply(write);
    CHECK(done.has_value() || done.error().code == Code::NotFound);
  }

  // Nobody but the scheduler deletes: it was evicted, and its job makes it anew.
  void gone(const ObjectPtr& pod) {
    Player* player = player_of(*pod);
    if (player == nullptr || player->over || !player->placed) return;
    const Player before = *player;
    if (of(before).pods[before.pod].run) --ending_;
    last_event_ = now();
    out_.tally.evicted(of(before).name, now(), before.cpu);
    loop_.post([this, before] { make_pod(before.submission, before.pod, /*anew=*/true); });
  }

  const Workload& workload_;
  const ReplayOptions& options_;
  Outcome out_;
  testing::ManualLoop loop_;
  testing::FakeClient client_{loop_, loop_.wall()};
  SeededRng rng_;
  scheduler::Scheduler scheduler_;
  std::vector<std::unique_ptr<client::Subscription>> subscriptions_;
  std::shared_ptr<const scheduler::FairshareRules> fairshare_;  // null: not asked for
  std::map<std::string, std::int64_t> classes_;
  std::map<Place, Player> players_;
  std::map<Place, std::size_t> by_group_;
  std::set<std::size_t> made_;
  std::size_t submitted_ = 0;
  std::int64_t ending_ = 0;  // pods whose end is known
  Duration last_event_{};
};

}  // namespace

Result<Outcome> replay(const Workload& workload, const ReplayOptions& options) {
  return Play(workload, options).run();
}

}  // namespace krater::replay
