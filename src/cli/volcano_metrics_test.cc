// Volcano's metrics as they are written: names, labels, units.
#include <gtest/gtest.h>

#include "cli/metric_labels.h"
#include "cli/volcano_controller_metrics.h"
#include "cli/volcano_scheduler_metrics.h"
#include "testing/manual_loop.h"

namespace krater::cli {
namespace {

using scheduler::VolcanoFigures;

struct VolcanoMetricsText : ::testing::Test {
  // What a scrape says.
  std::string text() {
    for (const api::Metrics::Refresh& refresh : metrics.refreshes()) refresh([] {});
    loop.run_ready();
    return "\n" + metrics.text();
  }
  bool says(const std::string& line) {
    return text().find("\n" + line + "\n") != std::string::npos;
  }
  std::string line_of(const std::string& name) {
    const std::string all = text();
    const std::size_t at = all.find("\n" + name);
    return at == std::string::npos ? "" : all.substr(at + 1, all.find('\n', at + 1) - at - 1);
  }
  void tell(VolcanoFigures figures) {
    now = std::move(figures);
    if (!std::exchange(told, true))
      add_volcano_scheduler_metrics(metrics, loop, [this] { return now; });
  }

  testing::ManualLoop loop;
  api::Metrics metrics;
  std::optional<VolcanoFigures> now;
  bool told = false;
};

scheduler::Resource amounts(std::initializer_list<std::int64_t> each) {
  scheduler::Resource out;
  scheduler::Dim dim = 0;
  for (const std::int64_t amount : each) out.set(dim++, amount);
  return out;
}

VolcanoFigures one_queue(const std::string& name) {
  VolcanoFigures out;
  out.names.dim("example.com/gpu");
  out.total = amounts({8000, 1 << 30, 110, 4});
  scheduler::QueueFigures queue;
  queue.allocated = amounts({1500, 1 << 20, 3, 2});
  queue.capability.emplace();
  queue.capability->set(scheduler::kMemory, 1 << 29);
  queue.share = scheduler::Share(1, 4);
  queue.overused = true;
  out.queues.push_back({name, queue});
  return out;
}

TEST_F(VolcanoMetricsText, LabelsAreEscaped) {
  EXPECT_EQ(label_text({{"a", "x\"y\\z\n"}, {"b", ""}}), R"(a="x\"y\\z\n",b="")");
}

TEST_F(VolcanoMetricsText, QueuesAreToldInVolcanosUnits) {
  tell(one_queue("q"));
  EXPECT_TRUE(says("# TYPE volcano_queue_allocated_milli_cpu gauge"));
  EXPECT_TRUE(says(R"(volcano_queue_allocated_milli_cpu{queue_name="q"} 1500)"));
  EXPECT_TRUE(says(R"(volcano_queue_allocated_memory_bytes{queue_name="q"} 1048576)"));
  EXPECT_TRUE(says(
      R"(volcano_queue_allocated_scalar_resources{queue_name="q",resource="example.com/gpu"} 2000)"));
  EXPECT_TRUE(
      says(R"(volcano_queue_allocated_scalar_resources{queue_name="q",resource="pods"} 3)"));
  // What the cluster has and the queue nothing of is told, too.
  EXPECT_TRUE(says(
      R"(volcano_queue_request_scalar_resources{queue_name="q",resource="example.com/gpu"} 0)"));
  EXPECT_TRUE(says(R"(volcano_queue_capacity_milli_cpu{queue_name="q"} 1.7976931348623157e+308)"));
  EXPECT_TRUE(says(R"(volcano_queue_capacity_memory_bytes{queue_name="q"} 536870912)"));
  EXPECT_EQ(line_of("volcano_queue_capacity_scalar_resources{"), "");
  EXPECT_EQ(line_of("volcano_queue_real_capacity_milli_cpu{"), "");  // no plugin knows it
  EXPECT_TRUE(says(R"(volcano_queue_share{queue_name="q"} 0.25)"));
  EXPECT_TRUE(says(R"(volcano_queue_overused{queue_name="q"} 1)"));
  EXPECT_EQ(line_of("volcano_queue_weight{"), "");
}

TEST_F(VolcanoMetricsText, AQueueThatIsGoneIsNotInTheNextScrape) {
  tell(one_queue("gone"));
  EXPECT_NE(text().find("\"gone\""), std::string::npos);
  tell(one_queue("stays"));
  EXPECT_EQ(text().find("\"gone\""), std::string::npos);
}

TEST_F(VolcanoMetricsText, JobsOfOneNameShareTheSeriesThatHaveNoNamespace) {
  VolcanoFigures figures;
  for (const char* name_space : {"a", "b"}) {
    VolcanoFigures::Job job{{name_space, "j"}, "q", WallTime::from_unix_seconds(100)};
    job.missing = 2;
    job.retries = 1;
    job.share = scheduler::Share(1, 2);
    figures.jobs.push_back(job);
  }
  figures.jobs[0].placed = WallTime::from_unix_seconds(103);
  figures.unscheduled_jobs = 2;
  tell(figures);
  EXPECT_TRUE(says(R"(volcano_unschedule_task_count{job_id="j"} 4)"));
  EXPECT_TRUE(says("# TYPE volcano_job_retry_counts counter"));
  EXPECT_TRUE(says(R"(volcano_job_retry_counts{job_id="j"} 2)"));
  EXPECT_TRUE(says(R"(volcano_job_share{job_id="j",job_ns="b"} 0.5)"));
  EXPECT_TRUE(says("volcano_unschedule_job_count 2"));
  const std::string labels = R"({job_name="j",job_namespace="a",queue="q"} )";
  EXPECT_TRUE(says("volcano_e2e_job_scheduling_duration" + labels + "3000"));
  EXPECT_TRUE(says("volcano_e2e_job_scheduling_start_time" + labels + "100"));
  EXPECT_TRUE(says("volcano_e2e_job_scheduling_last_time" + labels + "103"));
  EXPECT_EQ(line_of(R"(volcano_e2e_job_scheduling_last_time{job_name="j",job_namespace="b")"), "");
}

TEST_F(VolcanoMetricsText, HistogramsAddUpUnderVolcanosBounds) {
  scheduler::VolcanoMetrics source;
  source.action_took("allocate", 1500us);
  source.action_took("allocate", 1h);
  source.plugin_took("gang", scheduler::PluginPart::Open, 1ms);
  VolcanoFigures figures = source.figures(scheduler::Cache());
  tell(std::move(figures));
  const std::string name = "volcano_action_scheduling_latency_milliseconds";
  EXPECT_TRUE(says("# TYPE " + name + " histogram"));
  EXPECT_TRUE(says(name + R"(_bucket{action="allocate",le="1"} 0)"));
  EXPECT_TRUE(says(name + R"(_bucket{action="allocate",le="+Inf"} 2)"));
  EXPECT_TRUE(says(name + R"(_count{action="allocate"} 2)"));
  EXPECT_TRUE(says(name + R"(_sum{action="allocate"} 3600001.5)"));
  EXPECT_TRUE(says(
      R"(volcano_plugin_scheduling_latency_milliseconds_count{OnSession="OnSessionOpen",plugin="gang"} 1)"));
  EXPECT_TRUE(says("volcano_e2e_scheduling_latency_milliseconds_count 0"));
}

TEST_F(VolcanoMetricsText, ControllersTellOfJobsFlowsAndGroups) {
  controllers::VolcanoControllerFigures figures;
  figures.jobs.push_back({"d", "j", "q", 1, 0});
  figures.flows["d"].failed = 3;
  figures.queues["q"].groups[static_cast<std::size_t>(PodGroupPhase::Inqueue)] = 2;
  add_volcano_controller_metrics(metrics, loop, [figures] { return figures; });
  EXPECT_TRUE(says(R"(volcano_job_completed_phase_count{job_name="d/j",queue_name="q"} 1)"));
  EXPECT_EQ(line_of("volcano_job_failed_phase_count{"), "");
  EXPECT_TRUE(says(R"(volcano_jobflow_failed_phase_count{jobflow_namespace="d"} 3)"));
  EXPECT_TRUE(says(R"(volcano_queue_pod_group_inqueue_count{queue_name="q"} 2)"));
  EXPECT_TRUE(says(R"(volcano_queue_pod_group_running_count{queue_name="q"} 0)"));
  EXPECT_TRUE(says("volcano_controller_job_to_pod_creation_latency_milliseconds_count 0"));
}

}  // namespace
}  // namespace krater::cli
