#include "scheduler/fairshare_rules.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

constexpr std::size_t kLongestUser = 253;

bool in_bytes(std::string_view resource) {
  return resource == resources::kMemory || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

Wide amount_at(const Resource& amounts, Dim dim) {
  return static_cast<Wide>(std::max<std::int64_t>(amounts.at(dim), 0));
}

}  // namespace

std::int64_t FairshareRules::weight_of(const std::string& user) const {
  const auto place = user_weights.find(user);
  return place == user_weights.end() ? 1000 : place->second;
}

const std::string& FairshareRules::resource_in(const QueueName& queue) const {
  const auto place = resource_of_queue.find(queue.text());
  return place == resource_of_queue.end() ? resource : place->second;
}

std::string FairshareRules::measure(const QueueName& queue) const {
  if (resource_weights.empty()) return resource_in(queue);
  std::string out;
  for (const auto& [name, weight] : resource_weights)
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(weight);
  return out;
}

std::string FairshareRules::measure_name(const QueueName& queue) const {
  return resource_weights.empty() ? resource_in(queue) : "weighted";
}

Wide FairshareRules::units(const QueueName& queue, const Resource& amounts,
                           const ResourceNames& names) const {
  Wide out = 0;
  for (Dim d = 0; d < amounts.dims(); ++d) {
    const std::string& name = names.name(d);
    const Wide amount = amount_at(amounts, d);
    if (resource_weights.empty()) {
      if (name != resource_in(queue)) continue;
      out += amount * (d == kCpu || d == kMemory ? 1 : 1000);
      continue;
    }
    const auto weight = resource_weights.find(name);
    if (weight == resource_weights.end()) continue;
    const Wide parts = amount * static_cast<Wide>(weight->second);
    out += d == kCpu ? parts : in_bytes(name) ? parts * 1000 >> 30 : parts * 1000;
  }
  return std::min(out, Decay::kMostRate);
}

Wide FairshareRules::units_of_one(const QueueName& queue) const {
  if (!resource_weights.empty()) return 1'000'000;
  const std::string& name = resource_in(queue);
  if (name == resources::kMemory) return Wide{1} << 30;
  return in_bytes(name) ? Wide{1000} << 30 : 1000;
}

std::string FairshareRules::user_of(const ObjectPtr& object) const {
  if (!user_key.empty()) {
    const auto label = object->labels().find(user_key);
    if (label != object->labels().end() && !label->second.empty()) return label->second;
    const ObjectView view(object);
    const std::string_view note = view.annotation(user_key);
    if (!note.empty() && note.size() <= kLongestUser) return std::string(note);
  }
  return object->name_space();
}

std::string usage_text(const FairshareRules& rules, const QueueName& queue, Wide unit_seconds) {
  // Hundredths of an hour.
  Wide parts = unit_seconds / (rules.units_of_one(queue) * 36);
  const std::string unit = (rules.resource_weights.empty() ? rules.measure_name(queue) + "-hours"
                                                           : std::string("weighted hours"));
  if (parts == 0) return "less than 0.01 " + unit;
  Wide digit = 1;
  while (parts / digit >= 100) digit *= 10;
  parts -= parts % digit;
  const auto whole = static_cast<std::uint64_t>(std::min<Wide>(parts / 100, UINT64_MAX));
  const auto rest = static_cast<std::uint64_t>(parts % 100);
  std::string out = std::to_string(whole);
  if (rest > 0)
    out += rest % 10 == 0 ? "." + std::to_string(rest / 10)
                          : (rest < 10 ? ".0" : ".") + std::to_string(rest);
  return out + " " + unit;
}

}  // namespace krater::scheduler
