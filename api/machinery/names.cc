#include "api/machinery/names.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace krater::api {
namespace {

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_all(std::string_view text, bool (*allowed)(char)) {
  return std::all_of(text.begin(), text.end(), allowed);
}

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_label_name(std::string_view text) {
  if (text.empty() || !is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return is_all(text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string check_path_segment(std::string_view name) {
  if (name == "." || name == "..") return "may not be '" + std::string(name) + "'";
  for (char c : {'/', '%'}) {
    if (name.find(c) != std::string_view::npos) return std::string("may not contain '") + c + "'";
  }
  return {};
}

// A port number in text, or the name of a container port.
std::string check_port_or_name(std::string_view text) {
  if (const auto number = parse_int(text)) {
    return *number >= 1 && *number <= 65535 ? std::string()
                                            : "must be between 1 and 65535, inclusive";
  }
  return check_port_name(text);
}

struct NamedRule {
  std::string_view name;
  NameRule rule;
};

constexpr std::array kRules{
    NamedRule{"data-key", check_data_key},
    NamedRule{"dns1035-label", check_dns1035_label},
    NamedRule{"dns1123-label", check_dns1123_label},
    NamedRule{"dns1123-subdomain", check_dns1123_subdomain},
    NamedRule{"ip", check_ip},
    NamedRule{"local-path", check_local_path},
    NamedRule{"path-segment", check_path_segment},
    NamedRule{"port-name", check_port_name},
    NamedRule{"port-or-name", check_port_or_name},
};

}  // namespace

NameRule find_name_rule(std::string_view name) {
  for (const NamedRule& entry : kRules) {
    if (entry.name == name) return entry.rule;
  }
  return nullptr;
}

std::string check_generate_name(NameRule rule, std::string_view prefix) {
  if (prefix.size() > 1 && prefix.back() == '-') {
    std::string masked(prefix.substr(0, prefix.size() - 1));
    masked.back() = 'a';
    return rule(masked);
  }
  return rule(prefix);
}

std::string check_port_name(std::string_view name) {
  if (name.size() > 15) return "must be no more than 15 characters";
  if (!is_all(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      })) {
    return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
  }
  if (std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
    return "must contain at least one letter (a-z)";
  }
  if (name.find("--") != std::string_view::npos) return "must not contain consecutive hyphens";
  if (name.front() == '-' || name.back() == '-') return "must not begin or end with a hyphen";
  return {};
}

std::string check_data_key(std::string_view key) {
  if (key.size() > 253) return "must be no more than 253 characters";
  if (key.empty() ||
      !is_all(key, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; })) {
    return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
           "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
           "'[-._a-zA-Z0-9]+')";
  }
  if (key == ".") return "must not be '.'";
  if (key.substr(0, 2) == "..")
    return key == ".." ? "must not be '..'" : "must not start with '..'";
  return {};
}

std::string check_qualified_name(std::string_view name) {
  std::string_view local = name;
  if (const auto slash = name.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = name.substr(0, slash);
    local = name.substr(slash + 1);
    if (prefix.empty()) return "prefix part must be non-empty";
    if (std::string problem = check_dns1123_subdomain(prefix); !problem.empty()) {
      return "prefix part " + problem;
    }
  }
  if (local.empty()) return "name part must be non-empty";
  if (local.size() > 63) return "name part must be no more than 63 characters";
  if (is_label_name(local)) return {};
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
         "end "
         "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
         "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
}

std::string check_label_value(std::string_view value) {
  if (value.size() > 63) return "must be no more than 63 characters";
  if (value.empty() || is_label_name(value)) return {};
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
         "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
         "'my_value',  or '12345', regex used for validation is "
         "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

std::string check_env_name(std::string_view name) {
  if (!name.empty() && is_all(name, [](char c) { return c >= 0x20 && c <= 0x7e && c != '='; }))
    return {};
  return "a valid environment variable name must consist only of printable ASCII characters other "
         "than '='";
}

std::string check_local_path(std::string_view path) {
  if (!path.empty() && path.front() == '/') return "must be a relative path";
  for (std::string_view step : split(path, '/')) {
    if (step == "..") return "must not contain '..'";
  }
  return {};
}

std::string check_ip(std::string_view address) {
  const std::string text(address);
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return {};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {};
  return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
}

}  // namespace krater::api
