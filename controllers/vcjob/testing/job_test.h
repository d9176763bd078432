// Volcano Jobs with hands that play scheduler, kubelet and user.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "controllers/loop/testing/world.h"
#include "controllers/vcjob/status.h"
#include "controllers/vcjob/vcjob_controller.h"

namespace krater::controllers::vcjob::testing {

using Names = std::vector<std::string>;

struct VolcanoJobTest : ::testing::Test {
  krater::controllers::testing::World world;
  std::function<void(SshKey)> key_ready;

  void SetUp() override {
    world.controllers.add([this](Enqueue wake) {
      return controllers::make_volcano_job_controller(
          {[this](std::function<void(SshKey)> done) { key_ready = std::move(done); }, wake,
           [](const Kind&) { return false; }});
    });
    world.put(kinds::kQueue, R"({"metadata":{"name":"default"},"spec":{}})");
    world.controllers.start();
    world.settle();
  }

  static std::string task(const std::string& name, int replicas, const std::string& more = "") {
    return R"({"name":")" + name + R"(","replicas":)" + std::to_string(replicas) + more +
           R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main",)"
           R"("resources":{"requests":{"cpu":"1"}}}]}}})";
  }
  // `tasks` comma separated, `more` of the spec with a leading comma.
  void make(const std::string& tasks, int least, const std::string& more = "",
            const std::string& name = "j") {
    world.put(kinds::kVolcanoJob,
              R"({"metadata":{"name":")" + name +
                  R"(","namespace":"d"},"spec":{"schedulerName":"volcano",)"
                  R"("queue":"default","minAvailable":)" +
                  std::to_string(least) +
                  (more.find("maxRetry") == std::string::npos ? R"(,"maxRetry":3)" : "") +
                  R"(,"tasks":[)" + tasks + "]" + more + "}}");
    world.settle();
  }
  void spec(const std::string& patch) {
    world.patch(*job(), kinds::kVolcanoJob, R"({"spec":)" + patch + "}");
    world.settle();
  }
  ObjectPtr job(const std::string& name = "j") const {
    return world.get(kinds::kVolcanoJob, "d", name);
  }
  // Counts are told now and then.
  Status status() {
    world.pass(200ms);
    return Status::of(VolcanoJobView(job()));
  }
  std::string phase() const {
    const auto now = Status::of(VolcanoJobView(job())).phase;
    return now ? std::string(to_text(*now)) : "";
  }
  ObjectPtr group() const {
    return world.get(kinds::kPodGroup, "d", VolcanoJobView(job()).pod_group_name());
  }
  ObjectPtr pod(const std::string& name) const { return world.get(kinds::kPod, "d", name); }
  std::vector<std::string> pods() const {
    std::vector<std::string> out;
    for (const ObjectPtr& one : world.fake.all(kinds::kPod)) out.push_back(one->name());
    return out;
  }

  void admit(const std::string& to = "Inqueue") {
    world.patch(*group(), kinds::kPodGroup, R"({"status":{"phase":")" + to + R"("}})");
    world.settle();
  }
  void run(const std::string& name, bool ready = true) {
    world.patch(*pod(name), kinds::kPod,
                R"({"status":{"phase":"Running","containerStatuses":[{"name":"main","ready":)" +
                    std::string(ready ? "true" : "false") + R"(,"state":{"running":{}}}]}})");
    world.settle();
  }
  void run_all() {
    for (const std::string& name : pods()) {
      if (PodView(pod(name)).phase() == PodPhase::Pending) run(name);
    }
  }
  void end(const std::string& name, int code = 0) {
    world.patch(*pod(name), kinds::kPod,
                R"({"status":{"phase":")" + std::string(code == 0 ? "Succeeded" : "Failed") +
                    R"(","containerStatuses":[{"name":"main","state":{"running":null,)"
                    R"("terminated":{"exitCode":)" +
                    std::to_string(code) + R"(,"finishedAt":")" +
                    to_rfc3339(world.loop.wall().now()) + R"("}}}]}})");
    world.settle();
  }
  // A kubelet holds the pod until its processes have ended.
  void hold(const std::string& name) {
    world.patch(*pod(name), kinds::kPod, R"({"metadata":{"finalizers":["test/grace"]}})");
    world.settle();
  }
  void let_go(const std::string& name) {
    world.patch(*pod(name), kinds::kPod, R"({"metadata":{"finalizers":null}})");
    world.settle();
  }
  void evict(const std::string& name, bool by_scheduler = false) {
    if (by_scheduler) {
      world.patch(
          *pod(name), kinds::kPod,
          R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}})");
      world.settle();
    }
    world.remove(kinds::kPod, "d", name);
    world.settle();
  }
  void order(const std::string& action) {
    world.put(
        kinds::kCommand,
        R"({"metadata":{"name":"order","namespace":"d"},"action":")" + action +
            R"(","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":")" +
            job()->uid().text() + R"("}})");
    world.settle();
  }
};

}  // namespace krater::controllers::vcjob::testing
