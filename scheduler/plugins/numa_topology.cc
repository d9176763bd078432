#include "scheduler/plugins/numa_topology.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/quantity.h"
#include "base/strings.h"

namespace krater::scheduler {
namespace {

using Mask = std::uint32_t;  // NUMA nodes, by their place in order

struct Hint {
  std::optional<Mask> nodes{};  // nullopt: any
  bool preferred = false;
};

int small(const Json& from, JsonPath path, int most) {
  return static_cast<int>(std::clamp<std::int64_t>(int_at(from, path).value_or(0), 0, most));
}

std::string text_in(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(view(value->get_string())) : "";
}

// Those of `from` that are all of one socket, or of one core: by place, in order.
template <typename PlaceOf>
std::vector<CpuSet> whole_units(const NumaTopology& topology, const CpuSet& from,
                                PlaceOf place_of) {
  std::map<decltype(place_of(NumaTopology::Place())), std::pair<CpuSet, std::size_t>> units;
  for (const auto& [cpu, place] : topology.cpus) {
    auto& [have, all] = units[place_of(place)];
    ++all;
    if (from.contains(cpu)) have.insert(cpu);
  }
  std::vector<CpuSet> out;
  for (auto& [place, unit] : units) {
    if (unit.first.size() == unit.second) out.push_back(std::move(unit.first));
  }
  return out;
}

// Where a container that wants `count` processors would fit; preferred where it takes no more NUMA
// nodes than it would on an empty machine.
std::vector<Hint> hints_for(const NumaTopology& topology, const CpuSet& free,
                            const std::vector<int>& nodes, std::int64_t count) {
  std::vector<std::int64_t> all(nodes.size(), 0), left(nodes.size(), 0);
  for (const auto& [cpu, place] : topology.cpus) {
    const auto n = static_cast<std::size_t>(
        std::lower_bound(nodes.begin(), nodes.end(), place.numa) - nodes.begin());
    ++all[n];
    if (free.contains(cpu)) ++left[n];
  }
  const auto sum = [&](const std::vector<std::int64_t>& of, Mask mask) {
    std::int64_t out = 0;
    for (std::size_t n = 0; n < nodes.size(); ++n) out += (mask >> n & 1U) != 0 ? of[n] : 0;
    return out;
  };
  int least = static_cast<int>(nodes.size());
  std::vector<Hint> out;
  for (Mask mask = 1; mask < Mask{1} << nodes.size(); ++mask) {
    if (sum(all, mask) >= count) least = std::min(least, std::popcount(mask));
    if (sum(left, mask) >= count) out.push_back({mask, false});
  }
  for (Hint& hint : out) hint.preferred = std::popcount(*hint.nodes) == least;
  return out;
}

// Preferred before not, then the fewest nodes, then the first ones.
Hint best_of(const std::vector<Hint>& hints, Mask any) {
  Hint best{any, false};
  for (const Hint& one : hints) {
    const Mask nodes = one.nodes.value_or(any);
    const auto rank = [](bool preferred, Mask mask) {
      return std::tuple(!preferred, std::popcount(mask), mask);
    };
    if (rank(one.preferred, nodes) < rank(best.preferred, *best.nodes))
      best = {nodes, one.preferred};
  }
  return best;
}

// The policy's choice; nullopt: the container is not admitted.
std::optional<Hint> choose(const std::string& policy, std::vector<Hint> hints, Mask any) {
  if (policy != "best-effort" && policy != "restricted" && policy != "single-numa-node")
    return Hint{};
  if (policy == "single-numa-node") {
    std::erase_if(hints, [](const Hint& one) {
      return !one.preferred || (one.nodes && std::popcount(*one.nodes) != 1);
    });
  }
  const Hint best = best_of(hints, any);
  return best.preferred || policy == "best-effort" ? std::optional(best) : std::nullopt;
}

}  // namespace

std::optional<CpuSet> parse_cpu_set(std::string_view text) {
  CpuSet out;
  if (trim(text).empty()) return out;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view range = trim(part);
    const std::size_t dash = range.find('-');
    const auto first = parse_int(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= NumaTopology::kMostCpus)
      return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) out.insert(static_cast<int>(cpu));
  }
  return out;
}

NumaTopology NumaTopology::from(const Json& object) {
  NumaTopology out;
  if (const Json* policies = find(object, {"spec", "policies"});
      policies != nullptr && policies->is_object()) {
    out.cpu_policy = text_in(policies->get_object(), "CPUManagerPolicy");
    out.topology_policy = text_in(policies->get_object(), "TopologyManagerPolicy");
  }
  if (const Json* detail = find(object, {"spec", "cpuDetail"});
      detail != nullptr && detail->is_object()) {
    for (const auto& one : detail->get_object()) {
      const auto cpu = parse_int(std::string_view(one.key().data(), one.key().size()));
      if (!cpu || *cpu < 0 || *cpu >= kMostCpus) continue;
      out.cpus[static_cast<int>(*cpu)] = {small(one.value(), {"numa"}, 1 << 20),
                                          small(one.value(), {"socket"}, 1 << 20),
                                          small(one.value(), {"core"}, 1 << 20)};
    }
  }
  out.free =
      parse_cpu_set(text_at(object, {"spec", "numares", "cpu", "allocatable"})).value_or(CpuSet());
  if (const Result<Quantity> kept =
          Quantity::parse(text_at(object, {"spec", "resReserved", "cpu"}));
      kept && kept->sign() > 0) {
    CpuSet all;
    for (const auto& [cpu, place] : out.cpus) all.insert(cpu);
    out.reserved = take_cpus(out, all, kept->value()).value_or(CpuSet());  // value() rounds up
  }
  for (const int cpu : out.reserved) out.free.erase(cpu);
  const JsonArray* pods = array_at(object, {"spec", "podAllocations"});
  for (std::size_t i = 0; pods != nullptr && i < pods->size(); ++i) {
    out.told.insert(text_at((*pods)[i], {"uid"}));
    out.told.insert(text_at((*pods)[i], {"namespace"}) + "/" + text_at((*pods)[i], {"name"}));
  }
  return out;
}

std::set<int> NumaTopology::numa_nodes() const {
  std::set<int> out;
  for (const auto& [cpu, place] : cpus) out.insert(place.numa);
  return out;
}

std::int64_t NumaTopology::spread(const CpuSet& some) const {
  std::set<int> nodes;
  for (const int cpu : some) {
    if (const auto place = cpus.find(cpu); place != cpus.end()) nodes.insert(place->second.numa);
  }
  return static_cast<std::int64_t>(nodes.size());
}

std::optional<CpuSet> take_cpus(const NumaTopology& topology, const CpuSet& from,
                                std::int64_t count) {
  if (count > static_cast<std::int64_t>(from.size())) return std::nullopt;
  CpuSet left = from, out;
  const auto missing = [&] { return count - static_cast<std::int64_t>(out.size()); };
  const auto take_whole = [&](const auto& place_of) {
    for (const CpuSet& unit : whole_units(topology, left, place_of)) {
      if (static_cast<std::int64_t>(unit.size()) > missing()) continue;
      for (const int cpu : unit) left.erase(cpu);
      out.insert(unit.begin(), unit.end());
    }
  };
  take_whole([](const NumaTopology::Place& place) { return place.socket; });
  take_whole([](const NumaTopology::Place& place) { return std::pair(place.socket, place.core); });
  while (missing() > 0) out.insert(left.extract(left.begin()).value());
  return out;
}

std::optional<CpuSet> numa_assignment(const NumaTopology& topology,
                                      const std::vector<std::int64_t>& containers,
                                      std::size_t& refused) {
  const std::set<int> known = topology.numa_nodes();
  const std::vector<int> nodes(known.begin(), known.end());
  refused = 0;
  if (nodes.empty() || nodes.size() > NumaTopology::kMostNodes) return std::nullopt;
  const Mask any = (Mask{1} << nodes.size()) - 1;
  CpuSet free = topology.free, out;
  for (const std::int64_t count : containers) {
    const std::vector<Hint> hints = count > 0 ? hints_for(topology, free, nodes, count)
                                              : std::vector<Hint>{{std::nullopt, true}};
    const std::optional<Hint> hint = choose(topology.topology_policy, hints, any);
    if (!hint) return std::nullopt;
    ++refused;
    if (count <= 0) continue;
    CpuSet aligned;
    for (const int cpu : free) {
      const auto place = topology.cpus.find(cpu);
      if (!hint->nodes || place == topology.cpus.end()) continue;
      const auto n = static_cast<std::size_t>(
          std::lower_bound(nodes.begin(), nodes.end(), place->second.numa) - nodes.begin());
      if ((*hint->nodes >> n & 1U) != 0) aligned.insert(cpu);
    }
    const auto near = std::min(count, static_cast<std::int64_t>(aligned.size()));
    CpuSet mine = take_cpus(topology, aligned, near).value_or(CpuSet());
    for (const int cpu : mine) free.erase(cpu);
    const auto rest = take_cpus(topology, free, count - static_cast<std::int64_t>(mine.size()));
    if (rest) mine.insert(rest->begin(), rest->end());
    for (const int cpu : mine) free.erase(cpu);
    out.insert(mine.begin(), mine.end());
  }
  return out;
}

}  // namespace krater::scheduler
