// The pod network of this node: a bridge and an address for each pod. (The way out is masqueraded
// by service_rules: one rule for all, so that nothing of a pod can be left behind.) Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krater::agent {

struct Subnet {
  std::uint32_t address = 0;  // host order, host bits zero
  int prefix = 16;
  static std::optional<Subnet> parse(std::string_view text);  // "10.88.0.0/16"
  std::string text() const;
  std::string gateway() const;  // its first address
  bool overlaps(const Subnet& other) const;
  bool contains(std::uint32_t one) const { return overlaps({one, 32}); }
};

// The bridge that carries the network: krater0 for the usual one, a name of its own for any other,
// so that clusters with different networks live side by side on a machine.
std::string bridge_name(const Subnet& subnet);
// Networks that the host reaches other than through a bridge of ours, from the text of
// /proc/net/route.
std::vector<Subnet> routed_subnets(std::string_view route_table);
// `preferred` when it is free, else the next of its size within 10.0.0.0/8; nullopt when all are
// taken.
std::optional<Subnet> choose_subnet(const Subnet& preferred, const std::vector<Subnet>& taken);
// A CNI network configuration list: bridge with host-local addresses, and portmap.
std::string cni_config_list(const Subnet& subnet, std::string_view ipam_directory);

}  // namespace krater::agent
