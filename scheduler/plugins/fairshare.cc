// fairshare: within one queue, who has used less of late goes first (Volcano's plugin of that name,
// after Slurm's fair share). Usage is counted from session to session by the FairshareBook; this is
// what one session makes of it. Of users that have used the same to the unit-second, the one that
// holds less now goes first, those placed in this session included.
//
// Beyond Volcano's: users by label or annotation, weights of users, weighted sums of resources, the
// state kept by default.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/strings.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/fairshare_gate.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

std::string duration_text(Duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  return seconds % 60 == 0 ? std::to_string(seconds / 60) + "m" : std::to_string(seconds) + "s";
}

class Fairshare final : public Plugin, public JobOrderHook, public EnqueueHook, public WhyHook {
 public:
  explicit Fairshare(std::shared_ptr<const FairshareRules> rules) : rules_(std::move(rules)) {}

  void open(const Session& session) override {
    joined(session, 0);
    if (book_ != nullptr && rules_->gate) share_queues_out(session);
  }
  void joined(const Session& session, JobId first) override {
    book_ = session.fairshare();
    user_of_.resize(session.job_count(), kNobody);
    if (book_ == nullptr) return;
    for (JobId id = first; id < session.job_count(); ++id) {
      const FairshareBook::Account* account = book_->account_of(session.job(id).key);
      if (account == nullptr || session.queue_of(id) == kNoQueue) continue;
      const auto [place, fresh] =
          known_.try_emplace(account, static_cast<std::uint32_t>(users_.size()));
      if (fresh) {
        const Wide weight = static_cast<Wide>(rules_->weight_of(account->user));
        users_.push_back({account, weight, book_->used(*account) * 1000 / weight, account->held,
                          account->rate * 1000 / weight});
      }
      user_of_[id] = place->second;
      if (first == 0 && session.job(id).open()) waiting_.push_back(id);
    }
  }

  int job_order(const Session& session, JobId a, JobId b) const override {
    const bool left = user_of_[a] != kNobody, right = user_of_[b] != kNobody;
    if (!left || !right) return left == right ? 0 : right ? -1 : 1;
    if (session.queue_of(a) != session.queue_of(b)) return 0;
    const User &one = users_[user_of_[a]], &other = users_[user_of_[b]];
    if (one.used != other.used) return one.used < other.used ? -1 : 1;
    return one.held < other.held ? -1 : one.held > other.held ? 1 : 0;
  }
  std::uint32_t order_group(JobId job) const override {
    return user_of_[job] == kNobody ? 0 : user_of_[job] + 1;
  }

  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    move(session, job, task, 1);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    move(session, job, task, -1);
  }

  Vote may_enqueue(const Session& session, JobId id, Refusal& why) const override {
    if (!rules_->gate || user_of_[id] == kNobody) return Vote::Abstain;
    const User& user = users_[user_of_[id]];
    const QueueName& queue = user.account->queue;
    const Wide wanted = rules_->units(queue, all_of(session.job(id)), session.names());
    const Wide holds = rules_->units(queue, user.holds, session.names());
    if (!user.share || wanted == 0 || holds < *user.share) return Vote::Abstain;
    const auto text = [&](Wide units) { return units_text(queue, units); };
    why = {"",
           "user \"" + user.account->user + "\" has their fair share of queue \"" + queue.text() +
               "\"",
           rules_->measure_name(queue) + ": requested " + text(wanted) + ", held " + text(holds) +
               ", fair share " + text(*user.share),
           codes::kFairShare};
    return Vote::Reject;
  }
  void enqueued(const Session&, JobId) override {}

  void say_why(const Session& session, JobId job, Circumstances& out) const override;
  void close(Session& session) override;

 private:
  struct User {
    const FairshareBook::Account* account;
    Wide weight;                  // per mille
    Wide used;                    // unit-seconds, by weight
    Resource holds;               // this session's placements included
    Wide held;                    // the same in units, by weight
    std::optional<Wide> share{};  // of what there is now; absent: wants nothing
  };
  // Of one queue and rank: whose jobs wait, who has used least first.
  struct Waiting {
    Wide used = 0;
    std::uint32_t user = 0;
    std::int64_t jobs = 0;
    JobId first = 0;
    std::int64_t before = 0;  // jobs of those who have used less
  };
  using Rank = std::pair<QueueId, std::int64_t>;

  void move(const Session& session, JobId job, const TaskSpec& task, int sign) {
    if (user_of_[job] == kNobody) return;
    User& user = users_[user_of_[job]];
    sign > 0 ? user.holds += task.shape->request : user.holds -= task.shape->request;
    user.held =
        rules_->units(user.account->queue, user.holds, session.names()) * 1000 / user.weight;
  }

  // A job whose pods are still to be made asks for its minimum.
  static Resource all_of(const JobInfo& job) {
    if (job.tasks.empty()) return job.min_resources.value_or(Resource());
    return job.allocated + job.pending;
  }

  std::string units_text(const QueueName& queue, Wide units) const {
    const Wide one = rules_->units_of_one(queue), parts = units * 100 / one;
    std::string out = std::to_string(static_cast<std::uint64_t>(parts / 100));
    if (const auto rest = static_cast<std::uint64_t>(parts % 100); rest > 0)
      out += (rest < 10 ? ".0" : ".") + std::to_string(rest);
    return out;
  }

  void share_queues_out(const Session& session);
  Resource room_of(const Session& session, QueueId queue) const;
  const std::vector<Waiting>& line_of(const Session& session, const Rank& rank) const;
  Rank rank_of(const Session& session, JobId job) const;
  std::optional<Duration> overtakes(const User& one, const User& other, Duration within) const;

  std::shared_ptr<const FairshareRules> rules_;
  const FairshareBook* book_ = nullptr;
  std::map<const FairshareBook::Account*, std::uint32_t> known_;
  std::vector<User> users_;
  std::vector<std::uint32_t> user_of_;  // by job
  std::vector<JobId> waiting_;          // when the session began
  mutable std::optional<std::map<Rank, std::vector<Waiting>>> lines_{};
};

// What the queue may have of it, else what the cluster has.
Resource Fairshare::room_of(const Session& session, QueueId queue) const {
  Resource out = session.total();
  const Bounds& limit = session.queue(queue).capability;
  for (Dim d = 0; d < limit.dims(); ++d) {
    if (limit.has(d) && limit.at(d) > 0) out.set(d, limit.at(d));
  }
  return out;
}

void Fairshare::share_queues_out(const Session& session) {
  std::vector<Wide> wanted(users_.size(), 0);
  for (const JobId id : waiting_) {
    const JobInfo& job = session.job(id);
    const bool to_come = job.tasks.empty() && job.is_pending();
    wanted[user_of_[id]] += rules_->units(users_[user_of_[id]].account->queue,
                                          to_come ? all_of(job) : job.pending, session.names());
  }
  std::map<QueueId, std::vector<std::uint32_t>> by_queue;
  // Whoever holds places and waits for none has a part in it as well.
  for (const FairshareBook::Account* account : book_->accounts()) {
    if (account->rate == 0 || known_.contains(account)) continue;
    known_.emplace(account, static_cast<std::uint32_t>(users_.size()));
    const Wide weight = static_cast<Wide>(rules_->weight_of(account->user));
    users_.push_back({account, weight, book_->used(*account) * 1000 / weight, account->held,
                      account->rate * 1000 / weight});
    wanted.push_back(0);
  }
  for (QueueId queue = 0; queue < session.queue_count(); ++queue) {
    for (std::uint32_t u = 0; u < users_.size(); ++u) {
      if (users_[u].account->queue == session.queue(queue).name) by_queue[queue].push_back(u);
    }
  }
  for (const auto& [queue, members] : by_queue) {
    std::vector<UserDemand> demands;
    std::vector<std::uint32_t> who;
    for (const std::uint32_t u : members) {
      const Wide demand = users_[u].account->rate + wanted[u];
      if (demand == 0) continue;
      demands.push_back({users_[u].weight, demand});
      who.push_back(u);
    }
    share_out(rules_->units(session.queue(queue).name, room_of(session, queue), session.names()),
              demands);
    for (std::size_t i = 0; i < who.size(); ++i) users_[who[i]].share = demands[i].share;
  }
}

// Who is asked after priorities ranks within them.
Fairshare::Rank Fairshare::rank_of(const Session& session, JobId job) const {
  for (const auto& tier : session.config().tiers) {
    for (const PluginChoice& choice : tier) {
      if (choice.name == "fairshare") return {session.queue_of(job), 0};
      if (choice.name == "priority" && choice.flags.on("enableJobOrder"))
        return {session.queue_of(job), session.job(job).priority};
    }
  }
  return {session.queue_of(job), 0};
}

const std::vector<Fairshare::Waiting>& Fairshare::line_of(const Session& session,
                                                          const Rank& rank) const {
  if (!lines_) {
    lines_.emplace();
    std::map<std::pair<Rank, std::uint32_t>, std::size_t> places;
    for (const JobId id : waiting_) {
      const Rank mine = rank_of(session, id);
      std::vector<Waiting>& line = (*lines_)[mine];
      const std::uint32_t user = user_of_[id];
      const auto [place, fresh] = places.try_emplace({mine, user}, line.size());
      if (fresh) line.push_back({users_[user].used, user, 0, id});
      Waiting& one = line[place->second];
      ++one.jobs;
      const JobInfo &job = session.job(id), &first = session.job(one.first);
      if (std::tie(job.created, job.key) < std::tie(first.created, first.key)) one.first = id;
    }
    for (auto& [unused, line] : *lines_) {
      std::sort(line.begin(), line.end(), [](const Waiting& a, const Waiting& b) {
        return std::tie(a.used, a.user) < std::tie(b.used, b.user);
      });
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        const bool equal = i > 0 && line[i].used == line[i - 1].used;
        line[i].before = equal ? line[i - 1].before : sum;
        sum += line[i].jobs;
      }
    }
  }
  return (*lines_)[rank];
}

void Fairshare::say_why(const Session& session, JobId job, Circumstances& out) const {
  if (job >= user_of_.size() || user_of_[job] == kNobody) return;
  const std::uint32_t mine = user_of_[job];
  const std::vector<Waiting>& line = line_of(session, rank_of(session, job));
  const auto place = std::find_if(line.begin(), line.end(),
                                  [mine](const Waiting& one) { return one.user == mine; });
  if (place == line.end() || place->before == 0) return;
  const auto used = [&](std::uint32_t user) {
    const FairshareBook::Account& account = *users_[user].account;
    return usage_text(*rules_, account.queue, book_->used(account));
  };
  const std::string& queue = users_[mine].account->queue.text();
  const std::uint32_t least = line.front().user;
  Queued said{users_[mine].account->user,
              used(mine),
              place->before,
              session.job(line.front().first).key.text(),
              users_[least].account->user,
              used(least)};
  out.lines.push_back("user \"" + said.user + "\" has used " + said.used + " of late (half-life " +
                      duration_text(rules_->half_life) + "): by usage " +
                      std::to_string(said.jobs_ahead) +
                      (said.jobs_ahead == 1 ? " job of others goes" : " jobs of others go") +
                      " first in queue \"" + queue + "\", above all " + said.first + " of user \"" +
                      said.first_user + "\" with " + said.first_used);
  out.queued = std::move(said);
}

// When `one` will have used less than `other`, if everybody goes on as now; at most `within` from
// now. What was used decays for all alike, so that it happens once or never. Whoever has used less
// already is behind for another reason, which time does not take away.
std::optional<Duration> Fairshare::overtakes(const User& one, const User& other,
                                             Duration within) const {
  const auto has = [&](Duration then) {
    return book_->used(*one.account, then) * 1000 / one.weight <
           book_->used(*other.account, then) * 1000 / other.weight;
  };
  if (has(Duration(0)) || !has(within)) return std::nullopt;
  Duration not_yet{}, then = within;
  while (then - not_yet > std::chrono::milliseconds(1)) {
    const Duration middle = not_yet + (then - not_yet) / 2;
    (has(middle) ? then : not_yet) = middle;
  }
  return then;
}

// Where order is strict, whoever is in front keeps the others waiting: when somebody overtakes him,
// that is a change. Elsewhere order decides nothing until there is room, and then it is looked at
// anyway.
void Fairshare::close(Session& session) {
  if (book_ == nullptr) return;
  std::map<std::pair<QueueId, bool>, std::vector<JobId>> lines;  // before and after admission
  for (const JobId id : waiting_) {
    const QueueId queue = session.queue_of(id);
    if (!session.fifo(queue) || !session.job(id).open() || session.job_ready(id)) continue;
    lines[{queue, session.job(id).is_pending()}].push_back(id);
  }
  for (const auto& [unused, jobs] : lines) {
    const JobId front = *std::min_element(
        jobs.begin(), jobs.end(), [&](JobId a, JobId b) { return session.job_before(a, b); });
    const User& leader = users_[user_of_[front]];
    std::optional<Duration> soonest;
    std::set<std::uint32_t> asked{user_of_[front]};
    for (const JobId id : jobs) {
      const User& user = users_[user_of_[id]];
      // Nobody gains on him who holds less.
      if (!asked.insert(user_of_[id]).second || user.held >= leader.held) continue;
      if (const auto then = overtakes(user, leader, soonest.value_or(rules_->half_life * 64)))
        soonest = then;
    }
    if (soonest) session.look_again(front, session.now() + *soonest);
  }
}

Result<std::map<std::string, std::int64_t>> weights(Arguments& arguments, std::string_view key) {
  std::map<std::string, std::int64_t> out;
  TRY_ASSIGN(const JsonObject* given, arguments.object(key));
  if (given == nullptr) return out;
  Arguments numbers(given);
  for (const auto& member : *given) {
    const std::string name(member.key().data(), member.key().size());
    TRY_ASSIGN(const std::int64_t weight, numbers.per_mille(name, 0));
    if (weight < 1 || weight > 1'000'000) {
      return make_error(Code::Invalid, "argument \"" + std::string(key) + "\": weight of \"" +
                                           name + "\" must be 0.001 to 1000");
    }
    out.emplace(name, weight);
  }
  return out;
}

Result<Duration> half_life(Arguments& arguments) {
  TRY_ASSIGN(const std::string text, arguments.string("fairshare.halfLife", ""));
  TRY_ASSIGN(const std::int64_t minutes, arguments.count("fairshare.halfLifeMinutes", 0));
  if (text.empty() && minutes == 0) return Duration(std::chrono::hours(4));
  if (!text.empty() && minutes != 0) {
    return make_error(Code::Invalid,
                      "arguments \"fairshare.halfLife\" and \"fairshare.halfLifeMinutes\" exclude "
                      "each other");
  }
  constexpr std::int64_t kMostMinutes =
      std::chrono::duration_cast<std::chrono::minutes>(Decay::kLongest).count();
  const std::optional<Duration> given =
      !text.empty()            ? parse_go_duration(text)
      : minutes > kMostMinutes ? std::nullopt
                               : std::optional<Duration>(std::chrono::minutes(minutes));
  if (given && *given >= Decay::kShortest && *given <= Decay::kLongest) return *given;
  return make_error(Code::Invalid, "argument \"" +
                                       std::string(text.empty() ? "fairshare.halfLifeMinutes"
                                                                : "fairshare.halfLife") +
                                       "\" must be a time from a minute to ten years");
}

}  // namespace

Result<PluginFactory> configure_fairshare(Arguments& arguments, const EnableFlags& flags) {
  const auto rules = std::make_shared<FairshareRules>();
  TRY_ASSIGN(rules->half_life, half_life(arguments));
  TRY_ASSIGN(const std::string queues, arguments.string("fairshare.targetQueues", ""));
  for (const std::string_view piece : split(queues, ',')) {
    if (const std::string_view name = trim(piece); !name.empty()) rules->queues.emplace(name);
  }
  TRY_ASSIGN(rules->resource, arguments.string("fairshare.resourceKey", rules->resource));
  TRY_ASSIGN(rules->resource_of_queue, arguments.strings_after("fairshare.resourceKey."));
  TRY_ASSIGN(rules->resource_weights, weights(arguments, "fairshare.resourceWeights"));
  TRY_ASSIGN(rules->user_key, arguments.string("fairshare.userKey", ""));
  TRY_ASSIGN(rules->user_weights, weights(arguments, "fairshare.userWeights"));
  TRY_ASSIGN(rules->gate, arguments.boolean("fairshare.enableEnqueueGate", false));
  TRY_ASSIGN(rules->persist, arguments.boolean("fairshare.persistState", true));
  TRY_ASSIGN(rules->state_namespace,
             arguments.string("fairshare.stateNamespace", rules->state_namespace));
  TRY_ASSIGN(rules->state_name, arguments.string("fairshare.stateConfigMap", rules->state_name));
  TRY_ASSIGN(const std::int64_t flush, arguments.count("fairshare.flushIntervalSeconds", 30));
  if (flush < 1 || flush > 86'400) {
    return make_error(Code::Invalid,
                      "argument \"fairshare.flushIntervalSeconds\" must be 1 to 86400");
  }
  rules->flush_every = std::chrono::seconds(flush);
  return PluginFactory([rules](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.fairshare = rules;
    plugins.add(std::make_unique<Fairshare>(rules), enabled);
  });
}

}  // namespace krater::scheduler
