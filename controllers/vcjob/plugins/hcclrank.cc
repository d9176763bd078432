// hcclrank: the rank that Ascend's collective library reads from an annotation.
#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"

namespace krater::controllers::vcjob {
namespace {

constexpr std::string_view kRankKey = "hccl/rankIndex";

std::string rank_variable(const Json& pod) {
  const JsonArray* containers = array_at(pod, {"spec", "containers"});
  if (containers == nullptr) return {};
  for (const Json& container : *containers) {
    const JsonArray* variables = array_at(container, {"env"});
    if (variables == nullptr) continue;
    for (const Json& one : *variables) {
      if (text_at(one, {"name"}) == "RANK") return text_at(one, {"value"});
    }
  }
  return {};
}

}  // namespace

void hcclrank_pod(const PodInput& in, Json& pod) {
  if (!text_at(pod, {"metadata", "annotations", kRankKey}).empty()) return;
  const Arguments arguments(in.plugin.arguments);
  const std::string master = arguments.text("master", "master");
  std::string rank = rank_variable(pod);
  if (rank.empty() && in.task.name == master) {
    rank = std::to_string(in.index);
  } else if (rank.empty() && in.task.name == arguments.text("worker", "worker")) {
    const VolcanoTask* masters = in.plugin.seen.task(master);
    rank = std::to_string((masters == nullptr ? 0 : masters->replicas) + in.index);
  }
  if (!rank.empty()) set_path(pod, {"metadata", "annotations", kRankKey}, Json(rank));
}

}  // namespace krater::controllers::vcjob
