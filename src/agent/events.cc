#include "agent/events.h"

#include "base/log.h"

namespace krater::agent {
namespace {

// Enough for what a node's pods say within an hour; beyond it equal events are written anew.
constexpr std::size_t kRemembered = 4096;

}  // namespace

void EventRecorder::record(const Object& about, Type type, std::string_view reason,
                           std::string_view message, std::string_view field_path) {
  const std::string now = to_rfc3339(clock_.now());
  const auto answer = [reason = std::string(reason)](Result<ObjectPtr> done) {
    if (!done) log::debug("agent.event_lost", {{"reason", reason}, {"why", done.error().message}});
  };
  const Same same{about.uid().text(), std::string(field_path), std::string(reason),
                  std::string(message)};
  if (const auto place = written_.find(same); place != written_.end()) {
    Json patch{{"count", ++place->second.count}, {"lastTimestamp", now}};
    client_.write(client::PatchWrite{kinds::kEvent, place->second.name_space, place->second.name,
                                     client::PatchType::Merge, std::move(patch)},
                  answer);
    return;
  }
  if (written_.size() >= kRemembered) written_.clear();
  const std::string name_space = about.name_space().empty() ? "default" : about.name_space();
  const std::string name = about.name() + "." + rng_.suffix(16);
  Json event = new_object(kinds::kEvent, name_space, name);
  JsonObject involved{{"apiVersion", about.api_version()},
                      {"kind", about.kind()},
                      {"name", about.name()},
                      {"uid", about.uid().text()},
                      {"resourceVersion", about.revision().text()}};
  if (!about.name_space().empty()) involved["namespace"] = about.name_space();
  if (!field_path.empty()) involved["fieldPath"] = field_path;
  JsonObject& fields = event.get_object();
  fields["involvedObject"] = std::move(involved);
  fields["reason"] = reason;
  fields["message"] = message;
  fields["type"] = type == Type::Normal ? "Normal" : "Warning";
  fields["count"] = 1;
  fields["firstTimestamp"] = now;
  fields["lastTimestamp"] = now;
  fields["source"] = JsonObject{{"component", "kubelet"}, {"host", host_}};
  fields["reportingComponent"] = "kubelet";
  fields["reportingInstance"] = host_;
  written_.emplace(same, Written{name, name_space});
  client_.write(client::CreateWrite{kinds::kEvent, name_space, std::move(event)}, answer);
}

}  // namespace krater::agent
