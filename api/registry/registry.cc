#include "api/registry/registry.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "api/registry/collection.h"
#include "api/registry/commit.h"
#include "api/registry/defaults.h"
#include "api/registry/event_expiry.h"
#include "api/registry/eviction.h"
#include "api/registry/keys.h"
#include "api/registry/list.h"
#include "api/registry/projection.h"
#include "api/registry/replayed_rng.h"
#include "api/registry/status.h"
#include "api/registry/watch_cursor.h"
#include "api/webhook/caller.h"
#include "base/check.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

// A round of many writers of one object has one winner; a writer must be able to lose many.
// Upstream gives up after 5.
constexpr int kMaxTries = 100;
// Everything that is made in a namespace with a quota races for the quota.
constexpr int kMaxChargeTries = 10'000;

int max_tries(const std::vector<Change>& changes) {
  const bool charged =
      std::ranges::any_of(changes, [](const Change& change) { return !change.along.empty(); });
  return charged ? kMaxChargeTries : kMaxTries;
}

// All webhooks of a request, one after the other; upstream gives a whole request that long.
constexpr Duration kHookTime = std::chrono::seconds(60);

// A request on its way, kept by whoever works on it next.
struct Attempt {
  std::vector<client::Write> writes;
  RequestInfo info;
  Registry::ManyDone done;
  int tries = 0;
  // What stays the same when it is prepared again, so that webhooks are asked once.
  WallTime began{};
  std::optional<ReplayedRng> rng{};
  HookLedger ledger{};
};

// Webhooks that have been asked at once, of one request.
struct HookRound {
  explicit HookRound(std::vector<HookQuestion> some)
      : questions(std::move(some)), verdicts(questions.size()), open(questions.size()) {}
  std::vector<HookQuestion> questions;
  std::vector<HookVerdict> verdicts;  // each written by its own callback
  std::atomic<std::size_t> open;
};

struct EvictionAttempt {
  client::DeleteWrite options;
  RequestInfo info;
  Registry::Done done;
  int tries = 0;
};

Error with_index(Error error, std::size_t index, std::size_t count) {
  if (count == 1) return error;
  error.causes.insert(error.causes.begin(),
                      Cause{"", error.message, "[" + std::to_string(index) + "]"});
  return error;
}

class TheRegistry final : public Registry {
 public:
  explicit TheRegistry(RegistryDeps deps)
      : deps_(std::move(deps)), env_{deps_.schemas, deps_.rng, deps_.admission, judge_.get()} {}

  void write(client::Write write, RequestInfo info, Done done) override {
    std::vector<client::Write> writes;
    writes.push_back(std::move(write));
    transact(std::move(writes), std::move(info),
             [done = std::move(done)](Result<std::vector<Answer>> answers) {
               if (!answers) return done(std::move(answers).error());
               done(std::move(answers->front()));
             });
  }

  void transact(std::vector<client::Write> writes, RequestInfo info, ManyDone done) override {
    if (writes.empty()) return done(std::vector<Answer>());
    auto attempt = std::make_shared<Attempt>();
    attempt->writes = std::move(writes);
    attempt->info = std::move(info);
    attempt->done = std::move(done);
    attempt->began = deps_.clock.now();
    if (deps_.hooks != nullptr) attempt->rng.emplace(deps_.rng);
    run(std::move(attempt));
  }

  void evict(client::DeleteWrite options, RequestInfo info, Done done) override {
    options.kind = kinds::kPod;
    info.evicts = true;
    try_eviction(std::make_shared<EvictionAttempt>(
        EvictionAttempt{std::move(options), std::move(info), std::move(done)}));
  }

  void delete_collection(const Kind& kind, ListQuery query, client::DeleteWrite options,
                         RequestInfo info, ManyDone done) override {
    Result<ListResult> selected = list(kind, query);
    if (!selected) return done(std::move(selected).error());
    // Preconditions are about each of them: the first that does not meet them stops it all.
    for (const ObjectPtr& item : selected->items) {
      client::DeleteWrite one = options;
      one.name = item->name();
      if (Result<void> meant = check_preconditions(kind, one, *item); !meant)
        return done(std::move(meant).error());
    }
    delete_each(*this, kind, std::move(selected->items), std::move(options), std::move(info),
                std::move(done));
  }

  Result<ObjectPtr> get(const Kind& kind, std::string_view name_space, std::string_view name,
                        std::string_view resource_version) const override {
    TRY_ASSIGN(const KindSchemaPtr schema, schema_of(deps_.schemas, kind));
    TRY_ASSIGN(const std::optional<Revision> asked, parse_revision(resource_version));
    TRY_ASSIGN(storage::SnapshotPtr snapshot, snapshot_not_older(deps_.store, asked));
    TRY_ASSIGN(const ObjectPtr object,
               View(std::move(snapshot)).get(schema->stored_kind(), name_space, name));
    if (!object) return not_found(kind, name);
    return projected(*schema, object);
  }

  Result<ListResult> list(const Kind& kind, const ListQuery& query) const override {
    TRY_ASSIGN(const KindSchemaPtr schema, schema_of(deps_.schemas, kind));
    return read_list(deps_.store, schema, query);
  }

  Result<std::unique_ptr<Watch>> watch(const Kind& kind, const WatchQuery& query,
                                       std::function<void()> notify) const override {
    TRY_ASSIGN(KindSchemaPtr schema, schema_of(deps_.schemas, kind));
    return open_watch(deps_.store, std::move(schema), query, std::move(notify));
  }

  void create_defaults(std::function<void(Result<void>)> done) override {
    create_default_objects(*this, std::move(done));
  }

  void expire_events() override { delete_old_events(deps_.store, deps_.clock.now()); }

  const SchemaSet& schemas() const override { return deps_.schemas; }
  Revision revision() const override { return deps_.store.revision(); }

 private:
  using AttemptPtr = std::shared_ptr<Attempt>;

  // A budget or pod that changed meanwhile is judged anew.
  void try_eviction(const std::shared_ptr<EvictionAttempt>& attempt) {
    ++attempt->tries;
    Result<std::vector<client::Write>> writes =
        eviction_writes(attempt->options, View(deps_.store.snapshot()), deps_.clock.now());
    if (!writes) return attempt->done(std::move(writes).error());
    transact(*std::move(writes), attempt->info,
             [this, attempt](Result<std::vector<Answer>> answers) {
               if (answers) return attempt->done(std::move(answers->back()));
               Error error = std::move(answers).error();
               if (error.code != Code::Conflict || attempt->tries >= kMaxTries) {
                 // Which of our writes it was is nothing to the client.
                 std::erase_if(error.causes,
                               [](const Cause& cause) { return cause.field.starts_with('['); });
                 return attempt->done(std::move(error));
               }
               if (!deps_.offload) return try_eviction(attempt);
               deps_.offload([this, attempt] { try_eviction(attempt); });
             });
  }

  void run(AttemptPtr attempt) {
    ++attempt->tries;
    Result<std::vector<Change>> prepared = prepare_all(*attempt);
    if (attempt->ledger.waiting()) return ask_hooks(attempt);
    if (!prepared) return attempt->done(std::move(prepared).error());
    if (attempt->info.dry_run) return attempt->done(served(*attempt, dry_answers(*prepared)));
    Result<CommitPlan> plan = plan_commit(*prepared);
    if (!plan) return attempt->done(std::move(plan).error());
    if (plan->transaction.ops.empty())
      return attempt->done(served(*attempt, answers_of(*plan, *prepared, {})));

    storage::Transaction transaction = std::move(plan->transaction);
    plan->transaction = {};
    auto context = std::make_shared<std::pair<CommitPlan, std::vector<Change>>>(
        *std::move(plan), *std::move(prepared));
    deps_.store.commit(
        std::move(transaction),
        [this, attempt = std::move(attempt), context = std::move(context)](
            std::optional<storage::CommitFailure> failure, storage::Committed committed) {
          if (!failure)
            return attempt->done(
                served(*attempt, answers_of(context->first, context->second, committed)));
          lose(attempt, context->first, context->second, *failure);
        });
  }

  // Nobody waits here: the write goes on when the last answer is in.
  void ask_hooks(const AttemptPtr& attempt) {
    --attempt->tries;  // nothing has been lost
    const Duration left = kHookTime - (deps_.clock.now() - attempt->began);
    if (left <= Duration::zero()) {
      return attempt->done(
          make_error(Code::Timeout, "Timeout: request did not complete within requested timeout"));
    }
    const auto round = std::make_shared<HookRound>(attempt->ledger.take_open());
    for (std::size_t i = 0; i < round->questions.size(); ++i) {
      deps_.hooks->call(round->questions[i], left, [this, attempt, round, i](HookVerdict verdict) {
        round->verdicts[i] = std::move(verdict);
        if (round->open.fetch_sub(1) != 1) return;
        for (std::size_t k = 0; k < round->questions.size(); ++k) {
          attempt->ledger.enter(round->questions[k], std::move(round->verdicts[k]));
        }
        run(attempt);
      });
    }
  }

  void lose(const AttemptPtr& attempt, const CommitPlan& plan, const std::vector<Change>& changes,
            const storage::CommitFailure& failure) {
    const Loss loss = judge_failure(plan, changes, failure);
    if (!loss.repeatable || attempt->tries >= max_tries(changes)) {
      return attempt->done(with_index(error_of_loss(changes, loss, failure),
                                      loss.change.value_or(0), changes.size()));
    }
    // A name that was taken must be drawn anew.
    if (attempt->rng && loss.change && changes[*loss.change].generated_name) attempt->rng->forget();
    if (!deps_.offload) return run(attempt);
    deps_.offload([this, attempt] { run(attempt); });
  }

  Result<std::vector<Change>> prepare_all(Attempt& attempt) {
    if (!attempt.rng) return prepare_all(attempt, env_, deps_.clock.now(), nullptr);
    attempt.rng->rewind();
    const PipelineEnv env{deps_.schemas, *attempt.rng, deps_.admission, judge_.get()};
    HookDesk desk{hook_cache_, attempt.ledger};
    return prepare_all(attempt, env, attempt.began, &desk);
  }

  // What waits for webhooks is left out, so that those of all writes are asked at once.
  Result<std::vector<Change>> prepare_all(const Attempt& attempt, const PipelineEnv& env,
                                          WallTime now, HookDesk* desk) const {
    View view(deps_.store.snapshot());
    const PrepareInput in{env, attempt.info, view, now, desk};
    std::vector<Change> out;
    out.reserve(attempt.writes.size());
    for (std::size_t i = 0; i < attempt.writes.size(); ++i) {
      Result<Change> change = prepare(attempt.writes[i], in);
      if (!change && attempt.ledger.waiting()) continue;
      if (!change) return with_index(std::move(change).error(), i, attempt.writes.size());
      if (i + 1 < attempt.writes.size() && change->what != Change::What::Nothing) {
        view.set(store_key(change->place),
                 change->what == Change::What::Put ? outcome_of(*change) : nullptr);
        for (const std::string& claim : change->claims_taken) view.claim(claim);
        for (const Change& more : change->along) view.set(store_key(more.place), outcome_of(more));
      }
      out.push_back(*std::move(change));
    }
    return out;
  }

  // Objects of kinds that are stored as another kind go out as the kind that was asked for.
  std::vector<Answer> served(const Attempt& attempt, std::vector<Answer> answers) const {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Kind* kind = kind_of(attempt.writes[i]);
      if (kind == nullptr) continue;
      const KindSchemaPtr schema = deps_.schemas.find(kind->group, kind->version, kind->plural);
      if (schema) answers[i].object = projected(*schema, answers[i].object);
    }
    return answers;
  }

  static const Kind* kind_of(const client::Write& write) {
    struct Of {
      const Kind* operator()(const client::BindWrite&) const { return nullptr; }
      const Kind* operator()(const client::CreateWrite& w) const { return &w.kind; }
      const Kind* operator()(const client::UpdateWrite& w) const { return &w.kind; }
      const Kind* operator()(const client::PatchWrite& w) const { return &w.kind; }
      const Kind* operator()(const client::DeleteWrite& w) const { return &w.kind; }
    };
    return std::visit(Of{}, write);
  }

  RegistryDeps deps_;
  const std::unique_ptr<PolicyJudge> judge_ = make_policy_judge();
  PipelineEnv env_;
  HookCache hook_cache_;
};

// Deletes that always answer with the object, also when it is gone.
bool answers_with_object(const Kind& kind) {
  return kind == kinds::kPod || kind == kinds::kService || kind == kinds::kServiceAccount ||
         kind == kinds::kPersistentVolume || kind == kinds::kPersistentVolumeClaim ||
         kind == kinds::kResourceQuota || kind.resource() == "podtemplates" ||
         kind.group == "storage.k8s.io";
}

}  // namespace

std::unique_ptr<Registry> make_registry(RegistryDeps deps) {
  return std::make_unique<TheRegistry>(std::move(deps));
}

Bytes delete_body(const Kind& kind, const Answer& answer) {
  if (!answer.gone || answers_with_object(kind)) return answer.object->bytes();
  JsonObject details;
  details["name"] = answer.object->name();
  if (!kind.group.empty()) details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = answer.object->uid().text();
  return std::make_shared<const std::string>(to_json(success_status(std::move(details))));
}

std::string delete_collection_body(const KindSchema& schema, const std::vector<Answer>& answers,
                                   Revision at) {
  std::string out = "{\"kind\":\"" + schema.list_kind() + "\",\"apiVersion\":\"" +
                    schema.kind().api_version() + "\",\"metadata\":{\"resourceVersion\":\"" +
                    at.text() + "\"},\"items\":[";
  for (const Answer& answer : answers) {
    if (&answer != answers.data()) out += ',';
    out += *answer.object->bytes();
  }
  return out.append(kListTail);
}

}  // namespace krater::api
