// A scheduler on a pretended cluster: objects go in, time is moved by hand, decisions are read from
// the objects. Builders take short forms, as the YAML cases use them.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "scheduler/extender_caller.h"
#include "scheduler/scheduler.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::scheduler {

// What the text says; it must be YAML.
Json yaml(std::string_view text);

// {name, cpu, memory, pods = 110, allocatable: {...}, labels, taints, images, unschedulable}
Json make_node(const Json& brief);
// {name, group, queue, cpu, memory, requests: {...}, node, phase, priority, class, role, selector,
// image, ports, gates, labels, annotations, guaranteed, placed: time, spec: {...}}
Json make_pod(const Json& brief);
// {name, min, queue, priorityClass, minResources, roles, phase, topology, subGroups, annotations}
Json make_group(const Json& brief);
// {name, state, <fields of spec>}
Json make_queue(const Json& brief);

// Answers by what it was told: for each verb an object, or one for a node ({byNode: {n1: …}});
// null, and what it was not told: no answer in time.
class CannedExtender final : public ExtenderCaller {
 public:
  void begin(Duration) override {}
  Result<HttpResponse> call(HttpRequest request) override;

  Json answers{boost::json::object_kind};
  std::vector<std::pair<std::string, std::string>> asked{};  // verb, body
};

class Harness {
 public:
  explicit Harness(Options options = {});

  // {nodes, queues, groups, pods, classes, budgets, quotas, hyperNodes, numa, config, extender}:
  // lists of short forms; a pod with `count` is made that often. `behaviors` goes with `config`.
  void add(const Json& things);
  // {pods: [names], groups: [...], nodes: [...], queues: [...]}
  void remove(const Json& things);
  // Sets the phase of pods, as their node would: {name: phase}.
  void run(const Json& phases);
  // Somebody deletes these pods; they take their time.
  void end(const Json& names);
  // Pods that are being deleted, and what their node does about them: they are gone.
  std::vector<std::string> leaving() const;
  void leave();
  void remove_pods(const std::vector<std::string>& names);
  // They are gone, and whoever made them makes them anew: after no time before the scheduler looks
  // again.
  void come_back(const std::vector<std::string>& pods, Duration after);
  void settle(Duration time = std::chrono::seconds(3)) { loop.advance(time); }

  std::string node_of(const std::string& pod) const;
  PodGroupView group(const std::string& name) const;
  std::string pod_message(const std::string& pod) const;
  bool has_event(std::string_view about, std::string_view reason, std::string_view part) const;
  std::vector<ObjectPtr> events_about(std::string_view about, std::string_view reason) const;

  testing::ManualLoop loop;
  testing::FakeClient client{loop, loop.wall()};
  SeededRng rng{7};
  std::vector<std::string> decisions{};
  CannedExtender extender{};
  Scheduler scheduler;
};

}  // namespace krater::scheduler
