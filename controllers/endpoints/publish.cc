#include "controllers/endpoints/publish.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace krater::controllers {
namespace {

JsonObject pod_reference(const Target& target, const std::string& name_space) {
  return JsonObject{{"kind", "Pod"},
                    {"namespace", name_space},
                    {"name", target.pod},
                    {"uid", target.pod_uid.text()}};
}

JsonObject port_json(const TargetPort& port, bool always_named) {
  JsonObject out;
  if (always_named || !port.name.empty()) out["name"] = port.name;
  out["port"] = port.number;
  out["protocol"] = port.protocol;
  if (!port.app_protocol.empty()) out["appProtocol"] = port.app_protocol;
  return out;
}

JsonArray ports_json(const std::vector<TargetPort>& ports, bool always_named) {
  JsonArray out;
  for (const TargetPort& port : ports) out.push_back(port_json(port, always_named));
  return out;
}

JsonArray subsets_of(const ServiceView& service, const std::vector<Target>& targets) {
  struct Subset {
    JsonArray ready, not_ready;
  };
  std::map<std::vector<TargetPort>, Subset> by_ports;
  const bool wants_ports = service.ports() != nullptr && !service.ports()->empty();
  for (const Target& target : targets) {
    if (target.terminating && !target.ready) continue;
    if (wants_ports && target.ports.empty()) continue;
    JsonObject address{{"ip", target.ip}};
    if (!target.hostname.empty()) address["hostname"] = target.hostname;
    if (!target.node.empty()) address["nodeName"] = target.node;
    address["targetRef"] = pod_reference(target, service->name_space());
    Subset& subset = by_ports[target.ports];
    (target.ready ? subset.ready : subset.not_ready).push_back(std::move(address));
  }
  JsonArray out;
  for (auto& [ports, subset] : by_ports) {
    JsonObject entry;
    if (!subset.ready.empty()) entry["addresses"] = std::move(subset.ready);
    if (!subset.not_ready.empty()) entry["notReadyAddresses"] = std::move(subset.not_ready);
    if (!ports.empty()) entry["ports"] = ports_json(ports, false);
    out.push_back(std::move(entry));
  }
  return out;
}

JsonObject endpoint_json(const Target& target, const std::string& name_space) {
  JsonObject out{{"addresses", JsonArray{Json(target.ip)}},
                 {"conditions",
                  {{"ready", target.ready},
                   {"serving", target.serving},
                   {"terminating", target.terminating}}}};
  if (!target.hostname.empty()) out["hostname"] = target.hostname;
  if (!target.node.empty()) out["nodeName"] = target.node;
  out["targetRef"] = pod_reference(target, name_space);
  return out;
}

std::string_view family_of(const std::string& ip) {
  return ip.find(':') == std::string::npos ? "IPv4" : "IPv6";
}

// One slice without its name.
struct SliceBody {
  std::string family;
  JsonArray ports, endpoints;
};

std::vector<SliceBody> slice_bodies(const ServiceView& service,
                                    const std::vector<Target>& targets) {
  std::map<std::pair<std::string, std::vector<TargetPort>>, std::vector<const Target*>> groups;
  const bool wants_ports = service.ports() != nullptr && !service.ports()->empty();
  for (const Target& target : targets) {
    if (wants_ports && target.ports.empty()) continue;
    groups[{std::string(family_of(target.ip)), target.ports}].push_back(&target);
  }
  std::vector<SliceBody> out;
  for (const auto& [group, members] : groups) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i % kMaxEndpointsPerSlice == 0)
        out.push_back({group.first, ports_json(group.second, true), {}});
      out.back().endpoints.push_back(endpoint_json(*members[i], service->name_space()));
    }
  }
  // A service nobody stands behind has one empty slice: who watches sees that it is known.
  if (out.empty()) out.push_back({"IPv4", {}, {}});
  return out;
}

std::string slice_name(const ServiceView& service, std::size_t number) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::uint64_t hash = fnv1a(service->uid().text() + "/" + std::to_string(number));
  std::string out = service->name().substr(0, 57) + "-";
  for (int i = 0; i < 5; ++i, hash /= kAlphabet.size()) out += kAlphabet[hash % kAlphabet.size()];
  return out;
}

Labels labels_of(const ServiceView& service) {
  Labels out = service->labels();
  if (service.headless()) out[std::string(keys::kHeadless)] = "";
  return out;
}

// Both guarded: a slice or Endpoints that was made or changed by somebody else is looked at again.
PlannedWrite create(const Kind& kind, Json object) {
  const std::string name_space = text_at(object, {"metadata", "namespace"});
  return {client::CreateWrite{kind, name_space, std::move(object)}, {}, {}, {}};
}
PlannedWrite update(const Kind& kind, const Object& present, Json object) {
  return {client::UpdateWrite{kind, present.name_space(), present.name(), std::move(object)},
          Code::NotFound,
          {},
          {}};
}

Json adopt(const Kind& kind, const ServiceView& service, std::string_view name,
           const ObjectPtr& present) {
  Json out = present ? *present->document() : new_object(kind, service->name_space(), name);
  set_path(out, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*service.object())});
  return out;
}

void set_or_erase(Json& object, std::string_view name, JsonArray list) {
  if (list.empty()) {
    erase_path(object, {name});
  } else {
    set_path(object, {name}, std::move(list));
  }
}

}  // namespace

std::optional<PlannedWrite> publish_endpoints(const ServiceView& service,
                                              const std::vector<Target>& targets,
                                              const ObjectPtr& present) {
  Json wanted = adopt(kinds::kEndpoints, service, service->name(), present);
  Labels labels = labels_of(service);
  labels[std::string(keys::kSkipMirror)] = "true";  // we publish the slices ourselves
  set_path(wanted, {"metadata", "labels"}, to_json_object(labels));
  set_or_erase(wanted, "subsets", subsets_of(service, targets));
  if (!present) return create(kinds::kEndpoints, std::move(wanted));
  if (wanted == *present->document()) return std::nullopt;
  return update(kinds::kEndpoints, *present, std::move(wanted));
}

std::vector<PlannedWrite> publish_slices(const ServiceView& service,
                                         const std::vector<Target>& targets,
                                         const std::vector<ObjectPtr>& present) {
  std::map<std::string, ObjectPtr> left;
  for (const ObjectPtr& slice : present) left.emplace(slice->name(), slice);
  std::vector<PlannedWrite> out;
  const std::vector<SliceBody> bodies = slice_bodies(service, targets);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    // addressType never changes: it is part of the name's number.
    const std::string name = slice_name(service, 2 * i + (bodies[i].family == "IPv4" ? 0 : 1));
    const auto place = left.find(name);
    const ObjectPtr old = place == left.end() ? nullptr : place->second;
    if (old != nullptr) left.erase(place);
    Json wanted = adopt(kinds::kEndpointSlice, service, name, old);
    Labels labels = labels_of(service);
    labels[std::string(keys::kServiceName)] = service->name();
    labels[std::string(keys::kSliceManagedBy)] = keys::kSliceController;
    set_path(wanted, {"metadata", "labels"}, to_json_object(labels));
    set_path(wanted, {"addressType"}, Json(bodies[i].family));
    set_path(wanted, {"endpoints"}, bodies[i].endpoints);
    set_path(wanted, {"ports"}, bodies[i].ports);
    if (old == nullptr) {
      set_path(wanted, {"metadata", "generateName"}, Json(service->name() + "-"));
      out.push_back(create(kinds::kEndpointSlice, std::move(wanted)));
    } else if (wanted != *old->document()) {
      out.push_back(update(kinds::kEndpointSlice, *old, std::move(wanted)));
    }
  }
  for (const auto& [name, slice] : left) {
    client::DeleteWrite gone{kinds::kEndpointSlice, slice->name_space(), name};
    gone.only_uid = slice->uid();
    out.push_back({std::move(gone), Code::NotFound, {}, {}});
  }
  return out;
}

}  // namespace krater::controllers
