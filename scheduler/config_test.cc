// The scheduler's configuration: what is refused, what is switched, what is warned about.
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

using namespace std::chrono_literals;

Json yaml(std::string_view text) {
  Result<Json> out = parse_yaml(text);
  EXPECT_TRUE(out.has_value()) << text;
  return *out;
}

TEST(Config, TheShippedOneIsGood) {
  const Result<Config> config = parse_config(default_config_text());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->actions.size(), 3U);
  EXPECT_EQ(config->tiers.size(), 2U);
}

TEST(Config, ErrorsNameTheCulprit) {
  const std::pair<const char*, const char*> cases[] = {
      {"actions: \"enqueue, dance\"\ntiers: [{plugins: [{name: gang}]}]",
       "unknown action \"dance\""},
      {"actions: allocate\ntiers: [{plugins: [{name: waltz}]}]", "unknown plugin \"waltz\""},
      {"actions: allocate\ntiers: [{plugins: [{name: sla, arguments: {sla-waiting-time: soon}}]}]",
       "sla-waiting-time"},
      {"actions: preempt\nconfigurations: [{name: preempt, arguments: {speed: 1}}]\ntiers: "
       "[{plugins: "
       "[{name: gang}]}]",
       "action preempt: unknown argument \"speed\""},
      {"actions: \"allocate\"\ntiers: [{plugins: [", "YAML"},
      {"actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.cpus: 1}}]}]",
       "\"binpack.cpus\""},
      {"actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.cpu: \"1\"}}]}]",
       "must be an integer"},
      {"actions: allocate\ntiers: [{plugins: [{name: gang, enableJobs: true}]}]",
       "unknown key \"enableJobs\""},
      {"actions: allocate\ntiers: [{plugins: [{name: gang, enableJobOrder: 3}]}]",
       "must be true or false"},
      {"actions: allocate\ntiers: [{plugins: [{name: capacity}, {name: proportion}]}]",
       "exclude each other"},
      {"actions: allocate\ntiers: [{plugins: [{name: capacity, arguments: {ancestorReclaimLevel: "
       "-1}}]}]",
       "ancestorReclaimLevel"},
      {"actions: allocate\ntires: []", "unknown key \"tires\""},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nbehaviors: {strictLifo: false}",
       "behaviors: unknown behavior \"strictLifo\""},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nbehaviors: {strictFifo: 1}",
       "behaviors: strictFifo must be true or false"},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nbehaviors: {strictFifo: \"true\"}",
       "behaviors: strictFifo must be true or false"},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nbehaviors: [strictFifo]",
       "behaviors: a map"},
      {"actions: gangpreempt\nconfigurations: [{name: gangpreempt, arguments: {victimOrder: "
       "oldest-first}}]\ntiers: [{plugins: [{name: gang}]}]",
       "victimOrder must be safe-first or priority-first"},
      {"actions: gangpreempt\nconfigurations: {name: gangpreempt, arguments: {maxDomains: 2}}\n"
       "tiers: [{plugins: [{name: gang}]}]",
       "configurations: a list is required"},
      {"actions: gangpreempt\nconfigurations: [gangpreempt]\ntiers: [{plugins: [{name: gang}]}]",
       "configurations: an entry is a map"},
      {"actions: gangpreempt\nconfigurations: [{name: gangpreempt, arguments: [maxDomains]}]\n"
       "tiers: [{plugins: [{name: gang}]}]",
       "configurations: action gangpreempt: arguments must be a map"},
      {"actions: gangpreempt\nconfigurations: [{name: gangpreempt, maxDomains: 2}]\n"
       "tiers: [{plugins: [{name: gang}]}]",
       "configurations: action gangpreempt: unknown key \"maxDomains\""},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nmetrics: prometheus",
       "metrics: a map is required"},
      {"actions: allocate\ntiers: [{plugins: [{name: overcommit, arguments: {overcommit-factor: "
       "100000000000000000}}]}]",
       "\"overcommit-factor\" must be between -2147483647 and 2147483647"},
      {"actions: allocate\ntiers: [{plugins: [{name: overcommit, arguments: {overcommit-factor: "
       "1.0e+300}}]}]",
       "\"overcommit-factor\" must be between"},
      {"actions: allocate\ntiers: [{plugins: [{name: overcommit, arguments: {overcommit-factor: "
       "18446744073709551615}}]}]",
       "\"overcommit-factor\" must be between"},
      {"actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.weight: "
       "4611686018427387904}}]}]",
       "\"binpack.weight\" must be between"},
      {"actions: allocate\ntiers: [{plugins: [{name: fairshare, arguments: "
       "{fairshare.halfLifeMinutes: \"9000000000000000000\"}}]}]",
       "\"fairshare.halfLifeMinutes\" must be between"},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {resources: "
       "{cpu: {weight: 4611686018427387904}}}}]}]",
       "argument \"cpu\": argument \"weight\" must be between"},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {resources: "
       "{cpu: {wieght: 3}}}}]}]",
       "argument \"resources\": argument \"cpu\": unknown argument \"wieght\""},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {resources: "
       "{cpu: {weight: \"7\"}}}}]}]",
       "argument \"resources\": argument \"cpu\": argument \"weight\" must be an integer"},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {resources: "
       "{cpu: 3}}}]}]",
       "argument \"resources\": argument \"cpu\" must be a map"},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {sra: "
       "{resorces: cpu}}}]}]",
       "argument \"sra\": unknown argument \"resorces\""},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: {sra: "
       "{enable: true, resources: a.b/c, resourceWeight: {a.b/d: 2}}}}]}]",
       "argument \"resourceWeight\": unknown argument \"a.b/d\""},
      {"actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit, arguments: "
       "{proportional: {enable: true, resources: a.b/c, resourceProportion: {a.b/c.cpus: 2}}}}]}]",
       "argument \"resourceProportion\": unknown argument \"a.b/c.cpus\""},
      {"actions: allocate\ntiers: [{plugins: [{name: rescheduling, arguments: {strategies: "
       "[lowNodeUtilization]}}]}]",
       "argument \"strategies\": a strategy is a map"},
      {"actions: allocate\ntiers: [{plugins: [{name: rescheduling, arguments: {strategies: [{name: "
       "lowNodeUtilization, parms: {}}]}}]}]",
       "argument \"strategies\": unknown argument \"parms\""},
      {"actions: allocate\ntiers: [{plugins: [{name: rescheduling, arguments: {strategies: [{name: "
       "lowNodeUtilization, params: {treshold: {cpu: 1}}}]}}]}]",
       "argument \"params\": unknown argument \"treshold\""},
      {"actions: allocate\ntiers: [{plugins: [{name: rescheduling, arguments: {strategies: [{name: "
       "lowNodeUtilization, params: {thresholds: {gpu: 1}}}]}}]}]",
       "argument \"thresholds\": unknown argument \"gpu\""},
      {"actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {estimator: {be_mem: "
       "lots}}}]}]",
       "argument \"estimator\": argument \"be_mem\" must be a quantity"},
      {"actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {memory: "
       "20}}}]}]",
       "argument \"thresholds\": unknown argument \"memory\""},
      {"actions: allocate\ntiers: [{plugins: [{name: predicates, arguments: "
       "{predicate.CacheEnable: 17}}]}]",
       "\"predicate.CacheEnable\" must be true or false"},
      {"actions: allocate\ntiers: [{plugins: [{name: predicates, arguments: {volumebinding.weight: "
       "heavy}}]}]",
       "\"volumebinding.weight\" must be an integer"},
      {"actions: allocate\ntiers: [{plugins: [{name: deviceshare, arguments: "
       "{deviceshare.SchedulePolicy: 3}}]}]",
       "\"deviceshare.SchedulePolicy\" must be a string"},
      {"actions: preempt\nconfigurations: [{name: preempt, arguments: "
       "{enableTopologyAwarePreemption: maybe}}]\ntiers: [{plugins: [{name: gang}]}]",
       "action preempt: argument \"enableTopologyAwarePreemption\" must be true or false"},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nmetrics: {adress: x}",
       "argument \"metrics\": unknown argument \"adress\""},
      {"actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nmetrics: {interval: often}",
       "argument \"interval\" must be a time"},
      {"tiers: [{plugins: [{name: gang}]}]", "actions"},
      {"actions: allocate", "tiers"},
  };
  for (const auto& [text, part] : cases) {
    const Result<Config> config = parse_config(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_NE(config.error().message.find(part), std::string::npos) << config.error().message;
  }
}

TEST(Config, WhatIsRightIsTakenThoughItHasNoEffect) {
  for (const char* arguments :
       {"{name: predicates, arguments: {predicate.CacheEnable: true, volumebinding.weight: 1, "
        "volumebinding.shape: [{utilization: 0, score: 0}], dynamicresources.filterTimeoutSeconds: "
        "10}}",
        "{name: deviceshare, arguments: {deviceshare.NodeLockEnable: \"T\", "
        "deviceshare.SchedulePolicy: binpack, deviceshare.ScheduleWeight: 10}}",
        "{name: rescheduling, arguments: {metricsPeriod: 5m, strategies: [{name: "
        "lowNodeUtilization, params: {thresholds: {cpu: 20, pods: 10}}}]}}",
        "{name: resource-strategy-fit, arguments: {sra: {enable: true, resources: a.b/c, weight: "
        "10, resourceWeight: {a.b/c: 1}}, proportional: {enable: false, resources: \"a.b/c\", "
        "resourceProportion: {a.b/c.cpu: 4, a.b/c.memory: 8}}}}"}) {
    const Result<Config> config = parse_config(
        "actions: \"allocate, preempt\"\nconfigurations: [{name: preempt, arguments: "
        "{enableTopologyAwarePreemption: true, topologyAwarePreemptWorkerNum: 8}}]\n"
        "metrics: {type: node, interval: 30s}\ntiers: [{plugins: [" +
        std::string(arguments) + "]}]");
    EXPECT_TRUE(config.has_value()) << config.error().message;
  }
}

TEST(Config, BehaviorsAreSwitchedOneByOne) {
  const std::string plain = "actions: allocate\ntiers: [{plugins: [{name: gang}]}]\n";
  for (const BehaviorEntry& entry : all_behaviors()) {
    const bool usual = Behaviors().*entry.field;
    const Result<Config> config = parse_config(plain + "behaviors: {" + std::string(entry.name) +
                                               ": " + (usual ? "false" : "true") + "}");
    ASSERT_TRUE(config.has_value()) << config.error().message;
    for (const BehaviorEntry& other : all_behaviors()) {
      const bool expected = other.name == entry.name ? !usual : Behaviors().*other.field;
      EXPECT_EQ(config->behaviors.*other.field, expected) << entry.name << " " << other.name;
    }
  }
  for (const char* nothing : {"", "behaviors:\n", "behaviors: {}\n"})
    EXPECT_TRUE(parse_config(plain + nothing).has_value()) << nothing;
}

TEST(Config, PitfallsAreNamedAndNothingElseIs) {
  const std::string gangs = "{name: priority}, {name: gang}, {name: predicates}";
  const std::string lenient =
      "{name: priority}, {name: gang, enablePreemptable: false}, {name: predicates}";
  const std::pair<std::string, std::string> cases[] = {
      {std::string(default_config_text()), ""},
      {"actions: \"enqueue, backfill\"\ntiers: [{plugins: [" + gangs + "]}]",
       "action \"allocate\" is missing"},
      {"actions: \"allocate, preempt, gangpreempt\"\ntiers: [{plugins: [" + lenient + "]}]",
       "actions \"preempt\" and \"gangpreempt\" are both there"},
      {"actions: \"allocate, gangreclaim, reclaim\"\ntiers: [{plugins: [" + gangs +
           "]}, {plugins: [{name: capacity}]}]",
       "actions \"reclaim\" and \"gangreclaim\" are both there"},
      {"actions: \"allocate, gangreclaim, preempt\"\ntiers: [{plugins: [" + lenient +
           ", {name: capacity}]}]",
       ""},
      {"actions: \"allocate, preempt\"\ntiers: [{plugins: [" + gangs + "]}]",
       "plugins \"gang\" and \"priority\" are in one tier"},
      {"actions: \"allocate, preempt\"\ntiers: [{plugins: [{name: gang}]}, {plugins: [{name: "
       "drf}]}]",
       ""},
      // Who cannot be admitted cannot ask.
      {"actions: \"enqueue, allocate, reclaim\"\nbehaviors: {enqueueCountsEvictable: false}\n"
       "tiers: [{plugins: [" +
           gangs + "]}, {plugins: [{name: overcommit}, {name: proportion}]}]",
       "\"overcommit\" admits nobody to a full cluster"},
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           "]}, {plugins: [{name: overcommit}, {name: proportion}]}]",
       ""},
      {"actions: \"allocate, reclaim\"\nbehaviors: {enqueueCountsEvictable: false}\n"
       "tiers: [{plugins: [" +
           gangs + "]}, {plugins: [{name: overcommit}, {name: proportion}]}]",
       ""},
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           ", {name: overcommit}]}, {plugins: [{name: capacity}]}]",
       "plugin \"overcommit\" is in a tier before \"capacity\""},
      {"actions: \"enqueue, allocate\"\ntiers: [{plugins: [" + gangs +
           ", {name: resourcequota}]}, {plugins: [{name: proportion}]}]",
       "plugin \"resourcequota\" is in a tier before \"proportion\""},
      // Asked together, or where admission is not asked for, nothing is hidden.
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           "]}, {plugins: [{name: overcommit}, {name: capacity}]}]",
       ""},
      {"actions: \"allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           ", {name: overcommit}]}, {plugins: [{name: capacity}]}]",
       ""},
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           ", {name: overcommit, enableJobEnqueued: false}]}, {plugins: [{name: capacity}]}]",
       ""},
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [" + gangs +
           ", {name: overcommit}, {name: capacity}]}]",
       "plugins \"gang\" and \"capacity\" are in one tier"},
      {"actions: \"enqueue, allocate, reclaim\"\ntiers: [{plugins: [{name: gang, "
       "enableReclaimable: "
       "false}, {name: capacity}]}]",
       ""},
      {"actions: \"allocate\"\ntiers: [{plugins: [" + gangs + ", {name: drf}, {name: fairshare}]}]",
       "plugin \"fairshare\" comes after \"drf\""},
      {"actions: \"allocate\"\ntiers: [{plugins: [" + gangs +
           ", {name: binpack, enableBestNode: "
           "false, enableTargetJob: true}]}]",
       "plugin \"binpack\": enableBestNode has no effect"},
      {"actions: \"allocate\"\ntiers: [{plugins: [" + gangs +
           ", {name: binpack, "
           "enabledClusterOrder: true, enableReservedNodes: true}]}]",
       "plugin \"binpack\": enabledClusterOrder has no effect"},
  };
  for (const auto& [text, part] : cases) {
    const Result<Config> config = parse_config(text);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    const std::vector<std::string> said = pitfalls(*config);
    ASSERT_EQ(said.size(), part.empty() ? 0U : 1U) << text << (said.empty() ? "" : said.front());
    if (!part.empty()) {
      EXPECT_NE(said.front().find(part), std::string::npos) << said.front();
    }
  }
}

TEST(Config, ABadConfigMapIsToldAndTheLastGoodOneStaysInForce) {
  Harness cluster;
  cluster.add(
      yaml("{config: 'actions: \"dance\"', nodes: [{name: n1, cpu: 4}], queues: [{name: default}], "
           "pods: [{name: a, cpu: 1}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("a"), "n1");
  EXPECT_EQ(cluster.scheduler.metrics().config_errors, 1U);
  EXPECT_TRUE(cluster.has_event("volcano-scheduler-configmap", "InvalidSchedulerConfiguration",
                                "unknown action \"dance\""));
  // Without allocate nothing is placed: a good change is in force at once.
  cluster.add(
      yaml("{config: '{actions: enqueue, tiers: [{plugins: [{name: gang}]}]}', pods: [{name: b, "
           "cpu: 1}]}"));
  cluster.settle();
  EXPECT_EQ(cluster.node_of("b"), "");
}

// Somebody tries until it is right: the recorder's limits are for what repeats itself.
TEST(Config, EveryRefusalIsToldAndNoneTwice) {
  Harness cluster;
  const auto use = [&](const std::string& actions, int version) {
    Json map = new_object(kinds::kConfigMap, "volcano-system", "volcano-scheduler-configmap");
    set_path(map, {"metadata", "labels", "version"}, Json(std::to_string(version)));
    set_path(map, {"data", "volcano-scheduler.conf"},
             Json("actions: \"" + actions + "\"\ntiers: [{plugins: [{name: gang}]}]\n"));
    cluster.client.put(kinds::kConfigMap, std::move(map));
    cluster.settle(1s);
  };
  const auto count_of = [&](const std::string& part) {
    std::int64_t count = 0;
    for (const ObjectPtr& event : cluster.client.all(kinds::kEvent)) {
      const auto document = event->document();
      if (text_at(*document, {"message"}).find(part) != std::string::npos)
        count += int_at(*document, {"count"}).value_or(0);
    }
    return count;
  };
  for (int i = 0; i < 60; ++i) use("dance" + std::to_string(i), i);
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(count_of("unknown action \"dance" + std::to_string(i) + "\""), 1) << i;
  EXPECT_EQ(count_of("combined"), 0);
  // The same once more says nothing, after a good one it is news again.
  use("dance59", 60);
  EXPECT_EQ(count_of("\"dance59\""), 1);
  use("allocate", 61);
  use("dance59", 62);
  EXPECT_EQ(count_of("\"dance59\""), 2);
}

}  // namespace
}  // namespace krater::scheduler
