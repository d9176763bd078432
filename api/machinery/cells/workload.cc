// The kinds of apps/v1, and CronJobs.
#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

Json count(const Json& object, JsonPath path) {
  return Json(int_at(object, path).value_or(0));
}

std::string ready_of(const Json& object) {
  return std::to_string(int_at(object, {"status", "readyReplicas"}).value_or(0)) + "/" +
         std::to_string(int_at(object, {"spec", "replicas"}).value_or(0));
}

// Containers, images and selector: the wide columns of all of them.
void add_template(const Json& object, JsonArray& row) {
  const Json* pod_template = find(object, {"spec", "template"});
  row.emplace_back(container_fields(pod_template, "name"));
  row.emplace_back(container_fields(pod_template, "image"));
}

void add_selector(const Json& object, JsonArray& row) {
  row.emplace_back(selector_text(find(object, {"spec", "selector"})));
}

}  // namespace

JsonArray deployment(const Json& object, WallTime now) {
  JsonArray row{Json(name(object)), Json(ready_of(object)),
                count(object, {"status", "updatedReplicas"}),
                count(object, {"status", "availableReplicas"}), Json(age(object, now))};
  add_template(object, row);
  add_selector(object, row);
  return row;
}

JsonArray replica_set(const Json& object, WallTime now) {
  JsonArray row{Json(name(object)), count(object, {"spec", "replicas"}),
                count(object, {"status", "replicas"}), count(object, {"status", "readyReplicas"}),
                Json(age(object, now))};
  add_template(object, row);
  add_selector(object, row);
  return row;
}

JsonArray replication_controller(const Json& object, WallTime now) {
  JsonArray row{Json(name(object)), count(object, {"spec", "replicas"}),
                count(object, {"status", "replicas"}), count(object, {"status", "readyReplicas"}),
                Json(age(object, now))};
  add_template(object, row);
  row.push_back(Json(label_list(find(object, {"spec", "selector"}))));
  return row;
}

JsonArray pod_template(const Json& object, WallTime /*now*/) {
  const Json* of = find(object, {"template"});
  return {Json(name(object)), Json(container_fields(of, "name")),
          Json(container_fields(of, "image")),
          Json(label_list(of == nullptr ? nullptr : find(*of, {"metadata", "labels"})))};
}

JsonArray stateful_set(const Json& object, WallTime now) {
  JsonArray row{Json(name(object)), Json(ready_of(object)), Json(age(object, now))};
  add_template(object, row);
  return row;
}

JsonArray daemon_set(const Json& object, WallTime now) {
  JsonArray row{Json(name(object)),
                count(object, {"status", "desiredNumberScheduled"}),
                count(object, {"status", "currentNumberScheduled"}),
                count(object, {"status", "numberReady"}),
                count(object, {"status", "updatedNumberScheduled"}),
                count(object, {"status", "numberAvailable"}),
                Json(label_list(find(object, {"spec", "template", "spec", "nodeSelector"}))),
                Json(age(object, now))};
  add_template(object, row);
  add_selector(object, row);
  return row;
}

JsonArray controller_revision(const Json& object, WallTime now) {
  std::string owner = "<none>";
  if (const JsonArray* owners = array_at(object, {"metadata", "ownerReferences"})) {
    for (const Json& reference : *owners) {
      if (!bool_at(reference, {"controller"}).value_or(false)) continue;
      const std::string version = text_at(reference, {"apiVersion"});
      owner = to_lower(text_at(reference, {"kind"})) + "." + version.substr(0, version.find('/')) +
              "/" + text_at(reference, {"name"});
    }
  }
  return {Json(name(object)), Json(owner), count(object, {"revision"}), Json(age(object, now))};
}

JsonArray cron_job(const Json& object, WallTime now) {
  const std::string zone = text_at(object, {"spec", "timeZone"});
  const JsonArray* active = array_at(object, {"status", "active"});
  const std::string last = text_at(object, {"status", "lastScheduleTime"});
  const Json* pod_template = find(object, {"spec", "jobTemplate", "spec", "template"});
  return {Json(name(object)),
          Json(text_at(object, {"spec", "schedule"})),
          Json(or_none(zone)),
          Json(bool_at(object, {"spec", "suspend"}).value_or(false) ? "True" : "False"),
          Json(active == nullptr ? 0 : static_cast<std::int64_t>(active->size())),
          Json(last.empty() ? "<none>" : since(last, now)),
          Json(age(object, now)),
          Json(container_fields(pod_template, "name")),
          Json(container_fields(pod_template, "image")),
          Json(selector_text(find(object, {"spec", "jobTemplate", "spec", "selector"})))};
}

}  // namespace krater::api::cells
