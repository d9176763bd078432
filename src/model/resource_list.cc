#include "model/resource_list.h"

#include <algorithm>

#include "base/quantity.h"
#include "base/strings.h"

namespace krater {
namespace {

std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

std::int64_t multiply_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
}

// As quotas name them: "requests.cpu" and "limits.cpu" are counted as cpu is.
std::string_view unit_of(std::string_view name) {
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

bool counts_bytes(std::string_view name) {
  return name == resources::kMemory || name == resources::kEphemeralStorage ||
         name.starts_with("hugepages-");
}

}  // namespace

ResourceList ResourceList::from(const Json* list) {
  ResourceList out;
  if (list == nullptr || !list->is_object()) return out;
  for (const auto& member : list->get_object()) {
    const std::string_view name(member.key().data(), member.key().size());
    const Json& value = member.value();
    const Result<Quantity> quantity =
        Quantity::parse(value.is_string() ? std::string(view(value.get_string())) : to_json(value));
    if (!quantity) continue;
    out.set(name, unit_of(name) == resources::kCpu ? quantity->milli_value() : quantity->value());
  }
  return out;
}

std::optional<std::int64_t> ResourceList::find(std::string_view name) const {
  const auto place = amounts_.find(name);
  if (place == amounts_.end()) return std::nullopt;
  return place->second;
}

ResourceList& ResourceList::operator+=(const ResourceList& other) {
  for (const auto& [name, amount] : other.amounts_) {
    std::int64_t& mine = amounts_[name];
    mine = add_saturated(mine, amount);
  }
  return *this;
}

ResourceList& ResourceList::raise_to(const ResourceList& other) {
  for (const auto& [name, amount] : other.amounts_) {
    const auto [place, inserted] = amounts_.emplace(name, amount);
    if (!inserted) place->second = std::max(place->second, amount);
  }
  return *this;
}

ResourceList ResourceList::times(std::int64_t count) const {
  ResourceList out = *this;
  for (auto& [name, amount] : out.amounts_) amount = multiply_saturated(amount, count);
  return out;
}

Json ResourceList::to_json_object() const {
  JsonObject out;
  for (const auto& [name, amount] : amounts_) out[name] = resource_text(name, amount);
  return out;
}

std::string resource_text(std::string_view name, std::int64_t amount) {
  name = unit_of(name);
  if (name == resources::kCpu) return Quantity::from_milli(amount).text();
  return Quantity::from_value(
             amount, counts_bytes(name) ? Quantity::Format::BinarySI : Quantity::Format::DecimalSI)
      .text();
}

}  // namespace krater
