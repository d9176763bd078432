// Runs testdata/*.yaml: each case is a list of steps (add, remove, run, leave, want) on one
// pretended cluster. A case about a behavior that can be switched runs twice: what is wanted where
// it is on stands at `on`, where it is off at `off`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/yaml.h"
#include "scheduler/behaviors.h"
#include "scheduler/testing/harness.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

std::string name_of(const boost::json::key_value_pair& member) {
  return std::string(member.key().data(), member.key().size());
}

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> out;
  for (const Json& one : list.get_array()) out.emplace_back(view(one.get_string()));
  return out;
}

// One text or a list of texts, all of which must occur.
void expect_parts(const std::string& text, const Json& parts, const std::string& where) {
  const auto expect = [&](const Json& part) {
    EXPECT_NE(text.find(view(part.get_string())), std::string::npos)
        << where << "\n  wants: " << part << "\n  has:   " << text;
  };
  if (parts.is_string()) return expect(parts);
  for (const Json& part : parts.get_array()) expect(part);
}

bool holds(const PodGroupCondition* condition) {
  return condition != nullptr && condition->status == "True";
}

// Pods whose names begin so that have a node and stay there.
std::int64_t placed(const Harness& cluster, const std::string& prefix) {
  std::int64_t out = 0;
  for (const ObjectPtr& pod : cluster.client.all(kinds::kPod)) {
    if (pod->name().starts_with(prefix) && !pod->deletion() && !PodView(pod).node_name().empty()) {
      ++out;
    }
  }
  return out;
}

// Every text of `parts` occurs in the group's annotation; null: there is none.
void check_why(const Harness& cluster, const std::string& group, const Json& parts) {
  const std::string text(cluster.group(group).annotation(kWhyPending));
  if (parts.is_null()) {
    EXPECT_EQ(text, "") << group;
    return;
  }
  EXPECT_TRUE(parse_json(text).has_value()) << text;
  expect_parts(text, parts, group);
}

void check(const Harness& cluster, const Json& want) {
  for (const auto& member : want.get_object()) {
    const std::string what = name_of(member);
    const Json& value = member.value();
    if (what == "bound") {
      for (const auto& pod : value.get_object()) {
        const std::string node = cluster.node_of(name_of(pod));
        EXPECT_FALSE(node.empty()) << name_of(pod) << " is not bound";
        if (pod.value() != "*") {
          EXPECT_EQ(node, view(pod.value().get_string())) << name_of(pod);
        }
      }
    } else if (what == "waiting") {
      for (const Json& pod : value.get_array()) {
        const std::string name(view(pod.get_string()));
        EXPECT_EQ(cluster.node_of(name), "") << name;
      }
    } else if (what == "phases") {
      for (const auto& group : value.get_object()) {
        EXPECT_EQ(to_text(cluster.group(name_of(group)).phase()), view(group.value().get_string()))
            << name_of(group);
      }
    } else if (what == "conditions") {
      for (const auto& group : value.get_object()) {
        std::vector<std::string> types;
        for (const PodGroupCondition& one : cluster.group(name_of(group)).status().conditions)
          types.push_back(one.type);
        EXPECT_EQ(types, names_in(group.value())) << name_of(group);
      }
    } else if (what == "unschedulable") {
      for (const auto& group : value.get_object()) {
        const PodGroupStatus status = cluster.group(name_of(group)).status();
        const PodGroupCondition* condition = status.condition("Unschedulable");
        EXPECT_TRUE(holds(condition)) << name_of(group);
        if (condition != nullptr) {
          expect_parts(condition->message, group.value(), name_of(group));
        }
      }
    } else if (what == "unsaid") {
      for (const auto& group : value.get_object()) {
        const PodGroupStatus status = cluster.group(name_of(group)).status();
        const PodGroupCondition* condition = status.condition("Unschedulable");
        EXPECT_TRUE(holds(condition)) << name_of(group);
        for (const Json& part : group.value().get_array()) {
          EXPECT_TRUE(condition == nullptr ||
                      condition->message.find(view(part.get_string())) == std::string::npos)
              << condition->message;
        }
      }
    } else if (what == "scheduled") {
      for (const Json& group : value.get_array()) {
        const PodGroupStatus status = cluster.group(std::string(view(group.get_string()))).status();
        EXPECT_TRUE(holds(status.condition("Scheduled"))) << group;
        EXPECT_FALSE(holds(status.condition("Unschedulable"))) << group;
      }
    } else if (what == "leaving") {
      std::vector<std::string> names;
      for (const Json& pod : value.get_array()) names.emplace_back(view(pod.get_string()));
      EXPECT_EQ(cluster.leaving(), names);
    } else if (what == "nominated") {
      for (const auto& pod : value.get_object()) {
        const PodView seen(cluster.client.read(kinds::kPod, "d", name_of(pod)));
        EXPECT_EQ(seen.nominated_node().text(), view(pod.value().get_string())) << name_of(pod);
      }
    } else if (what == "says") {
      for (const auto& pod : value.get_object()) {
        expect_parts(cluster.pod_message(name_of(pod)), pod.value(), name_of(pod));
      }
    } else if (what == "why") {
      for (const auto& group : value.get_object())
        check_why(cluster, name_of(group), group.value());
    } else if (what == "annotated") {
      for (const auto& pod : value.get_object()) {
        const PodView seen(cluster.client.read(kinds::kPod, "d", name_of(pod)));
        for (const auto& one : pod.value().get_object()) {
          EXPECT_EQ(seen.annotation(name_of(one)), view(one.value().get_string())) << name_of(pod);
        }
      }
    } else if (what == "asked") {
      for (const auto& verb : value.get_object()) {
        std::string bodies;
        for (const auto& [asked, body] : cluster.extender.asked) {
          if (asked == name_of(verb)) bodies += body + '\n';
        }
        expect_parts(bodies, verb.value(), name_of(verb));
      }
    } else if (what == "gates") {
      for (const auto& pod : value.get_object()) {
        const PodView seen(cluster.client.read(kinds::kPod, "d", name_of(pod)));
        EXPECT_EQ(static_cast<std::int64_t>(seen.scheduling_gates().size()),
                  pod.value().to_number<std::int64_t>())
            << name_of(pod);
      }
    } else if (what == "noted") {
      for (const auto& group : value.get_object()) {
        const PodGroupView seen = cluster.group(name_of(group));
        for (const auto& one : group.value().get_object()) {
          EXPECT_EQ(seen.annotation(name_of(one)), view(one.value().get_string()))
              << name_of(group);
        }
      }
    } else if (what == "running") {
      for (const auto& prefix : value.get_object()) {
        EXPECT_EQ(placed(cluster, name_of(prefix)), prefix.value().to_number<std::int64_t>())
            << name_of(prefix);
      }
    } else if (what == "decided") {
      for (const Json& part : value.get_array()) {
        EXPECT_TRUE(std::any_of(cluster.decisions.begin(), cluster.decisions.end(),
                                [&](const std::string& line) {
                                  return line.find(view(part.get_string())) != std::string::npos;
                                }))
            << part;
      }
    } else if (what == "allocated") {
      for (const auto& queue : value.get_object()) {
        const QueueView view_of(cluster.client.read(kinds::kQueue, "", name_of(queue)));
        for (const auto& amount : queue.value().get_object()) {
          EXPECT_EQ(view_of.allocated().at(name_of(amount)),
                    amount.value().to_number<std::int64_t>())
              << name_of(queue) << " " << name_of(amount);
        }
      }
    } else if (what == "event_count") {
      for (const auto& about : value.get_object()) {
        for (const auto& reason : about.value().get_object()) {
          EXPECT_EQ(cluster.events_about(name_of(about), name_of(reason)).size(),
                    static_cast<std::size_t>(reason.value().to_number<std::int64_t>()))
              << name_of(about) << " " << name_of(reason);
        }
      }
    } else if (what == "events") {
      for (const Json& event : value.get_array()) {
        EXPECT_TRUE(cluster.has_event(text_at(event, {"about"}), text_at(event, {"reason"}),
                                      text_at(event, {"says"})))
            << event;
      }
    } else {
      ADD_FAILURE() << "a case wants \"" << what << "\", which nobody can check";
    }
  }
}

// nullopt: the case is about none that can be switched.
void run_case(const Json& one, std::optional<bool> position) {
  Harness cluster;
  const std::string behavior = text_at(one, {"behavior"});
  bool judged = false;
  for (const Json& step : *array_at(one, {"steps"})) {
    for (const auto& member : step.get_object()) {
      const std::string what = name_of(member);
      if (what == "add") {
        Json things = member.value();
        if (position && find(things, {"config"}) != nullptr)
          set_path(things, {"behaviors", behavior}, Json(*position));
        cluster.add(things);
      }
      if (what == "remove") cluster.remove(member.value());
      if (what == "run") cluster.run(member.value());
      if (what == "leave") cluster.leave();
      // Those that are leaving, at once; or those that are named, half a second later.
      if (what == "come_back") {
        const bool named = member.value().is_array();
        cluster.come_back(named ? names_in(member.value()) : cluster.leaving(),
                          std::chrono::milliseconds(named ? 500 : 0));
      }
      if (what == "end") cluster.end(member.value());
      if (what == "wait")
        cluster.loop.advance(*parse_go_duration(view(member.value().get_string())));
      cluster.settle();
      const bool of_position = position && what == (*position ? "on" : "off");
      if (what == "want" || of_position) check(cluster, member.value());
      judged = judged || of_position;
      ASSERT_TRUE(what == "add" || what == "remove" || what == "run" || what == "leave" ||
                  what == "come_back" || what == "wait" || what == "end" || what == "want" ||
                  (position && (what == "on" || what == "off")))
          << what;
    }
  }
  EXPECT_EQ(judged, position.has_value()) << "nothing is wanted of this position";
}

TEST(SchedulerCases, HoldAsWritten) {
  std::size_t cases = 0;
  std::set<std::string> unseen;
  for (const BehaviorEntry& entry : all_behaviors()) unseen.emplace(entry.name);
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::getenv("KRATER_SCHEDULER_TESTDATA"))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const Result<Json> document = parse_yaml(text.str());
    ASSERT_TRUE(document.has_value()) << file << ": " << document.error().message;
    for (const Json& one : document->get_array()) {
      SCOPED_TRACE(file.filename().string() + ": " + text_at(one, {"rule"}));
      ++cases;
      const std::string behavior = text_at(one, {"behavior"});
      if (behavior.empty()) {
        run_case(one, std::nullopt);
        continue;
      }
      unseen.erase(behavior);
      for (const bool position : {true, false}) {
        SCOPED_TRACE(behavior + (position ? " on" : " off"));
        run_case(one, position);
      }
    }
  }
  for (const std::string& name : unseen) ADD_FAILURE() << "no case is about " << name;
  EXPECT_GT(cases, 20U);
}

}  // namespace
}  // namespace krater::scheduler
