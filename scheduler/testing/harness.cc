#include "scheduler/testing/harness.h"

#include "base/check.h"
#include "base/yaml.h"
#include "model/keys.h"
#include "model/workload_kinds.h"

namespace krater::scheduler {
namespace {

void copy_if_there(const Json& from, std::string_view key, Json& to, JsonPath path) {
  if (const Json* value = find(from, {key})) set_path(to, path, *value);
}

// Quantities may be written as YAML numbers.
Json quantities(const Json& given) {
  JsonObject out;
  for (const auto& member : given.get_object()) {
    out[member.key()] = member.value().is_string() ? member.value() : Json(to_json(member.value()));
  }
  return out;
}

Json amounts(const Json& brief, std::string_view list) {
  Json out(boost::json::object_kind);
  if (const Json* more = find(brief, {list})) out = quantities(*more);
  for (const std::string_view name : {"cpu", "memory"}) {
    if (const Json* value = find(brief, {name})) {
      out.get_object()[name] = value->is_string() ? *value : Json(to_json(*value));
    }
  }
  return out;
}

const JsonArray& list_of(const Json& things, std::string_view name) {
  static const JsonArray none;
  const JsonArray* list = array_at(things, {name});
  return list == nullptr ? none : *list;
}

// {name, selector: {labels}, allowed}
Json make_budget(const Json& brief) {
  Json out = new_object(kinds::kPodDisruptionBudget, "d", text_at(brief, {"name"}));
  copy_if_there(brief, "selector", out, {"spec", "selector", "matchLabels"});
  copy_if_there(brief, "allowed", out, {"status", "disruptionsAllowed"});
  return out;
}

// {name, hard, used}
Json make_quota(const Json& brief) {
  Json out = new_object(kinds::kResourceQuota, "d", text_at(brief, {"name"}));
  for (const std::string_view list : {"hard", "used"}) {
    if (const Json* given = find(brief, {list}))
      set_path(out, {"status", list}, quantities(*given));
  }
  return out;
}

// {name, policy, cpuPolicy = static, nodes: [[cpus]], free: "0-3", reserved: "1", pods: [{uid,
// namespace, name}]}
Json make_numa(const Json& brief) {
  Json out = new_object(kNumatopologyKind, "", text_at(brief, {"name"}));
  const std::string manager = text_at(brief, {"cpuPolicy"});
  set_path(out, {"spec", "policies", "CPUManagerPolicy"},
           Json(manager.empty() ? "static" : manager));
  copy_if_there(brief, "policy", out, {"spec", "policies", "TopologyManagerPolicy"});
  copy_if_there(brief, "free", out, {"spec", "numares", "cpu", "allocatable"});
  copy_if_there(brief, "reserved", out, {"spec", "resReserved", "cpu"});
  copy_if_there(brief, "pods", out, {"spec", "podAllocations"});
  std::int64_t numa = 0;
  for (const Json& node : list_of(brief, "nodes")) {
    for (const Json& cpu : node.get_array()) {
      set_path(out, {"spec", "cpuDetail", std::to_string(cpu.to_number<std::int64_t>())},
               JsonObject{{"numa", numa}, {"socket", numa}, {"core", cpu}});
    }
    ++numa;
  }
  return out;
}

// {name, tier, tierName, nodes: [names], of: [hypernodes]}
Json make_hyper(const Json& brief) {
  Json out = new_object(kHyperNodeKind, "", text_at(brief, {"name"}));
  set_path(out, {"spec", "tier"}, Json(int_at(brief, {"tier"}).value_or(1)));
  copy_if_there(brief, "tierName", out, {"spec", "tierName"});
  JsonArray members;
  for (const auto& [list, type] : {std::pair("nodes", "Node"), std::pair("of", "HyperNode")}) {
    for (const Json& name : list_of(brief, list)) {
      Json member(boost::json::object_kind);
      set_path(member, {"type"}, Json(type));
      set_path(member, {"selector", "exactMatch", "name"}, name);
      members.push_back(std::move(member));
    }
  }
  set_path(out, {"spec", "members"}, std::move(members));
  return out;
}

}  // namespace

Json yaml(std::string_view text) {
  Result<Json> out = parse_yaml(text);
  CHECK(out.has_value());
  return *std::move(out);
}

Json make_node(const Json& brief) {
  Json out = new_object(kinds::kNode, "", text_at(brief, {"name"}));
  copy_if_there(brief, "labels", out, {"metadata", "labels"});
  copy_if_there(brief, "annotations", out, {"metadata", "annotations"});
  copy_if_there(brief, "taints", out, {"spec", "taints"});
  copy_if_there(brief, "images", out, {"status", "images"});
  copy_if_there(brief, "unschedulable", out, {"spec", "unschedulable"});
  Json allocatable = amounts(brief, "allocatable");
  allocatable.get_object()["pods"] = std::to_string(int_at(brief, {"pods"}).value_or(110));
  if (find(allocatable, {"memory"}) == nullptr) allocatable.get_object()["memory"] = "64Gi";
  set_path(out, {"status", "allocatable"}, std::move(allocatable));
  return out;
}

Json make_pod(const Json& brief) {
  Json out = new_object(kinds::kPod, "d", text_at(brief, {"name"}));
  const std::string scheduler = text_at(brief, {"scheduler"});
  set_path(out, {"spec"},
           find(brief, {"spec"}) ? *find(brief, {"spec"}) : Json(boost::json::object_kind));
  set_path(out, {"spec", "schedulerName"}, Json(scheduler.empty() ? "volcano" : scheduler));
  Json container(boost::json::object_kind);
  container.get_object()["name"] = "main";
  set_path(container, {"resources", "requests"}, amounts(brief, "requests"));
  if (find(brief, {"guaranteed"}) != nullptr)
    set_path(container, {"resources", "limits"}, amounts(brief, "requests"));
  if (const Json* limits = find(brief, {"limits"}))
    set_path(container, {"resources", "limits"}, quantities(*limits));
  copy_if_there(brief, "image", container, {"image"});
  copy_if_there(brief, "ports", container, {"ports"});
  set_path(out, {"spec", "containers"}, JsonArray{std::move(container)});
  copy_if_there(brief, "node", out, {"spec", "nodeName"});
  copy_if_there(brief, "priority", out, {"spec", "priority"});
  copy_if_there(brief, "selector", out, {"spec", "nodeSelector"});
  copy_if_there(brief, "tolerations", out, {"spec", "tolerations"});
  copy_if_there(brief, "gates", out, {"spec", "schedulingGates"});
  copy_if_there(brief, "annotations", out, {"metadata", "annotations"});
  copy_if_there(brief, "labels", out, {"metadata", "labels"});
  copy_if_there(brief, "class", out, {"spec", "priorityClassName"});
  copy_if_there(brief, "group", out, {"metadata", "annotations", keys::kGroupName});
  copy_if_there(brief, "queue", out, {"metadata", "annotations", keys::kQueueName});
  copy_if_there(brief, "role", out, {"metadata", "annotations", keys::kTaskSpec});
  copy_if_there(brief, "nominated", out, {"status", "nominatedNodeName"});
  const std::string phase = text_at(brief, {"phase"});
  set_path(out, {"status", "phase"}, Json(phase.empty() ? "Pending" : phase));
  if (const Json* placed = find(brief, {"placed"})) {
    set_path(out, {"status", "conditions"},
             JsonArray{JsonObject{
                 {"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", *placed}}});
  }
  return out;
}

Json make_group(const Json& brief) {
  Json out = new_object(kinds::kPodGroup, "d", text_at(brief, {"name"}));
  copy_if_there(brief, "min", out, {"spec", "minMember"});
  copy_if_there(brief, "queue", out, {"spec", "queue"});
  copy_if_there(brief, "priorityClass", out, {"spec", "priorityClassName"});
  copy_if_there(brief, "roles", out, {"spec", "minTaskMember"});
  copy_if_there(brief, "phase", out, {"status", "phase"});
  copy_if_there(brief, "annotations", out, {"metadata", "annotations"});
  copy_if_there(brief, "topology", out, {"spec", "networkTopology"});
  copy_if_there(brief, "subGroups", out, {"spec", "subGroupPolicy"});
  if (const Json* minimum = find(brief, {"minResources"})) {
    set_path(out, {"spec", "minResources"}, quantities(*minimum));
  }
  return out;
}

Json make_queue(const Json& brief) {
  Json out = new_object(kinds::kQueue, "", text_at(brief, {"name"}));
  set_path(out, {"spec", "weight"}, Json(1));
  for (const auto& member : brief.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key == "name") continue;
    if (key == "annotations") {
      set_path(out, {"metadata", key}, member.value());
    } else if (key == "affinity") {
      set_path(out, {"spec", key}, member.value());
    } else if (key == "state") {
      set_path(out, {"status", "state"}, member.value());
    } else if (key == "guarantee") {
      set_path(out, {"spec", "guarantee", "resource"}, quantities(member.value()));
    } else {
      set_path(out, {"spec", key},
               member.value().is_object() ? quantities(member.value()) : member.value());
    }
  }
  return out;
}

namespace {

// Steps of a case settle for seconds: pods are missed when a case waits for that.
Options patient(Options options) {
  options.pods_within = std::chrono::seconds(30);
  return options;
}

}  // namespace

Harness::Harness(Options options)
    : scheduler({client,
                 loop,
                 loop.wall(),
                 rng,
                 patient(std::move(options)),
                 {},
                 [this](WallTime, std::string line) { decisions.push_back(std::move(line)); },
                 &extender}) {
  client.graceful = true;
  const Result<void> started = scheduler.start();
  CHECK_MSG(started.has_value(), started.error().message);
  loop.run_ready();
}

Result<HttpResponse> CannedExtender::call(HttpRequest request) {
  const std::string verb = request.url.substr(request.url.rfind('/') + 1);
  asked.emplace_back(verb, request.body);
  const Json* answer = find(answers, {verb});
  if (answer != nullptr && find(*answer, {"byNode"}) != nullptr) {
    const Result<Json> about = parse_json(request.body);
    CHECK(about.has_value());
    answer = find(*answer, {"byNode", text_at(*about, {"node", "Name"})});
    if (answer == nullptr) return HttpResponse{200, {}, "{}"};
  }
  if (answer == nullptr || answer->is_null()) return make_error(Code::Timeout, "no answer in time");
  HttpResponse out{200};
  append_json(out.body, *answer);
  return out;
}

void Harness::add(const Json& things) {
  if (const Json* answers = find(things, {"extender"})) extender.answers = *answers;
  if (const auto config = string_at(things, {"config"})) {
    Json map = new_object(kinds::kConfigMap, "volcano-system", "volcano-scheduler-configmap");
    std::string text(*config);
    if (const Json* behaviors = find(things, {"behaviors"}))
      text += "behaviors: " + to_json(*behaviors) + "\n";
    set_path(map, {"data", "volcano-scheduler.conf"}, Json(text));
    client.put(kinds::kConfigMap, std::move(map));
  }
  for (const Json& one : list_of(things, "classes")) {
    Json object = new_object(kinds::kPriorityClass, "", text_at(one, {"name"}));
    copy_if_there(one, "value", object, {"value"});
    client.put(kinds::kPriorityClass, std::move(object));
  }
  for (const Json& one : list_of(things, "budgets"))
    client.put(kinds::kPodDisruptionBudget, make_budget(one));
  for (const Json& one : list_of(things, "quotas"))
    client.put(kinds::kResourceQuota, make_quota(one));
  for (const Json& one : list_of(things, "hyperNodes")) client.put(kHyperNodeKind, make_hyper(one));
  for (const Json& one : list_of(things, "numa")) client.put(kNumatopologyKind, make_numa(one));
  for (const Json& one : list_of(things, "nodes")) client.put(kinds::kNode, make_node(one));
  for (const Json& one : list_of(things, "queues")) client.put(kinds::kQueue, make_queue(one));
  for (const Json& one : list_of(things, "groups")) client.put(kinds::kPodGroup, make_group(one));
  for (const Json& one : list_of(things, "pods")) {
    const auto count = int_at(one, {"count"});
    for (std::int64_t i = 0; i < count.value_or(1); ++i) {
      Json brief = one;
      if (count) set_path(brief, {"name"}, Json(text_at(one, {"name"}) + "-" + std::to_string(i)));
      client.put(kinds::kPod, make_pod(brief));
    }
  }
}

void Harness::remove(const Json& things) {
  const std::pair<std::string_view, const Kind*> tables[] = {
      {"pods", &kinds::kPod},
      {"groups", &kinds::kPodGroup},
      {"nodes", &kinds::kNode},
      {"budgets", &kinds::kPodDisruptionBudget},
      {"quotas", &kinds::kResourceQuota},
      {"hyperNodes", &kHyperNodeKind},
      {"queues", &kinds::kQueue}};
  for (const auto& [name, kind] : tables) {
    for (const Json& one : list_of(things, name)) {
      client::DeleteWrite write{*kind, kind->namespaced ? "d" : "",
                                std::string(view(one.get_string()))};
      write.grace_seconds = 0;
      const auto done = client.apply(write);
      CHECK_MSG(done.has_value(), done.error().message);
    }
  }
}

void Harness::run(const Json& phases) {
  for (const auto& member : phases.get_object()) {
    const ObjectPtr pod =
        client.read(kinds::kPod, "d", std::string(member.key().data(), member.key().size()));
    CHECK(pod != nullptr);
    Json next = *pod->document();
    set_path(next, {"status", "phase"}, member.value());
    client.put(kinds::kPod, std::move(next));
  }
}

void Harness::end(const Json& names) {
  for (const Json& one : names.get_array()) {
    const auto done =
        client.apply(client::DeleteWrite{kinds::kPod, "d", std::string(view(one.get_string()))});
    CHECK_MSG(done.has_value(), done.error().message);
  }
}

std::vector<std::string> Harness::leaving() const {
  std::vector<std::string> out;
  for (const ObjectPtr& pod : client.all(kinds::kPod)) {
    if (pod->deletion()) out.push_back(pod->name());
  }
  return out;
}

void Harness::leave() {
  remove_pods(leaving());
}

void Harness::remove_pods(const std::vector<std::string>& names) {
  JsonArray pods;
  for (const std::string& name : names) pods.emplace_back(name);
  JsonObject gone;
  gone["pods"] = std::move(pods);
  remove(Json(std::move(gone)));
}

void Harness::come_back(const std::vector<std::string>& pods, Duration after) {
  std::vector<Json> anew;
  for (const std::string& name : pods) {
    Json pod = *client.read(kinds::kPod, "d", name)->document();
    for (const char* field : {"uid", "resourceVersion", "deletionTimestamp", "creationTimestamp",
                              "deletionGracePeriodSeconds"}) {
      erase_path(pod, {"metadata", field});
    }
    erase_path(pod, {"spec", "nodeName"});
    erase_path(pod, {"status"});
    set_path(pod, {"status", "phase"}, "Pending");
    anew.push_back(std::move(pod));
  }
  remove_pods(pods);
  if (after > Duration(0)) loop.advance(after);
  for (Json& pod : anew) client.put(kinds::kPod, std::move(pod));
}

std::string Harness::node_of(const std::string& pod) const {
  return PodView(client.read(kinds::kPod, "d", pod)).node_name().text();
}

PodGroupView Harness::group(const std::string& name) const {
  return PodGroupView(client.read(kinds::kPodGroup, "d", name));
}

std::string Harness::pod_message(const std::string& pod) const {
  const auto condition = PodView(client.read(kinds::kPod, "d", pod)).condition("PodScheduled");
  return condition ? condition->reason + ": " + condition->message : std::string();
}

bool Harness::has_event(std::string_view about, std::string_view reason,
                        std::string_view part) const {
  for (const ObjectPtr& event : events_about(about, reason)) {
    if (text_at(*event->document(), {"message"}).find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<ObjectPtr> Harness::events_about(std::string_view about,
                                             std::string_view reason) const {
  std::vector<ObjectPtr> out;
  for (const ObjectPtr& event : client.all(kinds::kEvent)) {
    const auto document = event->document();
    if (text_at(*document, {"involvedObject", "name"}) == about &&
        text_at(*document, {"reason"}) == reason)
      out.push_back(event);
  }
  return out;
}

}  // namespace krater::scheduler
