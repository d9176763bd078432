// Volcano's job flows: every flow that is waited for exists, and none waits for itself in the end.
#include <algorithm>
#include <map>
#include <set>

#include "api/admission/rules.h"
#include "model/job_flow.h"

namespace krater::api {
namespace {

using Graph = std::map<std::string, std::set<std::string>>;

Graph graph_of(const Json& flow) {
  Graph out;
  const JsonArray* flows = array_at(flow, {"spec", "flows"});
  if (flows == nullptr) return out;
  for (const Json& one : *flows) {
    std::set<std::string>& targets = out[text_at(one, {"name"})];
    const JsonArray* list = array_at(one, {"dependsOn", "targets"});
    if (list == nullptr) continue;
    for (const Json& target : *list) {
      if (target.is_string()) targets.emplace(view(target.get_string()));
    }
  }
  return out;
}

bool is_ordered(Graph graph) {
  while (!graph.empty()) {
    const auto ready = std::find_if(graph.begin(), graph.end(),
                                    [](const auto& entry) { return entry.second.empty(); });
    if (ready == graph.end()) return false;
    const std::string name = ready->first;
    graph.erase(ready);
    for (auto& entry : graph) entry.second.erase(name);
  }
  return true;
}

}  // namespace

Result<void> admit_job_flow(const Admission& admission) {
  if (admission.operation == Operation::Delete || !admission.subresource.empty()) return {};
  const Graph graph = graph_of(admission.object);
  for (const auto& [name, targets] : graph) {
    for (const std::string& target : targets) {
      if (!graph.contains(target))
        return refusal("jobflow Flow is not DAG: vertex is not defined: " + target);
    }
  }
  if (!is_ordered(graph)) return refusal("jobflow Flow is not DAG");
  return {};
}

}  // namespace krater::api
