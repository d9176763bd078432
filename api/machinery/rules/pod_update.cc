#include "api/machinery/rules/pod_update.h"

#include <algorithm>
#include <string>

#include "base/json_same.h"

namespace krater::api::rules {
namespace {

bool contains(const JsonArray& list, const Json& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Images are free to change: gives the old ones, so that what remains can be compared.
void restore_images(Json& spec, const Json& old_spec) {
  for (std::string_view list : {"containers", "initContainers"}) {
    Json* now = find(spec, {list});
    const JsonArray* was = array_at(old_spec, {list});
    if (now == nullptr || !now->is_array() || was == nullptr ||
        now->get_array().size() != was->size())
      continue;
    for (std::size_t i = 0; i < was->size(); ++i) {
      if (now->get_array()[i].is_object())
        set_path(now->get_array()[i], {"image"}, Json(text_at((*was)[i], {"image"})));
    }
  }
}

void restore(Json& spec, const Json& old_spec, std::string_view field) {
  const Json* was = find(old_spec, {field});
  if (was == nullptr) {
    erase_path(spec, {field});
  } else {
    set_path(spec, {field}, Json(*was));
  }
}

void check_deadline(const Json& spec, const Json& old_spec, const FieldPath& path,
                    FieldErrors& errors) {
  const auto now = int_at(spec, {"activeDeadlineSeconds"});
  const auto was = int_at(old_spec, {"activeDeadlineSeconds"});
  if (!was || now == was) return;
  const FieldPath here = path.field("activeDeadlineSeconds");
  if (!now)
    return errors.invalid(here, Json(), "must not update from a positive integer to nil value");
  if (*now > *was) {
    errors.invalid(here, Json(*now), "must be less than or equal to previous value");
  }
}

void check_tolerations(const Json& spec, const Json& old_spec, const FieldPath& path,
                       FieldErrors& errors) {
  const JsonArray* was = array_at(old_spec, {"tolerations"});
  if (was == nullptr) return;
  const JsonArray* now = array_at(spec, {"tolerations"});
  for (const Json& toleration : *was) {
    if (now != nullptr && contains(*now, toleration)) continue;
    return errors.forbidden(path.field("tolerations"),
                            "existing toleration can not be modified except its tolerationSeconds");
  }
}

void check_gates(const Json& spec, const Json& old_spec, const FieldPath& path,
                 FieldErrors& errors) {
  const JsonArray* now = array_at(spec, {"schedulingGates"});
  const JsonArray* was = array_at(old_spec, {"schedulingGates"});
  if (now == nullptr) return;
  for (std::size_t i = 0; i < now->size(); ++i) {
    if (was != nullptr && contains(*was, (*now)[i])) continue;
    errors.forbidden(path.field("schedulingGates").index(i),
                     "only deletion is allowed, but found new scheduling gate '" +
                         text_at((*now)[i], {"name"}) + "'");
  }
}

}  // namespace

void check_pod_update(const Json& pod, const Json& old, FieldErrors& errors) {
  const Json* spec = find(pod, {"spec"});
  const Json* old_spec = find(old, {"spec"});
  if (spec == nullptr || old_spec == nullptr || same_json(*spec, *old_spec)) return;
  const FieldPath root;
  const FieldPath path = root.field("spec");
  check_deadline(*spec, *old_spec, path, errors);
  check_tolerations(*spec, *old_spec, path, errors);
  check_gates(*spec, *old_spec, path, errors);

  Json rest = *spec;
  restore_images(rest, *old_spec);
  for (std::string_view field :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"}) {
    restore(rest, *old_spec, field);
  }
  if (const auto grace = int_at(*old_spec, {"terminationGracePeriodSeconds"});
      grace && *grace < 0) {
    restore(rest, *old_spec, "terminationGracePeriodSeconds");
  }
  const JsonArray* gates = array_at(*old_spec, {"schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    restore(rest, *old_spec, "nodeSelector");
    restore(rest, *old_spec, "affinity");
  }
  if (text_at(*old_spec, {"nodeName"}).empty()) restore(rest, *old_spec, "nodeName");
  if (same_json(rest, *old_spec)) return;
  errors.forbidden(path,
                   "pod updates may not change fields other than `spec.containers[*].image`,"
                   "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                   "(only additions to "
                   "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
                   "to 1 if it was "
                   "previously negative)");
}

}  // namespace krater::api::rules
