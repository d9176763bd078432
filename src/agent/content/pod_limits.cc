#include "agent/content/pod_limits.h"

#include <algorithm>
#include <string_view>

namespace krater::agent {
namespace {

std::optional<Quantity> limit_of(const Json& holder, std::string_view resource) {
  const Json* value = find(holder, {"resources", "limits", resource});
  if (value == nullptr) return std::nullopt;
  const auto parsed = Quantity::parse(value->is_string() ? std::string(view(value->get_string()))
                                                         : to_json(*value));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

struct Sum {
  Quantity amount;
  bool any = false, all = true;
};

// Containers and sidecars run together; an init container runs beside the sidecars before it.
Sum sum_limits(const Json& pod, std::string_view resource) {
  Sum out;
  Quantity sidecars, worst;
  const auto take = [&](const Json& container) {
    const auto limit = limit_of(container, resource);
    out.any = out.any || limit.has_value();
    out.all = out.all && limit && !limit->is_zero();
    return limit.value_or(Quantity());
  };
  if (const JsonArray* list = array_at(pod, {"spec", "initContainers"})) {
    for (const Json& container : *list) {
      const Quantity limit = take(container);
      worst = std::max(worst, sidecars + limit);
      if (text_at(container, {"restartPolicy"}) == "Always") sidecars += limit;
    }
  }
  if (const JsonArray* list = array_at(pod, {"spec", "containers"})) {
    for (const Json& container : *list) out.amount += take(container);
  }
  out.amount = std::max(out.amount + sidecars, worst);
  return out;
}

}  // namespace

std::int64_t pod_memory_limit(const Json& pod) {
  if (const auto own = limit_of(*find(pod, {"spec"}), "memory")) return own->value();
  const Sum sum = sum_limits(pod, "memory");
  return sum.all ? sum.amount.value() : 0;
}

std::optional<Quantity> pod_storage_limit(const Json& pod) {
  const Sum sum = sum_limits(pod, "ephemeral-storage");
  return sum.any ? std::optional(sum.amount) : std::nullopt;
}

std::optional<Quantity> container_storage_limit(const Json& container) {
  const auto limit = limit_of(container, "ephemeral-storage");
  return limit && !limit->is_zero() ? limit : std::nullopt;
}

}  // namespace krater::agent
