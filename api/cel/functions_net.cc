// Addresses and networks, parsed as Go's net/netip parses them; no zones, no IPv4 inside IPv6.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "api/cel/functions.h"
#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

struct Address {
  std::array<unsigned char, 16> bytes{};  // the first four of an IPv4 address
  bool v4 = true;

  std::size_t size() const { return v4 ? 4 : 16; }
  friend bool operator==(const Address&, const Address&) = default;
};

class Ip final : public Opaque {
 public:
  explicit Ip(Address value) : address(value) {}
  std::string_view type_name() const override { return "net.IP"; }
  bool equals(const Opaque& other) const override {
    return address == static_cast<const Ip&>(other).address;
  }
  std::uint64_t size() const override { return address.size(); }
  const Address address;
};

class Cidr final : public Opaque {
 public:
  Cidr(Address value, int length) : address(value), bits(length) {}
  std::string_view type_name() const override { return "net.CIDR"; }
  bool equals(const Opaque& other) const override {
    const auto& cidr = static_cast<const Cidr&>(other);
    return address == cidr.address && bits == cidr.bits;
  }
  std::uint64_t size() const override { return static_cast<std::uint64_t>(bits + 7) / 8; }
  const Address address;
  const int bits;
};

bool is_ip(const Value& value) {
  return value.kind() == Kind::Opaque && value.type_name() == "net.IP";
}
bool is_cidr(const Value& value) {
  return value.kind() == Kind::Opaque && value.type_name() == "net.CIDR";
}

// Why a dotted address is none.
std::string ipv4_problem(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  for (std::size_t i = 0; i < parts.size() && i < 4; ++i) {
    if (parts[i].empty()) return "IPv4 field must have at least one digit";
    if (parts[i].find_first_not_of("0123456789") != std::string_view::npos) {
      return "unexpected character";
    }
    if (parts[i].size() > 1 && parts[i][0] == '0') return "IPv4 field has octet with leading zero";
    if (parts[i].size() > 3 || *parse_int(parts[i]) > 255) return "IPv4 field has value >255";
  }
  return parts.size() < 4   ? "IPv4 address too short"
         : parts.size() > 4 ? "IPv4 address too long"
                            : "";
}

Result<Address> parse_address(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    return make_error(Code::BadRequest, "ParseAddr(" + go_quoted(text) + "): " + why);
  };
  const std::size_t sign = text.find_first_of(".:%");
  if (sign == std::string_view::npos || text[sign] == '%') return fail("unable to parse IP");
  Address out;
  const std::string copy(text);
  if (text[sign] == '.') {
    const std::string problem = ipv4_problem(text);
    if (!problem.empty()) return fail(problem);
    if (inet_pton(AF_INET, copy.c_str(), out.bytes.data()) != 1) return fail("unable to parse IP");
    return out;
  }
  out.v4 = false;
  if (copy.find('\0') != std::string::npos ||
      inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) != 1) {
    return fail("each colon-separated field must be at most four hexadecimal digits");
  }
  return out;
}

bool is_mapped(const Address& address) {
  static constexpr std::array<unsigned char, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return !address.v4 && std::memcmp(address.bytes.data(), kPrefix.data(), kPrefix.size()) == 0;
}

Result<Address> parse_ip(std::string_view text) {
  const auto fail = [](std::string message) {
    return make_error(Code::BadRequest, std::move(message));
  };
  const std::size_t zone = text.find('%');
  if (zone != std::string_view::npos && text.find(':') < zone && zone + 1 < text.size() &&
      parse_address(text.substr(0, zone))) {
    return fail("IP address " + go_quoted(text) + " with zone value is not allowed");
  }
  const Result<Address> address = parse_address(text);
  if (!address) {
    return fail("IP Address " + go_quoted(text) +
                " parse error during conversion from string: " + address.error().message);
  }
  if (is_mapped(*address)) {
    return fail("IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed");
  }
  return *address;
}

struct Network {
  Address address;
  int bits = 0;
};

Result<Network> parse_network(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    return make_error(Code::BadRequest,
                      "network address parse error during conversion from string: "
                      "netip.ParsePrefix(" +
                          go_quoted(text) + "): " + why);
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return fail("no '/'");
  const Result<Address> address = parse_address(text.substr(0, slash));
  if (!address) return fail(address.error().message);
  const std::string_view bits_text = text.substr(slash + 1);
  const std::optional<std::int64_t> bits = parse_int(bits_text);
  if (!bits || bits_text.find_first_not_of("0123456789") != std::string_view::npos ||
      (bits_text.size() > 1 && bits_text[0] == '0')) {
    return fail("bad bits after slash: " + go_quoted(bits_text));
  }
  if (*bits > static_cast<std::int64_t>(address->size() * 8)) {
    return fail("prefix length out of range");
  }
  if (is_mapped(*address)) {
    return make_error(Code::BadRequest,
                      "IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed");
  }
  return Network{*address, static_cast<int>(*bits)};
}

Address masked_to(Address address, int bits) {
  for (std::size_t i = 0; i < address.size(); ++i) {
    const int kept = std::clamp(bits - static_cast<int>(i) * 8, 0, 8);
    address.bytes[i] = static_cast<unsigned char>(address.bytes[i] & (0xFF00 >> kept));
  }
  for (std::size_t i = address.size(); i < address.bytes.size(); ++i) address.bytes[i] = 0;
  return address;
}

bool contains(const Address& network, int bits, const Address& address) {
  return network.v4 == address.v4 && masked_to(network, bits) == masked_to(address, bits);
}

std::string text_of_address(const Address& address) {
  char buffer[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.v4 ? AF_INET : AF_INET6, address.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

Value make_ip(const Address& address) {
  return Value::opaque(std::make_shared<Ip>(address));
}

template <typename Test>
Value test_ip(Args args, Test test) {
  if (!is_ip(args[0])) return no_such_overload();
  return Value::of(static_cast<bool>(test(args[0].opaque_as<Ip>().address)));
}

bool all_zero(const Address& address, std::size_t from, std::size_t to) {
  return std::all_of(address.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     address.bytes.begin() + static_cast<std::ptrdiff_t>(to),
                     [](unsigned char byte) { return byte == 0; });
}

bool is_unspecified(const Address& address) {
  return all_zero(address, 0, address.size());
}
bool is_loopback(const Address& address) {
  return address.v4 ? address.bytes[0] == 127 : all_zero(address, 0, 15) && address.bytes[15] == 1;
}
bool is_multicast(const Address& address) {
  return address.v4 ? (address.bytes[0] & 0xF0) == 0xE0 : address.bytes[0] == 0xFF;
}
bool is_link_local_multicast(const Address& address) {
  if (address.v4) return address.bytes[0] == 224 && address.bytes[1] == 0 && address.bytes[2] == 0;
  return address.bytes[0] == 0xFF && (address.bytes[1] & 0x0F) == 0x02;
}
bool is_link_local_unicast(const Address& address) {
  if (address.v4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xFE && (address.bytes[1] & 0xC0) == 0x80;
}
bool is_broadcast(const Address& address) {
  return address.v4 && std::all_of(address.bytes.begin(), address.bytes.begin() + 4,
                                   [](unsigned char byte) { return byte == 0xFF; });
}

}  // namespace

std::string address_text(const Value& value) {
  if (is_ip(value)) return text_of_address(value.opaque_as<Ip>().address);
  const Cidr& cidr = value.opaque_as<Cidr>();
  return text_of_address(cidr.address) + "/" + std::to_string(cidr.bits);
}

Value call_ip(Args args) {
  if (is_cidr(args[0])) return make_ip(args[0].opaque_as<Cidr>().address);
  if (args[0].kind() != Kind::String) return no_such_overload();
  const Result<Address> address = parse_ip(args[0].text());
  return address ? make_ip(*address) : Value::error(address.error().message);
}

Value call_is_ip(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  return Value::of(parse_ip(args[0].text()).has_value());
}

Value call_ip_is_canonical(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  const Result<Address> address = parse_ip(args[0].text());
  if (!address) return Value::error(address.error().message);
  return Value::of(text_of_address(*address) == args[0].text());
}

Value call_ip_family(Args args) {
  if (!is_ip(args[0])) return no_such_overload();
  return Value::of(std::int64_t{args[0].opaque_as<Ip>().address.v4 ? 4 : 6});
}

Value call_ip_is_unspecified(Args args) {
  return test_ip(args, is_unspecified);
}
Value call_ip_is_loopback(Args args) {
  return test_ip(args, is_loopback);
}
Value call_ip_is_link_local_multicast(Args args) {
  return test_ip(args, is_link_local_multicast);
}
Value call_ip_is_link_local_unicast(Args args) {
  return test_ip(args, is_link_local_unicast);
}
Value call_ip_is_global_unicast(Args args) {
  return test_ip(args, [](const Address& address) {
    return !is_unspecified(address) && !is_broadcast(address) && !is_loopback(address) &&
           !is_multicast(address) && !is_link_local_unicast(address);
  });
}

Value call_cidr(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  const Result<Network> network = parse_network(args[0].text());
  if (!network) {
    return Value::error("network address parse error during conversion from string: " +
                        network.error().message);
  }
  return Value::opaque(std::make_shared<Cidr>(network->address, network->bits));
}

Value call_is_cidr(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  return Value::of(parse_network(args[0].text()).has_value());
}

Value call_contains_ip(Args args) {
  if (!is_cidr(args[0])) return no_such_overload();
  const Value other = args[1].kind() == Kind::String ? call_ip(args.subspan(1, 1)) : args[1];
  if (!is_ip(other)) return no_such_overload();
  const Cidr& cidr = args[0].opaque_as<Cidr>();
  return Value::of(contains(cidr.address, cidr.bits, other.opaque_as<Ip>().address));
}

Value call_contains_cidr(Args args) {
  if (!is_cidr(args[0])) return no_such_overload();
  const Value other = args[1].kind() == Kind::String ? call_cidr(args.subspan(1, 1)) : args[1];
  if (other.is_error()) return other;
  if (!is_cidr(other)) return no_such_overload();
  const Cidr& outer = args[0].opaque_as<Cidr>();
  const Cidr& inner = other.opaque_as<Cidr>();
  return Value::of(outer.bits <= inner.bits && contains(outer.address, outer.bits, inner.address));
}

Value call_masked(Args args) {
  if (!is_cidr(args[0])) return no_such_overload();
  const Cidr& cidr = args[0].opaque_as<Cidr>();
  return Value::opaque(std::make_shared<Cidr>(masked_to(cidr.address, cidr.bits), cidr.bits));
}

Value call_prefix_length(Args args) {
  if (!is_cidr(args[0])) return no_such_overload();
  return Value::of(std::int64_t{args[0].opaque_as<Cidr>().bits});
}

}  // namespace krater::cel
