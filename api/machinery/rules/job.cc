// Jobs, and CronJobs around them.
#include "api/machinery/rules/rules.h"
#include "base/cron_schedule.h"
#include "base/strings.h"

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
    errors.unsupported(spec.field("restartPolicy"), policy, {"OnFailure", "Never"});
  } else if (failure_policy && policy != "Never") {
    errors.invalid(spec.field("restartPolicy"), Json(policy),
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
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
}

// While a job is suspended and has not started its pods may still be placed otherwise.
bool template_may_change(const Json& old_spec) {
  return bool_at(old_spec, {"suspend"}).value_or(false);
}

void check_update(const RuleInput& in, FieldErrors& errors) {
  const Json& old = *in.old;
  const auto immutable = [&](std::string_view field) {
    if (same(in.value, old, field)) return;
    const Json* now = find(in.value, {field});
    errors.invalid(in.path.field(field), now == nullptr ? Json() : *now, "field is immutable");
  };
  // The selector is made by the server after validation of a create; after that it stays.
  if (find(old, {"selector"}) != nullptr) immutable("selector");
  if (!template_may_change(old)) immutable("template");
  immutable("completionMode");
  immutable("podFailurePolicy");
  immutable("backoffLimitPerIndex");
  immutable("managedBy");
  immutable("successPolicy");
  // An indexed job may grow or shrink together with its parallelism.
  if (!same(in.value, old, "completions")) {
    const auto completions = int_at(in.value, {"completions"});
    const bool elastic = text_at(in.value, {"completionMode"}) == "Indexed" && completions &&
                         completions == int_at(in.value, {"parallelism"});
    if (!elastic) immutable("completions");
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
  check_template(inner, errors);
  check_indexed(inner, errors);
  if (inner.old != nullptr) check_update(inner, errors);
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
  if (find(*job, {"selector"}) != nullptr) {
    errors.invalid(path.field("selector"), *find(*job, {"selector"}),
                   "`selector` will be auto-generated");
  }
  if (bool_at(*job, {"manualSelector"}).value_or(false)) {
    errors.unsupported(path.field("manualSelector"), "true", {"nil", "false"});
  }
}

}  // namespace krater::api::rules
