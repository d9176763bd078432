// Services: addresses and node ports. What is handed out is claimed in the transaction that stores
// the service, so no two services ever share one, whoever writes at the same time.
#include <optional>

#include "api/admission/rules.h"
#include "api/admission/service_type.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr int kRandomTries = 64;

std::string address_claim(std::string_view address) {
  return "clusterip/" + std::string(address);
}

// Protocols share the number space of node ports, but not the ports.
std::string port_claim(std::string_view protocol, std::int64_t port) {
  return "nodeport/" + std::string(protocol) + "/" + std::to_string(port);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t out = 0;
  for (const std::string_view part : parts) {
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > 255 || (part.size() > 1 && part.front() == '0'))
      return std::nullopt;
    out = out << 8 | static_cast<std::uint32_t>(*number);
  }
  return out;
}

std::string text_of_ipv4(std::uint32_t address) {
  return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) + "." +
         std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

struct Network {
  std::uint32_t base = 0;
  std::uint32_t size = 0;

  std::uint32_t api() const { return base + 1; }
  // Neither the network itself, the API's own address, nor the broadcast address.
  std::uint32_t first() const { return base + 2; }
  std::uint32_t count() const { return size - 3; }
  bool contains(std::uint32_t address) const { return address >= base && address - base < size; }
};

Network network_of(const AdmissionSettings& settings) {
  const std::uint32_t size = 1U << (32 - settings.service_prefix_bits);
  return {parse_ipv4(settings.service_network).value_or(0) & ~(size - 1), size};
}

// The API server's own service has the address that every server certificate names.
bool is_api_service(const Admission& admission) {
  return admission.name_space == "default" && admission.name == "kubernetes";
}

bool has_type(const Json& service, std::string_view type) {
  return text_at(service, {"spec", "type"}) == type;
}
bool uses_node_ports(const Json& service) {
  return has_type(service, "NodePort") || has_type(service, "LoadBalancer");
}

// Tries at random first: neighbours in time then rarely fight for the same one; then in order, to
// find the last one. `claim` gives the claim of a candidate, or "" when it is out of the question.
template <typename Claim>
Result<std::optional<std::uint64_t>> find_free(Admission& admission, std::uint64_t first,
                                               std::uint64_t count, Claim claim) {
  const auto free = [&](std::uint64_t candidate) -> Result<bool> {
    const std::string wanted = claim(candidate);
    if (wanted.empty()) return false;
    TRY_ASSIGN(const bool taken, admission.reader.claimed(wanted));
    return !taken;
  };
  for (int i = 0; i < kRandomTries; ++i) {
    const std::uint64_t candidate = first + admission.rng.below(count);
    TRY_ASSIGN(const bool is_free, free(candidate));
    if (is_free) return std::optional<std::uint64_t>(candidate);
  }
  for (std::uint64_t candidate = first; candidate < first + count; ++candidate) {
    TRY_ASSIGN(const bool is_free, free(candidate));
    if (is_free) return std::optional<std::uint64_t>(candidate);
  }
  return std::optional<std::uint64_t>();
}

Error exhausted(std::string what) {
  return make_error(Code::Internal,
                    "Internal error occurred: failed to allocate " + std::move(what));
}

Result<void> give_address(Admission& admission) {
  Json& service = admission.object;
  if (has_type(service, "ExternalName")) return {};
  std::string address = text_at(service, {"spec", "clusterIP"});
  if (address.empty() && admission.old != nullptr)
    address = text_at(*admission.old, {"spec", "clusterIP"});
  const Network network = network_of(admission.settings);
  if (address.empty() && is_api_service(admission)) address = text_of_ipv4(network.api());
  if (address.empty()) {
    TRY_ASSIGN(const auto free,
               find_free(admission, network.first(), network.count(), [](std::uint64_t candidate) {
                 return address_claim(text_of_ipv4(static_cast<std::uint32_t>(candidate)));
               }));
    if (!free) return exhausted("a serviceIP: range is full");
    address = text_of_ipv4(static_cast<std::uint32_t>(*free));
  }
  set_path(service, {"spec", "clusterIP"}, Json(address));
  set_path(service, {"spec", "clusterIPs"}, JsonArray{Json(address)});
  if (find(service, {"spec", "ipFamilies"}) == nullptr)
    set_path(service, {"spec", "ipFamilies"}, JsonArray{"IPv4"});
  if (find(service, {"spec", "ipFamilyPolicy"}) == nullptr)
    set_path(service, {"spec", "ipFamilyPolicy"}, "SingleStack");
  return {};
}

// A port keeps the number it had: the one of the same name, else of the same port.
std::optional<std::int64_t> port_before(const Json* old, const Json& port) {
  const JsonArray* ports = old == nullptr ? nullptr : array_at(*old, {"spec", "ports"});
  if (ports == nullptr) return std::nullopt;
  for (const Json& candidate : *ports) {
    if (text_at(candidate, {"name"}) == text_at(port, {"name"}) &&
        text_at(candidate, {"protocol"}) == text_at(port, {"protocol"}) &&
        int_at(candidate, {"port"}) == int_at(port, {"port"})) {
      return int_at(candidate, {"nodePort"});
    }
  }
  return std::nullopt;
}

Result<void> give_node_ports(Admission& admission) {
  Json* ports = find(admission.object, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array()) return {};
  const bool wanted = uses_node_ports(admission.object);
  std::set<std::string> here;  // given out in this very service
  for (Json& port : ports->get_array()) {
    if (!port.is_object()) continue;
    const std::string protocol = text_at(port, {"protocol"});
    if (!wanted) {
      // A service that stops being a NodePort gives its numbers back; one the user names is for
      // validation to refuse.
      if (int_at(port, {"nodePort"}) == port_before(admission.old, port))
        erase_path(port, {"nodePort"});
      continue;
    }
    if (int_at(port, {"nodePort"}).value_or(0) != 0) continue;
    std::optional<std::int64_t> number = port_before(admission.old, port);
    if (!number) {
      const auto first = static_cast<std::uint64_t>(admission.settings.first_node_port);
      const auto count = static_cast<std::uint64_t>(admission.settings.last_node_port) - first + 1;
      TRY_ASSIGN(const auto free, find_free(admission, first, count, [&](std::uint64_t candidate) {
                   std::string claim = port_claim(protocol, static_cast<std::int64_t>(candidate));
                   return here.contains(claim) ? std::string() : claim;
                 }));
      if (!free) return exhausted("a nodePort: range is full");
      number = static_cast<std::int64_t>(*free);
    }
    here.insert(port_claim(protocol, *number));
    set_path(port, {"nodePort"}, *number);
  }
  return {};
}

void validate_address(const Admission& admission, Causes& causes) {
  const std::string address = text_at(admission.object, {"spec", "clusterIP"});
  if (address.empty() || address == "None") return;
  const auto parsed = parse_ipv4(address);
  if (!parsed) return;  // the schema's rule says so
  const Network network = network_of(admission.settings);
  if (!network.contains(*parsed)) {
    causes.push_back(invalid_value(
        "spec.clusterIPs", "[" + quoted(address) + "]",
        "failed to allocate IP " + address + ": the provided IP (" + address +
            ") is not in the valid range. The range of valid IPs is " + text_of_ipv4(network.base) +
            "/" + std::to_string(admission.settings.service_prefix_bits)));
  }
}

Result<bool> taken_by_another(const Admission& admission, const std::string& claim) {
  if (admission.old != nullptr && claims_of_service(*admission.old).contains(claim)) return false;
  return admission.reader.claimed(claim);
}

void validate_ports(const Admission& admission, Causes& causes) {
  const JsonArray* ports = array_at(admission.object, {"spec", "ports"});
  if (ports == nullptr) return;
  for (std::size_t i = 0; i < ports->size(); ++i) {
    const auto number = int_at((*ports)[i], {"nodePort"});
    if (!number || *number == 0) continue;
    const std::string field = "spec.ports[" + std::to_string(i) + "].nodePort";
    if (!uses_node_ports(admission.object)) continue;  // the schema's rule says so
    if (*number < admission.settings.first_node_port ||
        *number > admission.settings.last_node_port) {
      causes.push_back(
          invalid_value(field, std::to_string(*number),
                        "provided port is not in the valid range. The range of valid ports is " +
                            std::to_string(admission.settings.first_node_port) + "-" +
                            std::to_string(admission.settings.last_node_port)));
      continue;
    }
    const Result<bool> taken =
        taken_by_another(admission, port_claim(text_at((*ports)[i], {"protocol"}), *number));
    if (taken && *taken)
      causes.push_back(
          invalid_value(field, std::to_string(*number), "provided port is already allocated"));
  }
}

}  // namespace

Result<void> mutate_service(Admission& admission) {
  if (!admission.subresource.empty()) return {};
  if (admission.old != nullptr) leave_type_fields(admission.object, *admission.old);
  TRY(give_address(admission));
  TRY(give_node_ports(admission));
  if (admission.operation == Operation::Create)
    set_path(admission.object, {"status", "loadBalancer"}, JsonObject());
  return {};
}

void validate_service(const Admission& admission, Causes& causes) {
  validate_address(admission, causes);
  validate_ports(admission, causes);
  const std::string address = text_at(admission.object, {"spec", "clusterIP"});
  if (address.empty() || address == "None" || !causes.empty()) return;
  const Result<bool> taken = taken_by_another(admission, address_claim(address));
  if (taken && *taken) {
    causes.push_back(
        invalid_value("spec.clusterIPs", "[" + quoted(address) + "]",
                      "failed to allocate IP " + address + ": provided IP is already allocated"));
  }
}

std::set<std::string> claims_of_service(const Json& service) {
  std::set<std::string> out;
  const std::string address = text_at(service, {"spec", "clusterIP"});
  if (!address.empty() && address != "None") out.insert(address_claim(address));
  if (const JsonArray* ports = array_at(service, {"spec", "ports"})) {
    for (const Json& port : *ports) {
      if (const auto number = int_at(port, {"nodePort"}); number && *number != 0) {
        out.insert(port_claim(text_at(port, {"protocol"}), *number));
      }
    }
  }
  return out;
}

}  // namespace krater::api
