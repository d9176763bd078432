#include "api/audit/policy.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/yaml.h"

namespace krater::api::audit {
namespace {

constexpr std::array<std::string_view, 4> kLevels{"None", "Metadata", "Request", "RequestResponse"};
constexpr std::array<std::string_view, 4> kStages{"RequestReceived", "ResponseStarted",
                                                  "ResponseComplete", "Panic"};

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Reading

Error wrong(const std::string& field, std::string_view why) {
  return make_error(Code::Invalid, field + ": " + std::string(why));
}

Result<void> only_known(const JsonObject& object, const std::string& path,
                        std::initializer_list<std::string_view> known) {
  for (const auto& member : object) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), key) == known.end())
      return wrong(path, "unknown field \"" + std::string(key) + "\"");
  }
  return {};
}

Result<std::vector<std::string>> texts(const JsonObject& object, std::string_view key,
                                       const std::string& path) {
  std::vector<std::string> out;
  const Json* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return out;
  const std::string field = path + "." + std::string(key);
  if (!value->is_array()) return wrong(field, "must be a list of strings");
  for (const Json& entry : value->get_array()) {
    if (!entry.is_string()) return wrong(field, "must be a list of strings");
    out.emplace_back(view(entry.get_string()));
  }
  return out;
}

Result<Stages> stages(const JsonObject& object, const std::string& path) {
  TRY_ASSIGN(const std::vector<std::string> names, texts(object, "omitStages", path));
  Stages out;
  for (const std::string& name : names) {
    const auto found = std::find(kStages.begin(), kStages.end(), name);
    if (found == kStages.end())
      return wrong(path + ".omitStages", "Invalid value: \"" + name + "\"");
    out.add(static_cast<Stage>(found - kStages.begin()));
  }
  return out;
}

Result<std::optional<bool>> flag(const JsonObject& object, std::string_view key,
                                 const std::string& path) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return std::optional<bool>();
  if (!value->is_bool()) return wrong(path + "." + std::string(key), "must be true or false");
  return std::optional<bool>(value->get_bool());
}

Result<GroupResources> group_resources(const Json& value, const std::string& path) {
  if (!value.is_object()) return wrong(path, "must be an object");
  const JsonObject& object = value.get_object();
  TRY(only_known(object, path, {"group", "resources", "resourceNames"}));
  GroupResources out;
  out.group = text_at(value, {"group"});
  if (out.group.find('/') != std::string::npos)
    return wrong(path + ".group",
                 "Invalid value: \"" + out.group + "\": is a version, not a group");
  TRY_ASSIGN(out.resources, texts(object, "resources", path));
  TRY_ASSIGN(out.names, texts(object, "resourceNames", path));
  if (!out.names.empty() && out.resources.empty())
    return wrong(path + ".resourceNames", "using resourceNames requires at least one resource");
  return out;
}

Result<void> check_path(const std::string& text, const std::string& field) {
  if (text == "*") return {};
  if (!text.starts_with("/"))
    return wrong(field, "Invalid value: \"" + text +
                            "\": non-resource URL rules must begin with a '/' character");
  if (const std::size_t star = text.find('*'); star != std::string::npos && star + 1 != text.size())
    return wrong(field,
                 "Invalid value: \"" + text +
                     "\": non-resource URL wildcards '*' must be the final character of the rule");
  return {};
}

Result<Rule> rule(const Json& value, const std::string& path) {
  if (!value.is_object()) return wrong(path, "must be an object");
  const JsonObject& object = value.get_object();
  TRY(only_known(object, path,
                 {"level", "users", "userGroups", "verbs", "resources", "namespaces",
                  "nonResourceURLs", "omitStages", "omitManagedFields"}));
  Rule out;
  const std::string level = text_at(value, {"level"});
  if (level.empty()) return wrong(path + ".level", "Required value");
  const auto found = std::find(kLevels.begin(), kLevels.end(), level);
  if (found == kLevels.end())
    return wrong(path + ".level", "Unsupported value: \"" + level +
                                      "\": supported values: \"None\", \"Metadata\", "
                                      "\"Request\", \"RequestResponse\"");
  out.level = static_cast<Level>(found - kLevels.begin());
  TRY_ASSIGN(out.users, texts(object, "users", path));
  TRY_ASSIGN(out.groups, texts(object, "userGroups", path));
  TRY_ASSIGN(out.verbs, texts(object, "verbs", path));
  TRY_ASSIGN(out.namespaces, texts(object, "namespaces", path));
  TRY_ASSIGN(out.paths, texts(object, "nonResourceURLs", path));
  TRY_ASSIGN(out.omit_stages, stages(object, path));
  TRY_ASSIGN(out.omit_managed_fields, flag(object, "omitManagedFields", path));
  const Json* resources = object.if_contains("resources");
  if (resources != nullptr && !resources->is_null()) {
    if (!resources->is_array()) return wrong(path + ".resources", "must be a list");
    for (const Json& entry : resources->get_array()) {
      const std::string at = path + ".resources[" + std::to_string(out.resources.size()) + "]";
      TRY_ASSIGN(GroupResources one, group_resources(entry, at));
      out.resources.push_back(std::move(one));
    }
  }
  for (const std::string& text : out.paths) TRY(check_path(text, path + ".nonResourceURLs"));
  if (!out.paths.empty() && (!out.resources.empty() || !out.namespaces.empty()))
    return wrong(path + ".nonResourceURLs",
                 "rules cannot apply to both regular resources and non-resource URLs");
  return out;
}

// Asking

bool names_resource(const GroupResources& entry, const Attributes& what) {
  if (entry.group != what.group) return false;
  if (entry.resources.empty()) return true;
  if (!entry.names.empty() && !has(entry.names, what.name)) return false;
  const std::string whole =
      what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  return std::any_of(entry.resources.begin(), entry.resources.end(), [&](const std::string& text) {
    return text == whole || text == "*" ||
           (!what.subresource.empty() && text == "*/" + what.subresource) ||
           text == what.resource + "/*";
  });
}

bool names_path(const std::string& pattern, std::string_view path) {
  if (!pattern.ends_with('*')) return pattern == path;
  return path.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
}

bool matches(const Rule& rule, const Identity* who, const Attributes& what) {
  if (!rule.users.empty() && (who == nullptr || !has(rule.users, who->user))) return false;
  if (!rule.groups.empty() &&
      (who == nullptr ||
       std::none_of(who->groups.begin(), who->groups.end(),
                    [&](const std::string& group) { return has(rule.groups, group); })))
    return false;
  if (!rule.verbs.empty() && !has(rule.verbs, what.verb)) return false;
  if (!rule.namespaces.empty() || !rule.resources.empty()) {
    if (what.resource.empty()) return false;
    if (!rule.namespaces.empty() && !has(rule.namespaces, what.name_space)) return false;
    return rule.resources.empty() ||
           std::any_of(rule.resources.begin(), rule.resources.end(),
                       [&](const GroupResources& entry) { return names_resource(entry, what); });
  }
  if (rule.paths.empty()) return true;
  return what.resource.empty() &&
         std::any_of(rule.paths.begin(), rule.paths.end(),
                     [&](const std::string& pattern) { return names_path(pattern, what.path); });
}

}  // namespace

std::string_view level_name(Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}

std::string_view stage_name(Stage stage) {
  return kStages[static_cast<std::size_t>(stage)];
}

Result<Policy> parse_policy(std::string_view text) {
  TRY_ASSIGN(const Json document, parse_yaml(text));
  if (!document.is_object()) return make_error(Code::Invalid, "an audit policy must be an object");
  const JsonObject& object = document.get_object();
  if (text_at(document, {"apiVersion"}) != "audit.k8s.io/v1" ||
      text_at(document, {"kind"}) != "Policy")
    return make_error(Code::Invalid,
                      "an audit policy must be apiVersion audit.k8s.io/v1, kind Policy");
  TRY(only_known(object, "policy",
                 {"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"}));
  Policy out;
  TRY_ASSIGN(out.omit_stages, stages(object, "policy"));
  TRY_ASSIGN(const std::optional<bool> omit, flag(object, "omitManagedFields", "policy"));
  out.omit_managed_fields = omit.value_or(false);
  if (const JsonArray* rules = array_at(document, {"rules"})) {
    for (const Json& entry : *rules) {
      TRY_ASSIGN(Rule one, rule(entry, "rules[" + std::to_string(out.rules.size()) + "]"));
      out.rules.push_back(std::move(one));
    }
  }
  if (out.rules.empty()) return make_error(Code::Invalid, "loaded illegal policy with 0 rules");
  return out;
}

Decision decide(const Policy& policy, const Identity* who, const Attributes& what) {
  for (const Rule& rule : policy.rules) {
    if (!matches(rule, who, what)) continue;
    Decision out{rule.level, policy.omit_stages,
                 rule.omit_managed_fields.value_or(policy.omit_managed_fields)};
    out.omit_stages.add(rule.omit_stages);
    return out;
  }
  return {Level::None, policy.omit_stages, policy.omit_managed_fields};
}

}  // namespace krater::api::audit
