// A small world for scenario tests of the Ray controllers: objects in memory, the real controller
// loop, and stand-ins for what other parts do (nodes that run pods, the garbage collector).
#pragma once

#include <set>

#include "controllers/batchscheduler/batch_scheduler.h"
#include "controllers/loop/controller_loop.h"
#include "controllers/ray/testing/objects.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::controllers::test {

struct World {
  testing::ManualLoop loop;
  testing::FakeClient fake{loop, loop.wall()};
  std::unique_ptr<BatchScheduler> volcano = make_volcano_batch_scheduler();
  std::unique_ptr<ControllerLoop> controllers;

  virtual ~World() = default;

  // Controllers as after a start of the process: nothing remembered.
  void restart() {
    controllers.reset();
    controllers = std::make_unique<ControllerLoop>(loop, loop.wall(), fake);
    add_controllers();
    controllers->start();
    settle();
  }
  virtual void add_controllers() = 0;
  virtual void after_settle() {}

  void settle() {
    loop.run_ready();
    after_settle();
  }
  void advance(Duration by) {
    loop.advance(by);
    after_settle();
  }

  void apply(const Kind& kind, const std::string& name, const std::string& spec,
             const std::string& metadata = "{}") {
    Json json = new_object(kind, "ns", name);
    const Json more = *parse_json(metadata);
    for (const auto& member : more.get_object()) {
      set_path(json, {"metadata", member.key()}, member.value());
    }
    set_path(json, {"spec"}, *parse_json(spec));
    fake.put(kind, std::move(json));
    settle();
  }
  void patch(const Kind& kind, const std::string& name, const std::string& text,
             const std::string& subresource = "") {
    auto done = fake.apply(client::PatchWrite{kind, "ns", name, client::PatchType::Merge,
                                              *parse_json(text), subresource});
    ASSERT_TRUE(done.has_value()) << name << ": " << done.error().message;
    settle();
  }
  void remove(const Kind& kind, const std::string& name) {
    auto done = fake.apply(client::DeleteWrite{kind, "ns", name});
    ASSERT_TRUE(done.has_value()) << name << ": " << done.error().message;
    settle();
  }

  static bool is_head(const PodView& pod) { return pod->label("ray.io/node-type") == "head"; }
  std::vector<PodView> pods() const {
    std::vector<PodView> out;
    for (const ObjectPtr& pod : fake.all(kinds::kPod)) out.emplace_back(pod);
    return out;
  }
  PodView head() const {
    for (const PodView& pod : pods()) {
      if (is_head(pod)) return pod;
    }
    return PodView();
  }
  std::set<std::string> worker_uids() const {
    std::set<std::string> out;
    for (const PodView& pod : pods()) {
      if (!is_head(pod)) out.insert(pod->uid().text());
    }
    return out;
  }
  // What nodes do: every pod runs and is ready.
  void run_pods() {
    for (const PodView& pod : pods()) {
      if (pod.ready() || pod.finished()) continue;
      patch(
          kinds::kPod, pod->name(),
          R"({"status":{"phase":"Running","podIP":"10.0.0.7","conditions":[{"type":"Ready","status":"True"}]}})",
          "status");
    }
  }
  void fail_pod(const std::string& name) {
    const std::string now = to_rfc3339(loop.wall().now());
    patch(
        kinds::kPod, name,
        R"({"status":{"phase":"Failed","conditions":[{"type":"Ready","status":"False","lastTransitionTime":")" +
            now + R"("}]}})",
        "status");
  }
  // What the garbage collector does, until nothing is left to do.
  void collect_garbage() {
    static const std::vector<const Kind*> kinds{&kinds::kRayCluster, &kinds::kPod, &kinds::kService,
                                                &kinds::kJob, &kinds::kPodGroup};
    for (bool found = true; found;) {
      found = false;
      std::set<std::string> alive;
      for (const Kind* kind : {&kinds::kRayJob, &kinds::kRayCluster, &kinds::kJob}) {
        for (const ObjectPtr& object : fake.all(*kind)) alive.insert(object->uid().text());
      }
      for (const Kind* kind : kinds) {
        for (const ObjectPtr& object : fake.all(*kind)) {
          if (object->controller() == nullptr || alive.contains(object->controller()->uid.text()))
            continue;
          remove(*kind, object->name());
          found = true;
        }
      }
    }
    settle();
  }
  std::set<std::string> event_reasons() const {
    std::set<std::string> out;
    for (const ObjectPtr& event : fake.all(kinds::kEvent))
      out.insert(text_at(*event->document(), {"reason"}));
    return out;
  }
  // Creates of a kind that were asked for since `mark`.
  int creates(const Kind& kind, std::size_t mark = 0) const {
    int count = 0;
    for (std::size_t i = mark; i < fake.writes.size(); ++i) {
      const auto* write = std::get_if<client::CreateWrite>(&fake.writes[i]);
      count += write != nullptr && write->kind == kind ? 1 : 0;
    }
    return count;
  }
  int deletes(const Kind& kind, std::size_t mark = 0) const {
    int count = 0;
    for (std::size_t i = mark; i < fake.writes.size(); ++i) {
      const auto* write = std::get_if<client::DeleteWrite>(&fake.writes[i]);
      count += write != nullptr && write->kind == kind ? 1 : 0;
    }
    return count;
  }
};

}  // namespace krater::controllers::test
