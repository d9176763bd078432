// Times in Volcano's objects ("1m30s"): one that cannot be read is refused, as it could not be
// obeyed. What is stored already stays as it is.
#include "api/admission/rules.h"
#include "base/strings.h"
#include "base/time.h"

namespace krater::api {
namespace {

// Why it is no time, in Go's words.
std::string problem_of(std::string_view text) {
  const std::string shown = " in duration " + quoted(text);
  const std::string invalid = "time: invalid duration " + quoted(text);
  const auto digits = [](std::string_view from) {
    const std::size_t end = from.find_first_not_of("0123456789");
    return end == std::string_view::npos ? from.size() : end;
  };
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::size_t whole = digits(rest);
    rest.remove_prefix(whole);
    std::size_t fraction = 0;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      fraction = digits(rest);
      rest.remove_prefix(fraction);
    }
    if (whole + fraction == 0) return invalid;
    const std::string_view unit = rest.substr(0, rest.find_first_of(".0123456789"));
    if (unit.empty()) return "time: missing unit" + shown;
    if (!parse_go_duration("1" + std::string(unit)))
      return "time: unknown unit " + quoted(unit) + shown;
    rest.remove_prefix(unit.size());
  }
  return invalid;
}

using Path = std::vector<std::string>;

const Json* at(const Json* from, const std::string& step) {
  if (from == nullptr) return nullptr;
  if (const JsonObject* object = from->if_object()) return object->if_contains(step);
  const JsonArray* list = from->if_array();
  const auto place = parse_int(step);
  if (list == nullptr || !place || *place >= static_cast<std::int64_t>(list->size()))
    return nullptr;
  return &(*list)[static_cast<std::size_t>(*place)];
}

std::string words(const Path& path) {
  std::string out;
  for (const std::string& step : path)
    out += parse_int(step) ? "[" + step + "]" : (out.empty() ? "" : ".") + step;
  return out;
}

// Every text that the pattern leads to; "*": all items of a list, all entries of a map.
void check(const Admission& admission, const Path& pattern, std::size_t from, Path path,
           const Json* here, Causes& causes) {
  if (here == nullptr) return;
  if (from == pattern.size()) {
    if (!here->is_string()) return;
    const auto time = parse_go_duration(view(here->get_string()));
    if (time && (*time >= Duration(0) || pattern.back() != "timeout")) return;
    const Json* before = admission.old;
    for (const std::string& step : path) before = at(before, step);
    if (before != nullptr && *before == *here) return;
    const std::string text(view(here->get_string()));
    causes.push_back(
        invalid_value(words(path), quoted(text), time ? "must not be negative" : problem_of(text)));
    return;
  }
  Path steps{pattern[from]};
  if (pattern[from] == "*") {
    steps.clear();
    if (const JsonArray* list = here->if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) steps.push_back(std::to_string(i));
    } else if (const JsonObject* map = here->if_object()) {
      for (const auto& entry : *map) steps.emplace_back(entry.key().data(), entry.key().size());
    }
  }
  for (const std::string& step : steps) {
    Path next = path;
    next.push_back(step);
    check(admission, pattern, from + 1, std::move(next), at(here, step), causes);
  }
}

void check(const Admission& admission, const Path& pattern, Causes& causes) {
  check(admission, pattern, 0, {}, &admission.object, causes);
}

void check_job(const Admission& admission, const Path& spec, Causes& causes) {
  for (const Path& more : {Path{"policies", "*", "timeout"}, Path{"runningEstimate"},
                           Path{"tasks", "*", "policies", "*", "timeout"}}) {
    Path pattern = spec;
    pattern.insert(pattern.end(), more.begin(), more.end());
    check(admission, pattern, causes);
  }
}

}  // namespace

void validate_volcano_job(const Admission& admission, Causes& causes) {
  check_job(admission, {"spec"}, causes);
  check(admission, {"status", "runningDuration"}, causes);
}

void validate_volcano_cron_job(const Admission& admission, Causes& causes) {
  check_job(admission, {"spec", "jobTemplate", "spec"}, causes);
}

void validate_job_template(const Admission& admission, Causes& causes) {
  check_job(admission, {"spec"}, causes);
}

void validate_job_flow(const Admission& admission, Causes& causes) {
  check(admission, {"status", "conditions", "*", "runningDuration"}, causes);
}

}  // namespace krater::api
