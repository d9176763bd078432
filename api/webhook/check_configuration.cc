#include "api/webhook/check_configuration.h"

#include <algorithm>
#include <set>

#include "api/policy/compiled_policy.h"
#include "base/strings.h"
#include "model/selector.h"

namespace krater::api {
namespace {

std::string item(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

std::vector<std::string> texts_at(const Json& object, std::string_view list) {
  std::vector<std::string> out;
  const JsonArray* values = array_at(object, {list});
  for (std::size_t i = 0; values != nullptr && i < values->size(); ++i) {
    out.emplace_back((*values)[i].is_string() ? view((*values)[i].get_string()) : "");
  }
  return out;
}

void check_name(const std::string& name, const std::string& path, Causes& out) {
  if (name.empty()) return out.push_back(required_value(path));
  if (const std::string problem = check_dns1123_subdomain(name); !problem.empty()) {
    out.push_back(invalid_value(path, api::quoted(name), problem));
  } else if (split(name, '.').size() < 3) {
    out.push_back(
        invalid_value(path, api::quoted(name),
                      "should be a domain with at least three segments separated by dots"));
  }
}

// A list that must say something, and where '*' stands alone.
std::vector<std::string> check_list(const Json& rule, const std::string& path,
                                    std::string_view field, std::string_view others, Causes& out) {
  std::vector<std::string> values = texts_at(rule, field);
  const std::string here = path + "." + std::string(field);
  if (values.empty()) {
    out.push_back(required_value(here));
  } else if (values.size() > 1 && std::find(values.begin(), values.end(), "*") != values.end()) {
    out.push_back(
        invalid_value(here, to_json(*find(rule, {field})),
                      "if '*' is present, must not specify other " + std::string(others)));
  }
  return values;
}

void check_resources(const Json& rule, const std::string& path, Causes& out) {
  const std::vector<std::string> resources = texts_at(rule, "resources");
  if (resources.empty()) return out.push_back(required_value(path));
  std::set<std::string> whole, everywhere;  // "pods" of "pods/*", "status" of "*/status"
  std::size_t plain = 0;
  bool all = false, any = false;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string& one = resources[i];
    if (one.empty()) {
      out.push_back(required_value(item(path, i)));
      continue;
    }
    all = all || one == "*/*";
    any = any || one == "*";
    const std::size_t slash = one.find('/');
    if (slash == std::string::npos) {
      ++plain;
      continue;
    }
    const std::string resource = one.substr(0, slash), sub = one.substr(slash + 1);
    const auto refuse = [&](const std::string& wider) {
      out.push_back(invalid_value(item(path, i), api::quoted(one),
                                  "if '" + wider + "' is present, must not specify " + one));
    };
    if (whole.count(resource) > 0) refuse(resource + "/*");
    if (everywhere.count(sub) > 0) refuse("*/" + sub);
    if (sub == "*") whole.insert(resource);
    if (resource == "*") everywhere.insert(sub);
  }
  const std::string shown = to_json(*find(rule, {"resources"}));
  if (resources.size() > 1 && all) {
    out.push_back(
        invalid_value(path, shown, "if '*/*' is present, must not specify other resources"));
  }
  if (any && plain > 1) {
    out.push_back(invalid_value(
        path, shown, "if '*' is present, must not specify other resources without subresources"));
  }
}

void check_rule(const Json& rule, const std::string& path, Causes& out) {
  check_list(rule, path, "operations", "operations", out);
  check_list(rule, path, "apiGroups", "API groups", out);
  const std::vector<std::string> versions =
      check_list(rule, path, "apiVersions", "API versions", out);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (versions[i].empty()) out.push_back(required_value(item(path + ".apiVersions", i)));
  }
  check_resources(rule, path + ".resources", out);
}

void check_selector(const Json& webhook, const std::string& path, std::string_view field,
                    Causes& out) {
  const Json* selector = find(webhook, {field});
  if (selector == nullptr || !selector->is_object()) return;
  if (const Result<LabelSelector> read = LabelSelector::from_object(*selector); !read) {
    out.push_back(
        invalid_value(path + "." + std::string(field), to_json(*selector), read.error().message));
  }
}

void check_side_effects(const Json& webhook, const std::string& path, Causes& out) {
  const std::vector<std::string> allowed{"None", "NoneOnDryRun"};
  const std::string given = text_at(webhook, {"sideEffects"});
  if (given.empty()) {
    out.push_back(required_value(path, "must specify one of " + join(allowed, ", ")));
  } else if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
    out.push_back(unsupported_value(path, api::quoted(given), allowed));
  }
}

void check_review_versions(const Json& webhook, const std::string& path, Causes& out) {
  const std::vector<std::string> versions = texts_at(webhook, "admissionReviewVersions");
  if (versions.empty())
    return out.push_back(required_value(path, "must specify one of v1, v1beta1"));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!seen.insert(versions[i]).second) {
      out.push_back(invalid_value(item(path, i), api::quoted(versions[i]), "duplicate version"));
    } else if (const std::string problem = check_dns1035_label(versions[i]); !problem.empty()) {
      out.push_back(invalid_value(item(path, i), api::quoted(versions[i]), problem));
    }
  }
  if (seen.count("v1") == 0 && seen.count("v1beta1") == 0) {
    out.push_back(invalid_value(path, to_json(*find(webhook, {"admissionReviewVersions"})),
                                "must include at least one of v1, v1beta1"));
  }
}

void check_conditions(const Json& webhook, const std::string& path, Causes& out) {
  const JsonArray* conditions = array_at(webhook, {"matchConditions"});
  if (conditions == nullptr || conditions->empty()) return;
  const auto compiled = compile_policy(JsonObject{{"spec", webhook}});
  for (std::size_t i = 0; i < compiled->conditions.size(); ++i) {
    const PolicyExpression& condition = compiled->conditions[i];
    if (trim(condition.text).empty()) {
      out.push_back(required_value(item(path, i) + ".expression"));
    } else if (!condition.problem.empty()) {
      out.push_back(invalid_value(item(path, i) + ".expression", api::quoted(condition.text),
                                  condition.problem));
    }
    if (condition.name.empty()) out.push_back(required_value(item(path, i) + ".name"));
  }
}

// https://host[:port][/path], and nothing else.
void check_url(const std::string& url, const std::string& path, Causes& out) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : url.substr(0, scheme_end);
  const std::string rest = scheme_end == std::string::npos ? url : url.substr(scheme_end + 3);
  const std::string authority = rest.substr(0, rest.find_first_of("/?#"));
  if (scheme != "https") {
    out.push_back(invalid_value(path, api::quoted(scheme),
                                "'https' is the only allowed URL scheme" + std::string(kForm)));
  }
  const std::size_t at = authority.rfind('@');
  const std::string host = at == std::string::npos ? authority : authority.substr(at + 1);
  if (scheme.empty() || host.empty()) {
    out.push_back(invalid_value(path, "\"\"", "host must be specified" + std::string(kForm)));
  }
  if (at != std::string::npos) {
    out.push_back(invalid_value(path, api::quoted(authority.substr(0, at)),
                                "user information is not permitted in the URL"));
  }
  const std::size_t hash = url.find('#');
  if (hash != std::string::npos && hash + 1 < url.size()) {
    out.push_back(invalid_value(path, api::quoted(url.substr(hash + 1)),
                                "fragments are not permitted in the URL"));
  }
  const std::size_t query = url.substr(0, hash).find('?');
  if (query != std::string::npos && query + 1 < url.substr(0, hash).size()) {
    out.push_back(invalid_value(path, api::quoted(url.substr(0, hash).substr(query + 1)),
                                "query parameters are not permitted in the URL"));
  }
}

void check_service_path(const std::string& given, const std::string& path, Causes& out) {
  if (given.empty() || given == "/") return;
  if (given == "//")
    return out.push_back(invalid_value(path, api::quoted(given), "segment[0] may not be empty"));
  if (given.front() != '/')
    out.push_back(invalid_value(path, api::quoted(given), "must start with a '/'"));
  std::string_view steps = std::string_view(given).substr(1);
  if (steps.ends_with('/')) steps.remove_suffix(1);
  const std::vector<std::string_view> segments = split(steps, '/');
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string which = "segment[" + std::to_string(i) + "]";
    if (segments[i].empty()) {
      out.push_back(invalid_value(path, api::quoted(given), which + " may not be empty"));
    } else if (const std::string problem = check_dns1123_subdomain(segments[i]); !problem.empty()) {
      out.push_back(invalid_value(path, api::quoted(given), which + ": " + problem));
    }
  }
}

void check_service(const Json& service, const std::string& path, Causes& out) {
  if (text_at(service, {"name"}).empty()) out.push_back(required_value(path + ".name"));
  if (text_at(service, {"namespace"}).empty()) out.push_back(required_value(path + ".namespace"));
  const std::int64_t port = int_at(service, {"port"}).value_or(443);
  if (port < 1 || port > 65535) {
    out.push_back(invalid_value(path + ".port", std::to_string(port),
                                "port is not valid: must be between 1 and 65535, inclusive"));
  }
  check_service_path(text_at(service, {"path"}), path + ".path", out);
}

void check_webhook(const Json& webhook, const std::string& path, Causes& out) {
  check_name(text_at(webhook, {"name"}), path + ".name", out);
  const JsonArray* rules = array_at(webhook, {"rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    check_rule((*rules)[i], item(path + ".rules", i), out);
  }
  check_side_effects(webhook, path + ".sideEffects", out);
  const std::int64_t timeout = int_at(webhook, {"timeoutSeconds"}).value_or(10);
  if (timeout < 1 || timeout > 30) {
    out.push_back(invalid_value(path + ".timeoutSeconds", std::to_string(timeout),
                                "the timeout value must be between 1 and 30 seconds"));
  }
  check_selector(webhook, path, "namespaceSelector", out);
  check_selector(webhook, path, "objectSelector", out);
  const Json* client = find(webhook, {"clientConfig"});
  check_client_config(client == nullptr ? Json(JsonObject()) : *client, path + ".clientConfig",
                      out);
  check_conditions(webhook, path + ".matchConditions", out);
  check_review_versions(webhook, path + ".admissionReviewVersions", out);
}

}  // namespace

void check_client_config(const Json& client_config, const std::string& path, Causes& out) {
  const Json* url = find(client_config, {"url"});
  const Json* service = find(client_config, {"service"});
  if ((url == nullptr) == (service == nullptr)) {
    return out.push_back(required_value(path, "exactly one of url or service is required"));
  }
  if (url != nullptr) return check_url(text_at(client_config, {"url"}), path + ".url", out);
  check_service(*service, path + ".service", out);
}

Causes check_webhook_configuration(const Json& configuration) {
  Causes out;
  const JsonArray* webhooks = array_at(configuration, {"webhooks"});
  // That names differ is said in the schema.
  for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    check_webhook((*webhooks)[i], item("webhooks", i), out);
  }
  return out;
}

}  // namespace krater::api
