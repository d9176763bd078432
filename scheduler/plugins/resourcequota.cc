// resourcequota: a job is admitted when its minResources fit into every ResourceQuota of its
// namespace, beside what is used and what was promised to jobs admitted before whose pods are still
// to come (volcano.md 4.12). Quotas with scopes say nothing about a job as a whole and are left to
// the API.
#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/amounts.h"
#include "scheduler/explain.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

struct Limit {
  std::string name, resource;  // "requests.cpu", "cpu"
  std::int64_t hard = 0, used = 0;
};
struct Quota {
  std::string name;
  std::vector<Limit> limits{};
};

// "requests.cpu" limits what "cpu" does.
std::string_view plain(std::string_view name) {
  constexpr std::string_view kPrefix = "requests.";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

// Of one entry in a list of quantities: in the unit of the resource it limits.
std::int64_t amount_of(const Json* list, const std::string& name, const std::string& resource) {
  const Json* given = list == nullptr ? nullptr : find(*list, {name});
  if (given == nullptr) return 0;
  const Json one(JsonObject{{resource, *given}});
  return ResourceList::from(&one).at(resource);
}

// Pods that have not come by then are not waited for.
constexpr Duration kComeWithin = std::chrono::minutes(1);
// What the quota says is used follows the pods; only after this it is sure to know them.
constexpr Duration kCountedWithin = std::chrono::seconds(1);

// What was promised to a job whose pods are still to come. Outlives sessions: such a job may be in
// none.
struct Promise {
  Resource amounts{};
  WallTime since{};
  Resource come{};       // of its pods that are there
  std::size_t pods = 0;  // so many
  std::int64_t wanted = 0;
  WallTime changed{};  // when the last of them came

  WallTime next_change(WallTime now) const {
    return now < changed + kCountedWithin ? changed + kCountedWithin : since + kComeWithin;
  }
  bool kept(WallTime now) const {
    const bool all = static_cast<std::int64_t>(pods) >= wanted;
    return now < since + kComeWithin && !(all && now >= changed + kCountedWithin);
  }
  Resource outstanding(WallTime now) const {
    return now < changed + kCountedWithin ? amounts : (amounts - come).clamped();
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
      if (promise != memory_.promised.end()) look(job, promise->second, session.now());
    }
    std::erase_if(memory_.promised,
                  [&](const auto& entry) { return !entry.second.kept(session.now()); });
    for (const auto& [key, promise] : memory_.promised)
      promised_[key.name_space] += promise.outstanding(session.now()).to_list(session.names());
  }

  Vote may_enqueue(const Session& session, JobId id, Refusal& why) const override {
    const JobInfo& job = session.job(id);
    const auto mine = quotas_.find(job.key.name_space);
    if (mine == quotas_.end()) return Vote::Permit;
    const ResourceList wanted = job.min_resources->to_list(session.names());
    const auto promised = promised_.find(job.key.name_space);
    for (const Quota* one : mine->second) {
      const Quota& quota = *one;
      std::string requested, used, limited;
      std::vector<Shortfall> facts;
      for (const Limit& limit : quota.limits) {
        const std::int64_t asked = wanted.at(limit.resource);
        if (asked <= 0) continue;
        const std::int64_t before = sum_of(
            limit.used, promised == promised_.end() ? 0 : promised->second.at(limit.resource));
        if (sum_of(before, asked) <= limit.hard) continue;
        const auto add = [&](std::string& to, std::int64_t amount) {
          to += (to.empty() ? "" : ",") + limit.name + "=" + resource_text(limit.resource, amount);
        };
        add(requested, asked), add(used, before), add(limited, limit.hard);
        facts.push_back({"resourcequota " + quota.name,
                         limit.resource,
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
    if (!job.min_resources) return;
    promised_[job.key.name_space] += job.min_resources->to_list(session.names());
    Promise promise{*job.min_resources, session.now()};
    look(job, promise, session.now());
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
  static void look(const JobInfo& job, Promise& promise, WallTime now) {
    promise.wanted = job.min_member;
    if (promise.pods == job.tasks.size()) return;
    promise.pods = job.tasks.size();
    promise.changed = now;
    promise.come = Resource();
    for (const Task& task : job.tasks) promise.come += task.spec->shape->request;
  }

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
    for (const auto& member : hard->get_object()) {
      const std::string name(member.key().data(), member.key().size()), resource(plain(name));
      out.limits.push_back({name, resource, amount_of(hard, name, resource),
                            amount_of(find(document, {"status", "used"}), name, resource)});
    }
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
