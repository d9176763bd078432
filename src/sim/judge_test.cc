// The judge must see what is wrong: each rule is broken on purpose.
#include "sim/judge.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "model/keys.h"

namespace krater::sim {
namespace {

class JudgeTest : public ::testing::Test {
 protected:
  // One event: `object` as stored at the next revision (or the one given).
  void put(const Kind& kind, Json object, std::int64_t revision = 0) {
    tell(kind, std::move(object), storage::Event::What::Put, revision);
  }
  void remove(const Kind& kind, Json object) {
    tell(kind, std::move(object), storage::Event::What::Delete, 0);
  }
  void node(const std::string& cpu) {
    Json json = new_object(kinds::kNode, "", "n1");
    set_path(json, {"status", "allocatable"},
             Json{{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}});
    put(kinds::kNode, std::move(json));
  }
  void group(std::int64_t members) {
    Json json = new_object(kinds::kPodGroup, "ns", "g");
    set_path(json, {"spec", "minMember"}, members);
    put(kinds::kPodGroup, std::move(json));
  }
  static Json pod(const std::string& name, const std::string& on,
                  const std::string& phase = "Pending", const std::string& uid = "") {
    Json json = new_object(kinds::kPod, "ns", name);
    set_path(json, {"metadata", "uid"}, Json(uid.empty() ? "uid-" + name : uid));
    set_path(json, {"metadata", "annotations", keys::kGroupName}, Json("g"));
    set_path(json, {"spec", "containers"},
             JsonArray{Json{{"name", "c"}, {"resources", {{"requests", {{"cpu", "2"}}}}}}});
    if (!on.empty()) set_path(json, {"spec", "nodeName"}, Json(on));
    set_path(json, {"status", "phase"}, Json(phase));
    return json;
  }
  void tell(const Kind& kind, Json object, storage::Event::What what, std::int64_t revision) {
    revision_ = revision != 0 ? revision : revision_ + 1;
    set_path(object, {"metadata", "resourceVersion"}, Json(std::to_string(revision_)));
    const ObjectKey key = ObjectKey::of(kind, text_at(object, {"metadata", "namespace"}),
                                        text_at(object, {"metadata", "name"}));
    const auto bytes = std::make_shared<const std::string>(to_json(object));
    const auto parsed = Object::parse(key, Revision(revision_), bytes);
    CHECK(parsed.has_value());
    storage::Record record;
    record.key = key.text();
    record.value = bytes;
    record.modified = Revision(revision_);
    last = *parsed;
    state.records.push_back(std::make_shared<const storage::Record>(std::move(record)));
    judge.see({what, state.records.back(), nullptr}, *parsed);
  }
  bool says(const std::string& rule) {
    judge.end_of_transaction();
    return judge.violations().size() == 1 && judge.violations().front().starts_with(rule);
  }
  bool content() {
    judge.end_of_transaction();
    return judge.violations().empty();
  }

  struct State final : storage::Snapshot {
    Revision revision() const override { return records.back()->modified; }
    Result<storage::RecordPtr> get(std::string_view) const override { return storage::RecordPtr(); }
    Result<void> scan(const storage::KeyRange&, std::optional<std::string_view>,
                      const std::function<bool(const storage::RecordPtr&)>& visit) const override {
      for (const storage::RecordPtr& one : records) {
        if (!visit(one)) break;
      }
      return {};
    }
    Result<std::size_t> count(const storage::KeyRange&,
                              std::optional<std::string_view>) const override {
      return records.size();
    }
    std::vector<storage::RecordPtr> records;
  };

  ObjectPtr last;
  State state;  // as after these events, when each is of another object
  Judge judge{{"no_node_overcommitted", "gang_is_all_or_nothing", "revisions_only_grow",
               "one_pod_never_bound_twice", "no_container_runs_twice",
               "acknowledged_writes_are_kept"}};
  std::int64_t revision_ = 0;
};

TEST_F(JudgeTest, ANodeThatHoldsMoreThanItHasIsOvercommitted) {
  node("4");
  put(kinds::kPod, pod("a", "n1"));
  put(kinds::kPod, pod("b", "n1"));
  EXPECT_TRUE(content());
  put(kinds::kPod, pod("c", "n1"));
  EXPECT_TRUE(says("no_node_overcommitted"));
}

TEST_F(JudgeTest, AnAcknowledgedVersionWasWritten) {
  node("4");
  const ObjectPtr first = last;
  node("8");
  judge.acknowledged(*first);
  judge.acknowledged(*last);
  EXPECT_TRUE(content());
  Judge another{{"acknowledged_writes_are_kept"}};
  another.acknowledged(*last);
  EXPECT_EQ(another.violations().size(), 1U);
}

TEST_F(JudgeTest, TheStoreHoldsWhatItsEventsTold) {
  node("4");
  group(2);
  EXPECT_FALSE(judge.differs_from(state));
  const storage::RecordPtr gone = state.records.back();
  state.records.pop_back();
  EXPECT_TRUE(judge.differs_from(state)) << "one is lost";
  storage::Record older = *gone;
  older.modified = Revision(1);
  state.records.push_back(std::make_shared<const storage::Record>(older));
  EXPECT_TRUE(judge.differs_from(state)) << "one is an older version";
  older.key = "/nobody/told";
  state.records.back() = gone;
  state.records.push_back(std::make_shared<const storage::Record>(older));
  EXPECT_TRUE(judge.differs_from(state)) << "one came from nowhere";
}

TEST_F(JudgeTest, FinishedAndRemovedPodsHoldNothing) {
  node("4");
  put(kinds::kPod, pod("a", "n1"));
  put(kinds::kPod, pod("b", "n1"));
  put(kinds::kPod, pod("a", "n1", "Succeeded"));
  put(kinds::kPod, pod("c", "n1"));
  remove(kinds::kPod, pod("b", "n1"));
  put(kinds::kPod, pod("d", "n1"));
  EXPECT_TRUE(content());
}

TEST_F(JudgeTest, AGangThatIsBoundInPartIsBroken) {
  group(2);
  put(kinds::kPod, pod("a", ""));
  put(kinds::kPod, pod("b", ""));
  EXPECT_TRUE(content());
  put(kinds::kPod, pod("a", "n1"));
  EXPECT_TRUE(says("gang_is_all_or_nothing"));
}

TEST_F(JudgeTest, AGangIsJudgedWhenItsTransactionIsThrough) {
  group(2);
  put(kinds::kPod, pod("a", "n1"));
  put(kinds::kPod, pod("b", "n1"));
  EXPECT_TRUE(content());
}

TEST_F(JudgeTest, APodThatMovesIsBoundTwice) {
  put(kinds::kPod, pod("a", "n1"));
  put(kinds::kPod, pod("a", "n2"));
  EXPECT_TRUE(says("one_pod_never_bound_twice"));
}

TEST_F(JudgeTest, ANewPodOfTheSameNameMayGoElsewhere) {
  put(kinds::kPod, pod("a", "n1"));
  put(kinds::kPod, pod("a", "n2", "Pending", "another"));
  EXPECT_TRUE(content());
}

TEST_F(JudgeTest, APodThatHasEndedStaysSo) {
  put(kinds::kPod, pod("a", "n1", "Failed"));
  put(kinds::kPod, pod("a", "n1", "Running"));
  EXPECT_TRUE(says("one_pod_never_bound_twice"));
}

TEST_F(JudgeTest, AContainerThatIsNotToBeRestartedRunsOnce) {
  const auto run = [](const std::string& policy, const std::string& second) {
    const std::string began = "2026-01-01T00:00:0" + second + "Z";
    Json json = pod("a", "n1", "Running");
    set_path(json, {"spec", "restartPolicy"}, Json(policy));
    set_path(json, {"status", "containerStatuses"},
             JsonArray{Json{{"name", "c"}, {"state", {{"running", {{"startedAt", began}}}}}}});
    return json;
  };
  put(kinds::kPod, run("Always", "1"));
  put(kinds::kPod, run("Always", "2"));
  put(kinds::kPod, run("Never", "2"));
  put(kinds::kPod, run("Never", "2"));
  EXPECT_TRUE(content());
  put(kinds::kPod, run("Never", "3"));
  EXPECT_TRUE(says("no_container_runs_twice"));
}

TEST_F(JudgeTest, RevisionsFollowOneAnother) {
  put(kinds::kPod, pod("a", ""), 5);
  put(kinds::kPod, pod("a", ""), 7);
  EXPECT_TRUE(says("revisions_only_grow"));
}

TEST_F(JudgeTest, TheFingerprintTellsEventsApart) {
  Judge one(std::set<std::string>{}), other(std::set<std::string>{});
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  put(kinds::kPod, pod("a", ""));
  const std::uint64_t first = judge.fingerprint();
  put(kinds::kPod, pod("b", ""));
  EXPECT_NE(judge.fingerprint(), first);
}

}  // namespace
}  // namespace krater::sim
