#include "api/machinery/custom/definition_check.h"

#include <algorithm>
#include <set>

#include "api/machinery/custom/definition.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kApprovedAnnotation = "api-approved.kubernetes.io";

const std::vector<std::string> kColumnTypes{"boolean", "date", "integer", "number", "string"};
const std::vector<std::string> kColumnFormats{"byte",  "date",  "date-time", "double",
                                              "float", "int32", "int64",     "password"};

std::string list_of(const std::vector<std::string>& words) {
  return "must be one of " + join(words, ",");
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const JsonArray& versions_of(const Json& definition) {
  static const JsonArray none;
  const JsonArray* versions = array_at(definition, {"spec", "versions"});
  return versions == nullptr ? none : *versions;
}

class Checker {
 public:
  Checker(const Json& definition, const Json* old, FieldErrors& errors)
      : definition_(definition), old_(old), versions_(versions_of(definition)), errors_(errors) {}

  void all() {
    const FieldPath root;
    const FieldPath spec = root.field("spec"), metadata = root.field("metadata");
    const std::string group = text({"spec", "group"});
    if (text({"metadata", "name"}) != text({"spec", "names", "plural"}) + "." + group) {
      errors_.invalid(metadata.field("name"), Json(text({"metadata", "name"})),
                      "must be spec.names.plural+\".\"+spec.group");
    }
    this->group(group, spec.field("group"));
    scope(spec.field("scope"));
    versions(spec);
    const FieldPath names = spec.field("names");
    needed_names(names);
    if (const Json* given = find(definition_, {"spec", "names"})) check_names(*given, names);
    conversion(spec.field("conversion"));
    if (bool_at(definition_, {"spec", "preserveUnknownFields"}).value_or(false)) {
      errors_.invalid(spec.field("preserveUnknownFields"), Json(true),
                      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                      "spec.versions[*].schema instead");
    }
    const FieldPath status = root.field("status");
    stored_versions(status.field("storedVersions"));
    approval(group, metadata.field("annotations"));
    if (old_ != nullptr) unchanged(spec);
  }

  void check_names(const Json& names, const FieldPath& path) {
    for (const std::string_view key : {"plural", "singular"}) {
      const std::string name = text_at(names, {key});
      const std::string problem = name.empty() ? "" : check_dns1035_label(name);
      if (!problem.empty()) errors_.invalid(path.field(key), Json(name), problem);
    }
    for (const std::string_view key : {"kind", "listKind"}) {
      const std::string name = text_at(names, {key});
      const std::string problem = name.empty() ? "" : check_dns1035_label(to_lower(name));
      if (!problem.empty()) {
        errors_.invalid(path.field(key), Json(name),
                        "may have mixed case, but should otherwise match: " + problem);
      }
    }
    labels(names, "shortNames", path);
    const std::string kind = text_at(names, {"kind"});
    if (!kind.empty() && kind == text_at(names, {"listKind"}))
      errors_.invalid(path.field("listKind"), Json(kind), "kind and listKind may not be the same");
    labels(names, "categories", path);
  }

 private:
  std::string text(JsonPath path) const { return text_at(definition_, path); }

  void labels(const Json& names, std::string_view key, const FieldPath& path) {
    const JsonArray* list = array_at(names, {key});
    if (list == nullptr) return;
    const FieldPath all = path.field(key);
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string name =
          (*list)[i].is_string() ? std::string(view((*list)[i].get_string())) : "";
      if (const std::string problem = check_dns1035_label(name); !problem.empty())
        errors_.invalid(all.index(i), Json(name), problem);
    }
  }

  void group(const std::string& group, const FieldPath& path) {
    if (group.empty()) return errors_.required(path);
    if (const std::string problem = check_dns1123_subdomain(group); !problem.empty())
      return errors_.invalid(path, Json(group), problem);
    if (group.find('.') == std::string::npos)
      errors_.invalid(path, Json(group), "should be a domain with at least one dot");
  }

  void scope(const FieldPath& path) {
    const std::string scope = text({"spec", "scope"});
    if (scope.empty()) return errors_.required(path);
    if (scope != "Cluster" && scope != "Namespaced")
      errors_.unsupported(path, scope, {"Cluster", "Namespaced"});
  }

  // Whether all versions say the same.
  bool common(std::string_view member) const {
    const Json* first = versions_.empty() ? nullptr : find(versions_[0], {member});
    return std::all_of(versions_.begin(), versions_.end(), [&](const Json& version) {
      const Json* value = find(version, {member});
      return (value == nullptr) == (first == nullptr) && (value == nullptr || *value == *first);
    });
  }

  void versions(const FieldPath& spec) {
    const FieldPath all = spec.field("versions");
    std::set<std::string> names;
    bool unique = true;
    int stored = 0;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const FieldPath here = all.index(i);
      const std::string name = text_at(versions_[i], {"name"});
      stored += bool_at(versions_[i], {"storage"}).value_or(false);
      unique = names.insert(name).second && unique;
      if (const std::string problem = check_dns1035_label(name); !problem.empty())
        errors_.invalid(here.field("name"), Json(name), problem);
      if (find(versions_[i], {"schema", "openAPIV3Schema"}) == nullptr) {
        const FieldPath schema = here.field("schema");
        errors_.required(schema.field("openAPIV3Schema"));
      }
      deprecation(versions_[i], here.field("deprecationWarning"));
    }
    schemas(spec);
    subresources(spec);
    columns(spec);
    selectable(spec);
    if (!unique) errors_.invalid(all, Json(versions_), "must contain unique version names");
    if (stored != 1) {
      errors_.invalid(all, Json(versions_),
                      "must have exactly one version marked as storage version");
    }
  }

  void deprecation(const Json& version, const FieldPath& path) {
    const Json* warning = find(version, {"deprecationWarning"});
    if (warning == nullptr || !warning->is_string()) return;
    const std::string_view text = view(warning->get_string());
    if (!bool_at(version, {"deprecated"}).value_or(false))
      return errors_.invalid(path, *warning, "can only be set for deprecated versions");
    if (text.size() > 256) errors_.invalid(path, *warning, "must be <= 256 characters long");
    if (text.empty()) errors_.invalid(path, *warning, "must not be an empty string");
    const auto odd = std::find_if(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (odd == text.end()) return;
    errors_.invalid(path, *warning,
                    "must only contain printable UTF-8 characters; non-printable character found "
                    "at index " +
                        std::to_string(odd - text.begin()));
  }

  // Calls `visit(version, path)` for what each version says, or once for what they all say.
  template <typename Visit>
  void each(std::string_view member, std::string_view common_name, const FieldPath& spec,
            const Visit& visit) {
    if (common(member)) {
      if (!versions_.empty()) visit(versions_[0], spec.field(common_name));
      return;
    }
    const FieldPath all = spec.field("versions");
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const FieldPath here = all.index(i);
      visit(versions_[i], here.field(member));
    }
  }

  void schemas(const FieldPath& spec) {
    each("schema", "validation", spec, [&](const Json& version, const FieldPath& path) {
      const Json* schema = find(version, {"schema", "openAPIV3Schema"});
      if (schema == nullptr) return;
      // What all say must hold for each of them.
      const bool has_status =
          common("schema") ? std::any_of(versions_.begin(), versions_.end(),
                                         [](const Json& one) {
                                           return find(one, {"subresources", "status"}) != nullptr;
                                         })
                           : find(version, {"subresources", "status"}) != nullptr;
      check_schema(*schema, path.field("openAPIV3Schema"), has_status, errors_);
    });
  }

  void simple_path(const std::string& text, const FieldPath& path) {
    if (text.empty()) return errors_.required(path);
    if (text[0] != '.')
      errors_.invalid(path, Json(text), "must be a simple json path starting with .");
  }

  void subresources(const FieldPath& spec) {
    each("subresources", "subresources", spec, [&](const Json& version, const FieldPath& path) {
      const Json* scale = find(version, {"subresources", "scale"});
      if (scale == nullptr) return;
      replicas_path(text_at(*scale, {"specReplicasPath"}), path.field("scale.specReplicasPath"),
                    ".spec");
      replicas_path(text_at(*scale, {"statusReplicasPath"}), path.field("scale.statusReplicasPath"),
                    ".status");
      const std::string selector = text_at(*scale, {"labelSelectorPath"});
      const FieldPath here = path.field("scale.labelSelectorPath");
      if (selector.empty()) return;
      if (selector[0] != '.') return simple_path(selector, here);
      if (!selector.starts_with(".spec.") && !selector.starts_with(".status."))
        errors_.invalid(here, Json(selector),
                        "should be a json path under either .spec or .status");
    });
  }

  void replicas_path(const std::string& text, const FieldPath& path, std::string_view parent) {
    if (text.empty() || text[0] != '.') return simple_path(text, path);
    if (!text.starts_with(std::string(parent) + "."))
      errors_.invalid(path, Json(text), "should be a json path under " + std::string(parent));
  }

  void columns(const FieldPath& spec) {
    constexpr std::string_view kMember = "additionalPrinterColumns";
    each(kMember, kMember, spec, [&](const Json& version, const FieldPath& path) {
      const JsonArray* columns = array_at(version, {kMember});
      for (std::size_t i = 0; columns != nullptr && i < columns->size(); ++i)
        column((*columns)[i], path.index(i));
    });
  }

  void column(const Json& column, const FieldPath& path) {
    const std::string type = text_at(column, {"type"}), format = text_at(column, {"format"});
    if (text_at(column, {"name"}).empty()) errors_.required(path.field("name"));
    if (type.empty()) {
      errors_.required(path.field("type"), list_of(kColumnTypes));
    } else if (!contains(kColumnTypes, type)) {
      errors_.invalid(path.field("type"), Json(type), list_of(kColumnTypes));
    }
    if (!format.empty() && !contains(kColumnFormats, format))
      errors_.invalid(path.field("format"), Json(format), list_of(kColumnFormats));
    simple_path(text_at(column, {"jsonPath"}), path.field("JSONPath"));
  }

  void selectable(const FieldPath& spec) {
    each("selectableFields", "selectableFields", spec,
         [&](const Json& version, const FieldPath& path) {
           const JsonArray* fields = array_at(version, {"selectableFields"});
           const Json* schema = find(version, {"schema", "openAPIV3Schema"});
           if (fields != nullptr && schema != nullptr)
             check_selectable(*fields, *schema, path, errors_);
         });
  }

  void needed_names(const FieldPath& path) {
    for (const std::string_view key : {"plural", "singular", "kind", "listKind"}) {
      if (text({"spec", "names", key}).empty()) errors_.required(path.field(key));
    }
  }

  void conversion(const FieldPath& path) {
    const Json* conversion = find(definition_, {"spec", "conversion"});
    if (conversion == nullptr) return;
    const std::string strategy = text_at(*conversion, {"strategy"});
    const Json* config = find(*conversion, {"webhook", "clientConfig"});
    const JsonArray* reviews = array_at(*conversion, {"webhook", "conversionReviewVersions"});
    const FieldPath client = path.field("webhookClientConfig");
    const FieldPath review = path.field("conversionReviewVersions");
    if (strategy.empty()) return errors_.required(path.field("strategy"));
    if (strategy != "None" && strategy != "Webhook")
      return errors_.unsupported(path.field("strategy"), strategy, {"None", "Webhook"});
    if (strategy == "None") {
      constexpr std::string_view kWhy = "should not be set when strategy is not set to Webhook";
      if (config != nullptr) errors_.forbidden(client, kWhy);
      if (reviews != nullptr && !reviews->empty()) errors_.forbidden(review, kWhy);
      return;
    }
    if (config == nullptr) {
      errors_.required(client, "required when strategy is set to Webhook");
    } else if ((find(*config, {"url"}) == nullptr) == (find(*config, {"service"}) == nullptr)) {
      errors_.required(client, "exactly one of url or service is required");
    }
    if (reviews == nullptr || reviews->empty()) return errors_.required(review);
    const bool known = std::any_of(reviews->begin(), reviews->end(), [](const Json& version) {
      return version == Json("v1") || version == Json("v1beta1");
    });
    if (!known) errors_.invalid(review, Json(*reviews), "must include at least one of v1, v1beta1");
  }

  void stored_versions(const FieldPath& path) {
    const JsonArray* stored = array_at(definition_, {"status", "storedVersions"});
    if (stored == nullptr || stored->empty()) {
      return errors_.invalid(path, Json(JsonArray()), "must have at least one stored version");
    }
    std::set<std::string> known;
    for (const Json& version : versions_) {
      const std::string name = text_at(version, {"name"});
      known.insert(name);
      const bool there = std::find(stored->begin(), stored->end(), Json(name)) != stored->end();
      if (bool_at(version, {"storage"}).value_or(false) && !there)
        errors_.invalid(path, Json(*stored), "must have the storage version " + name);
    }
    for (std::size_t i = 0; i < stored->size(); ++i) {
      const std::string name =
          (*stored)[i].is_string() ? std::string(view((*stored)[i].get_string())) : "";
      if (known.contains(name)) continue;
      errors_.invalid(path.index(i), Json(name),
                      "missing from spec.versions; " + name +
                          " was previously a storage version, and must remain in spec.versions "
                          "until a storage migration ensures no data remains persisted in " +
                          name + " and removes " + name + " from status.storedVersions");
    }
  }

  void approval(const std::string& group, const FieldPath& annotations) {
    if (!is_protected_group(group)) return;
    const Approval now = approval_of(definition_);
    if (old_ != nullptr && approval_of(*old_).state == now.state) return;
    const FieldPath path = annotations.key(kApprovedAnnotation);
    if (now.state == Approval::State::Missing) errors_.required(path, now.reason);
    if (now.state == Approval::State::Invalid) {
      errors_.invalid(path, Json(text({"metadata", "annotations", kApprovedAnnotation})),
                      now.reason);
    }
  }

  void same(JsonPath at, const FieldPath& path) {
    const std::string now = text_at(definition_, at);
    if (now != text_at(*old_, at)) errors_.invalid(path, Json(now), "field is immutable");
  }

  void unchanged(const FieldPath& spec) {
    const FieldPath names = spec.field("names");
    if (condition_status(*old_, "Established") == "True") {
      same({"spec", "scope"}, spec.field("scope"));
      same({"spec", "names", "kind"}, names.field("kind"));
    }
    same({"spec", "group"}, spec.field("group"));
    same({"spec", "names", "plural"}, names.field("plural"));
  }

  const Json& definition_;
  const Json* old_;
  const JsonArray& versions_;
  FieldErrors& errors_;
};

bool ends_with_domain(std::string_view group, std::string_view domain) {
  return group == domain || group.ends_with("." + std::string(domain));
}

}  // namespace

bool is_protected_group(std::string_view group) {
  return ends_with_domain(group, "k8s.io") || ends_with_domain(group, "kubernetes.io");
}

Approval approval_of(const Json& definition) {
  const std::string text = text_at(definition, {"metadata", "annotations", kApprovedAnnotation});
  const std::string must =
      "protected groups must have approval annotation \"" + std::string(kApprovedAnnotation) + "\"";
  constexpr std::string_view kSee = ", see https://github.com/kubernetes/enhancements/pull/1111";
  if (text.empty()) return {Approval::State::Missing, must + std::string(kSee)};
  if (text.starts_with("unapproved"))
    return {Approval::State::Bypassed, "not approved: " + to_json(Json(text))};
  const std::size_t scheme = text.find("://");
  const bool url = scheme != std::string::npos && scheme > 0 && scheme + 3 < text.size() &&
                   text.find_first_of(" \t\n") == std::string::npos;
  if (url) return {Approval::State::Approved, "approved in " + text};
  return {Approval::State::Invalid,
          must + " with either a URL or a reason starting with \"unapproved\"" + std::string(kSee)};
}

std::vector<Cause> check_definition(const Json& definition, const Json* old) {
  FieldErrors errors;
  Checker(definition, old, errors).all();
  return errors.take();
}

std::vector<Cause> check_definition_status(const Json& definition) {
  FieldErrors errors;
  const FieldPath root;
  const FieldPath status = root.field("status");
  if (const Json* names = find(definition, {"status", "acceptedNames"}))
    Checker(definition, nullptr, errors).check_names(*names, status.field("acceptedNames"));
  return errors.take();
}

}  // namespace krater::api
