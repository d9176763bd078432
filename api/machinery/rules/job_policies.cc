#include "api/machinery/rules/job_policies.h"

#include <algorithm>
#include <set>

#include "api/machinery/names.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::int64_t kMaxRules = 20;  // of either policy
constexpr std::int64_t kMaxPatterns = 20;
constexpr std::int64_t kMaxExitCodes = 255;
constexpr std::int64_t kMaxIndexesBytes = 64 << 10;

std::set<std::string> container_names(const Json& job_spec) {
  std::set<std::string> out;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const JsonArray* containers = array_at(job_spec, {"template", "spec", list});
    if (containers == nullptr) continue;
    for (const Json& container : *containers) out.insert(text_at(container, {"name"}));
  }
  return out;
}

void check_codes(const Json& codes, const FieldPath& path, FieldErrors& errors) {
  const FieldPath list = path.field("values");
  const JsonArray* values = array_at(codes, {"values"});
  if (values == nullptr || values->empty()) {
    errors.invalid(list, JsonArray(), "at least one value is required");
    return;
  }
  if (const auto count = static_cast<std::int64_t>(values->size()); count > kMaxExitCodes)
    errors.too_many(list, count, kMaxExitCodes);
  const bool in_list = text_at(codes, {"operator"}) == "In";
  for (std::size_t i = 0; i < values->size(); ++i) {
    const auto code = as_int((*values)[i]);
    if (in_list && code == 0)
      errors.invalid(list.index(i), (*values)[i], "must not be 0 for the In operator");
    if (i == 0) continue;
    const auto before = as_int((*values)[i - 1]);
    if (code == before) errors.duplicate(list.index(i), (*values)[i]);
    if (code < before) return errors.invalid(list, Json(*values), "must be ordered");
  }
}

void check_exit_codes(const Json& rule, const std::set<std::string>& containers,
                      const FieldPath& path, FieldErrors& errors) {
  const Json* codes = find(rule, {"onExitCodes"});
  if (codes == nullptr) return;
  const FieldPath here = path.field("onExitCodes");
  const auto name = string_at(*codes, {"containerName"});
  if (name && !containers.contains(std::string(*name))) {
    errors.invalid(here.field("containerName"), Json(*name),
                   "must be one of the container or initContainer names in the pod template");
  }
  check_codes(*codes, here, errors);
}

void check_conditions(const JsonArray& patterns, const FieldPath& path, FieldErrors& errors) {
  const FieldPath list = path.field("onPodConditions");
  if (const auto count = static_cast<std::int64_t>(patterns.size()); count > kMaxPatterns)
    errors.too_many(list, count, kMaxPatterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const FieldPath here = list.index(i);
    const std::string type = text_at(patterns[i], {"type"});
    if (const std::string problem = check_qualified_name(type); !type.empty() && !problem.empty())
      errors.invalid(here.field("type"), Json(type), problem);
    const std::string status = text_at(patterns[i], {"status"});
    if (status != "True" && status != "False" && status != "Unknown")
      errors.unsupported(here.field("status"), status, {"False", "True", "Unknown"});
  }
}

void check_failure_rule(const RuleInput& in, const Json& rule,
                        const std::set<std::string>& containers, const FieldPath& path,
                        FieldErrors& errors) {
  const bool by_code = find(rule, {"onExitCodes"}) != nullptr;
  const JsonArray* conditions = array_at(rule, {"onPodConditions"});
  const bool by_condition = conditions != nullptr && !conditions->empty();
  const std::string action = text_at(rule, {"action"});
  if (action == "FailIndex" && find(in.value, {"backoffLimitPerIndex"}) == nullptr) {
    errors.invalid(path.field("action"), Json(action),
                   "requires the backoffLimitPerIndex to be set");
  }
  check_exit_codes(rule, containers, path, errors);
  if (by_condition) check_conditions(*conditions, path, errors);
  if (by_code && by_condition) {
    errors.invalid(path, Json(),
                   "specifying both OnExitCodes and OnPodConditions is not supported");
  } else if (!by_code && !by_condition) {
    errors.invalid(path, Json(), "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

void check_failure_policy(const RuleInput& in, FieldErrors& errors) {
  const FieldPath policy = in.path.field("podFailurePolicy");
  const FieldPath list = policy.field("rules");
  const JsonArray* rules = array_at(in.value, {"podFailurePolicy", "rules"});
  const std::set<std::string> containers = container_names(in.value);
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i)
    check_failure_rule(in, (*rules)[i], containers, list.index(i), errors);
  const std::string replaced = text_at(in.value, {"podReplacementPolicy"});
  if (find(in.value, {"podFailurePolicy"}) != nullptr && replaced == "TerminatingOrFailed")
    errors.unsupported(in.path.field("podReplacementPolicy"), replaced, {"Failed"});
}

struct Interval {
  std::int64_t first = 0, last = 0;
};

Error out_of_order(std::int64_t previous, std::int64_t current) {
  return make_error(Code::Invalid, "non-increasing order, previous: " + std::to_string(previous) +
                                       ", current: " + std::to_string(current));
}

Result<std::int64_t> read_index(std::string_view text, std::int64_t completions) {
  const std::string shown = to_json(Json(text));
  const auto index = parse_int(text);
  if (!index) {
    return make_error(Code::Invalid, "cannot convert string to integer for index: " + shown);
  }
  if (*index >= completions) return make_error(Code::Invalid, "too large index: " + shown);
  return *index;
}

Result<Interval> read_interval(std::string_view text, std::int64_t completions) {
  const auto ends = split(text, '-');
  if (ends.size() > 2) {
    return make_error(Code::Invalid, "the fragment " + to_json(Json(text)) +
                                         " violates the requirement that an index interval can "
                                         "have at most two parts separated by '-'");
  }
  TRY_ASSIGN(const std::int64_t first, read_index(ends[0], completions));
  if (ends.size() == 1) return Interval{first, first};
  TRY_ASSIGN(const std::int64_t last, read_index(ends[1], completions));
  if (first >= last) return out_of_order(first, last);
  return Interval{first, last};
}

// How many indexes "1,3-5" names.
Result<std::int64_t> count_indexes(std::string_view text, std::int64_t completions) {
  std::int64_t total = 0;
  std::optional<std::int64_t> last;
  if (text.empty()) return total;
  for (const std::string_view part : split(text, ',')) {
    TRY_ASSIGN(const Interval interval, read_interval(part, completions));
    if (last && *last >= interval.first) return out_of_order(*last, interval.first);
    total += interval.last - interval.first + 1;
    last = interval.last;
  }
  return total;
}

void check_success_rule(const Json& rule, std::int64_t completions, const FieldPath& path,
                        FieldErrors& errors) {
  const auto wanted = int_at(rule, {"succeededCount"});
  const auto indexes = string_at(rule, {"succeededIndexes"});
  if (!wanted && !indexes) {
    errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  std::int64_t named = 0;
  if (indexes) {
    const FieldPath here = path.field("succeededIndexes");
    if (static_cast<std::int64_t>(indexes->size()) > kMaxIndexesBytes)
      errors.too_long(here, kMaxIndexesBytes);
    const Result<std::int64_t> count = count_indexes(*indexes, completions);
    if (!count) {
      errors.invalid(here, Json(*indexes),
                     "error parsing succeededIndexes: " + count.error().message);
    }
    named = count ? *count : 0;
  }
  if (!wanted) return;
  const FieldPath here = path.field("succeededCount");
  const auto at_most = [&](std::int64_t most, const std::string& what) {
    if (*wanted <= most) return;
    errors.invalid(
        here, Json(*wanted),
        "must be less than or equal to " + std::to_string(most) + " (the number of " + what + ")");
  };
  if (*wanted < 0) errors.invalid(here, Json(*wanted), "must be greater than or equal to 0");
  at_most(completions, "specified completions");
  if (indexes) at_most(named, "indexes in the specified succeededIndexes field");
}

void check_success_policy(const RuleInput& in, FieldErrors& errors) {
  const auto completions = int_at(in.value, {"completions"});
  const bool indexed = text_at(in.value, {"completionMode"}) == "Indexed" && completions;
  if (!indexed || find(in.value, {"successPolicy"}) == nullptr) return;  // told elsewhere
  const FieldPath policy = in.path.field("successPolicy");
  const FieldPath list = policy.field("rules");
  const JsonArray* rules = array_at(in.value, {"successPolicy", "rules"});
  if (rules == nullptr || rules->empty()) {
    errors.required(list,
                    "at least one rules must be specified when the successPolicy is specified");
    return;
  }
  if (const auto count = static_cast<std::int64_t>(rules->size()); count > kMaxRules)
    errors.too_many(list, count, kMaxRules);
  for (std::size_t i = 0; i < rules->size(); ++i)
    check_success_rule((*rules)[i], *completions, list.index(i), errors);
}

}  // namespace

void check_job_policies(const RuleInput& in, FieldErrors& errors) {
  check_failure_policy(in, errors);
  check_success_policy(in, errors);
}

}  // namespace krater::api::rules
