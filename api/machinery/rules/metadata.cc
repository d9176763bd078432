#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;

void check_annotations(const Json& annotations, const FieldPath& path, FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const auto& entry : annotations.as_object()) {
    const std::string key(entry.key());
    if (const std::string problem = check_qualified_name(to_lower(key)); !problem.empty()) {
      errors.invalid(path, Json(key), problem);
    }
    bytes += key.size() + (entry.value().is_string() ? entry.value().get_string().size() : 0);
  }
  if (bytes > kMaxAnnotationBytes) errors.too_long(path, kMaxAnnotationBytes);
}

void check_owners(const JsonArray& owners, const FieldPath& path, FieldErrors& errors) {
  std::string controller;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const FieldPath here = path.index(i);
    for (std::string_view name : {"apiVersion", "kind", "name", "uid"}) {
      if (text_at(owners[i], {name}).empty()) {
        errors.invalid(here.field(name), Json(""),
                       std::string(name == "apiVersion" ? "version" : name) + " must not be empty");
      }
    }
    if (!bool_at(owners[i], {"controller"}).value_or(false)) continue;
    const std::string name = text_at(owners[i], {"name"});
    if (!controller.empty()) {
      errors.invalid(
          path, owners,
          "Only one reference can have Controller set to true. Found \"true\" in references for " +
              controller + " and " + name);
    }
    controller = name;
  }
}

void check_finalizers(const JsonArray& finalizers, const FieldPath& path, FieldErrors& errors) {
  bool orphan = false, foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string name(finalizers[i].is_string() ? view(finalizers[i].get_string())
                                                     : std::string_view());
    orphan = orphan || name == "orphan";
    foreground = foreground || name == "foregroundDeletion";
    if (name == "orphan" || name == "foregroundDeletion" || name == "kubernetes" ||
        name == "customresourcecleanup.apiextensions.k8s.io") {
      continue;
    }
    const FieldPath here = path.index(i);
    if (const std::string problem = check_qualified_name(name); !problem.empty()) {
      errors.invalid(here, finalizers[i], problem);
    } else if (name.find('/') == std::string::npos) {
      errors.invalid(here, finalizers[i],
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  if (orphan && foreground) {
    errors.invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

}  // namespace

void check_labels(const Json& labels, const FieldPath& path, FieldErrors& errors) {
  for (const auto& entry : labels.as_object()) {
    const std::string key(entry.key());
    if (const std::string problem = check_qualified_name(key); !problem.empty()) {
      errors.invalid(path, Json(key), problem);
    }
    if (!entry.value().is_string()) continue;
    if (const std::string problem = check_label_value(view(entry.value().get_string()));
        !problem.empty()) {
      errors.invalid(path, entry.value(), problem);
    }
  }
}

void object_meta(const RuleInput& in, FieldErrors& errors) {
  const Json& meta = in.value;
  if (const Json* labels = find(meta, {"labels"}); labels != nullptr && labels->is_object()) {
    check_labels(*labels, in.path.field("labels"), errors);
  }
  if (const Json* annotations = find(meta, {"annotations"});
      annotations != nullptr && annotations->is_object()) {
    check_annotations(*annotations, in.path.field("annotations"), errors);
  }
  if (const JsonArray* owners = array_at(meta, {"ownerReferences"})) {
    check_owners(*owners, in.path.field("ownerReferences"), errors);
  }
  if (const JsonArray* finalizers = array_at(meta, {"finalizers"})) {
    check_finalizers(*finalizers, in.path.field("finalizers"), errors);
  }
}

void label_selector(const RuleInput& in, FieldErrors& errors) {
  if (const Json* labels = find(in.value, {"matchLabels"});
      labels != nullptr && labels->is_object()) {
    check_labels(*labels, in.path.field("matchLabels"), errors);
  }
  const JsonArray* expressions = array_at(in.value, {"matchExpressions"});
  if (expressions == nullptr) return;
  const FieldPath list = in.path.field("matchExpressions");
  for (std::size_t i = 0; i < expressions->size(); ++i) {
    const Json& expression = (*expressions)[i];
    const FieldPath here = list.index(i);
    const std::string op = text_at(expression, {"operator"});
    const JsonArray* values = array_at(expression, {"values"});
    const bool has_values = values != nullptr && !values->empty();
    if ((op == "In" || op == "NotIn") && !has_values) {
      errors.required(here.field("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
    if ((op == "Exists" || op == "DoesNotExist") && has_values) {
      errors.forbidden(here.field("values"),
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
    const std::string key = text_at(expression, {"key"});
    if (key.empty()) continue;  // a missing one is a matter of `required`
    if (const std::string problem = check_qualified_name(key); !problem.empty()) {
      errors.invalid(here.field("key"), Json(key), problem);
    }
  }
}

}  // namespace krater::api::rules
