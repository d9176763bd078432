// Limit ranges: what the containers of a new pod are given, and what a single pod or claim may ask
// for.
#include <fmt/format.h>

#include <algorithm>

#include "api/admission/claim_limits.h"
#include "api/admission/pod_steps.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";
using Amounts = std::map<std::string, Quantity, std::less<>>;

Amounts amounts_of(const Json* list) {
  Amounts out;
  for (const auto& [name, text] : string_map(list)) {
    if (const Result<Quantity> amount = Quantity::parse(text)) out[name] = *amount;
  }
  return out;
}

// What a container, or a pod as a whole, asks for.
struct Asked {
  Amounts requests{}, limits{};

  static Asked of(const Json& holder) {
    return {amounts_of(find(holder, {"resources", "requests"})),
            amounts_of(find(holder, {"resources", "limits"}))};
  }
};

void add(Amounts& to, const Amounts& more) {
  for (const auto& [name, amount] : more) to[name] += amount;
}

void raise(Amounts& to, const Amounts& other) {
  for (const auto& [name, amount] : other) to[name] = std::max(to[name], amount);
}

const JsonArray& list_of(const Json& pod, std::string_view name) {
  static const JsonArray kNone;
  const JsonArray* list = array_at(pod, {"spec", name});
  return list == nullptr ? kNone : *list;
}

// Containers together, or the largest init container, whichever is more.
Asked asked_by_pod(const Json& pod) {
  Asked out, init;
  for (const Json& container : list_of(pod, "containers")) {
    const Asked one = Asked::of(container);
    add(out.requests, one.requests);
    add(out.limits, one.limits);
  }
  for (const Json& container : list_of(pod, "initContainers")) {
    const Asked one = Asked::of(container);
    raise(init.requests, one.requests);
    raise(init.limits, one.limits);
  }
  raise(out.requests, init.requests);
  raise(out.limits, init.limits);
  return out;
}

const Quantity* at(const Amounts& amounts, std::string_view name) {
  const auto place = amounts.find(name);
  return place == amounts.end() ? nullptr : &place->second;
}

// Calls `visit(item, type)` for every limit of the namespace.
template <typename Visit>
Result<void> each_item(const Admission& admission, Visit visit) {
  TRY_ASSIGN(const std::vector<ObjectPtr> ranges,
             admission.reader.list(kinds::kLimitRange, admission.name_space));
  for (const ObjectPtr& range : ranges) {
    const std::shared_ptr<const Json> document = range->document();
    const JsonArray* items = array_at(*document, {"spec", "limits"});
    if (items == nullptr) continue;
    for (const Json& item : *items) visit(item, text_at(item, {"type"}));
  }
  return {};
}

std::string bound(std::string_view word, std::string_view name, std::string_view type,
                  const Quantity& limit) {
  return std::string(word) + " " + std::string(name) + " usage per " + std::string(type) + " is " +
         limit.text();
}

Result<void> verdict_of(const std::vector<std::string>& errors) {
  if (errors.empty()) return {};
  return refusal(errors.size() == 1 ? errors[0] : "[" + join(errors, ", ") + "]");
}

// Of a claim the request alone counts.
void check_claim(const Json& item, std::string_view type, const Amounts& requests,
                 std::vector<std::string>& errors) {
  const auto check = [&](std::string_view word, const std::string& name, const Quantity& limit) {
    const Quantity* request = at(requests, name);
    if (request == nullptr) {
      errors.push_back(bound(word, name, type, limit) + ".  No request is specified");
    } else if (word == "minimum" ? *request < limit : *request > limit) {
      errors.push_back(bound(word, name, type, limit) + ", but request is " + request->text());
    }
  };
  for (const auto& [name, least] : amounts_of(find(item, {"min"}))) check("minimum", name, least);
  for (const auto& [name, most] : amounts_of(find(item, {"max"}))) check("maximum", name, most);
}

void check_item(const Json& item, std::string_view type, const Asked& asked,
                std::vector<std::string>& errors) {
  for (const auto& [name, least] : amounts_of(find(item, {"min"}))) {
    const Quantity* request = at(asked.requests, name);
    const Quantity* limit = at(asked.limits, name);
    if (request == nullptr) {
      errors.push_back(bound("minimum", name, type, least) + ".  No request is specified");
    } else if (*request < least) {
      errors.push_back(bound("minimum", name, type, least) + ", but request is " + request->text());
    } else if (limit != nullptr && *limit < least) {
      errors.push_back(bound("minimum", name, type, least) + ", but limit is " + limit->text());
    }
  }
  for (const auto& [name, most] : amounts_of(find(item, {"max"}))) {
    const Quantity* request = at(asked.requests, name);
    const Quantity* limit = at(asked.limits, name);
    if (limit == nullptr) {
      errors.push_back(bound("maximum", name, type, most) + ".  No limit is specified");
    } else if (*limit > most) {
      errors.push_back(bound("maximum", name, type, most) + ", but limit is " + limit->text());
    } else if (request != nullptr && *request > most) {
      errors.push_back(bound("maximum", name, type, most) + ", but request is " + request->text());
    }
  }
  for (const auto& [name, ratio] : amounts_of(find(item, {"maxLimitRequestRatio"}))) {
    const Quantity* request = at(asked.requests, name);
    const Quantity* limit = at(asked.limits, name);
    const std::string what = name + " max limit to request ratio per " + std::string(type) +
                             " is " + ratio.text() + ", but ";
    if (request == nullptr || request->is_zero()) {
      errors.push_back(what + "no request is specified or request is 0");
    } else if (limit == nullptr || limit->is_zero()) {
      errors.push_back(what + "no limit is specified or limit is 0");
    } else {
      // As decimals: what is compared is what is shown.
      const double provided =
          static_cast<double>(limit->milli_value()) / static_cast<double>(request->milli_value());
      if (provided * 1000 > static_cast<double>(ratio.milli_value()))
        errors.push_back(what + fmt::format("provided ratio is {:f}", provided));
    }
  }
}

// "cpu, memory request for container a", of what was filled in.
void fill(Json& container, std::string_view list, const Json* defaults, std::string_view what,
          std::vector<std::string>& told) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : string_map(defaults)) {
    if (find(container, {"resources", list, name}) != nullptr) continue;
    set_path(container, {"resources", list, name}, Json(amount));
    names.push_back(name);
  }
  if (names.empty()) return;
  told.push_back(join(names, ", ") + (list == "requests" ? " request for " : " limit for ") +
                 std::string(what) + " " + text_at(container, {"name"}));
}

void fill_containers(Json& pod, const Json& item, std::vector<std::string>& told) {
  for (const auto& [list, what] :
       {std::pair<std::string_view, std::string_view>{"containers", "container"},
        {"initContainers", "init container"}}) {
    Json* containers = find(pod, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      fill(container, "requests", find(item, {"defaultRequest"}), what, told);
      fill(container, "limits", find(item, {"default"}), what, told);
    }
  }
}

}  // namespace

Result<void> keep_in_limits(Admission& admission) {
  std::vector<std::string> told;
  Json& pod = admission.object;
  TRY(each_item(admission, [&](const Json& item, const std::string& type) {
    if (type == "Container") fill_containers(pod, item, told);
  }));
  if (!told.empty()) {
    set_path(pod, {"metadata", "annotations", kAnnotation},
             Json("LimitRanger plugin set: " + join(told, "; ")));
  }
  std::vector<std::string> errors;
  TRY(each_item(admission, [&](const Json& item, const std::string& type) {
    if (type == "Pod") check_item(item, type, asked_by_pod(pod), errors);
    if (type != "Container") return;
    for (const std::string_view list : {"containers", "initContainers"}) {
      for (const Json& container : list_of(pod, list))
        check_item(item, type, Asked::of(container), errors);
    }
  }));
  return verdict_of(errors);
}

Result<void> keep_claim_in_limits(const Admission& admission) {
  const Amounts requests = amounts_of(find(admission.object, {"spec", "resources", "requests"}));
  std::vector<std::string> errors;
  TRY(each_item(admission, [&](const Json& item, const std::string& type) {
    if (type == "PersistentVolumeClaim") check_claim(item, type, requests, errors);
  }));
  return verdict_of(errors);
}

}  // namespace krater::api
