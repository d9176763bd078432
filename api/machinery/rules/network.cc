// Ingresses, their classes, and network policies.
#include "api/machinery/names.h"
#include "api/machinery/rules/address_block.h"
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

void check_backend(const Json& backend, const FieldPath& path, FieldErrors& errors) {
  const Json* service = find(backend, {"service"});
  const Json* resource = find(backend, {"resource"});
  if (service != nullptr && resource != nullptr)
    return errors.invalid(path, Json(""), "cannot set both resource and service backends");
  if (service == nullptr && resource == nullptr)
    return errors.invalid(path, Json(""), "resource or service backend is required");
  if (service == nullptr) return;
  const FieldPath here = path.field("service");
  const std::string name = text_at(*service, {"name"});
  if (name.empty()) {
    errors.required(here.field("name"));
  } else if (const std::string problem = check_dns1035_label(name); !problem.empty()) {
    errors.invalid(here.field("name"), Json(name), problem);
  }
  const std::string port = text_at(*service, {"port", "name"});
  const std::int64_t number = int_at(*service, {"port", "number"}).value_or(0);
  const FieldPath port_path = here.field("port");
  if (!port.empty() && number != 0) {
    errors.invalid(path, Json(""), "cannot set both port name & port number");
  } else if (!port.empty()) {
    if (const std::string problem = check_port_name(port); !problem.empty())
      errors.invalid(port_path.field("name"), Json(port), problem);
  } else if (number == 0) {
    errors.required(path, "port name or number is required");
  } else if (number < 1 || number > 65535) {
    errors.invalid(port_path.field("number"), Json(number),
                   "must be between 1 and 65535, inclusive");
  }
}

void check_host(const std::string& host, const FieldPath& path, FieldErrors& errors) {
  if (host.empty()) return;
  if (check_ip(host).empty())
    errors.invalid(path, Json(host), "must be a DNS name, not an IP address");
  const bool wildcard = host.find('*') != std::string::npos;
  const std::string_view rest =
      wildcard && host.starts_with("*.") ? std::string_view(host).substr(2) : host;
  const std::string problem = check_dns1123_subdomain(rest);
  if (problem.empty()) return;
  errors.invalid(path, Json(host),
                 wildcard
                     ? "a wildcard DNS-1123 subdomain must start with '*.', followed by a "
                       "valid DNS subdomain, which must consist of lower case alphanumeric "
                       "characters, '-' or '.' and end with an alphanumeric character (e.g. "
                       "'*.example.com', regex used for validation is "
                       "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                     : problem);
}

void check_path(const Json& entry, const FieldPath& path, FieldErrors& errors) {
  const auto type = string_at(entry, {"pathType"});
  const std::string text = text_at(entry, {"path"});
  const FieldPath here = path.field("path");
  if (!type) {
    errors.required(path.field("pathType"), "pathType must be specified");
  } else if (*type == "Exact" || *type == "Prefix") {
    if (!text.starts_with('/')) errors.invalid(here, Json(text), "must be an absolute path");
    if (!text.empty()) {
      for (const std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
        if (text.find(part) != std::string::npos)
          errors.invalid(here, Json(text), "must not contain '" + std::string(part) + "'");
      }
      for (const std::string_view end : {"/..", "/."}) {
        if (text.ends_with(end))
          errors.invalid(here, Json(text), "cannot end with '" + std::string(end) + "'");
      }
    }
  } else if (*type == "ImplementationSpecific") {
    if (!text.empty() && !text.starts_with('/'))
      errors.invalid(here, Json(text), "must be an absolute path");
  } else {
    errors.unsupported(path.field("pathType"), *type,
                       {"Exact", "ImplementationSpecific", "Prefix"});
  }
  const Json* backend = find(entry, {"backend"});
  check_backend(backend == nullptr ? Json(JsonObject()) : *backend, path.field("backend"), errors);
}

void check_ingress_rules(const JsonArray& list, const FieldPath& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const FieldPath here = path.index(i);
    check_host(text_at(list[i], {"host"}), here.field("host"), errors);
    const Json* http = find(list[i], {"http"});
    if (http == nullptr) continue;
    const FieldPath http_path = here.field("http");
    const FieldPath paths_path = http_path.field("paths");
    const JsonArray* paths = array_at(*http, {"paths"});
    if (paths == nullptr || paths->empty()) {
      errors.required(paths_path);
      continue;
    }
    for (std::size_t j = 0; j < paths->size(); ++j)
      check_path((*paths)[j], paths_path.index(j), errors);
  }
}

void check_ip_block(const Json& block, const FieldPath& path, FieldErrors& errors) {
  const std::string cidr = text_at(block, {"cidr"});
  if (cidr.empty()) return;  // a matter of `required`
  const auto outer = read_block(cidr);
  if (!outer) return errors.invalid(path.field("cidr"), Json(cidr), kNoBlock);
  const JsonArray* except = array_at(block, {"except"});
  const FieldPath list = path.field("except");
  for (std::size_t i = 0; except != nullptr && i < except->size(); ++i) {
    const Json& one = (*except)[i];
    const std::string text = one.is_string() ? std::string(view(one.get_string())) : "";
    const auto inner = read_block(text);
    if (!inner) {
      errors.invalid(list.index(i), one, kNoBlock);
    } else if (!within(*inner, *outer)) {
      errors.invalid(list.index(i), one, "must be a strict subset of `cidr`");
    }
  }
}

void check_policy_port(const Json& port, const FieldPath& path, FieldErrors& errors) {
  const std::string protocol = text_at(port, {"protocol"});
  if (!protocol.empty() && protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
    errors.unsupported(path.field("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  const Json* number = find(port, {"port"});
  const auto end = int_at(port, {"endPort"});
  if (number == nullptr) {
    if (end) errors.required(path.field("port"), "must be specified when `endPort` is specified");
    return;
  }
  if (number->is_string()) {
    if (end)
      errors.invalid(path.field("endPort"), Json(*end),
                     "may not be specified when `port` is non-numeric");
    if (const std::string problem = check_port_name(view(number->get_string())); !problem.empty())
      errors.invalid(path.field("port"), *number, problem);
    return;
  }
  const std::int64_t begin = as_int(*number).value_or(0);
  if (begin < 1 || begin > 65535)
    errors.invalid(path.field("port"), *number, "must be between 1 and 65535, inclusive");
  if (!end) return;
  if (*end < begin)
    errors.invalid(path.field("endPort"), Json(begin), "must be greater than or equal to `port`");
  if (*end < 1 || *end > 65535)
    errors.invalid(path.field("endPort"), Json(*end), "must be between 1 and 65535, inclusive");
}

void check_policy_rules(const Json& spec, const FieldPath& path, std::string_view direction,
                        std::string_view peers_field, FieldErrors& errors) {
  const JsonArray* list = array_at(spec, {direction});
  const FieldPath rules_path = path.field(direction);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const FieldPath here = rules_path.index(i);
    const JsonArray* ports = array_at((*list)[i], {"ports"});
    const FieldPath ports_path = here.field("ports");
    for (std::size_t j = 0; ports != nullptr && j < ports->size(); ++j)
      check_policy_port((*ports)[j], ports_path.index(j), errors);
    const JsonArray* peers = array_at((*list)[i], {peers_field});
    const FieldPath peers_path = here.field(peers_field);
    for (std::size_t j = 0; peers != nullptr && j < peers->size(); ++j) {
      const Json& peer = (*peers)[j];
      const FieldPath peer_path = peers_path.index(j);
      const bool selects =
          find(peer, {"podSelector"}) != nullptr || find(peer, {"namespaceSelector"}) != nullptr;
      const Json* block = find(peer, {"ipBlock"});
      if (block != nullptr) check_ip_block(*block, peer_path.field("ipBlock"), errors);
      if (!selects && block == nullptr) errors.required(peer_path, "must specify a peer");
      if (selects && block != nullptr)
        errors.forbidden(peer_path, "may not specify both ipBlock and another peer");
    }
  }
}

}  // namespace

void ingress_spec(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* rules = array_at(in.value, {"rules"});
  const Json* backend = find(in.value, {"defaultBackend"});
  if ((rules == nullptr || rules->empty()) && backend == nullptr) {
    errors.invalid(in.path, Json(JsonArray()),
                   "either `defaultBackend` or `rules` must be specified");
  }
  if (rules != nullptr) check_ingress_rules(*rules, in.path.field("rules"), errors);
  if (backend != nullptr) check_backend(*backend, in.path.field("defaultBackend"), errors);
  const JsonArray* tls = array_at(in.value, {"tls"});
  const FieldPath tls_path = in.path.field("tls");
  for (std::size_t i = 0; tls != nullptr && i < tls->size(); ++i) {
    const FieldPath here = tls_path.index(i);
    const FieldPath hosts_path = here.field("hosts");
    const JsonArray* hosts = array_at((*tls)[i], {"hosts"});
    for (std::size_t j = 0; hosts != nullptr && j < hosts->size(); ++j) {
      if ((*hosts)[j].is_string())
        check_host(std::string(view((*hosts)[j].get_string())), hosts_path.index(j), errors);
    }
    const std::string secret = text_at((*tls)[i], {"secretName"});
    if (const std::string problem = check_dns1123_subdomain(secret);
        !secret.empty() && !problem.empty())
      errors.invalid(here.field("secretName"), Json(secret), problem);
  }
}

void ingress_class_spec(const RuleInput& in, FieldErrors& errors) {
  constexpr std::int64_t kLongest = 250;
  const FieldPath path = in.path.field("controller");
  const std::string controller = text_at(in.value, {"controller"});
  if (std::ssize(controller) > kLongest) errors.too_long(path, kLongest);
  const std::size_t slash = controller.find('/');
  if (controller.empty()) {
    errors.required(path);
  } else if (slash == std::string::npos || slash + 1 == controller.size()) {
    errors.invalid(path, Json(controller),
                   "must be a domain-prefixed path (such as \"acme.io/foo\")");
  } else if (const std::string problem =
                 check_dns1123_subdomain(std::string_view(controller).substr(0, slash));
             !problem.empty()) {
    errors.invalid(path, Json(controller.substr(0, slash)), problem);
  }
  const Json* parameters = find(in.value, {"parameters"});
  if (parameters == nullptr) return;
  const FieldPath place = in.path.field("parameters");
  const bool spaced = text_at(*parameters, {"scope"}) == "Namespace";
  const bool named = !text_at(*parameters, {"namespace"}).empty();
  if (spaced && !named) {
    errors.required(place.field("namespace"), "`parameters.scope` is set to 'Namespace'");
  } else if (!spaced && named) {
    errors.forbidden(place.field("namespace"), "`parameters.scope` is set to 'Cluster'");
  }
}

void network_policy_spec(const RuleInput& in, FieldErrors& errors) {
  check_policy_rules(in.value, in.path, "ingress", "from", errors);
  check_policy_rules(in.value, in.path, "egress", "to", errors);
  const JsonArray* types = array_at(in.value, {"policyTypes"});
  if (types == nullptr) return;
  const FieldPath path = in.path.field("policyTypes");
  if (types->size() > 2) {
    errors.invalid(path, *find(in.value, {"policyTypes"}),
                   "may not specify more than two policyTypes");
    return;
  }
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::string type =
        (*types)[i].is_string() ? std::string(view((*types)[i].get_string())) : "";
    if (type != "Ingress" && type != "Egress")
      errors.unsupported(path.index(i), type, {"Egress", "Ingress"});
  }
}

void default_network_policy_spec(JsonObject& spec) {
  if (const Json* types = spec.if_contains("policyTypes");
      types == nullptr || !types->is_array() || types->get_array().empty()) {
    JsonArray filled{"Ingress"};
    if (const Json* egress = spec.if_contains("egress");
        egress != nullptr && egress->is_array() && !egress->get_array().empty())
      filled.emplace_back("Egress");
    spec["policyTypes"] = std::move(filled);
  }
  for (const std::string_view direction : {"ingress", "egress"}) {
    Json* list = spec.if_contains(direction);
    if (list == nullptr || !list->is_array()) continue;
    for (Json& rule : list->get_array()) {
      Json* ports = find(rule, {"ports"});
      if (ports == nullptr || !ports->is_array()) continue;
      for (Json& port : ports->get_array()) {
        if (port.is_object() && !port.get_object().contains("protocol"))
          port.get_object()["protocol"] = "TCP";
      }
    }
  }
}

}  // namespace krater::api::rules
