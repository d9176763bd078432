// extender: asks a server of the user's over HTTP, one verb a question (volcano.md 4.12). After a
// call that failed the rest of the session goes on without it, as if that had failed too, so that
// an extender that hangs costs one timeout a cycle; and all calls of a cycle have a time together.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/log.h"
#include "scheduler/extender_caller.h"
#include "scheduler/plugins/extender_messages.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

constexpr std::size_t kLargestReply = std::size_t{10} << 20;
constexpr int kTimeoutsPerCycle = 10;

struct ExtenderArgs {
  std::string url;  // without a slash at its end
  Duration timeout = std::chrono::seconds(1);
  // "": not asked.
  std::string open, close, predicate, prioritize, preemptable, reclaimable, overused, enqueueable,
      enqueued, ready, allocated, deallocated;
  bool ignorable = false;
  std::set<std::string, std::less<>> resources{};  // pods that ask for none of them are not its
};

Json message(std::string_view name, Json value) {
  JsonObject out;
  out[name] = std::move(value);
  return Json(std::move(out));
}

class Extender final : public Plugin,
                       public TaskFilterHook,
                       public TaskScoreHook,
                       public PreemptableHook,
                       public ReclaimableHook,
                       public EnqueueHook,
                       public OverusedHook,
                       public JobReadyHook {
 public:
  explicit Extender(const ExtenderArgs& args) : args_(args) {}

  void open(const Session& session) override {
    session_ = &session;
    caller_ = session.extender();
    if (caller_ != nullptr) caller_->begin(args_.timeout * kTimeoutsPerCycle);
    if (!args_.open.empty()) let_know(args_.open, session_message(session));
  }
  // Nothing tells when it would answer otherwise: whoever waits is tried again.
  void close(Session& session) override {
    if (!args_.close.empty()) let_know(args_.close, Json(JsonObject()));
    for (JobId id = 0; said_no_ && id < session.job_count(); ++id) {
      if (!session.parked(id) && session.job(id).open()) session.note(id).put_off = true;
    }
  }
  void placed(const Session& session, JobId, const TaskSpec& task) override {
    ++moves_[session.pod_moves().back().node];
    tell(session, args_.allocated, task);
  }
  void unplaced(const Session& session, JobId, const TaskSpec& task) override {
    ++moves_[session.pod_moves().back().node];
    tell(session, args_.deallocated, task);
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    const TaskSpec& spec = *session.task(task).spec;
    if ((args_.predicate.empty() && args_.prioritize.empty()) || !is_its(spec)) return {};
    return {"extender " + spec.pod->uid().text()};
  }
  std::string reject_task(const Session& session, TaskRef task, NodeSlot node,
                          bool) const override {
    if (args_.predicate.empty()) return {};
    const auto moved = moves_.find(node);
    Verdict& known = verdicts_[{task, node}];
    const std::int64_t moves = moved == moves_.end() ? 0 : moved->second;
    if (known.asked_at == moves) return known.text;
    JsonObject about;
    about["task"] = task_message(session, session.task(task));
    about["node"] = node_message(session, node);
    const Result<Json> answer = ask(args_.predicate, Json(std::move(about)));
    known = {moves, answer            ? text_at(*answer, {"status"})
                    : args_.ignorable ? std::string()
                                      : "extender: " + answer.error().message};
    said_no_ = said_no_ || !known.text.empty();
    return known.text;
  }
  std::int64_t score_task(const Session& session, TaskRef task, NodeSlot node) const override {
    if (args_.prioritize.empty()) return 0;
    const auto [place, fresh] = scores_.try_emplace(task);
    if (fresh) {
      JsonArray nodes;
      for (const NodeSlot slot : session.node_order()) nodes.push_back(node_message(session, slot));
      JsonObject about;
      about["task"] = task_message(session, session.task(task));
      about["nodes"] = std::move(nodes);
      const Result<Json> answer = ask(args_.prioritize, Json(std::move(about)));
      const Json* given = answer ? find(*answer, {"nodeScore"}) : nullptr;
      if (given != nullptr && given->is_object() && text_at(*answer, {"errorMessage"}).empty())
        place->second = scores_of(given->get_object());
    }
    const auto score = place->second.find(session.node(node).name);
    return score == place->second.end() ? 0 : score->second;
  }

  std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    return victims(session, args_.preemptable, claimant, candidates);
  }
  std::optional<TaskRefs> reclaimable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    return victims(session, args_.reclaimable, claimant, candidates);
  }

  Vote may_enqueue(const Session& session, JobId job, Refusal& why) const override {
    if (args_.enqueueable.empty()) return Vote::Abstain;
    const Result<Json> answer =
        ask(args_.enqueueable, message("job", job_message(session, session.job(job))));
    const std::int64_t status = answer            ? int_at(*answer, {"status"}).value_or(0)
                                : args_.ignorable ? 1
                                                  : -1;
    if (status >= 0) return status > 0 ? Vote::Permit : Vote::Abstain;
    said_no_ = true;
    why = {"", "the extender does not admit it", answer ? std::string() : answer.error().message,
           codes::kExtender};
    return Vote::Reject;
  }
  void enqueued(const Session& session, JobId job) override {
    if (args_.enqueued.empty()) return;
    let_know(args_.enqueued, message("job", job_message(session, session.job(job))));
  }
  bool overused(const Session& session, QueueId queue, Refusal& why) const override {
    if (args_.overused.empty()) return false;
    const Result<Json> answer =
        ask(args_.overused, message("queue", queue_message(session.queue(queue))));
    const bool yes = answer ? is_true(*answer, "overused") : !args_.ignorable;
    if (!yes) return false;
    said_no_ = true;
    why = {"", "the extender says that the queue is overused",
           answer ? std::string() : answer.error().message, codes::kExtender};
    return true;
  }
  bool job_ready(const JobInfo& job) const override {
    if (args_.ready.empty()) return true;
    const Result<Json> answer = ask(args_.ready, message("job", job_message(*session_, job)));
    const bool yes = answer ? is_true(*answer, "status") : args_.ignorable;
    said_no_ = said_no_ || !yes;
    return yes;
  }

 private:
  struct Verdict {
    std::int64_t asked_at = -1;  // when so many had come to the node or left it
    std::string text{};
  };

  static bool is_true(const Json& answer, std::string_view field) {
    const Json* given = find(answer, {field});
    return given != nullptr && given->is_bool() && given->get_bool();
  }

  static std::map<std::string, std::int64_t> scores_of(const JsonObject& given) {
    constexpr double kMost = 1e9;  // nobody needs more, and sums stay small
    std::map<std::string, std::int64_t> out;
    for (const auto& one : given) {
      const Json& value = one.value();
      if (!value.is_number()) continue;
      const double points = std::clamp(value.to_number<double>(), -kMost, kMost);
      out.emplace(std::string(one.key().data(), one.key().size()),
                  static_cast<std::int64_t>(points * static_cast<double>(kPoint)));
    }
    return out;
  }

  bool is_its(const TaskSpec& task) const {
    if (args_.resources.empty()) return true;
    const Resource& request = task.shape->request;
    for (Dim d = 0; d < request.dims(); ++d) {
      if (request.at(d) > 0 && args_.resources.contains(session_->names().name(d))) return true;
    }
    return false;
  }

  // The answer's body; what went wrong otherwise.
  Result<Json> ask(const std::string& verb, const Json& about) const {
    Result<Json> out = try_to_ask(verb, about);
    if (!out && !failed_) {
      failed_ = said_no_ = true;
      log::warn("scheduler.extender.failed", {{"verb", verb}, {"why", out.error().message}});
    }
    return out;
  }
  // Whatever it answers.
  void let_know(const std::string& verb, const Json& about) const {
    static_cast<void>(ask(verb, about));
  }
  Result<Json> try_to_ask(const std::string& verb, const Json& about) const {
    if (caller_ == nullptr)
      return make_error(Code::Unavailable, "there is no extender to ask here");
    if (failed_) return make_error(Code::Unavailable, "it did not answer before in this cycle");
    HttpRequest request{"POST", args_.url + "/" + verb};
    request.headers.emplace_back("Content-Type", "application/json");
    append_json(request.body, about);
    request.timeout = args_.timeout;
    request.max_reply_bytes = kLargestReply;
    TRY_ASSIGN(const HttpResponse reply, caller_->call(std::move(request)));
    if (reply.status != 200) {
      return make_error(Code::Unavailable, "failed " + verb + " with extender at URL " + args_.url +
                                               "/" + verb + ", code " +
                                               std::to_string(reply.status));
    }
    if (reply.body.empty()) return Json(JsonObject());
    return parse_json(reply.body);
  }

  void tell(const Session& session, const std::string& verb, const TaskSpec& spec) const {
    if (verb.empty() || !is_its(spec)) return;
    Task task{std::make_shared<const TaskSpec>(spec)};
    task.node = session.pod_moves().back().node;
    task.status = session.pod_moves().back().sign > 0 ? TaskStatus::Allocated : TaskStatus::Pending;
    const Result<Json> answer = ask(verb, message("task", task_message(session, task)));
    const std::string wrong = answer ? text_at(*answer, {"errorMessage"}) : std::string();
    if (!wrong.empty()) log::warn("scheduler.extender.objects", {{"verb", verb}, {"why", wrong}});
  }

  std::optional<TaskRefs> victims(const Session& session, const std::string& verb, TaskRef claimant,
                                  const TaskRefs& candidates) const {
    if (verb.empty() || !is_its(*session.task(claimant).spec)) return std::nullopt;
    JsonArray evictees;
    for (const TaskRef& one : candidates)
      evictees.push_back(task_message(session, session.task(one)));
    JsonObject about;
    about["evictor"] = task_message(session, session.task(claimant));
    about["evictees"] = std::move(evictees);
    const Result<Json> answer = ask(verb, Json(std::move(about)));
    // As upstream: whoever cannot be asked allows nobody to go.
    if (!answer) return TaskRefs();
    if (int_at(*answer, {"status"}).value_or(0) == 0) return std::nullopt;
    std::set<std::string> named;
    if (const JsonArray* list = array_at(*answer, {"victims"})) {
      for (const Json& one : *list) named.insert(text_at(one, {"UID"}));
    }
    TaskRefs out;
    for (const TaskRef& one : candidates) {
      if (named.contains(session.task(one).spec->pod->uid().text())) out.push_back(one);
    }
    return out;
  }

  const ExtenderArgs& args_;
  const Session* session_ = nullptr;
  ExtenderCaller* caller_ = nullptr;
  std::map<NodeSlot, std::int64_t> moves_;
  mutable bool failed_ = false;   // not asked any more
  mutable bool said_no_ = false;  // to somebody
  mutable std::map<std::pair<TaskRef, NodeSlot>, Verdict> verdicts_;
  mutable std::map<TaskRef, std::map<std::string, std::int64_t>> scores_;
};

Result<void> read_where(Arguments& arguments, ExtenderArgs& out) {
  TRY_ASSIGN(out.url, arguments.string("extender.urlPrefix", ""));
  while (out.url.ends_with('/')) out.url.pop_back();
  if (!out.url.starts_with("http://") && !out.url.starts_with("https://"))
    return make_error(Code::Invalid, "argument \"extender.urlPrefix\" must be a URL");
  TRY_ASSIGN(const std::string timeout, arguments.string("extender.httpTimeout", "1s"));
  const std::optional<Duration> parsed = parse_go_duration(timeout);
  if (!parsed || *parsed <= Duration(0))
    return make_error(Code::Invalid,
                      "argument \"extender.httpTimeout\" must be a time such as 100ms");
  // The whole scheduler waits for it.
  if (*parsed > std::chrono::seconds(10))
    return make_error(Code::Invalid, "argument \"extender.httpTimeout\" must be 10s at most");
  out.timeout = *parsed;
  TRY_ASSIGN(out.ignorable, arguments.boolean("extender.ignorable", false));
  TRY_ASSIGN(const JsonArray* resources, arguments.list("extender.managedResources"));
  if (resources == nullptr) return {};
  for (const Json& one : *resources) {
    if (!one.is_string())
      return make_error(Code::Invalid,
                        "argument \"extender.managedResources\" must be a list of names");
    out.resources.emplace(view(one.get_string()));
  }
  return {};
}

}  // namespace

Result<PluginFactory> configure_extender(Arguments& arguments, const EnableFlags& flags) {
  const auto args = std::make_shared<ExtenderArgs>();
  TRY(read_where(arguments, *args));
  const std::pair<std::string_view, std::string*> verbs[] = {
      {"extender.onSessionOpenVerb", &args->open},
      {"extender.onSessionCloseVerb", &args->close},
      {"extender.predicateVerb", &args->predicate},
      {"extender.prioritizeVerb", &args->prioritize},
      {"extender.preemptableVerb", &args->preemptable},
      {"extender.reclaimableVerb", &args->reclaimable},
      {"extender.queueOverusedVerb", &args->overused},
      {"extender.jobEnqueueableVerb", &args->enqueueable},
      {"extender.jobEnqueuedVerb", &args->enqueued},
      {"extender.jobReadyVerb", &args->ready},
      {"extender.allocateFuncVerb", &args->allocated},
      {"extender.deallocateFuncVerb", &args->deallocated}};
  for (const auto& [key, verb] : verbs) {
    TRY_ASSIGN(*verb, arguments.string(key, ""));
  }
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Extender>(*args), enabled);
  });
}

}  // namespace krater::scheduler
