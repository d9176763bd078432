#include "agent/net/cni_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

std::string dotted(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

std::uint32_t mask(int prefix) {
  return prefix == 0 ? 0 : ~0U << (32 - prefix);
}

// /proc/net/route writes addresses as the bytes lie in memory of a little-endian machine.
std::optional<std::uint32_t> route_number(std::string_view text) {
  std::uint32_t raw = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), raw, 16);
  if (done.ec != std::errc() || text.size() != 8) return std::nullopt;
  return __builtin_bswap32(raw);
}

}  // namespace

std::optional<Subnet> Subnet::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto prefix = parse_int(text.substr(slash + 1));
  const std::vector<std::string_view> parts = split(text.substr(0, slash), '.');
  if (!prefix || *prefix < 8 || *prefix > 30 || parts.size() != 4) return std::nullopt;
  Subnet out;
  out.prefix = static_cast<int>(*prefix);
  for (const std::string_view part : parts) {
    const auto octet = parse_int(part);
    if (!octet || *octet < 0 || *octet > 255) return std::nullopt;
    out.address = out.address << 8 | static_cast<std::uint32_t>(*octet);
  }
  out.address &= mask(out.prefix);
  return out;
}

std::string Subnet::text() const {
  return dotted(address) + "/" + std::to_string(prefix);
}
std::string Subnet::gateway() const {
  return dotted(address + 1);
}

bool Subnet::overlaps(const Subnet& other) const {
  const std::uint32_t common = mask(std::min(prefix, other.prefix));
  return (address & common) == (other.address & common);
}

std::string bridge_name(const Subnet& subnet) {
  if (subnet.text() == "10.88.0.0/16") return "krater0";
  return fmt::format("kr{:08x}-{}", subnet.address, subnet.prefix);
}

std::vector<Subnet> routed_subnets(std::string_view route_table) {
  std::vector<Subnet> out;
  for (const std::string_view line : split(route_table, '\n')) {
    const std::vector<std::string_view> columns = split(line, '\t');
    if (columns.size() < 8) continue;
    const auto address = route_number(columns[1]), network = route_number(columns[7]);
    if (!address || !network || *network == 0) continue;
    const Subnet found{*address & *network, static_cast<int>(__builtin_popcount(*network))};
    if (columns[0] != bridge_name(found)) out.push_back(found);
  }
  return out;
}

std::optional<Subnet> choose_subnet(const Subnet& preferred, const std::vector<Subnet>& taken) {
  const auto free = [&](const Subnet& candidate) {
    return std::ranges::none_of(taken, [&](const Subnet& one) { return one.overlaps(candidate); });
  };
  if (free(preferred)) return preferred;
  const std::uint32_t step = 1U << (32 - preferred.prefix);
  const std::uint32_t begin = 10U << 24, end = 11U << 24;
  for (std::uint32_t address = begin; address < end; address += step) {
    if (const Subnet candidate{address, preferred.prefix}; free(candidate)) return candidate;
  }
  return std::nullopt;
}

std::string cni_config_list(const Subnet& subnet, std::string_view ipam_directory) {
  const Json bridge{{"type", "bridge"},
                    {"bridge", bridge_name(subnet)},
                    {"isGateway", true},
                    {"hairpinMode", true},
                    {"ipam",
                     {{"type", "host-local"},
                      {"dataDir", ipam_directory},
                      {"ranges", JsonArray{JsonArray{JsonObject{{"subnet", subnet.text()}}}}},
                      {"routes", JsonArray{JsonObject{{"dst", "0.0.0.0/0"}}}}}}};
  const Json portmap{{"type", "portmap"}, {"capabilities", {{"portMappings", true}}}};
  JsonObject out;
  out["cniVersion"] = "1.0.0";
  out["name"] = "krater";
  out["plugins"] = JsonArray{bridge, portmap};
  return to_json(Json(std::move(out)));
}

}  // namespace krater::agent
