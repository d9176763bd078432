// Amounts of resources in containers and of nodes: native names may be fractions, everything else
// is counted in whole pieces.
#include <algorithm>
#include <array>
#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/quantity.h"

namespace krater::api::rules {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_native(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         starts_with(name, "hugepages-");
}

// Has a quota's name, too, and is not one itself. Kubernetes' own names are not asked.
bool is_extended(std::string_view name) {
  if (name.find("kubernetes.io/") != std::string_view::npos) return true;
  return !starts_with(name, "requests.") &&
         check_qualified_name("requests." + std::string(name)).empty();
}

// Quantities of `amounts` that parse; others were reported by the type check.
template <typename Visit>
void for_each_amount(const Json& resources, std::string_view which, Visit visit) {
  const JsonObject* amounts = object_at(resources, {which});
  if (amounts == nullptr) return;
  for (const auto& entry : *amounts) {
    const Json& value = entry.value();
    const auto parsed =
        Quantity::parse(value.is_string() ? std::string(view(value.get_string())) : to_json(value));
    if (parsed) visit(std::string_view(entry.key()), *parsed, value);
  }
}

// Of "hugepages-2Mi" there are whole ones only.
void check_pages(std::string_view name, const Quantity& amount, const Json& value,
                 const FieldPath& path, FieldErrors& errors) {
  const auto page =
      Quantity::parse(std::string(name.substr(std::string_view("hugepages-").size())));
  if (!page || page->sign() <= 0) return;
  if (amount.sign() >= 0 && amount.value() % page->value() == 0) return;
  errors.invalid(path, value,
                 amount.text() + " is not positive integer multiple of " + std::string(name));
}

bool asks_for_pages(const Json& resources) {
  for (const std::string_view which : {"limits", "requests"}) {
    const JsonObject* amounts = object_at(resources, {which});
    if (amounts == nullptr) continue;
    for (const auto& entry : *amounts) {
      if (starts_with(std::string_view(entry.key()), "hugepages-")) return true;
    }
  }
  return false;
}

bool asks_for(const Json& resources, std::string_view name) {
  return find(resources, {"limits", name}) != nullptr ||
         find(resources, {"requests", name}) != nullptr;
}

void check_amounts(const RuleInput& in, std::string_view which, FieldErrors& errors) {
  const FieldPath list = in.path.field(which);
  for_each_amount(
      in.value, which, [&](std::string_view name, const Quantity& amount, const Json& value) {
        const FieldPath here = list.key(name);
        if (amount.sign() < 0) errors.invalid(here, value, "must be greater than or equal to 0");
        if (starts_with(name, "hugepages-")) check_pages(name, amount, value, here, errors);
        if (!is_native(name)) {
          if (name.find('/') == std::string_view::npos) {
            errors.invalid(here, Json(std::string(name)),
                           "must be a standard resource for containers");
          } else if (const std::string problem = check_qualified_name(name); !problem.empty()) {
            errors.invalid(here, Json(std::string(name)), problem);
          } else if (!is_extended(name)) {
            errors.invalid(here, Json(std::string(name)),
                           "doesn't follow extended resource name standard");
          }
          if (amount.milli_value() % 1000 != 0) errors.invalid(here, value, "must be an integer");
        }
      });
}

void check_against_limits(const RuleInput& in, FieldErrors& errors) {
  const FieldPath list = in.path.field("requests");
  for_each_amount(
      in.value, "requests", [&](std::string_view name, const Quantity& request, const Json& value) {
        const Json* limit = find(in.value, {"limits", name});
        const bool overcommit = is_native(name) && !starts_with(name, "hugepages-");
        if (limit == nullptr) {
          if (!overcommit)
            errors.required(in.path.field("limits"),
                            "Limit must be set for non overcommitable resources");
          return;
        }
        const std::string limit_text =
            limit->is_string() ? std::string(view(limit->get_string())) : to_json(*limit);
        const auto most = Quantity::parse(limit_text);
        if (!most) return;
        if (request > *most) {
          errors.invalid(
              list, value,
              "must be less than or equal to " + std::string(name) + " limit of " + limit_text);
        } else if (!overcommit && request != *most) {
          errors.invalid(list, value,
                         "must be equal to " + std::string(name) + " limit of " + limit_text);
        }
      });
}

// Of what there are whole ones only: objects that are counted, and what others add to a node.
bool is_counted(std::string_view name) {
  constexpr std::array<std::string_view, 9> kObjects{"pods",
                                                     "resourcequotas",
                                                     "services",
                                                     "replicationcontrollers",
                                                     "secrets",
                                                     "configmaps",
                                                     "persistentvolumeclaims",
                                                     "services.nodeports",
                                                     "services.loadbalancers"};
  if (std::find(kObjects.begin(), kObjects.end(), name) != kObjects.end()) return true;
  const bool native = name.find('/') == std::string_view::npos ||
                      name.find("kubernetes.io/") != std::string_view::npos;
  return !native && !starts_with(name, "requests.");
}

void check_node_amounts(const RuleInput& in, std::string_view which, FieldErrors& errors) {
  const FieldPath list = in.path.field(which);
  for_each_amount(in.value, which,
                  [&](std::string_view name, const Quantity& amount, const Json& value) {
                    const FieldPath here = list.field(name);
                    if (amount.sign() < 0)
                      errors.invalid(here, value, "must be greater than or equal to 0");
                    if (is_counted(name) && amount.milli_value() % 1000 != 0)
                      errors.invalid(here, value, "must be an integer");
                  });
}

}  // namespace

void node_status(const RuleInput& in, FieldErrors& errors) {
  check_node_amounts(in, "capacity", errors);
  check_node_amounts(in, "allocatable", errors);
  const JsonArray* addresses = array_at(in.value, {"addresses"});
  if (in.old == nullptr || addresses == nullptr) return;  // of a new node nobody looks at them
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    const Json& one = (*addresses)[i];
    if (!seen.emplace(text_at(one, {"type"}), text_at(one, {"address"})).second)
      errors.duplicate(in.path.field("addresses").index(i), one);
  }
}

void resource_requirements(const RuleInput& in, FieldErrors& errors) {
  check_amounts(in, "limits", errors);
  check_amounts(in, "requests", errors);
  check_against_limits(in, errors);
  if (asks_for_pages(in.value) && !asks_for(in.value, "cpu") && !asks_for(in.value, "memory"))
    errors.forbidden(in.path, "HugePages require cpu or memory");
}

}  // namespace krater::api::rules
