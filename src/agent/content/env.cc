#include "agent/content/env.h"

#include <algorithm>

#include "agent/content/downward.h"

namespace krater::agent {
namespace {

const std::string* value_in(const Environment& environment, std::string_view name) {
  const auto place = std::ranges::find(environment, name, &Environment::value_type::first);
  return place == environment.end() ? nullptr : &place->second;
}

void put(Environment& environment, std::string_view name, std::string value) {
  const auto place = std::ranges::find(environment, name, &Environment::value_type::first);
  if (place == environment.end()) {
    environment.emplace_back(name, std::move(value));
  } else {
    place->second = std::move(value);
  }
}

bool optional_reference(const Json& reference) {
  return bool_at(reference, {"optional"}).value_or(false);
}

Error not_found(std::string_view kind, const std::string& name) {
  return make_error(Code::Invalid, std::string(kind) + " \"" + name + "\" not found");
}

Result<void> add_all(const Json& from, const Sources& sources, Environment& out) {
  const std::string prefix = text_at(from, {"prefix"});
  std::map<std::string, std::string> values;
  if (const Json* reference = find(from, {"configMapRef"})) {
    const std::string name = text_at(*reference, {"name"});
    if (!sources.config_maps.contains(name) && !optional_reference(*reference))
      return not_found("configmap", name);
    values = sources.config_values(name);
  } else if (const Json* secret = find(from, {"secretRef"})) {
    const std::string name = text_at(*secret, {"name"});
    if (!sources.secrets.contains(name) && !optional_reference(*secret))
      return not_found("secret", name);
    values = sources.secret_values(name);
  }
  for (auto& [key, value] : values) {
    const std::string name = prefix + key;
    if (!name.empty() && name.find('=') == std::string::npos) put(out, name, std::move(value));
  }
  return {};
}

// Nothing when an optional reference leads nowhere: then the variable is not set.
Result<std::optional<std::string>> referred(const Json& from, const Json& container,
                                            const PodFacts& pod, const Sources& sources) {
  if (const Json* field = find(from, {"fieldRef"})) {
    TRY_ASSIGN(std::string value, field_value(text_at(*field, {"fieldPath"}), pod));
    return std::optional(std::move(value));
  }
  if (const Json* resource = find(from, {"resourceFieldRef"})) {
    TRY_ASSIGN(std::string value, resource_value(*resource, container, pod));
    return std::optional(std::move(value));
  }
  const Json* config = find(from, {"configMapKeyRef"});
  const Json* reference = config != nullptr ? config : find(from, {"secretKeyRef"});
  if (reference == nullptr) return make_error(Code::Invalid, "unsupported valueFrom");
  const std::string name = text_at(*reference, {"name"}), key = text_at(*reference, {"key"});
  const bool known =
      config != nullptr ? sources.config_maps.contains(name) : sources.secrets.contains(name);
  std::optional<std::string> value =
      config != nullptr ? sources.config_value(name, key) : sources.secret_value(name, key);
  if (value || optional_reference(*reference)) return value;
  if (!known) return not_found(config != nullptr ? "configmap" : "secret", name);
  return make_error(Code::Invalid, "couldn't find key " + key + " in " +
                                       (config != nullptr ? "ConfigMap " : "Secret ") +
                                       text_at(pod.document, {"metadata", "namespace"}) + "/" +
                                       name);
}

}  // namespace

std::string expand(std::string_view text,
                   const std::function<std::optional<std::string>(std::string_view)>& lookup) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const std::size_t end = text[i + 1] == '(' ? text.find(')', i + 2) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += '$';
      continue;
    }
    const std::string_view name = text.substr(i + 2, end - i - 2);
    const std::optional<std::string> value = lookup(name);
    out += value ? *value : std::string(text.substr(i, end - i + 1));
    i = end;
  }
  return out;
}

std::string expand(std::string_view text, const Environment& environment) {
  return expand(text, [&](std::string_view name) -> std::optional<std::string> {
    const std::string* value = value_in(environment, name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  });
}

Result<Environment> container_environment(const Json& container, const PodFacts& pod,
                                          const Sources& sources, const Environment& services) {
  Environment out;
  if (const JsonArray* list = array_at(container, {"envFrom"})) {
    for (const Json& from : *list) TRY(add_all(from, sources, out));
  }
  const auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    const std::string* value = value_in(out, name);
    if (value == nullptr) value = value_in(services, name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  if (const JsonArray* list = array_at(container, {"env"})) {
    for (const Json& entry : *list) {
      const std::string name = text_at(entry, {"name"});
      if (const Json* from = find(entry, {"valueFrom"}); from != nullptr && from->is_object()) {
        TRY_ASSIGN(std::optional<std::string> value, referred(*from, container, pod, sources));
        if (value) put(out, name, *std::move(value));
      } else {
        put(out, name, expand(text_at(entry, {"value"}), lookup));
      }
    }
  }
  for (const auto& [name, value] : services) {
    if (value_in(out, name) == nullptr) out.emplace_back(name, value);
  }
  return out;
}

}  // namespace krater::agent
