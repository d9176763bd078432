// Amounts by resource name as plain integers: cpu in milli, everything else in whole units (bytes,
// devices, pods). Finer parts round up, as Quantity does. What is not listed is absent, which is
// not the same as zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace krater {

namespace resources {
inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kPods = "pods";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
}  // namespace resources

class ResourceList {
 public:
  using Map = std::map<std::string, std::int64_t, std::less<>>;

  ResourceList() = default;
  ResourceList(std::initializer_list<Map::value_type> amounts) : amounts_(amounts) {}
  // A Kubernetes ResourceList (strings or numbers). Null, or entries that are no quantity, are left
  // out: the API has refused them before.
  static ResourceList from(const Json* list);

  std::optional<std::int64_t> find(std::string_view name) const;
  std::int64_t at(std::string_view name) const { return find(name).value_or(0); }
  void set(std::string_view name, std::int64_t amount) { amounts_[std::string(name)] = amount; }
  bool empty() const { return amounts_.empty(); }
  const Map& amounts() const& { return amounts_; }
  const Map& amounts() && = delete;  // would dangle in a range-for

  // Saturating. Names of either side are in the result.
  ResourceList& operator+=(const ResourceList& other);
  // Per name the larger amount.
  ResourceList& raise_to(const ResourceList& other);
  ResourceList times(std::int64_t count) const;
  friend bool operator==(const ResourceList&, const ResourceList&) = default;

  // {"cpu":"1500m","memory":"1Gi"}: canonical quantities.
  Json to_json_object() const;

 private:
  Map amounts_;
};

// One amount in the form people write: "1500m", "4Gi", "2".
std::string resource_text(std::string_view name, std::int64_t amount);

}  // namespace krater
