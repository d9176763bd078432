// resourcequota: a job is admitted when its minResources fit into every ResourceQuota of its
// namespace, in every name that both use (limits and counts too), beside what is used and what was
// promised to jobs admitted before whose pods are still to come (volcano.md 4.12). Quotas with
// scopes say nothing about a job as a whole and are left to the API.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/pod_quota.h"
#include "scheduler/amounts.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

struct Limit {
  std::string name, counts;  // "requests.cpu", "cpu"
  std::int64_t hard = 0, used = 0;
};
struct Quota {
  std::string name;
  std::vector<Limit> limits{};
};

constexpr std::string_view kRequests = "requests.", kLimits = "limits.";

// Two names of one thing become one: "requests.cpu" is "cpu", "count/pods" is "pods".
std::string_view counted_as(std::string_view name) {
  if (name.starts_with(kRequests)) return name.substr(kRequests.size());
  return name == "count/pods" ? resources::kPods : name;
}

// In the names that quotas use; of two names of one thing the larger amount counts.
ResourceList amounts_in(const Json* list) {
  ResourceList out;
  const ResourceList given = ResourceList::from(list);
  for (const auto& [name, amount] : given.amounts())
    out.raise_to({{std::string(counted_as(name)), amount}});
  return out;
}

// What a job asks of quotas, which is more than the amounts that nodes have.
ResourceList wanted_by(const JobInfo& job) {
  return amounts_in(find(PodGroupView(job.group).document(), {"spec", "minResources"}));
}

// What a pod uses of them; its limits are read where somebody counts them.
ResourceList used_by(const Task& task, bool with_limits, const ResourceNames& names) {
  ResourceList out = task.spec->shape->request.to_list(names);
  if (!with_limits) return out;
  const PodQuota quota = PodQuota::of(&PodView(task.spec->pod).spec());
  for (const auto& [name, amount] : quota.limits.amounts())
    out.set(std::string(kLimits) + name, amount);
  return out;
}

// Pods that have not come by then are not waited for.
constexpr Duration kComeWithin = std::chrono::minutes(1);
// What the quota says is used follows the pods; only after this it is sure to know them.
constexpr Duration kCountedWithin = std::chrono::seconds(1);

// What was promised to a job whose pods are still to come. Outlives sessions: such a job may be in
// none.
struct Promise {
  ResourceList amounts{};
  WallTime since{};
  ResourceList come{};                        // of its pods that are there
  std::set<std::string, std::less<>> pods{};  // these
  std::int64_t wanted = 0;
  WallTime changed{};  // when the last of them came

  WallTime next_change(WallTime now) const {
    return now < changed + kCountedWithin ? changed + kCountedWithin : since + kComeWithin;
  }
  bool kept(WallTime now) const {
    const bool all = static_cast<std::int64_t>(pods.size()) >= wanted;
    return now < since + kComeWithin && !(all && now >= changed + kCountedWithin);
  }
  ResourceList outstanding(WallTime now) const {
    if (now < changed + kCountedWithin) return amounts;
    ResourceList out;
    for (const auto& [name, amount] : amounts.amounts())
      out.set(name, std::max<std::int64_t>(amount - come.at(name), 0));
    return out;
  }
  bool counts_limits() const {
    const auto first = amounts.amounts().lower_bound(kLimits);
    return first != amounts.amounts().end() && first->first.starts_with(kLimits);
  }
  // A pod is read once, however many of its gang come after it.
  void look(const JobInfo& job, const ResourceNames& names, WallTime now) {
    wanted = job.min_member;
    if (pods.size() == job.tasks.size()) return;
    if (pods.size() > job.tasks.size()) pods.clear(), come = {};
    for (const Task& task : job.tasks) {
      if (pods.insert(task.spec->name()).second) come += used_by(task, counts_limits(), names);
    }
    changed = now;
  }
};
struct QuotaMemory {
  std::map<JobKey, Promise> promised{};
  // One version of each object, read once; nullopt: it limits nothing that is asked about here.
  std::map<Surroundings::Place, std::pair<ObjectPtr, std::optional<Quota>>> read{};
};

class ResourceQuotas final : public Plugin, public EnqueueHook {
 public:
  explicit ResourceQuotas(QuotaMemory& memory) : memory_(memory) {}

  void open(const Session& session) override {
    const auto& stored = session.surroundings().quotas;
    std::erase_if(memory_.read, [&](const auto& known) { return !stored.contains(known.first); });
    for (const auto& [place, object] : stored) {
      auto& [version, quota] = memory_.read[place];
      if (version != object) quota = quota_of(object);
      version = object;
      if (quota) quotas_[place.first].push_back(&*quota);
    }
    for (JobId id = 0; id < session.job_count(); ++id) {
      const JobInfo& job = session.job(id);
      const auto promise = memory_.promised.find(job.key);
      if (promise != memory_.promised.end())
        promise->second.look(job, session.names(), session.now());
    }
    std::erase_if(memory_.promised,
                  [&](const auto& entry) { return !entry.second.kept(session.now()); });
    for (const auto& [key, promise] : memory_.promised)
      promised_[key.name_space] += promise.outstanding(session.now());
  }

  Vote may_enqueue(const Session& session, JobId id, Refusal& why) const override {
    const JobInfo& job = session.job(id);
    const auto mine = quotas_.find(job.key.name_space);
    if (mine == quotas_.end()) return Vote::Permit;
    const ResourceList wanted = wanted_by(job);
    const auto promised = promised_.find(job.key.name_space);
    for (const Quota* one : mine->second) {
      const Quota& quota = *one;
      std::string requested, used, limited;
      std::vector<Shortfall> facts;
      for (const Limit& limit : quota.limits) {
        const std::int64_t asked = wanted.at(limit.counts);
        if (asked <= 0) continue;
        const std::int64_t before =
            sum_of(limit.used, promised == promised_.end() ? 0 : promised->second.at(limit.counts));
        if (sum_of(before, asked) <= limit.hard) continue;
        const auto add = [&](std::string& to, std::int64_t amount) {
          to += (to.empty() ? "" : ",") + limit.name + "=" + resource_text(limit.counts, amount);
        };
        add(requested, asked), add(used, before), add(limited, limit.hard);
        facts.push_back({"resourcequota " + quota.name,
                         limit.counts,
                         {{"requested", asked}, {"used", before}, {"limit", limit.hard}},
                         sum_of(sum_of(before, asked), -limit.hard)});
      }
      if (facts.empty()) continue;
      why = {"",
             "resource quota insufficient, requested: " + requested + ", used: " + used +
                 ", limited: " + limited,
             "resourcequota \"" + quota.name + "\"", codes::kNamespaceQuota, std::move(facts)};
      return Vote::Reject;
    }
    return Vote::Permit;
  }

  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (!job.min_resources || !quotas_.contains(job.key.name_space)) return;
    Promise promise{wanted_by(job), session.now()};
    promised_[job.key.name_space] += promise.amounts;
    promise.look(job, session.names(), session.now());
    memory_.promised[job.key] = std::move(promise);
  }

  // What was promised falls free when its time is over.
  void close(Session& session) override {
    std::map<std::string, WallTime> first;  // by namespace
    for (const auto& [key, promise] : memory_.promised) {
      const WallTime end = promise.next_change(session.now());
      WallTime& sooner = first.emplace(key.name_space, end).first->second;
      sooner = std::min(sooner, end);
    }
    for (JobId id = 0; id < session.job_count() && !first.empty(); ++id) {
      const auto end = first.find(session.job(id).key.name_space);
      if (end != first.end() && std::as_const(session).note(id).refused_admission)
        session.look_again(id, end->second);
    }
  }

 private:
  static std::optional<Quota> quota_of(const ObjectPtr& object) {
    const ObjectView view(object);
    const Json& document = view.document();
    const JsonArray* scopes = array_at(document, {"spec", "scopes"});
    if ((scopes != nullptr && !scopes->empty()) || find(document, {"spec", "scopeSelector"}))
      return std::nullopt;
    const Json* hard = find(document, {"status", "hard"});
    if (hard == nullptr) hard = find(document, {"spec", "hard"});
    if (hard == nullptr || !hard->is_object()) return std::nullopt;
    Quota out{object->name()};
    const ResourceList limits = ResourceList::from(hard);
    const ResourceList used = ResourceList::from(find(document, {"status", "used"}));
    for (const auto& [name, amount] : limits.amounts())
      out.limits.push_back({name, std::string(counted_as(name)), amount, used.at(name)});
    return out;
  }

  QuotaMemory& memory_;
  std::map<std::string, std::vector<const Quota*>> quotas_;  // by namespace
  std::map<std::string, ResourceList> promised_;
};

}  // namespace

Result<PluginFactory> configure_resourcequota(Arguments& arguments, const EnableFlags& flags) {
  const auto memory = std::make_shared<QuotaMemory>();
  return PluginFactory([memory](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<ResourceQuotas>(*memory), enabled);
  });
}

}  // namespace krater::scheduler
