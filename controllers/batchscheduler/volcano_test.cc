#include "controllers/batchscheduler/volcano.h"

#include <gtest/gtest.h>

#include "model/podgroup.h"

namespace krater::controllers {
namespace {

ObjectPtr object(const Kind& kind, std::string_view text) {
  Json json = *parse_json(text);
  set_path(json, {"apiVersion"}, Json(kind.api_version()));
  set_path(json, {"kind"}, Json(kind.kind));
  set_path(json, {"metadata", "namespace"}, "ns");
  return *Object::parse(ObjectKey::of(kind, "ns", text_at(json, {"metadata", "name"})), Revision(7),
                        std::make_shared<const std::string>(to_json(json)));
}

ObjectPtr rayjob(
    std::string_view metadata =
        R"("labels":{"volcano.sh/queue-name":"ray-batch","ray.io/priority-class-name":"high"})") {
  return object(kinds::kRayJob,
                R"({"metadata":{"name":"j","uid":"u",)" + std::string(metadata) + "}}");
}

const GangSize kSize{3, ResourceList{{"cpu", 1268}, {"memory", std::int64_t{968} << 20}}};

// The PodGroup that a create or a merge patch leads to.
ObjectPtr stored_after(const PlannedWrite& write, const ObjectPtr& before) {
  if (const auto* create = std::get_if<client::CreateWrite>(&write.write)) {
    return object(kinds::kPodGroup, to_json(create->object));
  }
  const auto& patch = std::get<client::PatchWrite>(write.write);
  Json next = *before->document();
  for (const auto& member : find(patch.patch, {"spec"})->get_object()) {
    if (member.value().is_null()) {
      erase_path(next, {"spec", std::string_view(member.key().data(), member.key().size())});
    } else if (member.key() == "minResources") {
      Json merged(boost::json::object_kind);
      if (const Json* old = find(next, {"spec", "minResources"})) merged = *old;
      for (const auto& amount : member.value().get_object()) {
        if (amount.value().is_null()) {
          merged.get_object().erase(amount.key());
        } else {
          merged.get_object()[amount.key()] = amount.value();
        }
      }
      set_path(next, {"spec", "minResources"}, merged);
    } else {
      set_path(next, {"spec", std::string_view(member.key().data(), member.key().size())},
               member.value());
    }
  }
  return object(kinds::kPodGroup, to_json(next));
}

TEST(VolcanoAdapter, MakesThePodGroupOfARayJob) {
  const auto volcano = make_volcano_batch_scheduler();
  const auto write = volcano->sync(*rayjob(), kSize, nullptr);
  ASSERT_TRUE(write.has_value() && write->has_value());
  EXPECT_EQ((*write)->fine_if, Code::AlreadyExists);
  const Json& made = std::get<client::CreateWrite>((*write)->write).object;
  EXPECT_EQ(
      to_json(made),
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"ray-j-pg","namespace":"ns",)"
      R"("annotations":{},"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob","name":"j","uid":"u",)"
      R"("controller":true,"blockOwnerDeletion":true}]},"spec":{"minMember":3,"minResources":{"cpu":"1268m",)"
      R"("memory":"968Mi"},"queue":"ray-batch","priorityClassName":"high"},"status":{"phase":"Pending"}})");
}

TEST(VolcanoAdapter, WithoutAQueueItIsTheDefaultQueue) {
  const auto write =
      make_volcano_batch_scheduler()->sync(*rayjob(R"("labels":{})"), kSize, nullptr);
  EXPECT_EQ(text_at(std::get<client::CreateWrite>((*write)->write).object, {"spec", "queue"}),
            "default");
}

TEST(VolcanoAdapter, NothingIsWrittenWhenTheSizeIsTheSameInAnotherSpelling) {
  const ObjectPtr stored =
      object(kinds::kPodGroup, R"({"metadata":{"name":"ray-j-pg"},"spec":{"minMember":3,
      "minResources":{"cpu":"1.268","memory":"991232Ki"},"queue":"ray-batch","priorityClassName":"high"}})");
  const auto volcano = make_volcano_batch_scheduler();
  EXPECT_FALSE(volcano->sync(*rayjob(), kSize, stored)->has_value());
  EXPECT_FALSE(volcano->resize(kSize, stored).has_value());
}

TEST(VolcanoAdapter, AChangedQueueOrPriorityMovesThePodGroup) {
  const auto volcano = make_volcano_batch_scheduler();
  const ObjectPtr stored = stored_after(**volcano->sync(*rayjob(), kSize, nullptr), nullptr);
  const ObjectPtr moved = rayjob(R"("labels":{"volcano.sh/queue-name":"other"})");
  const auto write = volcano->follow_owner(*moved, stored);
  ASSERT_TRUE(write.has_value());
  const auto& patch = std::get<client::PatchWrite>(write->write);
  EXPECT_EQ(to_json(patch.patch), R"({"spec":{"priorityClassName":null,"queue":"other"}})");
  EXPECT_EQ(patch.only_if, stored->revision());
  EXPECT_FALSE(volcano->follow_owner(*moved, stored_after(*write, stored)).has_value());
}

TEST(VolcanoAdapter, CleanUpEmptiesThePodGroupAndNeverMakesOne) {
  const auto volcano = make_volcano_batch_scheduler();
  EXPECT_FALSE(volcano->resize({}, nullptr).has_value());
  const ObjectPtr stored = stored_after(**volcano->sync(*rayjob(), kSize, nullptr), nullptr);
  const auto write = volcano->resize({}, stored);
  ASSERT_TRUE(write.has_value());
  const PodGroupView after(stored_after(*write, stored));
  EXPECT_EQ(after.min_member(), 0);
  EXPECT_TRUE(after.min_resources()->empty());
  EXPECT_FALSE(volcano->resize({}, after.object()).has_value());
}

TEST(VolcanoAdapter, ATopologyTierThatIsNoNumberIsNamed) {
  const auto write = make_volcano_batch_scheduler()->sync(
      *rayjob(
          R"("labels":{"volcano.sh/network-topology-mode":"hard","volcano.sh/network-topology-highest-tier-allowed":"x"})"),
      kSize, nullptr);
  ASSERT_FALSE(write.has_value());
  EXPECT_NE(write.error().message.find("network-topology-highest-tier-allowed"), std::string::npos);
  EXPECT_NE(write.error().message.find("ray-j-pg"), std::string::npos);
}

TEST(VolcanoAdapter, ChildrenCarryGroupTaskAndQueue) {
  const auto volcano = make_volcano_batch_scheduler();
  Json pod(boost::json::object_kind);
  set_path(pod, {"spec", "schedulerName"}, "mine");
  volcano->mark_child(*rayjob(), ChildKind::Pod, "headgroup", pod);
  EXPECT_EQ(
      to_json(pod),
      R"({"spec":{"schedulerName":"volcano"},"metadata":{"labels":{"volcano.sh/queue-name":"ray-batch",)"
      R"("ray.io/priority-class-name":"high"},"annotations":{"scheduling.k8s.io/group-name":"ray-j-pg",)"
      R"("volcano.sh/task-spec":"headgroup"}}})");
  Json cluster(boost::json::object_kind);
  volcano->mark_child(*rayjob(), ChildKind::RayCluster, "", cluster);
  EXPECT_EQ(find(cluster, {"spec"}), nullptr);
  EXPECT_EQ(string_at(cluster, {"metadata", "annotations", "volcano.sh/task-spec"}), "");
}

// The namespace prefers a queue: the server wrote it when the group was made.
TEST(VolcanoAdapter, AGroupWithoutANamedQueueStaysWhereItWasPut) {
  const auto volcano = make_volcano_batch_scheduler();
  const ObjectPtr nobodys = rayjob(R"("labels":{})");
  auto write = volcano->sync(*nobodys, kSize, nullptr);
  auto& made = std::get<client::CreateWrite>((*write)->write);
  set_path(made.object, {"spec", "queue"}, "team");
  const ObjectPtr stored = stored_after(**write, nullptr);
  EXPECT_FALSE(volcano->follow_owner(*nobodys, stored).has_value());
  EXPECT_FALSE(volcano->sync(*nobodys, kSize, stored)->has_value());
}

TEST(VolcanoAdapter, AVolcanoOfAnotherNameHasItsOwnDefaultQueue) {
  const auto volcano = make_volcano_batch_scheduler("gangs", "lab");
  Json pod(boost::json::object_kind);
  volcano->mark_child(*rayjob(), ChildKind::Pod, "headgroup", pod);
  EXPECT_EQ(text_at(pod, {"spec", "schedulerName"}), "gangs");
  const ObjectPtr nobodys = rayjob(R"("labels":{})");
  const ObjectPtr stored = stored_after(**volcano->sync(*nobodys, kSize, nullptr), nullptr);
  EXPECT_EQ(PodGroupView(stored).queue(), QueueName("lab"));
  EXPECT_FALSE(volcano->follow_owner(*nobodys, stored).has_value());
}

TEST(VolcanoAdapter, PodsOfARayJobsClusterJoinTheRayJobsGroup) {
  const ObjectPtr cluster = object(kinds::kRayCluster, R"({"metadata":{"name":"j-abcde","labels":{
      "ray.io/originated-from-crd":"RayJob","ray.io/originated-from-cr-name":"j"}}})");
  EXPECT_EQ(make_volcano_batch_scheduler()->gang_name(*cluster), "ray-j-pg");
}

}  // namespace
}  // namespace krater::controllers
