#include "cli/volcano_parts.h"

namespace krater::cli {

api::ComponentLogs VolcanoParts::new_logs() {
  api::ComponentLogs out;
  for (const std::string_view part : {kVolcanoScheduler, kVolcanoControllers, kVolcanoAdmission})
    out.emplace(part, std::make_shared<api::ComponentLog>());
  return out;
}

VolcanoParts::Sink VolcanoParts::sink_of(std::string_view part) const {
  return [log = logs_.find(part)->second](WallTime now, std::string line) {
    log->append(now, std::move(line));
  };
}

void VolcanoParts::attach(const api::SchemaSet& schemas, const VolcanoChoices& choices,
                          api::AdmissionSettings& settings) {
  const std::vector<std::string>& place = choices.admission_configmap;
  groups_ = std::make_shared<api::ResourceGroupBook>(
      schemas.find("", "v1", "pods"), api::ConfigMapPlace{place[0], place[1], place[2]});
  settings.resource_groups = groups_;
  settings.refused = sink_of(kVolcanoAdmission);
}

void VolcanoParts::start(std::unique_ptr<client::ObjectClient> client, Loop& loop,
                         const WallClock& clock, Running running) {
  client_ = std::move(client);
  const auto show = [&](std::string_view name, std::string_view app) {
    mirrors_.push_back(std::make_unique<MirrorObjects>(
        MirroredPart{std::string(name), std::string(app)}, *client_, loop, clock));
    mirrors_.back()->start();
  };
  if (running.scheduler) show(kVolcanoScheduler, "volcano-scheduler");
  if (running.controllers) show(kVolcanoControllers, "volcano-controller");
  if (running.scheduler || running.controllers) show(kVolcanoAdmission, "volcano-admission");
  keeper_ = std::make_unique<ResourceGroupKeeper>(*client_, loop, clock, groups_,
                                                  sink_of(kVolcanoAdmission));
  keeper_->start();
}

void VolcanoParts::stop() {
  keeper_.reset();
  mirrors_.clear();
  client_.reset();
}

}  // namespace krater::cli
