// Jobs, and CronJobs around them.
#include "api/machinery/rules/job_policies.h"
#include "api/machinery/rules/rules.h"
#include "base/cron_schedule.h"
#include "base/strings.h"
#include "model/selector.h"

namespace krater::api::rules {
namespace {

constexpr std::size_t kMaxCronJobName = 52;  // a Job's 63, less the moment of its schedule

bool same(const Json& a, const Json& b, std::string_view field) {
  const Json* left = find(a, {field});
  const Json* right = find(b, {field});
  return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
}

void check_template(const RuleInput& in, FieldErrors& errors) {
  const FieldPath pod_template = in.path.field("template");
  const FieldPath spec = pod_template.field("spec");
  const std::string policy = text_at(in.value, {"template", "spec", "restartPolicy"});
  const bool failure_policy = find(in.value, {"podFailurePolicy"}) != nullptr;
  if (policy == "Always") {
    // What was left out has become Always, too: the original asks for a value.
    errors.required(spec.field("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
  } else if (failure_policy && policy != "Never") {
    errors.invalid(spec.field("restartPolicy"), Json(policy),
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

// What of a job's indexes can be noted in its status.
void check_index_numbers(const RuleInput& in, FieldErrors& errors) {
  constexpr std::int64_t kMaxNoted = 100000;
  constexpr std::int64_t kMaxAmongMany = 10000;
  const std::string among_many =
      "must be less than or equal to 10000 when completions are above 100000 and used with backoff "
      "limit per index";
  const auto parallelism = int_at(in.value, {"parallelism"});
  const auto completions = int_at(in.value, {"completions"});
  const auto failed = int_at(in.value, {"maxFailedIndexes"});
  const FieldPath parallelism_path = in.path.field("parallelism");
  const FieldPath failed_path = in.path.field("maxFailedIndexes");
  if (parallelism.value_or(0) > kMaxNoted) {
    errors.invalid(parallelism_path, Json(*parallelism),
                   "must be less than or equal to 100000 when completion mode is Indexed");
  }
  if (failed && completions && *failed > *completions)
    errors.invalid(failed_path, Json(*failed), "must be less than or equal to completions");
  if (failed.value_or(0) > kMaxNoted)
    errors.invalid(failed_path, Json(*failed), "must be less than or equal to 100000");
  const bool by_index = find(in.value, {"backoffLimitPerIndex"}) != nullptr;
  if (!by_index || completions.value_or(0) <= kMaxNoted) return;
  if (!failed) errors.required(failed_path, "must be specified when completions is above 100000");
  if (parallelism.value_or(0) > kMaxAmongMany)
    errors.invalid(parallelism_path, Json(*parallelism), among_many);
  if (failed.value_or(0) > kMaxAmongMany) errors.invalid(failed_path, Json(*failed), among_many);
}

void check_indexed(const RuleInput& in, FieldErrors& errors) {
  const bool indexed = text_at(in.value, {"completionMode"}) == "Indexed";
  if (indexed && find(in.value, {"completions"}) == nullptr) {
    errors.required(in.path.field("completions"), "when completion mode is Indexed");
  }
  if (!indexed && find(in.value, {"backoffLimitPerIndex"}) != nullptr) {
    errors.invalid(in.path.field("backoffLimitPerIndex"), *find(in.value, {"backoffLimitPerIndex"}),
                   "requires indexed completion mode");
  }
  if (!indexed && find(in.value, {"successPolicy"}) != nullptr) {
    errors.invalid(in.path.field("successPolicy"), *find(in.value, {"successPolicy"}),
                   "requires indexed completion mode");
  }
  const auto failed = int_at(in.value, {"maxFailedIndexes"});
  if (failed && find(in.value, {"backoffLimitPerIndex"}) == nullptr)
    errors.required(in.path.field("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  if (failed && !indexed) {
    errors.invalid(in.path.field("maxFailedIndexes"), Json(*failed),
                   "requires indexed completion mode");
  }
  if (indexed) check_index_numbers(in, errors);
}

// Who manages the job says so as "domain/path".
void check_manager(const RuleInput& in, FieldErrors& errors) {
  const auto name = string_at(in.value, {"managedBy"});
  if (!name) return;
  const FieldPath path = in.path.field("managedBy");
  const std::size_t slash = name->find('/');
  if (slash == std::string_view::npos || slash + 1 == name->size()) {
    errors.invalid(path, Json(*name), "must be a domain-prefixed path (such as \"acme.io/foo\")");
  } else if (const std::string problem = check_dns1123_subdomain(name->substr(0, slash));
             !problem.empty()) {
    errors.invalid(path, Json(name->substr(0, slash)), problem);
  }
}

// A selector of the user's own must be there, and mean the job's pods.
void check_own_selector(const RuleInput& in, FieldErrors& errors) {
  if (!bool_at(in.value, {"manualSelector"}).value_or(false)) return;
  const FieldPath path = in.path.field("selector");
  const Json* selector = find(in.value, {"selector"});
  if (selector == nullptr) errors.required(path);
  const Labels labels = string_map(find(in.value, {"template", "metadata", "labels"}));
  if (selector != nullptr) {
    const Result<LabelSelector> parsed = LabelSelector::from_object(*selector);
    if (!parsed || parsed->matches(labels)) return;  // the selector's own rules say why
  }
  const FieldPath pod_template = in.path.field("template");
  const FieldPath metadata = pod_template.field("metadata");
  const Json* said = find(in.value, {"template", "metadata", "labels"});
  errors.invalid(metadata.field("labels"), said == nullptr ? Json() : *said,
                 "`selector` does not match template `labels`");
}

// While a job is suspended and has not begun its pods may still be placed otherwise.
bool may_be_placed(const Json& old_job) {
  return bool_at(old_job, {"spec", "suspend"}).value_or(false) &&
         find(old_job, {"status", "startTime"}) == nullptr;
}

void take(Json& into, const Json& from, JsonPath path) {
  if (const Json* value = find(from, path)) {
    set_path(into, path, Json(*value));
  } else {
    erase_path(into, path);
  }
}

void drop_if_empty(Json& object, JsonPath path) {
  const Json* value = find(object, path);
  if (value != nullptr && value->is_object() && value->get_object().empty())
    erase_path(object, path);
}

// The old template with everything of the new one that only says where pods go and how they are
// called.
Json placed_as(Json old_template, const Json& now) {
  take(old_template, now, {"metadata", "labels"});
  take(old_template, now, {"metadata", "annotations"});
  take(old_template, now, {"spec", "nodeSelector"});
  take(old_template, now, {"spec", "tolerations"});
  take(old_template, now, {"spec", "schedulingGates"});
  take(old_template, now, {"spec", "affinity", "nodeAffinity"});
  if (find(now, {"spec", "affinity"}) == nullptr) {
    drop_if_empty(old_template, {"spec", "affinity"});
  } else if (find(old_template, {"spec", "affinity"}) == nullptr) {
    set_path(old_template, {"spec", "affinity"}, JsonObject());
  }
  return old_template;
}

void check_template_update(const RuleInput& in, bool placeable, FieldErrors& errors) {
  const Json* before = find(*in.old, {"template"});
  const Json* after = find(in.value, {"template"});
  if (before == nullptr || after == nullptr || *before == *after) return;
  if (placeable) {
    Json allowed = placed_as(*before, *after);
    Json wanted = *after;
    for (Json* one : {&allowed, &wanted}) drop_if_empty(*one, {"metadata"});
    if (allowed == wanted) return;
  }
  errors.invalid(in.path.field("template"), *after, "field is immutable");
}

void check_update(const RuleInput& in, bool placeable, FieldErrors& errors) {
  const Json& old = *in.old;
  const auto immutable = [&](std::string_view field) {
    if (same(in.value, old, field)) return;
    const Json* now = find(in.value, {field});
    errors.invalid(in.path.field(field), now == nullptr ? Json() : *now, "field is immutable");
  };
  // The selector is made by the server after validation of a create; after that it stays.
  if (find(old, {"selector"}) != nullptr) immutable("selector");
  check_template_update(in, placeable, errors);
  immutable("completionMode");
  immutable("podFailurePolicy");
  immutable("backoffLimitPerIndex");
  immutable("managedBy");
  immutable("successPolicy");
  // An indexed job may grow or shrink together with its parallelism.
  if (!same(in.value, old, "completions")) {
    const auto completions = int_at(in.value, {"completions"});
    if (text_at(in.value, {"completionMode"}) != "Indexed") {
      immutable("completions");
    } else if (completions && completions != int_at(in.value, {"parallelism"})) {
      errors.invalid(in.path.field("completions"), Json(*completions),
                     "can only be modified in tandem with spec.parallelism");
    }
  }
}

void check_schedule(const Json& cron_job, const FieldPath& spec, FieldErrors& errors) {
  const std::string schedule = text_at(cron_job, {"spec", "schedule"});
  if (schedule.find("TZ") != std::string::npos) {
    errors.invalid(spec.field("schedule"), Json(schedule),
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (!schedule.empty()) {
    if (const auto parsed = CronSchedule::parse(schedule); !parsed)
      errors.invalid(spec.field("schedule"), Json(schedule), parsed.error().message);
  }
  const auto zone = string_at(cron_job, {"spec", "timeZone"});
  if (!zone) return;
  const FieldPath path = spec.field("timeZone");
  const std::string name(*zone);
  if (name.empty()) {
    errors.invalid(path, Json(name), "timeZone must be nil or non-empty string");
  } else if (to_lower(name) == "local") {
    errors.invalid(path, Json(name),
                   "timeZone must be an explicit time zone as defined in "
                   "https://www.iana.org/time-zones");
  } else if (const auto found = TimeZone::find(name); !found) {
    errors.invalid(path, Json(name), found.error().message);
  }
}

}  // namespace

void job(const RuleInput& in, FieldErrors& errors) {
  const Json* spec = find(in.value, {"spec"});
  if (spec == nullptr) return;
  const FieldPath path = in.path.field("spec");
  const RuleInput inner{*spec, in.old == nullptr ? nullptr : find(*in.old, {"spec"}), path,
                        in.native};
  if (inner.old != nullptr && *inner.old == *spec) return;
  check_template(inner, errors);
  check_indexed(inner, errors);
  check_manager(inner, errors);
  if (inner.old == nullptr) {
    check_job_policies(inner, errors);
    check_own_selector(inner, errors);
  }
  if (inner.old != nullptr) check_update(inner, may_be_placed(*in.old), errors);
}

void cron_job(const RuleInput& in, FieldErrors& errors) {
  const FieldPath spec = in.path.field("spec");
  check_schedule(in.value, spec, errors);
  const std::string name = text_at(in.value, {"metadata", "name"});
  if (in.old == nullptr && name.size() > kMaxCronJobName) {
    const FieldPath metadata = in.path.field("metadata");
    errors.invalid(metadata.field("name"), Json(name), "must be no more than 52 characters");
  }
  const Json* job = find(in.value, {"spec", "jobTemplate", "spec"});
  if (job == nullptr) return;
  const FieldPath pod_template = spec.field("jobTemplate");
  const FieldPath path = pod_template.field("spec");
  check_template({*job, nullptr, path, in.native}, errors);
  check_indexed({*job, nullptr, path, in.native}, errors);
  if (in.old == nullptr || find(*in.old, {"spec"}) == nullptr ||
      *find(*in.old, {"spec"}) != *find(in.value, {"spec"}))
    check_job_policies({*job, nullptr, path, in.native}, errors);
  if (find(*job, {"selector"}) != nullptr) {
    errors.invalid(path.field("selector"), *find(*job, {"selector"}),
                   "`selector` will be auto-generated");
  }
  if (bool_at(*job, {"manualSelector"}).value_or(false)) {
    errors.unsupported(path.field("manualSelector"), "true", {"nil", "false"});
  }
}

}  // namespace krater::api::rules
