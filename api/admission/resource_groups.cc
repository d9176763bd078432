#include "api/admission/resource_groups.h"

#include <algorithm>
#include <initializer_list>

#include "base/yaml.h"
#include "model/keys.h"

namespace krater::api {
namespace {

constexpr std::string_view kGroupAnnotation = "volcano.sh/resource-group";

Error wrong(const std::string& where, const std::string& what) {
  return make_error(Code::Invalid, where + ": " + what);
}

Result<void> check_fields(const Json& object, const std::string& where,
                          std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong(where, "must be a mapping");
  for (const auto& entry : object.get_object()) {
    if (std::find(known.begin(), known.end(), std::string_view(entry.key())) == known.end())
      return wrong(where + "." + std::string(entry.key()), "unknown field");
  }
  return {};
}

// Numbers and truth values that stand where Volcano reads text are text there too.
Result<std::string> text_of(const Json& value, const std::string& where) {
  if (value.is_string()) return std::string(view(value.get_string()));
  if (value.is_int64() || value.is_uint64() || value.is_bool()) return to_json(value);
  return wrong(where, "must be text");
}

Result<std::string> text_field(const Json& object, std::string_view key, const std::string& where) {
  const Json* value = find(object, {key});
  if (value == nullptr || value->is_null()) return std::string();
  return text_of(*value, where + "." + std::string(key));
}

// `text` is itself YAML: "key: value".
Result<void> add_annotations(const std::string& text, const std::string& where,
                             ResourceGroup& group) {
  const Result<Json> pairs = parse_yaml(text);
  if (!pairs || !pairs->is_object() || pairs->get_object().empty())
    return wrong(where, "must be \"KEY: VALUE\" of an annotation, not \"" + text + "\"");
  for (const auto& entry : pairs->get_object()) {
    TRY_ASSIGN(std::string value, text_of(entry.value(), where));
    group.annotations.emplace_back(std::string(entry.key()), std::move(value));
  }
  return {};
}

// Whose pods: by namespace or annotation, else by the annotation that names the group.
Result<void> read_object(const Json& config, const std::string& where, ResourceGroup& group) {
  const Json* object = find(config, {"object"});
  std::string key;
  if (object != nullptr && !object->is_null()) {
    const std::string here = where + ".object";
    TRY(check_fields(*object, here, {"key", "value"}));
    TRY_ASSIGN(key, text_field(*object, "key", here));
    if (!key.empty() && key != "namespace" && key != "annotation")
      return wrong(here + ".key", "must be namespace or annotation, not \"" + key + "\"");
    const Json* list = find(*object, {"value"});
    if (list != nullptr && !list->is_null() && !list->is_array())
      return wrong(here + ".value", "must be a list");
    const std::size_t count = list == nullptr || list->is_null() ? 0 : list->get_array().size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string place = here + ".value[" + std::to_string(i) + "]";
      TRY_ASSIGN(std::string value, text_of(list->get_array()[i], place));
      if (key == "namespace") {
        group.namespaces.push_back(std::move(value));
      } else {
        TRY(add_annotations(value, place, group));
      }
    }
  }
  if (!key.empty()) return {};
  if (group.name.empty()) return wrong(where + ".resourceGroup", "must not be empty");
  group.annotations.emplace_back(kGroupAnnotation, group.name);
  return {};
}

// Volcano's reader knows this field in small letters only.
void spell_as_kubernetes(Json& tolerations) {
  if (!tolerations.is_array()) return;
  for (Json& one : tolerations.get_array()) {
    const Json* seconds = find(one, {"tolerationseconds"});
    if (seconds == nullptr) continue;
    set_path(one, {"tolerationSeconds"}, Json(*seconds));
    erase_path(one, {"tolerationseconds"});
  }
}

// What the group gives, as fields of a pod.
Result<Json> given_fields(const Json& config, const std::string& where) {
  Json spec(boost::json::object_kind);
  if (const Json* list = find(config, {"tolerations"}); list != nullptr && !list->is_null()) {
    Json tolerations = *list;
    spell_as_kubernetes(tolerations);
    set_path(spec, {"tolerations"}, std::move(tolerations));
  }
  if (const Json* labels = find(config, {"labels"}); labels != nullptr && !labels->is_null()) {
    if (!labels->is_object()) return wrong(where + ".labels", "must be a mapping");
    for (const auto& entry : labels->get_object()) {
      TRY_ASSIGN(const std::string value,
                 text_of(entry.value(), where + ".labels." + std::string(entry.key())));
      set_path(spec, {"nodeSelector", entry.key()}, Json(value));
    }
  }
  TRY_ASSIGN(const std::string affinity, text_field(config, "affinity", where));
  if (affinity.empty()) return spec;
  Result<Json> parsed = parse_json(affinity);
  if (!parsed || !parsed->is_object())
    return wrong(where + ".affinity", "must be an affinity as a JSON object in a string");
  set_path(spec, {"affinity"}, *std::move(parsed));
  return spec;
}

bool is_about_given(std::string_view field) {
  constexpr std::string_view kFields[] = {"spec.affinity", "spec.nodeSelector", "spec.tolerations"};
  return std::any_of(std::begin(kFields), std::end(kFields),
                     [&](std::string_view one) { return field.starts_with(one); });
}

// In the form in which pods are stored. Refused is what would have every pod of the group refused.
Result<Json> as_of_pods(Json spec, const std::string& where, const KindSchema& pods) {
  Json pod(JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}});
  set_path(pod, {"metadata", "name"}, "x");
  set_path(pod, {"spec"}, std::move(spec));
  if (const auto problems = pods.prune(pod); !problems.empty())
    return wrong(where, problems.front().message);
  if (const Result<void> fine = pods.check_types(pod); !fine)
    return wrong(where, fine.error().message);
  pods.apply_defaults(pod);
  pods.canonicalize(pod);
  for (const Cause& cause : pods.validate(pod, nullptr)) {
    if (is_about_given(cause.field)) return wrong(where, cause.field + ": " + cause.message);
  }
  return *find(pod, {"spec"});
}

Result<ResourceGroup> read_group(const Json& config, const std::string& where,
                                 const KindSchema& pods) {
  TRY(check_fields(
      config, where,
      {"affinity", "labels", "object", "resourceGroup", "schedulerName", "tolerations"}));
  ResourceGroup out;
  TRY_ASSIGN(out.name, text_field(config, "resourceGroup", where));
  TRY_ASSIGN(out.scheduler_name, text_field(config, "schedulerName", where));
  TRY(read_object(config, where, out));
  TRY_ASSIGN(Json fields, given_fields(config, where));
  TRY_ASSIGN(const Json spec, as_of_pods(std::move(fields), where, pods));
  if (const Json* selector = find(spec, {"nodeSelector"})) out.node_selector = *selector;
  if (const Json* affinity = find(spec, {"affinity"})) out.affinity = *affinity;
  if (const JsonArray* tolerations = array_at(spec, {"tolerations"}))
    out.tolerations = *tolerations;
  return out;
}

}  // namespace

bool ResourceGroup::holds(const Json& pod, std::string_view name_space) const {
  if (std::find(namespaces.begin(), namespaces.end(), name_space) != namespaces.end()) return true;
  return std::any_of(annotations.begin(), annotations.end(), [&](const auto& one) {
    const auto value = string_at(pod, {"metadata", "annotations", one.first});
    return value && *value == one.second;
  });
}

void ResourceGroup::give(Json& pod) const {
  if (node_selector.is_object()) {
    for (const auto& entry : node_selector.get_object())
      set_path(pod, {"spec", "nodeSelector", entry.key()}, entry.value());
  }
  if (affinity.is_object() && find(pod, {"spec", "affinity"}) == nullptr)
    set_path(pod, {"spec", "affinity"}, affinity);
  if (!tolerations.empty()) {
    JsonArray all;
    if (const JsonArray* own = array_at(pod, {"spec", "tolerations"})) all = *own;
    for (const Json& one : tolerations) {
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }
    set_path(pod, {"spec", "tolerations"}, std::move(all));
  }
  // A scheduler that the pod has chosen is the one that it wants.
  const std::string chosen = text_at(pod, {"spec", "schedulerName"});
  if (!scheduler_name.empty() && (chosen.empty() || chosen == keys::kDefaultScheduler))
    set_path(pod, {"spec", "schedulerName"}, Json(scheduler_name));
}

Result<ResourceGroups> parse_resource_groups(std::string_view yaml, const KindSchema& pods) {
  TRY_ASSIGN(const Json root, parse_yaml(yaml));
  if (root.is_null()) return ResourceGroups();
  if (!root.is_object()) return wrong("resourceGroups", "must be a list");
  for (const auto& entry : root.get_object()) {
    if (std::string_view(entry.key()) != "resourceGroups")
      return wrong(std::string(entry.key()), "unknown field");
  }
  ResourceGroups out;
  const Json* list = find(root, {"resourceGroups"});
  if (list == nullptr || list->is_null()) return out;
  if (!list->is_array()) return wrong("resourceGroups", "must be a list");
  for (std::size_t i = 0; i < list->get_array().size(); ++i) {
    TRY_ASSIGN(ResourceGroup group,
               read_group(list->get_array()[i], "resourceGroups[" + std::to_string(i) + "]", pods));
    out.push_back(std::move(group));
  }
  return out;
}

void ResourceGroupBook::take(const Object& config_map) {
  // A write that is prepared from an older snapshot changes nothing.
  if (config_map.revision() <= seen_) return;
  seen_ = config_map.revision();
  const auto text = string_at(*config_map.document(), {"data", place_.key});
  Result<ResourceGroups> next = parse_resource_groups(text ? *text : std::string_view(), *pods_);
  refused_.reset();
  if (next) {
    groups_ = std::make_shared<const ResourceGroups>(*std::move(next));
  } else {
    refused_ = next.error().message;
  }
}

std::shared_ptr<const ResourceGroups> ResourceGroupBook::read(const ObjectPtr& config_map) {
  if (config_map == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  take(*config_map);
  return groups_;
}

ResourceGroupBook::Look ResourceGroupBook::look(const ObjectPtr& config_map) {
  const std::lock_guard lock(mutex_);
  if (config_map == nullptr) {
    groups_ = std::make_shared<const ResourceGroups>();
    refused_.reset();
    seen_ = Revision();  // the next one is read, whoever has seen it already
    return {};
  }
  take(*config_map);
  return {groups_->size(), refused_};
}

}  // namespace krater::api
