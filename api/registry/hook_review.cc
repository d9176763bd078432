#include "api/registry/hook_review.h"

#include <optional>
#include <set>

#include "api/machinery/custom/custom_kind.h"
#include "api/machinery/patch.h"
#include "api/policy/match.h"
#include "api/registry/hook_request.h"
#include "api/registry/status.h"
#include "base/go_quote.h"
#include "model/policy_kinds.h"

namespace krater::api {
namespace {

// A webhook that is meant, and as which version of the kind its rules know it.
struct Candidate {
  HookPtr hook;
  Kind kind;
};

// Nobody sees it: whoever prepares looks at the ledger first.
Error unanswered() {
  return make_error(Code::Unavailable, "webhooks have not answered yet");
}

PolicyRequest policy_request(const HookSubject& subject, const Kind& kind, const Json* object,
                             const Json* old, const RequestInfo& info) {
  return {subject.operation,
          kind,
          subject.name_space,
          subject.name,
          subject.subresource,
          object,
          old,
          info.user,
          info.groups,
          info.dry_run};
}

// The other versions of a user's kind. Built-in kinds are asked about as the one they are stored
// as.
std::vector<Kind> equivalents(const Kind& kind, const SchemaSet& schemas) {
  std::vector<Kind> out;
  for (const KindSchemaPtr& schema : schemas.all()) {
    const Kind& other = schema->kind();
    if (other.group == kind.group && other.plural == kind.plural && other != kind &&
        as_custom(*schema) != nullptr) {
      out.push_back(other);
    }
  }
  return out;
}

Result<std::vector<Candidate>> candidates(HookKind which, const HookSubject& subject,
                                          const PrepareInput& in) {
  std::vector<Candidate> out;
  // An eviction is one question; what it notes on the way is its own business. And nothing is
  // asked that could be needed to repair a webhook.
  const bool asked = in.hooks != nullptr && !in.info.unhooked &&
                     (!in.info.evicts || subject.subresource == "eviction") &&
                     subject.resource.group != kinds::kValidatingAdmissionPolicy.group;
  if (!asked) return out;
  TRY_ASSIGN(const std::vector<HookPtr>* const hooks, in.hooks->of(which, in.view));
  std::optional<std::vector<Kind>> others;
  for (const HookPtr& hook : *hooks) {
    const auto named_as = [&](const Kind& kind) {
      const Result<bool> named =
          matches(&hook->rules, policy_request(subject, kind, nullptr, nullptr, in.info), in.view);
      return named && *named;
    };
    const JsonArray* rules = array_at(hook->rules, {"resourceRules"});
    if (rules == nullptr || rules->empty()) continue;
    if (named_as(subject.resource)) {
      out.push_back({hook, subject.resource});
      continue;
    }
    if (!hook->equivalent) continue;
    if (!others) others = equivalents(subject.resource, in.env.schemas);
    for (const Kind& other : *others) {
      if (!named_as(other)) continue;
      out.push_back({hook, other});
      break;
    }
  }
  return out;
}

// Versions of users' kinds differ in name alone.
void rename_version(Json& object, const HookSubject& subject, const Kind& kind) {
  if (subject.shown == subject.resource) set_path(object, {"apiVersion"}, Json(kind.api_version()));
}

// Selectors and conditions.
Result<bool> selected(const Candidate& candidate, const HookSubject& subject, const Json* object,
                      const Json* old, const PrepareInput& in) {
  const Hook& hook = *candidate.hook;
  const PolicyRequest request = policy_request(subject, candidate.kind, object, old, in.info);
  TRY_ASSIGN(const bool chosen, matches(&hook.selectors, request, in.view));
  if (!chosen || hook.conditions == nullptr) return chosen;
  Result<bool> hold = conditions_hold(*hook.conditions, request);
  if (!hold) return forbidden(subject.resource, subject.name, hold.error().message);
  return hold;
}

void note(const PrepareInput& in, std::string key, std::string value) {
  if (in.info.notes) in.info.notes->insert_or_assign(std::move(key), std::move(value));
}

std::string place_text(int round, std::size_t index) {
  return "round_" + std::to_string(round) + "_index_" + std::to_string(index);
}

// What the webhook says, its warnings and notes taken along; null while it has not answered.
Result<const HookVerdict*> hear(const Candidate& candidate, const HookSubject& subject,
                                const Json* object, const Json* old, const PrepareInput& in,
                                std::vector<std::string>& warnings) {
  const Hook& hook = *candidate.hook;
  if (in.info.dry_run && !hook.dry_runs()) {
    return bad_request("admission webhook " + go_quoted(hook.name) + " does not support dry run");
  }
  const HookVerdict* verdict = in.hooks->ledger.ask(
      candidate.hook, hook_request(subject, candidate.kind, object, old, in.info),
      name_of(subject.operation));
  if (verdict == nullptr) return verdict;
  warnings.insert(warnings.end(), verdict->warnings.begin(), verdict->warnings.end());
  for (const auto& [key, value] : verdict->annotations) note(in, hook.name + "/" + key, value);
  return verdict;
}

// A refusal, or a failure that counts as one.
Result<void> heed(const Hook& hook, const HookVerdict& verdict) {
  switch (verdict.outcome) {
    case HookVerdict::Outcome::Allowed:
      return {};
    case HookVerdict::Outcome::Denied:
      return verbatim(verdict.status);
    case HookVerdict::Outcome::Failed:
      if (!hook.fail) return {};
      return internal_error("failed calling webhook " + go_quoted(hook.name) + ": " +
                            verdict.failure);
  }
  return {};
}

// One way of a write past its mutating webhooks.
class Mutating {
 public:
  Mutating(const HookSubject& subject, HookedObject* object, const Json* old,
           const PrepareInput& in, std::vector<std::string>& warnings)
      : subject_(subject), object_(object), old_(old), in_(in), warnings_(warnings) {}

  Result<void> run() {
    TRY_ASSIGN(const std::vector<Candidate> all, candidates(HookKind::Mutating, subject_, in_));
    if (all.empty()) return {};
    if (object_ != nullptr) now_ = object_->show();
    TRY(round(all, 0));
    if (!changed_) return {};
    TRY(object_->built_in());
    Json again = object_->show();
    if (again != now_) {
      now_ = std::move(again);
      call_back();
    }
    return round(all, 1);
  }

 private:
  const Json* shown() const { return object_ == nullptr ? nullptr : &now_; }

  Result<void> round(const std::vector<Candidate>& all, int round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const HookPtr& hook = all[i].hook;
      TRY_ASSIGN(const bool meant, selected(all[i], subject_, shown(), old_, in_));
      if (!meant || (round > 0 && recalled_.count(hook->id) == 0)) continue;
      TRY_ASSIGN(const HookVerdict* const verdict,
                 hear(all[i], subject_, shown(), old_, in_, warnings_));
      if (verdict == nullptr) return unanswered();
      TRY(heed(*hook, *verdict));
      const std::string place = place_text(round, i);
      if (verdict->outcome == HookVerdict::Outcome::Failed) {
        note(in_, "failed-open.mutation.webhook.admission.k8s.io/" + place, hook->name);
      }
      TRY_ASSIGN(const bool changed, apply(all[i], *verdict));
      tell(*hook, *verdict, changed, place);
      if (changed) call_back();
      if (hook->reinvoke) asked_.insert(hook->id);
    }
    return {};
  }

  // Those that were asked before a change, and want to see it.
  void call_back() {
    recalled_.insert(asked_.begin(), asked_.end());
    asked_.clear();
  }

  Result<bool> apply(const Candidate& candidate, const HookVerdict& verdict) {
    if (verdict.patch.is_null()) return false;
    if (object_ == nullptr) {
      return internal_error("admission webhook " + go_quoted(candidate.hook->name) +
                            " attempted to modify the object, which is not supported for this "
                            "operation");
    }
    Json patched = now_;
    rename_version(patched, subject_, candidate.kind);
    if (const Result<void> done = json_patch(patched, verdict.patch); !done) {
      const std::vector<Cause>& causes = done.error().causes;
      return internal_error(causes.empty() ? done.error().message : causes.front().message);
    }
    rename_version(patched, subject_, subject_.resource);
    if (const Result<void> taken = object_->take(std::move(patched)); !taken)
      return internal_error(taken.error().message);
    Json after = object_->show();
    const bool changed = after != now_;
    now_ = std::move(after);
    changed_ = changed_ || changed;
    return changed;
  }

  void tell(const Hook& hook, const HookVerdict& verdict, bool changed, const std::string& place) {
    if (!in_.info.notes) return;
    JsonObject what{{"configuration", hook.configuration}, {"webhook", hook.name}};
    JsonObject mutated = what;
    mutated["mutated"] = changed;
    note(in_, "mutation.webhook.admission.k8s.io/" + place, to_json(mutated));
    if (verdict.patch.is_null()) return;
    what["patch"] = verdict.patch;
    what["patchType"] = "JSONPatch";
    note(in_, "patch.webhook.admission.k8s.io/" + place, to_json(what));
  }

  const HookSubject& subject_;
  HookedObject* object_;
  const Json* old_;
  const PrepareInput& in_;
  std::vector<std::string>& warnings_;
  Json now_;
  bool changed_ = false;
  std::set<std::string> asked_, recalled_;  // ids of those that may be asked again
};

}  // namespace

Result<void> ask_mutating_hooks(const HookSubject& subject, HookedObject* object, const Json* old,
                                const PrepareInput& in, std::vector<std::string>& warnings) {
  return Mutating(subject, object, old, in, warnings).run();
}

Result<void> ask_validating_hooks(const HookSubject& subject, const Json* object, const Json* old,
                                  const PrepareInput& in, std::vector<std::string>& warnings) {
  TRY_ASSIGN(const std::vector<Candidate> all, candidates(HookKind::Validating, subject, in));
  std::vector<std::pair<HookPtr, const HookVerdict*>> verdicts;
  bool open = false;
  for (const Candidate& one : all) {
    TRY_ASSIGN(const bool meant, selected(one, subject, object, old, in));
    if (!meant) continue;
    TRY_ASSIGN(const HookVerdict* const verdict, hear(one, subject, object, old, in, warnings));
    open = open || verdict == nullptr;
    verdicts.emplace_back(one.hook, verdict);
  }
  if (open) return unanswered();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto& [hook, verdict] = verdicts[i];
    TRY(heed(*hook, *verdict));
    if (verdict->outcome == HookVerdict::Outcome::Failed) {
      note(in, "failed-open.validating.webhook.admission.k8s.io/" + place_text(0, i), hook->name);
    }
  }
  return {};
}

Result<bool> any_hook(HookKind kind, const HookSubject& subject, const PrepareInput& in) {
  TRY_ASSIGN(const std::vector<Candidate> all, candidates(kind, subject, in));
  return !all.empty();
}

}  // namespace krater::api
