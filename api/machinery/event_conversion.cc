#include "api/machinery/event_conversion.h"

#include <array>

namespace krater::api {
namespace {

struct Renamed {
  std::string_view v1, core;
};

constexpr std::array kRenamed{
    Renamed{"regarding", "involvedObject"},
    Renamed{"note", "message"},
    Renamed{"reportingController", "reportingComponent"},
    Renamed{"deprecatedSource", "source"},
    Renamed{"deprecatedFirstTimestamp", "firstTimestamp"},
    Renamed{"deprecatedLastTimestamp", "lastTimestamp"},
    Renamed{"deprecatedCount", "count"},
};

// Keeps the order of fields, so that objects read the same in both groups.
void rename(Json& event, std::string_view api_version, std::string_view Renamed::*from,
            std::string_view Renamed::*to) {
  JsonObject* fields = event.if_object();
  if (fields == nullptr) return;
  JsonObject out;
  out.reserve(fields->size());
  for (auto& entry : *fields) {
    std::string_view name = entry.key();
    for (const Renamed& pair : kRenamed) {
      if (name == pair.*from) {
        name = pair.*to;
        break;
      }
    }
    if (name == "apiVersion") {
      out.emplace(name, api_version);
    } else {
      out.emplace(name, std::move(entry.value()));
    }
  }
  event = std::move(out);
}

}  // namespace

void event_to_core(Json& event) {
  rename(event, "v1", &Renamed::v1, &Renamed::core);
}
void event_from_core(Json& event) {
  rename(event, "events.k8s.io/v1", &Renamed::core, &Renamed::v1);
}

}  // namespace krater::api
