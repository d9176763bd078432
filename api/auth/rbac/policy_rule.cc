#include "api/auth/rbac/policy_rule.h"

#include <algorithm>
#include <array>

#include "base/go_quote.h"

namespace krater::api {
namespace {

using Words = std::vector<std::string>;

// The fields in the order Kubernetes prints them.
struct Field {
  std::string_view json, printed;
  Words PolicyRule::*words;
};
constexpr std::array kFields{Field{"apiGroups", "APIGroups", &PolicyRule::api_groups},
                             Field{"resources", "Resources", &PolicyRule::resources},
                             Field{"resourceNames", "ResourceNames", &PolicyRule::resource_names},
                             Field{"nonResourceURLs", "NonResourceURLs", &PolicyRule::paths},
                             Field{"verbs", "Verbs", &PolicyRule::verbs}};

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_or_all(const Words& words, std::string_view word) {
  return has(words, word) || has(words, "*");
}

bool resource_matches(const Words& resources, const std::string& resource,
                      const std::string& subresource) {
  if (has(resources, "*")) return true;
  if (subresource.empty()) return has(resources, resource);
  return has(resources, resource + "/" + subresource) || has(resources, "*/" + subresource);
}

bool path_matches(const Words& paths, std::string_view path) {
  return std::any_of(paths.begin(), paths.end(), [path](const std::string& allowed) {
    if (!allowed.ends_with('*')) return path == allowed;
    return path.starts_with(std::string_view(allowed).substr(0, allowed.size() - 1));
  });
}

// Splits a rule into pieces that hold one verb and one path, or one verb, group, resource and at
// most one name.
std::vector<PolicyRule> pieces_of(const PolicyRule& rule) {
  std::vector<PolicyRule> out;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& path : rule.paths) out.push_back({{verb}, {}, {}, {}, {path}});
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        if (rule.resource_names.empty()) out.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.resource_names)
          out.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  return out;
}

bool covers(const PolicyRule& held, const PolicyRule& piece) {
  if (!has_or_all(held.verbs, piece.verbs[0])) return false;
  if (!piece.paths.empty()) {
    // A held pattern covers a wanted one that is longer.
    return path_matches(held.paths, piece.paths[0]);
  }
  const std::string& resource = piece.resources[0];
  const std::size_t slash = resource.find('/');
  const bool resource_covered =
      has_or_all(held.resources, resource) ||
      (slash != std::string::npos && has(held.resources, "*" + resource.substr(slash)));
  if (!has_or_all(held.api_groups, piece.api_groups[0]) || !resource_covered) return false;
  if (held.resource_names.empty()) return true;
  return !piece.resource_names.empty() && has(held.resource_names, piece.resource_names[0]);
}

}  // namespace

std::vector<PolicyRule> rules_of(const Json& role) {
  std::vector<PolicyRule> out;
  const JsonArray* rules = array_at(role, {"rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    PolicyRule& rule = out.emplace_back();
    for (const Field& field : kFields) {
      const JsonArray* words = array_at((*rules)[i], {field.json});
      for (std::size_t j = 0; words != nullptr && j < words->size(); ++j) {
        if ((*words)[j].is_string())
          (rule.*field.words).emplace_back(view((*words)[j].get_string()));
      }
    }
  }
  return out;
}

Json to_json_value(const PolicyRule& rule) {
  JsonObject out;
  for (const Field& field : kFields) {
    if ((rule.*field.words).empty()) continue;
    JsonArray words;
    for (const std::string& word : rule.*field.words) words.emplace_back(word);
    out[field.json] = std::move(words);
  }
  return out;
}

std::string to_text(const PolicyRule& rule) {
  std::string out;
  for (const Field& field : kFields) {
    if ((rule.*field.words).empty()) continue;
    std::string words;
    for (const std::string& word : rule.*field.words)
      words += (words.empty() ? "" : " ") + go_quoted(word);
    out += (out.empty() ? "" : ", ") + std::string(field.printed) + ":[" + words + "]";
  }
  return "{" + out + "}";
}

bool allows(const PolicyRule& rule, const Attributes& what) {
  if (!has_or_all(rule.verbs, what.verb)) return false;
  if (what.resource.empty()) return path_matches(rule.paths, what.path);
  return has_or_all(rule.api_groups, what.group) &&
         resource_matches(rule.resources, what.resource, what.subresource) &&
         (rule.resource_names.empty() || has(rule.resource_names, what.name));
}

std::vector<PolicyRule> not_covered(const std::vector<PolicyRule>& wanted,
                                    const std::vector<PolicyRule>& held) {
  std::vector<PolicyRule> out;
  for (const PolicyRule& rule : wanted) {
    for (PolicyRule& piece : pieces_of(rule)) {
      const bool covered = std::any_of(held.begin(), held.end(),
                                       [&](const PolicyRule& own) { return covers(own, piece); });
      if (!covered) out.push_back(std::move(piece));
    }
  }
  return out;
}

}  // namespace krater::api
