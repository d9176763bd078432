// Rules for names and keys: each gives the message that Kubernetes gives, "" when the text is
// valid. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/machinery/schema_node.h"

namespace krater::api {

// By the name that schemas use ("dns1123-label", "port-name", …); nullptr when there is none.
NameRule find_name_rule(std::string_view name);

// `rule` applied to a generateName: a trailing dash stands for the characters that will follow.
std::string check_generate_name(NameRule rule, std::string_view prefix);

std::string check_port_name(std::string_view name);       // IANA service name
std::string check_data_key(std::string_view key);         // keys of config maps and secrets
std::string check_qualified_name(std::string_view name);  // label keys: [prefix/]name
std::string check_label_value(std::string_view value);
std::string check_env_name(std::string_view name);
std::string check_local_path(std::string_view path);  // relative, without ".." steps
std::string check_ip(std::string_view address);       // IPv4 or IPv6

}  // namespace krater::api
